/** The pods of simulated nodes: each goes through its life cycle, in as few writes of its status as that takes. */

import { unlessGone, unlessGoneOrReplaced } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { isSidecar } from '@plat-dev/kinds/core/pods/pod-amounts';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { Slices, soonOrInSlices, turnWithTime, type Work } from '@plat-dev/lib/slices';
import { nodeAgentWord } from '@plat-dev/meta/identity';
import { formatTime, timeMillis } from '@plat-dev/meta/time';
import { EventBudget } from '../shared/event-budget.ts';
import { EventRecorder } from '../shared/events.ts';
import { isFinished, isTerminating } from '../shared/pod-state.ts';
import { type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { isScheduled, lackOf, type Rejection, rejection } from './admission.ts';
import type { Annotations } from './annotations.ts';
import type { ContainerFiles, Writer } from './container-files.ts';
import { disksOf } from './disks.ts';
import type { Fleet, SimulatedNode } from './fleet.ts';
import type { ChosenLifecycle } from './lifecycle/choose.ts';
import type { Stop } from './lifecycle/container-stop.ts';
import { type Blocked, type ContainerStatus, fieldPathOf, type NodeEvent, type Status } from './lifecycle/container-world.ts';
import { PodMemory } from './lifecycle/memory.ts';
import { failedStatus, nextStatus, type PodWorld, type StoppedWorld, stoppedStatus } from './lifecycle/pod-status.ts';
import { type Container, roleOf } from './lifecycle/process.ts';
import type { Refusal } from './lifecycle/resize.ts';
import { verdictOf } from './pod-probes.ts';
import { PodProcesses, type PodRun, SOURCES_MS, within } from './pod-processes.ts';
import { type Missing, References } from './references.ts';

export interface NodePodsSettings {
  readonly events: boolean;
  /** The address that names of services are looked up at. */
  readonly nameserver: string;
  /** The life cycle of a pod. */
  readonly choose: (pod: WorkloadPod) => ChosenLifecycle;
  /** The annotations of the pod's namespace. */
  readonly ofNamespace: (pod: WorkloadPod) => Annotations;
  /** What commands wrote in containers: probes see it. */
  readonly disks: ContainerFiles;
}

/** Pods that are worked on at a time. */
const WORKERS = 32;
/** Default grace period of a deletion. */
const GRACE_SECONDS = 30;
const none: Missing = new Map();
/** The time at which the node took a pod. */
const TAKEN = 'taken';

export class NodePods {
  readonly pods: Informer<WorkloadPod>;
  private readonly index: PodIndex;
  private readonly context: ControllerContext;
  private readonly fleet: Fleet;
  private readonly settings: NodePodsSettings;
  private readonly references: References;
  private readonly processes: PodProcesses;
  private readonly recorder: EventRecorder;
  private readonly budget: EventBudget;
  /** Of pods to which something is still to happen, by key. */
  private readonly memories = new Map<string, PodMemory>();
  /** Pods whose resize waits for room on their node, which has this name. */
  private readonly deferred = new Map<string, string>();
  private readonly work: WorkQueue;

  constructor(context: ControllerContext, fleet: Fleet, settings: NodePodsSettings) {
    this.context = context;
    this.fleet = fleet;
    this.settings = settings;
    const { client, clock, identity } = context;
    this.budget = new EventBudget(clock);
    this.recorder = new EventRecorder({ client, clock, component: nodeAgentWord(identity) });
    this.index = podIndex(context.informers);
    this.pods = this.index.informer;
    this.references = new References(context, settings.disks, (key) => this.work.add(key));
    this.processes = new PodProcesses(context, settings.nameserver);
    context.onStop(settings.disks.onWrite((writer) => this.onWritten(writer)));
    const after = [this.pods.synced, fleet.nodes.synced];
    this.work = context.queue((key) => this.advance(key), { name: 'simulated-nodes', workers: WORKERS, after });
    this.pods.onChange(({ type, object }) => {
      const name = object.spec?.nodeName ?? '';
      if (name === '') return;
      if (type === 'deleted') {
        this.forget(keyOf(object), object);
        return;
      }
      const node = fleet.get(name);
      if (node === undefined || node.down) return;
      if (type === 'added' && object.status?.podIP !== undefined) node.addresses.note(object.metadata.uid ?? '', object.status.podIP);
      this.work.add(keyOf(object));
    });
  }
  /** A node began to work: so do its pods. */
  begin(name: string): void {
    const node = this.fleet.get(name);
    for (const pod of this.index.onNode(name)) {
      node?.addresses.note(pod.metadata.uid ?? '', pod.status?.podIP ?? '');
      this.work.add(keyOf(pod));
    }
  }
  /** The life cycles of some pods may have changed. */
  async again(isAffected: (pod: WorkloadPod) => boolean): Promise<void> {
    const slices = new Slices();
    for (const { name } of this.fleet.all()) {
      for (const pod of this.index.onNode(name)) if (!isFinished(pod) && isAffected(pod)) this.work.add(keyOf(pod));
      if (slices.due) await slices.pause();
    }
  }
  /** A client writes in a container: probes may come out otherwise. */
  private onWritten({ namespace, name, uid }: Writer): void {
    const pod = this.pods.get(namespace, name);
    if (pod === undefined || pod.metadata.uid !== uid || this.fleet.get(pod.spec?.nodeName ?? '') === undefined) return;
    if (!pod.spec?.containers?.some(({ readinessProbe }) => readinessProbe != null)) return;
    const key = keyOf(pod);
    this.memoryOf(key, pod).writes++;
    this.work.add(key);
  }
  private forget(key: string, pod: WorkloadPod): void {
    this.memories.delete(key);
    this.deferred.delete(key);
    this.freed(pod.spec?.nodeName ?? '');
    this.references.forget(key);
    for (const name of disksOf(pod)) this.settings.disks.delete(name);
    this.fleet.get(pod.spec?.nodeName ?? '')?.addresses.release(pod.metadata.uid ?? '');
  }

  /** A node has more room: resizes that wait for it are tried again. */
  private freed(nodeName: string): void {
    for (const [key, name] of this.deferred) if (name === nodeName) this.work.add(key);
  }
  /** A node that has no room now may have some later, unless it is too small altogether. */
  private refusesResize(pod: WorkloadPod): Refusal | undefined {
    const name = pod.spec?.nodeName ?? '';
    const object = this.fleet.nodes.get('', name);
    if (object === undefined) return undefined;
    const { status: _status, ...asWanted } = pod;
    const alone = lackOf(asWanted, object, []);
    if (alone !== undefined) return { reason: 'Infeasible', message: alone.message };
    const others = [...this.index.onNode(name)].filter((other) => other.metadata.uid !== pod.metadata.uid && !isFinished(other));
    const lack = lackOf(asWanted, object, others);
    return lack === undefined ? undefined : { reason: 'Deferred', message: lack.message };
  }

  private async advance(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    if (pod === undefined) return undefined;
    const node = this.fleet.get(pod.spec?.nodeName ?? '');
    if (node === undefined || node.down) return undefined;
    if (isTerminating(pod)) return this.terminate(key, pod, node);
    if (isFinished(pod)) {
      if (this.memories.delete(key)) this.freed(node.name);
      this.deferred.delete(key);
      node.addresses.release(pod.metadata.uid ?? '');
      return undefined;
    }
    const missing = pod.status?.phase === 'Running' ? none : await this.references.missing(pod, key);
    await this.processes.prepare(pod, this.memoryOf(key, pod));
    // What the commands of one pod do may take milliseconds to find out, and many pods may have waited for the same answer.
    await turnWithTime();
    // A pod may have changed while its objects were looked up.
    if (this.pods.get(namespace, name) !== pod) return 1;
    return this.run(key, pod, node, missing);
  }

  private async run(key: string, pod: WorkloadPod, node: SimulatedNode, missing: Missing): Promise<number | undefined> {
    const { processes } = this;
    const { clock } = this.context;
    const { problem, ...run } = this.runOf(key, pod);
    const { memory, lifecycles } = run;
    const now = clock.now();
    const { writes } = memory;
    const events: NodeEvent[] = [];
    if (problem !== undefined && pod.status?.startTime == null)
      events.push({ type: 'Warning', reason: 'InvalidLifecycle', message: `${problem}; the default life cycle is used` });
    const rejected = this.rejected(pod, memory);
    if (rejected !== undefined) {
      const { reason, message } = rejected;
      events.push({ type: 'Warning', reason, message });
      const startTime = formatTime(now);
      await this.write(pod, { ...pod.status, phase: 'Failed', reason, message: `Pod ${message}`, startTime }, node, events);
      return undefined;
    }
    const deadline = deadlineOf(pod);
    if (deadline !== undefined && now >= deadline) {
      const message = 'Pod was active on the node longer than the specified deadline';
      events.push({ type: 'Normal', reason: 'DeadlineExceeded', message });
      const failed = await soonOrInSlices(failedStatus(this.stopped(run, now), 'DeadlineExceeded', message));
      await this.write(pod, failed, node, events);
      return undefined;
    }
    const graceMs = Number(pod.spec?.terminationGracePeriodSeconds ?? GRACE_SECONDS) * 1000;
    const world: PodWorld = {
      ...this.stopped(run, now),
      lifecycles,
      hostIP: node.hostIP,
      podIP: () => this.addressOf(pod, node),
      blocked: (container) => this.blocked(pod, node, container, missing, events),
      process: (container, role, restartCount) => processes.process(run, container, role, restartCount),
      *stop(container, status) {
        return within(yield* processes.stop(run, container, status), graceMs);
      },
      probe: (container, probe) => verdictOf(pod, container, probe, this.settings.disks, now),
      event: (event) => void events.push(event),
      refusesResize: () => this.refusesResize(pod),
    };
    const { status, due } = await soonOrInSlices(nextStatus(world));
    await this.write(pod, status, node, events);
    const isDeferred = status.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Deferred') === true;
    if (isDeferred) this.deferred.set(key, node.name);
    else this.deferred.delete(key);
    const next = Math.min(due ?? Number.POSITIVE_INFINITY, deadline ?? Number.POSITIVE_INFINITY);
    const waitMs = Math.max(next - clock.now(), 1);
    if (waitMs > SOURCES_MS) memory.sources = undefined;
    if (Number.isFinite(waitMs)) return waitMs;
    // Nothing more happens by itself: what the status says is enough from now on.
    if (!memory.hasFiles && memory.writes === writes && status.phase === 'Running') this.memories.delete(key);
    return undefined;
  }
  private runOf(key: string, pod: WorkloadPod): PodRun & ChosenLifecycle {
    return { ...this.settings.choose(pod), pod, memory: this.memoryOf(key, pod), ofNamespace: this.settings.ofNamespace(pod) };
  }
  private stopped(run: PodRun, now: number): StoppedWorld {
    const { pod, memory } = run;
    const message: StoppedWorld['message'] = (...of) => this.processes.message(run, ...of);
    return { pod, now, memory, message };
  }

  /** Why the node does not take the pod; undefined once it has. */
  private rejected(pod: WorkloadPod, memory: PodMemory): Rejection | undefined {
    if (pod.status?.startTime != null || memory.time(TAKEN) !== undefined) return undefined;
    const name = pod.spec?.nodeName ?? '';
    const object = isScheduled(pod) ? undefined : this.fleet.nodes.get('', name);
    const isTaken = (other: WorkloadPod): boolean =>
      other.metadata.uid !== pod.metadata.uid &&
      !isFinished(other) &&
      (other.status?.startTime != null || isScheduled(other) || this.memories.get(keyOf(other))?.time(TAKEN) !== undefined);
    const podRejection = object === undefined ? undefined : rejection(pod, object, [...this.index.onNode(name)].filter(isTaken));
    if (podRejection === undefined) memory.note(TAKEN, this.context.clock.now());
    return podRejection;
  }
  private addressOf(pod: WorkloadPod, node: SimulatedNode): string | undefined {
    return pod.spec?.hostNetwork === true ? node.hostIP : node.addresses.take(pod.metadata.uid ?? '');
  }
  private blocked(pod: WorkloadPod, node: SimulatedNode, container: Container, missing: Missing, events: NodeEvent[]): Blocked | undefined {
    const blockage = missing.get('') ?? missing.get(container.name);
    if (blockage !== undefined) {
      const isConfig = blockage.reason === 'CreateContainerConfigError';
      const message = blockage.event ?? '';
      const reason = isConfig ? 'Failed' : 'FailedMount';
      if (!events.some((event) => event.message === message))
        events.push({ type: 'Warning', reason, message, ...(isConfig && { fieldPath: fieldPathOf(container, roleOf(pod, container)) }) });
      return blockage;
    }
    if (pod.status?.podIP !== undefined || this.addressOf(pod, node) !== undefined) return undefined;
    events.push({ type: 'Warning', reason: 'FailedCreatePodSandBox', message: 'no IP addresses available in the range of the node' });
    return { reason: 'ContainerCreating' };
  }
  private async terminate(key: string, pod: WorkloadPod, node: SimulatedNode): Promise<number | undefined> {
    const { client, clock } = this.context;
    const { name = '', namespace = '', uid = '', finalizers = [], deletionGracePeriodSeconds } = pod.metadata;
    const isHeld = finalizers.length > 0;
    const run = this.runOf(key, pod);
    const { memory } = run;
    await this.processes.prepare(pod, memory);
    const now = clock.now();
    const isNew = memory.time('deleted') === undefined;
    const began = memory.since('deleted', now);
    const graceMs = Number(deletionGracePeriodSeconds ?? GRACE_SECONDS) * 1000;
    const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
    const statusOf = ({ name: container }: Container) => statuses.find((status) => status.name === container);
    const isRunning = (container: Container): boolean => statusOf(container)?.state?.running != null;
    const main = (pod.spec?.containers ?? []).filter(isRunning);
    // Sidecars are stopped after the others, the last one first.
    const sidecars = (pod.spec?.initContainers ?? []).filter((container) => isSidecar(container) && isRunning(container)).reverse();
    const running = [...main, ...sidecars];
    const stops = new Map<string, Stop>();
    const stopOf = async (container: Container): Promise<Stop> => {
      const find = (): Work<Stop> => this.processes.stop(run, container, statusOf(container) as ContainerStatus);
      return soonOrInSlices(memory.stop(`${container.name}/deleted`, find));
    };
    for (const container of main) stops.set(container.name, within(await stopOf(container), graceMs));
    let stopMs = Math.max(0, ...[...stops.values()].map(({ afterMs }) => afterMs));
    for (const container of sidecars) {
      const { afterMs, exitCode } = await stopOf(container);
      const stop = within({ afterMs: stopMs + afterMs, exitCode }, graceMs);
      stops.set(container.name, stop);
      stopMs = stop.afterMs;
    }
    if (isNew)
      this.emit(
        pod,
        node,
        running.map((container) => stopping(pod, container)),
      );
    const due = began + stopMs;
    if (now < due) return due - now;
    // A pod that only this deletion keeps is gone at once: nobody would see the status.
    if (running.length > 0 && (isHeld || stopMs > 0)) {
      const exitCodeOf = ({ name: container }: Container): number => stops.get(container)?.exitCode ?? 0;
      await this.write(pod, await soonOrInSlices(stoppedStatus(this.stopped(run, now), exitCodeOf)), node, []);
    }
    // A finalizer keeps it from now on.
    if (isHeld && (deletionGracePeriodSeconds === 0 || memory.time('removed') !== undefined)) return undefined;
    await client.delete(refs.pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } }).catch(unlessGoneOrReplaced);
    memory.note('removed', now);
    return undefined;
  }

  private memoryOf(key: string, { metadata }: WorkloadPod): PodMemory {
    const knownMemory = this.memories.get(key);
    if (knownMemory?.uid === metadata.uid && knownMemory !== undefined) return knownMemory;
    const newMemory = new PodMemory(metadata.uid ?? '');
    this.memories.set(key, newMemory);
    return newMemory;
  }

  /** Writes what changed, and reports the events once it is written. */
  private async write(pod: WorkloadPod, status: Status, node: SimulatedNode, events: readonly NodeEvent[]): Promise<void> {
    const { namespace = '', name = '', resourceVersion = '' } = pod.metadata;
    const changed = changedFields(pod.status ?? {}, status);
    if (changed !== undefined) {
      const patch = { metadata: { resourceVersion }, status: changed };
      const patched = await this.context.client.patchBriefly(refs.pods, namespace, name, patch, 'status').catch(unlessGone);
      if (patched === undefined) return;
      await this.pods.whenArrived(patched);
    }
    this.emit(pod, node, events);
  }
  private emit(pod: WorkloadPod, node: SimulatedNode, events: readonly NodeEvent[]): void {
    if (!this.settings.events) return;
    const about = { apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata };
    for (const { type, reason, message, fieldPath } of events)
      if (this.budget.take(type)) this.recorder.event(about, type, reason, message, fieldPath, node.name);
  }
}

const stopping = (pod: WorkloadPod, container: Container): NodeEvent => ({
  type: 'Normal',
  reason: 'Killing',
  message: `Stopping container ${container.name}`,
  fieldPath: fieldPathOf(container, roleOf(pod, container)),
});

/** Fields of the status that differ; undefined if none does. */
function changedFields(old: Status, next: Status): Partial<Status> | undefined {
  const changed = Object.entries(next).filter(([name, value]) => !equal(value, own(old as Record<string, unknown>, name)));
  return changed.length > 0 ? (Object.fromEntries(changed) as Partial<Status>) : undefined;
}

/** When a pod with a deadline of its own has to stop. */
function deadlineOf({ spec, status }: WorkloadPod): number | undefined {
  const seconds = spec?.activeDeadlineSeconds;
  return seconds == null || status?.startTime == null ? undefined : timeMillis(status.startTime) + Number(seconds) * 1000;
}
