/**
 * The structure of YAML: documents, block and flow collections, anchors, tags and merge keys, straight to JSON values.
 * Written for bodies that may be hostile: linear in the text, bounded in depth and in the expansion of aliases. (The
 * `yaml` package needs seconds for a megabyte, and deep nesting can end the process inside it.)
 */
import { setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError, maxContainers, maxExpanded, maxKeys, tooLargeExpanded, tooManyContainers, tooManyKeys } from '../errors.ts';
import type { RepeatedKeys } from '../fields/field-place.ts';
import type { JsonObject, JsonValue } from '../types.ts';
import { YamlCursor } from './cursor.ts';
import { resolvePlain } from './scalars.ts';

/** The bound on nested values. */
const maxDepth = 500;

/** Values after which the parser yields, and characters of values. */
const VALUES_A_STEP = 256;
const CHARACTERS_A_STEP = 16 * 1024;

export interface Properties {
  readonly anchor: string | undefined;
  readonly tag: string | undefined;
}
const noProperties: Properties = { anchor: undefined, tag: undefined };

export class YamlParser {
  protected readonly cursor: YamlCursor;
  private readonly repeated: RepeatedKeys | undefined;
  private readonly resolve: typeof resolvePlain;
  private anchors = new Map<string, JsonValue>();
  /** Anchors whose value is being read, so that none contains itself. */
  private readonly open = new Set<string>();
  /** Characters of the text and of what aliases repeat. */
  expanded: number;
  private containers = 0;
  private keys = 0;
  private depth = 0;
  private values = 0;
  private pausedAt = 0;

  /** `resolve` is the value of a plain scalar. */
  constructor(text: string, repeated: RepeatedKeys | undefined, resolve: typeof resolvePlain = resolvePlain) {
    this.cursor = new YamlCursor(text);
    this.repeated = repeated;
    this.resolve = resolve;
    this.expanded = text.length;
  }

  /** The next document, or undefined when there is none. */
  *document(): Work<JsonValue | undefined> {
    const { cursor } = this;
    if (cursor.at === 0) yield* cursor.toLineFeeds();
    while (!cursor.skipToContent()) yield;
    while (cursor.char() === '%' && cursor.column === 0) {
      if (this.isPauseDue()) yield;
      cursor.plainLine();
      cursor.at = (cursor.text.indexOf('\n', cursor.at) + 1 || cursor.text.length + 1) - 1;
      while (!cursor.skipToContent()) yield;
    }
    while (cursor.atMarker() && cursor.char() === '.') {
      if (this.isPauseDue()) yield;
      cursor.at += 3;
      while (!cursor.skipToContent()) yield;
    }
    if (cursor.atEnd) return undefined;
    if (cursor.atMarker()) {
      cursor.at += 3;
      while (!cursor.skipToContent()) yield;
      if (cursor.atEnd || cursor.atMarker()) return null;
    }
    this.anchors = new Map();
    const value = yield* this.node(-1, true);
    while (!cursor.skipToContent()) yield;
    if (!cursor.atEnd && !cursor.atMarker()) cursor.fail('did not find expected <document start>');
    return value;
  }

