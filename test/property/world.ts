/**
 * A whole server with an object of every kind, on which nothing but requests changes anything: no controllers run, and what
 * the server does about its own objects is done before the first request.
 */

import { systemClock } from '../../packages/lib/src/clock.ts';
import type { ChangeRecord } from '../../packages/storage/src/engine.ts';
import { type Client, type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { fault, type Got } from './answers.ts';
import {
  type Base,
  basesOf,
  dials,
  type Endpoint,
  endpointsOf,
  inIdentity,
  objectsOf,
  otherPaths,
  recordedBases,
  schemasOf,
} from './bases.ts';
import type { EditWorld, Sent } from './edits.ts';
import type { IdentityName } from './runs.ts';
import { seedCustom, settled } from './seed.ts';

/** The server itself acts on changes of these, later: writes of them are dry runs. */
const unquiet =
  /customresourcedefinitions|apiservices|flowschemas|prioritylevelconfigurations|mutatingwebhookconfigurations|validatingwebhookconfigurations/i;
const definitions = /customresourcedefinitions|apiservices/i;
const readingMethods = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];
/** How what was accepted is read back, in turn. */
const forms = [
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/yaml',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
];
/** After so many requests all is made as it was in the beginning. */
const RESTORE_EVERY = 40;
/** After so many refused writes every list is compared, else those of the resource in question. */
const ALL_LISTS_EVERY = 60;

/** Processor time is read so often at most: reading it takes as long as a short request. */
const READ_EVERY_MS = 1000;

/** Processor time of this process since a moment ago, in microseconds; the time that passed where that is short, which is no less. */
class ProcessorTime {
  private readAt = Number.NEGATIVE_INFINITY;
  private usage = process.cpuUsage();

  begin(): void {
    const now = systemClock.monotonic();
    if (now - this.readAt < READ_EVERY_MS) return;
    this.readAt = now;
    this.usage = process.cpuUsage();
  }
  /** What was used since `begin`, and at most a second before it. */
  used(): number {
    const passed = systemClock.monotonic() - this.readAt;
    if (passed < READ_EVERY_MS) return passed * 1000;
    const { user, system } = process.cpuUsage(this.usage);
    return user + system;
  }
}

export class World implements EditWorld {
  readonly server: TestServer;
  readonly resourceBases: Base[] = [];
  readonly recordedBases: Base[] = [];
  readonly otherBases: Base[] = [];
  readonly connectBases: Base[] = [];
  endpoints: Endpoint[] = [];
  /** How often each code was answered. */
  readonly statuses = new Map<number, number>();
  refusedWrites = 0;
  /** Definitions and groups of other servers change, too: the server then writes what nobody asked for, and lists follow. */
  restless = false;
  /** Requests that are tried come over a connection; lists that are compared do not. */
  connected = true;
  private readonly time = new ProcessorTime();
  private readonly clients = new Map<string, Client>();
  private readonly watcher: Client;
  private readonly watches: { readonly path: string; text: string }[] = [];
  /** Values of the store as they were in the beginning. */
  private readonly values = new Map<string, Buffer>();
  private restored = 0;
  private sinceRestore = 0;
  /** Revisions of writes that were answered with success, and of our own. */
  private readonly explained = new Set<number>();
  private readonly lists = new Map<string, string>();
  private listsAt = -1;
  private readsBack = 0;

  private constructor(server: TestServer) {
    this.server = server;
    this.watcher = server.client({ token: 'admin-token', http2: true });
  }

  static async start(identity: IdentityName, store: 'memory' | 'lmdb'): Promise<World> {
    const world = new World(await startTestServer({ identity, store, controllers: [], direct: true }));
    await world.seed();
    return world;
  }

  get bases(): readonly Base[] {
    return this.resourceBases;
  }
  get binary(): string {
    return this.server.identity.protobufMediaType;
  }
  readonly named = (text: string): string => inIdentity(text, this.server.identity);

