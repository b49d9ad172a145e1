/** Fills in the defaults of a schema. Every value is a copy, so that no two objects share one. */
import { own } from '../../../lib/own.ts';
import { cloneJson, setKey } from '../../../schema/plain.ts';
import type { JsonValue } from '../../../schema/types.ts';
import type { ValueNode, Values } from './node.ts';

/** Changes the value in place. A default is filled in before what lies below it, so that its own parts are completed, too. */
export function fillDefaults(node: ValueNode, value: unknown): void {
  if (!node.below.defaults || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) fillItems(node.items, value);
  else fillFields(node, value as Values);
}

function fillFields(node: ValueNode, value: Values): void {
  for (const [name, field] of node.defaults) if (isUnset(field, own(value, name))) setKey(value, name, cloneJson(field.default));
  for (const [name, field] of node.fields) {
    if (!field.below.defaults) continue;
    const inner = own(value, name);
    if (typeof inner === 'object' && inner !== null) fillDefaults(field, inner);
  }
  const { rest } = node;
  if (rest === undefined || rest === 'bare' || !rest.below.defaults) return;
  for (const key in value) {
    if (node.fields.has(key)) continue;
    if (rest.default !== undefined && isUnset(rest, value[key])) value[key] = cloneJson(rest.default);
    fillDefaults(rest, value[key]);
  }
}

function fillItems(item: ValueNode | undefined, list: JsonValue[]): void {
  if (item === undefined || !item.below.defaults) return;
  for (let i = 0; i < list.length; i++) {
    if (item.default !== undefined && isUnset(item, list[i])) list[i] = cloneJson(item.default);
    fillDefaults(item, list[i]);
  }
}

const isUnset = (node: ValueNode, value: unknown): boolean => value === undefined || (value === null && !node.nullable);
