/** Items of lists that are known by keys. */
import { own } from '@plat-dev/lib/own';
import { isValues } from './node.ts';

/** Items by the text of their keys; of those with the same keys the first. */
export function itemsByKeys(items: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> {
  const itemsByKey = new Map<string, unknown>();
  for (const item of items) {
    const text = keyText(item, keys);
    if (text !== undefined && !itemsByKey.has(text)) itemsByKey.set(text, item);
  }
  return itemsByKey;
}
/** Undefined if a key is missing: such an item has no old value. */
export function keyText(item: unknown, keys: readonly string[]): string | undefined {
  if (!isValues(item)) return undefined;
  let text = '';
  for (const key of keys) {
    const value = own(item, key);
    if (value === undefined || typeof value === 'object') return undefined;
    text += typeof value === 'string' ? JSON.stringify(value) : `${value},`;
  }
  return text;
}
