/** The text of a place with another value, with as much of its old text as possible. */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '../types.ts';
import { emitFlow } from './emit-flow.ts';
import { commentsWithin, isMap, lineEnd, movedLines, sourceOf } from './moved-values.ts';
import type { Entry, YamlNode } from './places.ts';
import { stringifyYaml } from './write.ts';

export interface EditContext {
  readonly text: string;
  /** Places whose text is moved elsewhere. */
  readonly moved: readonly YamlNode[];
}
export interface Emitted {
  readonly text: string;
  /** The end of the replaced text: the end of the place, or of its line if text was added after it. */
  readonly end: number;
}

/** `inner`: the column for lines of a value that does not fit behind its key. */
export function emit(place: YamlNode, value: JsonValue, inner: number, context: EditContext): Emitted {
  const { text } = context;
  if (equal(place.value, value)) return { text: text.slice(place.start, place.end), end: place.end };
  if (place.type === 'map' && isMap(value) && Object.keys(value).length > 0) return new MapEdit(place, value, context).emit();
  if (place.type === 'list' && Array.isArray(value) && value.length === place.items.length) return emitItems(place, value, context);
  if (place.type === 'flowMap' || place.type === 'flowList') return { text: emitFlow(place, value, text), end: place.end };
  return { text: replaced(place, value, inner, context), end: place.end };
}

function emitItems(place: YamlNode, values: readonly JsonValue[], context: EditContext): Emitted {
  let out = '';
  let at = place.start;
  place.items.forEach((item, i) => {
    const { text, end } = emit(item, values[i] as JsonValue, place.column + 2, context);
    out += context.text.slice(at, item.start) + text;
    at = end;
  });
  return { text: out, end: at };
}

function replaced(place: YamlNode, value: JsonValue, inner: number, context: EditContext): string {
  const isBlock = place.type === 'map' || place.type === 'list';
  const isCollection = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (isCollection) {
    const column = isBlock ? place.column : inner;
    const lines = blockLines(value, column, context).join('\n');
    return isBlock ? lines : `\n${' '.repeat(column)}${lines}`;
  }
  const old = context.text.slice(place.start, place.end);
  return (old === '' ? ' ' : '') + scalarText(value, old[0] ?? '');
}

/** A new text keeps the quotes of the old one. */
function scalarText(value: JsonValue, quote: string): string {
  if (typeof value !== 'string') return stringifyYaml(value).trimEnd();
  if (quote === "'" && !/['\n]/.test(value)) return `'${value}'`;
  return quote === '"' || value.includes('\n') ? JSON.stringify(value) : stringifyYaml(value).trimEnd();
}

// ---- values that are new at their place --------------------------------------------------------------------------

/** Lines for a column; the first has no indentation. Text that was moved comes with its comments. */
function blockLines(value: JsonValue, column: number, context: EditContext): string[] {
  const isCollection = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isCollection) return indented(stringifyYaml(value).trimEnd().split('\n'), column);
  const source = sourceOf(value, context.moved);
  if (source !== undefined) {
    const { text, end } = emit(source, value, source.column + 2, { ...context, moved: [] });
    return movedLines(text + context.text.slice(end, lineEnd(context.text, end)), source, column);
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => {
      const [first = '', ...others] = blockLines(item, column + 2, context);
      return [`${i === 0 ? '' : ' '.repeat(column)}- ${first}`, ...others];
    });
  }
  return Object.entries(value).flatMap(([key, one], i) => {
    const [first = '', ...others] = entryLines(key, one, column, context);
    return [`${i === 0 ? '' : ' '.repeat(column)}${first}`, ...others];
  });
}
function entryLines(key: string, value: JsonValue, column: number, context: EditContext): string[] {
  const isCollection = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!isCollection)
    return indented(
      stringifyYaml({ [key]: value })
        .trimEnd()
        .split('\n'),
      column,
    );
  const inner = Array.isArray(value) ? column : column + 2;
  const [first = '', ...others] = blockLines(value, inner, context);
  const name = stringifyYaml({ [key]: null }).replace(/ null\n$/, '');
  return [name, `${' '.repeat(inner)}${first}`, ...others];
}
const indented = (lines: readonly string[], column: number): string[] =>
  lines.map((line, i) => (i === 0 || line === '' ? line : ' '.repeat(column) + line));

// ---- maps --------------------------------------------------------------------------------------------------------

/** The entries of a map in block form one after another: kept, renamed, removed, and new ones before the key that follows them. */
class MapEdit {
  private readonly place: YamlNode;
  private readonly value: { readonly [key: string]: JsonValue };
  private readonly context: EditContext;
  private readonly indent: string;
  /** New names of entries. */
  private readonly names = new Map<Entry, string>();
  private readonly added: string[];
  private out = '';
  private isEmpty = true;
  /** Whole lines, comments and blank ones, that come before the next entry. */
  private carried = '';

