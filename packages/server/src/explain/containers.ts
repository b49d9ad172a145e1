/** Why containers of a pod do not run, or are not ready. */
import type { ContainerStatus } from '@plat-dev/kinds/core/schema/pods/container-status';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, isEnough, quoted, sentence } from './cause.ts';
import { lastWarning } from './warnings.ts';

type Status = Part<ContainerStatus>;

/** How a container ended; empty where only that is known. */
interface Ended {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}

const pullFaults = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
]);
const startFaults = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'ContainerCannotRun']);

/** Init containers come first: the others do not start before they are done. */
export async function containerCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const { status } = target.object as Wire<Pod>;
  const causes: Cause[] = [];
  for (const one of status?.initContainerStatuses ?? []) {
    if (isEnough(causes)) break;
    causes.push(...initCauses(target, one));
  }
  if (causes.length > 0) return causes;
  for (const one of status?.containerStatuses ?? []) {
    if (isEnough(causes)) break;
    causes.push(...(faultOf(target, one) ?? (await unreadyCauses(view, target, one))));
  }
  return causes;
}

function initCauses(target: Target, container: Status): Cause[] {
  const { name = '', state } = container;
  if (state?.terminated?.exitCode === 0) return [];
  const fault = faultOf(target, container);
  if (fault !== undefined) return fault;
  if (state?.running == null) return [];
  return [causeOf(target, 'InitContainerRuns', `The init container ${name} is still running.`, logs(target, name))];
}

/** A container that does not run; undefined if nothing is wrong with it. */
function faultOf(target: Target, container: Status): Cause[] | undefined {
  const { name = '', image = '', state, lastState } = container;
  const { reason = '', message } = state?.waiting ?? {};
  const why = message ? `: ${message}` : '';
  if (pullFaults.has(reason))
    return [causeOf(target, 'ImagePull', sentence(`The image ${image} of the container ${name} cannot be pulled (${reason})${why}`))];
  if (startFaults.has(reason))
    return [causeOf(target, 'ContainerNotStarted', sentence(`The container ${name} cannot be started (${reason})${why}`))];
  const ended: Ended | null | undefined = state?.terminated ?? (reason === 'CrashLoopBackOff' ? (lastState?.terminated ?? {}) : undefined);
  if (ended == null || (state?.terminated != null && ended.exitCode === 0)) return undefined;
  if (ended.reason === 'OOMKilled')
    return [causeOf(target, 'OutOfMemory', `The container ${name} used more memory than its limit and was killed.`)];
  const code = ended.exitCode === undefined ? '' : ` with exit code ${ended.exitCode}`;
  const restarts = container.restartCount ? `, ${container.restartCount} times so far` : '';
  return [
    causeOf(
      target,
      'Crash',
      sentence(`The container ${name} ends${code}${restarts}${ended.message ? `: ${ended.message}` : ''}`),
      logs(target, name, reason !== ''),
    ),
  ];
}

/** A container that runs and is not ready. */
async function unreadyCauses(view: CallersView, target: Target, { name = '', state, ready, started }: Status): Promise<Cause[]> {
  const { spec } = target.object as Wire<Pod>;
  if (ready === true || state?.running == null) return [];
  const container = spec?.containers?.find((one) => one.name === name);
  const warning = await lastWarning(view, target, ['Unhealthy']);
  const why = warning === undefined ? '' : `: ${warning}`;
  if (container?.startupProbe != null && started !== true)
    return [causeOf(target, 'StartupProbe', sentence(`The startup probe of the container ${name} does not succeed${why}`))];
  if (container?.readinessProbe != null)
    return [causeOf(target, 'ReadinessProbe', sentence(`The readiness probe of the container ${name} does not succeed${why}`))];
  return [causeOf(target, 'ContainerNotReady', `The container ${name} runs, and its node has not reported it as ready.`)];
}

function logs({ object: { metadata } }: Target, container: string, isPrevious = false): string {
  return `logs ${quoted(metadata.name ?? '')} -n ${metadata.namespace} -c ${quoted(container)}${isPrevious ? ' --previous' : ''}`;
}
