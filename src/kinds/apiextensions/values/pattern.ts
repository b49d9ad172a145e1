/**
 * Patterns of schemas are written in RE2's language. What JavaScript says otherwise is put into its words; what RE2 does
 * not know, though JavaScript does, is refused, so that a definition means the same everywhere.
 *
 *   compilePattern('(?i)^[[:alpha:]]+\\z') → /^[A-Za-z]+(?![\s\S])/iu
 */
export class PatternError extends Error {}

/** Most patterns that are kept compiled; beyond it all are forgotten. */
const KEPT = 1000;
const compiled = new Map<string, RegExp>();

const classes: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** Throws PatternError, worded as clients know it. */
export function compilePattern(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const { source, flags } = translate(pattern);
  let regex: RegExp;
  try {
    regex = new RegExp(source, flags);
  } catch (error) {
    throw new PatternError(`error parsing regexp: ${faultOf(pattern, error)}`);
  }
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(pattern, regex);
  return regex;
}

function faultOf(pattern: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/Unterminated group/.test(text)) return `missing closing ): \`${pattern}\``;
  if (/Unmatched '\)'/.test(text)) return `unexpected ): \`${pattern}\``;
  if (/Unterminated character class|Lone quantifier|Nothing to repeat/.test(text))
    return /class/.test(text) ? `missing closing ]: \`${pattern}\`` : `missing argument to repetition operator: \`${pattern}\``;
  return `${text.replace(/^Invalid regular expression: /, '')}`;
}

function translate(pattern: string): { source: string; flags: string } {
  let flags = 'u';
  let source = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i] as string;
    if (c === '\\') {
      const [text, used] = escapeAt(pattern, i, inClass);
      source += text;
      i += used - 1;
    } else if (inClass) {
      const named = /^\[:(\^?)([a-z]+):\]/.exec(pattern.slice(i));
      if (named !== null && Object.hasOwn(classes, named[2] as string)) {
        source += classes[named[2] as string];
        i += named[0].length - 1;
      } else {
        if (c === ']' && !/\[\^?$/.test(source)) inClass = false;
        // Within a class only these need a backslash in JavaScript.
        source += c === '[' || (c === ']' && inClass) ? `\\${c}` : c;
      }
    } else if (c === '[') {
      inClass = true;
      source += c;
    } else if (c === '(' && pattern[i + 1] === '?') {
      const [text, used, added] = group(pattern, i);
      source += text;
      for (const flag of added) if (!flags.includes(flag)) flags += flag;
      i += used - 1;
    } else if ((c === '{' && !/^\{\d+(,\d*)?\}/.test(pattern.slice(i))) || (c === '}' && !/\{\d+(,\d*)?$/.test(source))) source += `\\${c}`;
    else if (c === ']') source += '\\]';
    else source += c;
  }
  return { source, flags };
}

/** An escape, and how many characters of the pattern it took. */
function escapeAt(pattern: string, at: number, inClass: boolean): [string, number] {
  const next = pattern[at + 1];
  if (next === undefined) throw new PatternError('error parsing regexp: trailing backslash at end of expression: ``');
  if (/[1-9]/.test(next)) throw new PatternError(`error parsing regexp: invalid escape sequence: \`\\${next}\``);
  if (next === 'A' && !inClass) return ['(?<![\\s\\S])', 2];
  if (next === 'z' && !inClass) return ['(?![\\s\\S])', 2];
  if (next === 'a') return ['\\x07', 2];
  if (next === 'Q' && !inClass) {
    const end = pattern.indexOf('\\E', at);
    const text = pattern.slice(at + 2, end < 0 ? undefined : end);
    return [text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), (end < 0 ? pattern.length : end + 2) - at];
  }
  const category = /^\\([pP])(?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))/.exec(pattern.slice(at));
  if (category !== null) {
    const [whole, p, , long, short] = category;
    const name = long ?? (short as string);
    const known = /^[A-Z][a-z]?$/.test(name) ? name : `Script=${name}`;
    return [`\\${p}{${known}}`, whole.length];
  }
  const code = /^\\x\{([0-9A-Fa-f]+)\}/.exec(pattern.slice(at));
  if (code !== null) return [`\\u{${code[1]}}`, code[0].length];
  if (/[A-Za-z]/.test(next)) {
    if (!/[bBdDfnrstvSwWxC]/.test(next)) throw new PatternError(`error parsing regexp: invalid escape sequence: \`\\${next}\``);
    return [`\\${next}`, 2];
  }
  // In JavaScript's strict language a backslash before a plain character is a fault.
  return [/[\\^$.*+?()[\]{}|/-]/.test(next) ? (next === '-' && !inClass ? '-' : `\\${next}`) : next, 2];
}

/** `(?:`, `(?P<name>` and flags; looking ahead and behind is not in the language. */
function group(pattern: string, at: number): [string, number, string] {
  const rest = pattern.slice(at);
  if (rest.startsWith('(?:')) return ['(?:', 3, ''];
  const named = /^\(\?P<([A-Za-z0-9_]+)>/.exec(rest);
  if (named !== null) return [`(?<${named[1]}>`, named[0].length, ''];
  const flagged = /^\(\?([imsU]+)\)/.exec(rest);
  if (flagged !== null && at === 0) return ['', flagged[0].length, (flagged[1] as string).replace('U', '')];
  throw new PatternError(`error parsing regexp: invalid or unsupported Perl syntax: \`${rest.slice(0, 3)}\``);
}
