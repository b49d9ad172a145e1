/**
 * The life cycle of a simulated pod, as data: how long each stage takes, and what comes of it.
 *
 *   pull → (init containers, one after another) → running → ready → exit, where there is one → terminated after a deletion
 */
import { durationMillis, TimeError } from '../../../meta/time.ts';

export interface Delay {
  readonly delayMs: number;
  /** Up to so much more, different for each container, and the same in every run of the server. */
  readonly jitterMs: number;
}
export interface Lifecycle {
  readonly pull: Delay & { readonly fails: boolean };
  /** How long each init container runs. */
  readonly init: Delay & { readonly exitCode: number };
  /**
   * From the start of a container until it is ready. `probes`: all of them count, with their delays, or none does; undefined: those of
   * readiness do, at once.
   */
  readonly ready: Delay & { readonly never: boolean; readonly probes: boolean | undefined };
  /** From then on liveness probes fail. Absent: as the probes themselves find out. */
  readonly live: Delay | undefined;
  /** Absent: containers run until they are stopped, unless their command says otherwise. */
  readonly exit: (Delay & { readonly exitCode: number; readonly reason: string }) | undefined;
  /** From the deletion until the containers are stopped; never longer than the grace period. */
  readonly terminate: Delay;
}

const none: Delay = { delayMs: 0, jitterMs: 0 };
/** A pod is ready as soon as it is seen, and stops at once. */
export const quickLifecycle: Lifecycle = {
  pull: { ...none, fails: false },
  init: { ...none, exitCode: 0 },
  ready: { ...none, never: false, probes: undefined },
  live: undefined,
  exit: undefined,
  terminate: none,
};

export const stageNames = ['pull', 'init', 'ready', 'live', 'exit', 'terminate'] as const;
/** A stage as configuration objects have it. */
export interface StageSpec {
  readonly stage: (typeof stageNames)[number];
  readonly delay?: string;
  readonly jitter?: string;
  /** Of `pull`: the image cannot be pulled. */
  readonly fails?: boolean;
  /** Of `ready`: containers are never ready. */
  readonly never?: boolean;
  /** Of `ready`: true: all probes count, with their delays; false: none does. */
  readonly probes?: boolean;
  /** Of `exit` and `init`. */
  readonly exitCode?: number;
  /** Of `exit`: `Completed`, `Error` or `OOMKilled`. */
  readonly reason?: string;
}

/** The quick life cycle with some stages changed. Throws TimeError for a wrong duration. */
export function lifecycleOf(stages: readonly StageSpec[], base: Lifecycle = quickLifecycle): Lifecycle {
  let made = base;
  for (const spec of stages) made = { ...made, ...changed(made, spec) };
  return made;
}

function changed(base: Lifecycle, spec: StageSpec): Partial<Lifecycle> {
  const delay: Delay = {
    delayMs: spec.delay === undefined ? 0 : positiveMillis(spec.delay),
    jitterMs: spec.jitter === undefined ? 0 : positiveMillis(spec.jitter),
  };
  switch (spec.stage) {
    case 'pull':
      return { pull: { ...delay, fails: spec.fails ?? base.pull.fails } };
    case 'init':
      return { init: { ...delay, exitCode: spec.exitCode ?? base.init.exitCode } };
    case 'ready':
      return { ready: { ...delay, never: spec.never ?? base.ready.never, probes: spec.probes ?? base.ready.probes } };
    case 'live':
      return { live: delay };
    case 'exit': {
      const exitCode = spec.exitCode ?? 0;
      return { exit: { ...delay, exitCode, reason: spec.reason ?? reasonOf(exitCode) } };
    }
    case 'terminate':
      return { terminate: delay };
  }
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
