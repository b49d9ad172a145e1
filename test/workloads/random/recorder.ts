/**
 * Everything that happens to the objects of a server, in the order of resource versions: each change of a watch is shown to the rules
 * together with the state of all objects at that moment.
 */
import { jsonText } from '../../../packages/lib/src/json-text.ts';
import type { TestServer } from '../../../packages/testing/src/test-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: rules look at objects of many kinds.
export type Loose = any;

export const paths = {
  pods: '/api/v1/pods',
  nodes: '/api/v1/nodes',
  resourcequotas: '/api/v1/resourcequotas',
  replicationcontrollers: '/api/v1/replicationcontrollers',
  deployments: '/apis/apps/v1/deployments',
  replicasets: '/apis/apps/v1/replicasets',
  statefulsets: '/apis/apps/v1/statefulsets',
  daemonsets: '/apis/apps/v1/daemonsets',
  jobs: '/apis/batch/v1/jobs',
  cronjobs: '/apis/batch/v1/cronjobs',
  poddisruptionbudgets: '/apis/policy/v1/poddisruptionbudgets',
} as const;
export type Plural = keyof typeof paths;

export interface Change {
  readonly plural: Plural;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: Loose;
  readonly before: Loose | undefined;
  /** By the clock of the server. */
  readonly time: number;
  readonly revision: number;
}
type Received = Omit<Change, 'before'>;

/** A rule: looks at one change, and says what is wrong with it. */
export type Rule = (change: Change, recorder: Recorder) => string | undefined;

const isObserved = ({ metadata, status }: Loose): boolean =>
  status?.observedGeneration === undefined || status.observedGeneration >= metadata.generation;

export class Recorder {
  /** By uid. */
  private readonly objects: Record<Plural, Map<string, Loose>>;
  /** The versions of an object that a controller may still act on: those since the last quiet moment, and before it until they are observed. */
  private readonly versions = new Map<string, Loose[]>();
  private received: Received[] = [];
  /** Who deleted which pod since the last quiet moment, by name. */
  private deleters = new Map<string, Set<string>>();
  /** Pods that were lost since the last quiet moment, other than by an eviction or a decision of a controller. */
  private noise = new Set<string>();
  /** The applications of those that were lost other than by an eviction. */
  private losses = new Set<string>();
  private readonly log: string[] = [];
  private readonly stops: (() => void)[] = [];
  private readonly server: TestServer;
  private readonly rules: readonly Rule[];