  constructor(place: YamlNode, value: { readonly [key: string]: JsonValue }, context: EditContext) {
    this.place = place;
    this.value = value;
    this.context = context;
    this.indent = ' '.repeat(place.column);
    const oldKeys = new Set(place.entries.map(({ key }) => key));
    const merged = place.value as { readonly [key: string]: JsonValue };
    // Values of a merge key need no entry.
    this.added = Object.keys(value).filter((key) => !oldKeys.has(key) && !equal(own(merged, key), value[key]));
    this.rename();
  }

  /** A removed entry and a new one with the same value are a renamed entry. */
  private rename(): void {
    const removedEntries = this.place.entries.filter(({ key }) => key !== '<<' && !Object.hasOwn(this.value, key));
    const pair = (entry: Entry, key: string): void => {
      this.names.set(entry, key);
      this.added.splice(this.added.indexOf(key), 1);
      removedEntries.splice(removedEntries.indexOf(entry), 1);
    };
    for (const entry of [...removedEntries]) {
      const key = this.added.find((newKey) => equal(own(this.value, newKey), entry.place.value));
      if (key !== undefined) pair(entry, key);
    }
    const [entry, more] = removedEntries;
    const [key, another] = this.added.filter((newKey) => isMap(own(this.value, newKey)));
    if (entry !== undefined && more === undefined && key !== undefined && another === undefined && isMap(entry.place.value))
      pair(entry, key);
  }

  private nameOf(entry: Entry): string | undefined {
    if (entry.key === '<<') return '<<';
    return this.names.get(entry) ?? (Object.hasOwn(this.value, entry.key) ? entry.key : undefined);
  }
  /** New keys that come before an entry, or at the end. */
  private addedBefore(name: string | undefined): string[] {
    const order = Object.keys(this.value);
    const remainingKeys = new Set(this.place.entries.map((entry) => this.nameOf(entry)));
    const keys: string[] = [];
    for (const key of this.added) {
      const next = order.slice(order.indexOf(key) + 1).find((newKey) => remainingKeys.has(newKey));
      if (next === name) keys.push(key);
    }
    return keys;
  }

  emit(): Emitted {
    const { text, moved } = this.context;
    let at = this.place.start;
    /** Keeps the comment after a removed entry, on a line of its own. */
    let wasRemoved = false;
    for (const [i, entry] of this.place.entries.entries()) {
      const gap = text.slice(at, entry.start);
      const newLine = gap.indexOf('\n');
      if (i > 0) this.endLine(newLine < 0 ? gap : gap.slice(0, newLine), wasRemoved);
      const name = this.nameOf(entry);
      if (name !== undefined) for (const key of this.addedBefore(name)) this.addNew(key);
      if (newLine >= 0) this.carried += gap.slice(newLine + 1, gap.lastIndexOf('\n') + 1);
      if (name === undefined) {
        for (const comment of commentsWithin(text, entry.end, entry.place, moved)) this.carry(comment);
        at = moved.some(({ end }) => end === entry.place.end) ? lineEnd(text, entry.place.end) : entry.place.end;
      } else {
        const value = entry.key === '<<' ? entry.place.value : (own(this.value, name) as JsonValue);
        const { text: body, end } = emit(entry.place, value, this.place.column + 2, this.context);
        const key = name === entry.key ? text.slice(entry.start, entry.end) : scalarText(name, text[entry.start] ?? '');
        this.put(key + text.slice(entry.end, entry.place.start) + body);
        at = end;
      }
      wasRemoved = name === undefined;
    }
    const last = this.addedBefore(undefined);
    if (last.length > 0 || wasRemoved) {
      const end = lineEnd(text, at);
      this.endLine(text.slice(at, end), wasRemoved);
      at = end;
      for (const key of last) this.addNew(key);
    }
    if (this.carried !== '') this.out += `\n${this.carried.replace(/\n$/, '')}`;
    return { text: this.out, end: at };
  }

  private endLine(rest: string, wasRemoved: boolean): void {
    if (!wasRemoved) this.out += rest;
    else if (rest.trim() !== '') this.carry(rest.trim());
  }
  private carry(comment: string): void {
    this.carried += `${this.indent}${comment}\n`;
  }
  private put(entry: string): void {
    // The first line has its indentation before the map.
    this.out += this.isEmpty ? (this.carried + this.indent).slice(this.indent.length) : `\n${this.carried}${this.indent}`;
    this.carried = '';
    this.isEmpty = false;
    this.out += entry;
  }
  private addNew(key: string): void {
    this.put(entryLines(key, own(this.value, key) as JsonValue, this.place.column, this.context).join('\n'));
  }
}
