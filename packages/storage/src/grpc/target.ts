/**
 * The address of a gRPC server:
 *
 *   host:port, [::1]:port, dns:host:port, dns:///host:port      over TCP
 *   unix:/path, unix:///path                                    over a Unix socket
 */
import { isIP } from 'node:net';

export interface Target {
  /** Options of `net.connect` and `tls.connect`. */
  readonly address: { readonly host: string; readonly port: number } | { readonly path: string };
  /** The `:authority` of requests. */
  readonly authority: string;
  /** The name in the certificate of the server; undefined for an IP address, which is checked as such. */
  readonly serverName: string | undefined;
}

const DEFAULT_PORT = 443;

/** Throws TypeError for a text of another form. */
export function parseTarget(target: string): Target {
  if (target.startsWith('unix:')) {
    const path = target.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    if (path !== '') return { address: { path }, authority: 'localhost', serverName: undefined };
  } else {
    const authority = target.replace(/^dns:(?:\/\/[^/]*\/)?/, '');
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:/?#\s]+))(?::(\d{1,5}))?$/.exec(authority) ?? [];
    const host = bracketed ?? plain;
    const number = port === undefined ? DEFAULT_PORT : Number(port);
    if (host !== undefined && number <= 65_535 && (bracketed === undefined || isIP(host) === 6))
      return { address: { host, port: number }, authority, serverName: isIP(host) === 0 ? host : undefined };
  }
  throw new TypeError(`the address ${JSON.stringify(target)} of a gRPC server is not of the form host:port or unix:/path`);
}
