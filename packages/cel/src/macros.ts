/** Macros: `has(a.b)`, `list.all(x, …)`, `cel.bind(x, …)`. */
import { own } from '@plat-dev/lib/own';
import type { Expr, Macro } from './ast.ts';
import { SyntaxFault } from './lexer.ts';
import type { NodeMaker } from './node-maker.ts';

/** By name, the macro and what its arguments are after the variable, for one variable and for two. */
const comprehensions: Readonly<
  Record<string, { readonly macro: Macro; readonly one: readonly number[]; readonly two: readonly number[] }>
> = {
  all: { macro: 'all', one: [2], two: [3] },
  exists: { macro: 'exists', one: [2], two: [3] },
  exists_one: { macro: 'existsOne', one: [2], two: [3] },
  existsOne: { macro: 'existsOne', one: [2], two: [3] },
  filter: { macro: 'filter', one: [2], two: [] },
  map: { macro: 'map', one: [2, 3], two: [] },
  transformList: { macro: 'map', one: [], two: [3, 4] },
  transformMap: { macro: 'transformMap', one: [], two: [3, 4] },
  transformMapEntry: { macro: 'transformMapEntry', one: [], two: [3, 4] },
};

/** A call, or the macro of that name where one is. Throws SyntaxFault. */
export function expandCall(maker: NodeMaker, at: number, name: string, target: Expr | undefined, args: readonly Expr[]): Expr {
  const macro = target === undefined ? hasMacro(maker, at, name, args) : targetMacro(maker, at, name, target, args);
  if (macro !== undefined) return macro;
  return maker.make(at, { node: 'call', name, target, args }, target === undefined ? args : [target, ...args]);
}

function hasMacro(maker: NodeMaker, at: number, name: string, args: readonly Expr[]): Expr | undefined {
  const [arg] = args;
  if (name !== 'has' || args.length !== 1 || arg === undefined) return undefined;
  if (arg.node !== 'select' || arg.test || arg.optional) throw new SyntaxFault(arg.at, 'invalid argument to has() macro');
  return maker.make(at, { node: 'select', operand: arg.operand, field: arg.field, test: true, optional: false }, [arg.operand]);
}

function targetMacro(maker: NodeMaker, at: number, name: string, target: Expr, args: readonly Expr[]): Expr | undefined {
  const { environment } = maker;
  if (name === 'bind' && args.length === 3 && target.node === 'ident' && target.name === 'cel' && !environment.isStock)
    return bind(maker, at, 'bind', args);
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2 && environment.has('optionals'))
    return bind(maker, at, name, [args[0] as Expr, target, args[1] as Expr]);
  if (name === 'sortBy' && args.length === 2 && environment.has('sortBy')) return sortBy(maker, at, target, args);
  const comprehension = own(comprehensions, name);
  if (comprehension === undefined) return undefined;
  const one = comprehension.one.includes(args.length);
  if (one ? name === 'existsOne' && !environment.hasExistsOne : !comprehension.two.includes(args.length)) return undefined;
  if (!one && !environment.has('twoVariables')) return undefined;
  const variable = variableOf(args[0] as Expr);
  const second = one ? undefined : variableOf(args[1] as Expr);
  if (variable === second) throw new SyntaxFault((args[1] as Expr).at, `duplicate variable name: ${second}`);
  const rest = args.slice(one ? 1 : 2);
  const body = rest[rest.length - 1] as Expr;
  const filter = rest.length === 2 ? rest[0] : undefined;
  const children = [target, body, ...(filter === undefined ? [] : [filter])];
  return maker.make(at, { node: 'comprehension', macro: comprehension.macro, range: target, variable, second, body, filter }, children);
}

function bind(maker: NodeMaker, at: number, macro: 'bind' | 'optMap' | 'optFlatMap', args: readonly Expr[]): Expr {
  const [name, value, body] = args as [Expr, Expr, Expr];
  return maker.make(at, { node: 'bind', macro, variable: variableOf(name), value, body }, [value, body]);
}

/** The list that `sortBy` sorts, and its keys are made of. */
const SORTED = '@sortBy';
/** `list.sortBy(x, key)` is `list` sorted by a list of keys. */
function sortBy(maker: NodeMaker, at: number, target: Expr, args: readonly Expr[]): Expr {
  const list = maker.make(at, { node: 'ident', name: SORTED, absolute: false }, []);
  const keys = targetMacro(maker, at, 'map', list, args) as Expr;
  const call = maker.make(at, { node: 'call', name: '@sortByAssociatedKeys', target: list, args: [keys] }, [list, keys]);
  return maker.make(at, { node: 'bind', macro: 'bind', variable: SORTED, value: target, body: call }, [target, call]);
}

function variableOf(expr: Expr): string {
  if (expr.node !== 'ident' || expr.absolute) throw new SyntaxFault(expr.at, 'argument is not an identifier');
  return expr.name;
}