  constructor(server: TestServer, rules: readonly Rule[]) {
    this.server = server;
    this.rules = rules;
    this.objects = Object.fromEntries(Object.keys(paths).map((plural) => [plural, new Map()])) as unknown as Record<
      Plural,
      Map<string, Loose>
    >;
  }
  async start(): Promise<void> {
    for (const [plural, path] of Object.entries(paths)) await this.watch(plural as Plural, path);
  }
  stop(): void {
    for (const stop of this.stops) stop();
  }
  private async watch(plural: Plural, path: string): Promise<void> {
    const controller = new AbortController();
    this.stops.push(() => controller.abort());
    const response = await this.server.fetch(`${path}?watch=true&timeoutSeconds=1000000`, { signal: controller.signal });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async (): Promise<void> => {
      let rest = '';
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Error(`the watch of ${plural} ended`);
        const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) {
          const { type, object } = JSON.parse(line);
          this.received.push({ plural, type, object, time: this.server.clock.now(), revision: Number(object.metadata.resourceVersion) });
        }
      }
    };
    read().catch((error: unknown) => {
      if (!controller.signal.aborted) this.log.push(`the watch of ${plural} failed: ${error}`);
    });
  }

  /** The last events of objects that a message names, and of their owners. */
  story(message: string, count: number): string {
    const names = message.match(/\b[a-z]{3}\d+\b/g) ?? [''];
    return this.log
      .filter((line) => names.some((name) => line.includes(name)))
      .slice(-count)
      .join('\n');
  }
  all(plural: Plural): Iterable<Loose> {
    return this.objects[plural].values();
  }
  get(plural: Plural, uid: string | undefined): Loose | undefined {
    return this.objects[plural].get(uid ?? '');
  }
  /** The states of an object that a controller may act on now; the last one is the newest. */
  recent(object: Loose): readonly Loose[] {
    return this.versions.get(object.metadata.uid) ?? [object];
  }
  deletedBy(name: string, user: string): boolean {
    return this.deleters.get(name)?.has(user) === true;
  }
  /** Whether a pod was lost or unready since the last quiet moment by other reasons than decisions of controllers. */
  get isNoisy(): boolean {
    return this.noise.size > 0;
  }
  /** Whether a pod of an application was lost or unready since the last quiet moment by other reasons than an eviction. */
  isDisturbed(app: string): boolean {
    return this.losses.has(app);
  }

  /** Checks what has happened until now. Call it when the server has settled. */
  check(): void {
    this.takeRequests();
    const received = this.received.sort((a, b) => a.revision - b.revision);
    this.received = [];
    for (const one of received) this.noteNoise(one);
    for (const one of received) this.take(one);
    this.quiet();
  }
  private takeRequests(): void {
    this.deleters = new Map();
    for (const { method, resource, subresource, name, user, code } of this.server.requests) {
      const isEviction = method === 'POST' && subresource === 'eviction';
      if (resource !== 'pods' || code >= 300 || !(isEviction || method === 'DELETE')) continue;
      const users = this.deleters.get(name) ?? new Set();
      this.deleters.set(name, users.add(isEviction ? 'eviction' : (user.split(':').at(-1) as string)));
    }
    this.server.requests.clear();
  }
  private noteNoise({ plural, type, object }: Received): void {
    if (plural !== 'pods') return;
    const { name, uid, deletionTimestamp } = object.metadata;
    const before = this.objects.pods.get(uid);
    if (before === undefined || before.metadata.deletionTimestamp !== undefined) return;
    const isLost = deletionTimestamp !== undefined || type === 'DELETED';
    const isDecided = [...(this.deleters.get(name) ?? [])].every((user) => user.endsWith('-controller') && user !== 'node-controller');
    const isEvicted = this.deleters.get(name)?.size === 1 && this.deletedBy(name, 'eviction');
    if (isLost ? !(isDecided && this.deleters.has(name)) : isReady(before) && !isReady(object)) this.noise.add(uid);
    if (isLost ? !isEvicted : isReady(before) && !isReady(object)) this.losses.add(object.metadata.labels?.app);
  }
  private take(received: Received): void {
    const { plural, type, object } = received;
    const { uid, name } = object.metadata;
    const objects = this.objects[plural];
    const change: Change = { ...received, before: objects.get(uid) };
    if (type === 'DELETED') objects.delete(uid);
    else objects.set(uid, object);
    const versions = this.versions.get(uid);
    if (versions === undefined) this.versions.set(uid, [object]);
    else versions.push(object);
    this.log.push(`${received.revision} ${type} ${plural} ${name} ${shown(plural, object)}`);
    for (const rule of this.rules) {
      const wrong = rule(change, this);
      if (wrong !== undefined) throw new Error(`${plural} ${name} at ${received.revision}: ${wrong}`);
    }
  }
  /** What was decided before is done: older states count no more. */
  private quiet(): void {
    this.noise = new Set();
    this.losses = new Set();
    for (const [uid, versions] of this.versions) {
      const newest = versions.at(-1) as Loose;
      if (!Object.values(this.objects).some((objects) => objects.has(uid))) this.versions.delete(uid);
      else if (isObserved(newest)) this.versions.set(uid, [newest]);
    }
  }
}

export const isReady = ({ status }: Loose): boolean =>
  status?.conditions?.some(({ type, status }: Loose) => type === 'Ready' && status === 'True') === true;
export const isOver = ({ status }: Loose): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';
/** Neither over nor being deleted. */
export const isActive = (pod: Loose): boolean => !isOver(pod) && pod.metadata.deletionTimestamp === undefined;
export const controllerOf = ({ metadata }: Loose): Loose | undefined =>
  metadata.ownerReferences?.find(({ controller }: Loose) => controller === true);

function shown(plural: Plural, { metadata, spec, status }: Loose): string {
  const facts = {
    ...(metadata.deletionTimestamp !== undefined && { deleting: true }),
    ...(controllerOf({ metadata }) !== undefined && { of: controllerOf({ metadata }).name }),
    ...(plural === 'pods'
      ? { node: spec.nodeName, image: spec.containers[0].image, phase: status.phase, ready: isReady({ status }), why: whyPending(status) }
      : plural === 'nodes'
        ? { taints: spec.taints, unschedulable: spec.unschedulable }
        : {
            generation: metadata.generation,
            replicas: spec?.replicas,
            strategy: spec?.strategy ?? spec?.updateStrategy,
            parallelism: spec?.parallelism,
            status,
          }),
  };
  return jsonText(facts);
}

const whyPending = ({ conditions = [] }: Loose): string | undefined =>
  conditions.find(({ type }: Loose) => type === 'PodScheduled')?.message;
