/** The conditions and the phase of a pod, as a node agent derives them from the states of its containers. */
import { isSidecar } from '@plat-dev/kinds/core/pods/pod-amounts';
import { formatTime } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { ContainerStatus, Status } from './container-world.ts';
import { restarts, restartsPod } from './containers.ts';
import type { Container } from './process.ts';

type Condition = NonNullable<Status['conditions']>[number];
interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

export interface States {
  readonly init: readonly ContainerStatus[];
  readonly main: readonly ContainerStatus[];
  /** All init containers have succeeded. */
  readonly initialized: boolean;
  /** An init container failed and does not start again. */
  readonly initFailed: boolean;
}

export function phaseOf(pod: WorkloadPod, { main, initialized, initFailed }: States): string {
  const { spec } = pod;
  if (initFailed) return 'Failed';
  if (!initialized) return 'Pending';
  const isWaiting = ({ state, lastState }: ContainerStatus): boolean =>
    state?.running == null && state?.terminated == null && lastState?.terminated == null;
  if (main.some(isWaiting)) return 'Pending';
  if (main.some(({ state }) => state?.running != null)) return 'Running';
  // A container whose image was changed waits, and starts again whatever the policy is.
  if (main.some(({ state }) => state?.terminated == null)) return 'Running';
  const byName = new Map(spec?.containers?.map((container) => [container.name, container as Container]));
  const isOver = main.every(({ name, state }) => {
    const container = byName.get(name);
    const exitCode = state?.terminated?.exitCode ?? 0;
    return container === undefined || !(restarts(pod, container, 'main', exitCode) || restartsPod(container, exitCode));
  });
  if (!isOver) return 'Running';
  return main.every(({ state }) => state?.terminated?.exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** Those of the pod's node first; others keep their places behind them. */
export function conditionsOf(pod: WorkloadPod, states: States, phase: string, now: number): Condition[] {
  const old = pod.status?.conditions ?? [];
  const sidecars = new Set(pod.spec?.initContainers?.filter(isSidecar).map(({ name }) => name));
  const containersReady = containersReadyOf(states, sidecars, phase);
  const conditions: NewCondition[] = [initializedOf(states, sidecars, phase), readyOf(pod, containersReady), containersReady];
  const scheduled = old.find(({ type }) => type === 'PodScheduled') ?? stamped({ type: 'PodScheduled', status: 'True' }, undefined, now);
  const own = conditions.map((one) =>
    stamped(
      one,
      old.find(({ type }) => type === one.type),
      now,
    ),
  );
  const names = new Set([...own.map(({ type }) => type), 'PodScheduled']);
  return [...own, scheduled, ...old.filter(({ type }) => !names.has(type))];
}

function stamped(condition: NewCondition, old: Condition | undefined, now: number): Condition {
  const lastTransitionTime = old?.status === condition.status && old.lastTransitionTime != null ? old.lastTransitionTime : formatTime(now);
  return { lastProbeTime: null, lastTransitionTime, ...condition } as unknown as Condition;
}

function initializedOf({ init, initialized }: States, sidecars: ReadonlySet<string>, phase: string): NewCondition {
  if (phase === 'Succeeded') return { type: 'Initialized', status: 'True', reason: 'PodCompleted' };
  if (initialized) return { type: 'Initialized', status: 'True' };
  const isDone = ({ name, state, started }: ContainerStatus): boolean =>
    sidecars.has(name) ? started === true : state?.terminated?.exitCode === 0;
  const open = init.filter((status) => !isDone(status)).map(({ name }) => name);
  return {
    type: 'Initialized',
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${open.join(' ')}]`,
  };
}

function containersReadyOf({ init, main }: States, sidecars: ReadonlySet<string>, phase: string): NewCondition {
  const type = 'ContainersReady';
  if (phase === 'Succeeded') return { type, status: 'False', reason: 'PodCompleted' };
  const unready = [...init.filter(({ name }) => sidecars.has(name)), ...main].filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { type, status: 'True' };
  return { type, status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
}

/** A pod is ready when its containers are and all its readiness gates are true. */
function readyOf({ spec, status }: WorkloadPod, containersReady: NewCondition): NewCondition {
  if (containersReady.status !== 'True') return { ...containersReady, type: 'Ready' };
  const missing = (spec?.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = status?.conditions?.find(({ type }) => type === conditionType);
    if (condition === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    return condition.status === 'True'
      ? []
      : [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (missing.length === 0) return { type: 'Ready', status: 'True' };
  return { type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') };
}
