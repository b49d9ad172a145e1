/** The Table row of a pod: the status of its containers in one word, and the number of restarts. */
import { ageAt } from '@plat-dev/meta/age';
import { timeMillis } from '@plat-dev/meta/time';
import { ageCell, nameCell } from '../../cells.ts';
import type { Cell, KindEnv } from '../../kind.ts';
import type { ContainerStateTerminated, ContainerStatus } from '../schema/pods/container-status.ts';
import type { Pod } from '../schema/pods/pod.ts';
import { NONE } from './template-cells.ts';

export function podCells(pod: Pod, env: KindEnv): Cell[] {
  const { spec, status } = pod;
  const seen = summary(pod);
  const restarts = seen.last === undefined ? `${seen.restarts}` : `${seen.restarts} (${ageAt(env.now(), seen.last)} ago)`;
  return [
    nameCell(pod),
    `${seen.ready}/${spec.containers?.length ?? 0}`,
    statusWord(pod, seen.reason),
    restarts,
    ageCell(pod, env),
    status.podIPs?.[0]?.ip ?? NONE,
    spec.nodeName ?? NONE,
    status.nominatedNodeName ?? NONE,
    gates(pod),
  ];
}

function statusWord(pod: Pod, reason: string): string {
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  return pod.status.reason === 'NodeLost' ? 'Unknown' : 'Terminating';
}

/** How many readiness gates are met. */
function gates({ spec, status }: Pod): string {
  const { readinessGates } = spec;
  if (readinessGates === undefined) return NONE;
  // Of several conditions of one type the first counts.
  const known = new Map([...(status.conditions ?? [])].reverse().map((condition) => [condition.type, condition.status]));
  const held = readinessGates.filter(({ conditionType }) => known.get(conditionType) === 'True');
  return `${held.length}/${readinessGates.length}`;
}

interface Summary {
  reason: string;
  ready: number;
  restarts: number;
  /** When a container last terminated before a restart. */
  last: string | undefined;
}

function summary(pod: Pod): Summary {
  const { status } = pod;
  const seen: Summary = { reason: status.reason ?? status.phase ?? '', ready: 0, restarts: 0, last: undefined };
  if (stillInitializing(pod, seen)) return seen;
  seen.restarts = 0;
  let running = false;
  // The reason of the first container that has one wins.
  for (const container of [...(status.containerStatuses ?? [])].reverse()) {
    count(container, seen);
    const { waiting, terminated } = container.state;
    if (waiting?.reason !== undefined) seen.reason = waiting.reason;
    else if (terminated !== undefined) seen.reason = ended(terminated);
    else if (container.ready && container.state.running !== undefined) {
      running = true;
      seen.ready++;
    }
  }
  if (seen.reason === 'Completed' && running) {
    const ready = status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
    seen.reason = ready ? 'Running' : 'NotReady';
  }
  return seen;
}

/** Whether an init container has not completed; the first one sets the reason. */
function stillInitializing({ spec, status }: Pod, seen: Summary): boolean {
  const list = status.initContainerStatuses ?? [];
  for (let i = 0; i < list.length; i++) {
    const container = list[i] as ContainerStatus;
    count(container, seen);
    const { terminated, waiting } = container.state;
    if (terminated?.exitCode === 0) continue;
    if (terminated !== undefined) seen.reason = `Init:${ended(terminated)}`;
    else if (waiting?.reason !== undefined && waiting.reason !== 'PodInitializing') seen.reason = `Init:${waiting.reason}`;
    else seen.reason = `Init:${i}/${spec.initContainers?.length ?? 0}`;
    return true;
  }
  return false;
}

function ended({ reason, signal = 0, exitCode }: ContainerStateTerminated): string {
  return reason ?? (signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function count({ restartCount, lastState }: ContainerStatus, seen: Summary): void {
  seen.restarts += restartCount;
  const finished = lastState.terminated?.finishedAt;
  if (finished !== undefined && (seen.last === undefined || timeMillis(finished) > timeMillis(seen.last))) seen.last = finished;
}
