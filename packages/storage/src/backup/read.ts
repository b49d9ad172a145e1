/** Reads the bytes of a backup, a block at a time, and verifies every checksum. */
import { createHash } from 'node:crypto';
import {
  type BackupEntry,
  BackupError,
  type BackupHeader,
  type BackupTrailer,
  type BackupVersion,
  BLOCK,
  CHECKSUM,
  decodeBlock,
  decodeHistory,
  FORMAT,
  FRAME_HEADER,
  HEADER,
  HISTORY,
  LONGEST_BLOCK,
  LONGEST_FACTS,
  MAGIC,
  PREAMBLE,
  TRAILER,
} from './format.ts';

export type BackupPart =
  | { readonly type: 'header'; readonly header: BackupHeader }
  | { readonly type: 'entries'; readonly entries: readonly BackupEntry[] }
  | { readonly type: 'versions'; readonly versions: readonly BackupVersion[] }
  /** The trailer: everything before it is verified. */
  | { readonly type: 'trailer'; readonly trailer: BackupTrailer };

export interface BackupSummary {
  readonly header: BackupHeader;
  readonly trailer: BackupTrailer;
}

/**
 * The parts of a backup: one header, entries, versions of history, one trailer. Throws BackupError for anything else. Until
 * the trailer has been read, the file may be truncated: a caller that writes must read it to its end first.
 */
export async function* readBackup(source: AsyncIterable<Buffer>): AsyncGenerator<BackupPart> {
  const input = new Input(source);
  checkPreamble(await input.take(PREAMBLE));
  const header = headerOf(await readFrame(input));
  yield { type: 'header', header };
  const totals = { entries: 0, versions: 0, blocks: 0 };
  let last = '';
  for (;;) {
    const digestBefore = input.digest();
    const frame = await readFrame(input);
    if (frame.kind === TRAILER) {
      yield { type: 'trailer', trailer: await checkEnd(input, frame, digestBefore, totals) };
      return;
    }
    if (frame.kind === HISTORY) {
      const versions = versionsOf(frame, header.revision);
      totals.blocks++;
      totals.versions += versions.length;
      yield { type: 'versions', versions };
      continue;
    }
    if (frame.kind !== BLOCK || totals.versions > 0) throw damaged(frame.at, `there is a frame of the unknown kind ${frame.kind}`);
    const entries = entriesOf(frame);
    for (const { key, revision, created, expires } of entries) {
      if (key <= last) throw damaged(frame.at, 'its entries are out of order');
      const numbers = [revision, created, expires];
      if (revision > header.revision || created > revision || !numbers.every(Number.isSafeInteger)) {
        throw damaged(frame.at, `the revision of the entry ${JSON.stringify(key)} makes no sense`);
      }
      last = key;
    }
    totals.blocks++;
    totals.entries += entries.length;
    yield { type: 'entries', entries };
  }
}

/** Reads a backup to its end; returns its header and trailer. */
export async function verifyBackup(source: AsyncIterable<Buffer>): Promise<BackupSummary> {
  let header: BackupHeader | undefined;
  for await (const part of readBackup(source)) {
    if (part.type === 'header') header = part.header;
    else if (part.type === 'trailer') return { header: header as BackupHeader, trailer: part.trailer };
  }
  throw new BackupError('the backup has no end');
}

interface Frame {
  readonly kind: number;
  readonly body: Buffer;
  /** Its offset in the file. */
  readonly at: number;
}

async function readFrame(input: Input): Promise<Frame> {
  const { at } = input;
  const head = await input.take(FRAME_HEADER);
  const kind = head[0] as number;
  const length = head.readUInt32BE(1);
  if (length > (kind === BLOCK || kind === HISTORY ? LONGEST_BLOCK : LONGEST_FACTS))
    throw damaged(at, `a frame claims to have ${length} bytes`);
  const rest = await input.take(length + CHECKSUM);
  const body = rest.subarray(0, length);
  const sum = createHash('sha256').update(head).update(body).digest();
  if (sum.compare(rest, length, length + CHECKSUM, 0, CHECKSUM) !== 0) throw damaged(at, 'the checksum of a frame is wrong');
  return { kind, body, at };
}

