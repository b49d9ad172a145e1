/** Sends the log of a simulated container to a client, from a line on, as far as it wants it, and as it grows. */
import type { Clock } from '@plat-dev/lib/clock';
import { Slices } from '@plat-dev/lib/slices';
import { microTimeOf, timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { Container } from '../container-command.ts';
import type { LogLine } from '../container-log.ts';
import { linesOf } from '../shell/text-lines.ts';
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
/** Why there is no log; the answer is 400. */
export class NoLog extends Error {}

/** Throws NoLog if the container has not run. */
export function runOf(pod: WorkloadPod, container: Container, previous: boolean): { startedAt: number; endedAt: number | undefined } {
  const { name } = container;
  const status = statusOf(pod, name);
  const terminated = previous ? status?.lastState?.terminated : status?.state?.terminated;
  if (terminated != null) return { startedAt: timeMillis(terminated.startedAt ?? ''), endedAt: timeMillis(terminated.finishedAt ?? '') };
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

/** Lines that were all written at one time. */
export function* linesAt(text: string, at: number): Generator<LogLine | undefined, undefined> {
  for (const line of linesOf(text)) yield { at, text: line };
}

export interface LogSink {
  readonly signal: AbortSignal;
  write(bytes: Buffer): Promise<void>;
}

type Next = IteratorResult<LogLine | undefined, undefined>;
/** Whether there is a line of this time or before it; where others may go first there may be one. */
const isDue = ({ done, value }: Next, time: number): boolean => done !== true && (value?.at ?? time) <= time;

/** Writes a log. With `follow` it goes on as lines are made, until `hasEnded` or the client is gone. */
export async function writeLog(
  lines: Generator<LogLine | undefined, undefined>,
  options: LogOptions,
  sink: LogSink,
  { clock, hasEnded, endedAt }: { readonly clock: Clock; readonly hasEnded: () => Promise<boolean>; readonly endedAt: number | undefined },
): Promise<void> {
  const now = clock.now();
  const pastLines: LogLine[] = [];
  let next: Next = lines.next();
  // Times in a status are whole seconds.
  const until = endedAt === undefined ? now : Math.min(endedAt + 999, now);
  const slices = new Slices();
  for (; isDue(next, until); next = lines.next()) {
    if (next.value !== undefined) pastLines.push(next.value);
    if (slices.due) await slices.pause();
    if (sink.signal.aborted) return;
  }
  const out = new Out(options, sink);
  const recent = pastLines.filter(({ at }) => options.since === undefined || at >= options.since);
  const { tailLines } = options;
  const tail = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
  if (!(await out.lines(tail)) || !options.follow || options.previous) return;
  while (!sink.signal.aborted && endedAt === undefined) {
    const due = next.done === true ? Number.POSITIVE_INFINITY : (next.value?.at ?? now);
    await clock.sleep(Math.max(Math.min(due - clock.now(), POLL_MS), 1), sink.signal).catch(() => {});
    const arrived: LogLine[] = [];
    for (; isDue(next, clock.now()); next = lines.next()) {
      if (next.value !== undefined) arrived.push(next.value);
      if (slices.due) await slices.pause();
    }
    if (!(await out.lines(arrived))) return;
    if (sink.signal.aborted || (await hasEnded())) return;
  }
}
/** How often a follower looks whether the container still runs. */
const POLL_MS = 1000;

class Out {
  private readonly options: LogOptions;
  private readonly sink: LogSink;
  private remainingBytes: number;

  constructor(options: LogOptions, sink: LogSink) {
    this.options = options;
    this.sink = sink;
    this.remainingBytes = options.limitBytes ?? Number.POSITIVE_INFINITY;
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
    const bytes = whole.length > this.remainingBytes ? whole.subarray(0, this.remainingBytes) : whole;
    this.remainingBytes -= bytes.length;
    if (bytes.length > 0) await this.sink.write(bytes);
    return this.remainingBytes > 0 && !this.sink.signal.aborted;
  }
}
/** Characters of a log that are written at a time. */
const CHUNK = 32 * 1024;
