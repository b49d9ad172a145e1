/**
 * The same JSON-like value with the parts of another one wherever both are equal, so that many values that differ little take the
 * memory of one. Neither of the two is changed.
 *
 *   like     { labels: { app: 'web' }, tolerations: […], node: 'a' }
 *   value    { labels: { app: 'web' }, tolerations: […], node: 'b' }
 *   result   { labels and tolerations of `like`, node: 'b' }              `like` itself if all is equal
 */
import { own, setOwn } from './own.ts';

/** Parts of a value that are compared; those of a larger one are not shared beyond it. */
export const MOST_COMPARED = 4096;

export function sharing<T>(value: T, like: unknown, effort = { left: MOST_COMPARED }): T {
  if (--effort.left < 0) return value;
  // Equal texts are one text afterwards.
  if (value === like) return like as T;
  if (typeof value !== 'object' || typeof like !== 'object' || value === null || like === null) return value;
  if (Array.isArray(value)) return Array.isArray(like) ? (sharedList(value, like, effort) as T) : value;
  if (Array.isArray(like)) return value;
  return sharedFields(value as Fields, like as Fields, effort) as T;
}

type Fields = Record<string, unknown>;
type Effort = { left: number };

function sharedList(value: readonly unknown[], like: readonly unknown[], effort: Effort): readonly unknown[] {
  let isSame = value.length === like.length;
  const list: unknown[] = [...value];
  for (let i = 0; i < value.length; i++) {
    if (effort.left <= 0) return list;
    list[i] = sharing(value[i], like[i], effort);
    if (list[i] !== like[i]) isSame = false;
  }
  return isSame ? like : list;
}

function sharedFields(value: Fields, like: Fields, effort: Effort): Fields {
  const fields: Fields = { ...value };
  let isSame = true;
  for (const key in value) {
    if (effort.left <= 0) return fields;
    const other = own(like, key);
    const shared = sharing(value[key], other, effort);
    if (shared !== other || other === undefined) isSame = false;
    setOwn(fields, key, shared);
  }
  if (!isSame) return fields;
  for (const key in like) if (!Object.hasOwn(value, key)) return fields;
  return like;
}
