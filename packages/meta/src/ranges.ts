/** Ranges of addresses and ports, as numbers counted from their first. */
import { cidrContains, formatCIDR, formatIP, type IPFamily, parseCIDR, parseIP } from './ip.ts';

/** A range whose members are known by their text in keys of the store: `10.0.0.7`, `30080`. */
export interface Range {
  readonly size: number;
  /** Text of the member at a position. */
  at(index: number): string;
  /** Position of a member; undefined for what is not one. */
  indexOf(text: string): number | undefined;
}

/** Most addresses that are given out of one range; those behind them are never used. */
const MAX_IPV4 = 2 ** 20;
const MAX_IPV6 = 2 ** 16;

export interface AddressRange extends Range {
  readonly family: IPFamily;
  /** Addresses of the network, those that no service gets included. */
  readonly networkSize: number;
  /** `10.0.0.0/24` */
  readonly text: string;
  /** The first address of the network, which no service gets. */
  readonly network: string;
}

const number = (bytes: Uint8Array): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

/** The addresses of a network without its own (the first) and, for IPv4, the one that reaches all (the last). */
export function addressRange(text: string): AddressRange {
  const cidr = parseCIDR(text);
  if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not an IP range`);
  const { first, bits, family } = cidr;
  const all = 2 ** Math.min(first.length * 8 - bits, 31);
  const size = family === 'IPv4' ? Math.min(all - 2, MAX_IPV4) : Math.min(all - 1, MAX_IPV6);
  const base = number(first) + 1n;
  return {
    family,
    networkSize: all,
    text: formatCIDR(cidr),
    network: formatIP(first),
    size,
    at: (index) => {
      const bytes = new Uint8Array(first.length);
      let rest = base + BigInt(index);
      for (let i = bytes.length - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 255n);
      return formatIP(bytes);
    },
    indexOf: (address) => {
      const bytes = parseIP(address);
      if (bytes === undefined || !cidrContains(cidr, bytes)) return undefined;
      const index = number(bytes.length === first.length ? bytes : bytes.subarray(12)) - base;
      return index < 0n || index >= BigInt(size) ? undefined : Number(index);
    },
  };
}

/**
 * How many addresses at the start of a range are left for services that name theirs: a sixteenth of the network, at least 16 and
 * at most 256; none of a network with fewer than 16.
 *
 *   10.0.0.0/28  16      10.0.0.0/24  16      10.0.0.0/20  256      10.0.0.0/16  256
 */
export function staticBand({ networkSize }: AddressRange): number {
  return networkSize < 16 ? 0 : Math.min(Math.max(Math.floor(networkSize / 16), 16), 256);
}

export function portRange(first: number, last: number): Range {
  return {
    size: last - first + 1,
    at: (index) => String(first + index),
    indexOf: (text) => {
      const port = Number(text);
      return port >= first && port <= last ? port - first : undefined;
    },
  };
}
