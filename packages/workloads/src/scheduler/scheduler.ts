/**
 * The scheduler: pods without a node are decided one after another, and bound while the next are decided. A pod counts on its node
 * from the decision on, whether or not the server has it already.
 */

import { keyOf } from '@plat-dev/client/informer';
import { own } from '@plat-dev/lib/own';
import type { Random } from '@plat-dev/lib/random';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../shared/pods.ts';
import { Cause } from './cause.ts';
import type { Cluster } from './cluster.ts';
import type { Decider, Failure, Placement } from './decide.ts';
import { untoleratedTaint } from './node-match.ts';
import { selects } from './pod-terms.ts';
import { type Budget, type Candidate, preempt } from './preemption.ts';
import type { NodeChange, WireNode } from './read-node.ts';
import type { NodeState, PodClass } from './state.ts';
import { PodState } from './state.ts';
import type { WaitingPods } from './waiting-pods.ts';

/** What the scheduler has decided; done in the background. */
export interface Effects {
  /** Binds a pod to its node; `bound` or `bindingFailed` is called at the end. */
  bind(pod: PodState, placement: Placement): void;
  /** Reports why a pod has no node. `nominated`: the node to write into its status; undefined leaves what is there. */
  report(pod: PodState, reason: string, message: string, nominated: string | undefined): void;
  /** Deletes the pods that a pod displaces. */
  evict(pod: PodState, candidate: Candidate): void;
  /** The pod is deleted: nothing more is to be done for it. */
  gone(pod: PodState): void;
}

export interface SchedulerOptions {
  readonly cluster: Cluster;
  readonly decider: Decider;
  readonly waiting: WaitingPods;
  readonly random: Random;
  readonly effects: Effects;
  /** Names of schedulers that this one acts as. Pods of others are only counted. */
  readonly names: ReadonlySet<string>;
  readonly budgets: () => Iterable<Budget>;
  readonly unschedulableTaint: string;
}

/** Terms that are looked at before the work yields. */
const TERMS_A_STEP = 16;

/** What a pod that has left its node may help. */
const freed = Cause.resources | Cause.ports | Cause.podAffinity | Cause.spread | Cause.volumes;
const everything = freed | Cause.nodes;

export class Scheduler {
  private readonly options: SchedulerOptions;
  private readonly pods = new Map<string, PodState>();
  private prepared: { readonly pod: PodState; readonly podClass: PodClass } | undefined;
  /** Classes of pods that got a node since pods that wait for such were looked at. */
  private readonly arrivedClasses = new Set<PodClass>();
  /** Of failures that pods of a class share, why no deletion of other pods helps. */
  private readonly noPreemption = new WeakMap<Failure, string>();

  constructor(options: SchedulerOptions) {
    this.options = options;
  }
  get(key: string): PodState | undefined {
    return this.pods.get(key);
  }

  // ---- decisions -------------------------------------------------------------------------------------------------

  /** What the next decision looks up, in steps: the decision itself is made at once. */
  *prepare(): Work<void> {
    const { waiting, decider } = this.options;
    yield* this.wakeSocial();
    const pod = waiting.first;
    this.prepared = pod === undefined ? undefined : { pod, podClass: pod.class };
    if (pod !== undefined) yield* decider.prepare(pod.class);
  }
  /** Decides about the pod that was prepared, even if a more urgent one came meanwhile, or about the next; false if none waits. */
  next(): boolean {
    const { waiting, decider } = this.options;
    const { prepared } = this;
    this.prepared = undefined;
    if (prepared === undefined) atOnce(this.wakeSocial());
    const pod = waiting.take(prepared?.pod);
    if (pod === undefined) return !waiting.isEmpty;
    if (prepared !== undefined && prepared.podClass !== pod.class) {
      // It has other labels than those that were looked up, and waits so that one that changes all the time holds up no others.
      waiting.retry(pod);
      return true;
    }
    try {
      const decision = decider.decide(pod);
      if ('node' in decision) this.choose(pod, decision);
      else this.fail(pod, decision);
    } catch (error) {
      // A pod that cannot be decided must not keep others waiting.
      if (pod.node === undefined) waiting.retry(pod);
      throw error;
    }
    return true;
  }
  private choose(pod: PodState, placement: Placement): void {
    const { cluster, effects } = this.options;
    cluster.nominate(pod, undefined);
    cluster.put(pod, placement.node);
    pod.assumed = true;
    pod.place = 'binding';
    effects.bind(pod, placement);
  }
  private fail(pod: PodState, failure: Failure): void {
    const { cluster, waiting, effects } = this.options;
    const outcome = failure.misfits.size === 0 ? '' : this.preemption(pod, failure);
    waiting.park(pod, failure.causes);
    if (typeof outcome === 'object') {
      for (const other of [...outcome.node.nominated]) if (other.priority < pod.priority) this.withdraw(other);
      cluster.nominate(pod, outcome.node);
      effects.evict(pod, outcome);
      effects.report(pod, 'Unschedulable', failure.message, outcome.node.name);
      return;
    }
    const keeps = outcome.startsWith('preemption: not eligible');
    if (!keeps) cluster.nominate(pod, undefined);
    effects.report(pod, 'Unschedulable', outcome === '' ? failure.message : `${failure.message} ${outcome}`, keeps ? undefined : '');
  }
  private preemption(pod: PodState, failure: Failure): Candidate | string {
    const shared = pod.nominated === undefined && pod.object.spec?.preemptionPolicy !== 'Never';
    const knownReason = shared ? this.noPreemption.get(failure) : undefined;
    if (knownReason !== undefined) return knownReason;
    const { decider, random, budgets } = this.options;
    const outcome = preempt({ decider, random, budgets }, pod, failure);
    if (shared && typeof outcome === 'string') this.noPreemption.set(failure, outcome);
    return outcome;
  }
  /** A more important pod gets the room that this one was to have. */
  private withdraw(pod: PodState): void {
    this.options.cluster.nominate(pod, undefined);
    this.options.effects.report(pod, '', '', '');
    if (pod.place === 'parked') this.options.waiting.retry(pod);
  }

