/** A watch in a test: events are waited for, never slept for. */
import type { Readable } from 'node:stream';
import { parseExact } from '../../packages/schema/src/json/parse.ts';
import type { Loose, OpenAnswer } from './client.ts';

export interface WatchEvent {
  readonly type: string;
  readonly object: Loose;
}

/** How long an event may take before the test is told what came instead. */
const PATIENCE_MS = 90_000;

export class Watch {
  /** Everything that has come so far. */
  readonly events: WatchEvent[] = [];
  readonly headers: OpenAnswer['headers'];
  /** Resolves when the server has ended the stream, or it broke. */
  readonly ended: Promise<'end' | 'broken'>;
  private taken = 0;
  private over = false;
  private readonly wakers = new Set<() => void>();
  private readonly body: Readable;
  private readonly destroy: () => void;

  constructor(answer: OpenAnswer) {
    this.headers = answer.headers;
    this.body = answer.body;
    this.destroy = answer.destroy;
    let begun: string[] = [];
    this.body.setEncoding('utf8');
    this.body.on('data', (text: string) => {
      const [first = '', ...lines] = text.split('\n');
      begun.push(first);
      for (const line of lines) {
        this.events.push(parseExact(begun.join('')) as WatchEvent);
        begun = [line];
      }
      if (lines.length > 0) this.wake();
    });
    this.ended = new Promise((resolve) => {
      const finish = (how: 'end' | 'broken') => {
        this.over = true;
        this.wake();
        resolve(how);
      };
      this.body.on('end', () => finish('end'));
      this.body.on('error', () => finish('broken'));
      this.body.on('close', () => finish('broken'));
    });
  }

  /** The next `count` events that were not taken yet. */
  async take(count: number): Promise<WatchEvent[]> {
    await this.hold(() => this.events.length >= this.taken + count, `${count} events`);
    const taken = this.events.slice(this.taken, this.taken + count);
    this.taken += count;
    return taken;
  }
  async next(): Promise<WatchEvent> {
    return (await this.take(1))[0] as WatchEvent;
  }
  /** All events up to the first that satisfies the condition, that one included. */
  async until(wanted: (event: WatchEvent) => boolean): Promise<WatchEvent[]> {
    const found = () => this.events.slice(this.taken).findIndex(wanted);
    await this.hold(() => found() >= 0, 'an event');
    return this.take(found() + 1);
  }
  /** What came and was not taken, once the stream is over. */
  async rest(): Promise<WatchEvent[]> {
    await this.ended;
    return this.take(this.events.length - this.taken);
  }
  /** Stops reading, as a client does that hangs. */
  pause(): void {
    this.body.pause();
  }
  resume(): void {
    this.body.resume();
  }
  close(): void {
    this.destroy();
  }

  private wake(): void {
    for (const waker of this.wakers) waker();
  }
  private hold(satisfied: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (satisfied()) finish(resolve);
        else if (this.over) finish(() => reject(new Error(`the watch ended before ${what} came: ${this.seen()}`)));
      };
      const finish = (how: () => void) => {
        clearTimeout(timer);
        this.wakers.delete(check);
        how();
      };
      const timer = setTimeout(() => finish(() => reject(new Error(`${what} did not come: ${this.seen()}`))), PATIENCE_MS);
      this.wakers.add(check);
      check();
    });
  }
  private seen(): string {
    return JSON.stringify(this.events.slice(this.taken).map(summary)).slice(0, 2000);
  }
}

export const watchOf = (answer: OpenAnswer): Watch => new Watch(answer);

/** `ADDED web` */
export const summary = (event: WatchEvent): string => `${event.type} ${event.object?.metadata?.name ?? event.object?.message ?? ''}`.trim();
