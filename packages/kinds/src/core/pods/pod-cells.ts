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
  const podSummary = summary(pod);
  const restarts =
    podSummary.last === undefined ? `${podSummary.restarts}` : `${podSummary.restarts} (${ageAt(env.now(), podSummary.last)} ago)`;
  return [
    nameCell(pod),
    `${podSummary.ready}/${spec.containers?.length ?? 0}`,
    statusWord(pod, podSummary.reason),
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
  const statusByType = new Map([...(status.conditions ?? [])].reverse().map((condition) => [condition.type, condition.status]));
  const trueGates = readinessGates.filter(({ conditionType }) => statusByType.get(conditionType) === 'True');
  return `${trueGates.length}/${readinessGates.length}`;
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
  const podSummary: Summary = { reason: status.reason ?? status.phase ?? '', ready: 0, restarts: 0, last: undefined };
  if (stillInitializing(pod, podSummary)) return podSummary;
  podSummary.restarts = 0;
  let running = false;
  // The reason of the first container that has one wins.
  for (const container of [...(status.containerStatuses ?? [])].reverse()) {
    count(container, podSummary);
    const { waiting, terminated } = container.state;
    if (waiting?.reason !== undefined) podSummary.reason = waiting.reason;
    else if (terminated !== undefined) podSummary.reason = ended(terminated);
    else if (container.ready && container.state.running !== undefined) {
      running = true;
      podSummary.ready++;
    }
  }
  if (podSummary.reason === 'Completed' && running) {
    const ready = status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
    podSummary.reason = ready ? 'Running' : 'NotReady';
  }
  return podSummary;
}

/** Whether an init container has not completed; the first one sets the reason. */
function stillInitializing({ spec, status }: Pod, podSummary: Summary): boolean {
  const list = status.initContainerStatuses ?? [];
  for (let i = 0; i < list.length; i++) {
    const container = list[i] as ContainerStatus;
    count(container, podSummary);
    const { terminated, waiting } = container.state;
    if (terminated?.exitCode === 0) continue;
    if (terminated !== undefined) podSummary.reason = `Init:${ended(terminated)}`;
    else if (waiting?.reason !== undefined && waiting.reason !== 'PodInitializing') podSummary.reason = `Init:${waiting.reason}`;
    else podSummary.reason = `Init:${i}/${spec.initContainers?.length ?? 0}`;
    return true;
  }
  return false;
}

function ended({ reason, signal = 0, exitCode }: ContainerStateTerminated): string {
  return reason ?? (signal !== 0 ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function count({ restartCount, lastState }: ContainerStatus, podSummary: Summary): void {
  podSummary.restarts += restartCount;
  const finished = lastState.terminated?.finishedAt;
  if (finished !== undefined && (podSummary.last === undefined || timeMillis(finished) > timeMillis(podSummary.last)))
    podSummary.last = finished;
}
