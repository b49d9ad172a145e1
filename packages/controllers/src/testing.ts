/**
 * A fake server for tests of controllers: the parts of the API that they use, in memory, with a fake clock. Every change
 * reaches the watches at once, so that a test which waits for the queues has waited for everything.
 */

import { Client } from '@plat-dev/client/dynamic';
import type { Http, HttpAnswer, HttpRequest, HttpStream, StreamSink } from '@plat-dev/client/http';
import { errorFrom } from '@plat-dev/client/http';
import { type Clock, FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { type Log, silentLog } from '@plat-dev/lib/log';
import { seededRandom } from '@plat-dev/lib/random';
import { isWorkWaiting } from '@plat-dev/lib/slices';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { type Identity, kubernetes } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { Controller, ControllerContext } from './runtime/controller.ts';
import { Informers } from './runtime/informers.ts';
import { WorkQueue } from './runtime/queue.ts';
import { ServedResources } from './runtime/resources.ts';

export interface FakeKind {
  readonly group: string;
  readonly version: string;
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}
/** An object, loosely: tests look where they like. */
// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
export type Loose = any;

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: FakeKind;
  readonly object: Loose;
}
interface Watch {
  readonly kind: FakeKind;
  readonly matches: (object: Loose) => boolean;
  readonly metadataOnly: boolean;
  readonly sink: StreamSink;
}
interface Target {
  readonly kind: FakeKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
}

class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export class FakeApi implements Http {
  /** `METHOD path` of all requests so far. */
  readonly calls: string[] = [];
  /** Called before each request; may throw a Refusal-like or any error, or wait. */
  before: (method: string, path: string) => MaybePromise<void> = () => {};
  /** Answers requests that are not about stored objects: subresources and other APIs. Undefined: it is none of them. */
  answer: (method: string, path: string, body: Loose) => unknown = () => undefined;
  readonly clock: Clock;
  private kinds: FakeKind[] = [];
  private readonly objects = new Map<string, { kind: FakeKind; object: Loose }>();
  private readonly history: Change[] = [];
  private oldest = 0;
  private version = 1;
  private readonly watches = new Set<Watch>();

  constructor(kinds: readonly FakeKind[], clock: Clock = new FakeClock()) {
    this.kinds = [...kinds];
    this.clock = clock;
  }
  /** A refusal of the server, for `before`. */
  static refuse(code: number, reason = '', message = 'refused'): never {
    throw new Refusal(code, reason, message);
  }
  serve(kind: FakeKind): void {
    this.kinds.push(kind);
  }
  unserve(kind: FakeKind): void {
    this.kinds = this.kinds.filter((one) => one !== kind);
  }
  /** Stores an object without validation. */
  put(kind: FakeKind, object: Loose): Loose {
    const { namespace = '', name } = object.metadata;
    const before = this.objects.get(keyOf(kind, namespace, name));
    const uid = object.metadata.uid ?? before?.object.metadata.uid ?? `uid-${kind.name}-${namespace}-${name}-${this.version}`;
    return this.store(kind, { kind: kind.kind, apiVersion: apiVersionOf(kind), ...object, metadata: { ...object.metadata, uid } });
  }
  get(kind: FakeKind, namespace: string, name: string): Loose | undefined {
    return this.objects.get(keyOf(kind, namespace, name))?.object;
  }
  all(kind: FakeKind): Loose[] {
    return [...this.objects.values()].filter((one) => one.kind === kind).map((one) => one.object);
  }
  /** Deletes as a client does. */
  async remove(kind: FakeKind, namespace: string, name: string, propagationPolicy?: string): Promise<void> {
    const path = `${pathOf(kind, namespace)}/${name}`;
    await this.request({ method: 'DELETE', path, ...(propagationPolicy !== undefined && { body: JSON.stringify({ propagationPolicy }) }) });
  }
  /** Compacts the history: watches that begin before it end with 410. */
  compact(): void {
    this.oldest = this.version;
  }
  /** Ends all watches, as a server does after a while. */
  endWatches(error?: Error): void {
    for (const watch of [...this.watches]) {
      this.watches.delete(watch);
      watch.sink.end(error);
    }
  }

