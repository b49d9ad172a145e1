/** Functions for addresses and ranges of the Internet Protocol. */
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import { exactly, plus, type Range, range } from '../estimates.ts';
import { actualSize, type Price, read, reads } from '../prices.ts';
import { BOOL, CIDR_TYPE, INT, IP_TYPE, STRING } from '../types.ts';
import { CIDRValue, IPValue } from '../values.ts';
import { ipText, readCIDR, readIP } from './ip-text.ts';
import { global, member, type Overload } from './signature.ts';

/** Units of reading an address or a range, and of comparing two. */
const READ_UNITS = 600;
const COMPARE_UNITS = 60;

const CIDR_FAULT = 'network address parse error during conversion from string';
const quotedText = (text: string): string => JSON.stringify(text.slice(0, 100));

function ipOf(frame: Frame, text: string): IPValue {
  frame.spend(READ_UNITS);
  const bytes = readIP(text);
  if (bytes !== undefined) return new IPValue(bytes);
  const quoted = quotedText(text);
  return fail(`IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`);
}
function cidrOf(frame: Frame, text: string): CIDRValue {
  frame.spend(READ_UNITS);
  const range = readCIDR(text);
  if (range !== undefined) return range;
  const fault = text.includes('/') ? 'unable to parse' : "no '/'";
  return fail(`${CIDR_FAULT}: ${CIDR_FAULT}: netip.ParsePrefix(${quotedText(text)}): ${fault}`);
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

/** Bytes of an address, as estimates know them. */
const BYTES_OF_ADDRESS = range(4, 16);
const bytesOf = (units: number): number => Math.ceil(units / 10);
/** What is compared has two sides; a text is read first. */
const comparesAddresses = (fromText: boolean): Price => ({
  estimate: (args) => ({ cost: plus(read(plus(BYTES_OF_ADDRESS, BYTES_OF_ADDRESS)), fromText ? textOf(args) : exactly(0)) }),
  cost: (args) => addressCost(args, fromText),
});
/** A range is masked and its bits are compared too. */
const comparesRanges = (fromText: boolean): Price => ({
  estimate: (args) => ({
    cost: plus(comparesAddresses(fromText).estimate(args).cost, plus(read(BYTES_OF_ADDRESS), exactly(1))),
  }),
  cost: (args) => addressCost(args, fromText) + bytesOf(actualSize(args[0])) + 1,
});
function addressCost([cidr, other]: readonly unknown[], fromText: boolean): number {
  return bytesOf(2 * actualSize(cidr)) + (fromText ? bytesOf(actualSize(other)) : 0);
}
const textOf = (args: readonly { readonly size: Range }[]): Range => read(args[1]?.size ?? exactly(0));

export const ipFunctions: readonly Overload[] = [
  global('ip', [STRING], IP_TYPE, ipOf, reads(0)),
  global(
    'isIP',
    [STRING],
    BOOL,
    reading((text) => readIP(text) !== undefined),
    reads(0),
  ),
  global('ip.isCanonical', [STRING], BOOL, (frame, text: string) => ipText(ipOf(frame, text).bytes) === text, reads(0, 2)),
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
    comparesAddresses(false),
  ),
  member(
    'containsIP',
    [CIDR_TYPE, STRING],
    BOOL,
    (frame, range: CIDRValue, text: string) => contains(range, ipOf(frame, text).bytes),
    comparesAddresses(true),
  ),
  member('containsCIDR', [CIDR_TYPE, CIDR_TYPE], BOOL, looking(containsRange), comparesRanges(false)),
  member(
    'containsCIDR',
    [CIDR_TYPE, STRING],
    BOOL,
    (frame, outer: CIDRValue, text: string) => containsRange(outer, cidrOf(frame, text)),
    comparesRanges(true),
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
