/**
 * Where the time of one request went. Only steps in which it waits are noted: what is done at once takes no time that is worth a look at
 * the clock, and most requests wait for nothing but the store. Times are those of a monotonic clock in milliseconds.
 */

export type StepName = 'authentication' | 'queue' | 'authorization' | 'admission' | 'store';

export interface TimedStep {
  readonly name: string;
  readonly millis: number;
  /** When it began for the first time; undefined for time that was spent between steps. */
  readonly began?: number;
  /** The calls of webhooks within admission. */
  readonly webhook?: string;
}
interface Wait {
  readonly name: StepName;
  readonly began: number;
  /** In all: a write that conflicts is repeated. */
  millis: number;
}
/** Calls of webhooks that are told apart; the time of further ones is only in that of admission. */
const MOST_WEBHOOKS = 20;

export class RequestTiming {
  /** The answer was made, and is on its way to the client; 0: not yet. */
  answeredAt = 0;
  /** One for each step. */
  private waits: Wait[] | undefined;
  /** The step in which the request waits. */
  private current: Omit<Wait, 'millis'> | undefined;
  private webhooks: Required<TimedStep>[] | undefined;

  /** What a step waits for. `now`: the monotonic clock. */
  async during<T>(name: StepName, now: () => number, wait: Promise<T>): Promise<T> {
    const began = now();
    this.current = { name, began };
    try {
      return await wait;
    } finally {
      this.current = undefined;
      this.add(name, began, now() - began);
    }
  }
  private add(name: StepName, began: number, millis: number): void {
    this.waits ??= [];
    const earlier = this.waits.find((wait) => wait.name === name);
    if (earlier === undefined) this.waits.push({ name, began, millis });
    else earlier.millis += millis;
  }
  /** A call that is a part of admission. */
  addWebhook(webhook: string, began: number, millis: number): void {
    this.webhooks ??= [];
    if (this.webhooks.length < MOST_WEBHOOKS) this.webhooks.push({ name: 'webhook', webhook, began, millis });
  }

  /** The steps of a request that is over. One that ended early spent the rest of its time in the step in which it waited. */
  steps(started: number, end: number): TimedStep[] {
    const answered = this.answeredAt === 0 ? end : this.answeredAt;
    const { current, waits = [], webhooks = [] } = this;
    const unfinished = current === undefined ? [] : [{ ...current, millis: answered - current.began }];
    const ended = [...waits, ...unfinished];
    const steps: TimedStep[] = [...ended, ...webhooks].sort((a, b) => a.began - b.began);
    const handling = ended.reduce((rest, { millis }) => rest - millis, answered - started);
    if (handling > 0) steps.push({ name: 'handling', millis: handling });
    if (end > answered) steps.push({ name: 'sending', began: answered, millis: end - answered });
    return steps;
  }
}
