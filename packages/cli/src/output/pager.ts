/** Long texts on a terminal go through a pager. */
import { spawn } from 'node:child_process';
import type { IO } from '../command.ts';
import { isStock } from '../program.ts';
import { lendTerminal } from '../terminal/interrupt.ts';

/** `-F` ends at once where the text fits, `-R` shows colours, `-X` leaves the text on the screen. Windows comes with `more`. */
export const defaultPager = (platform: NodeJS.Platform): string => (platform === 'win32' ? 'more' : 'less -FRX');
/** Exit codes of shells for a program that is not there or cannot be run: sh, and cmd of Windows. */
const notStarted: ReadonlySet<number | null> = new Set([127, 126, 9009]);

/**
 * Prints a text, on a terminal that it does not fit into through `PAGER` (else `less -FRX`, on Windows `more`; empty or `cat`: none).
 * As kubectl it is printed as it is.
 */
export async function page(io: IO, text: string): Promise<void> {
  const size = io.terminal.size();
  const pager = io.env.PAGER ?? defaultPager(io.platform);
  const fits = size === undefined || lineCount(text, size.width) < size.height;
  if (isStock(io) || fits || !io.terminal.interactive || pager.trim() === '' || pager.trim() === 'cat') return io.out(text);
  if (!(await lendTerminal(io, () => writeToPager(io, pager, text)))) io.out(text);
}

/** Lines on the screen: long ones take several. Colours take no room. */
export function lineCount(text: string, width: number): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that set colours begin with one.
  const plain = text.replace(/\u001b\[[\d;]*m/g, '');
  return plain
    .replace(/\n$/, '')
    .split('\n')
    .reduce((lines, line) => lines + Math.max(1, Math.ceil(line.length / Math.max(1, width))), 0);
}

/** False if the pager could not be started. */
function writeToPager(io: IO, pager: string, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(pager, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env: io.env as NodeJS.ProcessEnv });
    child.on('error', () => resolve(false));
    child.on('close', (code) => resolve(!notStarted.has(code)));
    // The pager may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}
