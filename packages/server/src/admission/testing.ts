/** An environment for tests of plug-ins: objects in live views, and requests as the registry makes them. */

import { builtinKinds } from '@plat-dev/kinds';
import { type ApiObject, type Kind, type KindEnv, releaseEnv } from '@plat-dev/kinds/kind';
import { type FakeLive, FakeStore } from '@plat-dev/kinds/live-view.testing';
import { newerKinds } from '@plat-dev/kinds/newer-kinds';
import { fromHub, type ServedKind, serve, toHub, toHubNow } from '@plat-dev/kinds/served-kind';
import { FakeClock } from '@plat-dev/lib/clock';
import { Metrics } from '@plat-dev/lib/metrics';
import { seededRandom } from '@plat-dev/lib/random';
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import { kubernetes } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/meta/user';
import { applyDefaults, decode } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';
import type { MakePlugin, PluginEnv, UserAction } from './plugin.ts';
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './types.ts';

const kinds = [...builtinKinds(kubernetes), ...newerKinds];
const env: KindEnv = { ...releaseEnv(), identity: kubernetes, now: () => 0, feature: () => false, allowPrivileged: true } as KindEnv;

/** `pods`, `apps/deployments`, `policy/poddisruptionbudgets@v1beta1` */
export function servedKind(name: string, release: ApiRelease = apiRelease): ServedKind {
  const [path, version] = name.split('@') as [string, string | undefined];
  const [group, plural] = path.includes('/') ? (path.split('/') as [string, string]) : ['', path];
  const kind = kinds.find((one) => one.group === group && one.plural === plural);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  const versions = served(kind, release);
  return versions.find((one) => one.version === (version ?? kind.hub)) as ServedKind;
}

/** The same value for each question: what is remembered of it is found again. */
const servedVersions = new Map<string, readonly ServedKind[]>();
function served(kind: Kind, release: ApiRelease): readonly ServedKind[] {
  const key = `${release} ${kind.group}/${kind.plural}`;
  const versions = servedVersions.get(key) ?? serve(kind, kubernetes, { release });
  servedVersions.set(key, versions);
  return versions;
}

/** An object in hub form with all defaults, as it comes to admission. */
function made<T = ApiObject>(name: string, value: object): T {
  const served = servedKind(name);
  const object = decode(served.schema, value) as ApiObject;
  object.kind = served.kind.kind;
  object.apiVersion = served.apiVersion;
  applyDefaults(served.schema, object);
  served.definition.defaults?.(object as never, env);
  return toHubNow(served, object) as T;
}

export interface RequestOptions {
  readonly operation?: AdmissionOperation;
  readonly subresource?: string;
  readonly old?: object;
  readonly user?: Partial<User>;
  readonly dryRun?: boolean;
  readonly namespace?: string;
  readonly objectKind?: AdmissionRequest['objectKind'];
}

export interface WorldOptions {
  /** Of the API. */
  readonly release?: ApiRelease;
  /** Feature gates that are on. */
  readonly features?: readonly string[];
}

export class World {
  private readonly release: ApiRelease;
  private readonly features: readonly string[];
  readonly clock = new FakeClock();
  readonly metrics = new Metrics({ version: '1.24' });
  readonly warnings: string[] = [];
  readonly annotations = new Map<string, string>();
  /** Called for every access check; denies unless a test overrides it. */
  may: (user: User, action: UserAction) => boolean = () => false;
  private readonly store = new FakeStore();
  private readonly random = seededRandom(1);

  constructor({ release = apiRelease, features = [] }: WorldOptions = {}) {
    this.release = release;
    this.features = features;
  }

  view(group: string, plural: string): FakeLive {
    return this.store.view(group, plural);
  }
  /** Adds objects to the live views. */
  with(name: string, ...values: object[]): this {
    const { kind } = servedKind(name);
    for (const value of values) this.view(kind.group, kind.plural).put(made(name, value));
    return this;
  }

  readonly env: PluginEnv = {
    identity: kubernetes,
    live: this.store.live,
    clock: this.clock,
    randomBelow: (limit) => this.random.below(limit),
    newUid: () => this.random.uuid(),
    feature: (name) => this.features.includes(name),
    tolerationSeconds: { notReady: 300, unreachable: 300 },
    may: async (user, action) => this.may(user, action),
    authorize: ({ user, ...attributes }) => ({ decision: this.may(user, attributes) ? 'allow' : 'none', reason: 'as the test says' }),
    objects: ({ kind }) => {
      const view = this.view(kind.group, kind.plural);
      return {
        get: (namespace, name) => view.get(namespace, name),
        select: (namespace, selector) => view.list(namespace).filter(({ metadata }) => selector.matches(metadata.labels)),
      };
    },
    findKind: (group, kind, version) =>
      kinds
        .filter((one) => one.kind === kind)
        .flatMap((one) => served(one, this.release))
        .find((one) => one.group === group && (version === undefined || one.version === version)),
    apiEnabled: () => true,
    serves: () => true,
    remoteOf: () => Promise.reject(new Error('there is no such file')),
    ensureNamespace: async (name) => {
      this.with('namespaces', { metadata: { name } });
    },
    metrics: this.metrics,
    log: { warn: () => {}, info: () => {} },
    webhooks: {
      equivalents: ({ kind, release }) => served(kind, release),
      toVersion: async (served, hub) => fromHub(served, structuredClone(hub)),
      toHub: async (served, object) => toHub(served, object),
      fillDefaults: (served, object) => {
        applyDefaults(served.schema, object);
        served.definition.defaults?.(object as never, env);
      },
    },
  };

  async plugin(make: MakePlugin, configuration?: JsonValue): Promise<AdmissionPlugin> {
    return make(this.env, configuration === undefined ? undefined : { value: configuration, directory: '/' });
  }

  request(name: string, value: object | undefined, options: RequestOptions = {}): AdmissionRequest {
    const served = servedKind(name, this.release);
    const object = value === undefined ? undefined : options.objectKind === undefined ? made(name, value) : (value as ApiObject);
    const oldObject = options.old === undefined ? undefined : made(name, options.old);
    const meta = (object ?? oldObject)?.metadata;
    return {
      operation: options.operation ?? (oldObject === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE'),
      served,
      subresource: options.subresource ?? '',
      namespace: options.namespace ?? (served.kind.namespaced ? (meta?.namespace ?? 'ns') : ''),
      name: meta?.name ?? '',
      object,
      oldObject,
      ...(options.objectKind !== undefined && { objectKind: options.objectKind }),
      options: {},
      user: { name: 'alice', groups: ['system:authenticated'], ...options.user },
      dryRun: options.dryRun ?? false,
      pathName: '',
      sideWrites: [],
      warn: (text) => this.warnings.push(text),
      annotate: (key, text) => this.annotations.set(key, text),
    };
  }
}

/** Runs both phases of one plug-in. Returns the refusal, or undefined. */
export async function refusalOf(plugin: AdmissionPlugin, request: AdmissionRequest): Promise<string | undefined> {
  if (!plugin.handles(request.operation) || plugin.concerns?.(request.served) === false) return undefined;
  try {
    await plugin.admit?.(request);
    await plugin.validate?.(request);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A pod of one container, in `ns`. */
export const podOf = (spec: object = {}, metadata: object = {}): { metadata: { name: string; namespace: string }; spec: object } => ({
  metadata: { name: 'p', namespace: 'ns', ...metadata },
  spec: { containers: [{ name: 'c', image: 'example.test/app:1' }], ...spec },
});
