/** `plat down`: ends servers that `plat up` started. */
import { type Clock, systemClock } from '../../lib/clock.ts';
import { bool, FlagError } from '../../lib/flags.ts';
import { type Command, command, type IO } from '../command.ts';
import { removeEntry } from './entry.ts';
import { stopProcess } from './process.ts';
import { checkName, Records } from './records.ts';

const flags = {
  Servers: {
    all: bool(false, 'All servers of `plat list`.'),
    keep: bool(false, 'Keep the directory: `plat up NAME` starts the server again with its data and flags.'),
  },
};

export const downCommand = (clock: Clock): Command =>
  command({
    usage: 'NAME… | --all [flags]',
    summary: 'Stop servers that plat up started, and remove them.',
    flags,
    async run({ options, args }, io) {
      const records = new Records(io);
      if (options.all === args.length > 0) throw new FlagError('name servers, or give --all; `plat list` shows them');
      const names = options.all ? await records.names() : [...new Set(args)].map(checkName);
      let code = 0;
      for (const name of names) if (!(await end(name, options.keep, records, clock, io))) code = 1;
      return code;
    },
  });

async function end(name: string, keep: boolean, records: Records, clock: Clock, io: IO): Promise<boolean> {
  return records.claim(name, async () => {
    const record = await records.read(name);
    if (record === undefined) {
      io.err(`plat: there is no server ${name}; \`plat list\` shows those that there are\n`);
      return false;
    }
    if (record.process !== undefined) await stopProcess(record.process, clock);
    await removeEntry(record, clock);
    const { process: _, ...stopped } = record;
    if (keep) await records.write(stopped);
    else await records.remove(name);
    io.out(`${name} ${keep ? 'stopped' : 'removed'}\n`);
    return true;
  });
}

export const down: Command = downCommand(systemClock);
