/** Creates the claims of the members of stateful sets, and keeps their owners as the retention policy says. */
import { type Informer, keyOf } from '@plat-dev/client/informer';
import { type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { EventRecorder } from '../shared/events.ts';
import { messageOf } from '../shared/pod-control.ts';
import type { WorkloadPod } from '../shared/pods.ts';
import { aboutSet, type Claim, claimsOf, ordinalOf, type StatefulSetObject } from './members.ts';
import { claimOwners, isStale } from './retention.ts';

/** Claims whose deletion a set waits for; of more of them, the oldest are found when the set is processed again. */
const MOST_AWAITED = 1000;

export interface ClaimSettings {
  readonly context: ControllerContext;
  readonly recorder: EventRecorder;
  /** Processes the set of that key. */
  readonly wake: (key: string) => void;
}

export class ClaimControl {
  private readonly settings: ClaimSettings;
  private followed: Informer<Claim> | undefined;
  /** The key of the set that waits, by that of the claim. */
  private readonly awaited = new BoundedCache<string, string>(MOST_AWAITED);

  constructor(settings: ClaimSettings) {
    this.settings = settings;
  }
  /** Creates the claims of a new member. False: one of them is being deleted, and the member has to wait until it is gone. */
  async ensure(set: StatefulSetObject, pod: WorkloadPod): Promise<boolean> {
    const wantedClaims = claimsOf(set, ordinalOf(pod));
    if (wantedClaims.size === 0) return true;
    const claims = await this.follow();
    const { namespace = '' } = set.metadata;
    let isFree = true;
    for (const claim of wantedClaims.values()) {
      const existingClaim = claims.get(namespace, claim.metadata.name ?? '');
      if (existingClaim === undefined) await this.create(set, pod, claim, claims);
      else if (
        existingClaim.metadata.deletionTimestamp !== undefined ||
        isStale(existingClaim, pod.metadata.name ?? '', pod.metadata.uid)
      ) {
        this.awaited.set(keyOf(existingClaim), keyOf(set));
        isFree = false;
      }
    }
    return isFree;
  }
  /** Writes the owners of the claims of a member. */
  async retain(set: StatefulSetObject, pod: WorkloadPod, isSurplus: boolean): Promise<void> {
    const wantedClaims = claimsOf(set, ordinalOf(pod));
    if (wantedClaims.size === 0) return;
    const { client } = this.settings.context;
    const claims = await this.follow();
    for (const { metadata } of wantedClaims.values()) {
      const existingClaim = claims.get(metadata.namespace ?? '', metadata.name ?? '');
      if (existingClaim === undefined || existingClaim.metadata.deletionTimestamp !== undefined) continue;
      const ownerReferences = claimOwners(set, pod, existingClaim, isSurplus);
      if (ownerReferences === undefined) continue;
      const changed = { ...existingClaim, metadata: { ...existingClaim.metadata, ownerReferences } } as Claim;
      await claims.whenArrived(await client.update(refs.persistentVolumeClaims, changed));
    }
  }

  private async create(set: StatefulSetObject, pod: WorkloadPod, claim: Claim, claims: Informer<Claim>): Promise<void> {
    const { context, recorder } = this.settings;
    const { namespace = '', name } = claim.metadata;
    const about = aboutSet(set);
    const [podName, setName] = [pod.metadata.name, set.metadata.name];
    try {
      const createdClaim = await context.client.create<Claim>(refs.persistentVolumeClaims, namespace, claim);
      recorder.event(about, 'Normal', 'SuccessfulCreate', `create Claim ${name} Pod ${podName} in StatefulSet ${setName} success`);
      await claims.whenArrived(createdClaim);
    } catch (error) {
      const message = `create Claim ${name} for Pod ${podName} in StatefulSet ${setName} failed error: ${messageOf(error)}`;
      recorder.event(about, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }
  /** Claims are followed from the first set that has some. */
  private async follow(): Promise<Informer<Claim>> {
    if (this.followed === undefined) {
      this.followed = this.settings.context.informers.of<Claim>(refs.persistentVolumeClaims);
      this.followed.onChange(({ type, object }) => {
        if (type !== 'deleted') return;
        const key = this.awaited.get(keyOf(object));
        if (key === undefined) return;
        this.awaited.delete(keyOf(object));
        this.settings.wake(key);
      });
    }
    await this.followed.synced;
    return this.followed;
  }
}
