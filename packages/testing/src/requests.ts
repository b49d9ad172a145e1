/**
 * The requests and writes of a server, for assertions:
 *
 *   server.requests.filter({ user: 'system:serviceaccount:default:operator', verb: 'patch' })
 *   server.requests.find({ resource: 'deployments', name: 'web' })?.changed        // ['spec.replicas']
 *   server.history(deployment)                                                     // who changed what, oldest first
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '@plat-dev/lib/clock';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { Context } from '@plat-dev/server/context';
import type { ChangeRecord } from '@plat-dev/storage/engine';
import type { MemoryEngine } from '@plat-dev/storage/engines/memory';
import { storedText } from '@plat-dev/storage/item';
import { changedFields } from './changed-fields.ts';
import { checkPattern, factsOf, fits, type RequestFacts, type RequestPattern } from './pattern.ts';

/** Limit of kept requests and writes of objects; the oldest are dropped. */
export const MOST_REQUESTS = 10_000;
export const MOST_CHANGES = 10_000;
/** Limit of the bytes of objects that kept writes hold. */
export const MOST_BYTES = 64 * 1024 * 1024;
/** Limit of the characters of changed fields of a write whose objects were dropped. */
export const MOST_FIELD_CHARACTERS = 1024;

export interface SeenRequest extends RequestFacts {
  /** When it arrived, by the clock of the server. */
  readonly time: Date;
  readonly groups: readonly string[];
  /** The authenticated user, if `user` is impersonated. */
  readonly impersonator: string | undefined;
  readonly method: string;
  readonly query: string;
  /** The status code of the response; 0 if there is none, or not yet. */
  readonly code: number;
  readonly dryRun: boolean;
  /** Fields of objects that it changed, without repeats; see `history` for which object. */
  readonly changed: readonly string[];
}

/** One write of an object. */
export interface ObjectChange {
  readonly type: 'created' | 'changed' | 'deleted';
  readonly time: Date;
  readonly resourceVersion: string;
  /** Who wrote it; undefined: the server itself. */
  readonly user: string | undefined;
  readonly verb: string | undefined;
  readonly subresource: string | undefined;
  /** `spec.replicas`, `metadata.labels["a.b/c"]`; none for a deletion. */
  readonly fields: readonly string[];
  /** The object as it was stored, before and after; undefined where there was none. */
  readonly before: Readonly<Record<string, unknown>> | undefined;
  readonly after: Readonly<Record<string, unknown>> | undefined;
}

/** Names an object. */
export interface ObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly metadata: { readonly name?: string | undefined; readonly namespace?: string | undefined; readonly uid?: string | undefined };
}

export interface RequestList extends Iterable<SeenRequest> {
  readonly length: number;
  /** All that match, oldest first. */
  filter(which: Choice): SeenRequest[];
  /** The first that matches. */
  find(which: Choice): SeenRequest | undefined;
  map<T>(call: (request: SeenRequest, index: number) => T): T[];
  /** Drops the list of requests; the history of objects is kept. */
  clear(): void;
}
export type SeenPattern = RequestPattern & { readonly code?: number | undefined; readonly dryRun?: boolean | undefined };
export type Choice = SeenPattern | ((request: SeenRequest) => boolean);

/** The request that asynchronous work belongs to. */
interface Course {
  /** The list of the server that serves the request. */
  readonly log: RequestLog;
  ctx: Context | undefined;
  readonly writes: RecordedWrite[];
  seenRequest: RecordedRequest | undefined;
}
/** One for all servers of the process: each instance that was ever used would slow down every later promise. */
const courses = new AsyncLocalStorage<Course>();
/** Its users. It is disabled with the last of them, so that it slows down nothing afterwards. */
const users = new Set<object>();

/** Registers a user. Returns the function that removes it. */
export function useCourses(user: object): () => void {
  users.add(user);
  return () => {
    if (users.delete(user) && users.size === 0) courses.disable();
  };
}

/** A recorded write. The changed fields are computed when they are read. */
interface RecordedWrite {
  readonly key: string;
  readonly revision: number;
  readonly time: number;
  readonly by: { readonly user: string; readonly verb: string; readonly subresource: string } | undefined;
  /** Undefined if there was none, and when the objects of the write were dropped. */
  before: Buffer | undefined;
  after: Buffer | undefined;
  /** Set when the objects of the write are dropped: the changed fields, for the request that made it. */
  fields: readonly string[] | undefined;
}

