/** Types of options.mjs, for its test. */
export interface OtherServer {
  readonly name: string;
  readonly address: string;
  readonly pids: readonly number[];
  readonly token: string;
}
export interface BenchOptions {
  readonly seconds: number;
  readonly requests: number | undefined;
  readonly rounds: number;
  readonly connections: number;
  readonly pods: number;
  readonly growth: number | undefined;
  readonly only: readonly string[] | undefined;
  readonly stores: readonly string[];
  readonly against: OtherServer | undefined;
  readonly write: boolean;
  readonly build: boolean;
}
export function benchOptions(argv: readonly string[], known: readonly string[]): BenchOptions;
export function tokenOf(file: string): string;
