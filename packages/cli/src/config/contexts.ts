/** `plat config`: contexts, and which of them is current. */
import { ConfigError } from '@plat-dev/client/config';
import { editConfig } from '@plat-dev/client/config-file';
import { bool, choice, FlagError, flag } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { printable } from '../output/print-table.ts';
import { tabbed } from '../output/tabbed-columns.ts';
import { isStock } from '../program.ts';
import { ConfigFiles, fileFlag, noArguments, oneArgument } from './files.ts';

const name = (help: string) => flag<string | undefined>(undefined, help, 'NAME', (t) => t);

/** Columns with three blanks between. */
export const columns = (lines: readonly (readonly string[])[]): string => tabbed(lines, { least: 6, padding: 3 });

const listTable = {
  Showing: {
    output: choice('', ['', 'name'], 'Print names alone instead of a table.', { short: 'o', value: 'name' }),
    'no-headers': bool(false, 'Do not print headers.'),
  },
  File: fileFlag,
};
export const getContexts = command({
  usage: '[NAME…] [flags]',
  summary: 'List contexts; a star marks the current one.',
  flags: listTable,
  more: `
Examples:
  plat config get-contexts
  plat config get-contexts dev prod
  plat config get-contexts -o name
`,
  async run({ options, args }, io) {
    const files = await ConfigFiles.read(options.kubeconfig, io);
    const contextNames = args.length > 0 ? args : files.names('contexts');
    const missing = isStock(io) ? contextNames.filter((one) => files.body('contexts', one) === undefined) : [];
    const existingNames = missing.length === 0 ? contextNames : contextNames.filter((one) => !missing.includes(one));
    const rows = (isStock(io) ? existingNames.toSorted() : existingNames).map((one) => {
      const { cluster = '', user = '', namespace = '' } = files.need('contexts', one) as Record<string, string>;
      return [one === files.currentContext ? '*' : '', one, cluster, user, namespace].map((cell) => printable(String(cell)));
    });
    if (options.output === 'name') io.out(rows.map((row) => `${row[1]}\n`).join(''));
    else io.out(columns([...(options.noHeaders ? [] : [['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE']]), ...rows]));
    for (const one of missing) io.err(`${missing.length === 1 ? 'error: ' : ''}context ${printable(one)} not found\n`);
    return missing.length === 0 ? 0 : 1;
  },
});

const plain = { File: fileFlag };
export const currentContext = command({
  usage: '[flags]',
  summary: 'Show the name of the current context; exit code 1 if there is none.',
  flags: plain,
  more: `
Examples:
  plat config current-context
  plat config current-context --kubeconfig other.conf
  plat get pods --context "$(plat config current-context)"
`,
  async run({ options, args }, io) {
    if (!isStock(io)) noArguments(args);
    const current = (await ConfigFiles.read(options.kubeconfig, io)).currentContext;
    if (current === '')
      throw new Error(isStock(io) ? 'current-context is not set' : 'there is no current context: set one with `plat config use-context`');
    io.out(`${current}\n`);
    return 0;
  },
});
export const useContext = command({
  usage: 'NAME [flags]',
  summary: 'Set the current context.',
  flags: plain,
  more: `
Examples:
  plat config use-context dev
  plat config use dev
  plat config use-context dev --kubeconfig other.conf
`,
  async run({ options, args }, io) {
    const files = await ConfigFiles.read(options.kubeconfig, io);
    const contextName = oneArgument(args, 'context', 'config use-context dev');
    files.need('contexts', contextName, `no context exists with the name: ${JSON.stringify(contextName)}`);
    await files.setCurrent(contextName);
    io.out(`Switched to context ${JSON.stringify(contextName)}.\n`);
    return 0;
  },
});

const setTable = {
  Context: {
    current: bool(false, 'Change the current context.'),
    cluster: name('Cluster of the context.'),
    user: name('User of the context.'),
    namespace: flag<string | undefined>(undefined, 'Namespace of the context.', 'NAME', (t) => t, { short: 'n' }),
  },
  File: fileFlag,
};
export const setContext = command({
  usage: 'NAME|--current [flags]',
  summary: 'Create or update a context.',
  flags: setTable,
  more: `
Examples:
  plat config set-context --current --namespace=team
  plat config set-context dev --cluster=dev --user=me
  plat config set-context dev --namespace=""
`,
  async run({ options, args }, io) {
    const files = await ConfigFiles.read(options.kubeconfig, io);
    if (options.current && args.length > 0) throw new FlagError('a name and --current exclude each other');
    const contextName = options.current
      ? files.currentContext
      : oneArgument(args, 'context', 'config set-context dev --cluster a --user b');
    if (contextName === '') throw new ConfigError('there is no current context: name one');
    const isExisting = files.body('contexts', contextName) !== undefined;
    await files.edit('contexts', contextName, (body) => {
      const { cluster, user, namespace } = options;
      const settings = Object.entries({ cluster, user, namespace }).filter(([, value]) => value !== undefined);
      const changed = { cluster: '', user: '', ...body, ...Object.fromEntries(settings) };
      return Object.fromEntries(Object.entries(changed).filter(([key, value]) => key !== 'namespace' || value !== ''));
    });
    io.out(`Context ${JSON.stringify(contextName)} ${isExisting ? 'modified' : 'created'}.\n`);
    return 0;
  },
});

export const renameContext = command({
  usage: 'NAME NEW-NAME [flags]',
  summary: 'Rename a context.',
  flags: plain,
  more: `
Examples:
  plat config rename-context old new
  plat config rename-context a b --kubeconfig other.conf
  plat config rename-context "$(plat config current-context)" dev
`,
  async run({ options, args }, io) {
    const [from, to, more] = args;
    if (!from || !to || more !== undefined)
      throw new FlagError('which context, and what name? For example: plat config rename-context old new');
    const files = await ConfigFiles.read(options.kubeconfig, io);
    const path = files.fileOf('contexts', from);
    files.need('contexts', from, `cannot rename the context ${JSON.stringify(from)}, it's not in ${path}`);
    if (files.body('contexts', to) !== undefined) {
      const stockText = `cannot rename the context ${JSON.stringify(from)}, the context ${JSON.stringify(to)} already exists in ${path}`;
      throw new ConfigError(isStock(io) ? stockText : `there is a context ${JSON.stringify(to)} already`);
    }
    const { currentContext: current } = files;
    await editConfig(path, io.clock, (config) => {
      const entry = config.contexts?.find((one) => one.name === from);
      if (entry === undefined) throw new ConfigError(`the context ${JSON.stringify(from)} is gone`);
      entry.name = to;
      if (config['current-context'] === from) config['current-context'] = to;
    });
    if (current === from) await (await ConfigFiles.read(options.kubeconfig, io)).setCurrent(to);
    io.out(`Context ${JSON.stringify(from)} renamed to ${JSON.stringify(to)}.\n`);
    return 0;
  },
});
