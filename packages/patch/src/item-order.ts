/** Whether items of lists stand in another order, in two states of an object that are otherwise the same. */
import { own } from '@plat-dev/lib/own';
import { anyShape, isObject, type Shape, type Values } from './shape.ts';

export function isMoved(shape: Shape, before: unknown, after: unknown): boolean {
  if (before === after) return false;
  switch (shape.node) {
    case 'leaf':
      return false;
    case 'list':
      if (!Array.isArray(before) || !Array.isArray(after)) return false;
      return after.some((item, i) => !shape.same(before[i], item) || isMoved(shape.item, before[i], item));
    case 'message':
      return isMovedBelow(before, after, (key) => shape.fields.get(key)?.shape ?? anyShape);
    case 'map':
      return isMovedBelow(before, after, () => shape.value);
    case 'any':
      return isMovedBelow(before, after, () => anyShape);
  }
}

function isMovedBelow(before: unknown, after: unknown, shapeAt: (key: string) => Shape): boolean {
  if (!isObject(before) || !isObject(after)) return false;
  for (const key in after as Values) {
    const last = own(before, key);
    if (last !== undefined && isMoved(shapeAt(key), last, after[key])) return true;
  }
  return false;
}
