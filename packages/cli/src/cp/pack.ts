/** An archive of a local file or directory, as a stream of bytes. */
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type EntryKind, paddingOf } from '@plat-dev/streams/tar/entry';
import { endingOf, headerOf } from '@plat-dev/streams/tar/write';

/** Bytes of a file that are read at once. */
const PIECE = 32 * 1024;

/** `name`: what the file is called in the archive; what is in a directory has names below it. */
export async function* pack(path: string, name: string): AsyncGenerator<Buffer> {
  let writtenBytes = 0;
  for await (const bytes of entries(path, name)) {
    writtenBytes += bytes.length;
    yield bytes;
  }
  yield endingOf(writtenBytes);
}

async function* entries(path: string, name: string): AsyncGenerator<Buffer> {
  const facts = await lstat(path);
  const owner = { name, mode: facts.mode & 0o7777, uid: facts.uid, gid: facts.gid, mtime: facts.mtimeMs / 1000 };
  const header = (kind: EntryKind, size: number, target = ''): Buffer => headerOf({ ...owner, kind, size, target });
  if (facts.isDirectory()) {
    const names = (await readdir(path)).sort();
    // Directories with content are made on the way to it.
    if (names.length === 0) yield header('directory', 0);
    for (const below of names) yield* entries(join(path, below), posix.join(name, below));
  } else if (facts.isSymbolicLink()) yield header('symlink', 0, await readlink(path));
  else if (facts.isFile()) {
    yield header('file', facts.size);
    yield* content(path, facts.size);
  } else throw new Error(`${path} is neither a file nor a directory`);
}

/** Exactly so many bytes and the padding: a file may grow or shrink while it is read. */
async function* content(path: string, size: number): AsyncGenerator<Buffer> {
  const file = await open(path);
  let remainingBytes = size;
  try {
    while (remainingBytes > 0) {
      const { bytesRead, buffer } = await file.read(
        Buffer.alloc(Math.min(PIECE, remainingBytes)),
        0,
        Math.min(PIECE, remainingBytes),
        null,
      );
      if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
      remainingBytes -= bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
  if (paddingOf(size) > 0) yield Buffer.alloc(paddingOf(size));
}
