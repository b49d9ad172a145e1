/**
 * Forwarded ports of simulated pods: bytes come back as they are sent where something listens, unless an annotation leads a port to an
 * address of this machine and the operator allows that.
 *
 *   simulation.plat.dev/port-forward: 8080=127.0.0.1:9090,5432=[::1]:5432
 */
import { connect } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { simulationName } from '@plat-dev/meta/identity';
import { SpdyConnection } from '@plat-dev/streams/spdy/connection';
import type { SpdyStream } from '@plat-dev/streams/spdy/stream';
import type { WebSocket } from 'ws';
import { type Annotated, annotationOf } from '../annotations.ts';
import { type ChannelProtocol, decoded, encoded } from './streams.ts';

/** Connections of one client at a time. */
const CONNECTIONS_LIMIT = 128;

export interface PortTargets {
  /** What a port leads to. Throws with the reason why it cannot be reached. */
  open(port: number): Duplex;
  /** What an annotation leads a port to; undefined if none does. Throws if that is not allowed. */
  local(port: number): Duplex | undefined;
}

export interface Ports {
  /** Annotations may lead to loopback addresses of this machine. */
  readonly allowLocal: boolean;
  /** Whether something in the pod listens on a port. */
  readonly listens: (port: number) => boolean;
}

export function portTargets(annotated: Annotated, { allowLocal, listens }: Ports): PortTargets {
  const name = simulationName(annotated.identity, 'port-forward');
  const text = annotationOf(annotated, 'port-forward');
  const { name: pod, namespace, uid } = annotated.pod.metadata;
  const targets: PortTargets = {
    open(port) {
      const local = targets.local(port);
      if (local !== undefined) return local;
      if (listens(port)) return new PassThrough();
      throw new ConnectionRefused(`error forwarding port ${port} to pod ${pod}_${namespace}, uid ${uid}`, port);
    },
    local(port) {
      const address = text === undefined ? undefined : addressFor(text, port);
      if (address === undefined) return undefined;
      if (!isLoopback(address.host)) throw new Error(`${name} names ${address.host}, which is no loopback address`);
      if (!allowLocal)
        throw new Error(`${name}: this server forwards to no local addresses; it is started without --simulated-nodes-forward-local`);
      return connect({ host: address.host, port: address.port, allowHalfOpen: true });
    },
  };
  return targets;
}

/** Nothing listens on a port of a pod. */
export class ConnectionRefused extends Error {
  readonly code = 'ECONNREFUSED';
  constructor(what: string, port: number) {
    super(`${what}: dial tcp4 127.0.0.1:${port}: connect: connection refused`);
  }
}

/** `8080=127.0.0.1:9090,…` */
export function addressFor(text: string, port: number): { host: string; port: number } | undefined {
  for (const part of text.split(',')) {
    const match = /^\s*(\d{1,5})=(?:\[([0-9a-f:]+)\]|([0-9.]+|localhost)):(\d{1,5})\s*$/i.exec(part);
    if (match === null || Number(match[1]) !== port) continue;
    const target = Number(match[4]);
    if (target >= 1 && target <= 65535) return { host: (match[2] ?? match[3] ?? '').replace('localhost', '127.0.0.1'), port: target };
  }
  return undefined;
}
const isLoopback = (host: string): boolean => host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

/** Joins two streams until one of them is closed. Resolves with the error, if any. */
function join(a: Duplex, b: Duplex): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let failure: Error | undefined;
    let open = 2;
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      one.once('error', (error) => {
        failure ??= error;
      });
      one.once('close', () => {
        // A stream that was broken off breaks off the other; one that ended has passed its end on.
        if (!one.readableEnded || !one.writableFinished) other.destroy();
        else other.end();
        if (--open === 0) resolve(failure);
      });
      one.pipe(other);
    }
  });
}

/** Each connection has two streams with one request id: errors, and data. */
export function forwardSpdy(socket: Duplex, head: Buffer, targets: PortTargets): void {
  const waiting = new Map<string, SpdyStream>();
  let open = 0;
  const connection = new SpdyConnection(socket, head, {
    stream: (stream) => {
      const id = stream.headers.get('requestid') ?? `${stream.headers.get('port')}`;
      const type = stream.headers.get('streamtype');
      const other = waiting.get(id);
      if ((type !== 'error' && type !== 'data') || open >= CONNECTIONS_LIMIT || other?.headers.get('streamtype') === type) {
        stream.reset();
        return;
      }
      if (other === undefined) {
        waiting.set(id, stream);
        stream.once('close', () => waiting.delete(id));
        return;
      }
      waiting.delete(id);
      const [error, data] = type === 'error' ? [stream, other] : [other, stream];
      open++;
      error.resume();
      void pass(targets, Number(data.headers.get('port')), data, (text) => void error.write(text)).then(() => {
        open--;
        error.end();
        data.end();
      });
    },
    close: () => waiting.clear(),
  });
  void connection;
}

async function pass(targets: PortTargets, port: number, data: Duplex, report: (text: string) => void): Promise<void> {
  let target: Duplex;
  try {
    target = targets.open(port);
  } catch (error) {
    report((error as Error).message);
    return;
  }
  const failure = await join(data, target);
  if (failure !== undefined) report(`error forwarding port ${port}: ${failure.message}`);
}

/** Two channels for each port, data and errors; the first message of each is the number of the port. */
export function forwardSocket(webSocket: WebSocket, protocol: ChannelProtocol, ports: readonly number[], targets: PortTargets): void {
  const open = new Map<number, Duplex>();
  webSocket.on('message', (payload) => {
    const [channel, bytes] = decoded(payload as Buffer, protocol);
    const target = open.get(channel);
    if (target === undefined || target.destroyed || bytes.length === 0) return;
    if (!target.write(bytes)) {
      webSocket.pause();
      target.once('drain', () => webSocket.resume());
    }
  });
  webSocket.once('close', () => {
    for (const target of open.values()) target.destroy();
  });
  const send = (channel: number, bytes: Buffer, done?: () => void): void =>
    webSocket.send(encoded(channel, bytes, protocol), { binary: !protocol.base64 }, done);
  for (const [i, port] of ports.entries()) {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    send(2 * i, number);
    send(2 * i + 1, number);
    try {
      const target = targets.open(port);
      open.set(2 * i, target);
      target.on('error', (error) => send(2 * i + 1, Buffer.from(error.message)));
      target.on('data', (chunk: Buffer) => {
        target.pause();
        send(2 * i, chunk, () => target.resume());
      });
    } catch (error) {
      send(2 * i + 1, Buffer.from((error as Error).message));
    }
  }
}
