/** Lookups in a schema. */
import { type MessageType, type NamedField, type ResolvedType, resolve, type Type } from './types.ts';

export { zeroValue } from './zero.ts';

const indexes = new WeakMap<MessageType, ReadonlyMap<string, NamedField>>();

/** The field of a JSON name, inline ones included. */
export function fieldOf(message: MessageType, name: string): NamedField | undefined {
  let index = indexes.get(message);
  if (index === undefined) {
    index = new Map(message.ordered.map((field) => [field.name, field]));
    indexes.set(message, index);
  }
  return index.get(name);
}

/** The type of an item of a list, a value of a map, or a field of a message; undefined if the schema has none. */
export function childType(type: Type, step: string | number): ResolvedType | undefined {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'list':
      return resolve(resolved.item);
    case 'map':
      return resolve(resolved.value);
    case 'message': {
      const field = fieldOf(resolved, String(step));
      return field === undefined ? undefined : resolve(field.type);
    }
    case 'union':
      // An index can only lead into the list, a name only into the object.
      return childType((typeof step === 'number' ? resolved.other : resolved.object).type, step);
    case 'scalar':
      return undefined;
  }
}

/**
 * The type at the end of a path of names, keys and indexes; undefined where the schema ends before the path does.
 *
 *   typeAt(Pod, ['spec', 'containers', 0, 'name'])  → string
 */
export function typeAt(type: Type, path: readonly (string | number)[]): ResolvedType | undefined {
  let at: ResolvedType | undefined = resolve(type);
  for (const step of path) {
    if (at === undefined) return undefined;
    at = childType(at, step);
  }
  return at;
}