  async request(request: HttpRequest): Promise<HttpAnswer> {
    const method = request.method ?? 'GET';
    this.calls.push(`${method} ${request.path}`);
    try {
      await this.before(method, request.path);
      const body = request.body === undefined ? undefined : JSON.parse(request.body.toString());
      const answer =
        this.answer(method, request.path, body) ??
        this.discovery(request.path) ??
        this.serveTarget(method, this.target(request.path), body, request);
      return { status: method === 'POST' ? 201 : 200, body: Buffer.from(jsonText(answer)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, reason, message } = error;
      if (reason === '') return { status: code, body: Buffer.from(`${message}\n`) };
      const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
      return { status: code, body: Buffer.from(jsonText(status)) };
    }
  }

  async stream(request: HttpRequest, sink: StreamSink): Promise<HttpStream> {
    this.calls.push(`WATCH ${request.path}`);
    try {
      await this.before('WATCH', request.path);
      const { kind, namespace, query } = this.target(request.path);
      const from = Number(query.get('resourceVersion') ?? 0);
      if (from < this.oldest) throw new Refusal(410, 'Expired', `too old resource version: ${from} (${this.oldest})`);
      const watch: Watch = {
        kind,
        matches: selector(namespace, query),
        metadataOnly: (request.headers?.accept ?? '').includes('PartialObjectMetadata'),
        sink,
      };
      this.watches.add(watch);
      for (const change of this.history) if (change.version > from) this.notify(watch, change);
      return { close: () => void this.watches.delete(watch) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, reason, message } = error;
      throw errorFrom(code, Buffer.from(JSON.stringify({ kind: 'Status', message, reason, code })));
    }
  }

  private discovery(path: string): unknown {
    const groups = [...new Set(this.kinds.map((kind) => kind.group))].filter((group) => group !== '');
    const versions = (group: string): { version: string }[] =>
      [...new Set(this.kinds.filter((kind) => kind.group === group).map((kind) => kind.version))].map((version) => ({ version }));
    if (path === '/apis')
      return { groups: groups.map((name) => ({ name, versions: versions(name), preferredVersion: versions(name)[0] })) };
    const match = /^\/api\/(v1)$|^\/apis\/([^/?]+)\/([^/?]+)$/.exec(path);
    if (match === null) return undefined;
    const [group, version] = [match[2] ?? '', match[3] ?? match[1]];
    const found = this.kinds.filter((kind) => kind.group === group && kind.version === version);
    return { resources: found.map(({ name, kind, namespaced }) => ({ name, kind, namespaced, verbs })) };
  }

  private target(path: string): Target {
    const [plain = '', search = ''] = path.split('?');
    const parts = plain
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
    const group = parts[0] === 'api' ? '' : (parts[1] ?? '');
    const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
    let namespace: string | undefined;
    if (rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '')) namespace = rest.splice(0, 2)[1];
    const kind = this.kinds.find((one) => one.group === group && one.name === rest[0]);
    if (kind === undefined) throw new Refusal(404, '', '404 page not found');
    return { kind, namespace, name: rest[1], subresource: rest[2], query: new URLSearchParams(search) };
  }

  private serveTarget(method: string, target: Target, body: Loose, request: HttpRequest): unknown {
    const { kind, namespace = '', name } = target;
    if (method === 'POST') return target.subresource === 'binding' ? this.bind(target, body) : this.create(kind, namespace, body);
    if (name === undefined) return method === 'DELETE' ? this.removeAll(target) : this.list(target, request);
    const found = this.objects.get(keyOf(kind, namespace, name))?.object;
    if (found === undefined) throw new Refusal(404, 'NotFound', `${kind.name} "${name}" not found`);
    if (method === 'GET') return found;
    if (method === 'DELETE') return this.removeOne(kind, found, body ?? {});
    const next = method === 'PATCH' ? merge(found, body) : body;
    const wanted = next.metadata.resourceVersion;
    if (wanted !== undefined && wanted !== found.metadata.resourceVersion)
      throw new Refusal(409, 'Conflict', 'the object has been modified');
    if (next.metadata.uid !== undefined && next.metadata.uid !== found.metadata.uid) throw new Refusal(409, 'Conflict', 'another uid');
    const { uid, deletionTimestamp, creationTimestamp } = found.metadata;
    const metadata = { ...next.metadata, uid, creationTimestamp, ...(deletionTimestamp !== undefined && { deletionTimestamp }) };
    const isHeld = (metadata.finalizers ?? []).length > 0 || (next.spec?.finalizers ?? []).length > 0;
    if (deletionTimestamp !== undefined && !isHeld) return this.drop(kind, { ...next, metadata });
    return this.store(kind, { ...next, metadata });
  }

