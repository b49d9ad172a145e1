/**
 * An object as the cache holds it and as responses send it: JSON bytes of its stored version with the resourceVersion in
 * place, and the few facts that selectors use. Nothing on the read path parses these bytes.
 *
 * In the store the resourceVersion is absent (it is the revision of the commit, which a shared store knows only
 * afterwards). The stored value is a header of 8 bytes and the JSON text:
 *
 *   byte 0      format version, 1
 *   byte 1      encoding, 0 = JSON
 *   bytes 2-3   reserved, 0
 *   bytes 4-7   offset in the text at which `,"resourceVersion":"…"` belongs (right after the uid)
 */
import { parseExact } from '@plat-dev/schema/json/parse';
import { describeForm, storedFormOf } from './encryption/stored-form.ts';
import type { KeptValue } from './engine.ts';
import { UnknownFormat } from './unreadable.ts';

export interface Item {
  /** Key within the collection: `namespace/name`, or `name`. */
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly bytes: Buffer;
  /** The same with the newline of a response; undefined if the item was not made from a stored value. */
  readonly line: Buffer | undefined;
  /** Offset of the resourceVersion in `bytes`. */
  readonly versionAt: number;
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** Values of the kind's selectable fields, in the order of the kind. */
  readonly fields: readonly string[] | undefined;
  /** The parsed object, cached only for collections that are looked up as objects. Must not be changed. */
  parsed: unknown;
}

export interface Facts {
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly fields: readonly string[] | undefined;
  /** The rules of the writer of a value: the facts are valid only while stored values are read by the same rules. */
  readonly read?: ReadValue | undefined;
  /** The collection of the value and its key there, if the writer knows them: they need not be found in the key of the store. */
  readonly place?: { readonly prefix: string; readonly key: string } | undefined;
  /** The parsed object at a revision, if the writer of a large value has it. */
  readonly parsed?: ((revision: number) => unknown) | undefined;
}
/** What a stored value is read as. */
export type ReadValue = (value: Buffer) => Buffer;

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];
const FORMAT = 1;
export const HEADER = 8;
/**
 * Objects of this size and more have a block of memory of their own: almost all. Smaller buffers share blocks of 8 KiB, and where
 * objects come and go each block is kept by the last of them, so that a server grew for hours.
 */
const OWN_BLOCK = 256;
const BEFORE = Buffer.from(',"resourceVersion":"');
const NEWLINE = 0x0a;
const ZERO = 0x30;
const LINE_END = Buffer.from([NEWLINE]);

/** The value to store for an object's JSON text (made without resourceVersion). */
export function storedValue(text: string, uid: string): Buffer {
  const value = Buffer.allocUnsafe(HEADER + Buffer.byteLength(text));
  value.write(text, HEADER);
  return withHeader(value, uid);
}

/** Completes a value whose JSON text follows the room for the header. */
export function withHeader(value: Buffer, uid: string): Buffer {
  const end = endOfUid(value, uid);
  if (end < 0) throw new Error('an object without uid cannot be stored');
  writeHeader(value, end - HEADER);
  return value;
}
function writeHeader(value: Buffer, versionAt: number): void {
  value[0] = FORMAT;
  value[1] = 0;
  value.writeUInt16BE(0, 2);
  value.writeUInt32BE(versionAt, 4);
}

const UID = Buffer.from('"uid":"');

/** The offset after `"uid":"…"`; -1 if there is none. It is near the beginning, where a loop is faster than a search. */
function endOfUid(value: Buffer, uid: string): number {
  const size = UID.length + uid.length + 1;
  for (let at = HEADER; at + size <= value.length; at++) {
    if (value[at] === QUOTE && isUidAt(value, at, uid)) return at + size;
  }
  return -1;
}
function isUidAt(value: Buffer, at: number, uid: string): boolean {
  for (let i = 1; i < UID.length; i++) if (value[at + i] !== UID[i]) return false;
  const begin = at + UID.length;
  for (let i = 0; i < uid.length; i++) if (value[begin + i] !== uid.charCodeAt(i)) return false;
  return value[begin + uid.length] === QUOTE;
}

/** Text of a stored value, without resourceVersion. */
export function storedText(value: Buffer): Buffer {
  check(value);
  return value.subarray(HEADER);
}

const MANAGERS = Buffer.from('"managedFields":[');

/**
 * The object of a stored value without managedFields, which selectors never use and which are half of many objects.
 * The searched bytes cannot be within a string, where quotes are escaped.
 */
export function storedObject(value: Buffer): unknown {
  check(value);
  const key = value.indexOf(MANAGERS, HEADER);
  if (key < 0) return parseExact(value.toString('utf8', HEADER));
  const from = key + MANAGERS.length;
  return parseExact(value.toString('utf8', HEADER, from) + value.toString('utf8', endOfArray(value, from)));
}

