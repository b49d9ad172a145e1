/** A scheduler without a server, for tests of decisions: objects go in, nodes and reports come out at once. */
import { FakeClock } from '@plat-dev/lib/clock';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { domainName, kubernetes } from '@plat-dev/meta/identity';
import type { WorkloadPod } from '../shared/pods.ts';
import { Cluster } from './cluster.ts';
import { Decider } from './decide.ts';
import type { Budget, Candidate } from './preemption.ts';
import type { WireNode } from './read-node.ts';
import { Scheduler } from './scheduler.ts';
import { OwnSelectors, type SelectingStores } from './spread-defaults.ts';
import { VolumeObjects, type VolumeStores } from './volumes/objects.ts';
import { WaitingPods } from './waiting-pods.ts';

export const hostname = domainName(kubernetes, 'hostname');
export const zone = domainName(kubernetes, 'zone', 'topology');
export const unschedulableTaint = domainName(kubernetes, 'unschedulable', 'node');

export interface NodeOptions {
  readonly cpu?: string;
  readonly memory?: string;
  readonly pods?: string;
  readonly more?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly taints?: { key: string; value?: string; effect: string }[];
  readonly unschedulable?: boolean;
  readonly images?: { names: string[]; sizeBytes: number }[];
}

export function testNode(name: string, options: NodeOptions = {}): WireNode {
  const { cpu = '4', memory = '8Gi', pods = '110', more = {}, labels = {}, taints, unschedulable, images } = options;
  return {
    metadata: { name, uid: `uid-${name}`, labels: { [hostname]: name, ...labels } },
    spec: { ...(taints !== undefined && { taints }), ...(unschedulable !== undefined && { unschedulable }) },
    status: { allocatable: { cpu, memory, pods, ...more }, ...(images !== undefined && { images }) },
  } as unknown as WireNode;
}

export interface PodOptions {
  readonly namespace?: string;
  readonly labels?: Record<string, string>;
  readonly cpu?: string;
  readonly memory?: string;
  readonly priority?: number;
  readonly node?: string;
  readonly startTime?: string;
  readonly deletionTimestamp?: string;
  readonly nominated?: string;
  readonly owner?: { apiVersion: string; kind: string; name: string };
  /** The rest of the spec, as in a manifest. */
  readonly spec?: Record<string, unknown>;
}

export function testPod(name: string, options: PodOptions = {}): WorkloadPod {
  const { namespace = 'default', labels, cpu, memory, priority, node, startTime, deletionTimestamp, nominated, owner, spec = {} } = options;
  const requests = { ...(cpu !== undefined && { cpu }), ...(memory !== undefined && { memory }) };
  return {
    metadata: {
      name,
      namespace,
      uid: `uid-${namespace}-${name}`,
      ...(labels !== undefined && { labels }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(owner !== undefined && { ownerReferences: [{ ...owner, uid: owner.name, controller: true }] }),
    },
    spec: {
      schedulerName: 'default-scheduler',
      containers: [{ name: 'main', image: 'app', resources: { requests } }],
      ...(priority !== undefined && { priority }),
      ...(node !== undefined && { nodeName: node }),
      ...spec,
    },
    status: {
      phase: 'Pending',
      ...(startTime !== undefined && { startTime }),
      ...(nominated !== undefined && { nominatedNodeName: nominated }),
    },
  } as unknown as WorkloadPod;
}

interface Report {
  readonly pod: string;
  readonly reason: string;
  readonly message: string;
  readonly nominated: string | undefined;
}
interface Loose {
  readonly metadata: { readonly name?: string; readonly namespace?: string };
}

/** Objects that a test puts there itself. */
class TestStore {
  readonly objects: Loose[] = [];
  readonly get = (namespace: string, name: string): never =>
    this.objects.find(({ metadata }) => (metadata.namespace ?? '') === namespace && metadata.name === name) as never;
  readonly list = (namespace?: string): never =>
    this.objects.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace) as never;
  readonly onChange = (): (() => void) => () => {};
}

