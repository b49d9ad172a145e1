/**
 * The log of a simulated container: the text of an annotation, what its command prints, or a line that says that it runs.
 *
 *   simulation.plat.dev/logs: "ready to serve"        for all containers; simulation.plat.dev/logs.NAME for one
 */
import { type Annotated, annotationOf } from './annotations.ts';
import { argvOf, type Container, commandOf } from './container-command.ts';
import { type Environment, run, UnknownProgram } from './shell/run.ts';
import { linesOf } from './shell/text-lines.ts';
import { NotSupported } from './shell/words.ts';
import { COMMAND_WORK } from './shell/work.ts';

export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** Lines of a log; the first of longer ones. */
const LINES_LIMIT = 10_000;
/** And so many characters of them. */
const LOG_LIMIT = 4 << 20;
/** Steps and work after which a container is taken to write nothing more. */
const STEPS_LIMIT = 30_000;
const LOG_WORK = 60_000 * COMMAND_WORK;
/** Longest line that has not ended. */
const PARTIAL_LIMIT = 64 * 1024;

/**
 * All lines in their order, with the times at which they are written; those in the future too. Undefined in between: others may go
 * first. `work`: how far the command is followed.
 */
export function* linesOfRun(
  annotated: Annotated,
  container: Container,
  startedAt: number,
  environment: () => Environment,
  work = LOG_WORK,
): Generator<LogLine | undefined, undefined> {
  const { metadata } = annotated.pod;
  const text = annotationOf(annotated, 'logs', container.name);
  if (text !== undefined) {
    for (const line of linesOf(text).slice(0, LINES_LIMIT)) yield { at: startedAt, text: line.endsWith('\n') ? line : `${line}\n` };
    return;
  }
  let writtenBytes = 0;
  let at = startedAt;
  try {
    if (argvOf(container).length > 0) {
      const world = environment();
      const running = run(commandOf(container, world.variables), world);
      let partial = '';
      // A command may sleep again and again, and never write a line.
      let size = 0;
      const goesOn = () => writtenBytes < LINES_LIMIT && size < LOG_LIMIT && (world.work?.total ?? 0) < work;
      for (let steps = 0; steps < STEPS_LIMIT && goesOn(); steps++) {
        const { done, value } = running.next(undefined);
        if (done === true) break;
        if ('waitMs' in value) at += value.waitMs;
        const more = 'out' in value ? value.out : 'err' in value ? value.err : '';
        if (more === '') {
          yield undefined;
          continue;
        }
        size += more.length;
        const lines = (partial + more).split('\n');
        partial = (lines.pop() as string).slice(0, PARTIAL_LIMIT);
        for (const line of lines) {
          writtenBytes++;
          yield { at, text: `${line}\n` };
        }
      }
      if (partial !== '') yield { at, text: partial };
      return;
    }
  } catch (error) {
    if (!(error instanceof UnknownProgram || error instanceof NotSupported)) throw error;
    if (writtenBytes > 0) return;
  }
  yield {
    at,
    text: `simulated container ${container.name} of pod ${metadata.namespace}/${metadata.name} runs ${container.image ?? ''}\n`,
  };
}
