/** Whole pods, in one informer that all workload controllers, the scheduler and the nodes share, and the indexes on it. */
import type { Informer } from '@plat-dev/client/informer';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { Informers } from '@plat-dev/controllers/runtime/informers';
import { alikePods } from '@plat-dev/controllers/runtime/pods';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { OwnerReference } from '@plat-dev/kinds/meta';
import type { Wire } from '@plat-dev/kinds/wire';

/** A pod as received. It is shared: nobody may change it. */
export type WorkloadPod = Wire<Pod>;

export function workloadPods(informers: Informers): Informer<WorkloadPod> {
  return informers.of<WorkloadPod>(refs.pods, { alike: alikePods, takesWritersObjects: true });
}

export const controllerOf = ({
  metadata,
}: {
  readonly metadata: { readonly ownerReferences?: OwnerReference[] };
}): OwnerReference | undefined => metadata.ownerReferences?.find(({ controller }) => controller === true);

const none: ReadonlyMap<string, WorkloadPod> = new Map();

/** Pods by the uid of their controller, by namespace where they have none, and by node. */
export class PodIndex {
  readonly informer: Informer<WorkloadPod>;
  private readonly owners = new Map<string, Map<string, WorkloadPod>>();
  private readonly orphans = new Map<string, Map<string, WorkloadPod>>();
  private readonly nodes = new Map<string, Map<string, WorkloadPod>>();

  constructor(informer: Informer<WorkloadPod>) {
    this.informer = informer;
    informer.onChange(({ type, object, old }) => {
      if (old !== undefined) this.each(old, remove);
      if (type !== 'deleted') this.each(object, add);
    });
  }
  /** Pods that an object controls. */
  ownedBy(uid: string): Iterable<WorkloadPod> {
    return (this.owners.get(uid) ?? none).values();
  }
  /** Pods of a namespace that nothing controls. */
  orphansIn(namespace: string): Iterable<WorkloadPod> {
    return (this.orphans.get(namespace) ?? none).values();
  }
  onNode(name: string): Iterable<WorkloadPod> {
    return (this.nodes.get(name) ?? none).values();
  }

  private each(pod: WorkloadPod, change: (index: Map<string, Map<string, WorkloadPod>>, key: string, pod: WorkloadPod) => void): void {
    const owner = controllerOf(pod)?.uid;
    if (owner === undefined) change(this.orphans, pod.metadata.namespace ?? '', pod);
    else change(this.owners, owner, pod);
    const node = pod.spec?.nodeName ?? '';
    if (node !== '') change(this.nodes, node, pod);
  }
}

function add(index: Map<string, Map<string, WorkloadPod>>, key: string, pod: WorkloadPod): void {
  let pods = index.get(key);
  if (pods === undefined) {
    pods = new Map();
    index.set(key, pods);
  }
  pods.set(`${pod.metadata.namespace}/${pod.metadata.name}`, pod);
}

function remove(index: Map<string, Map<string, WorkloadPod>>, key: string, pod: WorkloadPod): void {
  const pods = index.get(key);
  if (pods?.delete(`${pod.metadata.namespace}/${pod.metadata.name}`) && pods.size === 0) index.delete(key);
}

/** The index that all share. Use it where all its listeners began before yours: call this before `workloadPods(…).onChange`. */
export function podIndex(informers: Informers): PodIndex {
  return informers.share('pods by owner and node', () => new PodIndex(workloadPods(informers)));
}
