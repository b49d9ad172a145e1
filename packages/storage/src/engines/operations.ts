import type { Operation, RangeRequest } from '../engine.ts';
import { isKey, LONGEST_KEY } from '../keys.ts';

/** Throws unless the operations are valid for every engine: valid keys, none of them written twice. */
export function checkOperations(operations: readonly Operation[]): void {
  const writtenKeys = operations.length > 1 ? new Set<string>() : undefined;
  for (const { key, type } of operations) {
    if (!isKey(key)) {
      throw new TypeError(`the key ${JSON.stringify(key)} is not printable ASCII text of 1 to ${LONGEST_KEY} characters`);
    }
    if (writtenKeys === undefined || type === 'check') continue;
    if (writtenKeys.has(key)) throw new TypeError(`one commit writes the key ${key} twice`);
    writtenKeys.add(key);
  }
}

/** First key of a range. Throws when the start is outside the prefix. */
export function startOf({ prefix, from }: RangeRequest): string {
  if (from === undefined) return prefix;
  if (!from.startsWith(prefix)) throw new RangeError(`the range of ${JSON.stringify(prefix)} cannot start at ${JSON.stringify(from)}`);
  return from;
}