  /** Whether to yield: after so many values, or after so many characters of them. */
  private isPauseDue(): boolean {
    if (++this.values < VALUES_A_STEP && this.cursor.at - this.pausedAt < CHARACTERS_A_STEP) return false;
    this.values = 0;
    this.pausedAt = this.cursor.at;
    return true;
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  /**
   * A value that belongs to a collection at column `parent`: it stands on this line, or on later ones with more
   * indentation. `compact` allows a mapping or a list to begin on this line, as it may behind a dash.
   */
  protected *node(parent: number, compact: boolean): Work<JsonValue> {
    const { cursor } = this;
    if (this.isPauseDue()) yield;
    if (++this.depth > maxDepth) throw new DecodeError('exceeded max depth');
    cursor.skipSpaces();
    let onOwnLine = compact;
    let properties = this.ownProperties(onOwnLine);
    // A value that is not on this line is on later ones; an anchor or a tag may have a line of its own.
    while (cursor.lineIsOver()) {
      while (!cursor.skipToContent()) yield;
      // A list may stand at the column of the key it belongs to.
      const least = !compact && cursor.char() === '-' && cursor.blankAt(1) ? parent : parent + 1;
      if (cursor.atEnd || cursor.column < least || cursor.atMarker()) {
        this.depth--;
        return this.finish(properties, null, true);
      }
      onOwnLine = true;
      if (properties === noProperties) properties = this.ownProperties(true);
    }
    const value = yield* this.content(parent, onOwnLine, properties);
    this.depth--;
    return value;
  }
  /** Anchor and tag of the value that begins here, unless they are those of a mapping's first key. */
  private ownProperties(mayBeKey: boolean): Properties {
    const char = this.cursor.char();
    return (char === '&' || char === '!') && !(mayBeKey && this.atKey()) ? this.properties() : noProperties;
  }

  protected *content(parent: number, compact: boolean, properties: Properties): Work<JsonValue> {
    const { cursor } = this;
    const { column } = cursor;
    const char = cursor.char();
    if (char === '-' && cursor.blankAt(1)) {
      if (!compact) cursor.fail('block sequence entries are not allowed in this context');
      return yield* this.anchored(properties, this.sequence(column));
    }
    if ((char === '?' && cursor.blankAt(1)) || (compact && this.atKey())) {
      return yield* this.anchored(properties, this.mapping(column));
    }
    if (char === '|' || char === '>') return this.finish(properties, yield* cursor.block(parent), false);
    if (char === '[' || char === '{') {
      const value = yield* this.anchored(properties, this.flow());
      cursor.skipSpaces();
      if (cursor.char() === ':' && cursor.blankAt(1)) cursor.fail('unsupported map key');
      return value;
    }
    const value = yield* this.scalar(properties, parent + 1);
    cursor.skipSpaces();
    if (cursor.char() === ':' && cursor.blankAt(1)) cursor.fail('mapping values are not allowed in this context');
    if (!cursor.lineIsOver()) cursor.fail('did not find expected key');
    return value;
  }

  /** An alias, a text in quotes or a plain one, which may go on in lines indented by `indent`; undefined: on this line alone. */
  protected *scalar(properties: Properties, indent: number | undefined): Work<JsonValue> {
    const { cursor } = this;
    const char = cursor.char();
    if (char === '*') return yield* this.alias();
    if (char === '"' || char === "'") return this.finish(properties, cursor.shortQuoted() ?? (yield* cursor.quoted()), false);
    if (cannotBeginPlain.test(char) || (char === '-' && cursor.blankAt(1))) cursor.fail('found character that cannot start any token');
    return this.finish(properties, indent === undefined ? cursor.plainLine() : yield* cursor.plain(indent), true);
  }

  /** The value of a scalar's text, stored under its anchor if it has one. */
  private finish({ anchor, tag }: Properties, text: string | null, plain: boolean): JsonValue {
    let value: JsonValue = text;
    if (tag !== undefined) value = this.tagged(tag, text ?? '');
    else if (plain && text !== null) value = this.plainValue(text);
    if (anchor !== undefined) this.anchors.set(anchor, value);
    return value;
  }
  /** A number must be one that JSON can hold. */
  private plainValue(text: string): JsonValue {
    const value = this.resolve(text);
    if (typeof value === 'number' && !Number.isFinite(value)) this.cursor.fail(`unsupported value: ${value}`);
    return value;
  }
  private tagged(tag: string, text: string): JsonValue {
    if (tag === '!!binary') return Buffer.from(text, 'base64').toString('utf8');
    if (tag !== '!!int' && tag !== '!!float' && tag !== '!!bool' && tag !== '!!null') return text;
    const value = this.plainValue(text);
    if (typeof value === 'string') this.cursor.fail(`cannot decode !!str \`${text}\` as a ${tag}`);
    return value;
  }

  // ---- properties and aliases ------------------------------------------------------------------------------------

  protected properties(): Properties {
    const { cursor } = this;
    let anchor: string | undefined;
    let tag: string | undefined;
    for (;;) {
      const char = cursor.char();
      if (char === '&' && anchor === undefined) anchor = this.word();
      else if (char === '!' && tag === undefined) tag = this.tag();
      else break;
      cursor.skipSpaces();
    }
    return anchor === undefined && tag === undefined ? noProperties : { anchor, tag };
  }
  /** The name of an anchor or a tag, behind the character that begins it. */
  private word(): string {
    const { cursor } = this;
    const start = ++cursor.at;
    letters.lastIndex = start;
    if (letters.test(cursor.text)) cursor.at = letters.lastIndex;
    if (cursor.at === start) cursor.fail('did not find expected alphabetic or numeric character');
    return cursor.text.slice(start, cursor.at);
  }
  private tag(): string {
    const { cursor } = this;
    if (cursor.blankAt(1)) {
      cursor.at++;
      return '!!str';
    }
    return `!${this.word()}`.replace(/^!<tag:yaml\.org,2002:(.*)>$/, '!!$1');
  }

  /** Reads a collection under its anchor's name. */
  private *anchored(properties: Properties, read: Work<JsonValue>): Work<JsonValue> {
    const { anchor } = properties;
    if (anchor === undefined) return yield* read;
    this.open.add(anchor);
    const value = yield* read;
    this.open.delete(anchor);
    this.anchors.set(anchor, value);
    return value;
  }
  private *alias(): Work<JsonValue> {
    const { cursor } = this;
    const start = cursor.at;
    const name = this.word();
    if (this.open.has(name)) cursor.fail(`anchor '${name}' value contains itself`, start);
    const value = this.anchors.get(name);
    return value === undefined ? cursor.fail(`unknown anchor '${name}' referenced`, start) : yield* this.copy(value);
  }
  private *copy(value: JsonValue): Work<JsonValue> {
    this.expand(typeof value === 'string' ? value.length + 2 : 4);
    if (typeof value !== 'object' || value === null) return value;
    if (++this.depth > maxDepth) throw new DecodeError('exceeded max depth');
    this.countContainer();
    let out: JsonValue;
    if (Array.isArray(value)) {
      out = [];
      for (const item of value) {
        if (this.isPauseDue()) yield;
        out.push(yield* this.copy(item));
      }
    } else {
      out = {};
      for (const key of Object.keys(value)) {
        if (this.isPauseDue()) yield;
        this.countKey();
        this.expand(key.length + 3);
        setOwn(out, key, yield* this.copy(value[key] as JsonValue));
      }
    }
    this.depth--;
    return out;
  }

  /** Counts the characters that an alias repeats, since a small text could otherwise grow without bound. */
  private expand(size: number): void {
    this.expanded += size;
    if (this.expanded > maxExpanded) throw tooLargeExpanded();
  }
  private countContainer(): void {
    if (++this.containers > maxContainers) throw tooManyContainers();
  }
  private countKey(): void {
    if (++this.keys > maxKeys) throw tooManyKeys();
  }

  // ---- block collections -----------------------------------------------------------------------------------------

  protected *sequence(column: number): Work<JsonValue[]> {
    const { cursor } = this;
    const items: JsonValue[] = [];
    this.countContainer();
    for (;;) {
      cursor.at++;
      items.push(yield* this.node(column, true));
      while (!cursor.skipToContent()) yield;
      if (cursor.atEnd || cursor.column < column || cursor.atMarker()) return items;
      if (cursor.column > column || cursor.char() !== '-' || !cursor.blankAt(1)) {
        if (cursor.column === column) return items;
        cursor.fail("did not find expected '-' indicator");
      }
    }
  }

  protected *mapping(column: number): Work<JsonObject> {
    const { cursor } = this;
    const out: JsonObject = {};
    const merged: JsonValue[] = [];
    this.countContainer();
    for (;;) {
      const merges = cursor.char() === '<' && cursor.char(1) === '<';
      const explicit = cursor.char() === '?' && cursor.blankAt(1);
      const key = yield* this.blockKey(column);
      if (this.repeated !== undefined && Object.hasOwn(out, key)) yield* this.reportRepeated(this.repeated, key, column);
      const value = yield* this.node(column, explicit);
      if (merges && key === '<<') merged.push(value);
      else this.put(out, key, value);
      while (!cursor.skipToContent()) yield;
      if (cursor.atEnd || cursor.column < column || cursor.atMarker()) return merged.length === 0 ? out : yield* this.merge(out, merged);
      if (cursor.column > column || !((cursor.char() === '?' && cursor.blankAt(1)) || this.atKey()))
        cursor.fail('did not find expected key');
    }
  }

  /** Reports a repeated key at the line on which its value begins; the cursor is after its colon, and stays there. */
  private *reportRepeated(repeated: RepeatedKeys, key: string, column: number): Work<void> {
    const { cursor } = this;
    const { at, lineStart } = cursor;
    let start = at;
    cursor.skipSpaces();
    if (cursor.lineIsOver()) {
      while (!cursor.skipToContent()) yield;
      const least = cursor.char() === '-' && cursor.blankAt(1) ? column : column + 1;
      if (!cursor.atEnd && !cursor.atMarker() && cursor.column >= least) start = cursor.at;
    }
    cursor.at = at;
    cursor.lineStart = lineStart;
    repeated.field(key, true, cursor.text, start);
  }

  /** Reads a key and its colon. */
  protected *blockKey(column: number): Work<string> {
    const { cursor } = this;
    if (cursor.char() === '?' && cursor.blankAt(1)) {
      cursor.at++;
      const key = this.keyText(yield* this.node(column, true));
      while (!cursor.skipToContent()) yield;
      if (cursor.column !== column || cursor.char() !== ':' || !cursor.blankAt(1)) cursor.fail("could not find expected ':'");
      cursor.at++;
      return key;
    }
    const key = this.keyText(yield* this.scalar(this.properties(), undefined));
    cursor.skipSpaces();
    cursor.at++;
    return key;
  }
  private keyText(value: JsonValue): string {
    if (typeof value === 'object' && value !== null) this.cursor.fail('unsupported map key');
    return String(value);
  }

  /** Whether this line begins with a key: a scalar with a colon behind it. */
  private atKey(): boolean {
    const { cursor } = this;
    const { at, lineStart } = cursor;
    let found = false;
    this.properties();
    const char = cursor.char();
    if (char === '*') this.word();
    else if (char === '"' || char === "'") {
      if (!cursor.skipQuotedKey()) cursor.at = at;
    } else if (!cannotBeginPlain.test(char)) cursor.plainLine();
    if (cursor.lineStart === lineStart && cursor.at > at) {
      cursor.skipSpaces();
      found = cursor.char() === ':' && cursor.blankAt(1);
    }
    cursor.at = at;
    cursor.lineStart = lineStart;
    return found;
  }

  private put(out: JsonObject, key: string, value: JsonValue): void {
    this.countKey();
    setOwn(out, key, value);
  }
  /** Explicit keys take precedence over merged ones, and earlier maps over later ones. */
  private *merge(out: JsonObject, merged: JsonValue[]): Work<JsonObject> {
    for (const source of merged.flat() as JsonValue[]) {
      if (typeof source !== 'object' || source === null || Array.isArray(source)) {
        this.cursor.fail('map merge requires map or sequence of maps as the value');
      }
      for (const key of Object.keys(source)) {
        if (this.isPauseDue()) yield;
        if (!Object.hasOwn(out, key)) setOwn(out, key, source[key] as JsonValue);
      }
    }
    return out;
  }

  // ---- flow collections ------------------------------------------------------------------------------------------

  protected *flow(): Work<JsonValue> {
    const { cursor } = this;
    if (++this.depth > maxDepth) throw new DecodeError('exceeded max depth');
    const outer = cursor.flow;
    cursor.flow = true;
    const start = cursor.at;
    const isList = cursor.char() === '[';
    cursor.at++;
    const value = yield* isList ? this.flowList(start) : this.flowMap(start);
    cursor.at++;
    cursor.flow = outer;
    this.depth--;
    return value;
  }

  protected *flowList(start: number): Work<JsonValue[]> {
    const { cursor } = this;
    const items: JsonValue[] = [];
    this.countContainer();
    for (;;) {
      while (!this.flowContent(start)) yield;
      if (cursor.char() === ']') return items;
      const item = yield* this.flowNode();
      while (!this.flowContent(start)) yield;
      // `[a: b]` is a list of one small map.
      if (cursor.char() === ':') {
        cursor.at++;
        const key = this.keyText(item);
        const pair: JsonObject = {};
        this.countContainer();
        setOwn(pair, key, yield* this.flowValue(start));
        items.push(pair);
      } else items.push(item);
      while (!this.flowContent(start)) yield;
      this.flowComma(']');
    }
  }
  protected *flowMap(start: number): Work<JsonObject> {
    const { cursor } = this;
    const out: JsonObject = {};
    const merged: JsonValue[] = [];
    this.countContainer();
    for (;;) {
      while (!this.flowContent(start)) yield;
      if (cursor.char() === '}') return merged.length === 0 ? out : yield* this.merge(out, merged);
      if (cursor.char() === '?' && cursor.blankAt(1)) {
        cursor.at++;
        while (!this.flowContent(start)) yield;
      }
      const merges = cursor.char() === '<' && cursor.char(1) === '<';
      const key = this.keyText(yield* this.flowNode());
      while (!this.flowContent(start)) yield;
      const colon = cursor.char() === ':';
      if (colon) {
        cursor.at++;
        while (!this.flowContent(start)) yield;
      }
      if (this.repeated !== undefined && Object.hasOwn(out, key)) this.repeated.field(key, true, cursor.text, cursor.at);
      const value = colon ? yield* this.flowValue(start) : null;
      if (merges && key === '<<') merged.push(value);
      else this.put(out, key, value);
      while (!this.flowContent(start)) yield;
      this.flowComma('}');
    }
  }
  protected *flowValue(start: number): Work<JsonValue> {
    while (!this.flowContent(start)) yield;
    return ',]}'.includes(this.cursor.char()) ? null : yield* this.flowNode();
  }
  protected *flowNode(): Work<JsonValue> {
    const { cursor } = this;
    if (this.isPauseDue()) yield;
    const properties = this.properties();
    const start = cursor.at;
    if (properties !== noProperties) while (!this.flowContent(start)) yield;
    const char = cursor.char();
    if (char === '[' || char === '{') return yield* this.anchored(properties, this.flow());
    if (properties !== noProperties && ',]}:'.includes(char)) return this.finish(properties, '', true);
    // A key may be missing: `{: 1}`.
    if (char === ':' && (cursor.blankAt(1) || ',]}'.includes(cursor.char(1)))) return null;
    return yield* this.scalar(properties, 0);
  }
  /** Returns false where it must be called again, see `skipToContent`. */
  private flowContent(start: number): boolean {
    if (!this.cursor.skipToContent()) return false;
    if (this.cursor.atEnd || this.cursor.atMarker()) this.cursor.fail("did not find expected ',' or closing bracket", start);
    return true;
  }
  private flowComma(close: string): void {
    const { cursor } = this;
    if (cursor.char() === ',') cursor.at++;
    else if (cursor.char() !== close) cursor.fail(`did not find expected ',' or '${close}'`);
  }
}

const letters = /[^ \t\n,[\]{}]+/y;
const cannotBeginPlain = /^[,[\]{}#&*!|>'"%@`]?$/;
