/** The version at which a collection or an object is read as it was at a moment. */
import { timeMillis } from '@plat-dev/lib/time';
import { ApiError } from '@plat-dev/meta/errors';
import { withNameHint } from '../get/hints.ts';
import type { Work } from '../work.ts';
import { clockText, type Moment } from './moments.ts';
import { type HistoryPlace, historyPages, type ObjectVersion, versionsOf } from './versions.ts';

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

/** The error of an object that did not exist at a moment, with when it was created; where history knows none, with the name that was meant. */
export async function withCreation(work: Work, error: ApiError, place: HistoryPlace, moment: Moment): Promise<ApiError> {
  const isLater = ({ resourceVersion, time }: ObjectVersion): boolean => {
    if (moment === 'now') return false;
    return 'version' in moment ? Number(resourceVersion) > moment.version : time !== undefined && timeMillis(time) > moment.time;
  };
  let creation: ObjectVersion | undefined;
  try {
    for await (const version of versionsOf(work, place)) {
      if (!isLater(version)) break;
      if (version.type === 'created') creation = version;
    }
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
  }
  if (creation === undefined) return withNameHint(work, error, place.resource, place.namespace);
  const { time, resourceVersion } = creation;
  const when = time === undefined ? '' : ` ${clockText(timeMillis(time), work.io.clock.now())}`;
  const { name, group } = place.resource;
  const object = `${group === '' ? name : `${name}.${group}`} ${JSON.stringify(place.name)}`;
  const message = `${object} did not exist then: it was created${when} (version ${resourceVersion})`;
  return new ApiError(error.code, error.reason, message, error.details);
}
