/**
 * Waits with a watch until an object matches: no test sleeps. The condition is a part of the object, or a function, which gets
 * undefined if the object does not exist.
 *
 *   await checkEventually(server, { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'web' }, { spec: { replicas: 3 } })
 */

import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { type GroupVersion, splitApiVersion } from '@plat-dev/meta/api-version';
import { parseExact } from '@plat-dev/schema/json/parse';
import { millisecondsOf } from '../clock.ts';
import { ASSERTING_USER } from '../users.ts';
import { type Check, checked } from './check.ts';
import type { AnyObject } from './objects.ts';
import { differences, valueText } from './partial-match.ts';

/** An object by its names. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Default: `default`, where the kind has namespaces. */
  readonly namespace?: string | undefined;
}

/** A condition of an object: a part of it, or a function of it. */
export type ObjectPattern = Readonly<Record<string, unknown>> | ((object: unknown) => boolean);

export interface EventuallyOptions {
  /** How long to wait, in real time: `10s`, or milliseconds. Default: that of `withServer`, else 4,500. */
  readonly timeout?: string | number | undefined;
  readonly clock?: Clock | undefined;
}

/** The part of a server that this uses. */
export interface WatchableServer {
  fetch(path: string, init?: { user?: string; groups?: readonly string[]; signal?: AbortSignal }): Promise<Response>;
}

/** A little less than the default timeout of runners, so that the error is that of this wait. */
const TIMEOUT_MS = 4_500;
const timeouts = new WeakMap<WatchableServer, number>();

/** Default timeout of waits on this server. */
export const setTimeoutOf = (server: WatchableServer, timeout: string | number): unknown => timeouts.set(server, millisecondsOf(timeout));
const timeoutOf = (server: WatchableServer, givenTimeout: string | number | undefined): number =>
  givenTimeout === undefined ? (timeouts.get(server) ?? TIMEOUT_MS) : millisecondsOf(givenTimeout);
const asserting = { user: ASSERTING_USER, groups: ['system:masters'] };

