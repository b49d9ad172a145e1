/**
 * The journal, which makes commits durable. A group of commits is one frame (`frames.ts`) at the end of a file, written
 * and synced on a thread of the pool; the tables are written later and in larger batches (`backlog.ts`), because their
 * transactions copy and sync pages all over their file. Changes that the tables lack after a crash are replayed from here
 * (`journal-read.ts`).
 *
 * Two files alternate: one is written while the other is replayed into the tables. A file is then overwritten from its
 * beginning; older frames behind the newest are recognized by their lower revisions. Files have their full
 * length from the beginning, so that a truncated one is noticed.
 */
import { closeSync, constants, fdatasync, fsyncSync, ftruncateSync, openSync, renameSync, rmSync, write } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '@plat-dev/lib/files/sync-directory';
import type { PendingChange } from '../change.ts';
import { encodeFrame } from './frames.ts';

export const JOURNAL_FILES = ['store.journal-0', 'store.journal-1'] as const;
/** A file that is longer than this is switched as soon as the other one is free. */
const TURN_BYTES = 4 * 2 ** 20;
/** Length of a new file. Its blocks are allocated when they are written. */
export const JOURNAL_BYTES = TURN_BYTES;

/** Larger frames have a buffer of their own. */
const ROOM_BYTES = 128 * 1024;

/** If the system supports it, a write itself waits for the disk: one call to another thread less. */
const SYNC_FLAG = process.platform === 'linux' ? constants.O_DSYNC : 0;
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

interface JournalFile {
  readonly descriptor: number;
  /** Offset of the next frame. */
  end: number;
  /** The newest revision in it. */
  newest: number;
}

export class Journal {
  readonly #directory: string;
  readonly #files: readonly [JournalFile, JournalFile];
  readonly #sync: boolean;
  #active = 0;
  /** Sum of the last frame. */
  #sum = 0;
  /** Frames are written one after another, so that most are made in the same place. */
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);

  /** Creates the files; the content of earlier ones must be in the tables. */
  constructor(directory: string, sync: boolean) {
    this.#directory = directory;
    this.#sync = sync;
    const flags = sync ? FLAGS | SYNC_FLAG : FLAGS;
    this.#files = [makeFile(join(directory, JOURNAL_FILES[0]), flags), makeFile(join(directory, JOURNAL_FILES[1]), flags)];
    syncDirectory(directory);
  }

  /** Resolves when the changes are durable; must not be called before that. `applied`: the tables have everything up to this revision. */
  async append(changes: readonly PendingChange[], applied: number): Promise<void> {
    const last = changes[changes.length - 1];
    if (last === undefined) return;
    const other = this.#files[1 - this.#active] as JournalFile;
    if ((this.#files[this.#active] as JournalFile).end > TURN_BYTES && other.newest <= applied) {
      other.end = 0;
      this.#active = 1 - this.#active;
    }
    const file = this.#files[this.#active] as JournalFile;
    const { frame, sum } = encodeFrame(changes, this.#sum, this.#room);
    await writeAll(file.descriptor, frame, file.end);
    if (this.#sync && SYNC_FLAG === 0) await synced(file.descriptor);
    this.#sum = sum;
    file.end += frame.length;
    file.newest = last.version.revision;
  }

  /** `done`: everything is in the tables, so that the files can be removed. */
  close(done: boolean): void {
    for (const { descriptor } of this.#files) closeSync(descriptor);
    if (done) for (const name of JOURNAL_FILES) rmSync(join(this.#directory, name), { force: true });
  }
}

/** A file gets its name when it has its length: one that is shorter was truncated. */
function makeFile(path: string, flags: number): JournalFile {
  const descriptor = openSync(`${path}.new`, flags, 0o600);
  ftruncateSync(descriptor, JOURNAL_BYTES);
  fsyncSync(descriptor);
  renameSync(`${path}.new`, path);
  return { descriptor, end: 0, newest: 0 };
}

async function writeAll(descriptor: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += await new Promise<number>((resolve, reject) =>
      write(descriptor, bytes, done, bytes.length - done, position + done, (error, writtenBytes) =>
        error === null ? resolve(writtenBytes) : reject(error),
      ),
    );
  }
}

const synced = (descriptor: number): Promise<void> =>
  new Promise((resolve, reject) => fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error))));
