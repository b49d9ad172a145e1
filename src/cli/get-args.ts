/** The command line of `plat get`: which objects, and in which form. */
import { bool, FlagError, type FlagValues, flag, text } from '../lib/flags.ts';
import { connectFlags } from './connect.ts';
import { formNames, readForm } from './print-forms.ts';

const selecting = {
  namespace: flag<string | undefined>(undefined, 'Namespace to look in.', 'NAME', (t) => t, {
    short: 'n',
    defaultText: 'that of the context',
  }),
  'all-namespaces': bool(false, 'Look in all namespaces.', { short: 'A' }),
  selector: text('', 'Label selector: app=web,tier!=test.', { short: 'l', value: 'QUERY' }),
  'field-selector': text('', 'Field selector: metadata.name=web.', { value: 'QUERY' }),
  watch: bool(false, 'Watch for changes after listing.', { short: 'w' }),
};
const printing = {
  output: flag('table', 'Output format.', formNames, readForm, { short: 'o' }),
  'no-headers': bool(false, 'Do not print the headers of tables and columns.'),
  'show-labels': bool(false, 'Show labels as the last column.'),
  'show-managed-fields': bool(false, 'Keep managedFields in YAML and JSON.'),
  raw: text('', 'Request this path and print the raw answer, such as /readyz?verbose.', { value: 'PATH' }),
};
export const getFlags = { Selecting: selecting, Printing: printing, Connecting: connectFlags };
export type GetOptions = FlagValues<typeof getFlags>;

/** A resource type or category and object names; no names means the whole collection. */
export interface Target {
  readonly type: string;
  readonly names: readonly string[];
}

/** The targets of a command line. Throws FlagError for arguments that exclude each other. */
export function readTargets(options: GetOptions, args: readonly string[]): readonly Target[] {
  if (options.raw !== '') {
    if (args.length > 0) throw new FlagError('--raw takes no resources');
    if (!options.raw.startsWith('/')) throw new FlagError('--raw needs a path that begins with a slash');
    return [];
  }
  const targets = targetsOf(args, 'plat get namespaces, plat get pods -n default, plat get deployment/web -o yaml');
  if (options.allNamespaces && targets.some((t) => t.names.length > 0))
    throw new FlagError('an object cannot be named in all namespaces: choose one with -n');
  if (options.selector !== '' && targets.some((t) => t.names.length > 0)) throw new FlagError('a name and --selector exclude each other');
  if (options.watch && (targets.length !== 1 || (targets[0]?.names.length ?? 0) > 1))
    throw new FlagError('only one collection or object can be watched');
  return targets;
}

/** `pods`, `pods a b`, `pods,services`, `pod/a service/b` */
export function targetsOf(args: readonly string[], examples: string): Target[] {
  const [first, ...names] = args;
  if (first === undefined) throw new FlagError(`which objects? For example: ${examples}`);
  if (args.some((w) => w.includes('/'))) {
    return args.map((word) => {
      const [type, name, more] = word.split('/');
      if (!type || !name || more !== undefined) throw new FlagError(`${JSON.stringify(word)} is not of the form type/name`);
      return { type, names: [name] };
    });
  }
  const types = first.split(',').filter((t) => t !== '');
  return types.map((type) => ({ type, names }));
}
