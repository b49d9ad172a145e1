/**
 * The words of a shell script: quotes, escapes and variables are kept as parts, since their values are known only when
 * the command runs.
 *
 *   echo "a $B"c > /tmp/x   →   word(echo) word(text 'a ', variable B, text 'c') operator(>) word(/tmp/x)
 */
export type Part =
  | { readonly kind: 'text'; readonly text: string; readonly quoted: boolean }
  | { readonly kind: 'variable'; readonly name: string; readonly fallback: string | undefined; readonly quoted: boolean }
  | { readonly kind: 'command'; readonly script: string; readonly quoted: boolean }
  | { readonly kind: 'arithmetic'; readonly text: string };
export interface Word {
  readonly kind: 'word';
  readonly parts: readonly Part[];
}
interface Operator {
  readonly kind: 'operator';
  readonly text: string;
}
export type Token = Word | Operator;

/** The script uses something that this shell does not have. */
export class NotSupported extends Error {}

/** Longest script: those of manifests are far shorter. */
const SCRIPT_LIMIT = 64 * 1024;
/** And most operators and parts of words in it: all of them are read at once. */
const PIECES_LIMIT = 10_000;
const operators = /&&|\|\||;;|>>|2>&1|1>&2|>&2|2>|[><;&|()\n]/y;
/** What goes on as text within a word, and within double quotes. */
const inWord = /[^ \t\r\n\\'"$`&;|<>()]*/y;
const inQuotes = /[^"$`\\]*/y;

export function tokensOf(script: string): Token[] {
  if (script.length > SCRIPT_LIMIT) throw new NotSupported('the script is too long');
  return new Tokens(script).all();
}

class Tokens {
  private readonly script: string;
  private at = 0;
  private readonly tokens: Token[] = [];
  private parts: Part[] | undefined;
  private pieces = 0;

  constructor(script: string) {
    this.script = script;
  }
  all(): Token[] {
    while (this.at < this.script.length) this.next();
    this.endWord();
    return this.tokens;
  }

  private next(): void {
    const { script } = this;
    const char = script[this.at] as string;
    if (char === ' ' || char === '\t' || char === '\r') {
      this.endWord();
      this.at++;
    } else if (char === '#' && this.parts === undefined) {
      while (this.at < script.length && script[this.at] !== '\n') this.at++;
    } else if (char === '\\') {
      // An escaped line end joins two lines.
      if (script[this.at + 1] !== '\n') this.add({ kind: 'text', text: script[this.at + 1] ?? '', quoted: true });
      this.at += 2;
    } else if (char === "'") this.single();
    else if (char === '"') this.double();
    else if (char === '$') this.add(this.dollar(false));
    else if (char === '`') throw new NotSupported('command substitution with backquotes');
    else this.operatorOrText();
  }
  private operatorOrText(): void {
    const operator = this.match(operators);
    // A digit is part of a redirection only at the beginning of a word.
    if (operator !== '' && (this.parts === undefined || !/^\d/.test(operator))) {
      this.endWord();
      this.count();
      this.tokens.push({ kind: 'operator', text: operator });
      this.at += operator.length;
      return;
    }
    const first = this.script[this.at++] as string;
    const text = `${first}${this.match(inWord)}`;
    this.add({ kind: 'text', text, quoted: false });
    this.at += text.length - 1;
  }
  /** What matches at this place; empty if nothing does. */
  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.script)?.[0] ?? '';
  }
  private single(): void {
    const end = this.script.indexOf("'", this.at + 1);
    if (end < 0) throw new NotSupported('unterminated quoted string');
    this.add({ kind: 'text', text: this.script.slice(this.at + 1, end), quoted: true });
    this.at = end + 1;
  }
  private double(): void {
    const { script } = this;
    this.at++;
    this.add({ kind: 'text', text: '', quoted: true });
    while (script[this.at] !== '"') {
      const char = script[this.at];
      if (char === undefined) throw new NotSupported('unterminated quoted string');
      if (char === '$') this.add(this.dollar(true));
      else if (char === '`') throw new NotSupported('command substitution with backquotes');
      else {
        const isEscaped = char === '\\' && '$"\\`\n'.includes(script[this.at + 1] ?? 'x');
        this.at += isEscaped ? 2 : 1;
        const text = `${script[this.at - 1]}${this.match(inQuotes)}`;
        this.add({ kind: 'text', text, quoted: true });
        this.at += text.length - 1;
      }
    }
    this.at++;
  }
  /** Reads what follows a dollar sign. */
  private dollar(quoted: boolean): Part {
    const rest = this.script.slice(this.at);
    if (rest.startsWith('$((')) {
      const end = rest.indexOf('))');
      if (end < 0) throw new NotSupported('unterminated arithmetic');
      this.at += end + 2;
      return { kind: 'arithmetic', text: rest.slice(3, end) };
    }
    if (rest.startsWith('$(')) {
      const end = closing(rest, 1);
      this.at += end + 1;
      return { kind: 'command', script: rest.slice(2, end), quoted };
    }
    const braced = /^\$\{(\w+|[?#@*!$])(?::?-([^}$]*))?\}/.exec(rest);
    const plain = /^\$([A-Za-z_]\w*|[0-9?#@*!$])/.exec(rest);
    const match = braced ?? plain;
    if (match === null) {
      if (rest.startsWith('${')) throw new NotSupported(`the variable ${rest.slice(0, rest.indexOf('}') + 1)}`);
      this.at++;
      return { kind: 'text', text: '$', quoted };
    }
    this.at += match[0].length;
    return { kind: 'variable', name: match[1] as string, fallback: braced?.[2], quoted };
  }

  private count(): void {
    if (++this.pieces > PIECES_LIMIT) throw new NotSupported('the script is too long');
  }
  private add(part: Part): void {
    this.count();
    this.parts ??= [];
    const last = this.parts.at(-1);
    if (part.kind === 'text' && last?.kind === 'text' && last.quoted === part.quoted)
      this.parts[this.parts.length - 1] = { ...last, text: last.text + part.text };
    else this.parts.push(part);
  }
  private endWord(): void {
    if (this.parts !== undefined) this.tokens.push({ kind: 'word', parts: this.parts });
    this.parts = undefined;
  }
}

/** The place of the bracket that closes the one at `open`. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  throw new NotSupported('unterminated command substitution');
}

/** The text of a word without variables and quotes; undefined if it has any: keywords are such words. */
export function plainText(token: Token | undefined): string | undefined {
  if (token?.kind !== 'word' || token.parts.length !== 1) return undefined;
  const [part] = token.parts;
  return part?.kind === 'text' && !part.quoted ? part.text : undefined;
}
