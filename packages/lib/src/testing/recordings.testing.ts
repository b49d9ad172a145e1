/**
 * Recordings of a stock server, from test/recordings (`scripts/recordings.mjs` packs them):
 *
 *   recorded('wire').get('apps.v1.Deployment.pb')   → the bytes of one file
 *   unpacked('parity')                              → a directory with all of them
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryDirectory } from './temporary.testing.ts';

export type Subject = 'parity' | 'parity-1.36' | 'wire' | 'wire-1.36' | 'api-facts' | 'release-facts';
/** Files by their path. */
export type Recording = ReadonlyMap<string, Buffer>;

const packedFiles = new URL('../../../../test/recordings/', import.meta.url);

export function recorded(subject: Subject, from: URL = packedFiles): Recording {
  const packed = JSON.parse(gunzipSync(readFileSync(new URL(`${subject}.json.gz`, from))).toString('utf8')) as Record<
    string,
    string | { base64: string }
  >;
  return new Map(
    Object.entries(packed).map(([path, content]) => [
      path,
      typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content.base64, 'base64'),
    ]),
  );
}

/** The text of one file, which must exist. */
export function recordedText(subject: Subject, path: string): string {
  const bytes = recorded(subject).get(path);
  if (bytes === undefined) throw new Error(`${path} is not in test/recordings/${subject}.json.gz`);
  return bytes.toString('utf8');
}

/** A directory with the files of a subject, for programs that read them; it is removed after the test file. */
export function unpacked(subject: Subject): string {
  const directory = temporaryDirectory(`plat-recorded-${subject}`);
  for (const [path, bytes] of recorded(subject)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  return directory;
}
