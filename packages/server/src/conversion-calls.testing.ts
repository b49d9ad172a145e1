/**
 * A custom kind whose versions convert by calls, behind all verbs of a server without sockets: doors have a host and a port in
 * v1, which is stored, and one address in v2.
 */

import {
  type ApiObject,
  type Kind,
  type KindDefinition,
  type KindVersion,
  kind,
  releaseEnv,
  type Strategy,
  version,
} from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { systemClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { plainError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { type MessageType, message, object, opt, string } from '@plat-dev/schema/types';
import { Cache } from '@plat-dev/storage/cache';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { admissionChain } from './admission/chain.ts';
import type { AdmissionPlugin } from './admission/types.ts';
import { serveResource } from './api.ts';
import { TimeLimits } from './connections/time-limits.ts';
import { requestHandler } from './handler.ts';
import { type InProcess, inProcess, presetUser } from './in-process.ts';
import { Catalog } from './registry/catalog.ts';
import { Negotiator } from './request/negotiate.ts';
import { Routes } from './request/route.ts';
import { KeptLists } from './response/list-cache.ts';
import type { Services } from './services.ts';
import { findInfo } from './steps/identify.ts';
import { Watches } from './watch/watches.ts';

export const GROUP = 'example.com';
export interface Door extends ApiObject {
  spec?: { host?: string; port?: string; addr?: string };
  status?: { open?: string };
}
// biome-ignore lint/suspicious/noExplicitAny: tests look where they like into what was answered.
export type Loose = any;

function schemaOf(name: string, spec: readonly string[]): MessageType {
  const fields = Object.fromEntries(spec.map((field) => [field, opt(0, string)]));
  const known = {
    metadata: opt(0, ObjectMeta),
    spec: opt(0, message(`${name}Spec`, fields)),
    status: opt(0, message(`${name}Status`, { open: opt(0, string) })),
  };
  const structure = object(`${name}Structure`, known) as MessageType;
  return object(name, { metadata: opt(0, ObjectMeta) }, { unknown: 'keep', structure }) as MessageType;
}

/** Calls that were made, and what they do besides. */
export class Calls {
  /** `v2 a b`: the version that was wanted, and the names. */
  readonly made: string[] = [];
  /** Why calls fail. */
  broken: string | undefined;
  /** Names that cannot be converted. */
  readonly refused = new Set<string>();
  /** Awaited before a call is answered. */
  wait: (() => Promise<void>) | undefined;

  async convert(to: string, objects: readonly Door[], change: (door: Door) => Door['spec']): Promise<Door[]> {
    this.made.push([to, ...objects.map(({ metadata }) => metadata.name)].join(' '));
    await this.wait?.();
    const stuck = objects.find(({ metadata }) => this.refused.has(metadata.name ?? ''));
    if (this.broken !== undefined || stuck !== undefined) throw plainError(this.broken ?? `${stuck?.metadata.name} is stuck`);
    return objects.map((door) => ({ ...structuredClone(door), apiVersion: `${GROUP}/${to}`, spec: change(door) }) as Door);
  }
}

const toV1 = ({ spec }: Door): Door['spec'] => {
  const [host = '', port = ''] = (spec?.addr ?? '').split(':');
  return { host, port };
};
const toV2 = ({ spec }: Door): Door['spec'] => ({ addr: `${spec?.host ?? ''}:${spec?.port ?? ''}` });

/** Rules of a version, which must never see a door of the other. */
function rulesAbout(field: 'host' | 'addr'): KindVersion['own'] {
  const check = (...validated: Door[]): void => {
    for (const { spec } of validated) if (spec?.[field] === undefined) throw plainError(`a door was checked that has no ${field}`);
  };
  const strategy: Strategy<Door> = { validate: (made) => check(made), validateUpdate: (made, old) => check(made, old) };
  return { strategy: strategy as unknown as Strategy };
}

export function doors(calls: Calls, hub: 'v1' | 'v2' = 'v1'): Kind {
  const one = version<Door, Door>({
    schema: schemaOf('DoorV1', ['host', 'port']),
    ...(hub !== 'v1' && {
      toHubByCall: (objects) => calls.convert('v2', objects, toV2),
      fromHubByCall: (hubs) => calls.convert('v1', hubs, toV1),
    }),
    own: rulesAbout('host'),
  });
  const two = version<Door, Door>({
    schema: schemaOf('DoorV2', ['addr']),
    ...(hub !== 'v2' && {
      toHubByCall: (objects) => calls.convert('v1', objects, toV1),
      fromHubByCall: (hubs) => calls.convert('v2', hubs, toV2),
    }),
    own: rulesAbout('addr'),
  });
  const definition: KindDefinition<Door> = {
    group: GROUP,
    custom: true,
    kind: 'Door',
    plural: 'doors',
    scope: 'Namespaced',
    versions: { v1: one, v2: two },
    hub,
    generation: true,
    subresources: { status: { type: 'object', verbs: ['get', 'update', 'patch'], strategy: {} } },
  };
  return kind<Door>(definition);
}

export interface DoorServer {
  readonly calls: Calls;
  readonly services: Services;
  readonly inner: InProcess;
  /** Requests doors of a version: `ask('PATCH', 'v2/a?dryRun=All', body, 'application/merge-patch+json')`. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<{ status: number; json: Loose }>;
  /** Collects the events of a watch as `ADDED a {"addr":"…"}`. */
  watch(path: string): Promise<{ seen: string[]; until(count: number): Promise<string[]>; ended: Promise<void>; close(): void }>;
  close(): Promise<void>;
}

export async function startDoors(plugins: readonly AdmissionPlugin[] = [], hub: 'v1' | 'v2' = 'v1'): Promise<DoorServer> {
  const calls = new Calls();
  const engine = openMemoryEngine();
  const cache = new Cache(engine, systemClock, (error) => {
    throw error;
  });
  const catalog = new Catalog(kubernetes, cache, () => false);
  await cache.start();
  await catalog.add(doors(calls, hub));
  let uids = 0;
  const services = {
    identity: kubernetes,
    registry: {
      catalog,
      cache,
      env: { ...releaseEnv(), identity: kubernetes, now: () => Date.now(), feature: () => true, allowPrivileged: true },
      admission: admissionChain(plugins),
      hooks: new Map(),
      randomBelow: () => 0,
      newUid: () => `uid-${++uids}`,
      maxObjectBytes: 1_572_864,
      monotonic: systemClock.monotonic,
    },
    negotiator: new Negotiator(kubernetes),
    authorizer: { authorize: async () => ({ decision: 'allow', reason: '' }) },
    limits: { requestTimeoutMs: 30_000, minRequestTimeoutSeconds: 60, watchBufferBytes: 1024 * 1024 },
    watchEvents: () => ({ inc: () => {} }),
    log: { error: () => {}, info: () => {} },
    clock: systemClock,
    watches: new Watches(systemClock),
    keptLists: new KeptLists(),
    spread: () => 0,
    actions: new Map(),
  } as unknown as Services;
  const handle = requestHandler({
    steps: [findInfo, presetUser, (ctx) => serveResource(services, ctx)],
    clock: systemClock,
    routes: new Routes(),
    limits: new TimeLimits(systemClock, 30_000),
    // The request is answered, and the test fails with the error.
    report: (error) =>
      queueMicrotask(() => {
        throw error;
      }),
    finished: () => {},
  });
  const inner = inProcess(handle as never, { name: 'user', groups: [] }, (status, body) => new Error(`${status} ${body}`));
  return {
    calls,
    services,
    inner,
    ask: (method, path, body, headers) => ask(inner, method, path, body, headers),
    watch: (path) => watch(inner, path),
    close: async () => {
      cache.close();
      await engine.close();
    },
  };
}

/** `v2/a` is the door a in version v2, `v2` are all doors. */
function pathOf(short: string): string {
  const [, versionName = '', rest = ''] = /^(\w+)(.*)$/.exec(short) ?? [];
  return `/apis/${GROUP}/${versionName}/namespaces/n/doors${rest}`;
}

async function ask(inner: InProcess, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await inner.request({
    method,
    path: pathOf(path),
    headers: { 'user-agent': 'tester/1', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: jsonText(body) }),
  });
  return { status: answer.status, json: JSON.parse(answer.body.toString()) as Loose };
}

async function watch(inner: InProcess, path: string): ReturnType<DoorServer['watch']> {
  const seen: string[] = [];
  let wake: () => void = () => {};
  let end: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const { close } = await inner.stream(
    { path: pathOf(path) },
    {
      data: (chunk) => {
        for (const line of chunk.toString().trim().split('\n')) {
          const { type, object: door } = JSON.parse(line) as { type: string; object: Door & { message?: string } };
          seen.push(`${type} ${door.metadata.name ?? door.message ?? ''} ${JSON.stringify(door.spec ?? {})}`);
        }
        wake();
      },
      end: () => end(),
    },
  );
  const until = async (count: number): Promise<string[]> => {
    while (seen.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return seen;
  };
  return { seen, until, ended, close };
}

export const door = (versionName: string, name: string, spec: Door['spec'], metadata: object = {}) => ({
  apiVersion: `${GROUP}/${versionName}`,
  kind: 'Door',
  metadata: { name, ...metadata },
  spec,
});
