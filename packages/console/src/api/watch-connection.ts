/**
 * One WebSocket for all watches of the page. A watch goes on from its newest resourceVersion when the connection was lost, or when the
 * server ended it for its age. It ends for good with a Status, such as 410, after which its user lists anew.
 *
 *   disconnected ──a watch is opened──▶ connecting ──open──▶ connected
 *        ▲                                  │                   │
 *        └──after a delay that grows────────┴──lost─────────────┘
 */

import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import { type Query, withQuery } from './api.ts';
import { ApiError, type Status } from './api-error.ts';

export interface WatchEvent<T = unknown> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

export interface WatchRequest {
  /** The path of the collection, without parameters. */
  readonly path: string;
  readonly query?: Query;
  readonly resourceVersion: string;
  readonly accept?: string;
  /** Events in their order, never ERROR. */
  onEvents(events: readonly WatchEvent[]): void;
  /** The watch cannot go on. */
  onEnd(error: ApiError): void;
}

/** The parts of a WebSocket that are used. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface WatchConnectionOptions {
  readonly connect: () => Socket;
  readonly clock: Pick<Clock, 'after'>;
  /** Numbers of 0 to 1, which spread the attempts of many pages. */
  readonly random: () => number;
  /** Perhaps as another user, if the browser logged in as somebody else just before. */
  readonly onConnected?: () => void;
  /** The connection was lost or could not be made: perhaps the session has ended. */
  readonly onLost?: () => void;
}

export type ConnectionPhase = 'disconnected' | 'connecting' | 'connected';

interface OpenWatch {
  readonly id: number;
  readonly request: WatchRequest;
  resourceVersion: string;
  /** Whether the gateway has been told of it on this connection. */
  isSent: boolean;
  failures: number;
  cancelRetry: Cancel | undefined;
}
interface Message {
  readonly id: number;
  readonly status?: number;
  readonly events?: readonly WatchEvent[];
  readonly end?: Status | null;
}

/** The gateway takes no more; others wait until one is closed. */
export const MAX_WATCHES = 64;
const FIRST_DELAY_MILLIS = 500;
const LONGEST_DELAY_MILLIS = 30_000;

export class WatchConnection {
  readonly phase: Signal<ConnectionPhase> = signal<ConnectionPhase>('disconnected');
  readonly #options: WatchConnectionOptions;
  readonly #watches = new Map<number, OpenWatch>();
  #socket: Socket | undefined;
  #failures = 0;
  #cancelReconnect: Cancel | undefined;
  #lastId = 0;

  constructor(options: WatchConnectionOptions) {
    this.#options = options;
  }

  /** Watches until the function that it returns is called. */
  open(request: WatchRequest): () => void {
    const watch: OpenWatch = {
      id: ++this.#lastId,
      request,
      resourceVersion: request.resourceVersion,
      isSent: false,
      failures: 0,
      cancelRetry: undefined,
    };
    this.#watches.set(watch.id, watch);
    if (this.phase.peek() === 'connected') this.#sendOpen();
    else this.#connect();
    return () => this.#close(watch);
  }

  /** Connects at once instead of after the delay, such as when the network is back. */
  retryNow(): void {
    this.#cancelReconnect?.();
    this.#cancelReconnect = undefined;
    this.#connect();
  }

  /** Ends the connection and all watches, without a word to their users. */
  stop(): void {
    for (const watch of this.#watches.values()) watch.cancelRetry?.();
    this.#watches.clear();
    this.#cancelReconnect?.();
    this.#cancelReconnect = undefined;
    this.#drop();
  }

  #connect(): void {
    if (this.#socket !== undefined || this.#cancelReconnect !== undefined || this.#watches.size === 0) return;
    this.phase.value = 'connecting';
    const socket = this.#options.connect();
    this.#socket = socket;
    socket.onopen = () => {
      this.phase.value = 'connected';
      this.#options.onConnected?.();
      this.#sendOpen();
    };
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Message);
    socket.onclose = () => this.#lost();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.phase.value = 'disconnected';
    if (socket === undefined) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #lost(): void {
    this.#drop();
    for (const watch of this.#watches.values()) {
      watch.isSent = false;
      watch.cancelRetry?.();
      watch.cancelRetry = undefined;
    }
    this.#cancelReconnect = this.#options.clock.after(this.#delay(this.#failures++), () => {
      this.#cancelReconnect = undefined;
      this.#connect();
    });
    this.#options.onLost?.();
  }

  #delay(failures: number): number {
    const longest = Math.min(FIRST_DELAY_MILLIS * 2 ** Math.min(failures, 10), LONGEST_DELAY_MILLIS);
    return longest * (0.5 + this.#options.random() / 2);
  }

  /** Sends what has not been sent, as far as the gateway takes it. */
  #sendOpen(): void {
    let sent = 0;
    for (const watch of this.#watches.values()) if (watch.isSent) sent++;
    for (const watch of this.#watches.values()) {
      if (sent >= MAX_WATCHES) return;
      if (watch.isSent || watch.cancelRetry !== undefined) continue;
      const { path, query, accept } = watch.request;
      const parameters = { ...query, watch: true, resourceVersion: watch.resourceVersion, allowWatchBookmarks: true };
      this.#send({ id: watch.id, open: withQuery(path, parameters), ...(accept === undefined ? {} : { accept }) });
      watch.isSent = true;
      sent++;
    }
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #close(watch: OpenWatch): void {
    if (!this.#watches.delete(watch.id)) return;
    watch.cancelRetry?.();
    if (!watch.isSent || this.phase.peek() !== 'connected') return;
    this.#send({ id: watch.id, close: true });
    this.#sendOpen();
  }

  #receive({ id, events, end }: Message): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#failures = 0;
    if (events !== undefined) this.#receiveEvents(watch, events);
    else if (end !== undefined) this.#ended(watch, end);
  }

  #receiveEvents(watch: OpenWatch, events: readonly WatchEvent[]): void {
    const failure = events.find(({ type }) => type === 'ERROR');
    const good = failure === undefined ? events : events.slice(0, events.indexOf(failure));
    const newest = good.findLast((event) => resourceVersionOf(event) !== undefined);
    if (newest !== undefined) watch.resourceVersion = resourceVersionOf(newest) as string;
    watch.failures = 0;
    if (good.length > 0) watch.request.onEvents(good);
    if (failure === undefined || !this.#watches.has(watch.id)) return;
    this.#send({ id: watch.id, close: true });
    this.#ended(watch, failure.object as Status);
  }

  /** Watches end by their age, which is no error; and where a server is busy or restarts they are opened again. */
  #ended(watch: OpenWatch, status: Status | null): void {
    watch.isSent = false;
    const code = status?.code ?? 0;
    if (status === null || code === 0 || code === 429 || (code >= 500 && code !== 501)) {
      watch.cancelRetry = this.#options.clock.after(this.#delay(watch.failures++), () => {
        watch.cancelRetry = undefined;
        if (this.phase.peek() === 'connected') this.#sendOpen();
      });
      return;
    }
    this.#watches.delete(watch.id);
    watch.request.onEnd(new ApiError(status));
    if (this.phase.peek() === 'connected') this.#sendOpen();
  }
}

interface Versioned {
  readonly metadata?: { readonly resourceVersion?: string };
  /** Of a Table. */
  readonly rows?: readonly { readonly object?: Versioned }[];
}
function resourceVersionOf({ object }: WatchEvent): string | undefined {
  const { metadata, rows } = object as Versioned;
  return metadata?.resourceVersion || rows?.at(-1)?.object?.metadata?.resourceVersion || undefined;
}
