/** Parses tokens into a tree and expands macros. */

import { own } from '@plat-dev/lib/own';
import type { Expr, ListItem, MapEntry, MessageField } from './ast.ts';
import type { Environment } from './environment.ts';
import { numberOf, SyntaxFault, type Token, tokens } from './lexer.ts';
import { expandCall } from './macros.ts';
import { MAX_DEPTH, NodeMaker } from './node-maker.ts';

const levels: Readonly<Record<string, number>> = {
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  in: 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
};
const reserved = new Set(
  'as break const continue else false for function if import in let loop namespace null package return true var void while'.split(' '),
);
const operators: Readonly<Record<string, string>> = { in: '@in' };

/** Throws SyntaxFault. */
export function parse(source: string, environment: Environment): Expr {
  return new Parser(tokens(source), environment).whole();
}

class Parser {
  private readonly tokens: readonly Token[];
  private readonly maker: NodeMaker;
  private next = 0;
  private depth = 0;

  constructor(all: readonly Token[], environment: Environment) {
    this.tokens = all;
    this.maker = new NodeMaker(environment);
  }

  whole(): Expr {
    const expr = this.expression();
    if (this.peek().token !== 'end') this.unexpected();
    return expr;
  }

  // ---- tokens ----------------------------------------------------------------------------------------------------

  private peek(): Token {
    return this.tokens[this.next] as Token;
  }
  private take(): Token {
    return this.tokens[this.next++] as Token;
  }
  private isSign(text: string): boolean {
    const token = this.peek();
    return token.token === 'sign' && token.text === text;
  }
  private skip(text: string): boolean {
    if (!this.isSign(text)) return false;
    this.next++;
    return true;
  }
  private need(text: string): Token {
    if (!this.isSign(text)) this.unexpected(`'${text}'`);
    return this.take();
  }
  private unexpected(expectation?: string): never {
    const { at, text } = this.peek();
    throw new SyntaxFault(at, `Syntax error: unexpected '${text}'${expectation === undefined ? '' : `, expecting ${expectation}`}`);
  }

  // ---- operators -------------------------------------------------------------------------------------------------

  private expression(): Expr {
    if (++this.depth > MAX_DEPTH)
      throw new SyntaxFault(this.peek().at, `expression nests too deeply: at most ${MAX_DEPTH} levels are allowed`);
    const condition = this.binary(1);
    let expr = condition;
    if (this.isSign('?')) {
      const { at } = this.take();
      const then = this.binary(1);
      this.need(':');
      const otherwise = this.expression();
      expr = this.maker.make(at, { node: 'conditional', condition, then, otherwise }, [condition, then, otherwise]);
    }
    this.depth--;
    return expr;
  }

  private levelOf(token: Token): number {
    if (token.token !== 'sign' && !(token.token === 'name' && token.text === 'in')) return 0;
    return own(levels, token.text) ?? 0;
  }

  /** Operators of at least a level, from the left. */
  private binary(least: number): Expr {
    let left = this.unary();
    for (;;) {
      const token = this.peek();
      const level = this.levelOf(token);
      if (level === 0 || level < least) return left;
      if (token.text === '&&' || token.text === '||') {
        left = this.logic(left, token.text, level);
        continue;
      }
      this.next++;
      const right = this.binary(level + 1);
      const name = own(operators, token.text) ?? `_${token.text}_`;
      left = this.maker.make(token.at, { node: 'call', name, target: undefined, args: [left, right] }, [left, right]);
    }
  }

  private logic(first: Expr, operator: '&&' | '||', level: number): Expr {
    const { at } = this.peek();
    const terms = [first];
    while (this.skip(operator)) terms.push(this.binary(level + 1));
    return this.maker.make(at, { node: 'logic', operator, terms }, terms);
  }

  private unary(): Expr {
    const token = this.peek();
    if (token.token !== 'sign' || (token.text !== '!' && token.text !== '-')) return this.member();
    let count = 0;
    while (this.isSign(token.text)) {
      count++;
      this.next++;
    }
    const literal = this.peek();
    // The least int has no positive form: its sign belongs to the literal.
    if (token.text === '-' && literal.token === 'number') {
      count--;
      this.next++;
      return this.repeated('-_', count, token.at, this.members(this.number(literal, true, token.at)));
    }
    return this.repeated(token.text === '!' ? '!_' : '-_', count, token.at, this.member());
  }
  /** Two of them undo each other. */
  private repeated(name: string, count: number, at: number, operand: Expr): Expr {
    let expr = operand;
    for (let i = count % 2 === 0 && count > 0 ? 2 : count % 2; i > 0; i--)
      expr = this.maker.make(at, { node: 'call', name, target: undefined, args: [expr] }, [expr]);
    return expr;
  }
  private number(token: Token & { token: 'number' }, negative: boolean, at: number): Expr {
    const value = numberOf(token, negative);
    if (value === undefined) throw new SyntaxFault(token.at, `invalid ${token.kind} literal`);
    return this.maker.make(at, { node: 'literal', value, type: token.kind }, []);
  }

  // ---- members ---------------------------------------------------------------------------------------------------

