/**
 * Audit events to a webhook, as an EventList by POST. In batches, in the background, with a bounded queue; or
 * one by one while the request waits. Events that cannot be sent after some retries are dropped and counted.
 */

import type { Clock } from '@plat-dev/lib/clock';
import { BoundedQueue } from '@plat-dev/lib/queue';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { Outbound } from '../http-client/outbound.ts';
import type { AuditSink, WrittenEvent } from './sink.ts';

/** Maximum bytes of queued events, in addition to their number. */
const QUEUE_BYTES = 64 * 1024 * 1024;
/** Maximum bytes of one request, unless a single event is larger. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** Maximum concurrent batches. */
const SENDERS = 4;
const TRIES = 5;
const BACKOFF_FACTOR = 1.5;
/** How long a shutdown waits for the last events to be sent. */
const CLOSE_MS = 10_000;

export interface AuditWebhookOptions {
  readonly identity: Identity;
  readonly remote: Pick<Outbound, 'postText' | 'close'>;
  readonly mode: 'batch' | 'blocking' | 'blocking-strict';
  readonly bufferSize: number;
  readonly batchSize: number;
  readonly batchWaitMs: number;
  readonly initialBackoffMs: number;
  readonly clock: Clock;
  /** From 0 to below 1: spreads retries. */
  readonly random: () => number;
  /** Called with lost events, and why. */
  readonly dropped: (events: number, why: string) => void;
}

export class AuditWebhook implements AuditSink {
  readonly name = 'webhook';
  private readonly options: AuditWebhookOptions;
  private readonly queue: BoundedQueue<string>;
  private readonly start: string;
  private readonly closing = new AbortController();
  private queuedBytes = 0;
  private senders = new Set<Promise<void>>();
  private cancelWait: (() => void) | undefined;

  constructor(options: AuditWebhookOptions) {
    this.options = options;
    this.queue = new BoundedQueue(options.bufferSize);
    this.start = `{"kind":"EventList","apiVersion":"${joinApiVersion(groupName(options.identity, 'audit'), 'v1')}","metadata":{},"items":[`;
  }

  put({ json }: WrittenEvent): undefined | Promise<boolean> {
    const { mode } = this.options;
    if (mode !== 'batch') {
      const delivery = this.send([json]);
      this.track(delivery);
      return mode === 'blocking' ? delivery.then(() => true) : delivery;
    }
    if (this.queuedBytes + json.length > QUEUE_BYTES || !this.queue.push(json)) {
      this.options.dropped(1, 'the queue is full');
      return undefined;
    }
    this.queuedBytes += json.length;
    if (this.queue.length >= this.options.batchSize) this.flush();
    else this.cancelWait ??= this.options.clock.after(this.options.batchWaitMs, () => this.flush());
    return undefined;
  }

  /** Tries to send the remaining events once, and drops those that cannot be sent in time. */
  async close(): Promise<void> {
    this.closing.abort();
    this.flush();
    let cancel = (): void => {};
    const timeout = new Promise<void>((resolve) => {
      cancel = this.options.clock.after(CLOSE_MS, resolve);
    });
    await Promise.race([this.idle(), timeout]);
    cancel();
    if (this.queue.length > 0) this.options.dropped(this.queue.length, 'the server ended');
    this.queue.clear();
    this.options.remote.close();
  }

  private async idle(): Promise<void> {
    while (this.senders.size > 0) await Promise.all(this.senders);
  }

  /** Sends batches while there are some and a sender is free. */
  private flush(): void {
    this.cancelWait?.();
    this.cancelWait = undefined;
    while (this.queue.length > 0 && this.senders.size < SENDERS) this.track(this.send(this.takeBatch()));
  }

  private track(delivery: Promise<boolean>): void {
    const sender: Promise<void> = delivery.then(() => {
      this.senders.delete(sender);
      // A full batch that was queued meanwhile is sent at once; the remaining events wait for their time.
      if (this.queue.length >= this.options.batchSize || this.closing.signal.aborted) this.flush();
      else if (this.queue.length > 0) this.cancelWait ??= this.options.clock.after(this.options.batchWaitMs, () => this.flush());
    });
    this.senders.add(sender);
  }

  private takeBatch(): string[] {
    const batch: string[] = [];
    let size = 0;
    while (batch.length < this.options.batchSize && this.queue.length > 0) {
      const next = this.queue.peek() as string;
      if (batch.length > 0 && size + next.length > BATCH_BYTES) break;
      size += next.length;
      batch.push(this.queue.shift() as string);
    }
    this.queuedBytes -= size;
    return batch;
  }

  /** Whether it was accepted. Never rejects. */
  private async send(events: readonly string[]): Promise<boolean> {
    const body = `${this.start}${events.join(',')}]}`;
    const { clock, initialBackoffMs, random, remote } = this.options;
    let why = '';
    for (let i = 0, wait = initialBackoffMs; i < TRIES; i++, wait *= BACKOFF_FACTOR) {
      try {
        const { status } = await remote.postText(body);
        if (status >= 200 && status < 300) return true;
        why = `it answered ${status}`;
        if (status < 500 && status !== 429) break;
      } catch (error) {
        why = (error as Error).message;
      }
      // There are no retries during a shutdown.
      if (this.closing.signal.aborted || i === TRIES - 1) break;
      await clock.sleep(wait * (1 + 0.2 * random()), this.closing.signal).catch(() => {});
    }
    this.options.dropped(events.length, why);
    return false;
  }
}
