/** Sends a review to a webhook and returns its status. Retried if the webhook was unavailable. */
import type { Clock } from '@plat-dev/lib/clock';
import type { Random } from '@plat-dev/lib/random';
import { Outbound, OutboundError, type OutboundLimits, type Remote } from '../../http-client/outbound.ts';

export interface RetryOptions extends Partial<OutboundLimits> {
  /** Maximum number of attempts, including the first. */
  readonly attempts: number;
  /** Delay before the second attempt; each further one is half as long again. */
  readonly waitMillis: number;
}
const usualRetry: RetryOptions = { attempts: 4, waitMillis: 500 };

export interface ReviewClientOptions {
  readonly remote: Remote;
  /** Of the reviews, as their kind. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly retry?: Partial<RetryOptions> | undefined;
}

export class ReviewClient {
  private readonly outbound: Outbound;
  private readonly clock: Clock;
  private readonly random: Random;
  private readonly apiVersion: string;
  private readonly kind: string;
  private readonly retry: RetryOptions;

  constructor({ remote, apiVersion, kind, clock, random, retry = {} }: ReviewClientOptions) {
    const { attempts, waitMillis, ...limits } = retry;
    this.clock = clock;
    this.random = random;
    this.outbound = new Outbound(remote, clock, { timeoutMillis: 30_000, maxBytes: 1 << 20, maxCalls: 512, ...limits });
    this.apiVersion = apiVersion;
    this.kind = kind;
    this.retry = { attempts: attempts ?? usualRetry.attempts, waitMillis: waitMillis ?? usualRetry.waitMillis };
  }

  close(): void {
    this.outbound.close();
  }

  /** The `status` of the answer. Throws OutboundError if there is no valid one. */
  async ask(spec: unknown): Promise<Record<string, unknown>> {
    const review = { kind: this.kind, apiVersion: this.apiVersion, metadata: { creationTimestamp: null }, spec };
    let wait = this.retry.waitMillis;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.once(review);
      if (!('again' in outcome)) return outcome.status;
      if (attempt >= this.retry.attempts) throw outcome.again;
      // Half of the delay is random, so that many requests do not retry at the same time.
      await this.clock.sleep(wait * (0.5 + this.random.float() / 2));
      wait *= 1.5;
    }
  }

  private async once(review: unknown): Promise<{ status: Record<string, unknown> } | { again: OutboundError }> {
    let answer: Awaited<ReturnType<Outbound['postJson']>>;
    try {
      answer = await this.outbound.postJson(review);
    } catch (error) {
      return { again: error as OutboundError };
    }
    if (answer.status >= 500 || answer.status === 429) return { again: new OutboundError(`the webhook answered ${answer.status}`) };
    if (answer.status !== 200 && answer.status !== 201) throw new OutboundError(`the webhook answered ${answer.status}`);
    return { status: this.statusOf(answer.text) };
  }

  private statusOf(text: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw new OutboundError('the webhook answered with something that is not JSON');
    }
    const { kind, apiVersion, status } = (value ?? {}) as Record<string, unknown>;
    if (kind !== this.kind || apiVersion !== this.apiVersion) {
      throw new OutboundError(`the webhook must answer with ${this.kind} of ${this.apiVersion}`);
    }
    if (typeof status !== 'object' || status === null) throw new OutboundError('the webhook answered without a status');
    return status as Record<string, unknown>;
  }
}

/** Maximum length of a text from a webhook that is kept and passed on, such as a reason. */
const MOST_TEXT = 1024;
export const shortText = (value: unknown): string => {
  const text = typeof value === 'string' ? value : '';
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
};

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
