/**
 * Versions of a group that have the same fields differ only in the names of their messages. Such a version is made from
 * the other one rather than written out again.
 */
import type { Field, Fields, MessageType, NamedField, Type } from '@plat-dev/schema/types';

const schemasByVersion = new WeakMap<MessageType, Map<string, MessageType>>();

/** `batch.v1.CronJob` → `batch.v1`. */
const versionOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));

function typeIn(type: Type, from: string, to: string, keep: readonly MessageType[]): Type {
  switch (type.node) {
    case 'list':
      return Object.freeze({ ...type, item: typeIn(type.item, from, to, keep) });
    case 'map':
      return Object.freeze({ ...type, value: typeIn(type.value, from, to, keep) });
    case 'message':
      return versionOf(type.name) === from && !keep.includes(type) ? inVersion(type, to, keep) : type;
    default:
      return type;
  }
}

/** The same message under another group version, as are the messages of its own version inside it, except those to `keep`. */
export function inVersion<F extends Fields>(type: MessageType<F>, version: string, keep: readonly MessageType[] = []): MessageType<F> {
  const versions = schemasByVersion.get(type) ?? new Map<string, MessageType>();
  schemasByVersion.set(type, versions);
  const cachedSchema = versions.get(version);
  if (cachedSchema !== undefined) return cachedSchema as MessageType<F>;
  const from = versionOf(type.name);
  const change = <T extends Field>(field: T): T => ({ ...field, type: typeIn(field.type, from, version, keep) });
  const fields = Object.fromEntries(Object.entries(type.fields as Record<string, Field>).map(([key, field]) => [key, change(field)]));
  const result = Object.freeze({
    ...type,
    name: version + type.name.slice(from.length),
    fields: fields as F,
    ordered: type.ordered.map((field: NamedField) => change(field)),
  });
  versions.set(version, result);
  return result;
}
