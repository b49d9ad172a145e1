/** The structure of a template. */
import { failAt, type Token, type TokenKind, tokensOf } from './lexer.ts';

export type Operand =
  | { readonly is: 'dot' | 'nil' }
  | { readonly is: 'value'; readonly value: unknown }
  | { readonly is: 'field'; readonly names: readonly string[] }
  | { readonly is: 'variable'; readonly name: string; readonly names: readonly string[] }
  | { readonly is: 'function'; readonly name: string }
  | { readonly is: 'pipe'; readonly pipe: Pipe }
  /** `(pipe).name` and `function.name`. */
  | { readonly is: 'chain'; readonly of: Operand; readonly names: readonly string[] };
/** A function with arguments, or one operand. */
export type Call = readonly Operand[];
export interface Pipe {
  readonly line: number;
  /** Variables that are declared or, with `assigns`, set. */
  readonly variables: readonly string[];
  readonly assigns: boolean;
  readonly calls: readonly Call[];
}
export type TemplateNode =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'print'; readonly pipe: Pipe }
  | {
      readonly is: 'if' | 'with' | 'range';
      readonly pipe: Pipe;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | { readonly is: 'template'; readonly name: string; readonly pipe: Pipe | undefined; readonly line: number }
  | { readonly is: 'break' | 'continue' };
export interface ParsedTemplate {
  readonly root: readonly TemplateNode[];
  readonly defined: ReadonlyMap<string, readonly TemplateNode[]>;
}

/** Blocks and parentheses that may stand within each other. */
const mostNested = 200;
const keywords: ReadonlySet<string> = new Set(['if', 'else', 'end', 'with', 'range', 'template', 'define', 'block', 'break', 'continue']);

export const parseTemplate = (text: string, functions: ReadonlySet<string>): ParsedTemplate => new Parser(tokensOf(text), functions).all();

/** How a list of nodes ended. */
interface Ended {
  readonly nodes: readonly TemplateNode[];
  readonly by: 'end' | 'else';
}

class Parser {
  private readonly tokens: readonly Token[];
  private readonly functions: ReadonlySet<string>;
  private readonly defined = new Map<string, readonly TemplateNode[]>();
  private at = 0;
  private variables: string[] = ['$'];
  private nested = 0;
  private ranges = 0;

  constructor(tokens: readonly Token[], functions: ReadonlySet<string>) {
    this.tokens = tokens;
    this.functions = functions;
  }
  all(): ParsedTemplate {
    const root: TemplateNode[] = [];
    while (this.peek().kind !== 'end') {
      const node = this.node(true);
      if (node === 'end' || node === 'else') throw this.fail(`there is an {{${node}}} without its beginning`);
      if (node !== undefined) root.push(node);
    }
    return { root, defined: this.defined };
  }

  // ---- tokens ----------------------------------------------------------------------------------------------------

  private peek(): Token {
    return this.tokens[this.at] as Token;
  }
  private next(): Token {
    return this.tokens[this.at++] as Token;
  }
  private skipSpace(): void {
    if (this.peek().kind === 'space') this.at++;
  }
  private fail(message: string, token = this.peek()): Error {
    return failAt(token.line, message);
  }
  private is(kind: TokenKind, text?: string): boolean {
    const token = this.peek();
    return token.kind === kind && (text === undefined || token.text === text);
  }
  private expectClose(what: string): void {
    this.skipSpace();
    if (!this.is('close')) throw this.fail(`${what}: ${JSON.stringify(this.peek().text)} is not expected before }}`);
    this.at++;
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  /** Undefined for a definition, which is no part of what is printed. */
  private node(top: boolean): TemplateNode | 'end' | 'else' | undefined {
    const token = this.next();
    if (token.kind === 'text') return { is: 'text', text: token.text };
    this.skipSpace();
    const word = this.peek();
    if (word.kind !== 'word' || !keywords.has(word.text)) return { is: 'print', pipe: this.pipe('close', 'an action') };
    this.at++;
    switch (word.text) {
      case 'if':
      case 'with':
      case 'range':
        return this.control(word.text);
      case 'template':
        return this.template();
      case 'block':
        return this.block();
      case 'define':
        if (!top) throw this.fail('{{define}} must not stand within another block', word);
        this.define();
        return undefined;
      case 'break':
      case 'continue':
        this.expectClose(word.text);
        if (this.ranges === 0) throw this.fail(`{{${word.text}}} stands outside of {{range}}`, word);
        return { is: word.text };
      case 'end':
        this.expectClose('end');
        return 'end';
      default:
        return 'else';
    }
  }
  /** Nodes up to `{{end}}` or `{{else`. `what` began them. */
  private list(what: string): Ended {
    const nodes: TemplateNode[] = [];
    const begin = this.peek();
    if (++this.nested > mostNested) throw this.fail(`more than ${mostNested} blocks stand within each other`);
    while (this.peek().kind !== 'end') {
      const node = this.node(false);
      if (node === 'end' || node === 'else') {
        this.nested--;
        return { nodes, by: node };
      }
      if (node !== undefined) nodes.push(node);
    }
    throw this.fail(`{{${what}}} has no {{end}}`, begin);
  }
  private control(is: 'if' | 'with' | 'range'): TemplateNode {
    const outside = this.variables.length;
    const pipe = this.pipe('close', is);
    if (is === 'range') this.ranges++;
    const body = this.list(is);
    if (is === 'range') this.ranges--;
    const otherwise = body.by === 'end' ? [] : this.otherwise(is);
    this.variables.length = outside;
    return { is, pipe, body: body.nodes, otherwise };
  }
  private otherwise(is: string): readonly TemplateNode[] {
    this.skipSpace();
    // `{{else if x}}` needs one {{end}} only.
    for (const again of ['if', 'with'] as const) {
      if (is === again && this.is('word', again)) {
        this.at++;
        return [this.control(again)];
      }
    }
    this.expectClose('else');
    const { nodes, by } = this.list('else');
    if (by === 'else') throw this.fail('there is a second {{else}}');
    return nodes;
  }
  private template(): TemplateNode {
    const { line } = this.peek();
    const name = this.templateName('template');
    this.skipSpace();
    const pipe = this.is('close') ? undefined : this.pipe('close', 'template');
    if (pipe === undefined) this.at++;
    return { is: 'template', name, pipe, line };
  }
  private templateName(what: string): string {
    this.skipSpace();
    const token = this.next();
    if (token.kind !== 'string') throw this.fail(`{{${what}}} needs a name in quotation marks`, token);
    return token.value as string;
  }
  private define(): void {
    const name = this.templateName('define');
    this.expectClose('define');
    this.definition(name, 'define');
  }
  private block(): TemplateNode {
    const { line } = this.peek();
    const name = this.templateName('block');
    const pipe = this.pipe('close', 'block');
    this.definition(name, 'block');
    return { is: 'template', name, pipe, line };
  }
  /** A template has variables and loops of its own. */
  private definition(name: string, what: string): void {
    const { variables, ranges } = this;
    this.variables = ['$'];
    this.ranges = 0;
    const { nodes, by } = this.list(what);
    if (by === 'else') throw this.fail(`{{${what}}} has no {{else}}`);
    this.variables = variables;
    this.ranges = ranges;
    if (isBlank(nodes) && this.defined.has(name)) return;
    if (!isBlank(this.defined.get(name) ?? [])) throw this.fail(`the template ${JSON.stringify(name)} is defined twice`);
    this.defined.set(name, nodes);
  }

  // ---- pipelines -------------------------------------------------------------------------------------------------

  /** `$x := a | b`, up to `}}` or `)`, which is read as well. */
  private pipe(end: 'close' | ')', what: string): Pipe {
    this.skipSpace();
    const { line } = this.peek();
    const { variables, assigns } = this.declarations(what);
    const calls: Call[] = [];
    for (;;) {
      this.skipSpace();
      if (end === 'close' ? this.is('close') : this.is('symbol', ')')) break;
      if (calls.length > 0 && !this.piped) throw this.fail(`${what}: ${JSON.stringify(this.peek().text)} is not expected`);
      calls.push(this.call(what));
    }
    if (this.piped && calls.length > 0) throw this.fail(`${what}: a function is missing after |`);
    this.piped = false;
    this.at++;
    if (calls.length === 0) throw this.fail(`${what}: a value is missing`);
    calls.slice(1).forEach(([first], i) => {
      if (first?.is === 'value' || first?.is === 'dot' || first?.is === 'nil')
        throw failAt(line, `${what}: part ${i + 2} of the pipeline is a value, which takes nothing from the part before it`);
    });
    // Variables count from here on, so that a pipeline cannot use those that it declares.
    if (!assigns) this.variables.push(...variables);
    return { line, variables, assigns, calls };
  }
  /** Whether the last call ended with `|`. */
  private piped = false;

  private declarations(what: string): { variables: string[]; assigns: boolean } {
    const begin = this.at;
    const names: string[] = [];
    while (this.is('variable')) {
      names.push(this.next().text);
      this.skipSpace();
      if (this.is('symbol', ',')) {
        if (what !== 'range' || names.length > 1) throw this.fail(`${what}: too many variables are declared`);
        this.at++;
        this.skipSpace();
        continue;
      }
      if (!this.is('symbol', ':=') && !this.is('symbol', '=')) break;
      const assigns = this.next().text === '=';
      for (const name of names) if (assigns) this.functionName(name);
      return { variables: names, assigns };
    }
    if (names.length > 1) throw this.fail(`${what}: := is missing after the variables`);
    this.at = begin;
    return { variables: [], assigns: false };
  }
  private functionName(name: string): string {
    if (!this.variables.includes(name)) throw this.fail(`there is no variable ${name}`);
    return name;
  }
  /** Operands up to `|`, which is read, or the end of the pipeline. */
  private call(what: string): Call {
    this.piped = false;
    const operands: Operand[] = [];
    for (;;) {
      this.skipSpace();
      if (this.is('close') || this.is('symbol', ')')) break;
      if (this.is('symbol', '|')) {
        this.at++;
        this.piped = true;
        break;
      }
      operands.push(this.operand(what));
      if (!this.is('space') && !this.is('close') && !this.is('symbol', ')') && !this.is('symbol', '|'))
        throw this.fail(`${what}: ${JSON.stringify(this.peek().text)} is not expected`);
    }
    if (operands.length === 0) throw this.fail(`${what}: a value is missing before ${JSON.stringify(this.peek().text || '|')}`);
    return operands;
  }
  private operand(what: string): Operand {
    const token = this.peek();
    const first = this.term(what);
    const names: string[] = [];
    while (this.is('field')) names.push(this.next().text.slice(1));
    if (names.length === 0) return first;
    switch (first.is) {
      case 'field':
        return { is: 'field', names: [...first.names, ...names] };
      case 'variable':
        return { ...first, names: [...first.names, ...names] };
      case 'pipe':
      case 'function':
        return { is: 'chain', of: first, names };
      default:
        throw this.fail(`.${names[0]} cannot follow ${token.text}`, token);
    }
  }
  private term(what: string): Operand {
    const token = this.next();
    switch (token.kind) {
      case 'dot':
        return { is: 'dot' };
      case 'string':
      case 'number':
        return { is: 'value', value: token.value };
      case 'field':
        return { is: 'field', names: [token.text.slice(1)] };
      case 'variable':
        return { is: 'variable', name: this.functionName(token.text), names: [] };
      case 'word':
        return this.word(token);
      default:
        if (token.text !== '(') throw this.fail(`${what}: ${JSON.stringify(token.text)} is not expected`, token);
        return { is: 'pipe', pipe: this.parenthesis() };
    }
  }
  private parenthesis(): Pipe {
    if (++this.nested > mostNested) throw this.fail(`more than ${mostNested} parentheses stand within each other`);
    const { piped } = this;
    const pipe = this.pipe(')', 'a parenthesis');
    this.piped = piped;
    this.nested--;
    return pipe;
  }
  private word(token: Token): Operand {
    if (token.text === 'true' || token.text === 'false') return { is: 'value', value: token.text === 'true' };
    if (token.text === 'nil') return { is: 'nil' };
    if (!this.functions.has(token.text)) {
      const field = keywords.has(token.text) ? '' : `; a field is written .${token.text}`;
      throw this.fail(`there is no function ${JSON.stringify(token.text)}${field}`, token);
    }
    return { is: 'function', name: token.text };
  }
}

const isBlank = (nodes: readonly TemplateNode[]): boolean => nodes.every((node) => node.is === 'text' && node.text.trim() === '');
