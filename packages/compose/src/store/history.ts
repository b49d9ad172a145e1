/** What a server keeps of the past: all changes for the watches that resume, and versions of objects for longer. */
import { historyPolicy } from '@plat-dev/server/history/policy';
import type { HistoryPolicy } from '@plat-dev/storage/history';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';

/** Longest that watches resume and paginated lists go on. */
const WATCH_WINDOW_MS = 5 * 60 * 1000;
const MOST_BYTES = 256 * 2 ** 20;
const MOST_BYTES_IN_MEMORY = 64 * 2 ** 20;

export const watchWindow = ({ historyRetention }: Pick<ServerOptions, 'historyRetention'>): number =>
  Math.min(historyRetention, WATCH_WINDOW_MS);

export function historyOf({ options, identity }: Base): HistoryPolicy {
  const { historyRetention, historyRules, historyBytes, store } = options;
  const mostBytes = historyBytes ?? (store === 'memory' ? MOST_BYTES_IN_MEMORY : MOST_BYTES);
  return historyPolicy(identity, { retentionMs: historyRetention, rules: historyRules, mostBytes });
}
