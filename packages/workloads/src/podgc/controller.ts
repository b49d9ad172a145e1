/**
 * Deletes pods that nothing else deletes: those whose node is gone, those that are terminating and were never bound to a node, and
 * the oldest finished ones where there are too many.
 */
import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { type Controller, refs } from '@plat-dev/controllers/runtime/controller';
import { timeMillis } from '@plat-dev/meta/time';
import type { NodeObject } from '../nodelife/node.ts';
import { isFinished, isTerminating } from '../shared/pod-state.ts';
import { podIndex, type WorkloadPod } from '../shared/pods.ts';

export interface PodCollectionSettings {
  /** Finished pods that are kept; 0: all of them. */
  readonly finishedLimit: number;
}

/** A node has to be gone for this time before its pods are. */
const QUARANTINE_MS = 40_000;
/** Finished pods are counted this long after one was finished. */
const PERIOD_MS = 20_000;
/** The key of the work on finished pods; no pod has it. */
const FINISHED = '';

const nodeOf = (pod: WorkloadPod): string => pod.spec?.nodeName ?? '';
const created = ({ metadata }: WorkloadPod): number => (metadata.creationTimestamp == null ? 0 : timeMillis(metadata.creationTimestamp));

/** The finished pods beyond a limit, the oldest first. */
function podsBeyond(finished: readonly WorkloadPod[], limit: number): WorkloadPod[] {
  if (finished.length <= limit) return [];
  const order = (a: WorkloadPod, b: WorkloadPod): number => created(a) - created(b) || (keyOf(a) < keyOf(b) ? -1 : 1);
  return [...finished].sort(order).slice(0, finished.length - limit);
}

export const podCollector = ({ finishedLimit }: PodCollectionSettings): Controller => ({
  name: 'podgc',
  account: 'pod-garbage-collector',
  start({ informers, queue, client }) {
    const index = podIndex(informers);
    const pods = index.informer;
    const nodes = informers.of<NodeObject>(refs.nodes);
    /** Keys of finished pods. */
    const finished = new Set<string>();
    const remove = async (pod: WorkloadPod): Promise<void> => {
      const { namespace = '', name = '', uid = '' } = pod.metadata;
      await client.delete(refs.pods, namespace, name, { gracePeriodSeconds: 0, preconditions: { uid } }).catch(unlessGoneOrReplaced);
    };
    const work = queue(
      async (key) => {
        if (key === FINISHED) {
          const finishedPods = [...finished].flatMap((one) => pods.get(splitKey(one).namespace, splitKey(one).name) ?? []);
          await Promise.all(podsBeyond(finishedPods, finishedLimit).map(remove));
          return;
        }
        const { namespace, name } = splitKey(key);
        const pod = pods.get(namespace, name);
        if (pod === undefined) return;
        const node = nodeOf(pod);
        if (node === '') {
          if (isTerminating(pod)) await remove(pod);
          return;
        }
        if (nodes.get('', node) !== undefined) return;
        // The informer of nodes may be behind that of pods.
        if ((await client.find(refs.nodes, '', node, true)) === undefined) await remove(pod);
      },
      { after: [nodes.synced, pods.synced] },
    );
    const look = (pod: WorkloadPod): void => {
      const node = nodeOf(pod);
      if (node === '' && isTerminating(pod)) work.add(keyOf(pod));
      else if (node !== '' && nodes.isSynced && nodes.get('', node) === undefined) work.addAfter(keyOf(pod), QUARANTINE_MS);
    };
    pods.onChange(({ type, object }) => {
      const key = keyOf(object);
      if (type === 'deleted') {
        finished.delete(key);
        return;
      }
      if (isFinished(object)) {
        finished.add(key);
        if (finishedLimit > 0 && finished.size > finishedLimit) work.addAfter(FINISHED, PERIOD_MS);
      } else finished.delete(key);
      look(object);
    });
    nodes.onChange(({ type, object }) => {
      if (type === 'deleted') for (const pod of index.onNode(object.metadata.name ?? '')) look(pod);
    });
    nodes.synced.then(
      () => {
        for (const pod of pods.list()) look(pod);
      },
      () => {},
    );
  },
});
