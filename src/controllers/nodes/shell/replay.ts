/**
 * The files of a container some time after its command began. A command does the same every time, so that nothing of it needs to be
 * kept.
 *
 *   sh -c 'touch /tmp/a; sleep 10; rm /tmp/a'      after 5 s: /tmp/a      after 15 s: nothing
 */
import { Files, type Layer, layerOf, newKeptFiles } from './files.ts';
import { type Environment, run, UnknownProgram } from './run.ts';
import { NotSupported } from './words.ts';

/** Steps and commands after which a command is taken to change nothing more. */
const STEPS_LIMIT = 5000;
const COMMANDS_LIMIT = 20_000;

export interface Replayed {
  readonly files: ReadonlyMap<string, string>;
  /** Whether the command is one that is simulated. */
  readonly simulated: boolean;
}

/** `mounted`: the files that it began with; `layers`: where it writes. */
export function replay(
  argv: readonly string[],
  mounted: ReadonlyMap<string, string>,
  environment: Omit<Environment, 'files'>,
  elapsedMs: number,
  layers: readonly Layer[] = [layerOf(newKeptFiles())],
): Replayed {
  const files = new Files(mounted, layers);
  if (argv.length === 0) return { files: files.all(), simulated: false };
  const world: Environment = { ...environment, variables: new Map(environment.variables), files };
  let simulated = true;
  try {
    const running = run(argv, world);
    let waited = 0;
    for (let steps = 0; steps < STEPS_LIMIT && (world.work?.total ?? 0) < COMMANDS_LIMIT; steps++) {
      const { done, value } = running.next(undefined);
      if (done === true) break;
      if ('waitMs' in value) waited += value.waitMs;
      if (waited > elapsedMs) break;
    }
  } catch (error) {
    if (!(error instanceof UnknownProgram || error instanceof NotSupported)) throw error;
    simulated = false;
  }
  return { files: files.all(), simulated };
}
