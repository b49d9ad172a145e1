/** Deletes pods from nodes with taints that they do not tolerate, or no longer tolerate. */
import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import { type Informer, keyOf, splitKey } from '@plat-dev/client/informer';
import { type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { WorkQueue } from '@plat-dev/controllers/runtime/queue';
import { tolerates } from '../scheduler/node-match.ts';
import { EventRecorder } from '../shared/events.ts';
import { isTerminating } from '../shared/pod-state.ts';
import type { PodIndex, WorkloadPod } from '../shared/pods.ts';
import type { NodeObject, WireTaint } from './node.ts';

const evictingTaints = (node: NodeObject | undefined): WireTaint[] =>
  (node?.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute');

/**
 * How long a pod stays on a node with such taints, in milliseconds: 0 where it does not tolerate all of them, undefined where it
 * tolerates them without limit.
 */
export function toleratedFor(pod: WorkloadPod, taints: readonly WireTaint[]): number | undefined {
  let least: number | undefined;
  for (const taint of taints) {
    const matching = (pod.spec?.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) return 0;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds == null) continue;
      const millis = Math.max(Number(tolerationSeconds), 0) * 1000;
      least = least === undefined ? millis : Math.min(least, millis);
    }
  }
  return least;
}

const WORKERS = 8;

/** Starts the evictions. */
export function startEvictions(context: ControllerContext, nodes: Informer<NodeObject>, index: PodIndex): void {
  const { client, clock, queue } = context;
  const recorder = new EventRecorder({ client, clock, component: 'taint-controller' });
  /** When the time of a pod began, by its uid; an entry goes when the pod is no longer to be evicted. */
  const since = new Map<string, number>();
  const aboutPod = (pod: WorkloadPod) => ({ apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata });

  const work: WorkQueue = queue(
    async (key) => {
      const { namespace, name } = splitKey(key);
      const pod = index.informer.get(namespace, name);
      if (pod === undefined || isTerminating(pod)) return undefined;
      const { uid = '' } = pod.metadata;
      const taints = evictingTaints(nodes.get('', pod.spec?.nodeName ?? ''));
      const millis = taints.length === 0 ? undefined : toleratedFor(pod, taints);
      if (millis === undefined) {
        if (since.delete(uid)) recorder.event(aboutPod(pod), 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`);
        return undefined;
      }
      const began = since.get(uid) ?? clock.now();
      const remainingMs = began + millis - clock.now();
      if (remainingMs > 0) {
        since.set(uid, began);
        return remainingMs;
      }
      recorder.event(aboutPod(pod), 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`);
      await client.delete(refs.pods, namespace, name, { preconditions: { uid } }).catch(unlessGoneOrReplaced);
      since.delete(uid);
      return undefined;
    },
    { name: 'taint_eviction', after: [nodes.synced, index.informer.synced], workers: WORKERS },
  );
  nodes.onChange(({ type, object, old }) => {
    const oldTaints = evictingTaints(old);
    const now = type === 'deleted' ? [] : evictingTaints(object);
    if (oldTaints.length === 0 && now.length === 0) return;
    if (oldTaints.length === now.length && oldTaints.every(({ key, value }, i) => key === now[i]?.key && value === now[i]?.value)) return;
    for (const pod of index.onNode(object.metadata.name ?? '')) work.add(keyOf(pod));
  });
  index.informer.onChange(({ type, object }) => {
    if (type === 'deleted') {
      since.delete(object.metadata.uid ?? '');
      return;
    }
    const node = object.spec?.nodeName ?? '';
    if (node !== '' && evictingTaints(nodes.get('', node)).length > 0) work.add(keyOf(object));
  });
}
