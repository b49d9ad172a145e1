/**
 * What the process of a container does: how long it runs, how it exits, and how it takes it to be stopped.
 *
 *   a life cycle says so                                          as that says
 *   a command that is simulated                                   as the command does
 *   anything else: an init container, a pod that is not kept up   exits with 0 after a moment
 *   a server, a pod of a ReplicaSet, restartPolicy Always         runs until it is stopped
 */
import { isSidecar } from '@plat-dev/kinds/core/pods/pod-amounts';
import type { Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../../shared/pods.ts';
import { controllerOf } from '../../shared/pods.ts';
import { argvOf, type Container, commandOf } from '../container-command.ts';
import { isNothing, isServer } from '../images.ts';
import { type Environment, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import { COMMAND_WORK, FOREVER_MS, OUTCOME_WORK } from '../shell/work.ts';
import { delayOf, type Lifecycle, reasonOf } from './lifecycle.ts';
import { DEFAULT_PATH } from './termination-message.ts';

export type { Container };
/** A sidecar is an init container that keeps running beside the main containers. */
export type Role = 'init' | 'sidecar' | 'main';

export function roleOf({ spec }: WorkloadPod, { name }: Pick<Container, 'name'>): Role {
  const init = spec?.initContainers?.find((one) => one.name === name);
  return init === undefined ? 'main' : isSidecar(init) ? 'sidecar' : 'init';
}

export interface Process {
  /** Undefined: it runs until it is stopped. */
  readonly runMs: number | undefined;
  readonly exitCode: number;
  readonly reason: string;
  /** What it writes as its termination message, one text after another. */
  readonly messages?: readonly WrittenMessage[];
  /** The signal that stops containers has no effect on it: it runs until it is killed, or exits by itself. */
  readonly ignoresTerm?: boolean;
}
interface WrittenMessage {
  /** From the start of the process. */
  readonly afterMs: number;
  readonly text: string;
}

/** The message of a process that has run for so long. */
export const messageAfter = ({ messages = [] }: Process, ranMs: number): string =>
  messages.findLast(({ afterMs }) => afterMs <= ranMs)?.text ?? '';

const forever: Process = { runMs: undefined, exitCode: 0, reason: '' };
/** How long a container runs that completes if neither its command nor its life cycle says so. */
const MOMENT_MS = 100;
/** A command that waits or writes more often than this is one that never ends. */
const STEPS_LIMIT = 5000;
/** What the commands of one pod may do altogether, and each of many at least. */
const POD_WORK = OUTCOME_WORK;
const LEAST_WORK = 10 * COMMAND_WORK;
/** Termination messages of one process that are remembered: the last ones. */
const MESSAGES_LIMIT = 20;

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

export function* processOf({ pod, container, role, lifecycle, seed, environment }: ProcessQuestion): Work<Process> {
  const { when } = role === 'init' ? lifecycle.init : lifecycle.exit;
  // What ends the containers of a pod does not end its sidecars.
  const isCompletion = role === 'sidecar' && when !== undefined && when !== 'never' && when.exitCode === 0;
  if (when === 'never' || isCompletion) return forever;
  if (when !== undefined) return { runMs: delayOf(when, seed), exitCode: when.exitCode, reason: when.reason };
  if (isNothing(container.image ?? '')) return doesNothing(container);
  const simulated = yield* ofCommand(pod, container, environment);
  if (simulated !== undefined) return simulated;
  if (role === 'init') return { runMs: 0, exitCode: 0, reason: 'Completed' };
  return role !== 'sidecar' && completes(pod, container, lifecycle) ? { runMs: MOMENT_MS, exitCode: 0, reason: 'Completed' } : forever;
}

/** An image that has one program, which ends at once: no other can be started. */
function doesNothing({ command }: Container): Process {
  const [program] = command ?? [];
  if (program === undefined) return { runMs: 0, exitCode: 0, reason: 'Completed' };
  const text = `failed to create containerd task: failed to create shim task: OCI runtime create failed: exec: ${JSON.stringify(program)}: executable file not found in $PATH: unknown`;
  return { runMs: 0, exitCode: CANNOT_START, reason: 'StartError', messages: [{ afterMs: 0, text }] };
}
const CANNOT_START = 128;

const keepers = new Set(['ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet']);

/** Whether a container whose command is not simulated ends by itself: in pods that are to be completed, all but servers do. */
function completes(pod: WorkloadPod, container: Container, { ready, live, terminate }: Lifecycle): boolean {
  const owner = controllerOf(pod)?.kind ?? '';
  if ((pod.spec?.restartPolicy ?? 'Always') === 'Always' || keepers.has(owner)) return false;
  if (owner === 'Job') return true;
  // A life cycle that says when a container is ready, fails or stops is that of one which goes on until then.
  const goesOn = ready.never || ready.delayMs + ready.jitterMs > 0 || live !== undefined || terminate !== undefined;
  return !goesOn && !serves(container) && container.stdin !== true;
}
/** Whether something asks the container for answers: it is a server, whatever it runs. */
function serves(container: Container): boolean {
  const { image, ports, readinessProbe, livenessProbe, startupProbe } = container;
  const isProbed = [readinessProbe, livenessProbe, startupProbe].some((probe) => probe != null);
  return (ports?.length ?? 0) > 0 || isProbed || isServer(image ?? '', argvOf(container)[0]);
}

/** Undefined if the command is none that is simulated, such as the entrypoint of an image. */
function* ofCommand(pod: WorkloadPod, container: Container, environment: () => Environment): Work<Process | undefined> {
  if (argvOf(container).length === 0) return undefined;
  const world = environment();
  const path = container.terminationMessagePath ?? DEFAULT_PATH;
  const process = yield* processOfCommand(commandOf(container, world.variables), world, {
    waits: container.stdin === true,
    work: workOf(containersOf(pod)),
    messagePath: path,
  });
  // Without a handler the first process of a container ignores the signal; one of many is ended by it.
  const isFirst = pod.spec?.shareProcessNamespace !== true && pod.spec?.hostPID !== true;
  return process === undefined ? undefined : { ...process, ignoresTerm: isFirst && world.trapsTerm !== true };
}

export const containersOf = ({ spec }: WorkloadPod): number => (spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0);

export interface Followed {
  /** A client may write to its input later. */
  readonly waits?: boolean;
  /** How far it is followed. */
  readonly work?: number;
  /** The file of its termination message. */
  readonly messagePath?: string;
}

/** What a command does: undefined if it is not simulated, or if that depends on files that are not known. */
export function* processOfCommand(argv: readonly string[], world: Environment, followed: Followed = {}): Work<Process | undefined> {
  const { waits = false, work = OUTCOME_WORK, messagePath } = followed;
  const { files } = world;
  const messages: WrittenMessage[] = [];
  /** `isMeant`: it would not be otherwise if the files were there that it takes to be there. */
  const done = (process: Process, isMeant: boolean): Process | undefined =>
    files.guessed || (files.assumed && !isMeant) ? undefined : { ...process, ...(messages.length > 0 && { messages }) };
  let waited = 0;
  let { changes } = files;
  const note = (): void => {
    if (messagePath === undefined || files.changes === changes) return;
    changes = files.changes;
    const text = files.read(messagePath) ?? '';
    if (text === (messages.at(-1)?.text ?? '')) return;
    messages.push({ afterMs: waited, text });
    if (messages.length > MESSAGES_LIMIT) messages.shift();
  };
  try {
    const running = run(argv, world);
    for (let steps = 0; ; steps++) {
      // Nobody writes to the input of most containers: it is at its end.
      const step = running.next(undefined);
      note();
      if (step.done === true) return done({ runMs: waited, exitCode: step.value, reason: reasonOf(step.value) }, step.value === 0);
      if ('input' in step.value && waits) return done(forever, true);
      if ('waitMs' in step.value) waited += step.value.waitMs;
      if ('waitMs' in step.value && step.value.waitMs >= FOREVER_MS) return done(forever, true);
      if (waited >= FOREVER_MS || steps > STEPS_LIMIT || (world.work?.total ?? 0) > work) return done(forever, false);
      yield;
    }
  } catch (error) {
    if (error instanceof UnknownProgram || error instanceof NotSupported) return undefined;
    throw error;
  }
}
