/** Connections to servers, which are verified before anything is sent. No session is resumed: every connection shows its certificate. */
import type { X509Certificate } from 'node:crypto';
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import type { Clock } from '@plat-dev/lib/clock';
import { OwnServer } from '../connections/own-certificates.ts';
import { refusalOf } from './peer-trust.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}
/** `10.0.0.1:80`, `[fd00::1]:80` */
export const authorityOf = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

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

export interface ConnectSettings {
  readonly clock: Clock;
  /** Absent: no TLS. */
  readonly tls?: TlsSettings | undefined;
  /** Resolves names; absent: as the host does. */
  readonly lookup?: LookupFunction | undefined;
}

/** After this much silence a connection gets a keep-alive probe. */
export const KEEP_ALIVE_MILLIS = 30_000;
/** Time for a connection, including its TLS handshake. */
export const CONNECT_MILLIS = 30_000;

/** `done` is called once, with an error or with a connection whose server is verified. Closing the returned socket ends the attempt. */
export function connect(
  address: Address,
  { clock, tls, lookup }: ConnectSettings,
  done: (...outcome: [null, Socket] | [Error, null]) => void,
): Socket {
  const socket = tls === undefined ? connectPlain({ ...address, lookup }) : connectSecurely(tls, address, lookup);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MILLIS);
  const onTimeout = (): void => void socket.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' }));
  const cancel = clock.after(CONNECT_MILLIS, onTimeout);
  const failed = (error?: Error): void => {
    cancel();
    socket.off('error', failed).off('close', closed).on('error', ignore);
    done(error ?? Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }), null);
  };
  const closed = (): void => failed();
  socket.on('error', failed);
  socket.on('close', closed);
  socket.once(tls === undefined ? 'connect' : 'secureConnect', () => {
    const refusal = tls === undefined ? undefined : refusedPeer(tls, socket as TLSSocket, address);
    if (refusal !== undefined) {
      socket.destroy(refusal);
      return;
    }
    cancel();
    socket.off('error', failed).off('close', closed);
    done(null, socket);
  });
  return socket;
}

const ignore = (): void => {};

function connectSecurely(tls: TlsSettings, address: Address, lookup: LookupFunction | undefined): TLSSocket {
  const name = tls.serverName ?? address.host;
  return connectTls({
    ...address,
    lookup,
    secureContext: tls.secureContext,
    // With a bundle the check is made after the handshake, before anything is sent.
    rejectUnauthorized: tls.insecure !== true && tls.authorities === undefined,
    // A name is sent as SNI, an address only checked.
    servername: isIP(name) === 0 ? name : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  });
}

function refusedPeer({ insecure, authorities, serverName, isOwn }: TlsSettings, socket: TLSSocket, { host }: Address): Error | undefined {
  const refusal = authorities === undefined || insecure ? undefined : refusalOf(socket, serverName ?? host, authorities);
  if (refusal !== undefined) return refusal;
  const certificate = socket.getPeerX509Certificate();
  return certificate !== undefined && isOwn?.(certificate) === true ? new OwnServer() : undefined;
}