  private create(kind: FakeKind, namespace: string, body: Loose): Loose {
    const name = body.metadata?.name ?? `${body.metadata?.generateName ?? ''}${this.version}`;
    if (this.objects.has(keyOf(kind, namespace, name))) throw new Refusal(409, 'AlreadyExists', `${kind.name} "${name}" already exists`);
    const metadata = { ...body.metadata, name, ...(kind.namespaced && { namespace }), uid: `uid-${this.version}` };
    return this.store(kind, { kind: kind.kind, apiVersion: apiVersionOf(kind), ...body, metadata });
  }
  private bind({ kind, namespace = '', name = '' }: Target, body: Loose): Loose {
    const found = this.get(kind, namespace, name);
    if (found === undefined) throw new Refusal(404, 'NotFound', `${kind.name} "${name}" not found`);
    if (found.metadata.uid !== body.metadata.uid) throw new Refusal(409, 'Conflict', 'another uid');
    if (found.spec?.nodeName !== undefined) throw new Refusal(409, 'Conflict', `pod ${name} is already assigned to node`);
    this.store(kind, { ...found, spec: { ...found.spec, nodeName: body.target.name } });
    return { kind: 'Status', status: 'Success' };
  }
  private list({ kind, namespace, query }: Target, request: HttpRequest): unknown {
    const matches = selector(namespace, query);
    const all = [...this.objects.entries()]
      .filter(([, one]) => one.kind === kind && matches(one.object))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, one]) => one.object);
    const start = Number(query.get('continue') ?? 0);
    const limit = Number(query.get('limit') ?? 0) || all.length;
    const items = all.slice(start, start + limit);
    const left = all.length - start - items.length;
    const metadataOnly = (request.headers?.accept ?? '').includes('PartialObjectMetadata');
    return {
      metadata: { resourceVersion: String(this.version), ...(left > 0 && { continue: String(start + limit), remainingItemCount: left }) },
      items: metadataOnly ? items.map(metadataOf) : items,
    };
  }
  private removeAll({ kind, namespace, query }: Target): unknown {
    const matches = selector(namespace, query);
    const items = this.all(kind).filter(matches);
    for (const object of items) this.removeOne(kind, object, {});
    return { metadata: {}, items };
  }
  private removeOne(kind: FakeKind, object: Loose, options: Loose): unknown {
    const { uid, resourceVersion } = options.preconditions ?? {};
    if (uid !== undefined && uid !== object.metadata.uid) throw new Refusal(409, 'Conflict', 'another uid');
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw new Refusal(409, 'Conflict', 'another version');
    const held = (object.metadata.finalizers ?? []).filter((one: string) => one !== 'orphan' && one !== 'foregroundDeletion');
    if (options.propagationPolicy === 'Orphan') held.push('orphan');
    else if (options.propagationPolicy === 'Foreground') held.push('foregroundDeletion');
    else if (options.propagationPolicy === undefined)
      held.push(...(object.metadata.finalizers ?? []).filter((one: string) => !held.includes(one)));
    const metadata = { ...object.metadata, finalizers: held };
    if (held.length === 0 && (object.spec?.finalizers ?? []).length === 0) return this.drop(kind, { ...object, metadata });
    metadata.deletionTimestamp ??= formatTime(this.clock.now());
    return this.store(kind, { ...object, metadata });
  }

  private store(kind: FakeKind, object: Loose): Loose {
    const { namespace = '', name } = object.metadata;
    const key = keyOf(kind, namespace, name);
    const isNew = !this.objects.has(key);
    const kept = this.next(object);
    this.objects.set(key, { kind, object: kept });
    this.publish({ version: this.version, type: isNew ? 'ADDED' : 'MODIFIED', kind, object: kept });
    return kept;
  }
  private drop(kind: FakeKind, object: Loose): Loose {
    const { namespace = '', name } = object.metadata;
    this.objects.delete(keyOf(kind, namespace, name));
    const last = this.next(object);
    this.publish({ version: this.version, type: 'DELETED', kind, object: last });
    return last;
  }
  private next(object: Loose): Loose {
    this.version++;
    const creationTimestamp = object.metadata.creationTimestamp ?? formatTime(this.clock.now());
    return structuredClone({ ...object, metadata: { ...object.metadata, creationTimestamp, resourceVersion: String(this.version) } });
  }
  private publish(change: Change): void {
    this.history.push(change);
    for (const watch of [...this.watches]) this.notify(watch, change);
  }
  private notify({ kind, matches, metadataOnly, sink }: Watch, change: Change): void {
    if (change.kind !== kind || !matches(change.object)) return;
    const object = metadataOnly ? metadataOf(change.object) : change.object;
    sink.data(Buffer.from(`${jsonText({ type: change.type, object })}\n`));
  }
}

