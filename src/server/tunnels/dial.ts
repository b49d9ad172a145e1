/**
 * Requests to targets of tunnels: one connection each by default, timeouts of the connection and of the head of
 * the response, errors in plain words.
 */
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Cancel, Clock } from '../../lib/clock.ts';
import { agentFor } from '../../lib/verifying-agent.ts';
import { timeout } from '../../meta/errors.ts';
import { checkHost, guardedLookup, guardFault, peerFault } from './guard.ts';
import { authorityOf, type Target } from './target.ts';

/** Timeout of a connection, including its TLS handshake. */
export const DIAL_MS = 30_000;

/** Timeout of an upgrade response. */
export const UPGRADE_MS = 30_000;

/** Maximum size of a response head. */
const HEADER_BYTES = 64 * 1024;

export interface DialOptions {
  readonly method: string;
  /** Including its query. */
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly clock: Clock;
  /** Timeout from the last bytes that the target read of the request to the head of its response. */
  readonly answerMs: number;
}

/** Timeouts of targets. */
export interface AnswerLimits {
  readonly clock: Clock;
  /** Until the head of a response, without an upgrade. */
  readonly answerMs: number;
}

/** The target has the request, or does not read it, and does not respond. */
export class NoAnswer extends Error {
  constructor(millis: number) {
    super(`the target did not answer within ${millis / 1000} seconds`);
    this.name = 'NoAnswer';
  }
}

/** The error of a request whose target is unreachable: the reason in plain words, and the system error. */
export type Unreachable = (why: string, cause?: Error) => Error;

/** The client's error for a failed request to a target. */
export function faultOf(target: Target, error: Error, unreachable: Unreachable): Error {
  if (error instanceof NoAnswer) return timeout(error.message);
  return guardFault(error) ?? unreachable(dialFault(target, error), error);
}

/** Begins a request. The caller must listen for `error` and end the request. Throws if the address is not allowed. */
export function dial(target: Target, { method, path, headers, clock, answerMs }: DialOptions): http.ClientRequest {
  const { tls, guard } = target;
  if (target.connect !== undefined) return dialLocal(target.connect, { method, path, headers, clock, answerMs });
  checkHost(guard, target.host);
  const common = {
    host: target.host,
    lookup: guardedLookup(guard),
    port: target.port,
    method,
    path,
    maxHeaderSize: HEADER_BYTES,
    headers: headers as unknown as http.OutgoingHttpHeaders,
  };
  const request =
    tls === undefined
      ? http.request({ ...common, agent: false })
      : https.request({
          ...common,
          agent: target.agent ?? agentFor(tls),
          minVersion: 'TLSv1.2',
          rejectUnauthorized: tls.verify,
          // The client's Host header would otherwise be used as the name of the target.
          servername: tls.serverName ?? (isName(target.host) ? target.host : ''),
          ...(tls.certificate !== undefined && { cert: tls.certificate }),
          ...(tls.key !== undefined && { key: tls.key }),
        });
  const connected = limitTimes(request, clock, answerMs);
  request.once('socket', (socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (request.reusedSocket) {
      connected();
      return;
    }
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      connected();
      const fault = tls === undefined ? undefined : peerFault(guard, socket as TLSSocket);
      if (fault !== undefined) request.destroy(fault);
    });
  });
  return request;
}

/** A request to a target in this process. */
function dialLocal(connect: () => Duplex, { method, path, headers, clock, answerMs }: DialOptions): http.ClientRequest {
  const request = http.request({
    createConnection: connect,
    method,
    path,
    maxHeaderSize: HEADER_BYTES,
    headers: headers as unknown as http.OutgoingHttpHeaders,
  });
  limitTimes(request, clock, answerMs)();
  return request;
}

/** Ends a request whose connection or response head times out. Returns a function to call when it is connected. */
function limitTimes(request: http.ClientRequest, clock: Clock, answerMs: number): () => void {
  const unconnected = (): void => void request.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
  let cancel: Cancel = clock.after(DIAL_MS, unconnected);
  let isConnected = false;
  let isOver = false;
  let written = 0;
  const late = (): void => {
    // A long body that the target keeps reading resets the timeout.
    if (!request.writableFinished && (request.socket?.bytesWritten ?? 0) > written) awaitAnswer();
    else request.destroy(new NoAnswer(answerMs));
  };
  const awaitAnswer = (): void => {
    cancel();
    if (isOver) return;
    written = request.socket?.bytesWritten ?? 0;
    cancel = clock.after(answerMs, late);
  };
  const over = (): void => {
    isOver = true;
    cancel();
  };
  request.once('finish', () => {
    if (isConnected) awaitAnswer();
  });
  for (const event of ['response', 'upgrade', 'close']) request.once(event, over);
  return () => {
    isConnected = true;
    awaitAnswer();
  };
}

/** After this much silence a connection gets a keep-alive probe. */
export const KEEP_ALIVE_MS = 30_000;

const isName = (host: string): boolean => /[^0-9.:]/.test(host) && !host.includes(':');

/** The error, in the text of stock servers. */
export function dialFault(target: Target, error: Error): string {
  const where = authorityOf(target);
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ECONNREFUSED':
      return `dial tcp ${where}: connect: connection refused`;
    case 'ETIMEDOUT':
      return `dial tcp ${where}: i/o timeout`;
    case 'EHOSTUNREACH':
      return `dial tcp ${where}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${where}: connect: network is unreachable`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${target.host}: no such host`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `${where}: connection reset by peer`;
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return `x509: certificate of ${where} signed by unknown authority`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `x509: certificate is valid for other names, not ${target.tls?.serverName ?? target.host}`;
    case 'CERT_HAS_EXPIRED':
      return `x509: certificate of ${where} has expired or is not yet valid`;
    default:
      return `${where}: ${error.message}`;
  }
}
