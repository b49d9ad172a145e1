/**
 * The connection of a page for all of its watches (subprotocol `console.v1`): a browser has few connections, and each watch of its own
 * would take one.
 *
 *   page → {"id": 1, "open": "/api/v1/pods?watch=true&resourceVersion=5"}     → {"id": 1, "status": 200}
 *                                                                            → {"id": 1, "events": [{…}, {…}]}
 *   page → {"id": 1, "close": true}
 *                                                                            → {"id": 2, "end": {…Status} or null}
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { ApiError, badRequest, serviceUnavailable, tooManyRequests } from '@plat-dev/meta/errors';
import type { WebSocket } from 'ws';
import type { WatchAnswer, WatchCall } from './backend.ts';
import { OpenWatch } from './open-watch.ts';
import { isWatchUrl, type OpenMessage, type PageMessage, readPageMessage } from './page-messages.ts';

export const WATCH_PROTOCOL = 'console.v1';
/** Watches of a connection; one more is refused. */
const MAX_WATCHES = 64;
/** Bytes of a message of the page; a longer one ends the connection. */
export const PAGE_MESSAGE_BYTES = 4 * 1024;
/** While so many bytes wait for the page, neither its messages nor its watches are read; the API ends those that fall behind. */
export const PAUSED_BYTES = 1024 * 1024;
/** A page that does not answer a ping until the next one is gone. */
export const PING_MS = 20_000;
/** Time of a page to answer that its session has ended. */
export const END_MS = 1000;
/** Codes of RFC 6455 for messages that cannot be read. */
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;

export class WatchConnection {
  private readonly socket: WebSocket;
  private readonly clock: Clock;
  private readonly openWatch: (call: Pick<WatchCall, 'url' | 'accept' | 'signal'>) => Promise<WatchAnswer>;
  private readonly watches = new Map<number, OpenWatch>();
  private readonly cancelPings: Cancel;
  private cancelTermination: Cancel | undefined;
  private isPaused = false;
  private isPinged = false;

  constructor(socket: WebSocket, clock: Clock, openWatch: WatchConnection['openWatch']) {
    this.socket = socket;
    this.clock = clock;
    this.openWatch = openWatch;
    this.cancelPings = clock.every(PING_MS, () => this.ping());
    socket.on('message', (data, isBinary) => this.receive(String(data), isBinary));
    socket.on('pong', () => {
      this.isPinged = false;
    });
    socket.on('close', () => {
      this.cancelPings();
      this.cancelTermination?.();
      for (const watch of [...this.watches.values()]) watch.close();
    });
  }

  /** The session has ended: the page gets no more, and is told why. */
  end(): void {
    for (const watch of [...this.watches.values()]) watch.close();
    this.cancelTermination ??= this.clock.after(END_MS, () => this.socket.terminate());
    this.socket.close(POLICY_VIOLATION, 'the session has ended');
  }

  private ping(): void {
    if (this.isPinged) {
      this.socket.terminate();
      return;
    }
    this.isPinged = true;
    this.socket.ping();
  }
  private receive(text: string, isBinary: boolean): void {
    try {
      if (isBinary) this.socket.close(UNSUPPORTED_DATA, 'messages are text');
      else this.obey(readPageMessage(text));
    } catch (error) {
      this.socket.close(POLICY_VIOLATION, (error as Error).message);
    }
  }
  private obey(message: PageMessage): void {
    const existingWatch = this.watches.get(message.id);
    if (message.open === undefined) existingWatch?.close();
    else if (existingWatch !== undefined) throw badRequest('the id is in use');
    else this.open(message);
  }
  private open({ id, open: url, accept }: OpenMessage): void {
    const watch = new OpenWatch({
      id,
      clock: this.clock,
      send: (parts) => this.send(parts),
      ended: () => {
        if (this.watches.get(id) === watch) this.watches.delete(id);
      },
    });
    if (this.watches.size >= MAX_WATCHES) {
      watch.fail(tooManyRequests(`a connection has at most ${MAX_WATCHES} watches`, 1));
      return;
    }
    if (!isWatchUrl(url)) {
      watch.fail(badRequest('only watches of the API can be opened here'));
      return;
    }
    this.watches.set(id, watch);
    if (this.isPaused) watch.pause();
    this.openWatch({ url, accept, signal: watch.signal })
      .then((answer) => watch.follow(answer))
      .catch((error: unknown) => watch.fail(error instanceof ApiError ? error : serviceUnavailable('the API did not answer')));
  }
  private send(parts: readonly (Buffer | string)[]): void {
    const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
    this.socket.send(bytes, { binary: false }, () => this.balance());
    this.balance();
  }
  /** Reads the watches while the page reads. */
  private balance(): void {
    const isFull = this.socket.bufferedAmount > PAUSED_BYTES;
    if (isFull === this.isPaused) return;
    this.isPaused = isFull;
    if (isFull) this.socket.pause();
    else this.socket.resume();
    for (const watch of this.watches.values()) {
      if (isFull) watch.pause();
      else watch.resume();
    }
  }
}
