/** IP addresses and ranges as bytes, with shared validation rules of fields. */

/** 4 or 16 bytes, or undefined. Octets may have leading zeros, as older clients write them; zones are not allowed. */
export function parseIP(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text);
}

function parseIPv4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let octet = 0;
  let value = -1;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit >= 0 && digit <= 9) {
      value = value < 0 ? digit : value * 10 + digit;
      if (value > 255) return undefined;
    } else if (digit === DOT && value >= 0 && octet < 3) {
      bytes[octet++] = value;
      value = -1;
    } else return undefined;
  }
  if (octet !== 3 || value < 0) return undefined;
  bytes[3] = value;
  return bytes;
}
/** The dot, relative to the digit zero. */
const DOT = 0x2e - 0x30;

function parseIPv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groups(halves[0] as string, halves.length === 1);
  const tail = halves.length === 2 ? groups(halves[1] as string, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const length = head.length + tail.length;
  if (halves.length === 1 ? length !== 16 : length > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head, 0);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}
/** Bytes of `2001:db8:1`; the last group may be an IPv4 address when it ends the text. */
function groups(text: string, last: boolean): number[] | undefined {
  const bytes: number[] = [];
  if (text === '') return bytes;
  const parts = text.split(':');
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string;
    if (last && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseIPv4(part);
      if (v4 === undefined) return undefined;
      bytes.push(...v4);
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return undefined;
      const group = Number.parseInt(part, 16);
      bytes.push(group >> 8, group & 255);
    }
  }
  return bytes;
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];
/** The 4 bytes of an IPv4 address, also when it is written as `::ffff:10.0.0.1`. */
export function asIPv4(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length === 4) return bytes;
  return mappedPrefix.every((byte, i) => bytes[i] === byte) ? bytes.subarray(12) : undefined;
}
export type IPFamily = 'IPv4' | 'IPv6';
export function ipFamily(text: string): IPFamily | undefined {
  const bytes = parseIP(text);
  return bytes === undefined ? undefined : asIPv4(bytes) !== undefined ? 'IPv4' : 'IPv6';
}

/** The shortest text of an address: `10.0.0.1`, `2001:db8::1`. */
export function formatIP(bytes: Uint8Array): string {
  const v4 = asIPv4(bytes);
  if (v4 !== undefined) return v4.join('.');
  const words: string[] = [];
  for (let i = 0; i < 16; i += 2) words.push((((bytes[i] as number) << 8) | (bytes[i + 1] as number)).toString(16));
  let start = -1;
  let length = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && words[end] === '0') end++;
    if (end - i > length) [start, length] = [i, end - i];
  }
  if (start === -1) return words.join(':');
  return `${words.slice(0, start).join(':')}::${words.slice(start + length).join(':')}`;
}

export interface CIDR {
  /** The address as given, and the first of the range. */
  readonly address: Uint8Array;
  readonly first: Uint8Array;
  readonly bits: number;
  readonly family: IPFamily;
}
/** `10.0.0.0/24` */
export function parseCIDR(text: string): CIDR | undefined {
  const slash = text.indexOf('/');
  if (slash === -1) return undefined;
  const address = parseIP(text.slice(0, slash));
  const prefix = text.slice(slash + 1);
  if (address === undefined || !/^(0|[1-9][0-9]{0,2})$/.test(prefix)) return undefined;
  const bits = Number(prefix);
  if (bits > address.length * 8) return undefined;
  const first = new Uint8Array(address.length);
  for (let i = 0; i < first.length; i++) first[i] = (address[i] as number) & mask(bits - i * 8);
  return { address, first, bits, family: address.length === 4 ? 'IPv4' : 'IPv6' };
}
const mask = (bits: number): number => (bits >= 8 ? 255 : bits <= 0 ? 0 : (255 << (8 - bits)) & 255);

export function cidrContains(cidr: CIDR, address: Uint8Array): boolean {
  const bytes = cidr.first.length === 4 ? asIPv4(address) : address.length === 16 && asIPv4(address) === undefined ? address : undefined;
  if (bytes === undefined) return false;
  for (let i = 0; i < bytes.length; i++) if (((bytes[i] as number) & mask(cidr.bits - i * 8)) !== cidr.first[i]) return false;
  return true;
}
export function formatCIDR(cidr: CIDR): string {
  return `${formatIP(cidr.first)}/${cidr.bits}`;
}

// ---- rules -----------------------------------------------------------------------------------------------------

