/** A word about an object for its node in the graph. */
import type { KindReference } from '../../api/kinds.ts';
import type { ApiObject } from '../../api/objects.ts';
import { podState } from '../../api/pod-state.ts';
import { listAt, numberAt, textAt, valueAt } from '../../api/values.ts';
import { type StatusTone, toneOf } from '../../parts/tones.ts';

export interface NodeState {
  readonly text: string;
  readonly tone: StatusTone;
}

export function stateOf({ group, resource }: KindReference, object: ApiObject): NodeState | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return { text: 'Terminating', tone: 'busy' };
  switch (`${group}/${resource}`) {
    case '/pods':
      return podNodeState(object);
    case 'apps/deployments':
    case 'apps/statefulsets':
    case 'apps/replicasets':
      return ready(numberAt(object, 'status', 'readyReplicas') ?? 0, numberAt(object, 'spec', 'replicas') ?? 1);
    case 'apps/daemonsets':
      return ready(numberAt(object, 'status', 'numberReady') ?? 0, numberAt(object, 'status', 'desiredNumberScheduled') ?? 0);
    case 'batch/jobs':
      return jobState(object);
    case '/persistentvolumeclaims': {
      const phase = textAt(object, 'status', 'phase');
      return phase === '' ? undefined : { text: phase, tone: toneOf(phase) ?? 'busy' };
    }
    default:
      return undefined;
  }
}

function podNodeState(pod: ApiObject): NodeState {
  const text = podState(pod);
  const isReady = listAt(pod, 'status', 'conditions').some((one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True');
  if (text === 'Running' && !isReady) return { text: 'Running, not ready', tone: 'busy' };
  return { text, tone: toneOf(text) ?? 'busy' };
}

const ready = (count: number, wanted: number): NodeState => ({
  text: `${count} of ${wanted} ready`,
  tone: wanted === 0 ? 'over' : count >= wanted ? 'good' : 'busy',
});

function jobState(job: ApiObject): NodeState {
  const isTrue = (type: string): boolean =>
    listAt(job, 'status', 'conditions').some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
  if (isTrue('Failed')) return { text: 'Failed', tone: 'bad' };
  if (isTrue('Complete')) return { text: 'Complete', tone: 'over' };
  return valueAt(job, 'spec', 'suspend') === true ? { text: 'Suspended', tone: 'over' } : { text: 'Running', tone: 'busy' };
}
