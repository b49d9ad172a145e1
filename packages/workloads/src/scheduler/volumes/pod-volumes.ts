/**
 * The claims of a pod that waits, and what they mean for each node: volumes that are bound belong to some nodes, claims that wait
 * for their first consumer are bound to a volume there is, or provisioned for the node.
 */

import { own } from '@plat-dev/lib/own';
import { Cause } from '../cause.ts';
import { type NodeTest, nodeSelectorTest } from '../node-match.ts';
import type { Misfit } from '../plan.ts';
import type { ClaimUse, NodeState } from '../state.ts';
import { matchingVolumes } from './matching-volumes.ts';
import { type Claim, claimKey, type StorageClass, type Volume, type VolumeObjects } from './objects.ts';

/** What has to be written for a pod before it can be bound to a node. */
export interface VolumeActions {
  readonly bind: readonly { readonly claim: Claim; readonly volume: Volume }[];
  readonly provision: readonly Claim[];
}

const misfit = (...reasons: string[]): Misfit => ({ reasons, cause: Cause.volumes, final: true });
const waitsForClaim = (reason: string): Misfit => ({ ...misfit(reason), cause: Cause.claims });
const unboundImmediate = waitsForClaim('pod has unbound immediate PersistentVolumeClaims');
const wrongNode = 'node(s) had volume node affinity conflict';
const noVolume = "node(s) didn't find available persistent volumes to bind";
const lostVolume = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const otherPod = misfit('node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode');
const noSpace = 'node(s) did not have enough free storage';
const wrongZone = misfit('node(s) had no available volume zone');
const tooMany: Misfit = { reasons: ['node(s) exceed max volume count'], cause: Cause.volumes, final: false };

interface BoundVolume {
  readonly volume: Volume | undefined;
  readonly test: NodeTest | undefined;
  /** Labels of a volume that name its zone or region, with the values that fit. */
  readonly zones: readonly (readonly [label: string, values: ReadonlySet<string>])[];
}
interface Unbound {
  readonly claim: Claim;
  readonly storageClass: StorageClass | undefined;
  /** The node that provisioning was begun for. */
  readonly selectedNode: string | undefined;
  /** Volumes that fit the claim, the smallest first. */
  readonly volumes: readonly { readonly volume: Volume; readonly test: NodeTest | undefined }[];
}
interface Attachment {
  readonly driver: string;
  readonly handle: string;
}

/** What a pod with these claims can do; a misfit if it fits on no node at present. */
export function podVolumes(
  objects: VolumeObjects,
  pod: { readonly namespace: string; readonly name: string; readonly uid: string },
  claims: readonly ClaimUse[],
  isUsed: (claim: string) => boolean,
): PodVolumes | Misfit {
  const podClaims: Claim[] = [];
  for (const { name, ephemeral } of claims) {
    const claim = objects.claim(pod.namespace, name);
    const quoted = JSON.stringify(name);
    if (claim === undefined) {
      return waitsForClaim(
        ephemeral
          ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
          : `persistentvolumeclaim ${quoted} not found`,
      );
    }
    if (claim.status?.phase === 'Lost')
      return misfit(
        `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`,
      );
    if (claim.metadata.deletionTimestamp !== undefined) return misfit(`persistentvolumeclaim ${quoted} is being deleted`);
    if (ephemeral && !claim.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === pod.uid))
      return misfit(`PVC ${pod.namespace}/${name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`);
    if (claim.spec?.accessModes?.includes('ReadWriteOncePod') && isUsed(claimKey(claim))) return otherPod;
    podClaims.push(claim);
  }
  const bound = podClaims.filter((claim) => objects.isBound(claim));
  const unbound = podClaims.filter((claim) => !objects.isBound(claim));
  if (unbound.some((claim) => !objects.waitsForConsumer(claim) || (claim.spec?.volumeName ?? '') !== '')) return unboundImmediate;
  return new PodVolumes(objects, bound, unbound, podClaims);
}

export class PodVolumes {
  private readonly objects: VolumeObjects;
  private readonly bound: readonly BoundVolume[];
  private readonly unbound: readonly Unbound[];
  private readonly attachments: readonly Attachment[];

  constructor(objects: VolumeObjects, bound: readonly Claim[], unbound: readonly Claim[], all: readonly Claim[]) {
    this.objects = objects;
    this.bound = bound.map((claim) => {
      const volume = objects.volume(claim.spec?.volumeName ?? '');
      const labels = volume?.metadata.labels ?? {};
      return {
        volume,
        test: volume === undefined ? undefined : affinityOf(volume),
        zones: objects.zoneLabels.flatMap((label) => {
          const zones = own(labels, label);
          return zones === undefined ? [] : [[label, new Set(zones.split('__'))] as const];
        }),
      };
    });
    this.unbound = unbound.map((claim) => ({
      claim,
      storageClass: objects.classOf(claim),
      selectedNode: objects.selectedNode(claim),
      volumes: matchingVolumes(objects, claim).map((volume) => ({ volume, test: affinityOf(volume) })),
    }));
    this.attachments = all.flatMap((claim) => objects.attachment(claim) ?? []);
  }

