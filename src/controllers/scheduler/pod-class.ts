/**
 * Pods that are the same to a scheduler form a class: those of one replica set, for example. What a pod asks of its node is
 * compiled once for each class, and counts are kept by class, so that a decision never visits single pods.
 *
 *   pods a-1, a-2, a-3 of a deployment      one class
 *   a-2 gets another label                  two classes
 *   a-3 is being deleted                    a class of its own: some rules do not count such pods
 */

import type { Toleration } from '../../kinds/core/schema/pods/scheduling.ts';
import type { Part } from '../../kinds/wire.ts';
import { jsonText } from '../../lib/json-text.ts';
import { fromLabelSelector, type LabelSelector, type Labels } from '../../meta/labels.ts';
import { controllerOf, type WorkloadPod } from '../workloads/shared/pods.ts';
import type { DomainCounts } from './domain-counts.ts';
import { type HostPort, hostPorts } from './host-ports.ts';
import { type NodeTest, namedNodes, type PreferredNodes, preferredNodes, requiredNodes } from './node-match.ts';
import type { NodeState } from './node-state.ts';
import { type PodTerms, podTerms } from './pod-terms.ts';
import { podRequests, type Requests } from './requests.ts';
import { type Disk, disksOf } from './volumes/disks.ts';

export interface SpreadConstraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  readonly selector: LabelSelector;
}
/** A claim that pods of a class use. That of an ephemeral volume is made for the pod. */
export interface ClaimUse {
  readonly name: string;
  readonly ephemeral: boolean;
}
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export interface PodClass {
  readonly text: string;
  readonly namespace: string;
  readonly labels: Labels | undefined;
  readonly priority: number;
  readonly terminating: boolean;
  readonly requests: Requests;
  readonly ports: readonly HostPort[];
  readonly tolerations: readonly Part<Toleration>[];
  /** Undefined: every node. */
  readonly nodes: NodeTest | undefined;
  readonly namedNodes: ReadonlySet<string> | undefined;
  readonly preferredNodes: readonly PreferredNodes[];
  readonly terms: PodTerms;
  /** Undefined: the pod has no constraints of its own, and default ones apply. */
  readonly hardSpread: readonly SpreadConstraint[] | undefined;
  readonly softSpread: readonly SpreadConstraint[] | undefined;
  readonly owner: Owner | undefined;
  /** Images of its containers, with a tag. */
  readonly images: readonly string[];
  readonly claims: readonly ClaimUse[];
  readonly disks: readonly Disk[];
  /** Nodes with pods of the class, and how many each has. */
  readonly placed: Map<NodeState, number>;
  /** Counts that pods of the class are part of. */
  counts: DomainCounts[];
  /** Pods of the class, with or without a node. */
  size: number;
}

type Spec = NonNullable<WorkloadPod['spec']>;

/** Everything of a pod that decides where it may go and what its presence means for others. */
function describe(pod: WorkloadPod): string {
  const { namespace, labels, deletionTimestamp } = pod.metadata;
  const spec = pod.spec as Spec;
  const owner = controllerOf(pod);
  const container = ({ image, resources, ports }: NonNullable<Spec['containers']>[number]): unknown => [
    image,
    resources?.requests,
    ports?.some(({ hostPort = 0 }) => hostPort > 0) ? ports : undefined,
  ];
  return jsonText([
    namespace,
    labels,
    deletionTimestamp !== undefined,
    spec.priority,
    (spec.containers ?? []).map(container),
    spec.initContainers?.map(({ resources }) => resources?.requests),
    spec.overhead,
    spec.nodeSelector,
    spec.affinity,
    spec.tolerations,
    spec.topologySpreadConstraints,
    owner === undefined ? undefined : [owner.apiVersion, owner.kind, owner.name],
    claimUses(pod),
    disksOf(spec),
  ]);
}

function claimUses(pod: WorkloadPod): ClaimUse[] {
  return (pod.spec?.volumes ?? []).flatMap((volume): ClaimUse[] => {
    if (volume.persistentVolumeClaim !== undefined) return [{ name: volume.persistentVolumeClaim.claimName, ephemeral: false }];
    return volume.ephemeral === undefined ? [] : [{ name: `${pod.metadata.name}-${volume.name}`, ephemeral: true }];
  });
}

function compile(pod: WorkloadPod, text: string): PodClass {
  const { namespace = '', labels, deletionTimestamp } = pod.metadata;
  const spec = pod.spec as Spec;
  const owner = controllerOf(pod);
  const spread = spec.topologySpreadConstraints ?? [];
  const constraints = (action: string): SpreadConstraint[] | undefined =>
    spread.length === 0
      ? undefined
      : spread
          .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
          .map(({ topologyKey, maxSkew, minDomains = 1, labelSelector }) => ({
            topologyKey,
            maxSkew,
            minDomains,
            selector: fromLabelSelector(labelSelector),
          }));
  return {
    text,
    namespace,
    labels,
    priority: spec.priority ?? 0,
    terminating: deletionTimestamp !== undefined,
    requests: podRequests(spec),
    ports: hostPorts(spec),
    tolerations: spec.tolerations ?? [],
    nodes: requiredNodes(spec),
    namedNodes: namedNodes(spec),
    preferredNodes: preferredNodes(spec),
    terms: podTerms(namespace, spec),
    hardSpread: constraints('DoNotSchedule'),
    softSpread: constraints('ScheduleAnyway'),
    owner: owner === undefined ? undefined : { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name },
    images: (spec.containers ?? []).map(({ image = '' }) => taggedImage(image)),
    claims: claimUses(pod),
    disks: disksOf(spec),
    placed: new Map(),
    counts: [],
    size: 0,
  };
}

/** The name by which nodes list an image: with a tag, if it has none. */
export const taggedImage = (image: string): string => (image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image);

/** The classes of all pods that are there: one goes with its last pod. */
export class PodClasses {
  private readonly known = new Map<string, PodClass>();
  private readonly namespaces = new Map<string, Set<PodClass>>();
  private readonly added: (podClass: PodClass) => void;
  private readonly removed: (podClass: PodClass) => void;

  constructor(added: (podClass: PodClass) => void, removed: (podClass: PodClass) => void) {
    this.added = added;
    this.removed = removed;
  }
  get size(): number {
    return this.known.size;
  }
  /** The class of a pod, which now counts as one of it. */
  enter(pod: WorkloadPod): PodClass {
    const text = describe(pod);
    let found = this.known.get(text);
    if (found === undefined) {
      found = compile(pod, text);
      this.known.set(text, found);
      const others = this.namespaces.get(found.namespace);
      if (others === undefined) this.namespaces.set(found.namespace, new Set([found]));
      else others.add(found);
      this.added(found);
    }
    found.size++;
    return found;
  }
  leave(podClass: PodClass): void {
    if (--podClass.size > 0) return;
    this.known.delete(podClass.text);
    const others = this.namespaces.get(podClass.namespace);
    others?.delete(podClass);
    if (others?.size === 0) this.namespaces.delete(podClass.namespace);
    this.removed(podClass);
  }
  /** All classes, or those of one namespace. */
  all(namespace?: string): Iterable<PodClass> {
    return namespace === undefined ? this.known.values() : (this.namespaces.get(namespace) ?? []);
  }
}
