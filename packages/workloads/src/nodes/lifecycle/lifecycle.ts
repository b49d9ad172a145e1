/**
 * The life cycle of a simulated pod, as data: how long each stage takes, and what comes of it.
 *
 *   pull → (init containers, one after another) → running → ready → exit, where there is one → terminated after a deletion
 */
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { durationMillis, TimeError } from '@plat-dev/meta/time';
import { isLike } from '../shell/pattern.ts';

export interface Delay {
  readonly delayMs: number;
  /** Up to so much more, different for each container, and the same in every run of the server. */
  readonly jitterMs: number;
}
/** When and how a container exits by itself. */
interface Ending {
  /** `never`: it runs until it is stopped. Undefined: as its command says. */
  readonly when: (Delay & { readonly exitCode: number; readonly reason: string }) | 'never' | undefined;
  /** Its termination message. Undefined: what its command writes. */
  readonly message: string | undefined;
}
/** The life cycle of one container. */
export interface Lifecycle {
  readonly pull: Delay & { readonly fails: boolean };
  /** Of an init container. */
  readonly init: Ending;
  /**
   * From the start of a container until it is ready. `probes`: all of them count, with their delays, or none does; undefined: those of
   * readiness do, at once.
   */
  readonly ready: Delay & { readonly never: boolean; readonly probes: boolean | undefined };
  /** From then on liveness probes fail. Absent: as the probes themselves find out. */
  readonly live: Delay | undefined;
  /** Of a container that is no init container. */
  readonly exit: Ending;
  /** From the deletion until it is stopped; never longer than the grace period. Absent: as its command takes it. */
  readonly terminate: Delay | undefined;
}

const none: Delay = { delayMs: 0, jitterMs: 0 };
const asCommanded: Ending = { when: undefined, message: undefined };
/** A container is ready as soon as it is seen. */
export const quickLifecycle: Lifecycle = {
  pull: { ...none, fails: false },
  init: asCommanded,
  ready: { ...none, never: false, probes: undefined },
  live: undefined,
  exit: asCommanded,
  terminate: undefined,
};

export const stageNames = ['pull', 'init', 'ready', 'live', 'exit', 'terminate'] as const;
/** A stage as configuration objects have it. */
export interface StageSpec {
  readonly stage: (typeof stageNames)[number];
  /** Names of the containers, `*` for any text. Absent: all. */
  readonly containers?: readonly string[];
  readonly delay?: string;
  readonly jitter?: string;
  /** Of `pull`: the image cannot be pulled. */
  readonly fails?: boolean;
  /** Of `ready`: containers are never ready. Of `exit` and `init`: they never exit by themselves. */
  readonly never?: boolean;
  /** Of `ready`: true: all probes count, with their delays; false: none does. */
  readonly probes?: boolean;
  /** Of `exit` and `init`. */
  readonly exitCode?: number;
  /** Of `exit` and `init`: `Completed`, `Error` or `OOMKilled`. */
  readonly reason?: string;
  /** Of `exit` and `init`: the termination message. Alone it does not say when the container exits. */
  readonly message?: string;
}

/** Most stages of a life cycle, and names of containers of a stage. */
export const STAGES_LIMIT = 100;
/** Containers whose life cycles are kept; more are found again. */
const KEPT_CONTAINERS = 1000;

/** The life cycles of the containers of a pod. Throws TimeError for a wrong duration. */
export class Lifecycles {
  private readonly stages: readonly StageSpec[];
  /** That of containers which no stage names; undefined if stages name some. */
  private readonly common: Lifecycle | undefined;
  private readonly lifecyclesByName = new BoundedCache<string, Lifecycle>(KEPT_CONTAINERS);

  constructor(stages: readonly StageSpec[]) {
    this.stages = stages;
    const all = lifecycleOf(stages);
    this.common = stages.every(({ containers }) => containers === undefined) ? all : undefined;
  }
  of(container: string): Lifecycle {
    const keptLifecycle = this.common ?? this.lifecyclesByName.get(container);
    if (keptLifecycle !== undefined) return keptLifecycle;
    const isAbout = ({ containers }: StageSpec): boolean =>
      containers === undefined || containers.some((pattern) => isLike(container, pattern));
    const lifecycle = lifecycleOf(this.stages.filter(isAbout));
    this.lifecyclesByName.set(container, lifecycle);
    return lifecycle;
  }
}

/** The quick life cycle with some stages changed. */
function lifecycleOf(stages: readonly StageSpec[]): Lifecycle {
  let lifecycle = quickLifecycle;
  for (const spec of stages) lifecycle = { ...lifecycle, ...changed(lifecycle, spec) };
  return lifecycle;
}

function changed(base: Lifecycle, spec: StageSpec): Partial<Lifecycle> {
  const delay: Delay = {
    delayMs: spec.delay === undefined ? 0 : positiveMillis(spec.delay),
    jitterMs: spec.jitter === undefined ? 0 : positiveMillis(spec.jitter),
  };
  switch (spec.stage) {
    case 'pull':
      return { pull: { ...delay, fails: spec.fails ?? base.pull.fails } };
    case 'ready':
      return { ready: { ...delay, never: spec.never ?? base.ready.never, probes: spec.probes ?? base.ready.probes } };
    case 'live':
      return { live: delay };
    case 'init':
    case 'exit':
      return { [spec.stage]: ending(base[spec.stage], spec, delay) };
    case 'terminate':
      return { terminate: delay };
  }
}
function ending(base: Ending, { message, never, delay, jitter, exitCode, reason }: StageSpec, times: Delay): Ending {
  const isMessageAlone = message !== undefined && [never, delay, jitter, exitCode, reason].every((value) => value === undefined);
  const code = exitCode ?? 0;
  const when = never === true ? 'never' : { ...times, exitCode: code, reason: reason ?? reasonOf(code) };
  return { when: isMessageAlone ? base.when : when, message: message ?? base.message };
}

function positiveMillis(text: string): number {
  const millis = durationMillis(text);
  if (millis < 0) throw new TimeError(`time: the duration ${JSON.stringify(text)} is negative`);
  return millis;
}

export const reasonOf = (exitCode: number): string => (exitCode === 0 ? 'Completed' : 'Error');

/** The delay with its jitter for one container. */
export function delayOf({ delayMs, jitterMs }: Delay, seed: string): number {
  return jitterMs === 0 ? delayMs : delayMs + Math.floor(fraction(seed) * jitterMs);
}

/** A number from 0 up to, but not including, 1: the same for the same text. */
export function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  // Texts that differ in the last character only would have similar numbers.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