export async function checkEventually(
  server: WatchableServer,
  object: ObjectReference | AnyObject,
  pattern: ObjectPattern,
  { timeout: givenTimeout, clock = systemClock }: EventuallyOptions = {},
): Promise<Check> {
  const timeout = timeoutOf(server, givenTimeout);
  const reference = referenceOf(object);
  const ending = new AbortController();
  const cancel = clock.after(timeout, () => ending.abort(), true);
  let last: unknown;
  let pass = false;
  let hasAnswer = false;
  try {
    const path = await pathOf(server, reference, ending.signal);
    for await (const state of states(server, path, reference, ending.signal)) {
      last = state;
      hasAnswer = true;
      pass = fits(state, pattern);
      if (pass) break;
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    cancel();
    ending.abort();
  }
  const name = `${reference.kind} ${reference.namespace === undefined ? '' : `${reference.namespace}/`}${reference.name}`;
  return checked(
    pass,
    () => `${name} was not as expected within ${timeout} ms:${hasAnswer ? whyNot(last, pattern) : ' the server has not answered'}`,
    () => `${name} matches, but should not: ${valueText(last)}`,
    last ?? { ...reference, metadata: reference },
    // Runners print the difference to the expected value: there is none for an object that does not exist, or for a function.
    last === undefined || typeof pattern === 'function' ? undefined : pattern,
  );
}

/** Whether an object is deleted before the timeout. */
export async function checkGone(server: WatchableServer, object: ObjectReference | AnyObject, options?: EventuallyOptions): Promise<Check> {
  const { kind, namespace, name } = referenceOf(object);
  let hasAnswer = false;
  const isGone = (state: unknown): boolean => {
    hasAnswer = true;
    return state === undefined;
  };
  const check = await checkEventually(server, object, isGone, options);
  const text = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const { metadata } = check.actual as { metadata: { deletionTimestamp?: string; finalizers?: string[] } };
  const waits =
    metadata.deletionTimestamp === undefined ? 'it was not deleted' : `it waits for its finalizers ${valueText(metadata.finalizers)}`;
  return checked(
    check.pass,
    () => (hasAnswer ? `${text} is still there after ${timeoutOf(server, options?.timeout)} ms: ${waits}` : check.message()),
    () => `${text} is gone`,
    check.actual,
    undefined,
  );
}

const fits = (state: unknown, pattern: ObjectPattern): boolean =>
  typeof pattern === 'function' ? pattern(state) === true : state !== undefined && differences(state, pattern).length === 0;

function whyNot(last: unknown, pattern: ObjectPattern): string {
  if (last === undefined) return ' it does not exist';
  if (typeof pattern === 'function') return ` the last state was ${jsonText(last, 2)}`;
  return differences(last, pattern)
    .map((text) => `\n  ${text}`)
    .join('');
}

function referenceOf(object: ObjectReference | AnyObject): ObjectReference {
  const { apiVersion, kind } = object;
  const { name, namespace } = 'metadata' in object && object.metadata !== undefined ? object.metadata : (object as ObjectReference);
  if (apiVersion === undefined || kind === undefined || name === undefined)
    throw new TypeError(`an object is named by apiVersion, kind and name (and namespace); this is ${valueText(object)}`);
  return { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) };
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/** Path of the collection that an object is in. */
async function pathOf(server: WatchableServer, { apiVersion, kind, namespace }: ObjectReference, signal: AbortSignal): Promise<string> {
  const { group, version }: GroupVersion = splitApiVersion(apiVersion);
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const answer = await server.fetch(base, { ...asserting, signal });
  const apiResource = answer.ok
    ? ((await answer.json()) as ResourceList).resources.find((each) => each.kind === kind && !each.name.includes('/'))
    : undefined;
  if (apiResource === undefined) throw new Error(`the server has no kind ${kind} in ${apiVersion}`);
  return `${base}${apiResource.namespaced ? `/namespaces/${namespace ?? 'default'}` : ''}/${apiResource.name}`;
}

/**
 * The states of an object, from the current one; undefined while it does not exist. When a watch ends, as all do at some time,
 * another list and watch follow, until the signal is aborted: then the fetch in progress rejects.
 */
async function* states(
  server: WatchableServer,
  path: string,
  { apiVersion, kind, name }: ObjectReference,
  signal: AbortSignal,
): AsyncGenerator<unknown> {
  const selector = `fieldSelector=metadata.name%3D${encodeURIComponent(name)}`;
  const init = { ...asserting, signal };
  for (;;) {
    const list = await server.fetch(`${path}?${selector}`, init);
    const { items, metadata } = (await list.json()) as { items?: object[]; metadata: { resourceVersion: string } };
    if (items === undefined) throw new Error(`cannot list ${path}: status ${list.status}`);
    // Items of a list have no kind.
    yield items[0] === undefined ? undefined : { apiVersion, kind, ...items[0] };
    const watch = await server.fetch(`${path}?watch=true&${selector}&resourceVersion=${metadata.resourceVersion}`, init);
    if (!watch.ok) throw new Error(`cannot watch ${path}: status ${watch.status}`);
    for await (const { type, object } of eventsUntilBroken(watch)) {
      // The resourceVersion of the list may have expired.
      if (type === 'ERROR') break;
      yield type === 'DELETED' ? undefined : object;
    }
    // Timers run in between, so that the wait ends in time even if every watch ends at once.
    await nextTurn();
  }
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** An aborted watch counts as ended: the next request shows whether the server still runs. */
async function* eventsUntilBroken(watch: Response): AsyncGenerator<WatchEvent> {
  const all = events(watch);
  try {
    for (;;) {
      const next = await all.next().catch(() => undefined);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    await all.return(undefined);
  }
}

/**
 * The reader is cancelled and not released, as the stream's own iterator would be: that makes an error, and Jest reads all of the source
 * map of the package to write out where.
 */
async function* events(watch: Response): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  const reader = (watch.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() as string;
      for (const line of lines) yield parseExact(line) as WatchEvent;
    }
  } finally {
    // One that is broken is not open, either.
    await reader.cancel().catch(() => {});
  }
}
