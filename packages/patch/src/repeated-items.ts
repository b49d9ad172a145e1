/**
 * Lists whose items have keys may hold several items of one key, which validation allows: `env` with a name twice. Their owner owns
 * all of them as one. For comparisons they are put in one place, with the keys that they share:
 *
 *   [{ name: A, value: 1 }, { name: A, value: 2 }, { name: B }]  →  [Repeated { name: A, items: […] }, { name: B }]
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { MOST_ENTRIES } from './interned.ts';
import { anyShape, isObject, type ListShape, type Shape, type Values } from './shape.ts';

export class Repeated {
  readonly items: readonly unknown[];

  constructor(items: readonly unknown[], keys: readonly string[]) {
    for (const key of keys) setOwn(this as never, key, own(items[0] as Values, key));
    this.items = items;
  }
}

/** The value itself where nothing is repeated. */
export function withoutRepeats(shape: Shape, value: unknown): unknown {
  switch (shape.node) {
    case 'leaf':
      return value;
    case 'list':
      return Array.isArray(value) ? withoutRepeatedItems(shape, value) : value;
    case 'map':
      return withoutRepeatsBelow(value, () => shape.value);
    case 'message':
      return withoutRepeatsBelow(value, (key) => shape.fields.get(key)?.shape ?? anyShape);
    case 'any':
      return withoutRepeatsBelow(value, () => anyShape);
  }
}

function withoutRepeatsBelow(value: unknown, shapeAt: (key: string) => Shape): unknown {
  if (!isObject(value)) return value;
  let copy: Values | undefined;
  for (const key in value) {
    const next = withoutRepeats(shapeAt(key), value[key]);
    if (next === value[key]) continue;
    copy ??= { ...value };
    setOwn(copy as never, key, next);
  }
  return copy ?? value;
}

function withoutRepeatedItems(shape: ListShape, list: readonly unknown[]): readonly unknown[] {
  const groups = new Map<string, unknown[]>();
  for (const item of list) {
    const element = shape.element(item, list.length > MOST_ENTRIES);
    const group = groups.get(element);
    if (group === undefined) groups.set(element, [withoutRepeats(shape.item, item)]);
    else group.push(item);
  }
  const { keys } = shape.type;
  const items = [...groups.values()].map((group) => (group.length === 1 || keys.length === 0 ? group[0] : new Repeated(group, keys)));
  return items.length === list.length && items.every((item, i) => item === list[i]) ? list : items;
}
