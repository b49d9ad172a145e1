/**
 * The structure of YAML: documents, block and flow collections, anchors, tags and merge keys, straight to JSON values.
 * Written for bodies that may be hostile: linear in the text, bounded in depth and in the expansion of aliases. (The
 * `yaml` package needs seconds for a megabyte, and deep nesting can end the process inside it.)
 */
import type { Work } from '@plat-dev/lib/slices';
import type { RepeatedKeys } from '../fields/field-place.ts';
import type { JsonObject, JsonValue } from '../types.ts';
import { blockText } from './block-text.ts';
import { FlowParser } from './flow-parser.ts';
import { plainLine } from './plain-text.ts';
import { skipQuotedKey } from './quoted-text.ts';
import { cannotBeginPlain, noProperties, type Properties } from './scalar-parser.ts';

export class YamlParser extends FlowParser {
  /** The next document, or undefined when there is none. */
  *document(): Work<JsonValue | undefined> {
    const { cursor } = this;
    if (cursor.at === 0) yield* cursor.toLineFeeds();
    while (!cursor.skipToContent()) yield;
    while (cursor.char() === '%' && cursor.column === 0) {
      if (this.isPauseDue()) yield;
      plainLine(cursor);
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
    this.forgetAnchors();
    const value = yield* this.node(-1, true);
    while (!cursor.skipToContent()) yield;
    if (!cursor.atEnd && !cursor.atMarker()) cursor.fail('did not find expected <document start>');
    return value;
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  /**
   * A value that belongs to a collection at column `parent`: it stands on this line, or on later ones with more
   * indentation. `compact` allows a mapping or a list to begin on this line, as it may behind a dash.
   */
  protected *node(parent: number, compact: boolean): Work<JsonValue> {
    const { cursor } = this;
    if (this.isPauseDue()) yield;
    this.enter();
    cursor.skipSpaces();
    let onOwnLine = compact;
    let properties = this.ownProperties(onOwnLine);
    // A value that is not on this line is on later ones; an anchor or a tag may have a line of its own.
    while (cursor.lineIsOver()) {
      while (!cursor.skipToContent()) yield;
      // A list may stand at the column of the key it belongs to.
      const least = !compact && cursor.char() === '-' && cursor.blankAt(1) ? parent : parent + 1;
      if (cursor.atEnd || cursor.column < least || cursor.atMarker()) {
        this.leave();
        return this.finish(properties, null, true);
      }
      onOwnLine = true;
      if (properties === noProperties) properties = this.ownProperties(true);
    }
    const value = yield* this.content(parent, onOwnLine, properties);
    this.leave();
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
    if (char === '|' || char === '>') return this.finish(properties, yield* blockText(cursor, parent), false);
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
  /** Whether this line begins with a key: a scalar with a colon behind it. */
  private atKey(): boolean {
    const { cursor } = this;
    const { at, lineStart } = cursor;
    let isKey = false;
    this.properties();
    const char = cursor.char();
    if (char === '*') this.word();
    else if (char === '"' || char === "'") {
      if (!skipQuotedKey(cursor)) cursor.at = at;
    } else if (!cannotBeginPlain.test(char)) plainLine(cursor);
    if (cursor.lineStart === lineStart && cursor.at > at) {
      cursor.skipSpaces();
      isKey = cursor.char() === ':' && cursor.blankAt(1);
    }
    cursor.at = at;
    cursor.lineStart = lineStart;
    return isKey;
  }
}
