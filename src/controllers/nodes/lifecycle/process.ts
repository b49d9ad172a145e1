/** What the process of a container does: how long it runs, and how it exits. */
import type { WorkloadPod } from '../../workloads/shared/pods.ts';
import { controllerOf } from '../../workloads/shared/pods.ts';
import { argvOf, type Container, commandOf } from '../container-command.ts';
import { FOREVER_MS } from '../shell/programs.ts';
import { type Environment, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import { COMMAND_WORK, OUTCOME_WORK } from '../shell/work.ts';
import { delayOf, type Lifecycle, reasonOf } from './lifecycle.ts';

export type { Container };
export type Role = 'init' | 'main';

export interface Process {
  /** Undefined: it runs until it is stopped. */
  readonly runMs: number | undefined;
  readonly exitCode: number;
  readonly reason: string;
}

const forever: Process = { runMs: undefined, exitCode: 0, reason: '' };
/** How long a pod of a job runs if neither its command nor its life cycle says so. */
const JOB_MS = 100;
/** A command that waits or writes more often than this is one that never ends. */
const STEPS_LIMIT = 5000;
/** What the commands of one pod may do altogether, and each of many at least. */
const POD_WORK = OUTCOME_WORK;
const LEAST_WORK = 10 * COMMAND_WORK;

/** How far each of so many commands is followed when all of them are looked at together. */
export const workOf = (commands: number): number => Math.max(POD_WORK / Math.max(commands, 1), LEAST_WORK);

export interface ProcessQuestion {
  readonly pod: WorkloadPod;
  readonly container: Container;
  readonly role: Role;
  readonly lifecycle: Lifecycle;
  readonly seed: string;
  /** The environment of a command, made where there is one. */
  readonly environment: () => Environment;
}

export function processOf({ pod, container, role, lifecycle, seed, environment }: ProcessQuestion): Process {
  if (role === 'init' && (lifecycle.init.delayMs > 0 || lifecycle.init.exitCode !== 0)) {
    const { exitCode } = lifecycle.init;
    return { runMs: delayOf(lifecycle.init, seed), exitCode, reason: reasonOf(exitCode) };
  }
  if (role === 'main' && lifecycle.exit !== undefined) {
    const { exitCode, reason } = lifecycle.exit;
    return { runMs: delayOf(lifecycle.exit, seed), exitCode, reason };
  }
  const known = ofCommand(container, environment, workOf(containersOf(pod)));
  if (known !== undefined) return known;
  if (role === 'init') return { runMs: delayOf(lifecycle.init, seed), exitCode: 0, reason: 'Completed' };
  return pod.spec?.restartPolicy !== 'Always' && controllerOf(pod)?.kind === 'Job'
    ? { runMs: JOB_MS, exitCode: 0, reason: 'Completed' }
    : forever;
}

/** Undefined if the command is none that is simulated, such as the entrypoint of an image. */
function ofCommand(container: Container, environment: () => Environment, work: number): Process | undefined {
  if (argvOf(container).length === 0) return undefined;
  const world = environment();
  return processOfCommand(commandOf(container, world.variables), () => world, { waits: container.stdin === true, work });
}

export const containersOf = ({ spec }: WorkloadPod): number => (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0);

/** What a command does: undefined if it is not simulated. `waits`: a client may write to its input later. */
export function processOfCommand(
  argv: readonly string[],
  environment: () => Environment,
  { waits = false, work = OUTCOME_WORK }: { readonly waits?: boolean; readonly work?: number } = {},
): Process | undefined {
  let waited = 0;
  try {
    const world = environment();
    const running = run(argv, world);
    for (let steps = 0; ; steps++) {
      // Nobody writes to the input of most containers: it is at its end.
      const { done, value } = running.next(undefined);
      if (done === true) return { runMs: waited, exitCode: value, reason: reasonOf(value) };
      if ('input' in value && waits) return forever;
      if ('waitMs' in value) waited += value.waitMs;
      if (waited >= FOREVER_MS || steps > STEPS_LIMIT || (world.work?.total ?? 0) > work) return forever;
    }
  } catch (error) {
    if (error instanceof UnknownProgram || error instanceof NotSupported) return undefined;
    throw error;
  }
}