  private async seed(): Promise<void> {
    const { server } = this;
    const { admin, identity } = server;
    const objects = objectsOf(identity);
    // Webhooks lead nowhere: they must not be called.
    for (const { object } of objects) for (const { rules } of object.webhooks ?? []) rules[0].apiGroups = ['nowhere.example.com'];
    await admin.ok('POST', '/api/v1/namespaces', objects.find(({ object }) => object.kind === 'Namespace')?.object);
    await admin.ok('POST', '/api/v1/namespaces/shop/serviceaccounts', { metadata: { name: 'default' } });
    for (const { path, object, kept } of objects) if (kept && object.kind !== 'Namespace') await admin.ok('POST', path, object);
    await seedCustom(server, objects);
    await settled(server);
    await this.findBases(objects);
    // Made when first asked for, at a price that no request explains.
    for (const path of ['/openapi/v2', '/openapi/v3', '/openapi/v3/api/v1']) await admin.get(path);
    const { entries } = await server.engine.range({ prefix: '' });
    for (const { key, value } of entries) this.values.set(key, value);
    this.restored = server.engine.revision;
    await this.openWatches();
  }

  private async findBases(objects: readonly { readonly object: Loose }[]): Promise<void> {
    const { identity } = this.server;
    const schemas = schemasOf(identity);
    this.endpoints = await endpointsOf(this.server);
    for (const endpoint of this.endpoints) {
      const { kind, apiVersion, root } = endpoint;
      const example =
        objects.find(({ object }) => object.kind === kind && object.apiVersion === apiVersion) ??
        objects.find(({ object }) => object.kind === kind && object.apiVersion.split('/')[0] === apiVersion.split('/')[0]) ??
        objects.find(({ object }) => object.kind === kind);
      const object = { ...(example?.object ?? { metadata: { name: 'one' } }), apiVersion, kind };
      for (const base of basesOf({ ...endpoint, root }, object, identity, schemas))
        (dials.test(base.path.split('?')[0] as string) ? this.connectBases : this.resourceBases).push(base);
    }
    const away = [
      '/apis/orders.example.com/v1',
      '/apis/orders.example.com/v1/orders',
      '/apis/orders.example.com/v1/namespaces/shop/orders/one',
    ];
    this.otherBases.push(...(await otherPaths(this.server)));
    for (const path of away)
      this.otherBases.push({ method: 'GET', path, headers: {} }, { method: 'POST', path, headers: {}, body: { kind: 'Order' } });
    this.recordedBases.push(...recordedBases(identity, schemas));
  }

  /** One watch of every resource, for as long as the server lasts. */
  private async openWatches(): Promise<void> {
    for (const { root, plural, verbs } of this.endpoints) {
      if (!verbs.includes('watch')) continue;
      const path = `${root}/${plural}`;
      const answer = await this.watcher.open('GET', `${path}?watch=1&resourceVersion=${this.restored}`);
      if (answer.status !== 200) throw new Error(`GET ${path}: ${answer.status}`);
      const watch = { path, text: '' };
      this.watches.push(watch);
      answer.body.on('data', (chunk: Buffer) => {
        if (!this.restless) watch.text += chunk.toString('latin1');
      });
      answer.body.on('error', () => {});
    }
  }

  private client(user: Sent['user'], http2: boolean): Client {
    const key = `${user} ${http2} ${this.connected}`;
    let client = this.clients.get(key);
    if (client === undefined) {
      const token = user === 'anonymous' ? {} : { token: `${user}-token` };
      client = this.server.client({ http2, ...token, ...(this.connected && { direct: undefined }) });
      this.clients.set(key, client);
    }
    return client;
  }

