/**
 * Keep-alive connections to one host, and calls over them: limited in time, size and number. For short calls in great number,
 * where a `ClientRequest` with its streams costs more than the call; one call is one write and mostly one read.
 */
import type { X509Certificate } from 'node:crypto';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../clock.ts';
import { OwnServer } from '../own-certificates.ts';
import { refusalOf } from '../peer-trust.ts';
import { type BadReply, type Reply, ReplyReader } from './reply.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface TlsSettings {
  readonly secureContext: SecureContext;
  /** The required name of the certificate; absent: the host's. */
  readonly serverName?: string | undefined;
  readonly insecure?: boolean | undefined;
  /** The certificates of the bundle that the context trusts; absent: it trusts the roots of the host. */
  readonly authorities?: readonly X509Certificate[] | undefined;
  /** Whether a certificate is this server's own: it does not call itself. */
  readonly isOwn?: ((certificate: X509Certificate) => boolean) | undefined;
}

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** TLS options; absent: no TLS. */
  readonly tls?: TlsSettings;
  /** Maximum concurrent calls; one more waits. */
  readonly maxConnections: number;
  /** Maximum size of a response body. */
  readonly maxBytes: number;
  /** How long an idle connection is kept; the server may request less. */
  readonly idleMillis?: number;
}
const IDLE_MILLIS = 90_000;
/** A resumed session has no certificate: after this time a full handshake is made, since it may have expired. */
const SESSION_MILLIS = 10 * 60_000;

/** The session that makes the next handshake with the same name a short one. */
interface Session {
  readonly name: string;
  readonly ticket: Buffer;
  /** When the certificate was last seen, on the monotonic clock. */
  readonly seen: number;
}

/** The call timed out. */
export class CallTimeout extends Error {
  constructor() {
    super('context deadline exceeded');
    this.name = 'CallTimeout';
  }
}

interface Call {
  readonly to: string;
  readonly address: Address;
  readonly head: string;
  readonly body: string;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
  /** Cancels its timeout. */
  cancel: Cancel;
  /** The connection it is on. */
  on: Connection | undefined;
  tries: number;
}

export class Connections {
  private readonly options: ConnectionsOptions;
  private readonly open = new Set<Connection>();
  /** Idle connections, oldest first. */
  private readonly idle: Connection[] = [];
  private readonly waiting: Call[] = [];
  private sweep: Cancel | undefined;
  private retired = false;
  private session: Session | undefined;

  constructor(options: ConnectionsOptions) {
    this.options = options;
  }

