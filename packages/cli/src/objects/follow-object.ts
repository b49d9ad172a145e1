/** Watches one object until a condition holds, reconnecting as needed. */
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import { errorOf, jsonLines } from '@plat-dev/client/transport';
import { type Clock, timeoutSignal } from '@plat-dev/lib/clock';
import { ApiError } from '@plat-dev/meta/errors';
import type { ApiItem } from '../output/print-objects.ts';
import type { Work } from '../work.ts';
import type { ObjectRef } from './object-ref.ts';

/** Poll interval for an object that may be read but not watched, and between watches that end at once. */
const PAUSE_MS = 1000;

/** Called with each state of the object, undefined while it does not exist. True or a thrown error ends the watch. */
export type Check = (object: ApiItem | undefined) => boolean;

/** Deadline of waits; 0 is none. */
export class Deadline {
  readonly signal: AbortSignal | undefined;
  constructor(millis: number, clock: Clock) {
    this.signal = millis > 0 ? timeoutSignal(clock, millis) : undefined;
  }
  get passed(): boolean {
    return this.signal?.aborted ?? false;
  }
}

/** Whether the condition held before the deadline. */
export async function followObject(work: Work, ref: ObjectRef, deadline: Deadline, check: Check): Promise<boolean> {
  const signal = deadline.signal === undefined ? work.signal : AbortSignal.any([work.signal, deadline.signal]);
  const { clock } = work.io;
  try {
    for (;;) {
      const version = await look(work, ref, signal, check);
      if (version === true) return true;
      const began = clock.monotonic();
      if (version !== undefined && (await watch(work, ref, version, signal, check))) return true;
      if (clock.monotonic() - began < PAUSE_MS) await clock.sleep(PAUSE_MS, signal);
    }
  } catch (error) {
    if (deadline.passed && !work.signal.aborted && !(error instanceof ApiError)) return false;
    throw error;
  }
}

/** True when the condition holds, else the resourceVersion to watch from; undefined if the caller may not list. */
async function look(work: Work, ref: ObjectRef, signal: AbortSignal, check: Check): Promise<true | string | undefined> {
  try {
    const { object } = await work.sendTo(ref.resource, ref.namespace, {
      method: 'GET',
      query: { fieldSelector: `metadata.name=${ref.name}` },
      signal,
    });
    return check(object.items?.[0]) || (object.metadata?.resourceVersion ?? '');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
  }
  const liveObject = await work
    .send(ref, { method: 'GET', signal })
    .then(({ object }) => object)
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    });
  return check(liveObject) || undefined;
}

async function watch(work: Work, ref: ObjectRef, version: string, signal: AbortSignal, check: Check): Promise<boolean> {
  const query = queryOf({ watch: 1, resourceVersion: version, fieldSelector: `metadata.name=${ref.name}` });
  const answer = await work.session.transport.open({
    path: `${pathOf(ref.resource, ref.namespace)}?${query}`,
    headers: { accept: 'application/json' },
    signal,
  });
  if (answer.status === 403 || answer.status === 410) {
    answer.body.destroy();
    return false;
  }
  if (answer.status >= 300) throw await errorOf(answer);
  try {
    for await (const { type, object } of jsonLines<{ type: string; object: ApiItem }>(answer.body)) {
      // The resourceVersion has expired: list again.
      if (type === 'ERROR') return false;
      if (type !== 'BOOKMARK' && check(type === 'DELETED' ? undefined : object)) return true;
    }
  } catch (error) {
    // The deadline aborts the stream.
    if (signal.aborted) throw signal.reason;
    if (!(error as NodeJS.ErrnoException).code?.startsWith('ECONN')) throw error;
  } finally {
    answer.body.destroy();
  }
  return false;
}
