/** Writes the headers of a tar archive in the POSIX form: names and sizes that do not fit get an extended header. */
import { BLOCK, checksumOf, type Entry, fields, paddingOf, RECORD } from './entry.ts';

export interface Owned extends Entry {
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
}

const types: Readonly<Record<Entry['kind'], string>> = { file: '0', link: '1', symlink: '2', directory: '5', other: '0' };
const EXTENDED = 'x';
const MAX_OCTAL_SIZE = 8 ** 11;
const MAX_OCTAL_ID = 8 ** 7;

/** The header of an entry; its content and padding follow. */
export function headerOf(entry: Owned): Buffer {
  const name = entry.kind === 'directory' && !entry.name.endsWith('/') ? `${entry.name}/` : entry.name;
  const extended: Record<string, string> = {};
  if (!fits(name, fields.name[1])) extended.path = name;
  if (!fits(entry.target, fields.target[1])) extended.linkpath = entry.target;
  if (entry.size >= MAX_OCTAL_SIZE) extended.size = String(entry.size);
  if (entry.uid >= MAX_OCTAL_ID) extended.uid = String(entry.uid);
  if (entry.gid >= MAX_OCTAL_ID) extended.gid = String(entry.gid);
  const header = block(types[entry.kind], { ...entry, name });
  return Object.keys(extended).length === 0 ? header : Buffer.concat([extendedHeader(extended), header]);
}

/** What an archive of so many bytes ends with. */
export function endingOf(writtenBytes: number): Buffer {
  const least = 2 * BLOCK;
  return Buffer.alloc(least + ((RECORD - ((writtenBytes + least) % RECORD)) % RECORD));
}

const isAscii = (text: string): boolean => !/[^\u0020-\u007e]/.test(text);
const fits = (text: string, length: number): boolean => isAscii(text) && text.length <= length;

function block(type: string, entry: Omit<Owned, 'kind'>): Buffer {
  const header = Buffer.alloc(BLOCK);
  const put = (field: readonly [number, number], text: string): void => void header.write(text, field[0], field[1], 'utf8');
  const octal = (field: readonly [number, number], value: number): void => {
    const digits = field[1] - 1;
    put(field, (value < 8 ** digits ? value : 0).toString(8).padStart(digits, '0'));
  };
  put(fields.name, entry.name);
  octal(fields.mode, entry.mode & 0o7777);
  octal(fields.uid, entry.uid);
  octal(fields.gid, entry.gid);
  octal(fields.size, entry.size);
  octal(fields.mtime, Math.max(0, Math.trunc(entry.mtime)));
  put(fields.type, type);
  put(fields.target, entry.target);
  put(fields.magic, 'ustar\u000000');
  put(fields.checksum, `${checksumOf(header).toString(8).padStart(6, '0')}\0 `);
  return header;
}

function extendedHeader(values: Readonly<Record<string, string>>): Buffer {
  const content = Buffer.concat(Object.entries(values).map(([key, value]) => record(key, value)));
  const plain = { name: 'PaxHeaders.0/entry', size: content.length, mode: 0o644, uid: 0, gid: 0, mtime: 0, target: '' };
  return Buffer.concat([block(EXTENDED, plain), content, Buffer.alloc(paddingOf(content.length))]);
}
/** `30 path=…\n`: its own length counts. */
function record(key: string, value: string): Buffer {
  const recordText = Buffer.from(` ${key}=${value}\n`);
  let length = recordText.length + 1;
  while (String(length).length + recordText.length !== length) length = String(length).length + recordText.length;
  return Buffer.concat([Buffer.from(String(length)), recordText]);
}
