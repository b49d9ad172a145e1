/** What a server keeps of the past: all changes for the watches that resume, and versions of objects for longer. */
import { FlagError } from '@plat-dev/lib/flags';
import type { Identity } from '@plat-dev/meta/identity';
import { historyPolicy } from '@plat-dev/server/history/policy';
import type { HistoryPolicy } from '@plat-dev/storage/history';
import { historyVersion, servesHistory } from '../api-release.ts';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';

/** Longest that watches resume and paginated lists go on. */
const WATCH_WINDOW_MS = 5 * 60 * 1000;
const RETENTION_MS = 24 * 3600 * 1000;
const MOST_BYTES = 256 * 2 ** 20;
const MOST_BYTES_IN_MEMORY = 64 * 2 ** 20;

export const watchWindow = ({ historyRetention = RETENTION_MS }: Pick<ServerOptions, 'historyRetention'>): number =>
  Math.min(historyRetention, WATCH_WINDOW_MS);

/** Where history is not served the policy keeps nothing, so that versions that were kept before are deleted. */
export function historyOf({ options, identity }: Pick<Base, 'options' | 'identity'>): HistoryPolicy {
  const { historyRetention = RETENTION_MS, historyRules, historyBytes, store } = options;
  const mostBytes = historyBytes ?? (store === 'memory' ? MOST_BYTES_IN_MEMORY : MOST_BYTES);
  const retentionMs = servesHistory(options, identity) ? historyRetention : 0;
  return historyPolicy(identity, { retentionMs, rules: historyRules, mostBytes });
}

/** Throws FlagError for options about a history that the server does not keep. */
export function checkHistory(options: ServerOptions, identity: Identity): void {
  if (servesHistory(options, identity)) return;
  const { historyRetention = 0, historyRules, historyBytes } = options;
  const version = historyVersion(identity);
  const keepsNone = (flag: string): FlagError =>
    new FlagError(`${flag}: a server that does not serve ${version} keeps no history; add --runtime-config ${version}=true`);
  if (historyRules.length > 0) throw keepsNone('--history-rules');
  if (historyBytes !== undefined) throw keepsNone('--history-bytes');
  if (historyRetention > WATCH_WINDOW_MS) throw keepsNone('--history-retention of more than 5m, the window of watches');
}
