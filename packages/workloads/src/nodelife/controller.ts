/**
 * The life cycle of nodes. A node that neither renews its lease nor posts its status is unknown after a while; conditions become
 * taints that keep pods away, and a node that is not ready gets a taint that evicts its pods.
 */
import { isNotFound, unlessGone } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { leaseWatch } from '@plat-dev/controllers/runtime/lease-watch';
import type { Lease } from '@plat-dev/kinds/coordination/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { EventRecorder } from '../shared/events.ts';
import { isReady } from '../shared/pod-state.ts';
import { type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { startEvictions } from './eviction.ts';
import {
  aboutNode,
  evictingTaint,
  isNodeReady,
  type NodeObject,
  nodeCondition,
  readinessTaint,
  type TaintNames,
  taintNames,
  unknownConditions,
  withTaints,
  zoneOf,
} from './node.ts';
import { Zones } from './zones.ts';

type LeaseObject = Wire<Lease>;

/** A node that has posted nothing for this time is unknown; one that has never posted its status, for the longer one. */
const GRACE_MS = 40_000;
const STARTUP_GRACE_MS = 60_000;
const WORKERS = 8;

/** What is known of the health of a node. */
interface Health {
  readonly uid: string;
  /** When it was last heard of, by the clock of this controller. */
  heardAt: number;
  heartbeat: string;
  /** How long it is believed after that: at least for the usual time, longer where its lease says so. */
  graceMs: number;
  /** Its pods were marked as not ready. */
  marked: boolean;
}

export const nodeLifecycleController: Controller = {
  name: 'nodelifecycle',
  account: 'node-controller',
  start(context) {
    const { informers, queue, identity, clock } = context;
    const index = podIndex(informers);
    const nodes = informers.of<NodeObject>(refs.nodes);
    const leases = informers.of<LeaseObject>(workloadRefs(identity).leases, {
      namespace: identity.namespaces.nodeLease,
      form: 'renewals',
      keep: ({ metadata: { name, namespace, uid, resourceVersion }, spec }) =>
        ({
          metadata: { name, namespace, uid, resourceVersion },
          spec: { renewTime: spec?.renewTime, leaseDurationSeconds: spec?.leaseDurationSeconds },
        }) as LeaseObject,
    });
    const run = new NodeRun(context, nodes, index);
    const work = queue((key) => run.sync(splitKey(key).name), {
      after: [nodes.synced, leases.synced, index.informer.synced],
      workers: WORKERS,
    });
    nodes.onChange(({ type, object }) => {
      if (type === 'deleted') run.removed(object);
      else {
        run.observed(object);
        work.add(keyOf(object));
      }
    });
    leaseWatch(informers).here = true;
    leases.onChange(({ type, object, old }) => {
      if (type === 'deleted') return;
      const { name = '' } = object.metadata;
      const { renewTime, leaseDurationSeconds = 0 } = object.spec ?? {};
      if (renewTime !== old?.spec?.renewTime) run.heard(name, clock.now());
      if (leaseDurationSeconds !== old?.spec?.leaseDurationSeconds) {
        run.believe(name, leaseDurationSeconds * 1000);
        work.add(`/${name}`);
      }
    });
    startEvictions(context, nodes, index);
  },
};

class NodeRun {
  private readonly context: ControllerContext;
  private readonly nodes: Informer<NodeObject>;
  private readonly index: PodIndex;
  private readonly names: TaintNames;
  private readonly recorder: EventRecorder;
  private readonly zones = new Zones();
  private readonly health = new Map<string, Health>();
  /** Leases that last longer than usual. */
  private readonly leaseMs = new Map<string, number>();

  constructor(context: ControllerContext, nodes: Informer<NodeObject>, index: PodIndex) {
    this.context = context;
    this.nodes = nodes;
    this.index = index;
    this.names = taintNames(context.identity);
    this.recorder = new EventRecorder({ client: context.client, clock: context.clock, component: 'node-controller' });
  }

  /** Notes the state of a node, and when it was heard of. */
  observed(node: NodeObject): void {
    const { name = '', uid = '' } = node.metadata;
    const heartbeat = nodeCondition(node, 'Ready')?.lastHeartbeatTime ?? '';
    const health = this.health.get(name);
    if (health === undefined || health.uid !== uid) {
      this.health.set(name, {
        uid,
        heardAt: this.context.clock.now(),
        heartbeat,
        graceMs: this.leaseMs.get(name) ?? GRACE_MS,
        marked: false,
      });
      this.recorder.event(aboutNode(node), 'Normal', 'RegisteredNode', `Node ${name} event: Registered Node ${name} in Controller`);
    } else if (health.heartbeat !== heartbeat) {
      health.heartbeat = heartbeat;
      health.heardAt = this.context.clock.now();
    }
    this.zones.set(name, zoneOf(node, this.context.identity), isNodeReady(node));
  }
  removed(node: NodeObject): void {
    const { name = '' } = node.metadata;
    this.health.delete(name);
    this.leaseMs.delete(name);
    this.zones.delete(name);
    this.recorder.event(aboutNode(node), 'Normal', 'RemovingNode', `Node ${name} event: Removing Node ${name} from Controller`);
  }
  heard(name: string, now: number): void {
    const health = this.health.get(name);
    if (health !== undefined) health.heardAt = now;
  }

  /** Takes over how long the lease of a node lasts. */
  believe(name: string, leaseMs: number): void {
    const graceMs = Math.max(leaseMs, GRACE_MS);
    if (graceMs > GRACE_MS) this.leaseMs.set(name, graceMs);
    else this.leaseMs.delete(name);
    const health = this.health.get(name);
    if (health === undefined) return;
    // A lease that is cut short counts from now.
    if (graceMs < health.graceMs) health.heardAt = this.context.clock.now();
    health.graceMs = graceMs;
  }

  async sync(name: string): Promise<number | undefined> {
    let node = this.nodes.get('', name);
    const health = this.health.get(name);
    if (node === undefined || health === undefined) return undefined;
    const now = this.context.clock.now();
    const ready = nodeCondition(node, 'Ready');
    const created = node.metadata.creationTimestamp == null ? now : timeMillis(node.metadata.creationTimestamp);
    const until = ready === undefined ? created + STARTUP_GRACE_MS : health.heardAt + health.graceMs;
    let wait: number | undefined;
    if (ready?.status !== 'Unknown') {
      if (now < until) wait = until - now;
      else node = await this.markUnknown(node, now);
    }
    if (node === undefined) return undefined;
    await this.markPods(node, health);
    const delay = await this.taint(node, now);
    return delay === undefined || wait === undefined ? (delay ?? wait) : Math.min(delay, wait);
  }

  private async markUnknown(node: NodeObject, now: number): Promise<NodeObject | undefined> {
    const { name = '', resourceVersion } = node.metadata;
    const status = { conditions: unknownConditions(node, now) };
    const updated = await this.context.client
      .patch<NodeObject>(refs.nodes, '', name, { metadata: { resourceVersion }, status }, 'status')
      .catch(unlessGone);
    if (updated === undefined) return undefined;
    if (isNodeReady(node)) this.recorder.event(aboutNode(node), 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
    await this.nodes.whenArrived(updated);
    return this.nodes.get('', name);
  }

  /** Pods of a node that is no longer ready are not ready either, from that moment on. */
  private async markPods(node: NodeObject, health: Health): Promise<void> {
    if (isNodeReady(node) || nodeCondition(node, 'Ready') === undefined) {
      health.marked = false;
      return;
    }
    if (health.marked) return;
    const pods = [...this.index.onNode(node.metadata.name ?? '')].filter(isReady);
    const results = await Promise.allSettled(pods.map((pod) => this.markPod(pod)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    health.marked = true;
  }
  private async markPod(pod: WorkloadPod): Promise<void> {
    const time = formatTime(this.context.clock.now());
    const conditions = (pod.status?.conditions ?? []).map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'False', lastTransitionTime: time } : condition,
    );
    const next = { ...pod, apiVersion: 'v1', kind: 'Pod', status: { ...pod.status, conditions } } as WorkloadPod;
    try {
      await this.context.client.update(refs.pods, next, 'status');
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    this.recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata }, 'Warning', 'NodeNotReady', 'Node is not ready');
  }

  /** Sets the taints of a node. Returns when to look again. */
  private async taint(node: NodeObject, now: number): Promise<number | undefined> {
    const { name = '', resourceVersion } = node.metadata;
    const wantedTaint = readinessTaint(node, this.names);
    const present = evictingTaint(node, this.names);
    let evict = wantedTaint;
    let delay: number | undefined;
    // A node that has one of the two taints gets the other at once.
    if (wantedTaint !== undefined && present === undefined) {
      const wait = this.zones.take(name, now);
      if (wait > 0) {
        evict = undefined;
        delay = wait;
      }
    }
    const taints = withTaints(node, this.names, evict, now);
    if (taints === undefined) return delay;
    const patch = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
    const patched = await this.context.client.patch(refs.nodes, '', name, patch).catch(unlessGone);
    if (patched !== undefined) await this.nodes.whenArrived(patched);
    return delay;
  }
}
