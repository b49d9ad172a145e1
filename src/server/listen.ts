/** HTTP/1.1 and HTTP/2 on one TLS port by ALPN, and plain HTTP on loopback. */
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import { withDescriptors } from '../lib/descriptors.ts';
import { nextTurn } from '../lib/next-turn.ts';
import { type TlsOptions, tlsContexts } from '../lib/tls.ts';
import type { Connections } from './connections.ts';
import type { Incoming, Outgoing } from './context.ts';
import { SESSION_MEGABYTES } from './session-memory.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: plain HTTP. */
  readonly tls?: TlsOptions;
  /** Limits of connections. Absent: none. */
  readonly connections?: Connections;
  readonly handle: (req: Incoming, res: Outgoing) => void;
  /** Takes over upgraded connections (exec, attach, port forwarding). */
  readonly upgrade?: (req: http.IncomingMessage, socket: Socket, head: Buffer) => void;
  readonly clock: Clock;
}
export interface Listener {
  readonly port: number;
  /** Stops listening, lets requests in progress finish, then closes idle connections. */
  close(): Promise<void>;
  /** Closes every connection at once. */
  abort(): void;
}

const HEADER_BYTES = 64 * 1024;
/** Timeout of a handshake, and of the head of a request. */
const HANDSHAKE_MS = 10_000;
const HEAD_MS = 15_000;
/** Limits on what a client may send before it is served. */
const limits = {
  maxHeaderSize: HEADER_BYTES,
  headersTimeout: HEAD_MS,
  requestTimeout: 0,
  keepAliveTimeout: 120_000,
  // How often heads are checked for their timeout.
  connectionsCheckingInterval: 5000,
};
/** How often idle connections are closed during a shutdown. */
const IDLE_SWEEP_MS = 20;
const h2Settings = { maxConcurrentStreams: 1000, initialWindowSize: 1024 * 1024, maxHeaderListSize: HEADER_BYTES };
/** Memory limit of one HTTP/2 connection, and invalid frames before it is closed. */
const h2Limits = { maxSessionMemory: SESSION_MEGABYTES, maxSessionInvalidFrames: 100, maxSettings: 32, maxOutstandingPings: 10 };
/** A silent HTTP/2 client gets a ping after this time, and is disconnected after the same time again. */
const H2_SILENT_MS = 120_000;

export async function listen(options: ListenOptions): Promise<Listener> {
  const sockets = new Set<Socket>();
  const handle = options.handle as http.RequestListener;
  const { tls } = options;
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = tls === undefined ? http.createServer(limits, handle) : secure(tls, handle, options.handle, sessions);
  const { connections } = options;
  if (connections !== undefined) admitOnly(server, connections, tls !== undefined);
  server.on('upgrade', (req, socket, head) => {
    if (options.upgrade === undefined) socket.destroy();
    else options.upgrade(req, socket as Socket, head);
  });
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
  await withDescriptors(() => listening(server, options), undefined, options.clock);
  // Connections that cannot be accepted for lack of descriptors wait in the kernel; no error of one ends the server.
  server.on('error', () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        // Connections with a request in progress become idle one by one.
        const stopSweeping = options.clock.every(IDLE_SWEEP_MS, () => server.closeIdleConnections());
        server.close(() => {
          stopSweeping();
          resolve();
        });
        server.closeIdleConnections();
        // Sends GOAWAY to the clients; each session ends with its last stream.
        for (const session of sessions) session.close();
      }),
    abort: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
    },
  };
}

function listening(server: http.Server | https.Server, { port, host }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** An HTTPS server that passes connections with ALPN `h2` to an HTTP/2 server. */
function secure(
  tls: TlsOptions,
  handle: http.RequestListener,
  handle2: (req: Incoming, res: Outgoing) => void,
  sessions: Set<http2.ServerHttp2Session>,
): https.Server {
  const second = http2.createServer({ settings: h2Settings, ...h2Limits });
  second.on('request', handle2);
  second.on('stream', (stream) => stream.once('aborted', letGo));
  second.on('sessionError', () => {});
  second.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    letGoWhenSilent(session);
  });
  const contexts = tlsContexts(tls);
  const server = https.createServer({
    ...limits,
    ...contexts.options,
    ALPNProtocols: ['h2', 'http/1.1'],
    // The authenticator decides whether a certificate is valid, and whose it is.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
  });
  contexts.onChange((changed) => server.setSecureContext(changed));
  server.on('tlsClientError', answerPlainHttp);
  const first = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[];
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') second.emit('connection', socket);
    else for (const listener of first) listener.call(server, socket);
  });
  server.on('request', handle);
  return server;
}

/** A plain HTTP request gets a plain HTTP response, as from a stock server: the connection would otherwise just close. */
function answerPlainHttp(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  if (error.code !== 'ERR_SSL_HTTP_REQUEST') return;
  // The connection beneath, which Node does not document.
  const { _parent: connection } = socket as unknown as { _parent?: Socket };
  if (connection?.writable) connection.end('HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n');
}

/** Checks the limits of connections before anything is done for one. */
function admitOnly(server: http.Server | https.Server, connections: Connections, handshake: boolean): void {
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
  let asked = false;
  session.setTimeout(H2_SILENT_MS, () => {
    if (asked) {
      session.destroy();
      return;
    }
    asked = true;
    session.ping(() => {
      asked = false;
    });
  });
}
