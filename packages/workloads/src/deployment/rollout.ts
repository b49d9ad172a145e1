/** One look at a deployment: what its replica sets should be, and the status that follows. */

import type { Client } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound } from '@plat-dev/client/http';
import type { Informer } from '@plat-dev/client/informer';
import { isTerminating } from '@plat-dev/controllers/runtime/manager';
import type { Outcome } from '@plat-dev/controllers/runtime/queue';
import type { Clock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import type { ReplicaSetObject } from '../replicaset/kinds.ts';
import type { About, EventRecorder } from '../shared/events.ts';
import { controllerRef, messageOf } from '../shared/pod-control.ts';
import { isFinished } from '../shared/pod-state.ts';
import { controllerOf, type PodIndex } from '../shared/pods.ts';
import type { WorkloadRefs } from '../shared/refs.ts';
import { templateHash } from '../shared/template-hash.ts';
import { type DeploymentObject, type Limits, limitsOf } from './limits.ts';
import { currentAnnotations, lastRevisions, numberOf, type RevisionNames, revisionOf, sizeAnnotations } from './revisions.ts';
import { rollbackOf, rollbackTo } from './rollback.ts';
import {
  beyondHistory,
  byAge,
  findCurrent,
  HASH_LABEL,
  hasSize,
  isObserved,
  isSameTemplate,
  mostPodsOf,
  podsOf,
  sizeOf,
  sum,
  withoutHash,
} from './sets.ts';
import { currentSize, oldSizes, proportionalSizes, type Sizes } from './sizes.ts';
import {
  type Conditions,
  conditionOf,
  type DeploymentStatusObject,
  hasDeadline,
  isComplete,
  nextCheckMs,
  rolloutStatusOf,
  type State,
  statusOf,
  withCondition,
  withPause,
} from './status.ts';

export interface RolloutTools {
  readonly client: Client;
  readonly clock: Clock;
  readonly refs: WorkloadRefs;
  readonly names: RevisionNames;
  readonly recorder: EventRecorder;
  readonly deployments: Informer<DeploymentObject>;
  readonly replicaSets: Informer<ReplicaSetObject>;
  readonly pods: PodIndex;
}

const KIND = { apiVersion: 'apps/v1', kind: 'Deployment' } as const;
export const aboutDeployment = ({ metadata }: DeploymentObject): About => ({ ...KIND, metadata });

export class Rollout {
  private readonly tools: RolloutTools;
  private readonly deployment: DeploymentObject;
  private readonly limits: Limits;
  private readonly now: number;
  private sets: ReplicaSetObject[];
  private current: ReplicaSetObject | undefined;
  private conditions: Conditions;
  private collisionCount: number | undefined;
  private revision: string | undefined;
  private updatedSet: ReplicaSetObject | undefined;

  constructor(tools: RolloutTools, deployment: DeploymentObject, sets: readonly ReplicaSetObject[]) {
    this.tools = tools;
    this.deployment = deployment;
    this.limits = limitsOf(deployment);
    this.now = tools.clock.now();
    this.sets = [...sets].sort(byAge);
    this.conditions = withPause(deployment, this.now);
    this.collisionCount = deployment.status?.collisionCount ?? undefined;
    this.revision = own(deployment.metadata.annotations, tools.names.revision);
  }

  async run(): Promise<Outcome> {
    this.current = await inSlices(findCurrent(this.sets, this.deployment.spec?.template), new Slices());
    if (this.deployment.metadata.deletionTimestamp !== undefined) return this.finish(statusOf);
    const isPaused = this.deployment.spec?.paused === true;
    let status = rolloutStatusOf;
    let failed: { error: unknown } | undefined;
    try {
      await this.refreshCurrent();
      const rollback = isPaused ? undefined : rollbackOf(this.deployment);
      if (rollback !== undefined) return await this.rollback(rollback);
      if (isPaused || this.isScaled()) {
        status = statusOf;
        await this.scale();
        if (isPaused && rollbackOf(this.deployment) === undefined) await this.dropHistory();
      } else if (this.limits.isRolling) await this.roll();
      else await this.recreate();
    } catch (error) {
      // What was done before is reported all the same.
      failed = { error };
    }
    const next = await this.finish(status);
    if (failed !== undefined) throw failed.error;
    return next;
  }

  private get old(): ReplicaSetObject[] {
    return this.sets.filter((set) => set !== this.current);
  }
  /** Sizes change only when every set has acted on its last one: pods that are still to be deleted would exceed the limits. */
  private get isSettled(): boolean {
    return this.sets.every(isObserved);
  }
  private get state(): State {
    const { deployment, limits, sets, current, conditions, collisionCount, now } = this;
    return { deployment, limits, sets, current, conditions, collisionCount, now };
  }

  private async roll(): Promise<void> {
    if (!this.isSettled) return;
    const current = this.current ?? (await this.createCurrent());
    if (current === undefined) return;
    await this.resize(current, currentSize(this.limits, sizeOf(current), sum(this.sets, mostPodsOf)));
    await this.resizeAll(oldSizes(this.limits, this.current as ReplicaSetObject, this.old));
    await this.dropHistoryIfComplete();
  }
  private async recreate(): Promise<void> {
    const active = this.old.filter(hasSize);
    await this.resizeAll(active.map((set) => ({ set, size: 0 })));
    if (active.length > 0 || this.old.some((set) => this.hasPods(set))) return;
    const current = this.current ?? (await this.createCurrent());
    if (current === undefined) return;
    await this.resize(current, this.limits.desired);
    await this.dropHistoryIfComplete();
  }
  /** Pods run until they have finished or are gone, also while they terminate. */
  private hasPods(set: ReplicaSetObject): boolean {
    if (!isObserved(set) || podsOf(set) > 0) return true;
    for (const pod of this.tools.pods.ownedBy(set.metadata.uid ?? '')) if (!isFinished(pod)) return true;
    return false;
  }

  /** Whether the deployment has another size than its sets were last scaled for. */
  private isScaled(): boolean {
    const active = this.sets.filter(hasSize);
    // Without a rolling update the sets have no shares: old ones go first.
    if (!this.limits.isRolling && active.length > 1) return false;
    return active.some((set) => {
      const desired = numberOf(set, this.tools.names.desired);
      return desired !== undefined && desired !== this.limits.desired;
    });
  }
  private async scale(): Promise<void> {
    if (!this.isSettled) return;
    const { desired, isRolling } = this.limits;
    const active = this.sets.filter(hasSize);
    if (active.length <= 1) {
      const only = active[0] ?? this.current ?? this.sets.at(-1);
      if (only !== undefined) await this.resize(only, desired, hasSize(only));
    } else if (this.isSaturated()) {
      await this.resizeAll(active.filter((set) => set !== this.current).map((set) => ({ set, size: 0 })));
    } else if (isRolling && this.isScaled()) {
      // A pause alone moves nothing, whatever its limits are by now.
      const sizes = proportionalSizes(this.limits, active, this.deployment.status?.replicas ?? 0, this.tools.names);
      await this.resizeAll(sizes, true);
    }
  }
  /** The current set has all the pods, and all are available. */
  private isSaturated(): boolean {
    const { current, limits } = this;
    return (
      current !== undefined &&
      sizeOf(current) === limits.desired &&
      numberOf(current, this.tools.names.desired) === limits.desired &&
      (current.status?.availableReplicas ?? 0) === limits.desired
    );
  }

  private async resizeAll(sizes: Sizes, always = false): Promise<void> {
    for (const { set, size } of sizes) await this.resize(set, size, always);
  }
  /** Scales a set. `always`: it is marked with the size of the deployment even if its own stays. */
  private async resize(set: ReplicaSetObject, size: number, always = false): Promise<void> {
    const annotations = sizeAnnotations(this.limits, this.tools.names);
    const oldSize = sizeOf(set);
    const isMarked = Object.entries(annotations).every(([name, value]) => own(set.metadata.annotations, name) === value);
    if (oldSize === size && (!always || isMarked)) return;
    await this.change(set, annotations, { replicas: size });
    if (oldSize === size) return;
    const direction = oldSize < size ? 'up' : 'down';
    this.event('Normal', 'ScalingReplicaSet', `Scaled ${direction} replica set ${set.metadata.name} to ${size}`);
  }
  /** Changes a set, unless it has changed since it was seen. */
  private async change(
    set: ReplicaSetObject,
    annotations: Readonly<Record<string, string>>,
    spec: { replicas?: number; minReadySeconds?: number },
  ): Promise<void> {
    const { client, refs } = this.tools;
    const { namespace = '', name = '', uid, resourceVersion } = set.metadata;
    const patch = { metadata: { uid, resourceVersion, annotations }, spec };
    const { metadata } = await client.patch<ReplicaSetObject>(refs.replicaSets, namespace, name, patch);
    const { managedFields: _, ...metadataToSend } = metadata;
    this.put(set, { ...set, metadata: metadataToSend, spec: { ...set.spec, ...spec } } as ReplicaSetObject);
  }
  private put(oldSet: ReplicaSetObject | undefined, set: ReplicaSetObject): void {
    this.sets = [...this.sets.filter((one) => one !== oldSet), set].sort(byAge);
    if (oldSet === this.current) this.current = set;
    this.updatedSet = set;
  }

  /** Gives the set with the deployment's template the deployment's annotations and the highest revision. */
  private async refreshCurrent(): Promise<void> {
    const { current, deployment, tools } = this;
    if (current === undefined) return;
    const [last] = lastRevisions(this.old, tools.names);
    const oldAnnotations = current.metadata.annotations ?? {};
    const annotations = currentAnnotations(deployment.metadata.annotations ?? {}, oldAnnotations, last + 1n, tools.names);
    const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
    const isOther = (current.spec?.minReadySeconds ?? 0) !== minReadySeconds;
    if (isOther || !equal(annotations, oldAnnotations)) await this.change(current, annotations, isOther ? { minReadySeconds } : {});
    this.revision = own(annotations, tools.names.revision);
    if (hasDeadline(deployment) && conditionOf(this.conditions, 'Progressing') === undefined)
      this.progress('True', 'FoundNewReplicaSet', `Found new replica set ${JSON.stringify(current.metadata.name)}`);
  }

  /** Creates the set with the deployment's template. Undefined where its name is taken, or the namespace terminates. */
  private async createCurrent(): Promise<ReplicaSetObject | undefined> {
    const { client, refs } = this.tools;
    const body = await this.newSet();
    const { namespace, name } = body.metadata;
    let newSet: ReplicaSetObject;
    let isNew = true;
    try {
      newSet = await client.create<ReplicaSetObject>(refs.replicaSets, namespace, body);
    } catch (error) {
      if (isTerminating(error)) return undefined;
      if (!isConflict(error)) {
        const message = `Failed to create new replica set ${JSON.stringify(name)}: ${messageOf(error)}`;
        this.progress('False', 'ReplicaSetCreateError', message);
        this.event('Warning', 'ReplicaSetCreateError', message);
        throw error;
      }
      const existingSet = await client.find<ReplicaSetObject>(refs.replicaSets, namespace, name);
      if (existingSet === undefined) throw error;
      if (!this.isOwnCurrent(existingSet)) {
        // The status that is written now brings the deployment back here, with another hash.
        this.collisionCount = (this.collisionCount ?? 0) + 1;
        return undefined;
      }
      newSet = existingSet;
      isNew = false;
    }
    this.put(undefined, newSet);
    this.current = newSet;
    this.revision = own(newSet.metadata.annotations, this.tools.names.revision);
    if (!isNew) return newSet;
    if (sizeOf(newSet) > 0) this.event('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} to ${sizeOf(newSet)}`);
    this.progress('True', 'NewReplicaSetCreated', `Created new replica set ${JSON.stringify(name)}`);
    return newSet;
  }
  private isOwnCurrent(existingSet: ReplicaSetObject): boolean {
    return (
      controllerOf(existingSet)?.uid === this.deployment.metadata.uid &&
      isSameTemplate(existingSet.spec?.template, this.deployment.spec?.template)
    );
  }
  private async newSet() {
    const { deployment, limits, tools } = this;
    const { template, selector, minReadySeconds } = deployment.spec ?? {};
    const { namespace = '', annotations = {} } = deployment.metadata;
    const hash = await inSlices(templateHash(withoutHash(template), this.collisionCount), new Slices());
    const labels = { ...template?.metadata?.labels, [HASH_LABEL]: hash };
    const [last] = lastRevisions(this.sets, tools.names);
    return {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${deployment.metadata.name}-${hash}`,
        namespace,
        labels,
        annotations: { ...currentAnnotations(annotations, {}, last + 1n, tools.names), ...sizeAnnotations(limits, tools.names) },
        ownerReferences: [controllerRef(aboutDeployment(deployment))],
      },
      spec: {
        replicas: currentSize(limits, 0, sum(this.sets, mostPodsOf)),
        ...(minReadySeconds !== undefined && { minReadySeconds }),
        selector: { ...selector, matchLabels: { ...selector?.matchLabels, [HASH_LABEL]: hash } },
        template: { ...template, metadata: { ...template?.metadata, labels } },
      },
    };
  }

  private async dropHistoryIfComplete(): Promise<void> {
    if (isComplete(this.deployment, statusOf(this.state))) await this.dropHistory();
  }
  private async dropHistory(): Promise<void> {
    const { client, refs, names, replicaSets } = this.tools;
    const limit = this.deployment.spec?.revisionHistoryLimit ?? undefined;
    for (const set of beyondHistory(this.old, limit, (one) => revisionOf(one, names))) {
      const { namespace = '', name = '', uid = '', resourceVersion = '' } = set.metadata;
      try {
        await client.delete(refs.replicaSets, namespace, name, { preconditions: { uid, resourceVersion } });
        await replicaSets.gone(set);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      this.sets = this.sets.filter((one) => one !== set);
    }
  }

  /** Takes the template of an earlier revision, as requested by an annotation, and removes the request. */
  private async rollback(revision: bigint): Promise<Outcome> {
    const { client, refs, names, deployments } = this.tools;
    const { deployment, type, reason, message } = rollbackTo(this.deployment, this.sets, revision, names);
    const updated = await client.update<DeploymentObject>(refs.deployments, { ...deployment, ...KIND } as DeploymentObject);
    this.event(type, reason, message);
    await deployments.whenArrived(updated);
  }

  private progress(status: string, reason: string, message: string): void {
    if (!hasDeadline(this.deployment)) return;
    this.conditions = withCondition(this.conditions, { type: 'Progressing', status, reason, message }, this.now);
  }
  private event(type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.tools.recorder.event(aboutDeployment(this.deployment), type, reason, message);
  }

  /** Writes the status and the revision where they have changed, and waits until what was written has arrived here. */
  private async finish(of: (state: State) => DeploymentStatusObject): Promise<Outcome> {
    const { names, replicaSets } = this.tools;
    const { deployment, revision } = this;
    const status = of(this.state);
    if (!equal(status, deployment.status) || own(deployment.metadata.annotations, names.revision) !== revision) await this.write(status);
    if (this.updatedSet !== undefined) await replicaSets.whenArrived(this.updatedSet);
    return of === statusOf ? undefined : nextCheckMs(deployment, status, this.now);
  }
  /** The status of a deployment that has changed meanwhile says which generation it is about. */
  private async write(status: DeploymentStatusObject): Promise<void> {
    const { client, refs, names, deployments } = this.tools;
    const { namespace = '', name = '', uid } = this.deployment.metadata;
    let on: DeploymentObject | undefined = this.deployment;
    for (let tries = 0; on !== undefined && on.metadata.uid === uid; tries++) {
      const annotations = { ...on.metadata.annotations, ...(this.revision !== undefined && { [names.revision]: this.revision }) };
      const changed = { ...on, ...KIND, metadata: { ...on.metadata, annotations }, status } as DeploymentObject;
      try {
        await deployments.whenArrived(await client.update<DeploymentObject>(refs.deployments, changed, 'status'));
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || tries > 0) throw error;
        on = await client.find<DeploymentObject>(refs.deployments, namespace, name);
      }
    }
  }
}
