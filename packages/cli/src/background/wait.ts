/** A server that `plat up` starts waits until it is recorded: a command that is killed before that leaves no server behind. */
import type { IO } from '../command.ts';

/** The variable by which `plat up` makes its server wait. */
export const WAIT_VARIABLE = 'PLAT_SERVER_WAIT';

/** False if the command ended before it had recorded this process: it sends a line when it has. */
export async function isRecorded({ env, stdin }: Pick<IO, 'env' | 'stdin'>): Promise<boolean> {
  return env[WAIT_VARIABLE] === undefined || (await stdin()) !== '';
}
