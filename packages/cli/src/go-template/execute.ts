/** Runs a template on a value. */
import { lazyFunctions, type TemplateFunction, templateFunctions } from './functions.ts';
import { failAt, TemplateError } from './lexer.ts';
import type { Call, Operand, ParsedTemplate, Pipe, TemplateNode } from './parser.ts';
import { entriesOf, type GoMap, goText, isTrue, kindOf, memberOf, typeName } from './values.ts';

export interface TemplateLimits {
  /** Characters of the output. */
  readonly output: number;
  /** Turns of all loops together. */
  readonly turns: number;
  /** Templates that call each other. */
  readonly depth: number;
}
/** More of any is an error: a template that never ends must not take the machine with it. */
const templateLimits: TemplateLimits = { output: 256 << 20, turns: 20_000_000, depth: 500 };

export interface TemplateOptions {
  /** Whether a key that a map does not have is no value; an error otherwise. */
  readonly allowMissingKeys: boolean;
  readonly limits?: Partial<TemplateLimits>;
}

interface Variable {
  readonly name: string;
  value: unknown;
}
/** How a list of nodes was left. */
type LoopExit = 'break' | 'continue' | undefined;

/** No value comes from the part of the pipeline before. */
const nothing = Symbol('nothing');

export class Execution {
  private readonly template: ParsedTemplate;
  private readonly allowMissingKeys: boolean;
  private readonly limits: TemplateLimits;
  private readonly parts: string[] = [];
  private size = 0;
  private turns = 0;
  private depth = 0;
  private variables: Variable[] = [];
  private line = 1;

  constructor(template: ParsedTemplate, { allowMissingKeys, limits }: TemplateOptions) {
    this.template = template;
    this.allowMissingKeys = allowMissingKeys;
    this.limits = { ...templateLimits, ...limits };
  }
  /** The output. Throws TemplateError. */
  run(value: unknown): string {
    this.variables = [{ name: '$', value }];
    this.list(this.template.root, value);
    return this.parts.join('');
  }
  private fail(message: string): TemplateError {
    return failAt(this.line, message);
  }
  private write(text: string): void {
    this.size += text.length;
    if (this.size > this.limits.output) throw this.fail(`the output is longer than ${this.limits.output} characters`);
    this.parts.push(text);
  }

  // ---- nodes -----------------------------------------------------------------------------------------------------

  private list(nodes: readonly TemplateNode[], dot: unknown): LoopExit {
    for (const node of nodes) {
      const exit = this.node(node, dot);
      if (exit !== undefined) return exit;
    }
    return undefined;
  }
  private node(node: TemplateNode, dot: unknown): LoopExit {
    switch (node.is) {
      case 'text':
        this.write(node.text);
        return undefined;
      case 'print': {
        const value = this.pipe(node.pipe, dot);
        // Declarations print nothing.
        if (node.pipe.variables.length === 0) this.write(value === undefined ? '<no value>' : goText(value));
        return undefined;
      }
      case 'if':
      case 'with':
        return this.scoped(() => {
          const value = this.pipe(node.pipe, dot);
          return isTrue(value) ? this.list(node.body, node.is === 'with' ? value : dot) : this.list(node.otherwise, dot);
        });
      case 'range':
        return this.scoped(() => this.range(node.pipe, node.body, node.otherwise, dot));
      case 'template':
        this.line = node.line;
        this.call(node.name, node.pipe, dot);
        return undefined;
      default:
        return node.is;
    }
  }
  /** Variables that are declared within are gone after it. */
  private scoped(work: () => LoopExit): LoopExit {
    const count = this.variables.length;
    try {
      return work();
    } finally {
      this.variables.length = count;
    }
  }
  private range(pipe: Pipe, body: readonly TemplateNode[], otherwise: readonly TemplateNode[], dot: unknown): LoopExit {
    const value = this.pipe(pipe, dot);
    const pairs = this.pairsOf(value);
    if (pairs.length === 0) return this.list(otherwise, dot);
    const names = pipe.variables;
    for (const [key, element] of pairs) {
      if (++this.turns > this.limits.turns) throw this.fail(`loops have more than ${this.limits.turns} turns`);
      if (names.length > 0) this.set(names.at(-1) as string, element);
      if (names.length > 1) this.set(names[0] as string, key);
      const exit = this.scoped(() => this.list(body, element));
      if (exit === 'break') break;
    }
    return undefined;
  }
  private pairsOf(value: unknown): readonly (readonly [unknown, unknown])[] {
    switch (kindOf(value)) {
      case 'nil':
        return [];
      case 'slice':
        return (value as readonly unknown[]).map((one, i) => [i, one] as const);
      case 'map':
        return entriesOf(value as GoMap);
      default:
        throw this.fail(`range needs a list or a map, not ${goText(value)}`);
    }
  }
  private call(name: string, pipe: Pipe | undefined, dot: unknown): void {
    const nodes = this.template.defined.get(name);
    if (nodes === undefined) throw this.fail(`there is no template ${JSON.stringify(name)}`);
    if (this.depth >= this.limits.depth) throw this.fail(`more than ${this.limits.depth} templates call each other`);
    const value = pipe === undefined ? undefined : this.pipe(pipe, dot);
    const outside = this.variables;
    this.variables = [{ name: '$', value }];
    this.depth++;
    this.list(nodes, value);
    this.depth--;
    this.variables = outside;
  }