  /** The server has bound the pod; it arrives with its node. */
  bound(pod: PodState): void {
    if (pod.place === 'binding') pod.place = 'none';
  }
  /** The pod is not bound, and waits again. Without a message it is no longer there, and its deletion arrives soon. */
  bindingFailed(pod: PodState, message: string | undefined): void {
    if (this.pods.get(pod.key) !== pod || !pod.assumed) return;
    const { cluster, waiting, effects } = this.options;
    pod.assumed = false;
    cluster.take(pod);
    this.wakeFreed();
    if (pod.object.metadata.deletionTimestamp !== undefined) pod.place = 'none';
    else waiting.retry(pod);
    if (message !== undefined) effects.report(pod, 'SchedulerError', `binding rejected: ${message}`, '');
  }

  // ---- pods ------------------------------------------------------------------------------------------------------

  podChanged(object: WorkloadPod): void {
    const key = keyOf(object);
    const { phase } = object.status ?? {};
    const knownPod = this.pods.get(key);
    const nodeName = object.spec?.nodeName ?? '';
    const isOver = phase === 'Succeeded' || phase === 'Failed';
    // A pod with scheduling gates is not looked at before they are gone.
    const isGated = (object.spec?.schedulingGates ?? []).length > 0;
    const isOthers = nodeName === '' && (isGated || !this.options.names.has(object.spec?.schedulerName ?? ''));
    const isAnother = knownPod !== undefined && knownPod.uid !== (object.metadata.uid ?? '');
    if (isOver || isOthers || isAnother) this.podGone(key);
    // Pods that are over use nothing.
    if (isOver || isOthers) return;
    const pod = this.pods.get(key);
    if (pod === undefined) this.podCame(key, object, nodeName);
    else if (nodeName !== '') this.podPlaced(pod, object, nodeName);
    else this.podUpdated(pod, object);
  }
  podGone(key: string): void {
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    const { cluster, waiting } = this.options;
    this.pods.delete(key);
    waiting.remove(pod);
    this.options.effects.gone(pod);
    const wasNominated = pod.nominated !== undefined;
    cluster.nominate(pod, undefined);
    const wasPlaced = pod.node !== undefined;
    cluster.take(pod);
    this.leave(pod.class);
    if (wasPlaced || wasNominated) this.wakeFreed();
  }