  private member(): Expr {
    return this.members(this.primary());
  }
  private members(primary: Expr): Expr {
    let expr = primary;
    for (;;) {
      if (this.isSign('.')) expr = this.select(expr);
      else if (this.isSign('[')) expr = this.index(expr);
      else if (this.isSign('{')) expr = this.message(expr);
      else return expr;
    }
  }
  private select(operand: Expr): Expr {
    const dot = this.take();
    const optional = this.optionalSign('.?');
    const field = this.selector();
    if (!optional && this.isSign('(')) {
      const open = this.take();
      const args = this.args(')');
      return expandCall(this.maker, open.at, field, operand, args);
    }
    return this.maker.make(dot.at, { node: 'select', operand, field, test: false, optional }, [operand]);
  }
  private selector(): string {
    const token = this.peek();
    if (token.token !== 'name' || /^(?:in|true|false|null)$/.test(token.text)) this.unexpected('a name');
    this.next++;
    return token.quoted ? token.text.slice(1, -1) : token.text;
  }
  private index(operand: Expr): Expr {
    const { at } = this.take();
    const optional = this.optionalSign('[?');
    const key = this.expression();
    this.need(']');
    return this.maker.make(at, { node: 'call', name: optional ? '_[?_]' : '_[_]', target: undefined, args: [operand, key] }, [
      operand,
      key,
    ]);
  }
  private message(operand: Expr): Expr {
    const { at } = this.take();
    const name = nameOf(operand);
    if (name === undefined) throw new SyntaxFault(at, "Syntax error: unexpected '{'");
    const fields: MessageField[] = [];
    while (!this.skip('}')) {
      const optional = this.optionalSign('?');
      const field = this.peek().at;
      const fieldName = this.selector();
      this.need(':');
      fields.push({ name: fieldName, at: field, value: this.expression(), optional });
      if (!this.isSign('}')) this.need(',');
    }
    const values = fields.map(({ value }) => value);
    return this.maker.make(at, { node: 'message', name, fields }, values);
  }
  /** A question mark that makes what follows optional. */
  private optionalSign(syntax: string): boolean {
    const { at } = this.peek();
    if (!this.skip('?')) return false;
    if (!this.maker.environment.has('optionals')) throw new SyntaxFault(at, `unsupported syntax '${syntax}'`);
    return true;
  }
  private args(close: string): Expr[] {
    const args: Expr[] = [];
    if (this.skip(close)) return args;
    do args.push(this.expression());
    while (this.skip(','));
    this.need(close);
    return args;
  }

  // ---- primary expressions ---------------------------------------------------------------------------------------

  private primary(): Expr {
    const token = this.take();
    switch (token.token) {
      case 'name':
        return this.named(token.text, token.at, false, token.quoted);
      case 'number':
        return this.number(token, false, token.at);
      case 'string':
      case 'bytes':
        return this.maker.make(token.at, { node: 'literal', value: token.value, type: token.token }, []);
      case 'sign':
        if (token.text === '(') return this.group();
        if (token.text === '[') return this.list(token.at);
        if (token.text === '{') return this.map(token.at);
        if (token.text === '.') return this.named(this.selector(), token.at, true, false);
    }
    this.next--;
    return this.unexpected('an expression');
  }
  private group(): Expr {
    const expr = this.expression();
    this.need(')');
    return expr;
  }
  private named(name: string, at: number, absolute: boolean, quoted: boolean): Expr {
    if (name === 'true' || name === 'false') return this.maker.make(at, { node: 'literal', value: name === 'true', type: 'bool' }, []);
    if (name === 'null') return this.maker.make(at, { node: 'literal', value: null, type: 'null' }, []);
    if (quoted || name === 'in') {
      this.next--;
      this.unexpected('an expression');
    }
    if (reserved.has(name)) throw new SyntaxFault(at, `reserved identifier: ${name}`);
    if (!this.isSign('(')) return this.maker.make(at, { node: 'ident', name, absolute }, []);
    const open = this.take();
    return expandCall(this.maker, open.at, name, undefined, this.args(')'));
  }
  private list(at: number): Expr {
    const items: ListItem[] = [];
    while (!this.skip(']')) {
      const optional = this.optionalSign('?');
      items.push({ value: this.expression(), optional });
      if (!this.isSign(']')) this.need(',');
    }
    return this.maker.make(
      at,
      { node: 'list', items },
      items.map(({ value }) => value),
    );
  }
  private map(at: number): Expr {
    const entries: MapEntry[] = [];
    while (!this.skip('}')) {
      const optional = this.optionalSign('?');
      const key = this.expression();
      this.need(':');
      entries.push({ key, value: this.expression(), optional });
      if (!this.isSign('}')) this.need(',');
    }
    return this.maker.make(
      at,
      { node: 'map', entries },
      entries.flatMap(({ key, value }) => [key, value]),
    );
  }
}

/** `a.b.c` as a name; undefined for other expressions. */
export function nameOf(expr: Expr): string | undefined {
  if (expr.node === 'ident') return expr.name;
  if (expr.node !== 'select' || expr.test || expr.optional) return undefined;
  const qualifier = nameOf(expr.operand);
  return qualifier === undefined ? undefined : `${qualifier}.${expr.field}`;
}
