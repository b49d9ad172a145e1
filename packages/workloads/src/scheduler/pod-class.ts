import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import type { LabelSelector } from '@plat-dev/kinds/meta';
import type { Part } from '@plat-dev/kinds/wire';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { fromLabelSelector, type Labels } from '@plat-dev/meta/labels';
import { controllerOf, type WorkloadPod } from '../shared/pods.ts';
import { hostPorts } from './host-ports.ts';
import { namedNodes, preferredNodes, requiredNodes } from './node-match.ts';
import { podTerms } from './pod-terms.ts';
import { effectiveRequests, podRequests } from './requests.ts';
import type { ClaimUse, LabelSet, PodClass, SpreadConstraint } from './state.ts';
import { taggedImage } from './tagged-image.ts';
import { disksOf } from './volumes/disks.ts';

type Spec = NonNullable<WorkloadPod['spec']>;

/** Everything of a pod that decides where it may go and what its presence means for others. */
function describe(pod: WorkloadPod): string {
  const { namespace, labels, deletionTimestamp } = pod.metadata;
  const spec = pod.spec as Spec;
  const owner = controllerOf(pod);
  const requests = effectiveRequests(pod);
  const container = (one: NonNullable<Spec['containers']>[number]): unknown => [
    one.image,
    requests(one as Container),
    one.ports?.some(({ hostPort = 0 }) => hostPort > 0) ? one.ports : undefined,
  ];
  return jsonText([
    namespace,
    labels,
    deletionTimestamp !== undefined,
    spec.priority,
    (spec.containers ?? []).map(container),
    spec.initContainers?.map((one) => [requests(one as Container), one.restartPolicy]),
    spec.resources?.requests,
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

/** Servers before 1.34 leave it to the scheduler to select pods that have the same value of some labels. */
function withLabelsOf(
  labels: Labels | undefined,
  keys: readonly string[],
  selector: Part<LabelSelector> | undefined,
): Part<LabelSelector> | undefined {
  if (keys.length === 0 || selector === undefined) return selector;
  const requirements = keys.flatMap((key) => {
    const value = own(labels, key);
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }];
  });
  return { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...requirements] };
}

function compile(pod: WorkloadPod, text: string, labelSet: LabelSet): PodClass {
  const { namespace, labels } = labelSet;
  const { deletionTimestamp } = pod.metadata;
  const spec = pod.spec as Spec;
  const owner = controllerOf(pod);
  const spread = spec.topologySpreadConstraints ?? [];
  const constraints = (action: string): SpreadConstraint[] | undefined =>
    spread.length === 0
      ? undefined
      : spread
          .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
          .map(({ topologyKey, maxSkew, minDomains = 1, labelSelector, matchLabelKeys }) => ({
            topologyKey,
            maxSkew,
            minDomains,
            selector: fromLabelSelector(withLabelsOf(labels, matchLabelKeys ?? [], labelSelector)),
          }));
  return {
    text,
    namespace,
    labels,
    labelSet,
    priority: spec.priority ?? 0,
    terminating: deletionTimestamp !== undefined,
    requests: podRequests(pod),
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
    podsByNode: new Map(),
    counts: new Set(),
    size: 0,
  };
}

/** The classes of all pods that are there: one goes with its last pod. */
export class PodClasses {
  private readonly classesByText = new Map<string, PodClass>();
  private readonly namespaces = new Map<string, Set<PodClass>>();
  private readonly labelSets = new Map<string, LabelSet>();
  private readonly onAdded: (podClass: PodClass) => void;
  private readonly removed: (podClass: PodClass) => void;

  constructor(onAdded: (podClass: PodClass) => void, removed: (podClass: PodClass) => void) {
    this.onAdded = onAdded;
    this.removed = removed;
  }
  get size(): number {
    return this.classesByText.size;
  }
  /** The class of a pod, which now counts as one of it. */
  enter(pod: WorkloadPod): PodClass {
    const text = describe(pod);
    let existing = this.classesByText.get(text);
    if (existing === undefined) {
      existing = compile(pod, text, this.labelSetOf(pod));
      existing.labelSet.classes++;
      this.classesByText.set(text, existing);
      const others = this.namespaces.get(existing.namespace);
      if (others === undefined) this.namespaces.set(existing.namespace, new Set([existing]));
      else others.add(existing);
      this.onAdded(existing);
    }
    existing.size++;
    return existing;
  }
  leave(podClass: PodClass): void {
    if (--podClass.size > 0) return;
    this.classesByText.delete(podClass.text);
    const others = this.namespaces.get(podClass.namespace);
    others?.delete(podClass);
    if (others?.size === 0) this.namespaces.delete(podClass.namespace);
    if (--podClass.labelSet.classes === 0) this.labelSets.delete(podClass.labelSet.text);
    this.removed(podClass);
  }
  private labelSetOf({ metadata: { namespace = '', labels } }: WorkloadPod): LabelSet {
    const text = jsonText([namespace, labels]);
    let labelSet = this.labelSets.get(text);
    if (labelSet === undefined) {
      labelSet = { text, namespace, labels, classes: 0 };
      this.labelSets.set(text, labelSet);
    }
    return labelSet;
  }
  /** All classes, or those of one namespace. */
  all(namespace?: string): Iterable<PodClass> {
    return namespace === undefined ? this.classesByText.values() : (this.namespaces.get(namespace) ?? []);
  }
}