export function validIP(text: string): string[] {
  return parseIP(text) === undefined ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];
}
export function validIPv4(text: string): string[] {
  return ipFamily(text) === 'IPv4' ? [] : ['must be a valid IPv4 address'];
}
export function validIPv6(text: string): string[] {
  return ipFamily(text) === 'IPv6' ? [] : ['must be a valid IPv6 address'];
}
/** Loopback, link-local and multicast addresses cannot be endpoints. */
export function nonSpecialIP(text: string): string[] {
  const bytes = parseIP(text);
  if (bytes === undefined) return ['must be a valid IP address'];
  const problems: string[] = [];
  const v4 = asIPv4(bytes);
  const [a, b, c] = [v4?.[0], v4?.[1], v4?.[2]];
  if (bytes.every((byte) => byte === 0)) problems.push(`may not be unspecified (${text})`);
  const isOne = v4 === undefined && bytes.every((byte, i) => byte === (i === 15 ? 1 : 0));
  if (a === 127 || isOne) problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  const v6 = v4 === undefined ? bytes : undefined;
  if ((a === 169 && b === 254) || (v6 !== undefined && v6[0] === 0xfe && ((v6[1] as number) & 0xc0) === 0x80)) {
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if ((a === 224 && b === 0 && c === 0) || (v6 !== undefined && v6[0] === 0xff && ((v6[1] as number) & 0x0f) === 2)) {
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return problems;
}

/** The first address of a range that a service may have: the one after the network address. */
export function firstAddress(range: string): string {
  const cidr = parseCIDR(range);
  if (cidr === undefined) throw new Error(`${JSON.stringify(range)} is not an IP range`);
  const bytes = Uint8Array.from(cidr.first);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) + 1;
  return formatIP(bytes);
}

// ---- strict rules, of releases from 1.33 on ----------------------------------------------------------------------

const leadingZeros = /(^|[.])0[0-9]/;
const isMapped = (text: string): boolean => text.includes(':') && asIPv4(parseIP(text) ?? new Uint8Array()) !== undefined;

/** An address that all programs read in the same way: octal and mapped forms are none. */
export function strictIP(text: string): string[] {
  if (parseIP(text) === undefined) return validIP(text);
  if (leadingZeros.test(text)) return ['must not have leading 0s'];
  return isMapped(text) ? ['must not be an IPv4-mapped IPv6 address'] : [];
}
/** An address in its canonical form alone. */
export function canonicalIP(text: string): string[] {
  const problems = strictIP(text);
  if (problems.length > 0) return problems;
  const canonical = formatIP(parseIP(text) as Uint8Array);
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

const invalidRange = ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
/** A range as older clients write it: the length of its prefix may have leading zeros. */
export function readCIDR(text: string): CIDR | undefined {
  const slash = text.indexOf('/');
  return slash === -1 ? undefined : parseCIDR(`${text.slice(0, slash)}/${text.slice(slash + 1).replace(/^0+(?=[0-9])/, '')}`);
}
export const validCIDR = (text: string): string[] => (readCIDR(text) === undefined ? invalidRange : []);

export function strictCIDR(text: string): string[] {
  const cidr = readCIDR(text);
  if (cidr === undefined) return invalidRange;
  const [address = '', bits = ''] = text.split('/');
  if (leadingZeros.test(address) || /^0[0-9]/.test(bits)) return ['must not have leading 0s in IP or prefix length'];
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address'];
  return isFirst(cidr) ? [] : ['must not have bits set beyond the prefix length'];
}
const isFirst = ({ address, first }: CIDR): boolean => address.every((byte, i) => byte === first[i]);
/** A range in its canonical form alone. */
export function canonicalCIDR(text: string): string[] {
  const problems = strictCIDR(text);
  if (problems.length > 0) return problems;
  const canonical = formatCIDR(readCIDR(text) as CIDR);
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

/** Warnings of an address that is valid in a field of old, but that programs may read differently. */
export function ipWarnings(text: string): string[] {
  const bytes = parseIP(text);
  if (bytes === undefined) return [];
  const canonical = formatIP(bytes);
  if (strictIP(text).length > 0) return [`non-standard IP address ${JSON.stringify(text)} is invalid: use ${JSON.stringify(canonical)}`];
  if (bytes.length === 4 || canonical === text) return [];
  return [`IPv6 address ${JSON.stringify(text)} should be in RFC 5952 canonical format (${JSON.stringify(canonical)})`];
}
/** The same for a range. */
export function cidrWarnings(text: string): string[] {
  const cidr = readCIDR(text);
  if (cidr === undefined) return [];
  const [value, canonical] = [JSON.stringify(text), JSON.stringify(formatCIDR(cidr))];
  const warnings: string[] = [];
  if (!isFirst(cidr)) {
    const alone = JSON.stringify(`${formatIP(cidr.address)}/${cidr.address.length * 8}`);
    warnings.push(`CIDR value ${value} is ambiguous in this context (should be ${canonical} or ${alone}?)`);
  }
  const [address = '', bits = ''] = text.split('/');
  if (leadingZeros.test(address) || /^0[0-9]/.test(bits) || isMapped(address))
    warnings.push(`non-standard CIDR value ${value} is invalid: use ${canonical}`);
  if (warnings.length === 0 && cidr.family === 'IPv6' && canonical !== value)
    warnings.push(`IPv6 CIDR value ${value} should be in RFC 5952 canonical format (${canonical})`);
  return warnings;
}
