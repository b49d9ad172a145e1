/** The text of a flow collection (`{a: 1}`, JSON) with another value. */

import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '../types.ts';
import { isMap } from './moved-values.ts';
import type { Entry, YamlNode } from './places.ts';

export function emitFlow(place: YamlNode, value: JsonValue, text: string): string {
  if (equal(place.value, value)) return text.slice(place.start, place.end);
  if (place.type === 'flowMap' && isMap(value) && place.entries.length > 0) return emitMap(place, value, text);
  if (place.type === 'flowList' && Array.isArray(value) && value.length === place.items.length) {
    let out = '';
    let at = place.start;
    place.items.forEach((item, i) => {
      out += text.slice(at, item.start) + emitFlow(item, value[i] as JsonValue, text);
      at = item.end;
    });
    return out + text.slice(at, place.end);
  }
  return flowText(value, lineIndent(text, place.start), unitOf(text));
}

function emitMap(place: YamlNode, value: { readonly [key: string]: JsonValue }, text: string): string {
  const { entries } = place;
  const first = entries[0] as Entry;
  const lastEntry = entries[entries.length - 1] as Entry;
  const lead = text.slice(place.start + 1, first.start);
  const second = entries[1];
  const separator = second === undefined ? `,${lead === '' ? ' ' : lead}` : text.slice(first.place.end, second.start);
  const isQuoted = text[first.start] === '"';
  const pieces: string[] = [];
  const names = newNames(entries, value);
  const writtenKeys = new Set(entries.map((entry) => names.get(entry) ?? entry.key));
  const order = Object.keys(value);
  const addedBefore = (name: string | undefined): void => {
    for (const key of order) {
      if (writtenKeys.has(key) || order.slice(order.indexOf(key) + 1).find((later) => writtenKeys.has(later)) !== name) continue;
      const newLine = lead.includes('\n') ? lead.slice(lead.lastIndexOf('\n') + 1) : undefined;
      const keyText = isQuoted || !/^[A-Za-z][\w-]*$/.test(key) ? JSON.stringify(key) : key;
      pieces.push(`${keyText}: ${flowText(own(value, key) as JsonValue, newLine, unitOf(text))}`);
    }
  };
  for (const entry of entries) {
    const name = names.get(entry) ?? entry.key;
    if (entry.key !== '<<' && !Object.hasOwn(value, name)) continue;
    addedBefore(name);
    const key = name === entry.key ? text.slice(entry.start, entry.end) : isQuoted ? JSON.stringify(name) : name;
    const body =
      entry.key === '<<' ? text.slice(entry.place.start, entry.place.end) : emitFlow(entry.place, own(value, name) as JsonValue, text);
    pieces.push(key + text.slice(entry.end, entry.place.start) + body);
  }
  addedBefore(undefined);
  if (pieces.length === 0) return '{}';
  return `{${lead}${pieces.join(separator)}${text.slice(lastEntry.place.end, place.end)}`;
}

function newNames(entries: readonly Entry[], value: { readonly [key: string]: JsonValue }): Map<Entry, string> {
  const names = new Map<Entry, string>();
  const oldKeys = new Set(entries.map(({ key }) => key));
  const removedEntries = entries.filter(({ key }) => key !== '<<' && !Object.hasOwn(value, key));
  const addedKeys = Object.keys(value).filter((key) => !oldKeys.has(key));
  for (const entry of removedEntries) {
    const at = addedKeys.findIndex((key) => equal(own(value, key), entry.place.value));
    if (at >= 0) names.set(entry, addedKeys.splice(at, 1)[0] as string);
  }
  const [entry, more] = removedEntries.filter((candidate) => !names.has(candidate));
  const [key, another] = addedKeys.filter((candidate) => isMap(own(value, candidate)));
  if (entry !== undefined && more === undefined && key !== undefined && another === undefined && isMap(entry.place.value))
    names.set(entry, key);
  return names;
}

/** `indent`: that of the line, where the collection has lines of its own. */
function flowText(value: JsonValue, indent: string | undefined, unit: string): string {
  if (indent === undefined) return jsonText(value);
  return jsonText(value, unit).replaceAll('\n', `\n${indent}`);
}
function lineIndent(text: string, at: number): string | undefined {
  if (!/^\s*[{[]\s*\n/.test(text)) return undefined;
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at);
  return /^\s*/.exec(line)?.[0];
}
/** What a level is indented by. */
const unitOf = (text: string): string => /^[{[]\n([ \t]+)/.exec(text.trimStart())?.[1] ?? '  ';
