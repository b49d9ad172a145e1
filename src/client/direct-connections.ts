/**
 * Connections to a server whose certificate is verified by direct-trust.ts, and requests on them. Nothing is sent before the server is
 * verified; one that cannot be is UnverifiedServer, and OpenSSL must decide. No session is resumed, so that every connection
 * shows its certificate.
 *
 * Without the HTTP client of Node, which takes several milliseconds to load and to run.
 */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { type ConnectionOptions, connect, DEFAULT_CIPHERS, type TLSSocket } from 'node:tls';
import { requestHead } from '../lib/calls/head.ts';
import { type ReplyHeaders, ReplyReader } from '../lib/calls/reply.ts';
import type { Clock } from '../lib/clock.ts';
import { directAuthorities, isTrustedDirectly } from '../lib/pki/direct-trust.ts';
import { type ConnectLimits, limited } from './connect-limits.ts';
import type { Connection } from './connection.ts';
import type { Credential } from './credentials.ts';

/** A server whose certificate is not of the usual form. Nothing was sent to it. */
export class UnverifiedServer extends Error {}
/** A server that showed another certificate on a connection in use. Requests were sent to it, which are not repeated. */
class ChangedServer extends Error {
  readonly code = 'ERR_TLS_CERT_CHANGED';
  constructor() {
    super('it changed its certificate within a connection');
  }
}

export interface DirectOptions {
  readonly maxSockets: number;
  readonly clock: Clock;
  readonly limits: ConnectLimits;
}
export interface DirectRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer | undefined;
}
export interface DirectAnswer {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Readable;
}
export interface DirectUpgraded {
  readonly headers: ReplyHeaders;
  readonly socket: TLSSocket;
  readonly head: Buffer;
}

/** Connections that the server will close within so many milliseconds are not used again. */
const CLOSING_SOON = 1000;

interface Idle {
  readonly socket: TLSSocket;
  /** Closes it: nothing was requested. */
  readonly unasked: () => void;
  /** On the monotonic clock. */
  readonly until: number;
}

export class DirectConnections {
  private readonly connection: Connection;
  private readonly authorities: readonly X509Certificate[];
  private readonly options: DirectOptions;
  private readonly open = new Set<TLSSocket>();
  private idle: Idle[] = [];
  /** Callers that wait for one of the connections to become free. */
  private readonly waiting: (() => void)[] = [];
  private shown: Credential = {};
  /** A connection that was begun before the first request needs it. */
  private early: Promise<TLSSocket> | undefined;
  private isClosed = false;

  constructor(connection: Connection, authorities: readonly X509Certificate[], options: DirectOptions) {
    this.connection = connection;
    this.authorities = authorities;
    this.options = options;
    this.shown = { certificate: connection.certificate, key: connection.key };
  }
  /** Begins a connection: the server answers while the command prepares its first request. */
  begin(): void {
    this.early = this.connect();
    // The first request gets the error.
    this.early.catch(() => {});
  }
  /** A connection for a request with this credential. */
  async take(credential: Credential): Promise<TLSSocket> {
    const certificate = credential.certificate ?? this.connection.certificate;
    const key = credential.key ?? this.connection.key;
    if (certificate !== this.shown.certificate || key !== this.shown.key) this.change({ certificate, key });
    const { early } = this;
    this.early = undefined;
    const first = await early;
    if (first !== undefined && !first.destroyed) return first;
    for (;;) {
      if (this.isClosed) throw hungUp();
      const now = this.options.clock.monotonic();
      for (let last = this.idle.pop(); last !== undefined; last = this.idle.pop()) {
        last.socket.off('data', last.unasked);
        if (last.until > now) return last.socket;
        last.socket.destroy();
      }
      if (this.open.size < this.options.maxSockets) return this.connect();
      await new Promise<void>((free) => this.waiting.push(free));
    }
  }
  /** `millis`: how long the server keeps it; 0: not known. */
  giveBack(socket: TLSSocket, millis: number): void {
    if (this.isClosed || socket.destroyed || !this.open.has(socket)) {
      socket.destroy();
      return;
    }
    const until = millis === 0 ? Number.POSITIVE_INFINITY : this.options.clock.monotonic() + millis - CLOSING_SOON;
    const unasked = (): void => void socket.destroy();
    this.idle.push({ socket, unasked, until });
    socket.on('data', unasked).resume();
    // A process with nothing else to do ends.
    socket.unref();
    this.waiting.shift()?.();
  }
  /** It belongs to the caller from now on. */
  lend(socket: TLSSocket): void {
    this.gone(socket);
  }
  close(): void {
    this.isClosed = true;
    for (const socket of this.open) socket.destroy();
  }

  private change(shown: Credential): void {
    this.shown = shown;
    const old = this.idle;
    this.idle = [];
    this.early?.then(
      (socket) => socket.destroy(),
      () => {},
    );
    this.early = undefined;
    for (const { socket } of old) socket.destroy();
  }
  private gone(socket: TLSSocket): void {
    if (!this.open.delete(socket)) return;
    this.idle = this.idle.filter((one) => one.socket !== socket);
    this.waiting.shift()?.();
  }
  private connect(): Promise<TLSSocket> {
    const { server, serverName } = this.connection;
    const { certificate, key } = this.shown;
    const { hostname, port } = new URL(server);
    const host = hostname.replace(/^\[|\]$/g, '');
    const name = serverName ?? (isIP(host) ? '' : host);
    const socket = connect({
      host,
      port: Number(port || 443),
      servername: name,
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      // Without any CA OpenSSL trusts nobody, and Node reads no root certificates.
      ca: [],
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 1000,
    } as ConnectionOptions);
    this.open.add(socket);
    socket.once('close', () => this.gone(socket));
    return new Promise((resolve, reject) => {
      let verified: Buffer | undefined;
      socket.on('error', reject);
      socket.once('close', () => reject(hungUp()));
      // Servers of TLS 1.2 may begin another handshake later.
      socket.on('secureConnect', () => {
        const shown = socket.getPeerX509Certificate();
        if (verified !== undefined) {
          if (shown?.raw.equals(verified) !== true) socket.destroy(new ChangedServer());
        } else if (shown === undefined || !this.trusts(socket, shown, name || host)) socket.destroy(new UnverifiedServer());
        else {
          verified = shown.raw;
          resolve(socket);
        }
      });
      limited(socket, this.options.limits, true);
    });
  }
  private trusts(socket: TLSSocket, certificate: X509Certificate, name: string): boolean {
    return !socket.isSessionReused() && isTrustedDirectly(certificate, this.authorities, name, this.options.clock.now());
  }
}

