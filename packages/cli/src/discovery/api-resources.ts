/** `plat api-resources`: lists the resources of the server. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { bool, FlagError, type FlagValues, flag, list, optionalBool, readChoice } from '@plat-dev/lib/flags';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../global-flags.ts';
import { TablePrinter } from '../output/print-table.ts';
import { errorLine, isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';

const flags = {
  Selecting: {
    'api-group': flag<string | undefined>(undefined, 'List resources of this group; "" is the core group.', 'GROUP', (t) => t),
    namespaced: optionalBool('List namespaced resources, or with =false cluster-scoped ones.'),
    verbs: list([], 'List resources that support all of these verbs: list,get.', { value: 'VERB,…' }),
    categories: list([], 'List resources in one of these categories: all.', { value: 'CATEGORY,…' }),
    cached: bool(false, 'Use what earlier commands learned, if it is not older than six hours.'),
  },
  Printing: {
    output: flag<'' | 'wide' | 'name'>(
      '',
      'Output format; wide adds verbs and categories.',
      'wide|name',
      (t) => readChoice(t, ['wide', 'name']),
      {
        short: 'o',
      },
    ),
    'sort-by': flag<'' | 'name' | 'kind'>('', 'Sort by name or kind, else by group.', 'name|kind', (t) => readChoice(t, ['name', 'kind'])),
    'no-headers': bool(false, 'Do not print headers.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof flags>;

export const apiResources = command({
  usage: '[flags]',
  summary: 'List the resources of the server.',
  flags: flags,
  more: `
Examples:
  plat api-resources
  plat api-resources --namespaced --verbs=list -o name
  plat api-resources --api-group=apps -o wide

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
  if (!options.cached) work.discovery.refresh();
  const apiResources = (await work.discovery.all()).filter((resource) => isWanted(resource, options));
  const { sortBy, output } = options;
  const key = (r: ApiResource): string => (sortBy === 'kind' ? r.kind : sortBy === 'name' ? r.name : r.group);
  const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = apiResources.toSorted((a, b) => order(key(a), key(b)) || order(a.name, b.name));
  if (output === 'name') for (const { name, group } of sorted) work.io.out(`${group === '' ? name : `${name}.${group}`}\n`);
  else if (sorted.length > 0) work.io.out(tableOf(sorted, options, work.io));
  else if (isStock(work.io)) work.io.out(tableOf(sorted, options, work.io));
  else work.io.err('No resources found\n');
  for (const [version, why] of work.discovery.unanswered) work.io.err(errorLine(new Error(why), work.io, `${version} failed`));
  return work.discovery.unanswered.size > 0 ? 1 : 0;
}

function isWanted(resource: ApiResource, { apiGroup, namespaced, verbs, categories }: Options): boolean {
  return (
    (apiGroup === undefined || resource.group === apiGroup) &&
    (namespaced === undefined || resource.namespaced === namespaced) &&
    resource.verbs.length > 0 &&
    verbs.every((verb) => resource.verbs.includes(verb)) &&
    (categories.length === 0 || categories.some((category) => resource.categories.includes(category)))
  );
}

/** The stock client shows verbs as Go prints lists, and no categories. */
function tableOf(resources: readonly ApiResource[], { output, noHeaders }: Options, io: IO): string {
  // Headers also without resources.
  const verbatim = resources.length === 0;
  const printer = new TablePrinter({
    wide: output === 'wide',
    headers: !noHeaders,
    namespaces: false,
    labels: false,
    prefix: '',
    verbatim,
  });
  const columns = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND'].map((name) => ({ name }));
  const stock = isStock(io);
  const more = (stock ? ['VERBS'] : ['VERBS', 'CATEGORIES']).map((name) => ({ name, priority: 1 }));
  const rows = resources.map((r) => ({
    cells: [
      r.name,
      r.shortNames.join(','),
      apiVersionOf(r),
      r.namespaced,
      r.kind,
      ...(stock ? [`[${r.verbs.join(' ')}]`] : [r.verbs.join(','), r.categories.join(',')]),
    ],
  }));
  return printer.print([...columns, ...more], rows);
}
