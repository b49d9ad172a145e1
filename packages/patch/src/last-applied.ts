/**
 * The move from client-side to server-side apply. A client-side apply keeps the last applied object in an annotation and updates
 * the object. At the first server-side apply under the default name of a client, fields of the annotation that the object still has
 * cause no conflict. The annotation is kept up to date, so that the client can go back. Another manager name opts out of both.
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { own, without } from '@plat-dev/lib/own';
import { parseExact } from '@plat-dev/schema/json/parse';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonObject } from '@plat-dev/schema/types';
import { fieldsOf } from './applied.ts';
import type { Applied, ApplyWrite, ClientApply } from './apply-write.ts';
import { compare } from './compare.ts';
import { difference, type FieldSet } from './fieldset.ts';
import { isObject, shapeOf, Untyped, type Values } from './shape.ts';

/** Limit of bytes of the annotations of an object: beyond it the annotation is dropped instead of refusing the apply. */
const MAX_ANNOTATIONS = 256 * 1024;

/** Fields of the annotation that the object has with the same value. Undefined if there are none. */
export function ownedByLastApplied(client: ClientApply, write: ApplyWrite): FieldSet | undefined {
  const { live, type } = write;
  if (!client.managers.includes(write.manager) || live === undefined) return undefined;
  const claimed = parse(annotationOf(live, client.annotation));
  if (claimed === undefined || claimed.apiVersion !== write.apiVersion) return undefined;
  const shape = shapeOf(type);
  try {
    const { changed, removed } = compare(shape, claimed, live);
    return difference(difference(fieldsOf(shape, claimed), changed), removed);
  } catch (error) {
    if (error instanceof Untyped) return undefined;
    throw error;
  }
}

/** Writes the applied object to the annotation, if there is one. */
export function keepLastApplied(client: ClientApply, write: ApplyWrite, done: Applied): Applied {
  if (!client.managers.includes(write.manager) || annotationOf(done.object, client.annotation) === undefined) return done;
  // An unchanged object is the stored one itself.
  const object = done.object === write.live ? (cloneJson(done.object) as Values) : done.object;
  const metadata = object.metadata as Values;
  const annotations = { ...(metadata.annotations as Values), [client.annotation]: lastApplied(write.applied, client.annotation) };
  const size = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  if (size > MAX_ANNOTATIONS) delete annotations[client.annotation];
  return { ...done, object: { ...object, metadata: { ...metadata, annotations } } };
}

function annotationOf(object: Values, annotation: string): string | undefined {
  const { metadata } = object;
  const annotations = isObject(metadata) && isObject(metadata.annotations) ? metadata.annotations : {};
  const value = own(annotations, annotation);
  return typeof value === 'string' ? value : undefined;
}
function parse(text: string | undefined): Values | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const value: unknown = parseExact(text);
    return isObject(value) ? value : undefined;
  } catch {
    // An annotation that cannot be parsed counts as empty.
    return undefined;
  }
}

/** The applied object as text, keys in order, without the annotation itself. */
function lastApplied(applied: Values, annotation: string): string {
  const { metadata } = applied;
  let object = applied;
  if (isObject(metadata) && isObject(metadata.annotations)) {
    const annotations = without(metadata.annotations, annotation);
    object = { ...applied, metadata: { ...metadata, annotations } };
  }
  return `${jsonText(sorted(object))}\n`;
}
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted((value as JsonObject)[key])]),
  );
}
