/** The order of keys in YAML text: numbers inside keys count by their value, and signs come before letters. */

export function compareKeys(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === end) return a.length - b.length;
  // A difference in the second half of a character is one of the whole character.
  if (i > 0 && isHighSurrogate(a.charCodeAt(i - 1))) i--;
  const p = charAt(a, i);
  const q = charAt(b, i);
  const letter = isLetter(p);
  const otherLetter = isLetter(q);
  if (letter && otherLetter) return p < q ? -1 : 1;
  if (letter || otherLetter) return letter === (i > 0 && isDigit(a[i - 1] as string)) ? -1 : 1;
  // A run that began earlier counts from here: what came before agreed. Zeros within a number count, those before it do not.
  const before = (p === '0' || q === '0') && isWithinNumber(a, i) ? '1' : '';
  return compareDigits(before + digitsFrom(a, i), before + digitsFrom(b, i)) || (p < q ? -1 : 1);
}
function isWithinNumber(text: string, at: number): boolean {
  for (let i = at - 1; i >= 0 && isDigit(text[i] as string); i--) if (text[i] !== '0') return true;
  return false;
}
const isDigit = (char: string): boolean => char >= '0' && char <= '9';
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
export const charAt = (text: string, at: number): string => String.fromCodePoint(text.codePointAt(at) as number);
function isLetter(char: string): boolean {
  const code = char.charCodeAt(0);
  if (code < 0x80) return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return /\p{L}/u.test(char);
}
/** Digits of longer numbers do not count. */
const MAX_DIGITS = 400;
function digitsFrom(text: string, start: number): string {
  let end = start;
  while (end < text.length && end < start + MAX_DIGITS && isDigit(text[end] as string)) end++;
  return text.slice(start, end);
}
/** By value, then by length. */
function compareDigits(a: string, b: string): number {
  if (a === b) return 0;
  const x = a[0] === '0' ? a.replace(/^0+/, '') : a;
  const y = b[0] === '0' ? b.replace(/^0+/, '') : b;
  if (x.length !== y.length) return x.length - y.length;
  if (x !== y) return x < y ? -1 : 1;
  return a.length - b.length;
}
