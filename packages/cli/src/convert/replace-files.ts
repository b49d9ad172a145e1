/** Replaces the text of files, each at once: a reader sees the old text or the new one. */
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemRandom } from '@plat-dev/lib/random';

export interface NewText {
  readonly file: string | undefined;
  readonly text: string;
}

/** Every text is on the disk before the first file is replaced; modes and symbolic links stay. */
export async function replaceFiles(texts: readonly NewText[]): Promise<void> {
  const ready: { partial: string; path: string }[] = [];
  try {
    for (const { file, text } of texts) {
      if (file === undefined) continue;
      const path = await realpath(file);
      const { mode } = await stat(path);
      const partial = join(dirname(path), `.${systemRandom.uuid()}.partial`);
      ready.push({ partial, path });
      const handle = await open(partial, 'wx', mode & 0o7777);
      try {
        await handle.writeFile(text);
        // The mask of the process may have taken some of the mode.
        await handle.chmod(mode & 0o7777);
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
    for (const { partial, path } of ready) await rename(partial, path);
  } finally {
    for (const { partial } of ready) await rm(partial, { force: true });
  }
}
