/** A command that is only the head of others: `plat config view`. */
import { FlagError } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import type { Command, CommandEntry, IO } from './command.ts';
import { asCalled, isStock } from './program.ts';
import { shownHelp } from './terminal/help-text.ts';

/** Names and summaries, one below the other. */
export function commandLines(table: readonly Pick<CommandEntry, 'name' | 'summary'>[]): string {
  const widest = Math.max(...table.map((c) => c.name.length));
  return table.map((c) => `  ${c.name.padEnd(widest)}   ${c.summary}`).join('\n');
}

/** Examples of a command, as its help shows them. */
export const exampleLines = (examples: readonly string[]): string => `Examples:\n${examples.map((line) => `  ${line}`).join('\n')}\n`;

/** Without a command the stock client fails, but for these. */
const stockSucceeds: ReadonlySet<string> = new Set(['alpha', 'certificate']);

/** `examples`: at least three command lines. */
export function commandGroup(name: string, summary: string, commands: readonly CommandEntry[], examples: readonly string[]): Command {
  const help = (): string =>
    `Commands:\n${commandLines(commands)}\n\n${exampleLines(examples)}\n\`plat help ${name} COMMAND\` shows the flags of each.\n`;
  return {
    usage: 'COMMAND [flags]',
    summary,
    flags: {},
    commands,
    help,
    async run(args: readonly string[], io: IO) {
      const [word] = args;
      if (word !== undefined && word !== 'help') {
        const names = commands.map((c) => c.name);
        throw new FlagError(asCalled(`unknown command "${name} ${word}"${didYouMean(word, names)}; \`plat help ${name}\` lists them`, io));
      }
      const text = shownHelp(`plat ${name} COMMAND [flags]\n\n${summary}\n\n${help()}`, io);
      const failed = word === undefined && isStock(io) && !stockSucceeds.has(name);
      if (failed) io.err(text);
      else io.out(text);
      return failed ? 1 : 0;
    },
  };
}
