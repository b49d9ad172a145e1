/**
 * Reads a tar archive that comes in pieces. POSIX extended headers and GNU long names are understood.
 *
 *   const reader = new TarReader((entry) => ({ write: (bytes) => …, end: () => … }));
 *   reader.push(bytes); …; reader.end();
 */
import { own } from '@plat-dev/lib/own';
import { BLOCK, checksumOf, type Entry, type EntryKind, fields, paddingOf } from './entry.ts';

/** Takes the content of one entry. */
export interface EntrySink {
  write(bytes: Buffer): void;
  end(): void;
}

/** The bytes are no tar archive, or end too early. */
export class TarError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TarError';
  }
}

/** Largest extended header or long name; paths are far shorter. */
export const MAX_EXTENDED = 1 << 20;

type State =
  | { readonly at: 'header' }
  | { readonly at: 'content'; left: number; readonly padding: number; readonly sink: EntrySink | undefined }
  | { readonly at: 'extended'; readonly type: string; readonly size: number }
  | { readonly at: 'padding'; left: number }
  | { readonly at: 'end' };

/** The values of extended headers that say something of an entry here. */
type Extended = { path?: string; linkpath?: string; size?: string };

export class TarReader {
  private readonly open: (entry: Entry) => EntrySink | undefined;
  private remainder: Buffer = Buffer.alloc(0);
  private state: State = { at: 'header' };
  /** Values that replace those of the next header. */
  private extended: Extended = {};

  /** `open` returns undefined for an entry whose content is not wanted. */
  constructor(open: (entry: Entry) => EntrySink | undefined) {
    this.open = open;
  }
  push(bytes: Buffer): void {
    this.remainder = this.remainder.length === 0 ? bytes : Buffer.concat([this.remainder, bytes]);
    while (this.step());
  }
  /** Whether the end of the archive has been read. */
  get ended(): boolean {
    return this.state.at === 'end';
  }
  /** No more bytes come. Throws if an entry is incomplete. */
  end(): void {
    const isBetween = this.state.at === 'end' || (this.state.at === 'header' && this.remainder.length === 0);
    if (!isBetween) throw new TarError('the archive ends within an entry');
  }

  /** Returns whether there may be more to do. */
  private step(): boolean {
    const { state } = this;
    if (state.at === 'end') {
      this.remainder = Buffer.alloc(0);
      return false;
    }
    if (state.at === 'header') return this.header();
    if (state.at === 'extended') return this.longValues(state.type, state.size);
    if (state.at === 'padding') {
      state.left -= this.take(state.left).length;
      if (state.left === 0) this.state = { at: 'header' };
      return state.left === 0;
    }
    const part = this.take(state.left);
    state.left -= part.length;
    if (part.length > 0) state.sink?.write(part);
    if (state.left > 0) return false;
    state.sink?.end();
    this.state = { at: 'padding', left: state.padding };
    return true;
  }
  private take(most: number): Buffer {
    const part = this.remainder.subarray(0, most);
    this.remainder = this.remainder.subarray(part.length);
    return part;
  }
  private header(): boolean {
    if (this.remainder.length < BLOCK) return false;
    const header = this.take(BLOCK);
    if (header.every((byte) => byte === 0)) {
      this.state = { at: 'end' };
      return true;
    }
    if (numberIn(header, fields.checksum) !== checksumOf(header)) throw new TarError('the archive has a damaged header');
    const type = String.fromCharCode(header[fields.type[0]] as number);
    const entrySize = this.extended.size !== undefined ? Number(this.extended.size) : numberIn(header, fields.size);
    // Links, devices and directories have no content, whatever size they name.
    const size = '123456'.includes(type) ? 0 : entrySize;
    if (!Number.isSafeInteger(size) || size < 0) throw new TarError('the archive has an entry of an impossible size');
    if ('xgLK'.includes(type)) {
      if (size > MAX_EXTENDED) throw new TarError(`the archive has an extended header of more than ${MAX_EXTENDED} bytes`);
      this.state = { at: 'extended', type, size };
      return true;
    }
    this.begin(entryOf(header, type, size, this.extended));
    this.extended = {};
    return true;
  }
  private begin(entry: Entry): void {
    const sink = this.open(entry);
    this.state = { at: 'content', left: entry.size, padding: paddingOf(entry.size), sink };
  }
  private longValues(type: string, size: number): boolean {
    if (this.remainder.length < size) return false;
    const content = this.take(size);
    if (type === 'x') this.extended = { ...this.extended, ...recordsOf(content) };
    else if (type === 'L') this.extended.path = textOf(content);
    else if (type === 'K') this.extended.linkpath = textOf(content);
    this.state = { at: 'padding', left: paddingOf(size) };
    return true;
  }
}

const kinds: Readonly<Record<string, EntryKind>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'directory',
};
function entryOf(header: Buffer, type: string, size: number, extended: Extended): Entry {
  const isPosix = header.toString('latin1', fields.magic[0], fields.magic[0] + 6) === 'ustar\0';
  const prefix = isPosix ? textIn(header, fields.prefix) : '';
  const short = textIn(header, fields.name);
  const name = extended.path ?? (prefix === '' ? short : `${prefix}/${short}`);
  const kind = own(kinds, type) ?? 'other';
  return {
    kind: kind === 'file' && name.endsWith('/') ? 'directory' : kind,
    name,
    size,
    mode: numberIn(header, fields.mode) & 0o7777,
    target: extended.linkpath ?? textIn(header, fields.target),
  };
}

/** Up to the first zero byte. */
function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}
const textIn = (header: Buffer, [at, length]: readonly [number, number]): string => textOf(header.subarray(at, at + length));

/** Octal digits, or binary when the first bit is set. NaN for anything else. */
function numberIn(header: Buffer, [at, length]: readonly [number, number]): number {
  const first = header[at] as number;
  if ((first & 0x80) !== 0) {
    let value = first & 0x7f;
    for (let i = 1; i < length; i++) value = value * 256 + (header[at + i] as number);
    return value;
  }
  const digits = textIn(header, [at, length]).trim();
  if (digits === '') return 0;
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
}

/** `30 path=…\n` */
function recordsOf(content: Buffer): Extended {
  const records: Extended = {};
  let at = 0;
  while (at < content.length) {
    const blank = content.indexOf(0x20, at);
    const length = blank === -1 ? Number.NaN : Number(content.toString('latin1', at, blank));
    const end = at + length;
    if (!Number.isSafeInteger(length) || length <= 0 || end > content.length || end <= blank)
      throw new TarError('the archive has a damaged extended header');
    const text = content.toString('utf8', blank + 1, end - 1);
    const equals = text.indexOf('=');
    const key = text.slice(0, equals);
    if (key === 'path' || key === 'linkpath' || key === 'size') records[key] = text.slice(equals + 1);
    at = end;
  }
  return records;
}
