/** `plat create --edit`: an object of a file is opened in an editor before it is created. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonText } from '@plat-dev/lib/json-text';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { IO } from '../command.ts';
import type { Manifest } from '../objects/manifest.ts';
import { ManifestError, manifestsOf } from '../objects/manifests.ts';
import { openEditor } from './edit.ts';

export interface EditFormat {
  readonly output: string;
  readonly windowsLineEndings: boolean;
}

/** The edited object, or undefined if the edit was canceled: the file is unchanged or empty. */
export async function editManifests(manifest: Manifest, { output, windowsLineEndings }: EditFormat, io: IO): Promise<Manifest | undefined> {
  const form = output === 'json' ? 'json' : 'yaml';
  const text = form === 'json' ? `${jsonText(manifest.object, 4)}\n` : `${introduction}${stringifyYaml(manifest.object)}`;
  const fileText = windowsLineEndings ? text.replaceAll('\n', '\r\n') : text;
  const directory = await mkdtemp(join(tmpdir(), `${io.program}-create-`));
  const file = join(directory, `object.${form}`);
  let keep = false;
  try {
    await writeFile(file, fileText, { mode: 0o600 });
    await openEditor(file, io);
    const edited = await readFile(file, 'utf8');
    if (edited.replace(/^\s*#.*$/gm, '').trim() === '') return canceled(io, 'saved file was empty');
    if (edited === fileText) return canceled(io, 'no changes made');
    keep = true;
    const [object, more] = manifestsOf(edited, file);
    if (object === undefined || more !== undefined) throw new ManifestError(`${file}: the file must hold one object`);
    keep = false;
    return { ...object, source: manifest.source };
  } finally {
    // A file that cannot be read is kept, so that the edits are not lost.
    if (!keep) await rm(directory, { recursive: true, force: true });
  }
}
function canceled(io: IO, why: string): undefined {
  io.err(`Edit cancelled, ${why}.\n`);
  return undefined;
}

const introduction = `# Edit the object below; lines that begin with # do not count. An unchanged or empty file creates nothing.
#
`;
