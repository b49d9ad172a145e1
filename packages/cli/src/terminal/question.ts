/** A question before something is changed. */
import { createInterface } from 'node:readline';
import { FlagError } from '@plat-dev/lib/flags';
import type { IO } from '../command.ts';

/** Whether the user says yes. Where nobody can be asked, `--yes` is needed. */
export async function isConfirmed(question: string, { yes }: { readonly yes: boolean }, io: IO, signal: AbortSignal): Promise<boolean> {
  if (yes) return true;
  const { terminal } = io;
  if (!terminal.interactive)
    throw new FlagError('the input is no terminal on which to ask: add --yes, or --dry-run=server to see the result');
  io.err(`${question} [y/N] `);
  const lines = createInterface({ input: terminal.input, signal });
  try {
    const answer = await new Promise<string>((resolve) => {
      lines.once('line', resolve);
      // The end of the input is a no.
      lines.once('close', () => resolve(''));
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
    terminal.release();
  }
}
