/** `plat set env`: sets, removes and lists environment variables of containers. */
import { bool, FlagError, list, repeated, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { command, type IO } from '../command.ts';
import { printBytes } from '../output/print-forms.ts';
import { parseTarget } from '../pods/select-pods.ts';
import { type Work, withServer } from '../work.ts';
import { containersFlag } from './containers-flag.ts';
import { changedVariables, checkNoOverwrite, type EnvChanges, readChanges, splitArguments, type Variable } from './env-changes.ts';
import { sourceText, ValueReader, type ValueSource } from './env-source.ts';
import { type Container, nameMatches, withContainers, withPodSpec } from './pod-spec.ts';
import { setFlags, update } from './update-objects.ts';

const flags = setFlags({
  containers: containersFlag,
  env: repeated<readonly string[]>([], 'A variable to set; may be repeated.', 'KEY=VALUE', (values) => values, { short: 'e' }),
  from: text('', 'Config map or secret whose keys become variables: configmap/web.', { value: 'TYPE/NAME' }),
  keys: list([], 'With --from: these keys alone.', { value: 'KEY,…' }),
  prefix: text('', 'Begin the names of the variables that are set with this.', { value: 'TEXT' }),
  overwrite: bool(true, 'Change variables that have another value.', { defaultText: 'true' }),
  list: bool(false, 'List the variables after the changes instead of storing them.'),
  resolve: bool(false, 'With --list: show the values of config maps and secrets.'),
});

export const env = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE --all | -f FILE  KEY=VALUE… KEY-… [flags]',
  summary: 'Set, remove or list environment variables of containers.',
  flags,
  more: `
Examples:
  plat set env deployment/web MODE=fast OLD-
  plat set env deployment/web --from=configmap/web --prefix=WEB_
  plat set env deployments --all --list

A - reads lines of KEY=VALUE from the standard input. An object that has these variables already is not reported.
`,
  async run(line, io) {
    const { args, changes: words } = splitArguments(line.args);
    const options = { ...line.options, readsStdin: words.includes('-') };
    if (options.list && options.output !== '') throw new FlagError('--list and --output exclude each other');
    if (options.keys.length > 0 && options.from === '') throw new FlagError('--keys needs --from');
    if (options.resolve && !options.list) throw new FlagError('--resolve needs --list');
    if (options.local && (options.from !== '' || options.resolve))
      throw new FlagError('--local excludes --from and --resolve: they need a server');
    if (words.includes('-') && options.filename.includes('-')) throw new FlagError('standard input cannot be used for multiple arguments');
    const envChanges = await readChanges([...options.env, ...words], io.stdin);
    if (envChanges.set.length + envChanges.remove.length === 0 && options.from === '' && !options.list) {
      throw new FlagError('which variables? KEY=value sets one, KEY- removes it, --list shows them');
    }
    const imported = options.from === '' ? [] : await withVariables(options, io);
    const prefixed = (variable: Variable): Variable => ({ ...variable, name: `${options.prefix}${variable.name}` });
    const changes = { set: [...envChanges.set, ...imported].map(prefixed), remove: envChanges.remove };
    return update(
      {
        name: 'env',
        verb: 'env updated',
        options,
        args,
        line,
        readOnly: options.list,
        change: (object, work) => new EnvUpdate(object, changes, options, io, work).run(),
      },
      io,
    );
  },
});

// ---- variables of config maps and secrets --------------------------------------------------------------------------

async function withVariables(options: Parameters<typeof imported>[1] & Parameters<typeof withServer>[0], io: IO): Promise<Variable[]> {
  let variables: Variable[] = [];
  await withServer(options, io, async (work) => {
    variables = await imported(work, options);
    return 0;
  });
  return variables;
}