/** The end of the array whose content begins at `from`: the offset of its closing bracket, or the end of a text that lacks it. */
function endOfArray(text: Buffer, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const byte = text[at];
    if (byte === QUOTE) at = endOfString(text, at + 1);
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth++;
    else if ((byte === CLOSE_BRACKET || byte === CLOSE_BRACE) && --depth === 0) return at;
  }
  return text.length;
}
function endOfString(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** An item that was made from a stored value, which can be made from it again: a store in memory keeps the item instead of both. */
class StoredItem implements Item, KeptValue {
  readonly key: string;
  readonly revision: number;
  readonly created: number;
  readonly bytes: Buffer;
  readonly line: Buffer;
  readonly versionAt: number;
  readonly labels: Facts['labels'];
  readonly fields: Facts['fields'];
  parsed: unknown;

  constructor({ key, created }: Pick<Item, 'key' | 'created'>, revision: number, line: Buffer, versionAt: number, facts: Facts) {
    this.key = key;
    this.revision = revision;
    this.created = created;
    this.bytes = line.subarray(0, line.length - 1);
    this.line = line;
    this.versionAt = versionAt;
    this.labels = facts.labels;
    this.fields = facts.fields;
    this.parsed = facts.parsed === undefined ? undefined : facts.parsed(revision);
  }
  stored(): Buffer {
    const { bytes, versionAt } = this;
    const version = versionLength(this);
    const value = Buffer.allocUnsafe(HEADER + bytes.length - version);
    writeHeader(value, versionAt);
    bytes.copy(value, HEADER, 0, versionAt);
    bytes.copy(value, HEADER + versionAt, versionAt + version);
    return value;
  }
}

export function itemFromStored(key: string, value: Buffer, revision: number, created: number, facts: Facts): Item {
  check(value);
  const at = value.readUInt32BE(4);
  if (at > value.length - HEADER) throw new UnknownFormat('its head does not fit its text');
  return new StoredItem({ key, created }, revision, withVersion(value, at, revision), at, facts);
}

/** The item in place of its stored value; undefined if that cannot be made from it: the value was read by other rules. */
export function keptValue(item: Item, value: Buffer): KeptValue | undefined {
  return item instanceof StoredItem && sameText(item, value) ? item : undefined;
}

/** The same object at another revision (a deletion carries its own revision). */
export function atRevision(item: Item, revision: number): Item {
  const head = item.bytes.subarray(0, item.versionAt);
  const tail = item.bytes.subarray(item.versionAt + versionLength(item));
  const version = Buffer.from(`,"resourceVersion":"${revision}"`);
  const line = Buffer.concat([head, version, tail, LINE_END]);
  const { labels, fields, versionAt } = item;
  return new StoredItem(item, revision, line, versionAt, { labels, fields });
}
/** The length of `,"resourceVersion":"…"`. */
const versionLength = ({ revision }: Item): number => BEFORE.length + String(revision).length + 1;

/** With a newline. */
function withVersion(value: Buffer, at: number, revision: number): Buffer {
  let digits = 1;
  for (let rest = revision; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  const addedBytes = BEFORE.length + digits + 1;
  const size = value.length - HEADER + addedBytes + 1;
  // Three objects of two kilobytes would fill a shared block badly, and one that stays would keep the whole block alive.
  const bytes = size < OWN_BLOCK ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size);
  // Copied whole, the end of the text is in its place, and the beginning is moved: to copy parts of a buffer takes a view for each.
  const shift = addedBytes - HEADER;
  bytes.set(value, shift);
  bytes.copyWithin(0, shift + HEADER, shift + HEADER + at);
  for (let i = 0; i < BEFORE.length; i++) bytes[at + i] = BEFORE[i] as number;
  for (let to = at + addedBytes - 2, rest = revision; digits > 0; digits--, rest = Math.floor(rest / 10)) bytes[to--] = ZERO + (rest % 10);
  bytes[at + addedBytes - 1] = QUOTE;
  bytes[size - 1] = NEWLINE;
  return bytes;
}

function check(value: Buffer): void {
  if (value[0] === FORMAT && value[1] === 0) return;
  const form = storedFormOf(value);
  if (form !== undefined) throw new UnknownFormat(`${describeForm(form)}, and the encryption configuration has no rule for its kind`);
  throw new UnknownFormat(`it has the format ${value[0]}.${value[1]}, which this release does not know`);
}

/** Whether a stored value is an object as written by this file, and not encrypted. */
export const isPlain = (value: Buffer): boolean => value.length >= HEADER && value[0] === FORMAT && value[1] === 0;

/** Whether a stored value is the text of an item, apart from its resourceVersion. */
export function sameText(item: Item, value: Buffer): boolean {
  const version = versionLength(item);
  if (item.bytes.length - version !== value.length - HEADER) return false;
  const at = item.versionAt;
  return (
    item.bytes.compare(value, HEADER, HEADER + at, 0, at) === 0 && item.bytes.compare(value, HEADER + at, value.length, at + version) === 0
  );
}
