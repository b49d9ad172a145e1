/** Values that an edit of a YAML text moves to another place: their text is moved with its comments. */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '../types.ts';
import type { Place } from './places.ts';

/** Limit of values to move: others are rewritten at their new place. */
export const MAX_MOVED = 200;

export const isMap = (value: JsonValue | undefined): value is { [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of collections in block form that the edit removes and whose value it adds elsewhere. */
export function removedPlaces(place: Place, value: JsonValue): Place[] {
  const removed: Place[] = [];
  const added: JsonValue[] = [];
  compare(place, value, removed, added);
  const wanted: JsonValue[] = [];
  for (const one of added) collections(one, wanted);
  return removed.filter((one) => wanted.some((other) => isPart(one.value, other)));
}

/** Whether a value equals another one, or is a map with a few fields less. */
const isPart = (part: JsonValue, whole: JsonValue): boolean => {
  if (!isMap(part) || !isMap(whole)) return equal(part, whole);
  const keys = Object.keys(part);
  return Object.keys(whole).length - keys.length <= MAX_MORE_FIELDS && keys.every((key) => equal(own(part, key), own(whole, key)));
};
const MAX_MORE_FIELDS = 2;

/** The text to use for a value: that of an equal value, else of the one with the most common fields. */
export function sourceOf(value: JsonValue, moved: readonly Place[]): Place | undefined {
  const parts = moved.filter((one) => isPart(one.value, value));
  return parts.find((one) => equal(one.value, value)) ?? parts.sort((a, b) => b.entries.length - a.entries.length)[0];
}

function compare(place: Place, value: JsonValue, removed: Place[], added: JsonValue[]): void {
  if (equal(place.value, value)) return;
  if ((place.type === 'map' || place.type === 'flowMap') && isMap(value)) {
    const known = new Set<string>();
    for (const entry of place.entries) {
      known.add(entry.key);
      const next = own(value, entry.key);
      if (next === undefined) blocks(entry.place, removed);
      else compare(entry.place, next, removed, added);
    }
    for (const [key, one] of Object.entries(value)) if (!known.has(key)) added.push(one);
  } else if ((place.type === 'list' || place.type === 'flowList') && Array.isArray(value) && value.length === place.items.length) {
    place.items.forEach((item, i) => {
      compare(item, value[i] as JsonValue, removed, added);
    });
  } else {
    blocks(place, removed);
    added.push(value);
  }
}
function blocks(place: Place, found: Place[]): void {
  if (found.length >= MAX_MOVED || (place.type !== 'map' && place.type !== 'list')) return;
  found.push(place);
  for (const { place: inner } of place.entries) blocks(inner, found);
  for (const item of place.items) blocks(item, found);
}
function collections(value: JsonValue, found: JsonValue[]): void {
  if (found.length >= MAX_MOVED || typeof value !== 'object' || value === null) return;
  found.push(value);
  for (const one of Object.values(value)) collections(one, found);
}

/** The end of the line, where a comment or nothing is left of it. */
export const lineEnd = (text: string, at: number): number => at + (/^[ \t]*(?:#[^\n]*)?(?=\n|$)/.exec(text.slice(at))?.[0].length ?? 0);

/** The lines of the text of a block collection for another column; the first begins where the collection begins. */
export function movedLines(text: string, place: Place, column: number): string[] {
  const [first = '', ...others] = text.split('\n');
  const shift = column - place.column;
  const lines = others.map((line) => {
    if (line.trim() === '') return '';
    if (shift >= 0) return ' '.repeat(shift) + line;
    const indent = line.length - line.trimStart().length;
    return line.slice(Math.min(indent, -shift));
  });
  return [first, ...lines];
}

/** Comments from `start` to the end of a place, without those of what is moved elsewhere. */
export function commentsWithin(text: string, start: number, place: Place, moved: readonly Place[]): string[] {
  const found: string[] = [];
  let at = start;
  const visit = (one: Place): void => {
    if (moved.includes(one)) {
      gap(one.start);
      at = Math.max(at, lineEnd(text, one.end));
      return;
    }
    for (const entry of one.entries) {
      gap(entry.start);
      at = Math.max(at, entry.end);
      visit(entry.place);
    }
    for (const item of one.items) visit(item);
    if (one.type === 'leaf') {
      gap(one.start);
      at = Math.max(at, one.end);
    }
  };
  const gap = (end: number): void => {
    for (const match of text.slice(at, end).matchAll(/(?:^|[ \t\n])(#[^\n]*)/g)) found.push((match[1] as string).trimEnd());
  };
  visit(place);
  return found;
}