export class RequestLog implements RequestList {
  private requests: SeenRequest[] = [];
  private writes: RecordedWrite[] = [];
  private bytes = 0;
  /** The newest write of each key whose objects are kept: the next one holds the same bytes. */
  private readonly newest = new Map<string, RecordedWrite>();
  private readonly byContext = new WeakMap<Context, Course>();
  private clock: Clock | undefined;

  /** Follows the store of the server. Returns the function that stops it. */
  follow(engine: MemoryEngine, clock: Clock): () => void {
    this.clock = clock;
    return engine.subscribe(
      engine.revision,
      (changes) => this.wrote(engine, changes),
      () => {},
    );
  }
  /** Runs the work of one request. */
  within<T>(run: () => T): T {
    return courses.run({ log: this, ctx: undefined, writes: [], seenRequest: undefined }, run);
  }
  /** The course of the current request; undefined outside of the requests of this server. */
  private current(): Course | undefined {
    const course = courses.getStore();
    return course?.log === this ? course : undefined;
  }
  begin(ctx: Context): void {
    const course = this.current();
    if (course === undefined) return;
    course.ctx = ctx;
    course.seenRequest = new RecordedRequest(ctx, this.clock?.now() ?? 0, course.writes);
    this.byContext.set(ctx, course);
    this.requests.push(course.seenRequest);
    if (this.requests.length > MOST_REQUESTS) this.requests = this.requests.slice(MOST_REQUESTS / 10);
  }

  end(ctx: Context): void {
    this.byContext.get(ctx)?.seenRequest?.end();
  }

  get length(): number {
    return this.requests.length;
  }
  [Symbol.iterator](): Iterator<SeenRequest> {
    return this.requests[Symbol.iterator]();
  }
  filter(which: Choice): SeenRequest[] {
    checkChoice(which);
    return this.requests.filter((request) => isMeant(which, request));
  }
  find(which: Choice): SeenRequest | undefined {
    checkChoice(which);
    return this.requests.find((request) => isMeant(which, request));
  }
  map<T>(call: (request: SeenRequest, index: number) => T): T[] {
    return this.requests.map((request, index) => call(request, index));
  }
  clear(): void {
    this.requests = [];
  }

  history({ apiVersion, kind, metadata: { name, namespace, uid } }: ObjectReference): ObjectChange[] {
    const group = apiVersion === undefined ? undefined : groupOfApiVersion(apiVersion);
    const objectChanges: ObjectChange[] = [];
    for (const one of this.writes) {
      // A key ends with the name of its object.
      if (name !== undefined && !one.key.endsWith(`/${name}`)) continue;
      const change = changeOf(one);
      const object = (change.after ?? change.before) as { apiVersion?: string; kind?: string; metadata?: ObjectReference['metadata'] };
      const { metadata } = object;
      if (object.kind !== kind || (group !== undefined && groupOfApiVersion(object.apiVersion ?? '') !== group)) continue;
      if (namespace !== undefined && metadata?.namespace !== namespace) continue;
      if (name !== undefined && metadata?.name !== name) continue;
      if (uid === undefined || metadata?.uid === uid) objectChanges.push(change);
    }
    return objectChanges;
  }

  private wrote(engine: MemoryEngine, changes: readonly ChangeRecord[]): void {
    const course = this.current();
    const ctx = course?.ctx;
    const isItsOwn = course !== undefined && ctx !== undefined && changes.some(({ key }) => belongs(course, ctx, key));
    const by = isItsOwn ? { user: ctx.user.name, verb: ctx.info.verb, subresource: ctx.info.subresource } : undefined;
    for (const { key, value, revision } of changes) {
      if (isInternal(key)) continue;
      const one: RecordedWrite = {
        key,
        revision,
        time: this.clock?.now() ?? 0,
        by,
        before: this.newest.get(key)?.after ?? engine.valueBefore(key, revision),
        after: value,
        fields: undefined,
      };
      this.writes.push(one);
      this.newest.set(key, one);
      if (isItsOwn) course.writes.push(one);
      this.bytes += sizeOf(one);
    }
    if (this.writes.length <= MOST_CHANGES && this.bytes <= MOST_BYTES) return;
    let dropped = 0;
    while (this.writes.length - dropped > MOST_CHANGES * 0.9 || this.bytes > MOST_BYTES * 0.9)
      this.drop(this.writes[dropped++] as RecordedWrite);
    this.writes = this.writes.slice(dropped);
  }
  private drop(write: RecordedWrite): void {
    this.bytes -= forget(write);
    if (this.newest.get(write.key) === write) this.newest.delete(write.key);
  }
}