/** The connections to a server that can be verified directly; undefined: OpenSSL must verify it. */
export function directConnections(connection: Connection, options: DirectOptions): DirectConnections | undefined {
  const { server, ca, insecure, proxy } = connection;
  // A security level of ciphers is one of certificates, too.
  if (!server.startsWith('https:') || insecure || proxy !== undefined || ca === undefined || DEFAULT_CIPHERS.includes('@'))
    return undefined;
  const authorities = directAuthorities(ca);
  return authorities && new DirectConnections(connection, authorities, options);
}

const hungUp = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** The body of a response as it arrives; the connection is read as fast as this is. */
export class ArrivingBody extends Readable {
  private readonly more: () => void;
  private readonly abandoned: () => void;
  constructor(more: () => void, abandoned: () => void) {
    super();
    this.more = more;
    this.abandoned = abandoned;
  }
  override _read(): void {
    this.more();
  }
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.abandoned();
    done(error);
  }
  /** Calls for every piece until the end, with less work than an iterator. An error of the call ends the body. */
  each(call: (piece: Buffer) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.on('error', reject).once('end', resolve);
      this.once('close', () => reject(hungUp()));
      this.on('data', (piece: Buffer) => {
        try {
          call(piece);
        } catch (error) {
          this.destroy(error as Error);
        }
      });
    });
  }
}

/** A request on the way: it can be ended with an error until its response is complete. */
export class DirectExchange {
  readonly answer: Promise<DirectAnswer | DirectUpgraded>;
  private readonly connections: DirectConnections;
  private resolve: (answer: DirectAnswer | DirectUpgraded) => void = () => {};
  private reject: (error: Error) => void = () => {};
  private socket: TLSSocket | undefined;
  private body: ArrivingBody | undefined;
  private failure: Error | undefined;
  private finished = false;
  /** Called once, when nothing more arrives. */
  private readonly ended: () => void;

  constructor(connections: DirectConnections, credential: Credential, request: DirectRequest, ended: () => void = () => {}) {
    this.connections = connections;
    this.ended = ended;
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    const head = textOf(request);
    connections.take(credential).then(
      (socket) => this.send(socket, head, request),
      (error) => this.end(error),
    );
  }
  end(error: Error): void {
    if (this.finished) return;
    this.failure = error;
    const { body, socket } = this;
    this.finish();
    socket?.destroy();
    if (body === undefined) this.reject(error);
    else body.destroy(error);
  }

  private send(socket: TLSSocket, head: string, { method, body }: DirectRequest): void {
    // It was ended while it waited for a connection.
    if (this.failure !== undefined) {
      this.connections.giveBack(socket, 0);
      return;
    }
    this.socket = socket;
    socket.ref();
    const reader = new ReplyReader(Number.POSITIVE_INFINITY, {
      head: (status, headers) => {
        this.body = new ArrivingBody(
          () => socket.resume(),
          () => this.end(hungUp()),
        );
        this.resolve({ status, headers, body: this.body });
      },
      piece: (bytes) => {
        if (this.body?.push(bytes) === false) socket.pause();
      },
      switched: (headers, rest) => {
        forget();
        // It flows when its new owner listens, as Node hands sockets over.
        (socket as { readableFlowing: boolean | null }).readableFlowing = null;
        this.connections.lend(socket);
        this.finish();
        this.resolve({ headers, socket, head: rest });
      },
    });
    reader.withoutBody = method === 'HEAD';
    const complete = (): void => {
      const { body: arrived } = this;
      forget();
      this.finish();
      arrived?.push(null);
      if (reader.keep) this.connections.giveBack(socket, reader.keepMillis);
      else socket.destroy();
    };
    const guarded = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        forget();
        this.end(error as Error);
      }
    };
    const onData = (chunk: Buffer): void => guarded(() => reader.push(chunk) !== undefined && complete());
    const onEnd = (): void =>
      guarded(() => {
        if (!reader.begun) throw hungUp();
        try {
          reader.end();
        } catch {
          throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
        }
        complete();
      });
    const onError = (error: Error): void => this.end(error);
    const onClose = (): void => this.end(hungUp());
    const forget = (): void => {
      socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
    };
    socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    socket.resume();
    if (!(body instanceof Uint8Array) && isAscii.test(head)) socket.write(`${head}\r\n${body ?? ''}`);
    else {
      socket.cork();
      socket.write(`${head}\r\n`, 'latin1');
      socket.write(body ?? '');
      socket.uncork();
    }
  }
  private finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.ended();
  }
}

const isAscii = /^[\t\r\n -~]*$/;

function textOf({ method, path, headers, body }: DirectRequest): string {
  const needsLength = body === undefined && (method === 'POST' || method === 'PUT' || method === 'PATCH');
  return requestHead(method, path, needsLength ? { ...headers, 'content-length': '0' } : headers);
}
