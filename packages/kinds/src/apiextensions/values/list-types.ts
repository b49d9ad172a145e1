/** Validation of sets and maps: lists without duplicate values or keys. */

import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { JsonValue } from '@plat-dev/schema/types';
import { goValue } from '../go-value.ts';
import { isValues, type ValueNode, type Values } from './node.ts';
import { eachPart } from './parts.ts';

/** Members after which the work yields. */
const STEP = 1000;

/** Limits of the quick check: parts and members of a value that it visits, and members of one list that it compares. */
const LOOK = 200;
const LOOK_MEMBERS = 16;

/** Whether a quick check shows that no list has duplicates, as in most values. False: `listChecks` must check. */
export const isPlainlyDistinct = (node: ValueNode, value: unknown): boolean => look(node, value, LOOK) >= 0;

/** How many more parts the quick check may visit after this value; below zero if a full check is needed. */
function look(node: ValueNode, value: unknown, budget: number): number {
  if (!node.below.lists || typeof value !== 'object' || value === null) return budget;
  let remaining = budget - 1;
  if (Array.isArray(value)) {
    if (node.list !== undefined && !areDistinct(value, node.list === 'set' ? undefined : node.keys)) return -1;
    remaining -= value.length;
    if (node.items !== undefined)
      for (let i = 0; i < value.length && remaining >= 0; i++) remaining = look(node.items, value[i], remaining);
    return remaining;
  }
  for (const key in value) {
    if (remaining < 0) break;
    const inner = (value as Values)[key];
    if (typeof inner !== 'object' || inner === null) continue;
    const part = node.fields.get(key) ?? node.rest;
    if (part !== undefined && part !== 'bare') remaining = look(part, inner, remaining);
  }
  return remaining;
}
/** Whether the members of a short list certainly differ: in a scalar key, or as scalars. */
function areDistinct(list: readonly unknown[], keys: readonly string[] | undefined): boolean {
  if (list.length > LOOK_MEMBERS) return false;
  for (let i = 0; i < list.length; i++) {
    const member = list[i];
    if (keys === undefined ? typeof member === 'object' : !isValues(member)) return list.length < 2 && keys === undefined;
    for (let j = 0; j < i; j++)
      if (keys === undefined ? member === list[j] : !differ(member as Values, list[j] as Values, keys)) return false;
  }
  return true;
}
function differ(one: Values, other: Values, keys: readonly string[]): boolean {
  for (const key of keys) {
    const [mine, its] = [own(one, key), own(other, key)];
    if (mine !== its && typeof mine !== 'object' && typeof its !== 'object') return true;
  }
  return false;
}

export function* listChecks(node: ValueNode, value: unknown, errors: FieldErrors, at?: Path): Work<void> {
  if (!node.below.lists || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value) && node.list !== undefined) {
    const here = at ?? Path.of('');
    if (node.list === 'set') yield* reportRepeated(value, (member) => member, here, errors);
    else yield* validateMembers(value, node.keys, here, errors);
  }
  const parts: [ValueNode, unknown, Path | undefined][] = [];
  eachPart(node, value, at, (part, inner, here) => void parts.push([part, inner, here]));
  for (let i = 0; i < parts.length; i++) {
    const [part, inner, here] = parts[i] as (typeof parts)[number];
    yield* listChecks(part, inner, errors, here);
    if (i % STEP === STEP - 1) yield;
  }
}

function* validateMembers(list: readonly JsonValue[], keys: readonly string[], at: Path, errors: FieldErrors): Work<void> {
  const wrong = list.findIndex((member) => member !== null && !isValues(member));
  if (wrong >= 0) {
    const memberText = goValue(list[wrong] as JsonValue);
    errors.add('FieldValueInvalid', at.index(wrong), `Invalid value: ${memberText}: must be an object for an array of list-type map`);
    return;
  }
  yield* reportRepeated(list, (member) => keysOf(member as Values | null, keys), at, errors);
}

/** The keys that a member has, under their names. */
function keysOf(member: Values | null, keys: readonly string[]): JsonValue {
  const keyValues: Values = {};
  if (member === null) return keyValues;
  for (const key of keys) {
    const value = own(member, key);
    if (value !== undefined) setOwn(keyValues, key, value as JsonValue);
  }
  return keyValues;
}

/** Reports the second of members with equal keys; further ones are not reported. */
function* reportRepeated(list: readonly JsonValue[], apart: (member: JsonValue) => JsonValue, at: Path, errors: FieldErrors): Work<void> {
  if (list.length < 2) return;
  const indexByText = new Map<string, number>();
  for (let i = 0; i < list.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const value = apart(list[i] as JsonValue);
    const text = textOf(value);
    const times = (indexByText.get(text) ?? 0) + 1;
    indexByText.set(text, times);
    if (times === 2) errors.add('FieldValueDuplicate', at.index(i), `Duplicate value: ${goValue(value)}`);
  }
}

/** A text that is the same for equal values, regardless of the order of their keys. */
function textOf(value: JsonValue): string {
  if (typeof value !== 'object' || value === null) return jsonText(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join()}]`;
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${textOf(own(value, key) as JsonValue)}`).join()}}`;
}
