/** Where a tunnel leads, and the names by which clients ask for it. */
import type { Agent } from 'node:https';
import { asIPv4, formatIP, parseIP } from '../../meta/ip.ts';
import type { Guard } from './guard.ts';

/** How to speak TLS to a target. PEM texts. */
export interface TargetTls {
  /** False: whoever answers is believed. Pods and services are reached by address, which no certificate of theirs names. */
  readonly verify: boolean;
  /** Absent: the roots of the host. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the certificate must have. Absent: that of the host. */
  readonly serverName?: string | undefined;
}

export interface Target {
  /** Absent: plain HTTP. */
  readonly tls?: TargetTls | undefined;
  /** Name or address, an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Where the connection may lead, and who may be at its other end. */
  readonly guard: Guard;
  /** Keeps connections for further requests. Absent: every request has one of its own. */
  readonly agent?: Agent | undefined;
}

/** `10.0.0.1:80`, `[fd00::1]:80` */
export const authorityOf = ({ host, port }: Pick<Target, 'host' | 'port'>): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
export const schemeOf = (target: Target): string => (target.tls === undefined ? 'http' : 'https');

export interface TargetName {
  readonly scheme: 'http' | 'https' | '';
  readonly name: string;
  readonly port: string;
}

/**
 * The parts of a name in a proxy path; undefined where it is none.
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
 * Whether a client may be led to an address that an object names. This server's own loopback, the link (where clouds
 * serve credentials), multicast and broadcast are out of bounds: whoever can write the status of a pod would otherwise
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
  // Twelve zeros begin the unspecified address, loopback, and an old way to write IPv4 addresses.
  if (bytes.subarray(0, 12).every((byte) => byte === 0)) return false;
  return !(a === 0xff || (a === 0xfe && (b & 0xc0) === 0x80));
}

/**
 * An address in the one form that every resolver reads alike; undefined where clients may not be led there. What objects
 * hold may be written in ways that are read differently: 0177.0.0.1 is 177.0.0.1 to some and 127.0.0.1 to others.
 */
export function proxyAddress(text: string, allowLocal = false): string | undefined {
  const bytes = parseIP(text);
  if (bytes === undefined || !(allowLocal || isProxyable(text))) return undefined;
  return formatIP(bytes);
}
