import type { HistoryPolicy, HistoryRule } from '../../packages/storage/src/history.ts';

const DAY_MS = 24 * 3_600_000;
const LONG: HistoryRule = { retentionMs: DAY_MS, values: true, mostBytesPerKey: 2 ** 30 };

/** By the first part of a key: kept as a whole, without values, for a moment, never. */
export const crashRules = (id: string): HistoryPolicy => ({
  id,
  ruleOf(key) {
    if (key.startsWith('whole/')) return LONG;
    if (key.startsWith('noted/')) return { ...LONG, values: false };
    return key.startsWith('brief/') ? { ...LONG, retentionMs: 50 } : undefined;
  },
  mostBytes: 2 ** 30,
});
