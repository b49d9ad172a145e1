/** The client certificate of a connection, kept with its socket and, for HTTP/2, with its session. */
import type { Http2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { type ClientCertificate, clientCertificateOf } from './client-certificates.ts';
import { isWeak, type TlsOptions } from './tls.ts';

const certificateKey = Symbol('client certificate');
type Connection = { [certificateKey]?: ClientCertificate | undefined };

/** Called once, when the handshake ends. */
export function noteCertificate(socket: TLSSocket, tls: TlsOptions): void {
  (socket as Connection)[certificateKey] = clientCertificateOf(socket, tls.clientCAs.current, isWeak(tls));
}
/** Called when the session begins: later its socket may be gone. */
export function noteSession(session: Http2Session): void {
  (session as Connection)[certificateKey] = certificateOn(session.socket);
}
export const certificateOn = (connection: object): ClientCertificate | undefined => (connection as Connection)[certificateKey];
