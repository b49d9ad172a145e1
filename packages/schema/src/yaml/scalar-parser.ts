/** Scalars of YAML with their anchors, tags and aliases, and what all values share: limits, pauses, the keys of maps. */
import { setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { DecodeError, maxContainers, maxExpanded, maxKeys, tooLargeExpanded, tooManyContainers, tooManyKeys } from '../errors.ts';
import type { RepeatedKeys } from '../fields/field-place.ts';
import type { JsonObject, JsonValue } from '../types.ts';
import { YamlCursor } from './cursor.ts';
import { plainLine, plainText } from './plain-text.ts';
import { quotedText, shortQuotedText } from './quoted-text.ts';
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
export const noProperties: Properties = { anchor: undefined, tag: undefined };

export class ScalarParser {
  protected readonly cursor: YamlCursor;
  protected readonly repeated: RepeatedKeys | undefined;
  private readonly resolve: typeof resolvePlain;
  private readonly anchors = new Map<string, JsonValue>();
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

  /** Whether to yield: after so many values, or after so many characters of them. */
  protected isPauseDue(): boolean {
    if (++this.values < VALUES_A_STEP && this.cursor.at - this.pausedAt < CHARACTERS_A_STEP) return false;
    this.values = 0;
    this.pausedAt = this.cursor.at;
    return true;
  }

  protected enter(): void {
    if (++this.depth > maxDepth) throw new DecodeError('exceeded max depth');
  }
  protected leave(): void {
    this.depth--;
  }

  /** An alias, a text in quotes or a plain one, which may go on in lines indented by `indent`; undefined: on this line alone. */
  protected *scalar(properties: Properties, indent: number | undefined): Work<JsonValue> {
    const { cursor } = this;
    const char = cursor.char();
    if (char === '*') return yield* this.alias();
    if (char === '"' || char === "'") return this.finish(properties, shortQuotedText(cursor) ?? (yield* quotedText(cursor)), false);
    if (cannotBeginPlain.test(char) || (char === '-' && cursor.blankAt(1))) cursor.fail('found character that cannot start any token');
    return this.finish(properties, indent === undefined ? plainLine(cursor) : yield* plainText(cursor, indent), true);
  }

  /** The value of a scalar's text, stored under its anchor if it has one. */
  protected finish({ anchor, tag }: Properties, text: string | null, plain: boolean): JsonValue {
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
  protected word(): string {
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

  /** Anchors are those of one document. */
  protected forgetAnchors(): void {
    this.anchors.clear();
  }
  /** Reads a collection under its anchor's name. */
  protected *anchored(properties: Properties, read: Work<JsonValue>): Work<JsonValue> {
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
    this.enter();
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
    this.leave();
    return out;
  }

  /** Counts the characters that an alias repeats, since a small text could otherwise grow without bound. */
  private expand(size: number): void {
    this.expanded += size;
    if (this.expanded > maxExpanded) throw tooLargeExpanded();
  }
  protected countContainer(): void {
    if (++this.containers > maxContainers) throw tooManyContainers();
  }
  protected countKey(): void {
    if (++this.keys > maxKeys) throw tooManyKeys();
  }

  // ---- maps ------------------------------------------------------------------------------------------------------

  protected keyText(value: JsonValue): string {
    if (typeof value === 'object' && value !== null) this.cursor.fail('unsupported map key');
    return String(value);
  }

  protected put(out: JsonObject, key: string, value: JsonValue): void {
    this.countKey();
    setOwn(out, key, value);
  }
  /** Explicit keys take precedence over merged ones, and earlier maps over later ones. */
  protected *merge(out: JsonObject, merged: JsonValue[]): Work<JsonObject> {
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
}

const letters = /[^ \t\n,[\]{}]+/y;
export const cannotBeginPlain = /^[,[\]{}#&*!|>'"%@`]?$/;