  /** Sends a request. A stream is read until its first events are there or none wait, then ended. */
  async send(sent: Sent): Promise<Got> {
    const { user, method, headers, body } = sent;
    // The client for HTTP/2 sends no body with these.
    const http2 = sent.http2 && (body === undefined || !['GET', 'HEAD', 'DELETE'].includes(method));
    this.time.begin();
    const open = await this.client(user, http2).open(method, urlOf(sent), { headers, ...(body !== undefined && { body }) });
    const stream =
      open.status === 200 && method === 'GET' && open.headers['content-length'] === undefined && /watch|follow/.test(urlOf(sent));
    const chunks: Buffer[] = [];
    if (stream) {
      open.body.on('error', () => {});
      open.body.on('data', (chunk: Buffer) => chunks.push(chunk));
      for (let turn = 0; turn < 3 && chunks.length === 0; turn++) await new Promise((resolve) => setImmediate(resolve));
      open.destroy();
    } else for await (const chunk of open.body) chunks.push(chunk as Buffer);
    return { status: open.status, headers: open.headers, bytes: Buffer.concat(chunks), stream, cpuUs: this.time.used() };
  }

  /** Sends a request and throws what is wrong with its answer or with what it left behind, in the lists that are to be compared. */
  async check(sent: Sent, lists = this.listsFor(sent.path)): Promise<void> {
    const { engine } = this.server;
    const writes = !readingMethods.includes(sent.method);
    if (writes && unquiet.test(sent.path) && !(this.restless && definitions.test(sent.path))) sent.query.push('dryRun=All');
    const revision = engine.revision;
    const before = await this.listsNow(writes && !this.restless ? lists : []);
    const got = await this.send(sent).catch((error: unknown) => {
      // The client does not send it.
      if (error instanceof TypeError && 'code' in error) return undefined;
      throw new Error(`${shown(sent)}\nwithout an answer: ${String(error)}`);
    });
    if (got === undefined) return;
    this.statuses.set(got.status, (this.statuses.get(got.status) ?? 0) + 1);
    const wrong = fault(sent, got);
    if (wrong !== undefined) throw new Error(`${shown(sent)}\n${wrong}`);
    const failed = (this.server.errors as string[]).splice(0).filter((line) => line.startsWith('request failed'));
    if (failed.length > 0) throw new Error(`${shown(sent)}\n${failed.join('\n')}`);
    if (!this.restless) {
      const refused = !writes || got.status >= 400 || sent.query.includes('dryRun=All');
      if (refused) await this.compare(sent, got, revision, before);
      else if (engine.revision !== revision) await this.readBack(sent, [...before.keys()]);
      for (let at = revision + 1; at <= engine.revision; at++) this.explained.add(at);
    }
    if (++this.sinceRestore >= RESTORE_EVERY) await this.restore();
  }

  /** A read, a refused write and a dry run change nothing. */
  private async compare(sent: Sent, { status }: Got, revision: number, before: ReadonlyMap<string, string>): Promise<void> {
    const { engine } = this.server;
    if (engine.revision !== revision) {
      const changes = await engine.changes({ after: revision, prefix: '' });
      throw new Error(`${shown(sent)}\n${status}, yet it changed ${changes.map(({ key }) => key).join()}`);
    }
    const after = await this.listsNow([...before.keys()], true);
    for (const [path, text] of before)
      if (after.get(path) !== text) throw new Error(`${shown(sent)}\n${status}, yet ${path} changed:\n${text}\n${after.get(path)}`);
    if (before.size > 0) this.refusedWrites++;
  }

