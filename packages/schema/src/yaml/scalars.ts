/** The values of YAML text without quotes. The rules are those of YAML 1.1, as in a stock server, which turns them into JSON first. */
import { type Integer, integerOf, readBack } from '@plat-dev/lib/integers';

const words = new Map<string, boolean | null>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);
/** Whether a text is a word with another value than its text, such as `yes`. */
export const isWord = (text: string): boolean => words.has(text);
const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/;
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const notFinite = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

export type PlainValue = string | Integer | boolean | null;

/** The value of a text without quotes. Infinities and NaN come as numbers, though JSON cannot hold them. */
export function resolvePlain(text: string): PlainValue {
  const word = words.get(text);
  if (word !== undefined) return word;
  const code = text.charCodeAt(0);
  // Only digits, signs and a dot can begin a number.
  if (!((code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e)) return text;
  if (text.length > LONGEST_NUMBER) return text;
  if (notFinite.test(text)) return text.toLowerCase().endsWith('nan') ? Number.NaN : text.startsWith('-') ? -Infinity : Infinity;
  const digits = text.includes('_') ? text.replaceAll('_', '') : text;
  if (integer.test(digits)) return integerOf(digits.replace(/^([-+]?)0(?=[0-7])/, '$10o').toLowerCase());
  return float.test(digits) ? readBack(Number(digits)) : text;
}

/** Longer texts are not parsed as numbers: they stay texts. */
const LONGEST_NUMBER = 1024;

const timestamp = /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|\s)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?)?$/;
const base60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

/** Whether a text is read as itself when it stands without quotes: neither a number nor a word of another type, nor a time. */
export function isPlainString(text: string): boolean {
  return text !== '<<' && typeof resolvePlain(text) === 'string' && !timestamp.test(text) && !base60.test(text);
}

/** The same in YAML 1.2, where these words are texts. */
export const resolveWithWords: typeof resolvePlain = (text) => (/^(?:y|n|yes|no|on|off)$/i.test(text) ? text : resolvePlain(text));