  // ---- pipelines -------------------------------------------------------------------------------------------------

  private pipe(pipe: Pipe, dot: unknown): unknown {
    this.line = pipe.line;
    let value: unknown = nothing;
    for (const call of pipe.calls) {
      value = this.evaluate(call, dot, value);
      // nil ends as no value.
      if (value === null) value = undefined;
    }
    for (const name of pipe.variables) {
      if (pipe.assigns) this.set(name, value);
      else this.variables.push({ name, value });
    }
    return value;
  }
  private set(name: string, value: unknown): void {
    this.variable(name).value = value;
  }
  private variable(name: string): Variable {
    const existing = this.variables.findLast((variable) => variable.name === name);
    if (existing === undefined) throw this.fail(`there is no variable ${name}`);
    return existing;
  }
  private evaluate(call: Call, dot: unknown, pipedValue: unknown): unknown {
    const [first, ...args] = call as readonly [Operand, ...Operand[]];
    if (first.is === 'function') return this.invoke(first.name, args, dot, pipedValue);
    if (args.length > 0 || pipedValue !== nothing) throw this.fail(`${nameOf(first)} is not a function and takes no arguments`);
    if (first.is === 'nil') throw this.fail('nil alone is not a value');
    return this.operand(first, dot);
  }
  private operand(operand: Operand, dot: unknown): unknown {
    switch (operand.is) {
      case 'dot':
        return dot;
      case 'nil':
        return null;
      case 'value':
        return operand.value;
      case 'field':
        return this.fields(dot, operand.names);
      case 'variable':
        return this.fields(this.variable(operand.name).value, operand.names);
      case 'function':
        return this.invoke(operand.name, [], dot, nothing);
      case 'pipe':
        return this.pipe(operand.pipe, dot);
      case 'chain':
        return this.fields(this.operand(operand.of, dot), operand.names);
    }
  }
  private fields(from: unknown, names: readonly string[]): unknown {
    let value = from;
    for (const name of names) value = this.field(value, name);
    return value;
  }
  private field(from: unknown, name: string): unknown {
    if (from === undefined) {
      if (!this.allowMissingKeys) throw this.fail(`.${name} is a field of something that does not exist`);
      return undefined;
    }
    if (from === null) throw this.fail(`.${name} is a field of nil`);
    if (kindOf(from) !== 'map') throw this.fail(`a value of type ${typeName(from)} has no field .${name}`);
    const value = memberOf(from as GoMap, name);
    if (value === undefined && !this.allowMissingKeys) throw this.fail(`map has no entry for key ${JSON.stringify(name)}`);
    return value;
  }
  private invoke(name: string, args: readonly Operand[], dot: unknown, pipedValue: unknown): unknown {
    const { line } = this;
    if (lazyFunctions.has(name)) return this.choose(name === 'or', name, args, dot, pipedValue);
    const templateFunction = templateFunctions.get(name) as TemplateFunction;
    const values = args.map((arg) => this.operand(arg, dot));
    if (pipedValue !== nothing) values.push(pipedValue);
    this.line = line;
    if (values.length < templateFunction.least || values.length > templateFunction.most)
      throw this.fail(`${name} needs ${countOf(templateFunction)}, not ${values.length}`);
    try {
      return templateFunction.call(values);
    } catch (error) {
      if (error instanceof TemplateError) throw error;
      throw this.fail(`${name}: ${(error as Error).message}`);
    }
  }
  /** The first argument that decides, else the last. */
  private choose(isTruthWanted: boolean, name: string, args: readonly Operand[], dot: unknown, pipedValue: unknown): unknown {
    if (args.length === 0 && pipedValue === nothing) throw this.fail(`${name} needs at least 1 argument, not 0`);
    let value: unknown;
    for (const arg of args) {
      value = this.operand(arg, dot);
      if (isTrue(value) === isTruthWanted) return value;
    }
    return pipedValue === nothing ? value : pipedValue;
  }
}

const countOf = ({ least, most }: TemplateFunction): string => {
  const count = least === most ? `${least}` : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
  return `${count} ${count === '1' || count === 'at least 1' ? 'argument' : 'arguments'}`;
};
function nameOf(operand: Operand): string {
  if (operand.is === 'field') return `.${operand.names.join('.')}`;
  if (operand.is === 'variable') return operand.name;
  return operand.is === 'value' ? goText(operand.value) : `this ${operand.is === 'pipe' ? 'parenthesis' : 'value'}`;
}
