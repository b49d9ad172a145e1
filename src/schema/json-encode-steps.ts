/**
 * The JSON text of a large object, made in steps: the same bytes as those of `encodeBytes`, for work in slices.
 *
 * Parts are written into the buffer that all calls share, and taken out of it before the work yields.
 */
import type { Work } from '../lib/slices.ts';
import {
  beginPart,
  byte,
  bytes,
  closeBrace,
  closeBracket,
  colon,
  comma,
  keptText,
  label,
  layoutOf,
  openBrace,
  openBracket,
  partSize,
  plain,
  quoted,
  setKeptText,
  TextTooLong,
  takePart,
  writerOf,
} from './json-encode.ts';
import { isEmpty } from './json-value.ts';
import { ownOnly } from './plain.ts';
import { type ListType, type MapType, type MessageType, resolve, type ScalarName, type Type } from './types.ts';

/** Bytes after which the work yields: less than a millisecond of it. */
const BYTES_A_STEP = 16 * 1024;

type Values = Record<string, unknown>;

/**
 * The JSON text of an object as bytes, after so many reserved bytes. Throws TextTooLong as soon as the text has more than twice
 * `most` bytes; a shorter one is encoded, so that its size is known.
 */
export function* encodeSteps(type: Type, object: unknown, room = 0, most = Number.POSITIVE_INFINITY): Work<Buffer> {
  beginPart();
  const parts = new Parts(room, 2 * most);
  yield* node(type, object, parts);
  return parts.whole();
}

/** The text so far, apart from the part that is in the shared buffer. */
class Parts {
  readonly list: Buffer[];
  private readonly most: number;
  private size = 0;
  /** Where the work has yielded last. */
  private pausedAt = 0;

  constructor(room: number, most: number) {
    this.list = [Buffer.allocUnsafe(room)];
    this.most = most;
  }
  /** Whether there is enough to yield. */
  get isStep(): boolean {
    return this.size + partSize() - this.pausedAt >= BYTES_A_STEP;
  }
  *rest(): Work<void> {
    this.take();
    this.pausedAt = this.size;
    yield;
    beginPart();
  }
  take(): void {
    const part = takePart();
    this.list.push(part);
    this.size += part.length;
    if (this.size > this.most) throw new TextTooLong();
  }
  whole(): Buffer {
    this.take();
    return Buffer.concat(this.list);
  }
}

function* node(type: Type, value: unknown, parts: Parts): Work<void> {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'message':
      return yield* messageNode(resolved, value as Values, parts);
    case 'list':
      return yield* listNode(resolved, value as unknown[], parts);
    case 'map':
      return yield* mapNode(resolved, value as Values, parts);
    case 'union': {
      const isObject = typeof value === 'object' && !Array.isArray(value);
      return yield* node(isObject ? resolved.object.type : resolved.other.type, value, parts);
    }
    case 'scalar':
      if (resolved.name === 'fieldsV1') yield* keptNode(value, parts);
      else if (isPlain(resolved.name)) yield* plainNode(value, parts);
      else writerOf(resolved)(value);
  }
}
/** Values of these may be whole objects. */
const isPlain = (name: ScalarName): boolean => name === 'json' || name === 'raw';

function* messageNode(type: MessageType, given: Values, parts: Parts): Work<void> {
  const { fields, careful } = layoutOf(type);
  const object = careful ? ownOnly(given) : given;
  let separator = openBrace;
  for (const plan of fields.values()) {
    const value = object[plan.name];
    if (value === undefined || value === null || value === plan.zero || (plan.collection && isEmpty(value))) {
      if (plan.nothing === undefined) continue;
      label(separator, plan.nothing);
    } else {
      label(separator, plan.label);
      if (typeof value === 'object') yield* node(plan.type, value, parts);
      else plan.write(value);
      if (parts.isStep) yield* parts.rest();
    }
    separator = comma;
  }
  if (type.unknown === 'keep') {
    for (const key of Object.keys(object)) {
      const value = object[key];
      if (fields.has(key) || value === undefined) continue;
      byte(separator);
      separator = comma;
      quoted(key);
      byte(colon);
      yield* plainNode(value, parts);
    }
  }
  if (separator === openBrace) byte(openBrace);
  byte(closeBrace);
}

function* listNode(type: ListType, items: readonly unknown[], parts: Parts): Work<void> {
  const write = writerOf(type.item);
  byte(openBracket);
  for (let i = 0; i < items.length; i++) {
    if (i > 0) byte(comma);
    const item = items[i];
    if (typeof item === 'object' && item !== null) yield* node(type.item, item, parts);
    else write(item);
    if (parts.isStep) yield* parts.rest();
  }
  byte(closeBracket);
}

function* mapNode(type: MapType, map: Values, parts: Parts): Work<void> {
  const write = writerOf(type.value);
  let separator = openBrace;
  for (const key of Object.keys(map).sort()) {
    byte(separator);
    separator = comma;
    quoted(key);
    byte(colon);
    const item = map[key];
    if (typeof item === 'object' && item !== null) yield* node(type.value, item, parts);
    else write(item);
    if (parts.isStep) yield* parts.rest();
  }
  if (separator === openBrace) byte(openBrace);
  byte(closeBrace);
}

function* keptNode(value: unknown, parts: Parts): Work<void> {
  const text = keptText(value as object);
  if (text instanceof Uint8Array) bytes(text);
  else if (text === undefined) yield* plainNode(value, parts);
  else {
    parts.take();
    const from = parts.list.length;
    yield* plainNode(value, parts);
    parts.take();
    setKeptText(value as object, Buffer.concat(parts.list.slice(from)));
    if (parts.isStep) yield* parts.rest();
  }
}

/** Any JSON value. */
function* plainNode(value: unknown, parts: Parts): Work<void> {
  if (typeof value !== 'object' || value === null) plain(value);
  else if (Array.isArray(value)) {
    byte(openBracket);
    for (let i = 0; i < value.length; i++) {
      if (i > 0) byte(comma);
      yield* plainNode(value[i], parts);
    }
    byte(closeBracket);
  } else {
    let separator = openBrace;
    for (const key in value) {
      const item = (value as Values)[key];
      if (item === undefined) continue;
      byte(separator);
      separator = comma;
      quoted(key);
      byte(colon);
      yield* plainNode(item, parts);
    }
    if (separator === openBrace) byte(openBrace);
    byte(closeBrace);
  }
  if (parts.isStep) yield* parts.rest();
}