  private podCame(key: string, object: WorkloadPod, nodeName: string): void {
    const { cluster, waiting } = this.options;
    const pod = new PodState(key, object, cluster.enter(object));
    this.pods.set(key, pod);
    if (nodeName !== '') {
      cluster.put(pod, cluster.nodeOf(nodeName));
      this.arrived(pod);
      return;
    }
    if (object.metadata.deletionTimestamp !== undefined) return;
    // Another scheduler, before a restart, made room for it.
    const nominated = object.status?.nominatedNodeName ?? '';
    if (nominated !== '') cluster.nominate(pod, cluster.nodeOf(nominated));
    waiting.add(pod);
  }
  /** A pod with a node: one that was chosen here, or by another scheduler. */
  private podPlaced(pod: PodState, object: WorkloadPod, nodeName: string): void {
    const { cluster, waiting } = this.options;
    const arrived = pod.assumed || pod.node === undefined;
    pod.object = object;
    if (pod.node?.name !== nodeName) {
      waiting.remove(pod);
      cluster.nominate(pod, undefined);
      cluster.take(pod);
      cluster.put(pod, cluster.nodeOf(nodeName));
    }
    if (pod.assumed) {
      pod.assumed = false;
      pod.place = 'none';
    }
    const changed = this.reclassify(pod, object);
    if (arrived || changed) this.arrived(pod);
    if (changed) this.options.waiting.wake(Cause.podAffinity | Cause.spread);
  }
  private podUpdated(pod: PodState, object: WorkloadPod): void {
    const { cluster, waiting } = this.options;
    pod.object = object;
    if (pod.assumed) return;
    if (object.metadata.deletionTimestamp !== undefined) {
      waiting.remove(pod);
      cluster.nominate(pod, undefined);
      return;
    }
    const oldClass = pod.class;
    pod.class = cluster.enter(object);
    const changed = pod.class !== oldClass;
    // Its place among those that wait depends on its priority, which never changes.
    this.leave(oldClass);
    if (changed && pod.place === 'parked') waiting.retry(pod);
  }
  /** Labels and deletion are all that can change of a pod that has a node. */
  private reclassify(pod: PodState, object: WorkloadPod): boolean {
    const { cluster } = this.options;
    const { labels, terminating } = pod.class;
    if (terminating === (object.metadata.deletionTimestamp !== undefined) && sameLabels(labels, object.metadata.labels)) return false;
    const { node } = pod;
    const oldClass = pod.class;
    cluster.take(pod);
    pod.class = cluster.enter(object);
    if (node !== undefined) cluster.put(pod, node);
    this.leave(oldClass);
    return true;
  }
  private leave(podClass: PodClass): void {
    this.options.cluster.leave(podClass);
    if (podClass.size === 0) this.options.decider.forget(podClass);
  }
  private wakeFreed(): void {
    this.options.waiting.wake(freed);
  }
  /** That can help pods that want to be near it, or far from others. */
  private arrived({ class: podClass }: PodState): void {
    if (this.options.waiting.social.size === 0) return;
    this.arrivedClasses.add(podClass);
    this.options.waiting.look();
  }
  /** In steps: each of the pods that wait may have many terms. */
  private *wakeSocial(): Work<void> {
    const { waiting } = this.options;
    for (const placedClass of this.arrivedClasses) {
      this.arrivedClasses.delete(placedClass);
      const isHelped = new Map<PodClass, boolean>();
      for (const pod of waiting.social) {
        const { class: podClass } = pod;
        const mayHelp = isHelped.get(podClass) ?? (yield* this.isWanted(podClass, placedClass));
        if (mayHelp && waiting.social.has(pod)) waiting.retry(pod);
        if (!isHelped.has(podClass)) yield;
        isHelped.set(podClass, mayHelp);
      }
    }
  }
  private *isWanted({ terms, hardSpread = [], namespace }: PodClass, placedClass: PodClass): Work<boolean> {
    const { namespaceLabels } = this.options.cluster;
    let seen = 0;
    for (const term of terms.affinity) {
      if (selects(term, placedClass, namespaceLabels)) return true;
      if (++seen % TERMS_A_STEP === 0) yield;
    }
    return namespace === placedClass.namespace && hardSpread.some(({ selector }) => selector.matches(placedClass.labels));
  }

  // ---- nodes and the rest ----------------------------------------------------------------------------------------

  nodeChanged(object: WireNode): void {
    const { cluster, waiting } = this.options;
    const isNew = cluster.get(object.metadata.name ?? '') === undefined;
    const { node, change } = cluster.setNode(object);
    const causes = isNew ? everything : causesOf(change);
    if (causes === 0) return;
    const fitsByClass = new Map<PodClass, boolean>();
    waiting.wake(causes, ({ class: podClass, causes: why }) => {
      // Others may fit elsewhere when pods are counted in other domains.
      if ((why & causes & (Cause.podAffinity | Cause.spread)) !== 0) return true;
      let fits = fitsByClass.get(podClass);
      if (fits === undefined) {
        fits = this.mayUse(podClass, node);
        fitsByClass.set(podClass, fits);
      }
      return fits;
    });
  }
  nodeGone(name: string): void {
    this.options.cluster.removeNode(name);
    this.options.waiting.wake(Cause.spread);
  }
  namespaceChanged(name: string, labels: Readonly<Record<string, string>> | undefined): void {
    if (this.options.cluster.setNamespace(name, labels)) this.options.waiting.wake(Cause.podAffinity);
  }
  /** A volume, a storage class or a driver. A claim concerns the pods that use it. */
  volumesChanged(claim?: { readonly namespace: string; readonly name: string }): void {
    this.options.cluster.version++;
    this.options.waiting.wake(
      claim === undefined ? Cause.volumes : Cause.volumes | Cause.claims,
      ({ class: { namespace, claims } }) =>
        claim === undefined || (namespace === claim.namespace && claims.some(({ name }) => name === claim.name)),
    );
  }
  private mayUse({ tolerations, nodes }: PodClass, node: NodeState): boolean {
    const marks = node.unschedulable ? [{ key: this.options.unschedulableTaint, effect: 'NoSchedule' }] : [];
    if (untoleratedTaint(tolerations, [...marks, ...node.taints]) !== undefined) return false;
    return nodes === undefined || nodes(node);
  }
}

function causesOf({ labels, taints, unschedulable, allocatable }: NodeChange): number {
  let causes = 0;
  if (labels) causes |= Cause.nodes | Cause.podAffinity | Cause.spread | Cause.volumes;
  if (taints || unschedulable) causes |= Cause.nodes;
  if (allocatable) causes |= Cause.resources;
  return causes;
}

type PodLabels = Readonly<Record<string, string>> | undefined;
function sameLabels(a: PodLabels = {}, b: PodLabels = {}): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => own(a, key) === own(b, key));
}
