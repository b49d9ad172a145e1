import type { Expr } from './ast.ts';
import type { Environment } from './environment.ts';
import { SyntaxFault } from './lexer.ts';

/** Deepest that expressions may be nested, so that no walk over one takes more of the stack than there is. */
export const MAX_DEPTH = 200;

/** Most nodes of an expression, macros expanded. */
const MAX_NODES = 10_000;

type Unplaced<T> = T extends Expr ? Omit<T, 'at' | 'depth'> : never;

/** Makes the nodes of one expression, and keeps them within the bounds. */
export class NodeMaker {
  /** What the expression may use. */
  readonly environment: Environment;
  private count = 0;

  constructor(environment: Environment) {
    this.environment = environment;
  }

  make(at: number, node: Unplaced<Expr>, children: readonly Expr[]): Expr {
    let depth = 0;
    for (const child of children) if (child.depth > depth) depth = child.depth;
    if (depth >= MAX_DEPTH) throw new SyntaxFault(at, `expression nests too deeply: at most ${MAX_DEPTH} levels are allowed`);
    if (++this.count > MAX_NODES) throw new SyntaxFault(at, `expression is too large: at most ${MAX_NODES} parts are allowed`);
    return { ...node, at, depth: depth + 1 } as Expr;
  }
}
