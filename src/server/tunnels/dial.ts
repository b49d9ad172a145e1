/** Requests to targets of tunnels: one connection each unless told otherwise, a bound on how long it takes to get one, errors in plain words. */
import http from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';
import { checkHost, guardedLookup, peerFault } from './guard.ts';
import { authorityOf, type Target } from './target.ts';

/** Longest that a connection may take to come about, its TLS handshake included. */
const DIAL_MS = 30_000;

/** Largest head of an answer. */
const HEADER_BYTES = 64 * 1024;

export interface DialOptions {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** Begins a request. Whoever calls must listen for `error` and end the request. Throws where the address is not allowed. */
export function dial(target: Target, { method, path, headers }: DialOptions): http.ClientRequest {
  const { tls, guard } = target;
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
          agent: target.agent ?? false,
          minVersion: 'TLSv1.2',
          rejectUnauthorized: tls.verify,
          // The client's Host header would otherwise be taken for the name of the target.
          servername: tls.serverName ?? (isName(target.host) ? target.host : ''),
          ...(tls.ca !== undefined && { ca: tls.ca }),
          ...(tls.certificate !== undefined && { cert: tls.certificate }),
          ...(tls.key !== undefined && { key: tls.key }),
        });
  const timer = setTimeout(() => request.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' })), DIAL_MS);
  const arrived = (): void => clearTimeout(timer);
  request.once('socket', (socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    if (request.reusedSocket) {
      arrived();
      return;
    }
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
      arrived();
      const fault = tls === undefined ? undefined : peerFault(guard, socket as TLSSocket);
      if (fault !== undefined) request.destroy(fault);
    });
  });
  request.once('close', arrived);
  return request;
}
/** After this much silence a connection is asked whether it still has another end. */
export const KEEP_ALIVE_MS = 30_000;

const isName = (host: string): boolean => /[^0-9.:]/.test(host) && !host.includes(':');

/** What went wrong, in the words that clients of stock servers know. */
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
