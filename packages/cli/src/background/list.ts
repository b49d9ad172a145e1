/** `plat list`: the servers that `plat up` started. */
import { jsonText } from '@plat-dev/lib/json-text';
import { command } from '../command.ts';
import { noArguments } from '../config/files.ts';
import { BadRecord, Records, type ServerRecord } from './records.ts';
import { asJson, asTable, outputFlag } from './view.ts';

export const list = command({
  usage: '[flags]',
  summary: 'List the servers that plat up started.',
  flags: { Output: { output: outputFlag(['json', 'name'], 'Output format; a table by default.') } },
  more: `Examples:
  plat list
  plat list -o name
  plat list -o json | jq -r '.[].address'
`,
  async run({ options, args }, io) {
    noArguments(args);
    const records = new Records(io);
    const running: ServerRecord[] = [];
    let bad = 0;
    for (const name of await records.names()) {
      try {
        const record = await records.read(name);
        if (record !== undefined) running.push(record);
      } catch (error) {
        if (!(error instanceof BadRecord)) throw error;
        io.err(`plat: ${error.message}\n`);
        bad++;
      }
    }
    if (options.output === 'json')
      io.out(
        `${jsonText(
          running.map((record) => asJson(records, record)),
          2,
        )}\n`,
      );
    else if (options.output === 'name') io.out(running.map(({ name }) => `${name}\n`).join(''));
    else if (running.length === 0) io.err(bad > 0 ? '' : 'plat: no servers; `plat up` starts one\n');
    else io.out(asTable(running));
    return bad > 0 ? 1 : 0;
  },
});
