/** An object as it was at a moment. */
import { ApiError } from '@plat-dev/meta/errors';
import type { ObjectRef } from '../objects/object-ref.ts';
import { shownName, type Work } from '../work.ts';
import type { Moment } from './moments.ts';
import { type ObjectVersion, type PastObject, versionsOf } from './versions.ts';

export interface PastState {
  /** The change that made the state; undefined for one before the first. */
  readonly version: ObjectVersion | undefined;
  /** Undefined if there was no object. */
  readonly object: PastObject | undefined;
}

/** Throws ApiError, NoHistory, or an Error where the state is not kept. */
export async function stateAt(work: Work, ref: ObjectRef, moment: Moment): Promise<PastState> {
  if (moment === 'now') return { version: undefined, object: await liveObject(work, ref) };
  const until = 'time' in moment ? { until: moment.time } : {};
  let oldest: ObjectVersion | undefined;
  for await (const version of versionsOf(work, ref, { full: true, pageSize: 50, ...until })) {
    oldest = version;
    if ('version' in moment && Number(version.resourceVersion) > moment.version) continue;
    return { version, object: version.type === 'deleted' ? undefined : readable(ref, version) };
  }
  if (oldest?.type === 'created') return { version: undefined, object: undefined };
  throw new Error(`${shownName(ref.resource, ref.name)}: no version of that time is kept`);
}

/** The object of a version. Throws an Error that says why it cannot be shown. */
export function readable({ resource, name }: ObjectRef, { object, reason, resourceVersion }: ObjectVersion): PastObject {
  if (object !== undefined) return object;
  throw new Error(`${shownName(resource, name)}: version ${resourceVersion} cannot be shown: ${reason ?? 'it is not kept'}`);
}

export async function liveObject(work: Work, ref: ObjectRef): Promise<PastObject | undefined> {
  try {
    return await work.get<PastObject>(ref);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}