const keyOf = (kind: FakeKind, namespace: string, name: string): string => `${kind.group}/${kind.name}/${namespace}/${name}`;
const pathOf = (kind: FakeKind, namespace: string): string =>
  `${kind.group === '' ? '/api/v1' : `/apis/${apiVersionOf(kind)}`}${kind.namespaced ? `/namespaces/${namespace}` : ''}/${kind.name}`;
const metadataOf = (object: Loose): Loose => ({ kind: 'PartialObjectMetadata', metadata: object.metadata });

function merge(target: Loose, patch: Loose): Loose {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const next = target !== null && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete next[key];
    else next[key] = merge(next[key], value);
  }
  return next;
}

function selector(namespace: string | undefined, query: URLSearchParams): (object: Loose) => boolean {
  const fields = (query.get('fieldSelector') ?? '').split(',').filter((one) => one !== '' && !one.includes('!='));
  const labels = (query.get('labelSelector') ?? '').split(',').filter((one) => one !== '');
  const look = (object: Loose, path: string): unknown => path.split('.').reduce((at, key) => at?.[key], object);
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    fields.every((one) => look(object, one.split('=')[0] as string) === one.split('=')[1]) &&
    labels.every((one) => object.metadata.labels?.[one.split('=')[0] as string] === one.split('=')[1]);
}

export interface TestRun {
  readonly clock: FakeClock;
  /** Failures, with their keys. */
  readonly failures: { readonly key: string; readonly error: unknown }[];
  /** Resolves when the queues are idle. */
  idle(): Promise<void>;
  /** Advances the clock, and runs what is due. */
  pass(millis: number): Promise<void>;
  stop(): Promise<void>;
}

/** Runs controllers against a fake server. */
export function runControllers(
  api: FakeApi,
  controllers: readonly Controller[],
  identity: Identity = kubernetes,
  log: Log = silentLog,
): TestRun {
  const clock = api.clock as FakeClock;
  const random = seededRandom(1);
  const client = new Client(api, { userAgent: 'test', metadataGroup: 'meta' });
  const failures: { key: string; error: unknown }[] = [];
  const report = (error: unknown): void => void failures.push({ key: '', error });
  const informers = new Informers({ client, clock, spread: () => 0.5, report });
  const served = new ServedResources({ client, informers, identity, clock, report });
  const queues: WorkQueue[] = [];
  const ends: (() => void)[] = [];
  const context: ControllerContext = {
    identity,
    clock,
    random,
    log,
    client,
    informers,
    served,
    queue(work, { after = [], name = '', ...rest } = {}) {
      const queue = new WorkQueue({ ...rest, name, clock, work, report: (error, key) => void failures.push({ key, error }) });
      queues.push(queue);
      Promise.all(after).then(
        () => queue.start(),
        () => {},
      );
      return queue;
    },
    onStop: (call) => void ends.push(call),
  };
  for (const controller of controllers) controller.start(context);
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const idle = async (): Promise<void> => {
    // One queue may add keys to another; only a few idle turns in a row are the end.
    for (let quiet = 0; quiet < 5; ) {
      await turn();
      quiet = queues.every((queue) => queue.isIdle) && !informers.isBehind ? quiet + 1 : 0;
    }
  };
  // However slow the machine, what waits for a turn of the event loop is not overtaken by time.
  const turned = async (): Promise<void> => {
    while (isWorkWaiting()) await turn();
  };
  clock.settling.add(turned);
  return {
    clock,
    failures,
    idle,
    async pass(millis) {
      await idle();
      await clock.advance(millis);
      await idle();
    },
    async stop() {
      clock.settling.delete(turned);
      for (const end of ends) end();
      served.stop();
      informers.stop();
      await Promise.all(queues.map((queue) => queue.stop()));
    },
  };
}

/** The kinds that most controllers need. */
export const fakeKinds = {
  namespaces: { group: '', version: 'v1', name: 'namespaces', kind: 'Namespace', namespaced: false },
  configMaps: { group: '', version: 'v1', name: 'configmaps', kind: 'ConfigMap', namespaced: true },
  secrets: { group: '', version: 'v1', name: 'secrets', kind: 'Secret', namespaced: true },
  serviceAccounts: { group: '', version: 'v1', name: 'serviceaccounts', kind: 'ServiceAccount', namespaced: true },
  pods: { group: '', version: 'v1', name: 'pods', kind: 'Pod', namespaced: true },
  definitions: {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    name: 'customresourcedefinitions',
    kind: 'CustomResourceDefinition',
    namespaced: false,
  },
  apiServices: { group: 'apiregistration.k8s.io', version: 'v1', name: 'apiservices', kind: 'APIService', namespaced: false },
} as const satisfies Record<string, FakeKind>;
