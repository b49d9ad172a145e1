/**
 * What each node refuses about a pod, in the state of some objects: the checks of a decision, apart from the running scheduler, so that
 * every server can say it, whichever of them schedules.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Work } from '@plat-dev/lib/slices';
import { domainName, type Identity } from '@plat-dev/meta/identity';
import type { WorkloadPod } from '../shared/pods.ts';
import { Cluster } from './cluster.ts';
import { misfitWithNominated } from './filters.ts';
import { Plan } from './plan.ts';
import type { WireNode } from './read-node.ts';
import { PodState } from './state.ts';
import { VolumeObjects, type VolumeStores } from './volumes/objects.ts';
import { PodVolumes, podVolumes } from './volumes/pod-volumes.ts';

/** The objects that a decision looks at. */
export interface PlacementObjects {
  readonly nodes: readonly ApiObject[];
  readonly pods: readonly ApiObject[];
  readonly namespaces: readonly ApiObject[];
  readonly claims: readonly ApiObject[];
  readonly volumes: readonly ApiObject[];
  readonly classes: readonly ApiObject[];
  readonly drivers: readonly ApiObject[];
}

/** A node, and why the pod cannot be there; no reasons: it fits. */
export interface NodeRefusal {
  readonly node: string;
  readonly reasons: readonly string[];
}

/** Spreading by default only prefers nodes. */
const noDefaults = { version: () => 0, selector: () => undefined };

export function* nodeRefusals(identity: Identity, pod: ApiObject, objects: PlacementObjects): Work<NodeRefusal[]> {
  const cluster = yield* clusterOf(identity, objects);
  const waitingPod = new PodState(keyOf(pod), pod as WorkloadPod, cluster.enter(pod as WorkloadPod));
  const plan = new Plan(waitingPod.class, {
    cluster,
    defaults: noDefaults,
    unschedulableTaint: domainName(identity, 'unschedulable', 'node'),
  });
  yield* plan.refresh();
  const { claims } = waitingPod.class;
  const volumeObjects = new VolumeObjects(identity, storesOf(objects));
  const volumes = claims.length === 0 ? undefined : podVolumes(volumeObjects, waitingPod, claims, (claim) => cluster.usesClaim(claim));
  const refusals: NodeRefusal[] = [];
  for (const node of cluster.list()) {
    yield;
    const misfit =
      volumes === undefined || volumes instanceof PodVolumes ? misfitWithNominated(cluster, waitingPod, plan, volumes, node) : volumes;
    refusals.push({ node: node.name, reasons: misfit?.reasons ?? [] });
  }
  return refusals;
}

function* clusterOf(identity: Identity, { nodes, pods, namespaces }: PlacementObjects): Work<Cluster> {
  const cluster = new Cluster({
    hostname: domainName(identity, 'hostname'),
    zone: domainName(identity, 'zone', 'topology'),
    region: domainName(identity, 'region', 'topology'),
  });
  for (const node of nodes) cluster.setNode(node as WireNode);
  for (const { metadata } of namespaces) cluster.setNamespace(metadata.name ?? '', metadata.labels ?? {});
  for (const pod of pods as readonly WorkloadPod[]) {
    yield;
    const nodeName = pod.spec?.nodeName ?? '';
    // Pods that are over use nothing.
    if (nodeName === '' || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') continue;
    cluster.put(new PodState(keyOf(pod), pod, cluster.enter(pod)), cluster.nodeOf(nodeName));
  }
  return cluster;
}

const keyOf = ({ metadata }: ApiObject): string => `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;

function storesOf({ claims, volumes, classes, drivers }: PlacementObjects): VolumeStores {
  const store = (objects: readonly ApiObject[]) => {
    const byKey = new Map(objects.map((object) => [keyOf(object), object]));
    return { get: (namespace: string, name: string) => byKey.get(`${namespace}/${name}`) as never, list: () => objects as never };
  };
  return { claims: store(claims), volumes: store(volumes), classes: store(classes), drivers: store(drivers) };
}