/** Drops the objects of a write. Returns their bytes. Requests that are still listed keep only the changed fields. */
function forget(write: RecordedWrite): number {
  const size = sizeOf(write);
  if (write.by !== undefined) write.fields = shortened(fieldsOf(write));
  write.before = undefined;
  write.after = undefined;
  return size;
}

function shortened(fields: readonly string[]): readonly string[] {
  let characters = 0;
  const cutAt = fields.findIndex((field) => {
    characters += field.length;
    return characters > MOST_FIELD_CHARACTERS;
  });
  return cutAt === -1 ? fields : [...fields.slice(0, cutAt), `(${fields.length - cutAt} more)`];
}

const sizeOf = ({ before, after }: RecordedWrite): number => (before?.length ?? 0) + (after?.length ?? 0);
/** Keys that hold no object: allocated addresses, running servers. */
const isInternal = (key: string): boolean => key.startsWith('alloc/') || key.startsWith('cluster/');

/**
 * Whether a write was made by the request itself. Writes that the server makes because of it, such as the status of a definition,
 * are part of its course, too: they come after the request's own write, of which there is one unless it deletes a collection.
 */
function belongs({ writes }: Course, { info, finished }: Context, key: string): boolean {
  if (finished || (writes.length > 0 && info.verb !== 'deletecollection')) return false;
  const [, plural = ''] = key.split('/');
  return plural === info.resource && (!info.named || key.endsWith(`/${info.name}`));
}

class RecordedRequest implements SeenRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly path: string;
  readonly time: Date;
  readonly groups: readonly string[];
  readonly impersonator: string | undefined;
  readonly method: string;
  readonly query: string;
  readonly dryRun: boolean;
  private readonly writes: readonly RecordedWrite[];
  /** Set while the request is in progress. */
  private ctx: Context | undefined;
  private sent = 0;

  constructor(ctx: Context, time: number, writes: readonly RecordedWrite[]) {
    const { verb, group, resource, subresource, namespace, name, user, path } = factsOf(ctx);
    this.verb = verb;
    this.group = group;
    this.resource = resource;
    this.subresource = subresource;
    this.namespace = namespace;
    this.name = name;
    this.user = user;
    this.path = path;
    this.time = new Date(time);
    this.groups = ctx.user.groups;
    this.impersonator = ctx.impersonator?.name;
    this.method = ctx.method;
    this.query = ctx.search;
    this.dryRun = ctx.param('dryRun') === 'All';
    this.writes = writes;
    this.ctx = ctx;
  }
  end(): void {
    this.sent = this.ctx?.status ?? 0;
    this.ctx = undefined;
  }
  get code(): number {
    return this.ctx?.status ?? this.sent;
  }
  get changed(): readonly string[] {
    return [...new Set(this.writes.flatMap((one) => one.fields ?? fieldsOf(one)))];
  }
}

function checkChoice(which: Choice): void {
  if (typeof which !== 'function') checkPattern(which, ['code', 'dryRun']);
}
function isMeant(which: Choice, request: SeenRequest): boolean {
  if (typeof which === 'function') return which(request);
  const { code, dryRun } = which;
  return fits(which, request) && (code === undefined || code === request.code) && (dryRun === undefined || dryRun === request.dryRun);
}

/** A new object for each caller, who may change it. */
function changeOf(write: RecordedWrite): ObjectChange {
  const [before, after] = [objectOf(write.before), objectOf(write.after)];
  return {
    type: after === undefined ? 'deleted' : before === undefined ? 'created' : 'changed',
    time: new Date(write.time),
    resourceVersion: String(write.revision),
    user: write.by?.user,
    verb: write.by?.verb,
    subresource: write.by?.subresource,
    fields: after === undefined ? [] : changedFields(before, after),
    before,
    after,
  };
}
const fieldsOf = ({ before, after }: RecordedWrite): readonly string[] =>
  after === undefined ? [] : changedFields(objectOf(before), objectOf(after) as Record<string, unknown>);

function objectOf(value: Buffer | undefined): Record<string, unknown> | undefined {
  if (value === undefined) return undefined;
  try {
    return parseExact(storedText(value).toString('utf8')) as Record<string, unknown>;
  } catch {
    // Values of an encrypted store.
    return {};
  }
}
