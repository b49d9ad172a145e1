import { Path } from '@plat-dev/meta/field';
import type { ValueNode, Values } from './node.ts';

/** The parts of a value that the schema describes, with their paths: keys of maps are in brackets. */
export function eachPart(
  node: ValueNode,
  value: object,
  at: Path | undefined,
  visit: (part: ValueNode, inner: unknown, at: Path) => void,
): void {
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (let i = 0; i < value.length; i++) if (isStructure(value[i])) visit(node.items, value[i], (at ?? root).index(i));
    return;
  }
  const values = value as Values;
  for (const key in values) {
    if (!isStructure(values[key])) continue;
    const field = node.fields.get(key);
    if (field !== undefined) visit(field, values[key], below(at, key));
    else if (node.rest !== undefined && node.rest !== 'bare') visit(node.rest, values[key], (at ?? root).key(key));
  }
}
const root = Path.of('');
const isStructure = (value: unknown): boolean => typeof value === 'object' && value !== null;
/** The path of a field; `at` is empty for the object itself. */
export const below = (at: Path | undefined, name: string): Path => (at === undefined ? Path.of(name) : at.child(name));
