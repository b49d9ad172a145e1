/** Runs daemon sets: a pod on every node that fits. */
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { isTerminating as isNamespaceTerminating } from '@plat-dev/controllers/runtime/manager';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { SelectorIndex } from '@plat-dev/controllers/runtime/selector-index';
import { equal } from '@plat-dev/lib/equal';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { noLabel } from '@plat-dev/meta/labels';
import { History, type Owner } from '../revisions/history.ts';
import { type Revision, revisionLabel, sameRevisions, surplusRevisions } from '../revisions/revision.ts';
import { scaledUp } from '../shared/amounts.ts';
import { claim } from '../shared/claim.ts';
import { EventRecorder } from '../shared/events.ts';
import { PodControl, slowStart } from '../shared/pod-control.ts';
import { phaseOf } from '../shared/pod-state.ts';
import { controllerOf, type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { type WorkloadRefs, workloadRefs } from '../shared/refs.ts';
import { sameStatus } from '../shared/status.ts';
import { aboutSet, type DaemonSetObject, daemonPod, templateOf } from './daemon-pod.ts';
import { DaemonState, type Totals } from './daemon-state.ts';
import type { NodeView, Rules } from './node-view.ts';
import { isPlacedDifferently, type NodeObject } from './placement.ts';
import { Retries } from './retries.ts';
import { type Changes, rollingChanges, rollingLimits } from './rolling.ts';

export function daemonSetController(feature: (name: string) => boolean): Controller {
  return {
    name: 'daemonset',
    account: 'daemon-set-controller',
    needs: { group: 'apps', plural: 'daemonsets' },
    start: (context) => new DaemonSets(context, feature).start(),
  };
}

/** Sets that are processed at a time. */
const WORKERS = 8;
/** Pods that are created, and that are deleted, before the set is looked at again. */
const MOST_AT_ONCE = 250;

interface Followed {
  readonly key: string;
  readonly state: DaemonState;
}

class DaemonSets {
  private readonly context: ControllerContext;
  private readonly hasSurge: boolean;
  private readonly names: WorkloadRefs;
  private readonly sets: Informer<DaemonSetObject>;
  private readonly selecting: SelectorIndex<DaemonSetObject>;
  private readonly nodes: Informer<NodeObject>;
  private readonly pods: PodIndex;
  private readonly history: History;
  private readonly recorder: EventRecorder;
  private readonly control: PodControl;
  private readonly queue: WorkQueue;
  private readonly retries = new Retries();
  /** By the uid of the set. */
  private readonly followed = new Map<string, Followed>();
  /** Keys of sets that may have pods to adopt or to release. */
  private readonly claimsDue = new Set<string>();

  constructor(context: ControllerContext, feature: (name: string) => boolean) {
    const { client, clock, informers, identity } = context;
    this.context = context;
    this.hasSurge = feature('DaemonSetUpdateSurge');
    this.names = workloadRefs(identity);
    this.sets = informers.of<DaemonSetObject>(this.names.daemonSets);
    this.nodes = informers.of<NodeObject>(refs.nodes);
    this.selecting = new SelectorIndex(this.sets, ({ spec }) => spec?.selector);
    this.pods = podIndex(informers);
    this.history = new History({ context, resource: this.names.controllerRevisions, kind: 'DaemonSet', hashLabel: revisionLabel });
    this.recorder = new EventRecorder({ client, clock, component: 'daemonset-controller' });
    this.control = new PodControl(client, this.recorder);
    this.queue = context.queue((key) => this.sync(key), {
      workers: WORKERS,
      after: [this.sets.synced, this.nodes.synced, this.pods.informer.synced, this.history.synced],
    });
  }
  start(): void {
    const look = (set: DaemonSetObject): void => this.queue.add(keyOf(set));
    this.sets.onChange(({ type, object }) => {
      const key = keyOf(object);
      if (type === 'added') this.claimsDue.add(key);
      if (type === 'deleted') {
        this.claimsDue.delete(key);
        this.followed.delete(object.metadata.uid ?? '');
      } else this.queue.add(key);
    });
    this.history.onChange(
      (key) => this.queue.add(key),
      (namespace, labels) => this.selecting.forLabels(namespace, labels, look),
    );
    this.pods.informer.onChange(({ type, object, old }) => {
      if (old !== undefined) this.ofPod(old)?.removePod(old);
      if (type !== 'deleted') this.ofPod(object)?.putPod(object);
      this.podChanged(object, type === 'deleted' ? undefined : (old ?? null));
      if (old !== undefined && controllerOf(old)?.uid !== controllerOf(object)?.uid) this.podChanged(old, undefined);
    });
    this.nodes.onChange(({ type, object, old }) => {
      if (type === 'modified' && old !== undefined && !isPlacedDifferently(old, object)) return;
      for (const { key, state } of this.followed.values()) {
        const matters = type === 'deleted' ? state.removeNode(object.metadata.name ?? '') : state.putNode(object);
        if (matters) this.queue.add(key);
      }
    });
  }

  private readonly mayClaim = (set: DaemonSetObject): void => {
    this.claimsDue.add(keyOf(set));
    this.queue.add(keyOf(set));
  };
  private ofPod(pod: WorkloadPod): DaemonState | undefined {
    const owner = controllerOf(pod);
    return owner?.kind === 'DaemonSet' ? this.followed.get(owner.uid)?.state : undefined;
  }
  /** `oldPod`: the pod as it was, null for a new one, undefined for one that is gone. */
  private podChanged(pod: WorkloadPod, oldPod: WorkloadPod | null | undefined): void {
    const { namespace = '', labels } = pod.metadata;
    const owner = controllerOf(pod);
    if (owner !== undefined) {
      if (owner.kind !== 'DaemonSet') return;
      const key = `${namespace}/${owner.name}`;
      if (oldPod != null && !equal(oldPod.metadata.labels, labels)) this.claimsDue.add(key);
      this.queue.add(key);
    } else if (oldPod !== undefined) {
      this.selecting.forLabels(namespace, labels, this.mayClaim);
    }
  }

  private async sync(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key);
    const set = this.sets.get(namespace, name);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
    const selector = this.selecting.selectorOf(set) ?? noLabel;
    if (selector.everything) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.recorder.event(aboutSet(set), 'Warning', 'SelectingAll', message);
      return undefined;
    }
    const owner = this.ownerOf(set, (labels) => selector.matches(labels));
    await this.claimPods(set, owner);
    const revisions = await this.history.of(owner);
    const { revision, collisions } = await this.history.current(owner, revisions, set.status?.collisionCount ?? 0);
    await this.joinRevisions(set, revisions, revision);
    const hash = revision.metadata.labels?.[revisionLabel] ?? '';
    const state = this.stateOf(set);
    const now = this.context.clock.now();
    const rules = { set, hash, surges: this.surges(set), now };
    state.refresh(rules);
    const { changes, wait } = this.plan(set, state, now);
    const error = await this.run(set, state, rules, changes);
    state.refresh({ ...rules, now: this.context.clock.now() });
    await this.writeStatus(set, state.totals(), collisions);
    await this.deleteRevisions(set, state, revisions, revision);
    if (error !== undefined) throw error;
    const next = (state.nextAvailable ?? Number.POSITIVE_INFINITY) - this.context.clock.now();
    const soonest = Math.min(next, wait ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(soonest) ? soonest : undefined;
  }
  private ownerOf(set: DaemonSetObject, selects: Owner['selects']): Owner {
    const { namespace = '', name = '', uid } = set.metadata;
    return {
      about: aboutSet(set),
      template: templateOf(set),
      selects,
      mayAdopt: async () => {
        const live = await this.context.client.find<DaemonSetObject>(this.names.daemonSets, namespace, name);
        return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined;
      },
    };
  }
  /** Adopts and releases pods where something happened that calls for it. */
  private async claimPods(set: DaemonSetObject, { about, selects, mayAdopt }: Owner): Promise<void> {
    const { namespace = '', uid = '' } = set.metadata;
    const key = keyOf(set);
    if (!this.claimsDue.delete(key)) return;
    try {
      const pods = await claim<WorkloadPod>({
        client: this.context.client,
        resource: refs.pods,
        owner: about,
        matches: ({ metadata }) => selects(metadata.labels),
        mayAdopt,
        candidates: [...this.pods.ownedBy(uid), ...this.pods.orphansIn(namespace)],
      });
      await Promise.all(pods.map((pod) => this.pods.informer.whenArrived(pod)));
    } catch (error) {
      this.claimsDue.add(key);
      throw error;
    }
  }
  /** Revisions of the same template become one: pods of the others get its hash. */
  private async joinRevisions(set: DaemonSetObject, revisions: readonly Revision[], keptRevision: Revision): Promise<void> {
    const same = await inSlices(sameRevisions(revisions, keptRevision.data), new Slices());
    const others = same.filter(({ metadata }) => metadata.name !== keptRevision.metadata.name);
    if (others.length === 0) return;
    const hashes = new Set(others.map(({ metadata }) => metadata.labels?.[revisionLabel]));
    const hash = keptRevision.metadata.labels?.[revisionLabel];
    for (const pod of [...this.pods.ownedBy(set.metadata.uid ?? '')]) {
      if (!hashes.has(pod.metadata.labels?.[revisionLabel])) continue;
      const { namespace = '', name = '', uid } = pod.metadata;
      const patch = { metadata: { uid, labels: { [revisionLabel]: hash } } };
      await this.pods.informer.whenArrived(await this.context.client.patch(refs.pods, namespace, name, patch));
    }
    await this.history.delete(others);
  }
  private stateOf(set: DaemonSetObject): DaemonState {
    const { uid = '' } = set.metadata;
    let followed = this.followed.get(uid);
    if (followed === undefined) {
      const state = new DaemonState(this.context.identity, this.nodes.list(), this.pods.ownedBy(uid));
      followed = { key: keyOf(set), state };
      // Nothing would remove that of a set that was deleted meanwhile.
      if (this.sets.get(set.metadata.namespace ?? '', set.metadata.name ?? '')?.metadata.uid === uid) this.followed.set(uid, followed);
    }
    return followed.state;
  }
  private surges({ spec }: DaemonSetObject): boolean {
    const { type, rollingUpdate } = spec?.updateStrategy ?? {};
    return this.hasSurge && type === 'RollingUpdate' && scaledUp(rollingUpdate?.maxSurge ?? 0, 100) > 0;
  }

  /** What single nodes need; where they need nothing, the next pods of an update. */
  private plan(set: DaemonSetObject, state: DaemonState, now: number): { changes: Changes; wait: number | undefined } {
    const create: string[] = [];
    const remove: WorkloadPod[] = [];
    let wait: number | undefined;
    for (const [node, view] of state.views()) {
      if (view.wantsPod) create.push(node);
      remove.push(...view.surplus);
      const retryMs = this.finished(set, node, view, remove, now);
      if (retryMs > 0) wait = Math.min(wait ?? retryMs, retryMs);
    }
    if (create.length > 0 || remove.length > 0) return { changes: { create, remove }, wait };
    const { type, rollingUpdate } = set.spec?.updateStrategy ?? {};
    if (type !== 'RollingUpdate') return { changes: { create, remove }, wait };
    const { maxUnavailable, maxSurge = 0 } = rollingUpdate ?? {};
    const limits = { ...(maxUnavailable !== undefined && { maxUnavailable }), maxSurge: this.hasSurge ? maxSurge : 0 };
    return { changes: rollingChanges(state.views(), rollingLimits(limits, state.totals().desired)), wait };
  }
  /** Pods that failed on a node are deleted, which an event says, unless that was done a moment ago. Returns how long to wait. */
  private finished(set: DaemonSetObject, node: string, { finished }: NodeView, remove: WorkloadPod[], now: number): number {
    if (finished.length === 0) return 0;
    const retryMs = this.retries.next(`${set.metadata.uid}/${node}`, now);
    if (retryMs > 0) return retryMs;
    for (const pod of finished) {
      const { namespace, name } = pod.metadata;
      const [reason, word, end] =
        phaseOf(pod) === 'Failed' ? ['FailedDaemonPod', 'failed', 'kill'] : ['SucceededDaemonPod', 'succeeded', 'delete'];
      const message = `Found ${word} daemon pod ${namespace}/${name} on node ${node}, will try to ${end} it`;
      this.recorder.event(aboutSet(set), reason === 'FailedDaemonPod' ? 'Warning' : 'Normal', reason, message);
      remove.push(pod);
    }
    return 0;
  }
  /** Creates and deletes pods, and waits until the informer has them. Returns the first error. */
  private async run(set: DaemonSetObject, state: DaemonState, { hash }: Rules, { create, remove }: Changes): Promise<unknown> {
    const about = aboutSet(set);
    const { informer } = this.pods;
    const { tolerations } = state.placement;
    const created = await slowStart(Math.min(create.length, MOST_AT_ONCE), async (i) => {
      await informer.whenArrived(await this.control.create(daemonPod(set, create[i] as string, hash, tolerations), about));
    });
    const deleted = await slowStart(Math.min(remove.length, MOST_AT_ONCE), async (i) => {
      const pod = remove[i] as WorkloadPod;
      await this.control.delete(pod, about);
      await informer.gone(pod);
    });
    // Nothing can be created in a namespace that is going.
    return isNamespaceTerminating(created.error) ? deleted.error : (created.error ?? deleted.error);
  }

  private async writeStatus(set: DaemonSetObject, totals: Totals, collisions: number): Promise<void> {
    const { desired, current, misscheduled, ready, available, updated } = totals;
    const { conditions, collisionCount } = set.status ?? {};
    const status = {
      ...(conditions !== undefined && { conditions }),
      observedGeneration: set.metadata.generation ?? 0,
      desiredNumberScheduled: desired,
      currentNumberScheduled: current,
      numberMisscheduled: misscheduled,
      updatedNumberScheduled: updated,
      numberReady: ready,
      numberAvailable: available,
      numberUnavailable: desired - available,
      ...((collisions > 0 || collisionCount !== undefined) && { collisionCount: collisions }),
    };
    if (sameStatus(set.status, status)) return;
    const updatedSet = await this.context.client.update(this.names.daemonSets, { ...set, status } as DaemonSetObject, 'status');
    await this.sets.whenArrived(updatedSet);
  }
  private async deleteRevisions(set: DaemonSetObject, state: DaemonState, revisions: readonly Revision[], newest: Revision): Promise<void> {
    const limit = set.spec?.revisionHistoryLimit ?? 10;
    const old = revisions.filter(({ metadata }) => metadata.name !== newest.metadata.name);
    if (old.length <= limit) return;
    const used = new Set<string | undefined>();
    for (const { metadata } of state.pods()) used.add(metadata.labels?.[revisionLabel]);
    await this.history.delete(surplusRevisions(old, ({ metadata }) => used.has(metadata.labels?.[revisionLabel]), limit, 'all'));
  }
}