function checkPreamble(bytes: Buffer): void {
  if (bytes.compare(MAGIC, 0, MAGIC.length, 0, MAGIC.length) !== 0)
    throw new BackupError('this is not a backup that `plat store backup` made');
  const format = bytes.readUInt16BE(MAGIC.length);
  if (format > FORMAT) {
    throw new BackupError(
      `the backup has format ${format}, and this release reads up to ${FORMAT}: use the release that made it, or a newer one`,
    );
  }
  if (format < 1) throw damaged(MAGIC.length, `there is no format ${format}`);
}

function headerOf({ kind, body, at }: Frame): BackupHeader {
  if (kind !== HEADER) throw damaged(at, 'the header is missing');
  const header = factsOf(body, at) as Partial<BackupHeader>;
  const { revision, compacted, engine, productVersion, createdAt } = header;
  const texts = [engine, productVersion, createdAt];
  if (!isCount(revision) || !isCount(compacted) || !texts.every((text) => typeof text === 'string'))
    throw damaged(at, 'the header lacks a field');
  return header as BackupHeader;
}

async function checkEnd(
  input: Input,
  { body, at }: Frame,
  digestBefore: string,
  totals: { entries: number; versions: number; blocks: number },
): Promise<BackupTrailer> {
  const trailer = factsOf(body, at) as Partial<BackupTrailer>;
  if (trailer.sha256 !== digestBefore) throw damaged(at, 'the checksum of the whole is wrong');
  const { entries, versions = 0, blocks } = trailer;
  if (entries !== totals.entries || versions !== totals.versions || blocks !== totals.blocks) throw damaged(at, 'entries are missing');
  if (!isCount(trailer.encrypted) || !isCount(trailer.unreadableCount) || !Array.isArray(trailer.unreadable)) {
    throw damaged(at, 'the trailer lacks a field');
  }
  if (!(await input.ended())) throw damaged(input.at, 'something stands behind its end');
  return trailer as BackupTrailer;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function factsOf(body: Buffer, at: number): object {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw damaged(at, 'a frame that should be JSON is not');
}

function entriesOf({ body, at }: Frame): BackupEntry[] {
  try {
    return decodeBlock(body);
  } catch (error) {
    throw damaged(at, (error as Error).message);
  }
}

function versionsOf({ body, at }: Frame, newest: number): BackupVersion[] {
  try {
    const versions = decodeHistory(body);
    for (const { key, revision, created, time } of versions)
      if (revision > newest || created > revision || ![revision, created, time].every(Number.isSafeInteger))
        throw new RangeError(`the revision of the version ${revision} of ${JSON.stringify(key)} makes no sense`);
    return versions;
  } catch (error) {
    throw damaged(at, (error as Error).message);
  }
}

const damaged = (at: number, why: string): BackupError =>
  new BackupError(`the backup is damaged at byte ${at}: ${why}; use another backup`);

/** Reads so many bytes at a time from chunks of any size, and hashes them. */
class Input {
  /** Bytes read so far. */
  at = 0;
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #hash = createHash('sha256');
  #waiting: Buffer[] = [];
  #length = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    while (this.#length < count) {
      const { value, done } = await this.#chunks.next();
      if (done === true)
        throw new BackupError(`the backup was cut short: it ends after ${this.at + this.#length} bytes; use another backup`);
      this.#waiting.push(value);
      this.#length += value.length;
    }
    const all = this.#waiting.length === 1 ? (this.#waiting[0] as Buffer) : Buffer.concat(this.#waiting);
    const head = all.subarray(0, count);
    this.#waiting = count < all.length ? [all.subarray(count)] : [];
    this.#length -= count;
    this.at += count;
    this.#hash.update(head);
    return head;
  }

  /** SHA-256 of everything that was read. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async ended(): Promise<boolean> {
    while (this.#length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done === true) return true;
      this.#waiting.push(value);
      this.#length += value.length;
    }
    return false;
  }
}