  /** What was accepted can be read in every form and version, and changed again. */
  private async readBack(sent: Sent, lists: readonly string[]): Promise<void> {
    const accept = this.named(forms[this.readsBack++ % forms.length] as string);
    const plain = { query: [], body: undefined, user: 'admin', http2: false } as const;
    const follow: Sent[] = lists.map((path) => ({ ...plain, method: 'GET', path, query: [], headers: { accept } }));
    if (sent.method === 'PUT' || sent.method === 'PATCH') {
      const headers = { accept: this.named(forms[this.readsBack % forms.length] as string) };
      follow.push({ ...plain, method: 'GET', path: sent.path, query: [], headers });
      const patch = { 'content-type': 'application/merge-patch+json' };
      follow.push({ ...plain, method: 'PATCH', path: sent.path, query: ['dryRun=All'], headers: patch, body: '{}' });
    }
    for (const one of follow) {
      const got = await this.send(one);
      const wrong =
        fault(one, got) ?? (one.method === 'GET' && got.status !== 200 && one.path !== sent.path ? got.bytes.toString() : undefined);
      if (wrong !== undefined) throw new Error(`${shown(sent)}\nwas accepted, then ${shown(one)}\n${wrong}`);
    }
  }

  /** The resource of a path in all its versions; from time to time all that there are. */
  private listsFor(path: string): string[] {
    const listed = this.endpoints.filter(({ verbs }) => verbs.includes('list'));
    const all = this.refusedWrites % ALL_LISTS_EVERY === 0;
    return listed.filter(({ plural }) => all || path.includes(`/${plural}`)).map(({ root, plural }) => `${root}/${plural}`);
  }

  /** Lists at the newest revision; `again`: not those that were read before. */
  private async listsNow(paths: readonly string[], again = false): Promise<Map<string, string>> {
    const { admin, engine } = this.server;
    if (this.listsAt !== engine.revision) this.lists.clear();
    this.listsAt = engine.revision;
    const found = new Map<string, string>();
    for (const path of paths) {
      const kept = again ? undefined : this.lists.get(path);
      const answer = kept === undefined ? await admin.get(path) : undefined;
      if (answer !== undefined && answer.status !== 200) throw new Error(`GET ${path}: ${answer.status} ${answer.text}`);
      const text = kept ?? (answer?.text as string);
      this.lists.set(path, text);
      found.set(path, text);
    }
    return found;
  }

  /** Makes the store as it was in the beginning. */
  async restore(): Promise<void> {
    const { engine } = this.server;
    this.sinceRestore = 0;
    // New connections: a server ends those that are idle for long, and those on which too many streams were ended.
    for (const client of this.clients.values()) client.close();
    this.clients.clear();
    const changes: ChangeRecord[] = await engine.changes({ after: this.restored, prefix: '' });
    const keys = [...new Set(changes.map(({ key }) => key))];
    if (keys.length > 0)
      await engine.commit(
        keys.map((key) => {
          const value = this.values.get(key);
          return value === undefined ? { type: 'delete', key } : { type: 'put', key, value };
        }),
      );
    if (keys.length > 0) this.explained.add(engine.revision);
    this.restored = engine.revision;
  }

  /** Ends the server, and throws where a watch saw something that no accepted write did. */
  async end(): Promise<{ readonly events: number }> {
    await this.server.close();
    let events = 0;
    // What follows the last line end is an event that was cut off.
    for (const { path, text } of this.watches)
      for (const line of text.split('\n').slice(0, -1)) {
        const { type, object } = JSON.parse(line) as Loose;
        if (type === 'BOOKMARK') continue;
        events++;
        if (!this.explained.has(Number(object.metadata?.resourceVersion)))
          throw new Error(`the watch of ${path} saw what no accepted write did: ${line.slice(0, 1000)}`);
      }
    return { events };
  }
}

const urlOf = ({ path, query }: Sent): string => {
  const url = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return url.replace(/[^\x21-\x7e]/g, encodeURIComponent);
};

/** A request as one would send it again. */
function shown(sent: Sent): string {
  const { method, headers, body, user, http2 } = sent;
  const text =
    body === undefined
      ? ''
      : `\nbody ${Buffer.isBuffer(body) ? `base64 ${body.toString('base64')} ${JSON.stringify(body.toString('latin1'))}` : body}`;
  return `${method} ${urlOf(sent)} by ${user}${http2 ? ' over HTTP/2' : ''} ${JSON.stringify(headers)}${text.slice(0, 6000)}`;
}
