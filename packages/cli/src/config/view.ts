/** `plat config view`: shows the merged configuration. */

import { readFile } from 'node:fs/promises';
import { ConfigError } from '@plat-dev/client/config';
import type { RawConfig, RawEntry } from '@plat-dev/client/config-file';
import { bool, FlagError, flag, text } from '@plat-dev/lib/flags';
import { own, setOwn } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { command } from '../command.ts';
import { templateFlags } from '../objects/object-flags.ts';
import { formPrinter, readResultForm, resultFormNames } from '../output/print-forms.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { isStock } from '../program.ts';
import { type Body, ConfigFiles, fieldOf, fileFlag, noArguments } from './files.ts';

const table = {
  Showing: {
    raw: bool(false, 'Show certificates, keys, tokens and passwords.'),
    flatten: bool(false, 'Embed the contents of referenced files, secrets included, to make the output portable.'),
    merge: bool(true, 'Merge all configuration files; false shows the file of --kubeconfig alone, as it is written.', {
      defaultText: 'true',
    }),
    minify: bool(false, 'Show only what the current context needs.'),
    context: text('', 'The context to use as the current one.', { value: 'NAME' }),
    output: flag<string>('yaml', 'Output format.', resultFormNames, readResultForm, { short: 'o' }),
    ...templateFlags,
  },
  File: fileFlag,
};
export const view = command({
  usage: '[flags]',
  summary: 'Show the configuration, without its secrets.',
  flags: table,
  more: `
Examples:
  plat config view
  plat config view --minify --flatten > portable.conf
  plat config view -o jsonpath='{.clusters[*].name}'
`,
  async run({ options, args }, io) {
    noArguments(args);
    const printer = formPrinter(options, io);
    if (!options.merge && options.kubeconfig === undefined) throw new FlagError('--merge=false needs the file: --kubeconfig FILE');
    const files = await ConfigFiles.read(options.kubeconfig, io);
    let config = options.merge ? files.merged() : files.unmerged();
    if (options.context !== '') config['current-context'] = options.context;
    if (options.minify) config = minified(config, isStock(io));
    if (options.flatten) await flatten(config);
    else if (!options.raw) redact(config);
    io.out(await printer.one({ item: config as ApiItem }));
    return 0;
  },
});

function minified(config: RawConfig, stock: boolean): RawConfig {
  const current = config['current-context'] ?? '';
  if (current === '') {
    const text = 'there is no current context: name one with --context, or set it with `plat config use-context`';
    throw new ConfigError(stock ? 'current-context must exist in order to minify' : text);
  }
  const contextNames = config.contexts?.map(({ name }) => name) ?? [];
  const context = config.contexts?.find(({ name }) => name === current);
  if (context === undefined) {
    const text = `there is no context ${JSON.stringify(current)}${didYouMean(current, contextNames)}`;
    throw new ConfigError(stock ? `cannot locate context ${current}` : text);
  }
  const { cluster, user } = context.context as { cluster?: string; user?: string };
  return {
    ...config,
    contexts: [context],
    clusters: config.clusters?.filter(({ name }) => name === cluster) ?? [],
    users: config.users?.filter(({ name }) => name === user) ?? [],
  };
}

const bodies = (entries: readonly RawEntry[] | undefined, field: string): Body[] =>
  entries?.map((entry) => own(entry, field) as Body) ?? [];

/** What stands in the place of each field that is not shown. */
const hidden: Readonly<Record<string, string>> = {
  'certificate-authority-data': 'DATA+OMITTED',
  'client-certificate-data': 'REDACTED',
  'client-key-data': 'REDACTED',
  password: 'REDACTED',
  token: 'REDACTED',
};
const secret = /secret|token|passw|key|credential/i;
function redact(config: RawConfig): void {
  for (const body of [...bodies(config.clusters, fieldOf.clusters), ...bodies(config.users, fieldOf.users)]) {
    for (const [field, text] of Object.entries(hidden)) if (own(body, field)) setOwn(body, field, text);
    if (body['auth-provider']) body['auth-provider'] = withoutSecrets(body['auth-provider'] as Body, 'config');
    if (body.exec) body.exec = withoutEnvironment(body.exec as Body);
  }
}
function withoutSecrets(provider: Body, field: string): Body {
  const settings = Object.entries((own(provider, field) ?? {}) as Body);
  return { ...provider, [field]: Object.fromEntries(settings.map(([key, value]) => [key, secret.test(key) ? 'REDACTED' : value])) };
}
function withoutEnvironment(exec: Body): Body {
  if (!Array.isArray(exec.env)) return exec;
  const env = exec.env as { name?: string; value?: string }[];
  return { ...exec, env: env.map((one) => (secret.test(one.name ?? '') ? { ...one, value: 'REDACTED' } : one)) };
}

async function flatten(config: RawConfig): Promise<void> {
  const users = bodies(config.users, fieldOf.users);
  for (const body of bodies(config.clusters, fieldOf.clusters)) await embed(body, 'certificate-authority');
  for (const body of users) {
    await embed(body, 'client-certificate');
    await embed(body, 'client-key');
  }
}
/** Replaces the path of a file by its content. */
export async function embed(body: Body, field: string): Promise<void> {
  const path = own(body, field);
  if (typeof path !== 'string' || path === '') return;
  try {
    body[`${field}-data`] = (await readFile(path)).toString('base64');
  } catch (error) {
    throw new ConfigError(`${field} ${path} cannot be read: ${(error as Error).message}`);
  }
  delete body[field];
}
