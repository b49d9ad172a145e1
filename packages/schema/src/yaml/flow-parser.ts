/** Collections of YAML in brackets: `[a, {b: c}]`. They hold scalars and each other. */
import { setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonObject, JsonValue } from '../types.ts';
import { noProperties, ScalarParser } from './scalar-parser.ts';

export class FlowParser extends ScalarParser {
  protected *flow(): Work<JsonValue> {
    const { cursor } = this;
    this.enter();
    const outer = cursor.flow;
    cursor.flow = true;
    const start = cursor.at;
    const isList = cursor.char() === '[';
    cursor.at++;
    const value = yield* isList ? this.flowList(start) : this.flowMap(start);
    cursor.at++;
    cursor.flow = outer;
    this.leave();
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
