export interface Stop {
  readonly afterMs: number;
  readonly exitCode: number;
}