  misfit(node: NodeState): Misfit | undefined {
    if (this.attachments.length > 0 && this.exceedsLimits(node)) return tooMany;
    const reasons = this.bindingReasons(node);
    if (reasons !== undefined) return misfit(...reasons);
    return this.bound.length > 0 && this.isElsewhere(node) ? wrongZone : undefined;
  }
  /** What to write for a node on which the pod fits; undefined if all claims are bound. */
  actions(node: NodeState): VolumeActions | undefined {
    return this.unbound.length === 0 ? undefined : this.bindUnbound(node);
  }

  private bindingReasons(node: NodeState): string[] | undefined {
    let reasons: string[] | undefined;
    const add = (reason: string): void => {
      reasons ??= [];
      if (!reasons.includes(reason)) reasons.push(reason);
    };
    for (const { volume, test } of this.bound) {
      if (volume === undefined) add(lostVolume);
      else if (test !== undefined && !test(node)) add(wrongNode);
    }
    if (this.unbound.length > 0) {
      const actions = this.bindUnbound(node);
      if (actions === undefined) add(noVolume);
      else if (!actions.provision.every((claim) => this.objects.hasRoom(claim, node.labels))) add(noSpace);
    }
    return reasons;
  }
  /** A volume for each claim, or a storage class that can provision one for the node. Undefined if a claim has neither. */
  private bindUnbound(node: NodeState): VolumeActions | undefined {
    const bind: { claim: Claim; volume: Volume }[] = [];
    const provision: Claim[] = [];
    const chosenVolumes = new Set<Volume>();
    for (const { claim, storageClass, selectedNode, volumes } of this.unbound) {
      if (selectedNode !== undefined && selectedNode !== node.name) return undefined;
      const bindable =
        selectedNode !== undefined
          ? undefined
          : volumes.find(({ volume, test }) => !chosenVolumes.has(volume) && (test === undefined || test(node)));
      if (bindable !== undefined) {
        chosenVolumes.add(bindable.volume);
        bind.push({ claim, volume: bindable.volume });
      } else if (storageClass !== undefined && this.objects.canProvision(storageClass) && isAllowed(storageClass, node))
        provision.push(claim);
      else return undefined;
    }
    return { bind, provision };
  }
  /** A node that says nothing about its zone fits all volumes. */
  private isElsewhere(node: NodeState): boolean {
    if (!this.objects.zoneLabels.some((label) => node.labelMap.has(label))) return false;
    return this.bound.some(({ zones }) => zones.some(([label, values]) => !values.has(node.labelMap.get(label) ?? '')));
  }
  private exceedsLimits(node: NodeState): boolean {
    const limits = this.objects.limits(node.name);
    if (limits === undefined) return false;
    const attached = new Map<string, Set<string>>();
    for (const key of node.claims.keys()) {
      const attachment = this.objects.attachmentOf(key);
      if (attachment === undefined) continue;
      const handles = attached.get(attachment.driver);
      if (handles === undefined) attached.set(attachment.driver, new Set([attachment.handle]));
      else handles.add(attachment.handle);
    }
    const addedHandles = new Map<string, Set<string>>();
    for (const { driver, handle } of this.attachments) {
      if (attached.get(driver)?.has(handle)) continue;
      const handles = addedHandles.get(driver);
      if (handles === undefined) addedHandles.set(driver, new Set([handle]));
      else handles.add(handle);
    }
    for (const [driver, handles] of addedHandles) {
      const limit = limits.get(driver);
      if (limit !== undefined && (attached.get(driver)?.size ?? 0) + handles.size > limit) return true;
    }
    return false;
  }
}

function affinityOf({ spec }: Volume): NodeTest | undefined {
  const required = spec?.nodeAffinity?.required;
  return required === undefined ? undefined : nodeSelectorTest(required.nodeSelectorTerms);
}

/** The topologies that a class names are alternatives; without any, all nodes are allowed. */
function isAllowed({ allowedTopologies }: StorageClass, node: NodeState): boolean {
  const terms = allowedTopologies ?? [];
  if (terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions }) =>
    (matchLabelExpressions ?? []).every(({ key, values }) => {
      const value = node.labelMap.get(key);
      return value !== undefined && (values ?? []).includes(value);
    }),
  );
}
