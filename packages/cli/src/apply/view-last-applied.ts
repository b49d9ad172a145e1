/** `plat apply view-last-applied`: what a client-side apply keeps in its annotation. */

import { bool, choice, text } from '@plat-dev/lib/flags';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { fileFlags, namespaceFlag } from '../objects/object-flags.ts';
import { checkTargets, findTargets } from '../objects/targets.ts';
import { goJson } from '../output/go-json.ts';
import { isStock } from '../program.ts';
import { withServer } from '../work.ts';
import { lastAppliedOf } from './last-applied.ts';

export const viewLastApplied = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | -f FILE | -k DIR [flags]',
  summary: 'Show what was applied by a client-side apply: plat apply view-last-applied deployment/web',
  flags: {
    Objects: {
      ...fileFlags,
      namespace: namespaceFlag,
      selector: text('', 'Label selector: app=web,tier!=test.', { short: 'l', value: 'QUERY' }),
      all: bool(false, 'All objects of the type in the namespace.'),
    },
    Printing: { output: choice('yaml', ['yaml', 'json'], 'Format of the output.', { short: 'o' }) },
    Connecting: connectFlags,
  },
  more: `
Examples:
  plat apply view-last-applied deployment/web
  plat apply view-last-applied -f web.yaml -o json
  plat apply view-last-applied deployments --all
`,
  async run({ options, args }, io) {
    checkTargets('apply view-last-applied', args, options);
    return withServer(options, io, async (work) => {
      const configurations = [];
      const targets = await findTargets(work, args, { ...options, asList: false });
      // The stock client shows all or none.
      if (work.hasLeftOut && isStock(io)) return 1;
      for (const ref of targets) {
        const applied = lastAppliedOf(await work.getNamed(ref));
        if (applied === undefined) throw new Error(`no last-applied-configuration annotation found on resource: ${ref.name}`);
        configurations.push(applied);
      }
      for (const applied of configurations) io.out(options.output === 'json' ? `${goJson(applied, 2)}\n` : stringifyYaml(applied));
      return 0;
    });
  },
});
