/** Addresses and ranges of the Internet Protocol as text. Both forms are strict: no leading zeros, no zones. */
import { CIDRValue } from '../values.ts';

/** 4 or 16 bytes; undefined where the text is no address. */
export function readIP(text: string): Uint8Array | undefined {
  if (text.length > 45) return undefined;
  return text.includes(':') ? readIPv6(text) : readIPv4(text);
}

const octet = /^(?:0|[1-9]\d{0,2})$/;
function readIPv4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || parts.some((part) => !octet.test(part) || Number(part) > 255)) return undefined;
  return Uint8Array.from(parts, Number);
}

function readIPv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const sides = halves.map((half, i) => readGroups(half, i === halves.length - 1));
  const [head, tail = []] = sides;
  if (head === undefined || sides.includes(undefined) || tail === undefined) return undefined;
  const length = head.length + tail.length;
  if (halves.length === 1 ? length !== 16 : length > 14) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head);
  bytes.set(tail, 16 - tail.length);
  // An IPv4 address in the form of the other family is refused: programs do not agree on what it is.
  return bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff ? undefined : bytes;
}
function readGroups(half: string, isLast: boolean): number[] | undefined {
  const bytes: number[] = [];
  if (half === '') return bytes;
  const groups = half.split(':');
  for (const [i, group] of groups.entries()) {
    const v4 = isLast && i === groups.length - 1 && group.includes('.') ? readIPv4(group) : undefined;
    if (v4 !== undefined) bytes.push(...v4);
    else if (/^[0-9A-Fa-f]{1,4}$/.test(group)) bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255);
    else return undefined;
  }
  return bytes;
}

/** The address in its one usual form. */
export function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number));
  let start = -1;
  let longest = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && groups[end] === 0) end++;
    if (end - i > longest) {
      longest = end - i;
      start = i;
    }
    i = Math.max(i, end - 1);
  }
  const hex = (part: number[]): string => part.map((group) => group.toString(16)).join(':');
  return start < 0 ? hex(groups) : `${hex(groups.slice(0, start))}::${hex(groups.slice(start + longest))}`;
}

export function readCIDR(text: string): CIDRValue | undefined {
  const slash = text.lastIndexOf('/');
  const bits = text.slice(slash + 1);
  const bytes = slash < 0 ? undefined : readIP(text.slice(0, slash));
  if (bytes === undefined || !octet.test(bits) || Number(bits) > bytes.length * 8) return undefined;
  return new CIDRValue(bytes, Number(bits));
}
export const cidrText = ({ bytes, bits }: { bytes: Uint8Array; bits: number }): string => `${ipText(bytes)}/${bits}`;
