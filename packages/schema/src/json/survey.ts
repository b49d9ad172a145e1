/** What JSON.parse does not tell of a valid text: repeated keys, the depth, and how numbers are spelled. */

export interface TextSurvey {
  readonly keys: number;
  readonly depth: number;
  /** The most digits that stand together outside of strings. */
  readonly digits: number;
  /** Whether a number has a fraction or an exponent. */
  readonly fractions: boolean;
  readonly exponents: boolean;
}

/** LONG_DIGITS digits, a fraction or an exponent. Strings may match, too: a match only means that the numbers must be checked. */
export const unusualNumber = /\d(?:\d{15}|[.eE])/;

export function surveyText(text: string): TextSurvey {
  let fractions = false;
  let exponents = false;
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  let digits = 0;
  let longest = 0;
  const length = text.length;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i + 1);
    else if (code === 0x3a) {
      keys++;
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) {
      depth--;
    } else if (code >= 0x30 && code <= 0x39) {
      if (++digits > longest) longest = digits;
      continue;
    } else if (digits > 0 && (code === 0x2e || code === 0x65 || code === 0x45)) {
      fractions = true;
      if (code !== 0x2e) exponents = true;
    }
    digits = 0;
  }
  return { keys, depth: deepest, digits: longest, fractions, exponents };
}
/** The closing quote of a string that begins at a place. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  if (text.charCodeAt(end - 1) !== 0x5c) return end;
  for (end = start; ; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x22) return end;
    // What a backslash escapes may be a quote.
    if (code === 0x5c) end++;
  }
}

/** The keys of a parsed value: fewer than those of its text if that repeats some. */
export function countKeys(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item = value[i];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      count++;
      const item = (value as Record<string, unknown>)[key];
      if (typeof item === 'object' && item !== null) count += countKeys(item);
    }
  }
  return count;
}
