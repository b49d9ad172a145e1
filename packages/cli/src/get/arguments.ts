/** The command line of `plat get`: which objects, and in which form. */
import { bool, FlagError, type FlagValues, flag, int, list, text } from '@plat-dev/lib/flags';
import { connectFlags } from '../connect.ts';
import { namesManifests } from '../objects/manifests.ts';
import { fileFlags, namespaceFlag, templateFlags } from '../objects/object-flags.ts';
import { choosesForm, formNames, readForm } from '../output/print-forms.ts';

const selecting = {
  namespace: namespaceFlag,
  'all-namespaces': bool(false, 'Look in all namespaces.', { short: 'A' }),
  selector: text('', 'Label selector: app=web,tier!=test.', { short: 'l', value: 'QUERY' }),
  'field-selector': text('', 'Field selector: metadata.name=web.', { value: 'QUERY' }),
  ...fileFlags,
  'ignore-not-found': bool(false, 'Treat objects that do not exist as no error; print nothing if there are none.'),
  subresource: text('', 'Get this subresource of the named objects: status or scale.', { value: 'NAME' }),
  'chunk-size': int(500, 'Objects of one request; large collections take several. 0: all at once.'),
  watch: bool(false, 'Watch for changes after listing. On a terminal the table is kept up to date.', { short: 'w' }),
  'watch-only': bool(false, 'Watch for changes without listing first.'),
  at: text('', 'Show objects as they were: a version, 10m (ago), 10:32 or 2026-05-01T10:00:00Z.', { value: 'TIME|VERSION' }),
};
const printing = {
  output: flag('', 'Output format.', formNames, readForm, { short: 'o', defaultText: 'a table' }),
  ...templateFlags,
  'no-headers': bool(false, 'Do not print the headers of tables and columns.'),
  'show-kind': bool(false, 'Show the type before each name: pod/web.'),
  'show-labels': bool(false, 'Show labels as the last column.'),
  'label-columns': list([], 'Labels with a column each.', { short: 'L', value: 'KEY,…' }),
  'sort-by': text('', 'Sort by the values of this path: .metadata.creationTimestamp.', { value: 'PATH' }),
  'output-watch-events': bool(false, 'Show the type of each change: ADDED, MODIFIED, DELETED.'),
  'server-print': bool(true, 'Let the server make the tables; false: show names and ages.'),
  'use-openapi-print-columns': bool(false, 'the server makes the columns. It shows names and ages.', { stage: 'deprecated' }),
  raw: text('', 'Request this path and print the raw answer, such as /readyz?verbose.', { value: 'PATH' }),
};
export const getFlags = { Selecting: selecting, Printing: printing, Connecting: connectFlags };
export type GetOptions = FlagValues<typeof getFlags>;

/** A resource type or category and object names; no names means the whole collection. */
export interface Target {
  readonly type: string;
  readonly names: readonly string[];
}

const subresources = ['status', 'scale'];

/** The targets of a command line; none if files name them. Throws FlagError for arguments that exclude each other. */
export function readTargets(options: GetOptions, args: readonly string[]): readonly Target[] {
  if (options.raw !== '') return checkRaw(options, args);
  checkForms(options);
  if (options.subresource !== '' && !subresources.includes(options.subresource))
    throw new FlagError(`--subresource ${options.subresource}: it must be one of ${subresources.join(', ')}`);
  if (namesManifests(options)) {
    if (args.length > 0) throw new FlagError(`-f and ${JSON.stringify(args[0])} exclude each other: the files name the objects`);
    if (options.selector !== '' || options.fieldSelector !== '' || options.allNamespaces)
      throw new FlagError('-f and a selector or -A exclude each other: the files name the objects');
    return [];
  }
  const targets = targetsOf(args, 'plat get namespaces, plat get pods -n default, plat get deployment/web -o yaml');
  const hasNames = targets.some((t) => t.names.length > 0);
  if (options.allNamespaces && hasNames)
    throw new FlagError('a resource cannot be retrieved by name across all namespaces: choose one with -n');
  if ((options.selector !== '' || options.fieldSelector !== '') && hasNames)
    throw new FlagError('a name and --selector or --field-selector exclude each other');
  if (options.subresource !== '' && targets.some((t) => t.names.length === 0))
    throw new FlagError('--subresource needs the names of objects: subresources cannot be used when bulk resources are specified');
  return targets;
}
function checkRaw(options: GetOptions, args: readonly string[]): readonly Target[] {
  if (args.length > 0) throw new FlagError('arguments may not be passed when --raw is specified');
  if (options.watch || options.watchOnly || options.selector !== '')
    throw new FlagError('--raw may not be specified with other flags that filter the server request or alter the output');
  if (options.output !== '') throw new FlagError('--raw and --output are mutually exclusive');
  if (!options.raw.startsWith('/')) throw new FlagError('--raw needs a path that begins with a slash');
  return [];
}
function checkForms(options: GetOptions): void {
  if (options.showLabels && choosesForm(options))
    throw new FlagError(`--show-labels option cannot be used with ${options.output.split('=')[0]} printer`);
  if (options.outputWatchEvents && !options.watch && !options.watchOnly)
    throw new FlagError('--output-watch-events option can only be used with --watch or --watch-only');
  if (options.at !== '' && (options.watch || options.watchOnly || options.subresource !== ''))
    throw new FlagError('--at excludes --watch, --watch-only and --subresource: the past does not change, and has whole objects only');
}

const noObjects = 'error: You must provide one or more resources by argument or filename.';
/** `pods`, `pods a b`, `pods,services`, `pod/a service/b` */
export function targetsOf(args: readonly string[], examples: string): Target[] {
  const [first, ...names] = args;
  if (first === undefined) {
    throw new FlagError(
      `which objects? For example: ${examples}`,
      examples.startsWith('plat get') ? 'error: Required resource not specified.' : noObjects,
    );
  }
  if (args.some((w) => w.includes('/'))) {
    return args.map((word) => {
      const [type, name, more] = word.split('/');
      if (!type || !name || more !== undefined) throw new FlagError(`${JSON.stringify(word)} is not of the form type/name`);
      return { type, names: [name] };
    });
  }
  const types = first.split(',').filter((t) => t !== '');
  if (types.length === 0) throw new FlagError('the type is empty', 'error: the server doesn\'t have a resource type ""');
  if (names.includes('')) throw new FlagError('a name is empty', 'error: resource name may not be empty');
  return types.map((type) => ({ type, names }));
}

/** The one object of a command such as `plat tree`: `deployment/web` or `deployment web`. */
export function oneTarget(command: string, args: readonly string[]): { readonly type: string; readonly name: string } {
  const [target, more] = targetsOf(args, `plat ${command} deployment/web, plat ${command} service web`);
  const [name, another] = target?.names ?? [];
  if (target === undefined || name === undefined)
    throw new FlagError(`which ${target?.type}? For example: plat ${command} ${target?.type}/web`);
  if (more !== undefined || another !== undefined) throw new FlagError(`${command} takes one object`);
  return { type: target.type, name };
}
