/** Requests for the objects of one kind. */

import type { Scale } from '@plat-dev/kinds/autoscaling/schema/scale';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import { own } from '@plat-dev/lib/own';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { JsonValue } from '@plat-dev/schema/types';
import { type Client, pathOf, queryOf, type ResourceRef } from '../dynamic.ts';
import { errorFrom, unlessGone } from '../http.ts';
import { Informer as Followed } from '../informer.ts';
import { EventStream, type KeepAlive, type Release } from './event-stream.ts';
import type {
  ApplyOptions,
  DeleteOptions,
  Draft,
  DynamicClient,
  Informer,
  List,
  ListOptions,
  LogOptions,
  NamedObject,
  PatchOptions,
  SelectOptions,
  TokenOptions,
  Watch,
  WatchOptions,
  WriteOptions,
} from './types.ts';

/** The context that all requests of a client share. */
export interface ClientContext {
  readonly identity: Identity;
  readonly client: Client;
  readonly clock: Clock;
  readonly keepAlive: KeepAlive;
  readonly spread: () => number;
  /** Default field manager of applies. */
  readonly fieldManager: string;
  /** Called when an informer cannot list or watch, before it retries. */
  readonly report: (error: unknown) => void;
  /** Stops something when the client is closed. Returns the function that cancels this, for what ends before. */
  readonly stopLater: (what: { stop(): void }) => () => void;
}
/** A kind as paths and objects name it. */
export interface KindRef extends ResourceRef {
  readonly kind: string;
}

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;
/** Client methods by HTTP method, for errors. */
const methods: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const APPLY = 'application/apply-patch+yaml';

export class Resource<T extends object> implements DynamicClient<T> {
  private readonly context: ClientContext;
  private readonly lookUp: () => Promise<KindRef>;
  private readonly namespace: string | undefined;

