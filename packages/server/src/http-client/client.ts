/**
 * Calls to one service, over kept connections: limited in number, size and time. Redirects are not followed.
 *
 *   const client = new HttpClient({ clock, tls, maxConnections: 64, maxCalls: 1000, maxBytes: 8 << 20 });
 *   const { status, body } = await client.call({ host: '10.0.0.7', port: 443 }, { method: 'GET', path: '/', headers: ['host', 'x'] }, 10_000);
 */

import type { Cancel } from '@plat-dev/lib/clock';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import type { Client } from 'undici';
import type { Address } from './connect.ts';
import { type CallRequest, Connection, type ConnectionSettings, keyOf, type Reply } from './connection.ts';
import { CallTimeout } from './errors.ts';
import type { Exchange } from './exchange.ts';

export interface HttpClientOptions extends ConnectionSettings {
  /** Maximum concurrent calls; one more waits. Of the connections of open exchanges so many are kept. */
  readonly maxConnections: number;
  /** Maximum calls that are in progress or wait; one more fails. */
  readonly maxCalls: number;
}

interface Call {
  readonly address: Address;
  readonly request: CallRequest;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  /** Cancels its timeout. */
  cancel: Cancel;
  /** The connection it is on. */
  connection: Connection | undefined;
  isRetry: boolean;
}

export class HttpClient {
  private readonly options: HttpClientOptions;
  private readonly calls = new Set<Call>();
  private readonly connections = new Set<Connection>();
  /** Idle connections, oldest first. */
  private readonly idle: Connection[] = [];
  private readonly waiting: Call[] = [];
  private isRetired = false;
  /** A server that calls nobody does not load it. */
  private ClientClass: typeof Client | undefined;

  constructor(options: HttpClientOptions) {
    this.options = options;
  }

  /**
   * Loads what calls need, which holds the event loop for 0.1 to 0.2 s: to be called once something is configured that will be
   * called, so that no request waits for it.
   */
  static prepare(): void {
    // If it cannot be loaded, the first call says so.
    inNextTurn(() => void import('undici').catch(() => {}));
  }

  /** Rejects with CallTimeout, or with an error whose reason `callFault` returns. */
  call(address: Address, request: CallRequest, timeoutMillis: number): Promise<Reply> {
    if (this.calls.size >= this.options.maxCalls) return Promise.reject(new Error('too many calls are in progress'));
    return new Promise((resolve, reject) => {
      const call: Call = { address, request, resolve, reject, cancel: () => {}, connection: undefined, isRetry: false };
      call.cancel = this.options.clock.after(Math.max(1, timeoutMillis), () => this.fail(call, new CallTimeout()));
      this.calls.add(call);
      if (this.ClientClass !== undefined) this.place(call);
      else
        this.load().then(
          () => this.calls.has(call) && this.place(call),
          (error: Error) => this.fail(call, error),
        );
    });
  }

  /** Begins a request whose body and response are passed on. It has no timeout, and does not wait for its turn. */
  async open(address: Address, request: CallRequest): Promise<Exchange> {
    await this.load();
    const connection = this.takeIdle(keyOf(address)) ?? this.connect(address);
    return connection.exchange(request, this.isRetired, (outcome) => {
      if (outcome === 'kept') this.free(connection);
      else this.drop(connection);
    });
  }

  /** Requests in progress end as they do; no connection is kept. */
  retire(): void {
    this.isRetired = true;
    for (const connection of [...this.idle]) this.drop(connection);
  }
  /** Calls in progress fail. */
  close(): void {
    this.waiting.length = 0;
    for (const call of [...this.calls]) this.fail(call, new Error('the connections were closed'));
    this.retire();
  }

  private async load(): Promise<void> {
    this.ClientClass ??= (await import('undici')).Client;
  }

  private place(call: Call): void {
    // If the server closed one idle connection, it may have closed the others as well.
    const idleConnection = call.isRetry ? undefined : this.takeIdle(keyOf(call.address));
    if (idleConnection !== undefined) this.send(idleConnection, call);
    else if (this.connections.size < this.options.maxConnections || this.giveUpOne()) this.send(this.connect(call.address), call);
    else this.waiting.push(call);
  }

  private connect(address: Address): Connection {
    const connection = new Connection(this.ClientClass as typeof Client, address, this.options, (closed) => this.drop(closed));
    this.connections.add(connection);
    return connection;
  }

  private send(connection: Connection, call: Call): void {
    call.connection = connection;
    connection.send(call.request, {
      done: (reply) => {
        this.forget(call);
        this.free(connection);
        call.resolve(reply);
      },
      failed: (error, stale) => {
        call.connection = undefined;
        this.connections.delete(connection);
        // The retry is on a new connection, which is not stale.
        if (stale) {
          call.isRetry = true;
          this.place(call);
        } else {
          this.fail(call, error);
          this.placeNext();
        }
      },
    });
  }

  private takeIdle(to: string): Connection | undefined {
    const at = this.idle.findLastIndex((connection) => connection.to === to);
    return at < 0 ? undefined : this.idle.splice(at, 1)[0];
  }
  /** Makes room by closing an idle connection to another address. */
  private giveUpOne(): boolean {
    const connection = this.idle[0];
    if (connection !== undefined) this.drop(connection);
    return connection !== undefined;
  }

  private free(connection: Connection): void {
    if (this.isRetired || this.idle.length >= this.options.maxConnections) this.drop(connection);
    else this.idle.push(connection);
    this.placeNext();
  }
  private placeNext(): void {
    const next = this.waiting.shift();
    if (next !== undefined) this.place(next);
  }

  private fail(call: Call, error: Error): void {
    const { connection } = call;
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    this.forget(call);
    call.reject(error);
    if (connection === undefined) return;
    this.drop(connection);
    this.placeNext();
  }
  private forget(call: Call): void {
    call.cancel();
    call.connection = undefined;
    this.calls.delete(call);
  }
  private drop(connection: Connection): void {
    this.connections.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    connection.close();
  }
}
