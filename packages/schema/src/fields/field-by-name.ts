/** Looks up fields of a message by name. */
import type { MessageType, NamedField } from '../types.ts';

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
