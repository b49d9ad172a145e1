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
    const fields = fieldsOf(object, dropped);
    if (fields.some(hasTooManyNames)) continue;
    const outline = outlineOf(fields);
    const text = jsonText(outline);
    if (text.length <= MAX_TEXT) return { outline, text };
  }
  return { outline: {}, text: '{}' };
}

type Fields = Readonly<Record<string, unknown>>;

/** What an outline is made of: metadata, and the other fields. */
function fieldsOf(object: ApiObject, dropped: ReadonlySet<string>): readonly [metadata: Fields, others: Fields] {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, labels, annotations, ownerReferences, finalizers } = object.metadata;
  const metadata = { name, namespace, uid, creationTimestamp, deletionTimestamp, labels, annotations, ownerReferences, finalizers };
  const { type, immutable, data, binaryData } = object as Partial<Record<'type' | 'immutable' | 'data' | 'binaryData', unknown>>;
  return [present(metadata, dropped), present({ type: plain(type), immutable: plain(immutable), data, binaryData }, dropped)];
}

/** Names of a large object are counted no further than what is too much, before any of them is copied. */
function hasTooManyNames(fields: Fields): boolean {
  let characters = 0;
  for (const value of Object.values(fields)) {
    if (typeof value !== 'object' || value === null) continue;
    for (const name in value) {
      characters += name.length;
      if (characters > MAX_TEXT) return true;
    }
  }
  return false;
}

function outlineOf([{ annotations, ...metadata }, { data, binaryData, ...others }]: readonly [Fields, Fields]): Record<string, unknown> {
  const names = { data: namesOf(data), binaryData: namesOf(binaryData) };
  return present({ metadata: present({ ...metadata, annotations: namesOf(annotations) }), ...others, ...names });
}

const plain = (value: unknown): unknown => (typeof value === 'string' || typeof value === 'boolean' ? value : undefined);

const namesOf = (value: unknown): Record<string, string> | undefined =>
  typeof value !== 'object' || value === null ? undefined : Object.fromEntries(Object.keys(value).map((name) => [name, '']));

function present(fields: Fields, dropped: ReadonlySet<string> = new Set()): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== undefined && !dropped.has(name)));
}
