/**
 * Where the values of a YAML text stand, for tools that edit the text and keep the rest of it as it is:
 *
 *   spec:              block map, entry `spec`: key 0–4
 *     replicas: 1      block map at column 2, entry `replicas`: key 8–16, value 18–19
 *
 * Offsets are those of the text without a byte order mark and with LF line ends.
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { JsonObject, JsonValue } from '../types.ts';
import { YamlParser } from './parser.ts';
import type { Properties } from './scalar-parser.ts';

export interface YamlNode {
  readonly start: number;
  readonly end: number;
  /** Of the first character. */
  readonly column: number;
  readonly value: JsonValue;
  /** A leaf is a scalar, an alias or nothing at all. */
  readonly type: 'leaf' | 'map' | 'list' | 'flowMap' | 'flowList';
  readonly entries: readonly Entry[];
  readonly items: readonly YamlNode[];
}
export interface Entry {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly place: YamlNode;
}

export interface PlacedDocument {
  readonly value: JsonValue;
  /** Undefined if the text has forms whose places are not tracked: keys after a question mark, `[a: b]`. */
  readonly place: YamlNode | undefined;
}

/** Every document of a text, with its places. Throws DecodeError. */
export function placedDocuments(text: string): PlacedDocument[] {
  const parser = new PlacedParser(text, undefined);
  const documents: PlacedDocument[] = [];
  for (let next = parser.placed(); next !== undefined; next = parser.placed()) documents.push(next);
  return documents;
}

interface Frame {
  readonly entries: { key: string; start: number; end: number; place: YamlNode }[];
  readonly items: YamlNode[];
  /** The key whose value comes next. */
  key: { key: string; start: number; end: number } | undefined;
  /** Whether the next node of a flow map is a key or a value. */
  next: 'key' | 'value';
  readonly type: 'map' | 'list' | 'flowMap' | 'flowList';
}

class PlacedParser extends YamlParser {
  private readonly frames: Frame[] = [];
  private last: YamlNode | undefined;
  private isOdd = false;

  placed(): PlacedDocument | undefined {
    this.isOdd = false;
    this.last = undefined;
    const value = atOnce(this.document());
    return value === undefined ? undefined : { value, place: this.isOdd ? undefined : this.last };
  }

  private leaf(start: number, value: JsonValue, end = this.cursor.at): YamlNode {
    const lineStart = this.cursor.text.lastIndexOf('\n', start - 1) + 1;
    return { start, end, column: start - lineStart, value, type: 'leaf', entries: [], items: [] };
  }
  private add(place: YamlNode): void {
    const frame = this.frames.at(-1);
    if (frame === undefined) return;
    if (frame.type === 'list' || frame.type === 'flowList') frame.items.push(place);
    else if (frame.key === undefined) this.isOdd = true;
    else {
      frame.entries.push({ ...frame.key, place });
      frame.key = undefined;
    }
  }
  private *collection<T extends JsonValue>(type: Frame['type'], read: Work<T>): Work<T> {
    const { at: start, column } = this.cursor;
    const frame: Frame = { entries: [], items: [], key: undefined, next: 'key', type };
    this.frames.push(frame);
    const value = yield* read;
    this.frames.pop();
    const { entries, items } = frame;
    if (frame.key !== undefined) this.isOdd = true;
    const lastPlace = entries.at(-1)?.place ?? items.at(-1);
    const isBlock = type === 'map' || type === 'list';
    // A dash with nothing behind it ends with the dash.
    const end = isBlock ? Math.max(lastPlace?.end ?? start, start) : this.cursor.at;
    this.last = { start, end, column, value, type, entries, items };
    return value;
  }

  protected override *node(parent: number, compact: boolean): Work<JsonValue> {
    const start = this.cursor.at;
    this.last = undefined;
    const value = yield* super.node(parent, compact);
    const place: YamlNode = this.last ?? this.leaf(start, value, start);
    this.add(place);
    this.last = place;
    return value;
  }
  protected override *content(parent: number, compact: boolean, properties: Properties): Work<JsonValue> {
    const start = this.cursor.at;
    const char = this.cursor.char();
    const value = yield* super.content(parent, compact, properties);
    if (char === '|' || char === '>') this.last = this.leaf(start, value);
    return value;
  }
  protected override *scalar(properties: Properties, indent: number | undefined): Work<JsonValue> {
    const start = this.cursor.at;
    const value = yield* super.scalar(properties, indent);
    this.last = this.leaf(start, value);
    return value;
  }
  protected override *sequence(column: number): Work<JsonValue[]> {
    return yield* this.collection('list', super.sequence(column));
  }
  protected override *mapping(column: number): Work<JsonObject> {
    return yield* this.collection('map', super.mapping(column));
  }
  protected override *blockKey(column: number): Work<string> {
    const { cursor } = this;
    const start = cursor.at;
    if (cursor.char() === '?' && cursor.blankAt(1)) this.isOdd = true;
    const key = yield* super.blockKey(column);
    const frame = this.frames.at(-1);
    if (frame !== undefined) frame.key = { key, start, end: this.last?.end ?? start };
    return key;
  }
  protected override *flow(): Work<JsonValue> {
    const type = this.cursor.char() === '[' ? 'flowList' : 'flowMap';
    const read = this.collection(type, super.flow());
    return yield* read;
  }
  protected override *flowValue(start: number): Work<JsonValue> {
    const frame = this.frames.at(-1);
    if (frame === undefined || frame.type !== 'flowMap') this.isOdd = true;
    else frame.next = 'value';
    const value = yield* super.flowValue(start);
    // A value that is not there.
    if (frame !== undefined && frame.type === 'flowMap' && frame.key !== undefined) this.add(this.leaf(this.cursor.at, null));
    if (frame !== undefined) frame.next = 'key';
    return value;
  }
  protected override *flowNode(): Work<JsonValue> {
    const { at } = this.cursor;
    const frame = this.frames.at(-1);
    this.last = undefined;
    const value = yield* super.flowNode();
    const place: YamlNode = this.last ?? this.leaf(at, value);
    if (frame !== undefined && frame.type === 'flowMap' && frame.next === 'key') {
      if (frame.key !== undefined) this.isOdd = true;
      frame.key = { key: String(value), start: place.start, end: place.end };
    } else this.add(place);
    this.last = place;
    return value;
  }
}