export class World {
  readonly clock = new FakeClock();
  readonly cluster = new Cluster({ hostname, zone, region: domainName(kubernetes, 'region', 'topology') });
  readonly volumes = {
    claims: new TestStore(),
    volumes: new TestStore(),
    classes: new TestStore(),
    drivers: new TestStore(),
    driverInfos: new TestStore(),
    capacities: new TestStore(),
  };
  readonly selecting = {
    services: new TestStore(),
    replications: new TestStore(),
    replicaSets: new TestStore(),
    statefulSets: new TestStore(),
  };
  readonly budgets: Budget[] = [];
  readonly waiting: WaitingPods;
  readonly decider: Decider;
  readonly scheduler: Scheduler;
  /** `namespace/name` → node. */
  readonly placed = new Map<string, string>();
  readonly reports: Report[] = [];
  readonly evicted: Candidate[] = [];
  /** False: bindings stay unanswered. */
  answers = true;
  private readonly objects = new Map<string, WorkloadPod>();

  constructor(random: Random = seededRandom(1)) {
    const { clock, cluster } = this;
    this.waiting = new WaitingPods({ clock, ready: () => {} });
    this.decider = new Decider({
      cluster,
      defaults: new OwnSelectors(this.selecting as unknown as SelectingStores),
      unschedulableTaint,
      random,
      objects: new VolumeObjects(kubernetes, this.volumes as unknown as VolumeStores),
    });
    this.scheduler = new Scheduler({
      cluster,
      decider: this.decider,
      waiting: this.waiting,
      random,
      names: new Set(['default-scheduler']),
      budgets: () => this.budgets,
      unschedulableTaint,
      effects: {
        bind: (pod, { node }) => {
          if (!this.answers) return;
          this.placed.set(pod.key, node.name);
          this.scheduler.bound(pod);
          this.update({ ...pod.object, spec: { ...pod.object.spec, nodeName: node.name } } as WorkloadPod);
        },
        report: (pod, reason, message, nominated) => this.reports.push({ pod: pod.key, reason, message, nominated }),
        evict: (_pod, candidate) => this.evicted.push(candidate),
        gone: () => {},
      },
    });
  }
  node(name: string, options?: NodeOptions): void {
    this.scheduler.nodeChanged(testNode(name, options));
  }
  pod(name: string, options?: PodOptions): void {
    this.update(testPod(name, options));
  }
  update(pod: WorkloadPod): void {
    const key = `${pod.metadata.namespace}/${pod.metadata.name}`;
    this.objects.set(key, pod);
    if (pod.spec?.nodeName !== undefined) this.placed.set(key, pod.spec.nodeName);
    this.scheduler.podChanged(pod);
  }
  object(name: string, namespace = 'default'): WorkloadPod {
    return this.objects.get(`${namespace}/${name}`) as WorkloadPod;
  }
  remove(name: string, namespace = 'default'): void {
    const key = `${namespace}/${name}`;
    this.objects.delete(key);
    this.placed.delete(key);
    this.scheduler.podGone(key);
  }
  /** Decides about all pods that wait. */
  run(): void {
    while (this.scheduler.next());
  }
  /** The node of a new pod, or why it has none. */
  place(name: string, options?: PodOptions): string {
    this.pod(name, options);
    this.run();
    const key = `${options?.namespace ?? 'default'}/${name}`;
    return this.placed.get(key) ?? this.reports.findLast(({ pod }) => pod === key)?.message ?? 'not decided';
  }
  /** Names of the pods that were evicted last. */
  victims(): string[] {
    return (this.evicted.at(-1)?.victims ?? []).map(({ name }) => name).sort();
  }
}

/** Why a pod that no deletion of others helps fits on none of some nodes. */
export const fitsNowhere = (nodes: number, ...reasons: string[]): string =>
  `0/${nodes} nodes are available: ${reasons.join(', ')}. preemption: 0/${nodes} nodes are available: ${nodes} Preemption is not helpful for scheduling.`;
