/** The pods that an object selects, and what keeps those from being ready that are not. */
import type { Kind } from '../../../api/kinds.ts';
import { containersOf } from '../../../api/pod-containers.ts';
import { podState } from '../../../api/pod-state.ts';
import { listAt, mapAt, textAt, type Value } from '../../../api/values.ts';

const operators: ReadonlyMap<string, (key: string, values: string) => string> = new Map([
  ['In', (key, values) => `${key} in (${values})`],
  ['NotIn', (key, values) => `${key} notin (${values})`],
  ['Exists', (key) => key],
  ['DoesNotExist', (key) => `!${key}`],
]);

const selecting = new Set(['/services', 'apps/deployments', 'apps/replicasets', 'apps/statefulsets', 'apps/daemonsets', 'batch/jobs']);

/** As a parameter of a list: `app=web,tier in (a,b)`; empty where the object selects no pods. */
export function podSelector({ group, resource }: Kind, object: Value): string {
  if (!selecting.has(`${group}/${resource}`)) return '';
  const isService = resource === 'services';
  const labels = isService ? mapAt(object, 'spec', 'selector') : mapAt(object, 'spec', 'selector', 'matchLabels');
  const expressions = isService ? [] : listAt(object, 'spec', 'selector', 'matchExpressions');
  return [
    ...Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`),
    ...expressions.flatMap(
      (one) => operators.get(textAt(one, 'operator'))?.(textAt(one, 'key'), listAt(one, 'values').map(String).join()) ?? [],
    ),
  ].join();
}

export interface PodLine {
  readonly name: string;
  readonly state: string;
  readonly isReady: boolean;
  readonly restarts: number;
  /** Why it is not ready, in the words of the server. */
  readonly message: string;
}

export function podLine(pod: Value): PodLine {
  const conditions = listAt(pod, 'status', 'conditions');
  const isTrue = (type: string): boolean => conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
  const state = podState(pod);
  const isReady = isTrue('Ready') || state === 'Succeeded';
  return {
    name: textAt(pod, 'metadata', 'name'),
    state,
    isReady,
    restarts: containersOf(pod).reduce((sum, { restarts }) => sum + restarts, 0),
    message: isReady ? '' : messageOf(pod, conditions),
  };
}

/** Of a container that waits or has failed, else of a condition, else of the pod. */
function messageOf(pod: Value, conditions: readonly Value[]): string {
  const statuses = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  const ofContainer = statuses.map((status) => textAt(status, 'state', 'waiting', 'message')).find(Boolean);
  const ended = statuses.find((status) => textAt(status, 'lastState', 'terminated', 'reason') !== '');
  const exit =
    ended === undefined
      ? ''
      : ` Last run of ${textAt(ended, 'name')}: ${textAt(ended, 'lastState', 'terminated', 'reason')}, exit code ${textAt(ended, 'lastState', 'terminated', 'exitCode')}.`;
  const ofCondition = conditions.filter((one) => textAt(one, 'status') === 'False').map((one) => textAt(one, 'message'));
  return `${ofContainer ?? (textAt(pod, 'status', 'message') || (ofCondition.find(Boolean) ?? ''))}${exit}`.trim();
}

/** Those that are not ready come first. */
export const podLines = (pods: Iterable<Value>): PodLine[] =>
  [...pods].map(podLine).sort((one, other) => Number(one.isReady) - Number(other.isReady) || (one.name < other.name ? -1 : 1));
