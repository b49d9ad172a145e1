/** Types of rounds.mjs, for its test. */
export interface Measured {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
  readonly cpu: { readonly all: number; readonly main: number };
}
export interface RoundsOptions<Target> {
  readonly rounds: number;
  readonly measure: (target: Target) => Measured | Promise<Measured>;
  readonly measureBare: () => Measured | Promise<Measured>;
}
export interface Rounds {
  readonly bare: { readonly rates: readonly number[]; readonly micros: readonly number[] };
  readonly targets: readonly (Measured & { readonly ratio: number })[];
}
export function inRounds<Target>(targets: readonly Target[], options: RoundsOptions<Target>): Promise<Rounds>;
