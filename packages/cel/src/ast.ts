/** Expressions as trees. */

interface Place {
  /** Where in the source messages point to: the operator, the dot, the bracket or the name. */
  readonly at: number;
  /** How deep the tree below is, itself included. */
  readonly depth: number;
}

export type Literal = Place & { readonly node: 'literal'; readonly value: unknown; readonly type: LiteralKind };
type LiteralKind = 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes';

/** `.name` is looked for outside of local variables. */
export type Ident = Place & { readonly node: 'ident'; readonly name: string; readonly absolute: boolean };
/** `a.b`, `has(a.b)` where `test` is set, `a.?b` where `optional` is. */
export type Select = Place & {
  readonly node: 'select';
  readonly operand: Expr;
  readonly field: string;
  readonly test: boolean;
  readonly optional: boolean;
};
/** A function, or an operator by its name: `_+_`, `_[_]`, `!_`. */
export type Call = Place & {
  readonly node: 'call';
  readonly name: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
};
/** `a && b && c` is one node, so that long ones are not deep. */
export type Logic = Place & { readonly node: 'logic'; readonly operator: '&&' | '||'; readonly terms: readonly Expr[] };
type Conditional = Place & { readonly node: 'conditional'; readonly condition: Expr; readonly then: Expr; readonly otherwise: Expr };
export type ListLiteral = Place & { readonly node: 'list'; readonly items: readonly ListItem[] };
export interface ListItem {
  readonly value: Expr;
  /** `?x`: left out where there is no value. */
  readonly optional: boolean;
}
export type MapLiteral = Place & { readonly node: 'map'; readonly entries: readonly MapEntry[] };
export interface MapEntry extends ListItem {
  readonly key: Expr;
}
/** `Name{field: value}` */
export type MessageLiteral = Place & { readonly node: 'message'; readonly name: string; readonly fields: readonly MessageField[] };
export interface MessageField extends ListItem {
  readonly name: string;
  readonly at: number;
}
/** A macro over the items of a list or the keys of a map. */
export type Comprehension = Place & {
  readonly node: 'comprehension';
  readonly macro: Macro;
  readonly range: Expr;
  readonly variable: string;
  /** With it, `variable` is the index or key, and this one the value. */
  readonly second: string | undefined;
  /** The condition, or what every item becomes. */
  readonly body: Expr;
  /** The condition of `map` with three arguments. */
  readonly filter: Expr | undefined;
};
export type Macro = 'all' | 'exists' | 'existsOne' | 'map' | 'filter' | 'transformMap' | 'transformMapEntry';
/** `cel.bind(name, value, body)`; `optMap` and `optFlatMap` where the value is an optional one. */
export type Bind = Place & {
  readonly node: 'bind';
  readonly macro: 'bind' | 'optMap' | 'optFlatMap';
  readonly variable: string;
  readonly value: Expr;
  readonly body: Expr;
};

export type Expr = Literal | Ident | Select | Call | Logic | Conditional | ListLiteral | MapLiteral | MessageLiteral | Comprehension | Bind;
