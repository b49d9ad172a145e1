/** `plat api-resources`: what the server serves. */

import type { ApiResource } from '../client/discovery.ts';
import { bool, choice, FlagError, type FlagValues, flag, list, optionalBool } from '../lib/flags.ts';
import { apiVersionOf } from '../meta/api-version.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { TablePrinter } from './print-table.ts';
import { type Work, withServer } from './work.ts';

const flags = {
  Selecting: {
    'api-group': flag<string | undefined>(undefined, 'Only those of this group; "" is the core group.', 'GROUP', (t) => t),
    namespaced: optionalBool('Only those whose objects are in namespaces, or with =false those whose are not.'),
    verbs: list([], 'Only those with all of these verbs: list,get.', { value: 'VERB,…' }),
    categories: list([], 'Only those in one of these categories: all.', { value: 'CATEGORY,…' }),
  },
  Printing: {
    output: choice('table', ['table', 'wide', 'name'], 'Form of the output; wide has verbs and categories.', { short: 'o' }),
    'sort-by': choice('group', ['group', 'name', 'kind'], 'Order: by group as the server has it, by name or by kind.'),
    'no-headers': bool(false, 'Leave the headers out.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof flags>;

export const apiResources = command({
  usage: '[flags]',
  summary: 'Show what the server serves: plat api-resources, plat api-resources --namespaced --verbs=list -o name',
  flags: flags,
  more: `
Exit codes:
  0   everything is shown
  1   some groups did not answer; the others are shown
  2   the command line is wrong
`,
  async run({ options, words }, io) {
    if (words.length > 0) throw new FlagError(`api-resources takes no words, but was given ${JSON.stringify(words[0])}`);
    return withServer(options, io, (work) => show(work, options));
  },
});

async function show(work: Work, options: Options): Promise<number> {
  const found = (await work.discovery.all()).filter((resource) => isWanted(resource, options));
  const { sortBy, output } = options;
  const key = (r: ApiResource): string => (sortBy === 'kind' ? r.kind : r.name);
  const sorted = sortBy === 'group' ? found : [...found].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
  if (output === 'name') for (const { name, group } of sorted) work.io.out(`${group === '' ? name : `${name}.${group}`}\n`);
  else if (sorted.length > 0) work.io.out(tableOf(sorted, options));
  if (sorted.length === 0) work.io.err('No resources found\n');
  for (const [version, why] of work.discovery.unanswered) work.io.err(`plat: ${version} does not answer: ${why}\n`);
  return work.discovery.unanswered.size > 0 ? 1 : 0;
}

function isWanted(resource: ApiResource, { apiGroup, namespaced, verbs, categories }: Options): boolean {
  return (
    (apiGroup === undefined || resource.group === apiGroup) &&
    (namespaced === undefined || resource.namespaced === namespaced) &&
    verbs.every((verb) => resource.verbs.includes(verb)) &&
    (categories.length === 0 || categories.some((category) => resource.categories.includes(category)))
  );
}

function tableOf(resources: readonly ApiResource[], { output, noHeaders }: Options): string {
  const printer = new TablePrinter({ wide: output === 'wide', headers: !noHeaders, namespaces: false, labels: false, prefix: '' });
  const columns = ['Name', 'ShortNames', 'APIVersion', 'Namespaced', 'Kind'].map((name) => ({ name }));
  const more = ['Verbs', 'Categories'].map((name) => ({ name, priority: 1 }));
  const rows = resources.map((r) => ({
    cells: [r.name, r.shortNames.join(','), apiVersionOf(r), r.namespaced, r.kind, r.verbs.join(','), r.categories.join(',')],
  }));
  return printer.print([...columns, ...more], rows);
}
