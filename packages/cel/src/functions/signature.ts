/** A function as the checker and the evaluation know it. */
import type { Frame } from '../budget.ts';
import type { Price } from '../prices.ts';
import type { CelType, ObjectType } from '../types.ts';

export interface Overload {
  readonly name: string;
  /** Whether it is called on its first argument: `text.contains(part)`. */
  readonly member: boolean;
  /** The one that it is called on stands first. */
  readonly params: readonly CelType[];
  readonly result: CelType;
  /** One unit is spent for the call already; what takes longer spends the rest. Throws Failure, CostExceeded. */
  readonly call: (frame: Frame, ...args: never[]) => unknown;
  /** One unit where it is left out. */
  readonly price?: Price | undefined;
  /** Whether it is for arguments that are known at run time only. */
  readonly dynamicOnly?: boolean;
}

type Implementation = Overload['call'];

export const global = (name: string, params: readonly CelType[], result: CelType, call: Implementation, price?: Price): Overload => ({
  name,
  member: false,
  params,
  result,
  call,
  price,
});

export const member = (name: string, params: readonly CelType[], result: CelType, call: Implementation, price?: Price): Overload => ({
  name,
  member: true,
  params,
  result,
  call,
  price,
});

/** Functions, types and objects that environments have from a release on. */
export interface Library {
  /** The release of the environment: an expression that is new may use it one release later. Always where it is left out. */
  readonly since?: string;
  /** The last release of the environment. What ends is not part of 1.24, which has what came after it. */
  readonly until?: string;
  /** The release of the server, whatever its environment: a newer version of what it is made of. */
  readonly serverSince?: string;
  readonly functions: readonly Overload[];
  /** Types whose names stand for themselves. */
  readonly types?: readonly CelType[];
  /** The type of an object that an expression makes by its name; undefined where there is none. */
  readonly constructed?: (name: string) => ObjectType | undefined;
}
