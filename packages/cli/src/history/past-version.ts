/** The version at which a collection or an object is read as it was at a moment. */
import type { Work } from '../work.ts';
import type { Moment } from './moments.ts';
import { type HistoryPlace, historyPages } from './versions.ts';

/** The one before the first change after that moment. Throws ApiError or NoHistory. */
export async function versionAt(work: Work, place: HistoryPlace, moment: Moment): Promise<string> {
  const since = moment !== 'now' && 'time' in moment ? moment.time + 1 : undefined;
  let version = '';
  for await (const { versions, readAt } of historyPages(work, place, since === undefined ? { pageSize: 1 } : { since, pageSize: 1000 })) {
    version ||= readAt;
    // Asked for all the same: a server without history would answer with what is there now.
    if (moment === 'now') return version;
    if ('version' in moment) return String(moment.version);
    const oldest = versions.at(-1);
    if (oldest !== undefined) version = String(Number(oldest.resourceVersion) - 1);
  }
  return version;
}
