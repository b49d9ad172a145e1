/** HTTP/1.1 and HTTP/2 on one TLS port by ALPN, and plain HTTP on loopback. */
import http2 from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import { type Clock, systemClock } from '@plat-dev/lib/clock';
import { nextTurn } from '@plat-dev/lib/next-turn';
import { HEAD_BYTES } from '../http1/head.ts';
import { Http1Server } from '../http1/server.ts';
import type { Handle, UpgradeHandle } from '../tunnels/upgrade.ts';
import { noteCertificate, noteSession } from './connection-certificate.ts';
import type { Connections } from './connection-limits.ts';
import { withDescriptors } from './descriptors.ts';
import { SESSION_MEGABYTES } from './http2-memory.ts';
import { OPEN_STREAMS, SessionTurns } from './http2-requests.ts';
import { type TlsOptions, tlsContexts } from './tls.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions;
  /** Timeout of a TLS handshake. */
  readonly handshakeMs?: number;
  /** Limits of connections. Absent: none. */
  readonly connections?: Connections;
  readonly handle: Handle;
  /** Gets requests that ask to switch protocols (exec, attach, port forwarding). Absent: they are handled like all others. */
  readonly upgrade?: UpgradeHandle;
  readonly clock: Clock;
}
export interface Listener {
  readonly port: number;
  /** Stops listening, lets requests in progress finish, then closes idle connections. */
  close(): Promise<void>;
  /** Closes every connection at once. */
  abort(): void;
}

/** Timeout of a handshake. */
const HANDSHAKE_MS = 10_000;
const h2Settings = { maxConcurrentStreams: OPEN_STREAMS, initialWindowSize: 1024 * 1024, maxHeaderListSize: HEAD_BYTES };
/** Memory limit of one HTTP/2 connection, and invalid frames before it is closed. */
const h2Limits = { maxSessionMemory: SESSION_MEGABYTES, maxSessionInvalidFrames: 100, maxSettings: 32, maxOutstandingPings: 10 };
/** A silent HTTP/2 client gets a ping after this time, and is disconnected after the same time again. */
const H2_SILENT_MS = 120_000;

export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const { tls, handle, upgrade, clock, connections } = options;
  const sessions = new Set<http2.ServerHttp2Session>();
  // Clients are silent, and dates are read, by the clock of the machine.
  const http1 = new Http1Server({ handle, upgrade, clock: systemClock });
  const server = tls === undefined ? createServer({ noDelay: true }) : secure(tls, options.handshakeMs ?? HANDSHAKE_MS);
  const second = tls === undefined ? undefined : http2Server(handle, sessions);
  if (connections !== undefined) admitOnly(server, connections, tls !== undefined);
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (tls !== undefined) noteCertificate(socket as TLSSocket, tls);
    if (second !== undefined && (socket as TLSSocket).alpnProtocol === 'h2') second.emit('connection', socket);
    else http1.accept(socket);
  });
  await withDescriptors(() => listening(server, options), undefined, clock);
  // Connections that cannot be accepted for lack of descriptors wait in the kernel; no error of one ends the server.
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        http1.close();
        // Sends GOAWAY to the clients; each session ends with its last stream.
        for (const session of sessions) session.close();
      }),
    abort: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listening(server: Server, { port, host }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The listener for TLS. */
function secure(tls: TlsOptions, handshakeMs: number): TlsServer {
  const contexts = tlsContexts(tls);
  const server = createTlsServer({
    ...contexts.options,
    noDelay: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    // A client whose certificate is refused gets an answer (401).
    rejectUnauthorized: false,
    handshakeTimeout: handshakeMs,
  });
  contexts.onChange((changed) => server.setSecureContext(changed));
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    if (error.code === 'ERR_SSL_HTTP_REQUEST') answerPlainHttp(socket);
    // Of one that timed out, nobody else closes the connection.
    else socket.destroy();
  });
  return server;
}

/** Gets connections with ALPN `h2`. */
function http2Server(handle: Handle, sessions: Set<http2.ServerHttp2Session>): http2.Http2Server {
  const second = http2.createServer({ settings: h2Settings, ...h2Limits });
  const turns = new WeakMap<object, SessionTurns>();
  second.on('request', (req, res) => {
    const { stream } = req;
    // A stream of a closed connection has none.
    if (stream.session !== undefined) turns.get(stream.session)?.add({ stream, handle: () => handle(req, res) });
  });
  second.on('stream', (stream) => stream.once('aborted', letGo));
  second.on('sessionError', () => {});
  second.on('session', (session) => {
    sessions.add(session);
    noteSession(session);
    turns.set(session, new SessionTurns(() => session.destroy(undefined, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM)));
    session.once('close', () => sessions.delete(session));
    letGoWhenSilent(session);
  });
  return second;
}

/** A plain HTTP request gets a plain HTTP response, as from a stock server: the connection would otherwise just close. */
function answerPlainHttp(socket: TLSSocket): void {
  // The connection beneath, which Node does not document.
  const { _parent: connection } = socket as unknown as { _parent?: Socket };
  if (connection?.writable) connection.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
}

/** Checks the limits of connections before anything is done for one. */
function admitOnly(server: Server, connections: Connections, handshake: boolean): void {
  const inner = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket, handshake)) {
      socket.destroy();
      return;
    }
    if (!handshake) for (const listener of inner) listener.call(server, socket);
    // However many clients connect together, one handshake begins per turn of the loop, round-robin over addresses.
    else
      void nextTurn(socket.remoteAddress).then(() => {
        if (!socket.destroyed) for (const listener of inner) listener.call(server, socket);
      });
  });
  if (handshake) server.prependListener('secureConnection', (socket: TLSSocket) => connections.ready(socket));
}

/** A client may reset a stream without an error while data waits for it, which would otherwise wait forever. */
function letGo(this: http2.ServerHttp2Stream): void {
  this.destroy();
}

function letGoWhenSilent(session: http2.ServerHttp2Session): void {
  let isPinged = false;
  session.setTimeout(H2_SILENT_MS, () => {
    if (isPinged) {
      session.destroy();
      return;
    }
    isPinged = true;
    session.ping(() => {
      isPinged = false;
    });
  });
}
