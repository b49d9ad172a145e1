/**
 * The log of a simulated container: the text of an annotation, what its command prints, or a line that says that it runs.
 *
 *   simulation.plat.dev/logs: "ready to serve"        for all containers; simulation.plat.dev/logs.NAME for one
 */
import type { Clock } from '../../../lib/clock.ts';
import { Slices } from '../../../lib/slices.ts';
import { type Identity, simulationName } from '../../../meta/identity.ts';
import { microTimeOf, timeMillis } from '../../../meta/time.ts';
import type { WorkloadPod } from '../../workloads/shared/pods.ts';
import { argvOf, type Container, commandOf } from '../container-command.ts';
import { type Environment, linesOf, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import { COMMAND_WORK } from '../shell/work.ts';
import { statusOf } from './pod-lookup.ts';

export interface LogOptions {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** Only lines since then, in milliseconds since 1970. */
  readonly since: number | undefined;
}
export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** Lines of a log; the first of longer ones. */
const LINES_LIMIT = 10_000;
/** And so many characters of them. */
const LOG_LIMIT = 4 << 20;
/** Steps and work after which a container is taken to write nothing more. */
const STEPS_LIMIT = 30_000;
const LOG_WORK = 60_000 * COMMAND_WORK;
/** Longest line that has not ended. */
const PARTIAL_LIMIT = 64 * 1024;

/** Why there is no log; the answer is 400. */
export class NoLog extends Error {}

/** Throws NoLog if the container has not run. */
export function runOf(pod: WorkloadPod, container: Container, previous: boolean): { startedAt: number; endedAt: number | undefined } {
  const { name } = container;
  const status = statusOf(pod, name);
  const ended = previous ? status?.lastState?.terminated : status?.state?.terminated;
  if (ended != null) return { startedAt: timeMillis(ended.startedAt ?? ''), endedAt: timeMillis(ended.finishedAt ?? '') };
  if (previous)
    throw new NoLog(`previous terminated container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)} not found`);
  const running = status?.state?.running;
  if (running != null) return { startedAt: timeMillis(running.startedAt ?? ''), endedAt: undefined };
  const last = status?.lastState?.terminated;
  if (last != null) return { startedAt: timeMillis(last.startedAt ?? ''), endedAt: timeMillis(last.finishedAt ?? '') };
  const why = status?.state?.waiting?.reason ?? 'ContainerCreating';
  const text = why === 'ImagePullBackOff' ? `trying and failing to pull image` : why;
  throw new NoLog(`container ${JSON.stringify(name)} in pod ${JSON.stringify(pod.metadata.name)} is waiting to start: ${text}`);
}

/** All lines in their order, with the times at which they are written; those in the future too. */
export function* linesOfRun(
  identity: Identity,
  pod: WorkloadPod,
  container: Container,
  startedAt: number,
  environment: () => Environment,
): Generator<LogLine> {
  const annotations = pod.metadata.annotations ?? {};
  const name = simulationName(identity, 'logs');
  const text = annotations[`${name}.${container.name}`] ?? annotations[name];
  if (text !== undefined) {
    for (const line of linesOf(text)) yield { at: startedAt, text: line.endsWith('\n') ? line : `${line}\n` };
    return;
  }
  let written = 0;
  let at = startedAt;
  try {
    if (argvOf(container).length > 0) {
      const world = environment();
      const running = run(commandOf(container, world.variables), world);
      let partial = '';
      // A command may sleep again and again, and never write a line.
      let size = 0;
      const goesOn = () => written < LINES_LIMIT && size < LOG_LIMIT && (world.work?.total ?? 0) < LOG_WORK;
      for (let steps = 0; steps < STEPS_LIMIT && goesOn(); steps++) {
        const { done, value } = running.next(undefined);
        if (done === true) break;
        if ('waitMs' in value) at += value.waitMs;
        const more = 'out' in value ? value.out : 'err' in value ? value.err : '';
        if (more === '') continue;
        size += more.length;
        const lines = (partial + more).split('\n');
        partial = (lines.pop() as string).slice(0, PARTIAL_LIMIT);
        for (const line of lines) {
          written++;
          yield { at, text: `${line}\n` };
        }
      }
      if (partial !== '') yield { at, text: partial };
      return;
    }
  } catch (error) {
    if (!(error instanceof UnknownProgram || error instanceof NotSupported)) throw error;
    if (written > 0) return;
  }
  yield {
    at,
    text: `simulated container ${container.name} of pod ${pod.metadata.namespace}/${pod.metadata.name} runs ${container.image ?? ''}\n`,
  };
}

/** Lines that were all written at one time. */
export function* linesAt(text: string, at: number): Generator<LogLine> {
  for (const line of linesOf(text)) yield { at, text: line };
}

export interface LogSink {
  readonly signal: AbortSignal;
  write(bytes: Buffer): Promise<void>;
}

/** Writes a log. With `follow` it goes on as lines are made, until `hasEnded` or the client is gone. */
export async function writeLog(
  lines: Generator<LogLine>,
  options: LogOptions,
  sink: LogSink,
  { clock, hasEnded, endedAt }: { readonly clock: Clock; readonly hasEnded: () => Promise<boolean>; readonly endedAt: number | undefined },
): Promise<void> {
  const now = clock.now();
  const past: LogLine[] = [];
  let next = lines.next();
  // Times in a status are whole seconds.
  const until = endedAt === undefined ? now : Math.min(endedAt + 999, now);
  const slices = new Slices();
  for (; next.done !== true && next.value.at <= until; next = lines.next()) {
    past.push(next.value);
    if (slices.due) await slices.pause();
    if (sink.signal.aborted) return;
  }
  const out = new Out(options, sink);
  const recent = past.filter(({ at }) => options.since === undefined || at >= options.since);
  const { tailLines } = options;
  const shown = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
  if (!(await out.lines(shown)) || !options.follow || options.previous) return;
  while (!sink.signal.aborted && endedAt === undefined) {
    const due = next.done === true ? Number.POSITIVE_INFINITY : next.value.at;
    await clock.sleep(Math.max(Math.min(due - clock.now(), POLL_MS), 1), sink.signal).catch(() => {});
    const arrived: LogLine[] = [];
    for (; next.done !== true && next.value.at <= clock.now(); next = lines.next()) arrived.push(next.value);
    if (!(await out.lines(arrived))) return;
    if (sink.signal.aborted || (await hasEnded())) return;
  }
}
/** How often a follower looks whether the container still runs. */
const POLL_MS = 1000;

class Out {
  private readonly options: LogOptions;
  private readonly sink: LogSink;
  private left: number;

  constructor(options: LogOptions, sink: LogSink) {
    this.options = options;
    this.sink = sink;
    this.left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  }
  /** Returns false when nothing more may be written. Lines are written many at a time: a log may have any number of short ones. */
  async lines(lines: Iterable<LogLine>): Promise<boolean> {
    let text = '';
    for (const line of lines) {
      text += this.options.timestamps ? `${microTimeOf(line.at)} ${line.text}` : line.text;
      if (text.length < CHUNK) continue;
      if (!(await this.write(text))) return false;
      text = '';
    }
    return this.write(text);
  }
  private async write(text: string): Promise<boolean> {
    const whole = Buffer.from(text);
    const bytes = whole.length > this.left ? whole.subarray(0, this.left) : whole;
    this.left -= bytes.length;
    if (bytes.length > 0) await this.sink.write(bytes);
    return this.left > 0 && !this.sink.signal.aborted;
  }
}
/** Characters of a log that are written at a time. */
const CHUNK = 32 * 1024;
