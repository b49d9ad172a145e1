/**
 * What containers have of cpu and memory, and what they are to have: a resize is done at once where the node has room, by a restart
 * where the container asks for one.
 *
 *   spec 1, status 1                      nothing
 *   spec 2, status 1, room                status 2
 *   spec 2, status 1, RestartContainer    status 1 and PodResizeInProgress until the container has restarted, then 2
 *   spec 9, status 1, no room             status 1 and PodResizePending: Deferred, or Infeasible on a node that is too small
 */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { formatTime } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { ContainerStatus, Status } from './container-world.ts';
import type { Container } from './process.ts';

export interface Refusal {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
}

export interface Resize {
  /** Undefined: there is nothing to refuse, or room for it. */
  readonly refusal: Refusal | undefined;
  readonly restarts: (container: Container, status: ContainerStatus) => boolean;
}

/** Servers that count the changes of pods have the fields of resizes. */
const canResize = ({ metadata }: WorkloadPod): boolean => metadata.generation !== undefined;

export function resizeOf({ pod, refusesResize }: { readonly pod: WorkloadPod; readonly refusesResize: () => Refusal | undefined }): Resize {
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])];
  const byName = new Map(containersOf(pod).map((container) => [container.name, container]));
  const isWanted =
    canResize(pod) &&
    statuses.some((status) => {
      const container = byName.get(status.name);
      return container !== undefined && differs(container, status);
    });
  const refusal = isWanted ? refusesResize() : undefined;
  return { refusal, restarts: (container, status) => isWanted && refusal === undefined && needsRestart(container, status) };
}

const containersOf = ({ spec }: WorkloadPod): Container[] => [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];

type Resources = NonNullable<ContainerStatus['resources']>;
function wantedResources({ resources }: Container): Resources {
  const { limits, requests } = resources ?? {};
  return { ...(limits != null && { limits }), ...(requests != null && { requests }) };
}
/** Whether a running container has other resources than it is to have. */
function differs(container: Container, { state, resources }: ContainerStatus): boolean {
  return state?.running != null && resources != null && !equal(resources, wantedResources(container));
}

function needsRestart(container: Container, status: ContainerStatus): boolean {
  if (!differs(container, status)) return false;
  const wanted = wantedResources(container);
  const isChanged = (name: string): boolean =>
    (['requests', 'limits'] as const).some((which) => own(wanted[which], name) !== own(status.resources?.[which] ?? undefined, name));
  return (container.resizePolicy ?? []).some(
    ({ resourceName, restartPolicy }) => restartPolicy === 'RestartContainer' && isChanged(resourceName),
  );
}

/** The statuses with what the containers have by now. */
export function withResources(pod: WorkloadPod, { refusal, restarts }: Resize, statuses: readonly ContainerStatus[]): ContainerStatus[] {
  if (!canResize(pod)) return [...statuses];
  const byName = new Map(containersOf(pod).map((container) => [container.name, container]));
  return statuses.map((status) => {
    const container = byName.get(status.name);
    if (container === undefined || status.state?.running == null) return status;
    const isLater = status.resources != null && (refusal !== undefined || restarts(container, status));
    const resources = isLater ? status.resources : wantedResources(container);
    const allocated = refusal === undefined ? wantedResources(container).requests : status.allocatedResources;
    if (equal(resources, status.resources) && equal(allocated, status.allocatedResources)) return status;
    const { allocatedResources: _allocated, ...others } = status;
    return { ...others, resources, ...(allocated != null && { allocatedResources: allocated }) } as ContainerStatus;
  });
}

type Condition = NonNullable<Status['conditions']>[number];
const resizeTypes = ['PodResizePending', 'PodResizeInProgress'];

/** The conditions with those that say how a resize stands. */
export function resizeConditions(
  pod: WorkloadPod,
  { refusal, restarts }: Resize,
  { init, main }: { readonly init: readonly ContainerStatus[]; readonly main: readonly ContainerStatus[] },
  conditions: readonly Condition[],
  now: number,
): Condition[] {
  const others = conditions.filter(({ type }) => !resizeTypes.includes(type));
  const byName = new Map(containersOf(pod).map((container) => [container.name, container]));
  const isRestarting = [...init, ...main].some((status) => {
    const container = byName.get(status.name);
    return container !== undefined && status.resources != null && restarts(container, status);
  });
  if (refusal === undefined && !isRestarting) return others;
  const type = refusal === undefined ? 'PodResizeInProgress' : 'PodResizePending';
  const old = pod.status?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = old?.lastTransitionTime ?? formatTime(now);
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return [...others, { type, status: 'True', lastProbeTime: null, lastTransitionTime, ...observed, ...refusal } as unknown as Condition];
}
