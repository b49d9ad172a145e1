/**
 * The same JSON-like value with the parts of another one wherever both are equal, so that many values that differ little take the
 * memory of one. Neither of the two is changed.
 *
 *   like     { labels: { app: 'web' }, tolerations: […], node: 'a' }
 *   value    { labels: { app: 'web' }, tolerations: […], node: 'b' }
 *   result   { labels and tolerations of `like`, node: 'b' }              `like` itself if all is equal
 */
import { own, setOwn } from './own.ts';

export function sharing<T>(value: T, like: unknown): T {
  // Equal texts are one text afterwards.
  if (value === like) return like as T;
  if (typeof value !== 'object' || typeof like !== 'object' || value === null || like === null) return value;
  if (Array.isArray(value)) return Array.isArray(like) ? (sharedList(value, like) as T) : value;
  if (Array.isArray(like)) return value;
  return sharedFields(value as Fields, like as Fields) as T;
}

type Fields = Record<string, unknown>;

function sharedList(value: readonly unknown[], like: readonly unknown[]): readonly unknown[] {
  let isSame = value.length === like.length;
  const list: unknown[] = new Array(value.length);
  for (let i = 0; i < value.length; i++) {
    list[i] = sharing(value[i], like[i]);
    if (list[i] !== like[i]) isSame = false;
  }
  return isSame ? like : list;
}

function sharedFields(value: Fields, like: Fields): Fields {
  const fields: Fields = { ...value };
  let isSame = true;
  for (const key in value) {
    const other = own(like, key);
    const shared = sharing(value[key], other);
    if (shared !== other || other === undefined) isSame = false;
    setOwn(fields, key, shared);
  }
  if (!isSame) return fields;
  for (const key in like) if (!Object.hasOwn(value, key)) return fields;
  return like;
}
