/**
 * The same JSON-like value with the parts of another one wherever both are equal, so that many values that differ little take the
 * memory of one. Neither of the two is changed.
 *
 *   model    { labels: { app: 'web' }, tolerations: […], node: 'a' }
 *   value    { labels: { app: 'web' }, tolerations: […], node: 'b' }
 *   result   { labels and tolerations of `model`, node: 'b' }             `model` itself if all is equal
 */
import { own, setOwn } from './own.ts';

/** Parts of a value that are compared; those of a larger one are not shared beyond it. */
export const MOST_COMPARED = 4096;

export function sharing<T>(value: T, model: unknown, effort: Effort = { remaining: MOST_COMPARED }): T {
  if (--effort.remaining < 0) return value;
  // Equal texts are one text afterwards.
  if (value === model) return model as T;
  if (typeof value !== 'object' || typeof model !== 'object' || value === null || model === null) return value;
  if (Array.isArray(value)) return Array.isArray(model) ? (sharedList(value, model, effort) as T) : value;
  if (Array.isArray(model)) return value;
  return sharedFields(value as Fields, model as Fields, effort) as T;
}

type Fields = Record<string, unknown>;
type Effort = { remaining: number };

function sharedList(value: readonly unknown[], model: readonly unknown[], effort: Effort): readonly unknown[] {
  let isSame = value.length === model.length;
  const list: unknown[] = [...value];
  for (let i = 0; i < value.length; i++) {
    if (effort.remaining <= 0) return list;
    list[i] = sharing(value[i], model[i], effort);
    if (list[i] !== model[i]) isSame = false;
  }
  return isSame ? model : list;
}

function sharedFields(value: Fields, model: Fields, effort: Effort): Fields {
  const fields: Fields = { ...value };
  let isSame = true;
  for (const key in value) {
    if (effort.remaining <= 0) return fields;
    const other = own(model, key);
    const shared = sharing(value[key], other, effort);
    if (shared !== other || other === undefined) isSame = false;
    setOwn(fields, key, shared);
  }
  if (!isSame) return fields;
  for (const key in model) if (!Object.hasOwn(value, key)) return fields;
  return model;
}
