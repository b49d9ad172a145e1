/** Runs stateful sets: pods with an identity of their own, in order, and claims that stay theirs. */
import { isConflict, isNotFound } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { SelectorIndex } from '@plat-dev/controllers/runtime/selector-index';
import { domainName } from '@plat-dev/meta/identity';
import { noLabel } from '@plat-dev/meta/labels';
import { History, type Owner } from '../revisions/history.ts';
import { type Revision, sortRevisions, surplusRevisions } from '../revisions/revision.ts';
import { claim } from '../shared/claim.ts';
import { EventRecorder } from '../shared/events.ts';
import { messageOf, slowStart } from '../shared/pod-control.ts';
import { controllerOf, type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { type WorkloadRefs, workloadRefs } from '../shared/refs.ts';
import { sameStatus } from '../shared/status.ts';
import { ClaimControl } from './claims.ts';
import { aboutSet, memberOf, revisionOf, type StatefulSetObject, templateOf } from './members.ts';
import { type Action, type Counts, countAction, type Plan, planStatefulSet } from './plan.ts';
import { statefulSetStatus } from './status.ts';

export function statefulSetController(feature: (name: string) => boolean): Controller {
  return {
    name: 'statefulset',
    account: 'statefulset-controller',
    needs: { group: 'apps', plural: 'statefulsets' },
    start: (context) => new StatefulSets(context, feature).start(),
  };
}

/** Sets that are processed at a time: most of the time they wait for answers. */
const WORKERS = 16;
/** A member whose claim is being deleted is looked at again after this time, if the deletion is not noticed. */
const CLAIM_WAIT_MS = 10_000;

interface Revisions {
  readonly all: readonly Revision[];
  readonly current: Revision;
  readonly update: Revision;
  readonly collisions: number;
}

class StatefulSets {
  private readonly context: ControllerContext;
  private readonly feature: (name: string) => boolean;
  private readonly sets: Informer<StatefulSetObject>;
  private readonly selecting: SelectorIndex<StatefulSetObject>;
  private readonly pods: PodIndex;
  private readonly history: History;
  private readonly recorder: EventRecorder;
  private readonly claims: ClaimControl;
  private readonly queue: WorkQueue;
  private readonly names: WorkloadRefs;
  /** Keys of sets that may have pods to adopt. */
  private readonly orphansDue = new Set<string>();

  constructor(context: ControllerContext, feature: (name: string) => boolean) {
    const { client, clock, informers, identity } = context;
    this.context = context;
    this.feature = feature;
    this.names = workloadRefs(identity);
    this.sets = informers.of<StatefulSetObject>(this.names.statefulSets);
    this.selecting = new SelectorIndex(this.sets, ({ spec }) => spec?.selector);
    this.pods = podIndex(informers);
    const hashLabel = domainName(identity, 'hash', 'controller');
    this.history = new History({ context, resource: this.names.controllerRevisions, kind: 'StatefulSet', hashLabel });
    this.recorder = new EventRecorder({ client, clock, component: 'statefulset-controller' });
    this.queue = context.queue((key) => this.sync(key), {
      workers: WORKERS,
      after: [this.sets.synced, this.pods.informer.synced, this.history.synced],
    });
    this.claims = new ClaimControl({ context, recorder: this.recorder, wake: (key) => this.queue.add(key) });
  }
  start(): void {
    const look = (set: StatefulSetObject): void => this.queue.add(keyOf(set));
    this.sets.onChange(({ type, object }) => {
      if (type === 'added') this.orphansDue.add(keyOf(object));
      if (type === 'deleted') this.orphansDue.delete(keyOf(object));
      else this.queue.add(keyOf(object));
    });
    this.history.onChange(
      (key) => this.queue.add(key),
      (namespace, labels) => this.selecting.forLabels(namespace, labels, look),
    );
    this.pods.informer.onChange(({ type, object, old }) => {
      this.podChanged(object, type === 'deleted');
      if (old !== undefined && controllerOf(old)?.uid !== controllerOf(object)?.uid) this.podChanged(old, true);
    });
  }

  private podChanged(pod: WorkloadPod, isGone: boolean): void {
    const { namespace = '', name = '' } = pod.metadata;
    const owner = controllerOf(pod);
    if (owner?.kind === 'StatefulSet') {
      this.queue.add(`${namespace}/${owner.name}`);
      return;
    }
    // Another pod has the name of a member: the set may adopt it, or create its own when it is gone.
    if (owner !== undefined && !isGone) return;
    const set = memberOf(name)?.set;
    if (set === undefined || this.sets.get(namespace, set) === undefined) return;
    if (!isGone) this.orphansDue.add(`${namespace}/${set}`);
    this.queue.add(`${namespace}/${set}`);
  }

  private async sync(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key);
    const set = this.sets.get(namespace, name);
    if (set === undefined) return undefined;
    const owner = this.ownerOf(set);
    const pods = await this.podsOf(set, owner);
    const revisions = await this.revisionsOf(set, owner);
    if (revisions === undefined) return undefined;
    const { current, update } = revisions;
    const { identity, clock } = this.context;
    const plan = planStatefulSet({ set, current, update, pods, now: clock.now(), identity, feature: this.feature });
    const { counts, error, wait } = await this.run(set, plan, revisions);
    await this.writeStatus(set, counts, revisions);
    await this.deleteRevisions(set, pods, revisions);
    if (error !== undefined) throw error;
    return wait;
  }
  private ownerOf(set: StatefulSetObject): Owner {
    const selector = this.selecting.selectorOf(set) ?? noLabel;
    const { namespace = '', name = '', uid } = set.metadata;
    return {
      about: aboutSet(set),
      template: templateOf(set),
      selects: (labels) => selector.matches(labels),
      mayAdopt: async () => {
        const live = await this.context.client.find<StatefulSetObject>(this.names.statefulSets, namespace, name);
        return live?.metadata.uid === uid && live?.metadata.deletionTimestamp === undefined;
      },
    };
  }
  private async podsOf(set: StatefulSetObject, { about, selects, mayAdopt }: Owner): Promise<WorkloadPod[]> {
    const { namespace = '', name, uid = '' } = set.metadata;
    const key = keyOf(set);
    const isMember = (pod: WorkloadPod): boolean => memberOf(pod.metadata.name ?? '')?.set === name;
    const isDue = this.orphansDue.delete(key);
    const orphans = isDue ? [...this.pods.orphansIn(namespace)].filter(isMember) : [];
    try {
      const pods = await claim<WorkloadPod>({
        client: this.context.client,
        resource: refs.pods,
        owner: about,
        matches: (pod) => isMember(pod) && selects(pod.metadata.labels),
        mayAdopt,
        candidates: [...this.pods.ownedBy(uid), ...orphans],
      });
      if (orphans.length > 0) await Promise.all(pods.map((pod) => this.pods.informer.whenArrived(pod)));
      return pods;
    } catch (error) {
      if (isDue) this.orphansDue.add(key);
      throw error;
    }
  }
  /** Undefined for a set that is being deleted and has no revision: nothing is made for it. */
  private async revisionsOf(set: StatefulSetObject, owner: Owner): Promise<Revisions | undefined> {
    const oldRevisions = await this.history.of(owner);
    const { collisionCount = 0, currentRevision, updateRevision } = set.status ?? {};
    const revisionNamed = (revisions: readonly Revision[], name = ''): Revision | undefined =>
      revisions.find(({ metadata }) => metadata.name === name);
    if (set.metadata.deletionTimestamp !== undefined) {
      const update = revisionNamed(oldRevisions, updateRevision);
      if (update === undefined) return undefined;
      return { all: [], current: revisionNamed(oldRevisions, currentRevision) ?? update, update, collisions: collisionCount };
    }
    const { revision: update, collisions } = await this.history.current(owner, oldRevisions, collisionCount);
    const all = sortRevisions([...oldRevisions.filter(({ metadata }) => metadata.name !== update.metadata.name), update]);
    return { all, current: revisionNamed(all, currentRevision) ?? update, update, collisions };
  }

  /** Does what is planned, until something fails. */
  private async run(set: StatefulSetObject, plan: Plan, revisions: Revisions): Promise<{ counts: Counts; error: unknown; wait?: number }> {
    const counts = { ...plan.counts };
    let wait = plan.wait;
    let error: unknown;
    const done: Promise<void>[] = [];
    const act = async (action: Action): Promise<void> => {
      const whenVisible = await this.act(set, action);
      if (whenVisible === undefined) wait = Math.min(wait ?? CLAIM_WAIT_MS, CLAIM_WAIT_MS);
      else {
        countAction(counts, action, revisions.current, revisions.update);
        done.push(whenVisible());
      }
    };
    try {
      if (this.feature('StatefulSetAutoDeletePVC')) await this.retainClaims(set, plan);
      if (plan.isOrdered) for (const action of plan.actions) await act(action);
      else error = (await slowStart(plan.actions.length, (i) => act(plan.actions[i] as Action))).error;
    } catch (fault) {
      error = fault;
    }
    await Promise.all(done);
    return { counts, error, ...(wait !== undefined && { wait }) };
  }
  private async retainClaims(set: StatefulSetObject, { surplus }: Plan): Promise<void> {
    const beyond = new Set(surplus);
    for (const pod of this.pods.ownedBy(set.metadata.uid ?? '')) await this.claims.retain(set, pod, beyond.has(pod));
  }
  /** Returns what waits until the informer has the change; undefined where the action has to wait. */
  private async act(set: StatefulSetObject, action: Action): Promise<(() => Promise<void>) | undefined> {
    const { pod } = action;
    const { informer } = this.pods;
    if (action.type === 'create') {
      if (!(await this.claims.ensure(set, pod))) return undefined;
      const createdPod = await this.create(set, pod);
      return () => informer.whenArrived(createdPod);
    }
    if (action.type === 'repair') {
      if (!(await this.claims.ensure(set, pod))) return undefined;
      const updatedPod = await this.reported(set, 'update', pod, () => this.context.client.update<WorkloadPod>(refs.pods, pod));
      return () => informer.whenArrived(updatedPod);
    }
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    if (action.why === 'failed' || action.why === 'succeeded') {
      const [reason, word] = action.why === 'failed' ? ['RecreatingFailedPod', 'failed'] : ['RecreatingTerminatedPod', 'terminated'];
      const message = `StatefulSet ${namespace}/${set.metadata.name} is recreating ${word} Pod ${name}`;
      this.recorder.event(aboutSet(set), 'Warning', reason, message);
    }
    await this.reported(set, 'delete', pod, async () => {
      try {
        await this.context.client.delete(refs.pods, namespace, name, { preconditions: { uid } });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
    return () => informer.gone(pod);
  }
  private async create(set: StatefulSetObject, pod: WorkloadPod): Promise<WorkloadPod> {
    return this.reported(set, 'create', pod, () => this.context.client.create<WorkloadPod>(refs.pods, pod.metadata.namespace ?? '', pod));
  }
  /** Calls, and reports the result in an event. A conflict is no news: it is tried again. */
  private async reported<T>(set: StatefulSetObject, verb: string, { metadata }: WorkloadPod, call: () => Promise<T>): Promise<T> {
    const about = aboutSet(set);
    const action = `${verb} Pod ${metadata.name} in StatefulSet ${set.metadata.name}`;
    const word = `${verb[0]?.toUpperCase()}${verb.slice(1)}`;
    try {
      const result = await call();
      this.recorder.event(about, 'Normal', `Successful${word}`, `${action} successful`);
      return result;
    } catch (error) {
      if (!isConflict(error)) this.recorder.event(about, 'Warning', `Failed${word}`, `${action} failed error: ${messageOf(error)}`);
      throw error;
    }
  }

  private async writeStatus(set: StatefulSetObject, counts: Counts, revisions: Revisions): Promise<void> {
    const status = statefulSetStatus(set, counts, revisions);
    if (sameStatus(set.status, status)) return;
    const updated = await this.context.client.update(this.names.statefulSets, { ...set, status } as StatefulSetObject, 'status');
    await this.sets.whenArrived(updated);
  }
  private async deleteRevisions(set: StatefulSetObject, pods: readonly WorkloadPod[], { all, current, update }: Revisions): Promise<void> {
    const limit = set.spec?.revisionHistoryLimit ?? 10;
    if (all.length <= limit) return;
    const used = new Set([current.metadata.name, update.metadata.name, ...pods.map(revisionOf)]);
    await this.history.delete(surplusRevisions(all, ({ metadata }) => used.has(metadata.name), limit, 'unused'));
  }
}
