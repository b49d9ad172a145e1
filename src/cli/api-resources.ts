/** `plat api-resources`: lists the resources of the server. */
import type { ApiResource } from '../client/discovery.ts';
import { bool, choice, FlagError, type FlagValues, flag, list, optionalBool } from '../lib/flags.ts';
import { apiVersionOf } from '../meta/api-version.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { TablePrinter } from './print-table.ts';
import { type Work, withServer } from './work.ts';

const flags = {
  Selecting: {
    'api-group': flag<string | undefined>(undefined, 'List resources of this group; "" is the core group.', 'GROUP', (t) => t),
    namespaced: optionalBool('List namespaced resources, or with =false cluster-scoped ones.'),
    verbs: list([], 'List resources that support all of these verbs: list,get.', { value: 'VERB,…' }),
    categories: list([], 'List resources in one of these categories: all.', { value: 'CATEGORY,…' }),
  },
  Printing: {
    output: choice('table', ['table', 'wide', 'name'], 'Output format; wide adds verbs and categories.', { short: 'o' }),
    'sort-by': choice('group', ['group', 'name', 'kind'], 'Sort order: order of groups, by name, or by kind.'),
    'no-headers': bool(false, 'Do not print headers.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof flags>;

export const apiResources = command({
  usage: '[flags]',
  summary: 'List the resources of the server: plat api-resources, plat api-resources --namespaced --verbs=list -o name',
  flags: flags,
  more: `
Exit codes:
  0   all resources are listed
  1   discovery of some groups failed; the others are listed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`api-resources takes no arguments, but got ${JSON.stringify(args[0])}`);
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
  for (const [version, why] of work.discovery.unanswered) work.io.err(`plat: ${version} failed: ${why}\n`);
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
