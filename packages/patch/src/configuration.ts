/**
 * What a policy makes of an object: an apply configuration without an owner. It is merged like that of a server-side apply, removes
 * nothing, and may not touch what can only be replaced as a whole.
 *
 *   live { spec: { containers: [{ name: a, image: i }] } }
 *   mergedConfiguration(Pod, live, { spec: { containers: [{ name: a, tty: true }] } })    → [{ name: a, image: i, tty: true }]
 *   mergedConfiguration(Pod, live, { spec: { containers: [{ name: a, args: [x] }] } })    → throws: args is an atomic list
 */
import type { MessageType } from '@plat-dev/schema/types';
import { checkApplied } from './applied.ts';
import { decodeMerged } from './merged.ts';
import { overlay } from './overlay.ts';
import { anyShape, isObject, type Shape, shapeOf, type Values } from './shape.ts';

/** Most places that the error lists. */
const MAX_LISTED = 20;

/** `live` is in the normal form. The result shares nothing with it. Throws an Error that says what cannot be merged. */
export function mergedConfiguration(type: MessageType, live: Values, configuration: Values): Values {
  const structure = type.structure ?? type;
  const faults = checkApplied(type, configuration);
  if (faults.length > 0) throw new Error(`failed to convert patch object to typed object: ${faults.join(', ')}`);
  const shape = shapeOf(structure);
  const atomics: string[] = [];
  findAtomics(shape, configuration, '', atomics);
  if (atomics.length > 0)
    throw new Error(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`);
  return decodeMerged(type, live, overlay(shape, live, configuration) as Values);
}

function findAtomics(shape: Shape, value: unknown, path: string, atomics: string[]): void {
  if (typeof value !== 'object' || value === null || atomics.length >= MAX_LISTED) return;
  if (shape.node === 'leaf' || (shape.node === 'any' && Array.isArray(value))) {
    atomics.push(path);
    return;
  }
  if (Array.isArray(value)) {
    const item = shape.node === 'list' ? shape.item : anyShape;
    for (const [i, one] of value.entries()) findAtomics(item, one, `${path}[${i}]`, atomics);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) findAtomics(shapeOfKey(shape, key), value[key], `${path}.${key}`, atomics);
  }
}

function shapeOfKey(shape: Shape, key: string): Shape {
  if (shape.node === 'map') return shape.value;
  return shape.node === 'message' ? (shape.fields.get(key)?.shape ?? anyShape) : anyShape;
}
