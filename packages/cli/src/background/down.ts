/** `plat down`: stops servers that `plat up` started. */
import { bool, FlagError } from '@plat-dev/lib/flags';
import { type Command, command, type IO } from '../command.ts';
import { removeEntry } from './entry.ts';
import { stopProcess } from './process.ts';
import { BadRecord, checkName, Records, type ServerRecord } from './records.ts';

const flags = {
  Servers: {
    all: bool(false, 'Stop all servers of `plat list`.'),
    keep: bool(false, 'Keep the directory: `plat up NAME` starts the server again with its data, flags and port.'),
  },
};

export const down: Command = command({
  usage: 'NAME… | --all [flags]',
  summary: 'Stop servers that plat up started, and remove them.',
  flags,
  more: `Examples:
  plat down dev
  plat down dev --keep                          \`plat up dev\` continues with its data
  plat down --all                               all servers of \`plat list\`
`,
  async run({ options, args }, io) {
    const records = new Records(io);
    if (options.all === args.length > 0) throw new FlagError('name servers, or give --all; `plat list` shows them');
    const names = options.all ? await records.names() : [...new Set(args)].map(checkName);
    let code = 0;
    for (const name of names) {
      try {
        await records.claim(name, () => end(name, options.keep, records, io));
      } catch (error) {
        // The others are stopped all the same.
        io.err(`plat: ${name}: ${(error as Error).message}\n`);
        code = 1;
      }
    }
    return code;
  },
});

async function end(name: string, keep: boolean, records: Records, io: IO): Promise<void> {
  const record = await readOrReport(name, keep, records, io);
  if (record?.process !== undefined) await stopProcess(record.process, io.clock);
  if (record !== undefined) await removeEntry(record, io.clock);
  if (keep && record !== undefined) await records.write({ ...record, process: undefined, moreKubeconfigs: [] });
  else await records.remove(name);
  io.out(`${name} ${keep ? 'stopped' : 'removed'}\n`);
}

/** Undefined if the record cannot be read: it is removed, too. */
async function readOrReport(name: string, keep: boolean, records: Records, io: IO): Promise<ServerRecord | undefined> {
  try {
    const record = await records.read(name);
    if (record === undefined) throw new Error('there is no such server; `plat list` lists the servers');
    return record;
  } catch (error) {
    if (keep || !(error instanceof BadRecord)) throw error;
    io.err(
      `plat: ${name}: cannot read its record: its process and its entry in the client configuration are unknown and were left alone\n`,
    );
    return undefined;
  }
}
