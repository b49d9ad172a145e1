/** `plat history`: the versions of an object or of a kind, and who made them. */
import { bool, choice, FlagError, type FlagValues, int, text } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { timeMillis } from '@plat-dev/lib/time';
import { humanDuration } from '@plat-dev/meta/age';
import type { JsonValue } from '@plat-dev/schema/types';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { targetsOf } from '../get/arguments.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { paintFor } from '../output/colours.ts';
import { page } from '../output/pager.ts';
import { TablePrinter } from '../output/print-table.ts';
import { typeName, type Work, withServer } from '../work.ts';
import { readTime } from './moments.ts';
import { noChangesText } from './no-changes.ts';
import { type Change, changesOf, changeWords, type HistoryPlace, isOfStatus } from './versions.ts';

/** Filters of all commands that show changes. */
export const changeFlags = {
  since: text('', 'Only changes since this time: 10m (ago), 10:32 or 2026-05-01T10:00:00Z.', { value: 'TIME' }),
  by: text('', 'Only changes of this user.', { value: 'USER' }),
  manager: text('', 'Only changes by this field manager.', { value: 'NAME' }),
  status: bool(false, 'Show changes of the status, too.'),
};

const historyFlags = {
  Selecting: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'Show changes in all namespaces.', { short: 'A' }),
    ...changeFlags,
    limit: int(100, 'Show at most so many changes, the newest; 0: all.'),
  },
  Printing: {
    output: choice('table', ['table', 'wide', 'json', 'yaml'], 'Output format.', { short: 'o' }),
    'no-headers': bool(false, 'Do not print the headers of the table.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof historyFlags>;

export const history = command({
  usage: 'TYPE/NAME | TYPE [NAME] [flags]',
  summary: 'Show the changes of objects: what, when, and who made them.',
  flags: historyFlags,
  more: `
The newest change comes first. Changes of the status are left out, as controllers make them all the time. Of a type the changes of all
its objects are shown, deleted ones included. Needs the verb history beside get or list. How long changes are kept is a setting of the
server.

Examples:
  plat history deployment/web
  plat history deployment/web --since 1h --by alice -o wide
  plat history configmaps -n team
  plat diff deployment/web --from 1234 --to now
  plat undo deployment/web
`,
  async run({ options, args }, io) {
    const targets = targetsOf(args, 'plat history deployment/web, plat history configmaps');
    if (options.allNamespaces && targets.some(({ names }) => names.length > 0))
      throw new FlagError('a resource cannot be retrieved by name across all namespaces: choose one with -n');
    const since = readTime('since', options.since, io.clock.now());
    return withServer(options, io, async (work) => {
      const places: HistoryPlace[] = [];
      for (const { type, names } of targets) {
        for (const resource of await work.discovery.findAll(type)) {
          const namespace = resource.namespaced && !options.allNamespaces ? work.namespace : undefined;
          if (names.length === 0) places.push({ resource, namespace });
          for (const name of names) places.push({ resource, namespace, name });
        }
      }
      const { by: user, manager, limit } = options;
      const filter = { since, user, manager, ...(limit > 0 && { pageSize: Math.min(limit, 250) }) };
      const isWanted = ({ version }: Change): boolean => options.status || !isOfStatus(version);
      const found = await changesOf(work, places, filter, limit, isWanted);
      warnOfRefused(work, found.refused);
      if (found.changes.length === 0 && options.output !== 'json' && options.output !== 'yaml')
        io.err(`${await noChangesText(work, user, places, { since, manager }, isWanted)}\n`);
      else await show(work, options, found.changes, places);
      if (found.isCut && options.output !== 'json' && options.output !== 'yaml')
        io.err('note: there are older changes; --limit 0 shows all\n');
      return found.refused.length > 0 ? 1 : 0;
    });
  },
});

/** Errors of kinds that were left out. */
export function warnOfRefused({ io }: Work, refused: readonly Error[]): void {
  for (const error of refused.slice(0, 3)) io.err(`Warning: ${error.message}\n`);
  if (refused.length > 3) io.err(`Warning: the same for ${refused.length - 3} more kinds\n`);
}

async function show({ io }: Work, options: Options, changes: readonly Change[], places: readonly HistoryPlace[]): Promise<void> {
  const { output } = options;
  if (output === 'json' || output === 'yaml') return io.out(await documentText(changes, output));
  const isNamed = places.length === 1 && places[0]?.name !== undefined;
  const severalKinds = new Set(places.map(({ resource }) => typeName(resource))).size > 1;
  await page(io, table(io, options, changes, { isNamed, severalKinds }));
}

async function documentText(changes: readonly Change[], form: 'json' | 'yaml'): Promise<string> {
  const items = changes.map(({ resource: { group, kind }, version }) => ({ group, kind, ...version }));
  const document = { kind: 'List', apiVersion: 'v1', metadata: {}, items };
  if (form === 'json') return `${jsonText(document, 4)}\n`;
  return (await import('@plat-dev/schema/yaml')).stringifyYaml(document as unknown as JsonValue);
}

const columnsOf = (isNamed: boolean) => [
  { name: 'Version' },
  ...(isNamed ? [] : [{ name: 'Name' }]),
  { name: 'Time', priority: 1 },
  { name: 'Age' },
  { name: 'User' },
  { name: 'Manager' },
  { name: 'Verb' },
  { name: 'User Agent', priority: 1 },
  { name: 'Audit ID', priority: 1 },
  { name: 'Change' },
];

function table(
  io: IO,
  { output, noHeaders, allNamespaces }: Options,
  changes: readonly Change[],
  { isNamed, severalKinds }: { readonly isNamed: boolean; readonly severalKinds: boolean },
): string {
  const printer = new TablePrinter({ wide: output === 'wide', headers: !noHeaders, namespaces: allNamespaces, paint: paintFor(io) });
  const rows = changes.map(({ resource, version }) => {
    const { resourceVersion, name, namespace = '', time, user = '', impersonator, fieldManager = '', verb = '', subresource } = version;
    const cells = [
      resourceVersion,
      ...(isNamed ? [] : [severalKinds ? `${typeName(resource)}/${name}` : name]),
      time ?? '',
      time === undefined ? '<unknown>' : humanDuration(io.clock.now() - timeMillis(time)),
      impersonator === undefined ? user : `${user} (by ${impersonator})`,
      fieldManager,
      subresource === undefined ? verb : `${verb} ${subresource}`,
      version.userAgent ?? '',
      version.auditID ?? '',
      changeWords(version),
    ];
    return { cells, object: { metadata: { namespace } } };
  });
  return printer.print(columnsOf(isNamed), rows);
}