  /** `head` ends before the content-length line. Rejects with CallTimeout, BadReply, or an error of the system. */
  call(address: Address, head: string, body: string, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const call: Call = {
        to: `${address.host} ${address.port}`,
        address,
        head: body === '' ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n`,
        body,
        resolve,
        reject,
        cancel: none,
        on: undefined,
        tries: 0,
      };
      call.cancel = this.options.clock.after(Math.max(1, timeoutMs), () => this.late(call));
      this.place(call);
    });
  }

  /** Calls in progress end as they do; no connection is kept. */
  retire(): void {
    this.retired = true;
    this.sweep?.();
    for (const connection of this.idle.splice(0)) connection.end();
  }
  /** Calls in progress fail. */
  close(): void {
    this.retire();
    for (const call of this.waiting.splice(0)) this.failed(call, new Error('the connections were closed'));
    for (const connection of this.open) connection.break(new Error('the connections were closed'));
  }

  private place(call: Call): void {
    // If the server closed one idle connection, it may have closed the others as well.
    const kept = call.tries === 0 ? this.takeIdle(call.to) : undefined;
    if (kept !== undefined) {
      kept.send(call);
      return;
    }
    if (this.open.size >= this.options.maxConnections && !this.giveUpOne()) {
      this.waiting.push(call);
      return;
    }
    this.connect(call);
  }

  private connect(call: Call): void {
    const connection = new Connection(this.options, call.address, call.to, this.session, {
      free: (one) => this.freed(one),
      failed: (one, failed, error, stale) => {
        this.gone(one);
        // The server may close an idle connection; nothing has been read of this response then.
        if (stale && failed.tries < 2) this.place(failed);
        else this.failed(failed, error);
      },
      done: (finished, reply) => {
        finished.cancel();
        finished.resolve(reply);
      },
      gone: (one) => this.gone(one),
      session: (session) => {
        this.session = session;
      },
    });
    this.open.add(connection);
    connection.send(call);
  }

  private takeIdle(to: string): Connection | undefined {
    const now = this.options.clock.monotonic();
    for (let i = this.idle.length - 1; i >= 0; i--) {
      const one = this.idle[i] as Connection;
      if (one.to !== to) continue;
      this.idle.splice(i, 1);
      if (one.keptUntil > now) return one;
      one.end();
    }
    return undefined;
  }
  /** Makes room by closing an idle connection to another address. */
  private giveUpOne(): boolean {
    const one = this.idle.shift();
    one?.end();
    return one !== undefined;
  }

  private freed(connection: Connection): void {
    if (this.retired) {
      connection.end();
      return;
    }
    const next = this.waiting[0];
    if (next === undefined) {
      this.idle.push(connection);
      this.sweepLater();
    } else if (next.to === connection.to) {
      this.waiting.shift();
      connection.send(next);
    } else connection.end();
  }
  private gone(connection: Connection): void {
    if (!this.open.delete(connection)) return;
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    const next = this.waiting.shift();
    if (next !== undefined) this.place(next);
  }

  private late(call: Call): void {
    const at = this.waiting.indexOf(call);
    if (at >= 0) this.waiting.splice(at, 1);
    if (call.on === undefined) this.failed(call, new CallTimeout());
    else call.on.break(new CallTimeout());
  }
  private failed(call: Call, error: Error): void {
    call.cancel();
    call.reject(error);
  }

  private sweepLater(): void {
    if (this.sweep !== undefined) return;
    const { clock, idleMillis = IDLE_MILLIS } = this.options;
    this.sweep = clock.after(Math.min(10_000, idleMillis), () => {
      this.sweep = undefined;
      const now = clock.monotonic();
      for (const one of [...this.idle]) if (one.keptUntil <= now) one.end();
      if (this.idle.length > 0) this.sweepLater();
    });
  }
}

interface Owner {
  /** The connection can take another call. */
  free(connection: Connection): void;
  /** The connection is closed, and its call failed. `stale`: it may have been closed before the call. */
  failed(connection: Connection, call: Call, error: Error, stale: boolean): void;
  done(call: Call, reply: Reply): void;
  gone(connection: Connection): void;
  session(session: Session): void;
}

class Connection {
  readonly to: string;
  /** On the monotonic clock. */
  keptUntil = 0;
  private readonly clock: Clock;
  private readonly socket: Socket;
  private readonly reader: ReplyReader;
  private readonly owner: Owner;
  private readonly idleMillis: number;
  private call: Call | undefined;
  private ready = false;
  private used = false;
  private broken = false;

  constructor(options: ConnectionsOptions, address: Address, to: string, session: Session | undefined, owner: Owner) {
    const { clock, tls, maxBytes, idleMillis = IDLE_MILLIS } = options;
    this.clock = clock;
    this.to = to;
    this.owner = owner;
    this.idleMillis = idleMillis;
    this.reader = new ReplyReader(maxBytes);
    this.socket =
      tls === undefined ? connectPlain({ ...address, noDelay: true }) : connectSecurely(tls, address, session, owner, clock.monotonic());
    // Nothing is sent before the server is authenticated.
    this.socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      const fault =
        tls?.authorities === undefined || tls.insecure
          ? undefined
          : refusalOf(this.socket as TLSSocket, tls.serverName ?? address.host, tls.authorities);
      if (fault !== undefined) {
        this.break(fault);
        return;
      }
      if (tls?.isOwn !== undefined && leadsHome(this.socket as TLSSocket, tls.isOwn)) {
        this.break(new OwnServer());
        return;
      }
      this.ready = true;
      this.write();
    });
    this.socket.on('data', (chunk: Buffer) => this.received(chunk));
    this.socket.on('end', () => this.ended());
    this.socket.on('error', (error) => this.break(error));
    this.socket.on('close', () => this.break(reset()));
  }

  send(call: Call): void {
    this.call = call;
    call.on = this;
    call.tries++;
    if (!this.ready) return;
    this.socket.ref();
    this.write();
  }
  private write(): void {
    if (this.call !== undefined) this.socket.write(this.call.head + this.call.body);
  }

  /** Closes an idle connection. */
  end(): void {
    this.broken = true;
    this.socket.destroy();
    this.owner.gone(this);
  }

  /** Closes the connection, which fails its call. */
  break(error: NodeJS.ErrnoException): void {
    if (this.broken) return;
    this.broken = true;
    this.socket.destroy();
    const { call } = this;
    this.call = undefined;
    if (call === undefined) {
      this.owner.gone(this);
      return;
    }
    call.on = undefined;
    const stale = this.used && !this.reader.begun && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
    this.owner.failed(this, call, error, stale);
  }

  private received(chunk: Buffer): void {
    if (this.broken) return;
    if (this.call === undefined) {
      this.end();
      return;
    }
    try {
      const reply = this.reader.push(chunk);
      if (reply !== undefined) this.finished(reply);
    } catch (error) {
      this.break(error as Error);
    }
  }
  private ended(): void {
    if (this.broken) return;
    if (this.call === undefined || !this.reader.begun) {
      this.break(reset());
      return;
    }
    try {
      this.finished(this.reader.end());
    } catch (error) {
      this.break(error as BadReply);
    }
  }

  private finished(reply: Reply): void {
    const call = this.call as Call;
    this.call = undefined;
    call.on = undefined;
    this.used = true;
    const { keep, keepMillis } = this.reader;
    // A second less than the server's timeout, so that it does not close while a call is in transit.
    const idle = keepMillis === 0 ? this.idleMillis : Math.min(this.idleMillis, keepMillis - 1000);
    if (keep && idle > 0) {
      this.keptUntil = this.clock.monotonic() + idle;
      // An idle connection does not keep the process alive.
      this.socket.unref();
      this.owner.free(this);
    } else this.end();
    this.owner.done(call, reply);
  }
}

function connectSecurely(tls: TlsSettings, { host, port }: Address, session: Session | undefined, owner: Owner, now: number): Socket {
  const name = tls.serverName ?? host;
  // A resumed session does not check the identity of the server again: it is the one of the name it was checked for.
  const known = session?.name === name && now - session.seen < SESSION_MILLIS ? session : undefined;
  const settings: ConnectionOptions = {
    host,
    port,
    secureContext: tls.secureContext,
    // With a bundle the check is made after the handshake, before anything is sent.
    rejectUnauthorized: tls.insecure !== true && tls.authorities === undefined,
    // A name is sent as SNI, an address only checked.
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    ...(known !== undefined && { session: known.ticket }),
  };
  const socket = connectTls(settings);
  socket.setNoDelay(true);
  socket.on('session', (ticket) => {
    // A certificate that OpenSSL did not accept is checked in every handshake.
    if (!socket.authorized) return;
    owner.session({ name, ticket, seen: known !== undefined && socket.isSessionReused() ? known.seen : now });
  });
  return socket;
}

/** A resumed session has no certificate; the full handshake before it had. */
function leadsHome(socket: TLSSocket, isOwn: (certificate: X509Certificate) => boolean): boolean {
  const certificate = socket.isSessionReused() ? undefined : socket.getPeerX509Certificate();
  return certificate !== undefined && isOwn(certificate);
}

const none = (): void => {};
const reset = (): NodeJS.ErrnoException => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