  constructor(context: ClientContext, lookUp: () => Promise<KindRef>, namespace: string | undefined) {
    this.context = context;
    this.lookUp = lookUp;
    this.namespace = namespace;
  }
  async get(name: string): Promise<T> {
    return this.named(await this.lookUp(), await this.call<T>('GET', name));
  }
  find(name: string): Promise<T | undefined> {
    return this.get(name).catch(unlessGone);
  }
  async list(options: ListOptions = {}): Promise<List<T>> {
    const ref = await this.lookUp();
    const { metadata, items } = await this.call<List<T>>('GET', undefined, { query: { ...options } });
    for (const item of items ?? []) this.named(ref, item);
    return { metadata, items: items ?? [] };
  }
  async create(object: Draft<T>, options: WriteOptions = {}): Promise<T> {
    return this.call('POST', undefined, { query: writeQuery(options), body: await this.typed(object), namespaceOf: object });
  }
  update(object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.put(object, options);
  }
  updateStatus(object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.put(object, options, 'status');
  }
  updateApproval(object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.put(object, options, 'approval');
  }
  updateEphemeralContainers(object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.put(object, options, 'ephemeralcontainers');
  }
  finalize(object: Draft<T>, options?: WriteOptions): Promise<T> {
    return this.put(object, options, 'finalize');
  }
  patch(name: string, patch: Draft<T> | readonly JsonValue[], options?: PatchOptions): Promise<T> {
    return this.change(name, patch, options);
  }
  patchStatus(name: string, patch: Draft<T> | readonly JsonValue[], options?: PatchOptions): Promise<T> {
    return this.change(name, patch, options, 'status');
  }
  apply(object: Draft<T>, options?: ApplyOptions): Promise<T> {
    return this.applied(object, options);
  }
  applyStatus(object: Draft<T>, options?: ApplyOptions): Promise<T> {
    return this.applied(object, options, 'status');
  }
  async delete(name: string, options: DeleteOptions = {}): Promise<void> {
    await this.call('DELETE', name, { body: deletion(options) });
  }
  async deleteCollection(selection: SelectOptions = {}, options: DeleteOptions = {}): Promise<void> {
    await this.call('DELETE', undefined, { query: { ...selection }, body: deletion(options) });
  }
  watch(options: WatchOptions = {}): Watch<T> {
    const { signal, ...choice } = options;
    const { client, keepAlive } = this.context;
    const path = async (): Promise<string> => `${pathOf(await this.lookUp(), this.namespace)}?${queryOf({ watch: true, ...choice })}`;
    const forget = this.context.stopLater({ stop: () => watch.close() });
    const watch = new EventStream<T>({ http: client.http, path, headers: client.accept('whole'), signal, keepAlive, ended: forget });
    return watch;
  }
  informer(options: SelectOptions = {}): Informer<T> {
    return new LookedUpInformer<T>(this.context, this.lookUp, this.namespace, options);
  }
  getScale(name: string): Promise<Scale> {
    return this.call('GET', name, { subresource: 'scale' });
  }
  scale(name: string, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    const query = writeQuery(options);
    return this.call('PATCH', name, { subresource: 'scale', query, body: { spec: { replicas } }, type: patchTypes.merge });
  }
  async evict(name: string, options: DeleteOptions = {}): Promise<void> {
    const policy = groupName(this.context.identity, 'policy');
    const { dryRun, ...deleteOptions } = options;
    const body = {
      apiVersion: joinApiVersion(policy, 'v1'),
      kind: 'Eviction',
      metadata: { name, namespace: this.namespace },
      deleteOptions,
    };
    await this.call('POST', name, { subresource: 'eviction', query: writeQuery({ dryRun }), body });
  }
  async bind(name: string, node: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace: this.namespace }, target: { kind: 'Node', name: node } };
    await this.call('POST', name, { subresource: 'binding', body });
  }
  async log(name: string, options: LogOptions = {}): Promise<string> {
    const { client } = this.context;
    const path = pathOf(await this.lookUp(), this.namespace, name, 'log');
    const query = queryOf({ ...options });
    const answer = await client.http.request({ path: query === '' ? path : `${path}?${query}`, headers: client.accept('whole') });
    if (answer.status >= 300) throw errorFrom(answer.status, answer.body);
    return answer.body.toString();
  }
  async createToken(name: string, options: TokenOptions = {}): Promise<string> {
    const { status } = await this.call<{ status: { token: string } }>('POST', name, { subresource: 'token', body: { spec: options } });
    return status.token;
  }

  private async put(object: Draft<T>, options: WriteOptions = {}, subresource?: string): Promise<T> {
    const body = await this.typed(object);
    return this.call('PUT', nameOf(object), { subresource, query: writeQuery(options), body, namespaceOf: object });
  }
  private change(name: string, patch: unknown, options: PatchOptions = {}, subresource?: string): Promise<T> {
    const { type = Array.isArray(patch) ? 'json' : 'merge', ...rest } = options;
    return this.call('PATCH', name, { subresource, query: writeQuery(rest), body: patch, type: patchTypes[type] });
  }
  private async applied(object: Draft<T>, options: ApplyOptions = {}, subresource?: string): Promise<T> {
    const { force = true, ...rest } = options;
    const query = { fieldManager: this.context.fieldManager, ...writeQuery(rest), force };
    const body = await this.typed(object);
    return this.call('PATCH', nameOf(object), { subresource, query, body, type: APPLY, namespaceOf: object });
  }
  /** The body with apiVersion and kind. */
  private async typed(object: Draft<T>): Promise<object> {
    const { group, version, kind } = await this.lookUp();
    return { apiVersion: joinApiVersion(group, version), kind, ...object };
  }
  /** Adds apiVersion and kind, which items of a list do not have. */
  private named({ group, version, kind }: KindRef, object: T): T {
    const typedObject = object as { apiVersion?: string; kind?: string };
    typedObject.apiVersion ??= joinApiVersion(group, version);
    typedObject.kind ??= kind;
    return object;
  }
  private async call<R>(method: string, name: string | undefined, request: CallOptions = {}): Promise<R> {
    const { client } = this.context;
    const ref = await this.lookUp();
    const { metadata } = (request.namespaceOf ?? {}) as NamedObject;
    const namespace = this.namespace ?? metadata?.namespace;
    if (ref.namespaced && namespace === undefined && (name !== undefined || method === 'POST'))
      throw new TypeError(`${ref.name} are namespaced: ${ref.name}(NAMESPACE).${own(methods, method)}(…)`);
    const path = pathOf(ref, namespace, name, request.subresource);
    const query = queryOf(request.query ?? {});
    const headers = { ...client.accept('whole'), ...(request.type !== undefined && { 'content-type': request.type }) };
    return client.call<R>(method, query === '' ? path : `${path}?${query}`, headers, request.body);
  }
}

