import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { recorded, type Subject, unpacked } from './recordings.testing.ts';
import { temporaryDirectory } from './temporary.testing.ts';

const script = fileURLToPath(new URL('../../../../scripts/recordings.mjs', import.meta.url));
const folders: Record<Subject, string> = {
  parity: 'parity',
  'parity-1.36': 'parity-1.36',
  wire: 'fixtures/wire',
  'wire-1.36': 'fixtures/wire-1.36',
  'api-facts': 'api-facts',
  'release-facts': 'api-facts/releases',
};
const subjects = Object.keys(folders) as Subject[];

test('files that are packed are read as they were, text and bytes', () => {
  const directory = temporaryDirectory('plat-recordings');
  const out = temporaryDirectory('plat-packed');
  for (const subject of subjects) cpSync(unpacked(subject), join(directory, folders[subject]), { recursive: true });
  execFileSync(process.execPath, [script, directory, out]);
  for (const subject of subjects) {
    const again = recorded(subject, pathToFileURL(`${out}/`));
    const before = recorded(subject);
    expect([...again.keys()]).toEqual([...before.keys()]);
    for (const [path, bytes] of before) expect(again.get(path)?.equals(bytes), path).toBe(true);
  }
});

test('no certificate and no key is kept as PEM', () => {
  for (const subject of subjects)
    for (const [path, bytes] of recorded(subject))
      expect(/-----BEGIN [A-Z ]+-----\\?n?MII/.test(bytes.toString('latin1')), path).toBe(false);
});
