/** `plat config set` and `unset`: single values by their path, such as `clusters.dev.server`. */

import { ConfigError } from '@plat-dev/client/config';
import { editConfig } from '@plat-dev/client/config-file';
import { bool, FlagError, readBoolean } from '@plat-dev/lib/flags';
import { own, without } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { command } from '../command.ts';
import { type Body, ConfigFiles, fieldOf, fileFlag, type ListName, oneArgument } from './files.ts';

type Type = 'text' | 'boolean' | 'data';
/** Properties that can be set. A star stands for any name. */
const properties: Readonly<Record<ListName, Readonly<Record<string, Type>>>> = {
  clusters: {
    server: 'text',
    'certificate-authority': 'text',
    'certificate-authority-data': 'data',
    'insecure-skip-tls-verify': 'boolean',
    'tls-server-name': 'text',
    'proxy-url': 'text',
  },
  users: {
    'client-certificate': 'text',
    'client-certificate-data': 'data',
    'client-key': 'text',
    'client-key-data': 'data',
    token: 'text',
    tokenFile: 'text',
    username: 'text',
    password: 'text',
    as: 'text',
    'as-uid': 'text',
    'exec.command': 'text',
    'exec.apiVersion': 'text',
    'exec.installHint': 'text',
    'exec.interactiveMode': 'text',
    'exec.provideClusterInfo': 'boolean',
    'auth-provider.name': 'text',
    'auth-provider.config.*': 'text',
  },
  contexts: { cluster: 'text', user: 'text', namespace: 'text' },
};

/** A parsed path. Names may hold dots, as may the path after them. */
export interface Property {
  readonly list: ListName;
  readonly name?: string | undefined;
  readonly field?: string | undefined;
  readonly type?: Type | undefined;
}

/** `namesOf`: the existing names, which decide where a name ends. Throws FlagError. */
export function parseProperty(path: string, namesOf: (list: ListName) => readonly string[]): Property {
  const [head = '', ...rest] = path.split('.');
  if (!Object.hasOwn(properties, head)) {
    const heads = [...Object.keys(properties), 'current-context'];
    throw new FlagError(
      `there is no property ${JSON.stringify(path)}${didYouMean(head, heads)}: it begins with one of ${heads.join(', ')}`,
    );
  }
  const list = head as ListName;
  const behind = rest.join('.');
  if (behind === '') return { list };
  if (namesOf(list).includes(behind)) return { list, name: behind };
  const fields = Object.entries(properties[list]);
  for (let end = rest.length - 1; end > 0; end--) {
    const name = rest.slice(0, end).join('.');
    const field = rest.slice(end).join('.');
    const fieldEntry = fields.find(([one]) =>
      one.endsWith('*') ? field.startsWith(one.slice(0, -1)) && field.length >= one.length : one === field,
    );
    if (fieldEntry !== undefined && (end === 1 || namesOf(list).includes(name) || !fieldEntry[0].includes('.'))) {
      return { list, name, field, type: fieldEntry[1] };
    }
  }
  if (rest.length === 1) return { list, name: behind };
  const last = rest.at(-1) as string;
  const choices = fields.map(([one]) => one);
  throw new FlagError(`${list} have no ${JSON.stringify(last)}${didYouMean(last, choices)}: they have ${choices.join(', ')}`);
}

function read(text: string, type: Type, raw: boolean): unknown {
  if (type === 'boolean') return readBoolean(text);
  if (type === 'text') return text;
  if (raw) return Buffer.from(text).toString('base64');
  // Programs that encode break their lines.
  const line = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(line) || line.length % 4 !== 0) {
    throw new FlagError('the value is not base64: encode it, or use --set-raw-bytes');
  }
  return line;
}

const setTable = {
  Value: { 'set-raw-bytes': bool(false, 'The value of a …-data property is given as it is, not as base64.') },
  File: fileFlag,
};
export const set = command({
  usage: 'PROPERTY VALUE [flags]',
  summary: 'Set one value.',
  flags: setTable,
  more: `
Examples:
  plat config set clusters.dev.server https://127.0.0.1:6443
  plat config set contexts.dev.namespace team
  plat config set current-context dev
`,
  async run({ options, args }, io) {
    const [path, text, more] = args;
    if (!path || text === undefined || more !== undefined) {
      throw new FlagError('which property, and what value? For example: plat config set contexts.dev.namespace team');
    }
    const files = await ConfigFiles.read(options.kubeconfig, io);
    if (path === 'current-context') await files.setCurrent(text);
    else {
      const { list, name, field, type } = parseProperty(path, (one) => files.names(one));
      if (name === undefined || field === undefined || type === undefined) {
        throw new FlagError(
          `${path} is not a single value: name one, such as ${list}.${name ?? 'NAME'}.${Object.keys(properties[list])[0]}`,
        );
      }
      const value = read(text, type, options.setRawBytes);
      await files.edit(list, name, (body) => put(body, field, value));
    }
    io.out(`Property ${JSON.stringify(path)} set.\n`);
    return 0;
  },
});

const unsetTable = { File: fileFlag };
export const unset = command({
  usage: 'PROPERTY [flags]',
  summary: 'Remove a value, an entry or all of a kind.',
  flags: unsetTable,
  more: `
Examples:
  plat config unset users.me.token
  plat config unset contexts.old
  plat config unset current-context
`,
  async run({ options, args }, io) {
    const path = oneArgument(args, 'property', 'config unset users.me.token');
    const files = await ConfigFiles.read(options.kubeconfig, io);
    if (path === 'current-context') await files.setCurrent('');
    else
      await remove(
        files,
        parseProperty(path, (one) => files.names(one)),
      );
    io.out(`Property ${JSON.stringify(path)} unset.\n`);
    return 0;
  },
});

async function remove(files: ConfigFiles, { list, name, field }: Property): Promise<void> {
  if (name === undefined) {
    for (const path of files.paths) {
      await editConfig(path, files.clock, (config) => {
        if (config[list] !== undefined) config[list] = [];
      });
    }
    return;
  }
  // For kubectl it is well that what is to go is not there.
  if (files.isStock && files.body(list, name) === undefined) return;
  const body = files.need(list, name);
  if (field === undefined) return files.remove(list, name);
  if (take(body, field) === undefined && !files.isStock)
    throw new ConfigError(`the ${fieldOf[list]} ${JSON.stringify(name)} has no ${field}`);
  return files.edit(list, name, (body) => put(body, field, undefined));
}

/** Segments of a path within a body. A key of `config` is one segment, even with dots. */
function steps(field: string): string[] {
  const [first = '', second = '', ...others] = field.split('.');
  if (second === '') return [first];
  return others.length === 0 ? [first, second] : [first, second, others.join('.')];
}
function take(body: Body, field: string): unknown {
  return steps(field).reduce<unknown>((value, step) => own(value as Body | undefined, step), body);
}
function put(body: Body, field: string, value: unknown): Body {
  const [first = '', ...rest] = steps(field);
  const inner = rest.length === 0 ? value : put((own(body, first) ?? {}) as Body, rest.join('.'), value);
  return inner === undefined ? without(body, first) : { ...body, [first]: inner };
}
