/** The syntax of the shell of simulated containers: lists, conditions, loops and simple commands with redirections. */
import { NotSupported, plainText, type Token, tokensOf, type Word } from './words.ts';

export interface Redirection {
  /** `>`, `>>`, `2>`, `<`, `2>&1`, `>&2` */
  readonly operator: string;
  readonly target: Word | undefined;
}
export type Command =
  | { readonly kind: 'simple'; readonly words: readonly Word[]; readonly redirections: readonly Redirection[] }
  | { readonly kind: 'if'; readonly arms: readonly { readonly test: List; readonly body: List }[]; readonly otherwise: List | undefined }
  | { readonly kind: 'while'; readonly until: boolean; readonly test: List; readonly body: List }
  | { readonly kind: 'for'; readonly variable: string; readonly words: readonly Word[]; readonly body: List }
  | { readonly kind: 'group'; readonly body: List }
  | { readonly kind: 'pipe'; readonly commands: readonly Command[] }
  | { readonly kind: 'not'; readonly command: Command };
interface Item {
  readonly command: Command;
  /** When it runs: always, or by the exit code of the one before it. */
  readonly when: ';' | '&&' | '||';
}
export type List = readonly Item[];

/** Deepest nesting of conditions and loops. */
const DEPTH_LIMIT = 50;
const ends = new Set(['then', 'elif', 'else', 'fi', 'do', 'done', '}']);

/** Throws NotSupported for a script that this shell does not understand. */
export function parseScript(script: string): List {
  const parser = new Parser(tokensOf(script));
  const list = parser.list();
  parser.end();
  return list;
}

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }
  end(): void {
    if (this.at < this.tokens.length) throw new NotSupported('syntax error');
  }

  list(): Item[] {
    if (++this.depth > DEPTH_LIMIT) throw new NotSupported('the script is nested too deeply');
    const items: Item[] = [];
    let when: Item['when'] = ';';
    for (;;) {
      while (this.isOperator(';') || this.isOperator('\n')) this.at++;
      const word = plainText(this.peek());
      if (this.peek() === undefined || this.isOperator(')') || this.isOperator(';;') || (word !== undefined && ends.has(word))) break;
      items.push({ command: this.pipeline(), when });
      const operator = this.peek();
      if (operator?.kind !== 'operator') break;
      if (operator.text === '&') throw new NotSupported('background commands');
      when = operator.text === '&&' || operator.text === '||' ? operator.text : ';';
      if (operator.text === ')' || operator.text === ';;') break;
      this.at++;
    }
    this.depth--;
    return items;
  }

  private pipeline(): Command {
    let negations = 0;
    for (; plainText(this.peek()) === '!'; negations++) this.at++;
    if (negations > 0) {
      const once: Command = { kind: 'not', command: this.pipeline() };
      return negations % 2 === 1 ? once : { kind: 'not', command: once };
    }
    const commands = [this.command()];
    while (this.isOperator('|')) {
      this.at++;
      while (this.isOperator('\n')) this.at++;
      commands.push(this.command());
    }
    return commands.length === 1 ? (commands[0] as Command) : { kind: 'pipe', commands };
  }

  private command(): Command {
    if (this.isOperator('(')) {
      this.at++;
      const body = this.list();
      if (!this.isOperator(')')) throw new NotSupported('syntax error: expected )');
      this.at++;
      return { kind: 'group', body };
    }
    switch (plainText(this.peek())) {
      case 'if':
        return this.condition();
      case 'while':
      case 'until':
        return this.loop();
      case 'for':
        return this.each();
      case '{': {
        this.at++;
        const body = this.list();
        this.keyword('}');
        return { kind: 'group', body };
      }
      case 'case':
      case 'function':
        throw new NotSupported(`the command ${plainText(this.peek())}`);
      default:
        return this.simple();
    }
  }
  private condition(): Command {
    const arms: { test: List; body: List }[] = [];
    let otherwise: List | undefined;
    do {
      this.at++;
      const test = this.list();
      this.keyword('then');
      arms.push({ test, body: this.list() });
    } while (plainText(this.peek()) === 'elif');
    if (plainText(this.peek()) === 'else') {
      this.at++;
      otherwise = this.list();
    }
    this.keyword('fi');
    return { kind: 'if', arms, otherwise };
  }
  private loop(): Command {
    const until = plainText(this.peek()) === 'until';
    this.at++;
    const test = this.list();
    this.keyword('do');
    const body = this.list();
    this.keyword('done');
    return { kind: 'while', until, test, body };
  }
  private each(): Command {
    this.at++;
    const variable = plainText(this.peek()) ?? '';
    this.at++;
    if (!/^\w+$/.test(variable) || plainText(this.peek()) !== 'in') throw new NotSupported('this kind of loop');
    this.at++;
    const words: Word[] = [];
    for (let token = this.peek(); token?.kind === 'word'; token = this.peek()) {
      words.push(token);
      this.at++;
    }
    while (this.isOperator(';') || this.isOperator('\n')) this.at++;
    this.keyword('do');
    const body = this.list();
    this.keyword('done');
    return { kind: 'for', variable, words, body };
  }
  private simple(): Command {
    const words: Word[] = [];
    const redirections: Redirection[] = [];
    for (let token = this.peek(); token !== undefined; token = this.peek()) {
      if (token.kind === 'word') {
        words.push(token);
        this.at++;
        continue;
      }
      if (!/[<>]/.test(token.text)) break;
      this.at++;
      redirections.push({ operator: token.text, target: token.text.includes('&') ? undefined : this.target() });
    }
    if (words.length === 0 && redirections.length === 0) throw new NotSupported('syntax error');
    return { kind: 'simple', words, redirections };
  }
  private target(): Word {
    const token = this.peek();
    if (token?.kind !== 'word') throw new NotSupported('syntax error: a redirection without a file');
    this.at++;
    return token;
  }

  private keyword(word: string): void {
    if (plainText(this.peek()) !== word) throw new NotSupported(`syntax error: expected ${word}`);
    this.at++;
  }
  private peek(): Token | undefined {
    return this.tokens[this.at];
  }
  private isOperator(text: string): boolean {
    const token = this.peek();
    return token?.kind === 'operator' && token.text === text;
  }
}
