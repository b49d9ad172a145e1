/**
 * The probes of a simulated container. Commands of a small set are run, and requests to a known web server find its files;
 * whatever else a probe asks for succeeds.
 *
 *   0 s start   initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 3
 *   5 s fails   15 s fails   25 s succeeds: ready   35 s, 45 s, 55 s fail: not ready
 */

import type { Work } from '@plat-dev/lib/slices';
import { argvOf } from '../container-command.ts';
import { documentPath, documentRootOf } from '../images.ts';
import type { Environment } from '../shell/run.ts';
import { isProgram, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import type { Container } from './process.ts';

export type Probe = NonNullable<Container['readinessProbe']>;

/** What a probe has seen so far. */
export interface ProbeRecord {
  /** When it runs next, in milliseconds since 1970. */
  due: number;
  /** Equal results in a row. */
  count: number;
  last: boolean;
  /** Whether enough of them were equal; undefined before that. */
  result: boolean | undefined;
  /** How often clients had written in the pod when it ran last. */
  writes?: number;
}

/** How a probe comes out. */
export interface Verdict {
  readonly ok: boolean;
  /** False: it may be otherwise, since not all is known that it looked at. */
  readonly sure: boolean;
  /** When that may change without a client, in milliseconds since 1970. Undefined: never. */
  readonly changesAt: (() => Work<number | undefined>) | undefined;
}

const DEFAULT_PERIOD_SECONDS = 10;
const DEFAULT_FAILURES = 3;

export function newRecord({ initialDelaySeconds }: Probe, startedAt: number): ProbeRecord {
  return { due: startedAt + (initialDelaySeconds ?? 0) * 1000, count: 0, last: false, result: undefined };
}

/** Runs the probe if its time has come. Missed runs are not made up for. */
export function* probed(record: ProbeRecord, probe: Probe, now: number, check: () => Work<boolean>): Work<ProbeRecord> {
  if (now < record.due) return record;
  const period = (probe.periodSeconds ?? DEFAULT_PERIOD_SECONDS) * 1000;
  const last = yield* check();
  const count = last === record.last ? record.count + 1 : 1;
  const enough = count >= (last ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? DEFAULT_FAILURES));
  const missed = Math.floor((now - record.due) / period);
  return { due: record.due + (missed + 1) * period, count, last, result: enough ? last : record.result };
}

/**
 * The same for readiness by default: the first success is enough, and after a success the probe rests until something can change it.
 * A failure that is not sure counts as a success.
 *
 *   0 s start: succeeds, ready      rests      40 s exec removes a file: fails   50 s fails   60 s fails: not ready   70 s …
 */
export function* probedAtOnce(record: ProbeRecord, probe: Probe, now: number, check: () => Work<Verdict>): Work<ProbeRecord> {
  if (now < record.due) return record;
  let changesAt: Verdict['changesAt'];
  const next = yield* probed({ ...record, due: now }, probe, now, function* () {
    const verdict = yield* check();
    changesAt = verdict.changesAt;
    return verdict.ok || !verdict.sure;
  });
  if (!next.last) return next;
  const isFirst = record.result === undefined && record.count === 0;
  if (!isFirst && next.result !== true) return next;
  return { ...next, result: true, due: Math.max(next.due, yield* changeOf(changesAt)) };
}
/** When a verdict may change, or never. */
export function* changeOf(changesAt: Verdict['changesAt']): Work<number> {
  return (changesAt && (yield* changesAt())) ?? NEVER;
}
export const NEVER = Number.POSITIVE_INFINITY;

/** A probe that takes longer than its timeout fails; others that nothing is known of succeed. */
export function* succeeds(probe: Probe, container: Container, environment: () => Environment): Work<boolean> {
  const command = probe.exec?.command;
  if (command != null && command.length > 0) return (yield* exitCodeOf(command, environment(), (probe.timeoutSeconds ?? 1) * 1000)) === 0;
  const root = probe.httpGet == null || (container.command?.length ?? 0) > 0 ? undefined : documentRootOf(container.image ?? '');
  return root === undefined || environment().files.read(documentPath(root, probe.httpGet?.path ?? '/')) !== undefined;
}

const STEPS_LIMIT = 1000;
const TOO_LONG = 124;

function* exitCodeOf(argv: readonly string[], environment: Environment, timeoutMs: number): Work<number> {
  let waited = 0;
  try {
    const running = run(argv, environment);
    for (let steps = 0; steps < STEPS_LIMIT; steps++) {
      const { done, value } = running.next(undefined);
      if (done === true) return value;
      if ('waitMs' in value) waited += value.waitMs;
      if (waited > timeoutMs) return TOO_LONG;
      yield;
    }
    return TOO_LONG;
  } catch (error) {
    if (error instanceof UnknownProgram || error instanceof NotSupported) return 0;
    throw error;
  }
}

/** Whether a probe is run at all: a program that is here, or a request to a web server whose files are known. */
export function isRun({ exec, httpGet }: Probe, { command, image }: Container): boolean {
  const program = exec?.command?.[0];
  if (program !== undefined) return isProgram(program);
  return httpGet != null && (command?.length ?? 0) === 0 && documentRootOf(image ?? '') !== undefined;
}

/** Whether anything is known by which a probe could fail: commands see the files of containers whose own command is simulated. */
export const canFail = (probe: Probe, container: Container): boolean =>
  (probe.exec?.command?.length ?? 0) > 0
    ? argvOf(container).length > 0
    : probe.httpGet != null && documentRootOf(container.image ?? '') !== undefined;
