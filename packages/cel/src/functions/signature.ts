/** A function as the checker and the evaluation know it. */
import type { Frame } from '../budget.ts';
import type { Estimator } from '../estimates.ts';
import type { CelType } from '../types.ts';

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
  readonly estimate?: Estimator | undefined;
  /** Whether it is for arguments that are known at run time only. */
  readonly dynamicOnly?: boolean;
}

type Implementation = Overload['call'];

export const global = (
  name: string,
  params: readonly CelType[],
  result: CelType,
  call: Implementation,
  estimate?: Estimator,
): Overload => ({ name, member: false, params, result, call, estimate });

export const member = (
  name: string,
  params: readonly CelType[],
  result: CelType,
  call: Implementation,
  estimate?: Estimator,
): Overload => ({ name, member: true, params, result, call, estimate });
