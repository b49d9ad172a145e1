/**
 * An object without its values: what history keeps of Secrets. Names of keys stay. Values of annotations go as well, because
 * clients copy whole objects into them.
 *
 *   { metadata: { name: 'db', annotations: { a: '1' } }, type: 'Opaque', data: { password: 'aHVudGVyMg==' } }
 *   → { metadata: { name: 'db', annotations: { a: '' } }, type: 'Opaque', data: { password: '' } }
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';

/** Characters of the text of an object without values. */
const MAX_TEXT = 16 * 1024;
/** What a text that is too long is left without, in this order. */
const droppedParts: readonly (readonly string[])[] = [['annotations'], ['labels', 'ownerReferences', 'finalizers'], ['data', 'binaryData']];

export function withoutValues(object: ApiObject): Record<string, unknown> {
  return boundedOutline(object).outline;
}

/** The same as JSON text. */
export function textWithoutValues(object: ApiObject): string {
  return boundedOutline(object).text;
}

function boundedOutline(object: ApiObject): { outline: Record<string, unknown>; text: string } {
  const dropped = new Set<string>();
  for (const parts of [[], ...droppedParts]) {
    for (const part of parts) dropped.add(part);
    const outline = outlineOf(object, dropped);
    const text = jsonText(outline);
    if (text.length <= MAX_TEXT) return { outline, text };
  }
  return { outline: {}, text: '{}' };
}

function outlineOf(object: ApiObject, dropped: ReadonlySet<string>): Record<string, unknown> {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, labels, annotations, ownerReferences, finalizers } = object.metadata;
  const metadata = {
    name,
    namespace,
    uid,
    creationTimestamp,
    deletionTimestamp,
    labels,
    annotations: namesOf(annotations),
    ownerReferences,
    finalizers,
  };
  const { type, immutable, data, binaryData } = object as Partial<Record<'type' | 'immutable' | 'data' | 'binaryData', unknown>>;
  const outline = { metadata: present(metadata, dropped), type: plain(type), immutable: plain(immutable) };
  return present({ ...outline, data: namesOf(data), binaryData: namesOf(binaryData) }, dropped);
}

const plain = (value: unknown): unknown => (typeof value === 'string' || typeof value === 'boolean' ? value : undefined);

const namesOf = (value: unknown): Record<string, string> | undefined =>
  typeof value !== 'object' || value === null ? undefined : Object.fromEntries(Object.keys(value).map((name) => [name, '']));

function present(fields: Record<string, unknown>, dropped: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== undefined && !dropped.has(name)));
}