interface CallOptions {
  readonly subresource?: string | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  /** Content type of the body, if it is not an object. */
  readonly type?: string;
  /** Without a namespace of the client, that of this object is used. */
  readonly namespaceOf?: unknown;
}

/** An informer that starts when its kind has been looked up. */
class LookedUpInformer<T extends object> implements Informer<T> {
  readonly synced: Promise<void>;
  private readonly listeners = new Map<unknown, () => void>();
  private inner: Followed<ApiObject> | undefined;
  private stopped = false;
  private forget: () => void = () => {};
  private giveUp: (error: Error) => void = () => {};
  /** Waiting for the sync keeps the process alive; following changes does not. */
  private readonly release: Release;

  constructor(context: ClientContext, lookUp: () => Promise<KindRef>, namespace: string | undefined, options: SelectOptions) {
    this.release = context.keepAlive.hold();
    const stopped = new Promise<never>((_, reject) => {
      this.giveUp = reject;
    });
    this.synced = Promise.race([this.begin(context, lookUp, namespace, options), stopped]).finally(this.release);
    this.synced.catch(() => {});
    this.forget = context.stopLater(this);
  }
  get size(): number {
    return this.inner?.size ?? 0;
  }
  get(namespace: string, name: string): T | undefined {
    return this.inner?.get(namespace, name) as T | undefined;
  }
  list(namespace?: string): Iterable<T> {
    return (this.inner?.list(namespace) ?? []) as Iterable<T>;
  }
  onChange(listener: Parameters<Informer<T>['onChange']>[0]): () => void {
    const key = {};
    const begin = (): void => void this.listeners.set(key, this.inner?.onChange(listener as never) ?? begin);
    if (this.inner === undefined) this.listeners.set(key, begin);
    else begin();
    return () => {
      const end = this.listeners.get(key);
      this.listeners.delete(key);
      if (end !== begin) end?.();
    };
  }
  stop(): void {
    this.stopped = true;
    this.inner?.stop();
    this.giveUp(new Error('the informer was stopped before it was in sync'));
    this.release();
    this.forget();
  }
  private async begin(
    { client, clock, spread, report }: ClientContext,
    lookUp: () => Promise<KindRef>,
    namespace: string | undefined,
    { labelSelector, fieldSelector }: SelectOptions,
  ): Promise<void> {
    const resource = await lookUp();
    const inner = new Followed<ApiObject>({
      client,
      resource,
      clock,
      spread,
      report,
      ...(namespace !== undefined && { namespace }),
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    });
    this.inner = inner;
    for (const begin of [...this.listeners.values()]) begin();
    inner.start();
    if (this.stopped) inner.stop();
    await inner.synced;
  }
}

function nameOf(object: unknown): string {
  const name = (object as NamedObject).metadata?.name;
  if (name === undefined || name === '') throw new Error('the object has no metadata.name');
  return name;
}
const writeQuery = ({ dryRun, ...rest }: WriteOptions): Record<string, string | undefined> => ({
  ...rest,
  ...(dryRun === true && { dryRun: 'All' }),
});
const deletion = ({ dryRun, ...rest }: DeleteOptions): object => ({
  kind: 'DeleteOptions',
  apiVersion: 'v1',
  ...rest,
  ...(dryRun === true && { dryRun: ['All'] }),
});
