/** Texts by code points, which is how expressions count them. JavaScript counts UTF-16 units, which is the same for most texts. */

const surrogate = /[\ud800-\udfff]/;

/** Whether every unit of the text is a character. */
const isPlain = (text: string): boolean => !surrogate.test(text);

export function lengthOf(text: string): number {
  if (isPlain(text)) return text.length;
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) if (isPair(text, i)) count--;
  return count;
}
const isPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;

/** The characters. */
export const charactersOf = (text: string): readonly string[] => (isPlain(text) ? text.split('') : [...text]);

/** The unit at which the character of a number begins; the end of the text for the number after the last. -1 beyond that. */
export function unitAt(text: string, index: number): number {
  if (isPlain(text)) return index <= text.length ? index : -1;
  let unit = 0;
  for (let i = 0; i < index; i++) {
    if (unit >= text.length) return -1;
    unit += isPair(text, unit) ? 2 : 1;
  }
  return unit;
}
/** The number of the character that begins at a unit. */
export const characterAt = (text: string, unit: number): number => (isPlain(text) ? unit : lengthOf(text.slice(0, unit)));
