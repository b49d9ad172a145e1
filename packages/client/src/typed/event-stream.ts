/** A watch whose events are read one by one. */

import { ApiError } from '@plat-dev/meta/errors';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { Http } from '../http.ts';
import { Lines } from '../watch.ts';
import type { Watch, WatchEvent } from './types.ts';

/** Keeps the process alive while somebody waits, where the connection itself does not. */
export interface KeepAlive {
  hold(): Release;
}
/** Ends one hold. May be called more than once. */
export type Release = () => void;

/** Limit of unread events; with one more the watch fails. */
export const MAX_UNREAD_EVENTS = 10_000;

interface WireEvent<T> {
  readonly type: WatchEvent<T>['type'] | 'ERROR';
  readonly object: T;
}

export interface WatchRequest {
  readonly http: Http;
  readonly path: () => Promise<string>;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  readonly keepAlive: KeepAlive;
  /** Called once at the end, after an error as well. */
  readonly ended: () => void;
}

export class EventStream<T> implements Watch<T> {
  readonly ready: Promise<void>;
  private readonly unread: WatchEvent<T>[] = [];
  private waiting: { resolve(result: IteratorResult<WatchEvent<T>>): void; reject(error: unknown): void }[] = [];
  private error: unknown;
  private ended = false;
  private stop: (() => void) | undefined;
  private readonly whenEnded: () => void;
  private readonly keepAlive: KeepAlive;
  /** Set while a reader waits for an event. */
  private release: Release | undefined;

  constructor(request: WatchRequest) {
    const { signal, ended } = request;
    const abort = (): void => this.end(signal?.reason);
    this.whenEnded = () => {
      signal?.removeEventListener('abort', abort);
      ended();
    };
    this.keepAlive = request.keepAlive;
    this.ready = signal?.aborted === true ? Promise.reject(signal.reason) : this.begin(request);
    // The reader of the events gets the error, too.
    this.ready.catch((error: unknown) => this.end(error));
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  }
  next(): Promise<IteratorResult<WatchEvent<T>>> {
    const event = this.unread.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.error !== undefined) return Promise.reject(this.error);
    if (this.ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.release ??= this.keepAlive.hold();
    });
  }
  return(): Promise<IteratorResult<WatchEvent<T>>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  close(): void {
    this.end(undefined);
  }

  private async begin({ http, path, headers }: WatchRequest): Promise<void> {
    const lines = new Lines((line) => this.take(parseExact(line.toString()) as WireEvent<T>));
    const stream = await http.stream(
      { path: await path(), headers },
      { data: (chunk) => lines.push(chunk), end: (error) => this.end(error) },
    );
    this.stop = () => stream.close();
    if (this.ended) this.stop();
  }
  private take({ type, object }: WireEvent<T>): void {
    if (this.ended) return;
    if (type === 'ERROR') {
      const { code = 500, reason = '', message = 'the watch failed' } = object as { code?: number; reason?: string; message?: string };
      this.end(new ApiError(code, reason, message));
      return;
    }
    const next = this.waiting.shift();
    if (this.waiting.length === 0) this.stopWaiting();
    if (next !== undefined) next.resolve({ done: false, value: { type, object } });
    else if (this.unread.length < MAX_UNREAD_EVENTS) this.unread.push({ type, object });
    else this.end(new Error(`the watch was ended: ${MAX_UNREAD_EVENTS} of its events were not read`));
  }
  private stopWaiting(): void {
    this.release?.();
    this.release = undefined;
  }
  private end(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.error = error;
    this.stop?.();
    this.whenEnded();
    this.stopWaiting();
    for (const { resolve, reject } of this.waiting.splice(0)) {
      if (error === undefined) resolve({ done: true, value: undefined });
      else reject(error);
    }
  }
}
