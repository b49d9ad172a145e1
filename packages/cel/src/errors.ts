/** What can go wrong with an expression: it does not compile, it fails while it runs, or it takes more than it may. */

export interface CelIssue {
  /** From 1. */
  readonly line: number;
  /** In characters, from 1. */
  readonly column: number;
  readonly message: string;
}

/** The expression does not compile. The message shows every issue with its place, as in a stock server. */
export class CelError extends Error {
  readonly issues: readonly CelIssue[];

  constructor(source: string, issues: readonly CelIssue[]) {
    super(issues.map((issue) => showIssue(source, issue)).join('\n'));
    this.name = 'CelError';
    this.issues = issues;
  }
}

/** Longest part of a line that is shown with an issue. */
const SHOWN = 500;

function showIssue(source: string, { line, column, message }: CelIssue): string {
  const text = (source.split('\n')[line - 1] ?? '').replaceAll('\t', ' ');
  const head = `ERROR: <input>:${line}:${column}: ${message}`;
  return column > SHOWN ? head : `${head}\n | ${text.slice(0, SHOWN)}\n | ${'.'.repeat(column - 1)}^`;
}

/** The line and column of a place in the source. */
export function placeOf(source: string, at: number): { line: number; column: number } {
  const textBefore = source.slice(0, at);
  const start = textBefore.lastIndexOf('\n') + 1;
  let line = 1;
  for (let i = 0; i < start; i++) if (source.charCodeAt(i) === 10) line++;
  return { line, column: [...textBefore.slice(start)].length + 1 };
}

/** The evaluation failed: no such key, division by zero, overflow and the like. */
export class CelRuntimeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelRuntimeError';
  }
}

/** The evaluation was stopped because it would cost more than its budget. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
    this.name = 'CostExceeded';
  }
}

/** The evaluation needs an answer that is not there yet: it can begin again when the promise has settled. */
export class Waiting extends Error {
  readonly answer: Promise<unknown>;

  constructor(answer: Promise<unknown>) {
    super('waiting for an answer');
    this.name = 'Waiting';
    this.answer = answer;
  }
}

/**
 * A failure within an evaluation, which `&&` and `||` may absorb. It is no Error because those note the stack, which takes longer
 * than the evaluation: an expression that fails for every item of a list would make that a matter of seconds.
 */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function fail(message: string): never {
  throw new Failure(message);
}
export const noOverload = (): never => fail('no such overload');
