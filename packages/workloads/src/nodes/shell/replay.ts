/**
 * The files of a container some time after its command began. A command does the same every time, so that nothing of it needs to be
 * kept.
 *
 *   sh -c 'touch /tmp/a; sleep 10; rm /tmp/a'      after 5 s: /tmp/a      after 15 s: nothing
 */
import type { Work } from '@plat-dev/lib/slices';
import { type Environment, run, UnknownProgram } from './run.ts';
import { NotSupported } from './words.ts';
import { OUTCOME_WORK } from './work.ts';

/** Steps after which a command is taken to change nothing more. */
const STEPS_LIMIT = 5000;
/** Steps without a change of a file after which no further one is expected: loops that print and wait are common. */
const AHEAD_LIMIT = 500;

export interface Replayed {
  readonly files: ReadonlyMap<string, string>;
  /** Whether the command is one that is simulated, as far as it has come. */
  readonly simulated: boolean;
  /** How long after its start the command changes a file next; undefined if it does not, or if there is none. */
  readonly nextChangeMs: (() => Work<number | undefined>) | undefined;
}

/** `environment`: as it was at the start; `work`: how far the command is followed. */
export function* replay(argv: readonly string[], environment: Environment, elapsedMs: number, work = OUTCOME_WORK): Work<Replayed> {
  const { files } = environment;
  if (argv.length === 0) return { files: files.all(), simulated: false, nextChangeMs: undefined };
  const world: Environment = { ...environment, variables: new Map(environment.variables) };
  const running = run(argv, world);
  let simulated = true;
  let hasEnded = false;
  let waitedMs = 0;
  let steps = 0;
  const step = (): void => {
    if (++steps > STEPS_LIMIT || (world.work?.total ?? 0) >= work) hasEnded = true;
    else
      try {
        const { done, value } = running.next(undefined);
        if (done === true) hasEnded = true;
        else if ('waitMs' in value) waitedMs += value.waitMs;
      } catch (error) {
        if (!(error instanceof UnknownProgram || error instanceof NotSupported)) throw error;
        simulated = false;
        hasEnded = true;
      }
  };
  while (!hasEnded && waitedMs <= elapsedMs) {
    step();
    yield;
  }
  return {
    files: files.all(),
    simulated: simulated && !files.assumed && !files.guessed,
    *nextChangeMs() {
      const before = files.changes;
      const last = steps + AHEAD_LIMIT;
      while (!hasEnded && steps < last) {
        const at = waitedMs;
        step();
        yield;
        if (files.changes !== before) return at;
      }
      return undefined;
    },
  };
}
