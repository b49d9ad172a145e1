/**
 * The journal: where a commit becomes durable. A group of commits is one frame at the end of a file, written and synced
 * on a thread of the pool; the tables follow later and in larger strokes (`backlog.ts`), because a transaction of theirs
 * copies and syncs pages all over their file. What the tables lack after a crash is read from here.
 *
 *   frame    magic(4) length of the body(4) checksum(8) body
 *   body     changes: revision(8) index(2) expires(8) expires of the version before(8) length(4) record
 *
 * Two files take turns: one is written while the tables take in what is in the other. A file is written from its
 * beginning again; what is left of older frames behind the newest is told by its lower revisions.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, fdatasync, fsyncSync, openSync, readFileSync, rmSync, write } from 'node:fs';
import { join } from 'node:path';
import type { PendingChange } from './change.ts';
import { readNumber, records, writeNumber } from './format.ts';

const NAMES = ['store.journal-0', 'store.journal-1'] as const;
const MAGIC = 0x504a0001;
const FRAME_HEADER = 16;
const CHANGE_HEADER = 30;
/** A file that is longer than this makes room for the other as soon as that is free. */
const TURN_BYTES = 4 * 2 ** 20;

/** Where the system can, a write itself waits for the disk: a call to another thread the less. */
const SYNC_FLAG = process.platform === 'linux' ? constants.O_DSYNC : 0;
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;

interface JournalFile {
  readonly descriptor: number;
  /** Where the next frame goes. */
  end: number;
  /** The newest revision in it. */
  newest: number;
}

export class Journal {
  readonly #directory: string;
  readonly #files: readonly [JournalFile, JournalFile];
  readonly #sync: boolean;
  #active = 0;

  /** Makes the files; what earlier ones hold must be in the tables. */
  constructor(directory: string, sync: boolean) {
    this.#directory = directory;
    this.#sync = sync;
    const flags = sync ? FLAGS | SYNC_FLAG : FLAGS;
    const make = (name: string): JournalFile => ({ descriptor: openSync(join(directory, name), flags, 0o600), end: 0, newest: 0 });
    this.#files = [make(NAMES[0]), make(NAMES[1])];
    syncDirectory(directory);
  }

  /** Resolves when the changes are durable. `applied`: the revision up to which the tables have everything. */
  async append(changes: readonly PendingChange[], applied: number): Promise<void> {
    const last = changes[changes.length - 1];
    if (last === undefined) return;
    const other = this.#files[1 - this.#active] as JournalFile;
    if ((this.#files[this.#active] as JournalFile).end > TURN_BYTES && other.newest <= applied) {
      other.end = 0;
      this.#active = 1 - this.#active;
    }
    const file = this.#files[this.#active] as JournalFile;
    const frame = frameOf(changes);
    await writeAll(file.descriptor, frame, file.end);
    if (this.#sync && SYNC_FLAG === 0) await synced(file.descriptor);
    file.end += frame.length;
    file.newest = last.version.revision;
  }

  /** `done`: everything is in the tables, so that the files can go. */
  close(done: boolean): void {
    for (const { descriptor } of this.#files) closeSync(descriptor);
    if (done) for (const name of NAMES) rmSync(join(this.#directory, name), { force: true });
  }
}

/** The changes after a revision that a server before this one wrote to the journal, oldest first. */
export function readJournal(directory: string, after: number): PendingChange[] {
  const found = NAMES.map((name) => join(directory, name))
    .filter((path) => existsSync(path))
    .map((path) => framesOf(readFileSync(path)))
    .filter((changes) => changes.length > 0)
    .sort((a, b) => (a[0] as PendingChange).version.revision - (b[0] as PendingChange).version.revision)
    .flat()
    .filter(({ version }) => version.revision > after);
  let expected = after;
  for (const { version } of found) {
    if (version.revision !== expected && version.revision !== expected + 1) {
      throw new Error(`the journal in ${directory} is damaged: revision ${expected + 1} is missing. Restore the directory from a copy`);
    }
    expected = version.revision;
  }
  return found;
}

export const hasJournal = (directory: string): boolean => NAMES.some((name) => existsSync(join(directory, name)));

function frameOf(changes: readonly PendingChange[]): Buffer {
  let length = FRAME_HEADER;
  for (const { record } of changes) length += CHANGE_HEADER + record.length;
  const frame = Buffer.allocUnsafe(length);
  let at = FRAME_HEADER;
  for (const { version, previous, record } of changes) {
    writeNumber(frame, version.revision, at);
    frame.writeUInt16BE(version.index, at + 8);
    writeNumber(frame, version.expires, at + 10);
    writeNumber(frame, previous?.expires ?? 0, at + 18);
    frame.writeUInt32BE(record.length, at + 26);
    frame.set(record, at + CHANGE_HEADER);
    at += CHANGE_HEADER + record.length;
  }
  frame.writeUInt32BE(MAGIC, 0);
  frame.writeUInt32BE(length - FRAME_HEADER, 4);
  checksum(frame.subarray(FRAME_HEADER)).copy(frame, 8, 0, 8);
  return frame;
}

/** Tells a whole frame from one that a crash cut short; it is no protection against forgery. */
const checksum = (body: Buffer): Buffer => createHash('sha1').update(body).digest();

/** The changes of a file up to the first frame that is not whole, or older than the one before it. */
function framesOf(bytes: Buffer): PendingChange[] {
  const changes: PendingChange[] = [];
  let newest = 0;
  for (let at = 0; at + FRAME_HEADER <= bytes.length; ) {
    const end = at + FRAME_HEADER + bytes.readUInt32BE(at + 4);
    const body = bytes.subarray(at + FRAME_HEADER, end);
    if (bytes.readUInt32BE(at) !== MAGIC || end > bytes.length || body.length === 0) break;
    if (checksum(body).compare(bytes, at + 8, at + FRAME_HEADER, 0, 8) !== 0 || readNumber(body, 0) <= newest) break;
    for (let place = 0; place < body.length; ) {
      const length = body.readUInt32BE(place + 26);
      changes.push(changeOf(body, place, length));
      place += CHANGE_HEADER + length;
    }
    newest = (changes[changes.length - 1] as PendingChange).version.revision;
    at = end;
  }
  return changes;
}

function changeOf(body: Buffer, at: number, length: number): PendingChange {
  const revision = readNumber(body, at);
  const index = body.readUInt16BE(at + 8);
  const expires = readNumber(body, at + 10);
  const record = body.subarray(at + CHANGE_HEADER, at + CHANGE_HEADER + length);
  const { deleted, key, created, previous, value } = records.decode(record);
  return {
    change: { type: deleted ? 'delete' : 'put', key, value: deleted ? undefined : value, revision, created },
    version: { revision, index, created, deleted, expires },
    previous: previous.revision === 0 ? undefined : { ...previous, created, deleted: false, expires: readNumber(body, at + 18) },
    record,
  };
}

async function writeAll(descriptor: number, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += await new Promise<number>((resolve, reject) =>
      write(descriptor, bytes, done, bytes.length - done, position + done, (error, written) =>
        error === null ? resolve(written) : reject(error),
      ),
    );
  }
}

const synced = (descriptor: number): Promise<void> =>
  new Promise((resolve, reject) => fdatasync(descriptor, (error) => (error === null ? resolve() : reject(error))));

/** The entries of new files in their directory must be durable as well. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