async function imported(work: Work, { from, keys }: { readonly from: string; readonly keys: readonly string[] }): Promise<Variable[]> {
  const { type, name } = parseTarget(from);
  const resource = await work.discovery.find(type);
  const isConfigMap = resource.group === '' && resource.kind === 'ConfigMap';
  if (!isConfigMap && !(resource.group === '' && resource.kind === 'Secret'))
    throw new FlagError(`--from: ${JSON.stringify(from)} is neither a config map nor a secret`);
  const { data = {} } = await work.get<{ data?: Record<string, string> }>({ resource, namespace: work.namespace, name });
  const dataKeys = Object.keys(data)
    .sort()
    .filter((key) => keys.length === 0 || keys.includes(key));
  return dataKeys.map((key) => {
    const ref = { name, key };
    const valueFrom: JsonObject = isConfigMap ? { configMapKeyRef: ref } : { secretKeyRef: ref };
    return { name: variableName(key, work.io), valueFrom };
  });
}
/** `log.level` → `LOG_LEVEL` */
function variableName(key: string, io: IO): string {
  const name = key.replace(/[^a-zA-Z0-9_]/g, '_').toUpperCase();
  if (name !== key) io.err(`warning: key ${key} transferred to ${name}\n`);
  return name;
}

// ---- one object ----------------------------------------------------------------------------------------------------

interface EnvOptions {
  readonly containers: string;
  readonly overwrite: boolean;
  readonly list: boolean;
  readonly resolve: boolean;
}

class EnvUpdate {
  readonly #object: JsonObject;
  readonly #changes: EnvChanges;
  readonly #options: EnvOptions;
  readonly #io: IO;
  readonly #reader: ValueReader | undefined;

  constructor(object: JsonObject, changes: EnvChanges, options: EnvOptions, io: IO, work: Work | undefined) {
    this.#object = object;
    this.#changes = changes;
    this.#options = options;
    this.#io = io;
    this.#reader = work === undefined || !options.resolve ? undefined : new ValueReader(work);
  }
  async run(): Promise<JsonObject> {
    const changedContainers: Container[] = [];
    const changed = withPodSpec(this.#object, (spec) =>
      withContainers(spec, (container) => {
        if (!nameMatches(container.name, this.#options.containers)) return container;
        const after = this.#changed(container);
        changedContainers.push(after);
        return after;
      }),
    );
    if (changedContainers.length === 0)
      this.#io.err(`warning: ${this.#title()} does not have any containers matching ${JSON.stringify(this.#options.containers)}\n`);
    if (this.#options.list) for (const container of changedContainers) await this.#list(container);
    return changed;
  }
  #changed(container: Container): Container {
    const currentVariables = (container.env ?? []) as Variable[];
    if (!this.#options.overwrite) checkNoOverwrite(currentVariables, this.#changes);
    const after = changedVariables(currentVariables, this.#changes);
    if (after.length > 0) return { ...container, env: after };
    const { env: _, ...rest } = container;
    return rest as Container;
  }
  #title(separator = '/'): string {
    return `${this.#object.kind as string}${separator}${(this.#object.metadata as { name?: string } | undefined)?.name ?? ''}`;
  }
  async #list(container: Container): Promise<void> {
    const failed = new Map<string, string[]>();
    this.#io.out(`# ${this.#title(' ')}, container ${container.name}\n`);
    for (const { name, value = '', valueFrom } of (container.env ?? []) as Variable[]) {
      if (valueFrom === undefined) {
        printBytes(this.#io, `${name}=${value as string}\n`);
        continue;
      }
      const source = valueFrom as ValueSource;
      const resolved = await this.#reader?.value(source, this.#object, container).catch((error: Error) => {
        failed.set(error.message, [...(failed.get(error.message) ?? []), name]);
        return undefined;
      });
      printBytes(this.#io, resolved === undefined ? `# ${name} from ${sourceText(source)}\n` : `${name}=${resolved}\n`);
    }
    if (failed.size === 0) return;
    const lines = [...failed].map(([why, names]) => `error retrieving reference for ${names.sort().join(', ')}: ${why}\n`);
    this.#io.err(lines.sort().join(''));
    throw new Error('failed to retrieve valueFrom references');
  }
}
