/** Values that an edit of a YAML text moves to another place: their text is moved with its comments. */

import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '../types.ts';
import type { YamlNode } from './places.ts';

/** Limit of values to move: others are rewritten at their new place. */
export const MAX_MOVED = 200;

export const isMap = (value: JsonValue | undefined): value is { [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of collections in block form that the edit removes and whose value it adds elsewhere. */
export function removedPlaces(place: YamlNode, value: JsonValue): YamlNode[] {
  const removedBlocks: YamlNode[] = [];
  const addedValues: JsonValue[] = [];
  compare(place, value, removedBlocks, addedValues);
  const addedCollections: JsonValue[] = [];
  for (const addedValue of addedValues) collectCollections(addedValue, addedCollections);
  return removedBlocks.filter((place) => addedCollections.some((other) => isPart(place.value, other)));
}

/** Whether a value equals another one, or is a map with a few fields less. */
const isPart = (part: JsonValue, whole: JsonValue): boolean => {
  if (!isMap(part) || !isMap(whole)) return equal(part, whole);
  const keys = Object.keys(part);
  return Object.keys(whole).length - keys.length <= MAX_MORE_FIELDS && keys.every((key) => equal(own(part, key), own(whole, key)));
};
const MAX_MORE_FIELDS = 2;

/** The text to use for a value: that of an equal value, else of the one with the most common fields. */
export function sourceOf(value: JsonValue, movedPlaces: readonly YamlNode[]): YamlNode | undefined {
  const parts = movedPlaces.filter((place) => isPart(place.value, value));
  return parts.find((place) => equal(place.value, value)) ?? parts.sort((a, b) => b.entries.length - a.entries.length)[0];
}

function compare(place: YamlNode, value: JsonValue, removedBlocks: YamlNode[], addedValues: JsonValue[]): void {
  if (equal(place.value, value)) return;
  if ((place.type === 'map' || place.type === 'flowMap') && isMap(value)) {
    const oldKeys = new Set<string>();
    for (const entry of place.entries) {
      oldKeys.add(entry.key);
      const next = own(value, entry.key);
      if (next === undefined) collectBlocks(entry.place, removedBlocks);
      else compare(entry.place, next, removedBlocks, addedValues);
    }
    for (const [key, newValue] of Object.entries(value)) if (!oldKeys.has(key)) addedValues.push(newValue);
  } else if ((place.type === 'list' || place.type === 'flowList') && Array.isArray(value) && value.length === place.items.length) {
    place.items.forEach((item, i) => {
      compare(item, value[i] as JsonValue, removedBlocks, addedValues);
    });
  } else {
    collectBlocks(place, removedBlocks);
    addedValues.push(value);
  }
}
function collectBlocks(place: YamlNode, places: YamlNode[]): void {
  if (places.length >= MAX_MOVED || (place.type !== 'map' && place.type !== 'list')) return;
  places.push(place);
  for (const { place: inner } of place.entries) collectBlocks(inner, places);
  for (const item of place.items) collectBlocks(item, places);
}
function collectCollections(value: JsonValue, collections: JsonValue[]): void {
  if (collections.length >= MAX_MOVED || typeof value !== 'object' || value === null) return;
  collections.push(value);
  for (const item of Object.values(value)) collectCollections(item, collections);
}

/** The end of the line, where a comment or nothing is left of it. */
export const lineEnd = (text: string, at: number): number => at + (/^[ \t]*(?:#[^\n]*)?(?=\n|$)/.exec(text.slice(at))?.[0].length ?? 0);

/** The lines of the text of a block collection for another column; the first begins where the collection begins. */
export function movedLines(text: string, place: YamlNode, column: number): string[] {
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
export function commentsWithin(text: string, start: number, place: YamlNode, movedPlaces: readonly YamlNode[]): string[] {
  const comments: string[] = [];
  let at = start;
  const visit = (inner: YamlNode): void => {
    if (movedPlaces.includes(inner)) {
      gap(inner.start);
      at = Math.max(at, lineEnd(text, inner.end));
      return;
    }
    for (const entry of inner.entries) {
      gap(entry.start);
      at = Math.max(at, entry.end);
      visit(entry.place);
    }
    for (const item of inner.items) visit(item);
    if (inner.type === 'leaf') {
      gap(inner.start);
      at = Math.max(at, inner.end);
    }
  };
  const gap = (end: number): void => {
    for (const match of text.slice(at, end).matchAll(/(?:^|[ \t\n])(#[^\n]*)/g)) comments.push((match[1] as string).trimEnd());
  };
  visit(place);
  return comments;
}
