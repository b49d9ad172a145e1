/** Functions for addresses and ranges of the Internet Protocol. */
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import { reads } from '../estimates.ts';
import { BOOL, CIDR_TYPE, INT, IP_TYPE, STRING } from '../types.ts';
import { CIDRValue, IPValue } from '../values.ts';
import { ipText, readCIDR, readIP } from './ip-text.ts';
import { global, member, type Overload } from './signature.ts';

/** Units of reading an address or a range, and of comparing two. */
const READ_UNITS = 600;
const COMPARE_UNITS = 60;

function ipOf(frame: Frame, text: string): IPValue {
  frame.spend(READ_UNITS);
  const bytes = readIP(text);
  return bytes === undefined ? fail('IP Address parse error during conversion from string') : new IPValue(bytes);
}
function cidrOf(frame: Frame, text: string): CIDRValue {
  frame.spend(READ_UNITS);
  return readCIDR(text) ?? fail('CIDR parse error during conversion from string');
}
/** For functions that look at an address or a range as a whole. */
const looking =
  <A extends unknown[], T>(call: (...args: A) => T) =>
  (frame: Frame, ...args: A): T => {
    frame.spend(COMPARE_UNITS);
    return call(...args);
  };
const reading =
  (test: (text: string) => boolean) =>
  (frame: Frame, text: string): boolean => {
    frame.spend(READ_UNITS);
    return test(text);
  };

function masked({ bytes, bits }: CIDRValue): Uint8Array {
  return bytes.map((byte, i) => byte & (0xff << Math.max(0, Math.min(8, 8 * (i + 1) - bits))));
}
const contains = (outer: CIDRValue, bytes: Uint8Array): boolean =>
  outer.bytes.length === bytes.length && Buffer.compare(masked(outer), masked(new CIDRValue(bytes, outer.bits))) === 0;
const containsRange = (outer: CIDRValue, inner: CIDRValue): boolean => inner.bits >= outer.bits && contains(outer, inner.bytes);

const first = (bytes: Uint8Array, count: number): number => bytes.subarray(0, count).reduce((sum, byte) => sum * 256 + byte, 0);
const isV4 = (bytes: Uint8Array): boolean => bytes.length === 4;
const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (bytes: Uint8Array): boolean => (isV4(bytes) ? bytes[0] === 127 : isZero(bytes.subarray(0, 15)) && bytes[15] === 1);
const isLinkLocal = (bytes: Uint8Array): boolean => (isV4(bytes) ? first(bytes, 2) === 0xa9fe : (first(bytes, 2) & 0xffc0) === 0xfe80);
const isMulticast = (bytes: Uint8Array): boolean => (isV4(bytes) ? ((bytes[0] as number) & 0xf0) === 0xe0 : bytes[0] === 0xff);
const isLinkLocalMulticast = (bytes: Uint8Array): boolean =>
  isV4(bytes) ? first(bytes, 3) === 0xe00000 : (first(bytes, 2) & 0xff0f) === 0xff02;
const isGlobal = (bytes: Uint8Array): boolean =>
  !isZero(bytes) && !isLoopback(bytes) && !isMulticast(bytes) && !isLinkLocal(bytes) && !(isV4(bytes) && first(bytes, 4) === 0xffffffff);

const tests: Readonly<Record<string, (bytes: Uint8Array) => boolean>> = {
  isUnspecified: isZero,
  isLoopback,
  isLinkLocalMulticast,
  isLinkLocalUnicast: isLinkLocal,
  isGlobalUnicast: isGlobal,
};

export const ipFunctions: readonly Overload[] = [
  global('ip', [STRING], IP_TYPE, ipOf, reads(0)),
  global(
    'isIP',
    [STRING],
    BOOL,
    reading((text) => readIP(text) !== undefined),
    reads(0),
  ),
  global('ip.isCanonical', [STRING], BOOL, (frame, text: string) => ipText(ipOf(frame, text).bytes) === text, reads(0)),
  member('family', [IP_TYPE], INT, (_, { bytes }: IPValue) => (isV4(bytes) ? 4 : 6)),
  ...Object.entries(tests).map(([name, test]) =>
    member(
      name,
      [IP_TYPE],
      BOOL,
      looking(({ bytes }: IPValue) => test(bytes)),
    ),
  ),
  global('cidr', [STRING], CIDR_TYPE, cidrOf, reads(0)),
  global(
    'isCIDR',
    [STRING],
    BOOL,
    reading((text) => readCIDR(text) !== undefined),
    reads(0),
  ),
  member(
    'containsIP',
    [CIDR_TYPE, IP_TYPE],
    BOOL,
    looking((range: CIDRValue, { bytes }: IPValue) => contains(range, bytes)),
  ),
  member(
    'containsIP',
    [CIDR_TYPE, STRING],
    BOOL,
    (frame, range: CIDRValue, text: string) => contains(range, ipOf(frame, text).bytes),
    reads(1),
  ),
  member('containsCIDR', [CIDR_TYPE, CIDR_TYPE], BOOL, looking(containsRange)),
  member(
    'containsCIDR',
    [CIDR_TYPE, STRING],
    BOOL,
    (frame, outer: CIDRValue, text: string) => containsRange(outer, cidrOf(frame, text)),
    reads(1),
  ),
  member('ip', [CIDR_TYPE], IP_TYPE, (_, { bytes }: CIDRValue) => new IPValue(bytes)),
  member(
    'masked',
    [CIDR_TYPE],
    CIDR_TYPE,
    looking((range: CIDRValue) => new CIDRValue(masked(range), range.bits)),
  ),
  member('prefixLength', [CIDR_TYPE], INT, (_, { bits }: CIDRValue) => bits),
];
