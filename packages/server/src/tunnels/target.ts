/** The target of a tunnel, and the names by which clients address it. */
import type { Duplex } from 'node:stream';
import { asIPv4, formatIP, parseIP } from '@plat-dev/meta/ip';
import type { HttpClient } from '../http-client/client.ts';
import type { Guard } from './guard.ts';

/** TLS settings of a target. PEM texts. */
export interface TargetTls {
  /** False: the certificate is not verified. Pods and services are reached by address, which is not in their certificates. */
  readonly verify: boolean;
  /** Absent: the roots of the host. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The required name of the certificate. Absent: that of the host. */
  readonly serverName?: string | undefined;
}

export interface Target {
  /** Absent: plain HTTP. */
  readonly tls?: TargetTls | undefined;
  /** Name or address, an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** The addresses and peers that are allowed. */
  readonly guard: Guard;
  /** Keeps connections for further requests. Absent: every request has one of its own. */
  readonly client?: HttpClient | undefined;
  /** Connects within this process: there is neither an address to check nor TLS. */
  readonly connect?: (() => Duplex) | undefined;
}

export const schemeOf = (target: Target): string => (target.tls === undefined ? 'http' : 'https');

export interface TargetName {
  readonly scheme: 'http' | 'https' | '';
  readonly name: string;
  readonly port: string;
}

/**
 * The parts of a name in a proxy path; undefined if it is not valid.
 *
 *   web → web    web:8080 → web, port 8080    https:web:admin → https, web, port admin    ftp:web:1 → undefined
 */
export function splitName(text: string): TargetName | undefined {
  const parts = text.split(':');
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  if (name === undefined || name === '' || (scheme !== '' && scheme !== 'http' && scheme !== 'https')) return undefined;
  return { scheme, name, port: port ?? '' };
}

/** A port number, or undefined. */
export function portNumber(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65535 ? port : undefined;
}

/**
 * Whether a client may connect to an address that an object names. This server's own loopback, link-local (where clouds
 * serve credentials), multicast and broadcast are refused: a client that can write the status of a pod would otherwise
 * reach what only this machine may.
 */
export function isProxyable(text: string): boolean {
  const bytes = parseIP(text);
  if (bytes === undefined) return false;
  const v4 = asIPv4(bytes);
  if (v4 !== undefined) {
    const [a, b] = v4 as unknown as [number, number];
    return !(a === 0 || a === 127 || a >= 224 || (a === 169 && b === 254));
  }
  const [a, b] = bytes as unknown as [number, number];
  // Twelve zeros begin the unspecified address, loopback, and a deprecated notation of IPv4 addresses.
  if (bytes.subarray(0, 12).every((byte) => byte === 0)) return false;
  return !(a === 0xff || (a === 0xfe && (b & 0xc0) === 0x80));
}

/**
 * An address in its canonical form; undefined if clients may not connect to it. Addresses in objects
 * can be ambiguous: 0177.0.0.1 is 177.0.0.1 to some resolvers and 127.0.0.1 to others.
 */
export function proxyAddress(text: string, allowLocal = false): string | undefined {
  const bytes = parseIP(text);
  if (bytes === undefined || !(allowLocal || isProxyable(text))) return undefined;
  return formatIP(bytes);
}
