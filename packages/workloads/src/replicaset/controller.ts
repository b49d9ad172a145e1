/** Keeps the number of pods that a replica set or replication controller specifies. */
import type { Client, ResourceRef } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound } from '@plat-dev/client/http';
import { type Change, type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { isTerminating as isNamespaceTerminating } from '@plat-dev/controllers/runtime/manager';
import type { Outcome } from '@plat-dev/controllers/runtime/queue';
import { SelectorIndex, selectedBy } from '@plat-dev/controllers/runtime/selector-index';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import { podNames } from '@plat-dev/kinds/validation/pods/pod-names';
import type { Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { fromLabels, type LabelSelector } from '@plat-dev/meta/labels';
import { claim } from '../shared/claim.ts';
import { type About, EventRecorder } from '../shared/events.ts';
import { type OwnerIndex, ownerIndex } from '../shared/owner-index.ts';
import { messageOf, PodControl, podFrom, slowStart } from '../shared/pod-control.ts';
import { isActive, isTerminating, podCondition } from '../shared/pod-state.ts';
import { controllerOf, type PodIndex, podIndex, type WorkloadPod } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { type ReplicaKind, type ReplicaStatus, type Replicated, replicasOf } from './kinds.ts';
import { observe, type ReplicaFailure } from './status.ts';
import { podsToDelete } from './surplus-pods.ts';

/** Pods that are created or deleted for one owner before it is looked at again. */
const BURST = 500;
const WORKERS = 10;

export interface ReplicaSettings {
  /** Pods may have a deletion cost. */
  readonly deletionCost: boolean;
  /** Ages of pods are compared by orders of magnitude. */
  readonly logarithmic: boolean;
}

export function replicaController(kind: ReplicaKind, settings: ReplicaSettings): Controller {
  return {
    name: kind.name,
    account: kind.account,
    start(context) {
      const replicas = new Replicas(kind, settings, context);
      const { sets, pods } = replicas;
      const work = context.queue((key) => replicas.sync(key), { workers: WORKERS, after: [sets.synced, pods.synced] });
      const add = (set: Replicated): void => work.add(keyOf(set));
      sets.onChange(({ type, object }) => {
        if (type !== 'deleted') add(object);
      });
      pods.onChange((change) => replicas.podChanged(change, (key) => work.add(key), add));
    },
  };
}

class Replicas {
  readonly sets: Informer<Replicated>;
  readonly pods: Informer<WorkloadPod>;
  private readonly kind: ReplicaKind;
  private readonly group: string;
  private readonly costAnnotation: string | undefined;
  private readonly exactTimes: boolean;
  private readonly client: Client;
  private readonly clock: Clock;
  private readonly ref: ResourceRef;
  private readonly index: PodIndex;
  private readonly siblings: OwnerIndex<Replicated>;
  private readonly control: PodControl;
  private readonly selecting: SelectorIndex<Replicated>;

  constructor(kind: ReplicaKind, settings: ReplicaSettings, { identity, informers, client, clock }: ControllerContext) {
    this.kind = kind;
    this.group = groupOfApiVersion(kind.apiVersion);
    this.costAnnotation = settings.deletionCost ? podNames(identity).deletionCost : undefined;
    this.exactTimes = !settings.logarithmic;
    this.client = client;
    this.clock = clock;
    this.ref = kind.ref(workloadRefs(identity));
    this.sets = informers.of<Replicated>(this.ref);
    this.selecting = new SelectorIndex(this.sets, kind.selector);
    this.siblings = ownerIndex(informers, this.ref.name, this.sets);
    this.index = podIndex(informers);
    this.pods = this.index.informer;
    this.control = new PodControl(client, new EventRecorder({ client, clock, component: kind.account }));
  }

  /** Adds the keys of those that a change of a pod concerns. */
  podChanged({ type, object, old }: Change<WorkloadPod>, addKey: (key: string) => void, add: (set: Replicated) => void): void {
    const namespace = object.metadata.namespace ?? '';
    const [owner, oldOwner] = [controllerOf(object), old === undefined ? undefined : controllerOf(old)];
    const isMoved = old !== undefined && owner?.uid !== oldOwner?.uid;
    if (isMoved && oldOwner !== undefined && this.isOwn(oldOwner)) addKey(`${namespace}/${oldOwner.name}`);
    if (owner !== undefined) {
      const isKept = old !== undefined && type === 'modified' && !isMoved;
      if (this.isOwn(owner) && !(isKept && !isRelevant(old, object))) addKey(`${namespace}/${owner.name}`);
      return;
    }
    if (type === 'deleted' || !isActive(object)) return;
    if (old !== undefined && !isMoved && equal(old.metadata.labels, object.metadata.labels)) return;
    this.selecting.forLabels(namespace, object.metadata.labels, add);
  }

  async sync(key: string): Promise<Outcome> {
    const { namespace, name } = splitKey(key);
    const set = this.sets.get(namespace, name);
    const selector = set === undefined ? undefined : this.selecting.selectorOf(set);
    if (set === undefined || selector === undefined) return;
    const pods = await this.claimed(set, selector);
    const surplus = set.metadata.deletionTimestamp === undefined ? pods.length - replicasOf(set) : 0;
    let error: unknown;
    let failure: ReplicaFailure | undefined;
    if (surplus !== 0) {
      error = surplus < 0 ? await this.create(set, -surplus) : await this.remove(set, pods, surplus);
      if (error !== undefined) failure = { reason: surplus < 0 ? 'FailedCreate' : 'FailedDelete', message: messageOf(error) };
    }
    const present = surplus === 0 ? pods : await selectedBy(selector, this.ownPods(set));
    const labeled = await selectedBy(fromLabels(set.spec?.template?.metadata?.labels ?? {}), present);
    const { status, nextMs } = observe(set, present, labeled.length, failure, this.clock.now());
    await this.write(set, status);
    if (error !== undefined) throw error;
    return nextMs;
  }

  private isOwn({ kind, apiVersion }: OwnerReference): boolean {
    return kind === this.kind.kind && groupOfApiVersion(apiVersion) === this.group;
  }
  private about({ metadata }: Replicated): About {
    return { apiVersion: this.kind.apiVersion, kind: this.kind.kind, metadata };
  }
  private ownPods({ metadata }: Replicated): WorkloadPod[] {
    return [...this.index.ownedBy(metadata.uid ?? '')].filter(isActive);
  }
  /** The active pods of an owner, after adoption and release. Those that have finished or are terminating are left alone. */
  private async claimed(set: Replicated, selector: LabelSelector): Promise<WorkloadPod[]> {
    const { namespace = '', name = '', uid = '' } = set.metadata;
    const orphans = await selectedBy(selector, [...this.index.orphansIn(namespace)].filter(isActive));
    const own = this.ownPods(set);
    if (orphans.length === 0 && (await selectedBy(selector, own)).length === own.length) return own;
    const claimed = await claim<WorkloadPod>({
      client: this.client,
      resource: refs.pods,
      owner: this.about(set),
      matches: ({ metadata }) => selector.matches(metadata.labels),
      mayAdopt: async () => {
        const live = await this.client.find<Replicated>(this.ref, namespace, name);
        return live?.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
      },
      candidates: [...own, ...orphans],
    });
    await this.whenVisible(claimed);
    return claimed;
  }
  /** Returns the first error. */
  private async create(set: Replicated, missing: number): Promise<unknown> {
    const { template } = set.spec ?? {};
    if (template === undefined) return undefined;
    const owner = this.about(set);
    const pod = podFrom(template, owner);
    const { created, error } = await slowStart(Math.min(missing, BURST), async () => {
      try {
        return await this.control.create(pod, owner);
      } catch (refused) {
        // Nothing can be created there any more, and the owner itself is about to be deleted.
        if (isNamespaceTerminating(refused)) return undefined;
        throw refused;
      }
    });
    await this.whenVisible(created.filter((one) => one !== undefined));
    return error;
  }
  /** Returns the first error. */
  private async remove(set: Replicated, pods: readonly WorkloadPod[], surplus: number): Promise<unknown> {
    const owner = this.about(set);
    const surplusPods = podsToDelete(pods, this.relatedPods(set), Math.min(surplus, BURST), {
      now: this.clock.now(),
      minReadySeconds: set.spec?.minReadySeconds ?? 0,
      costAnnotation: this.costAnnotation,
      exactTimes: this.exactTimes,
    });
    const results = await Promise.allSettled(surplusPods.map((pod) => this.control.delete(pod, owner)));
    for (const [i, pod] of surplusPods.entries()) if (results[i]?.status === 'fulfilled') await this.pods.gone(pod);
    return results.find((result) => result.status === 'rejected')?.reason;
  }
  /** Pods of the same owner and of those that have the same controller, such as the replica sets of a deployment. */
  private *relatedPods(set: Replicated): Generator<WorkloadPod> {
    const controller = controllerOf(set)?.uid;
    if (controller === undefined) return;
    for (const { metadata } of this.siblings.ownedBy(controller)) yield* this.index.ownedBy(metadata.uid ?? '');
  }
  private async whenVisible(pods: readonly WorkloadPod[]): Promise<void> {
    let newest: WorkloadPod | undefined;
    for (const pod of pods) if (newest === undefined || versionOf(pod) > versionOf(newest)) newest = pod;
    if (newest !== undefined) await this.pods.whenArrived(newest);
  }
  /** Writes a status that has changed. One that conflicts with a change of the spec says which generation it is about. */
  private async write(set: Replicated, status: ReplicaStatus): Promise<void> {
    if (equal(status, set.status)) return;
    const { apiVersion, kind } = this.kind;
    const { namespace = '', name = '', uid } = set.metadata;
    let on: Replicated | undefined = set;
    for (let tries = 0; on !== undefined && on.metadata.uid === uid; tries++) {
      try {
        const updated = await this.client.update<Replicated>(this.ref, { ...on, apiVersion, kind, status } as Replicated, 'status');
        await this.sets.whenArrived(updated);
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || tries > 0) throw error;
        on = await this.client.find<Replicated>(this.ref, namespace, name);
      }
    }
  }
}

const versionOf = ({ metadata }: WorkloadPod): number => Number(metadata.resourceVersion);

/** Whether a change of a pod can matter to its owner, which stays the same: most are about addresses, containers and nodes. */
function isRelevant(old: WorkloadPod, pod: WorkloadPod): boolean {
  const [before, after] = [podCondition(old, 'Ready'), podCondition(pod, 'Ready')];
  return (
    isActive(old) !== isActive(pod) ||
    isTerminating(old) !== isTerminating(pod) ||
    before?.status !== after?.status ||
    before?.lastTransitionTime !== after?.lastTransitionTime ||
    !equal(old.metadata.labels, pod.metadata.labels)
  );
}
