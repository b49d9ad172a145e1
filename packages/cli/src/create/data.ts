/** `plat create configmap`, and the data of ConfigMaps and Secrets from literals, files and files of variables. */

import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { bool, FlagError, list, repeated } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { configMapKey, environmentVariableName } from '@plat-dev/meta/names';
import type { IO } from '../command.ts';
import { maker } from './maker.ts';
import { configMapHash } from './name-hash.ts';

const each = (help: string, value: string) => repeated<readonly string[]>([], help, value, (values) => values);
export const dataFlags = {
  'from-literal': each('A key and its value; may be repeated.', 'KEY=VALUE'),
  'from-file': list([], 'A file, under its own name or another key, or all files of a directory; may be repeated.', {
    value: '[KEY=]PATH,…',
  }),
  'from-env-file': list([], 'A file with lines KEY=VALUE; a KEY alone is taken from the environment. May be repeated.', {
    value: 'FILE,…',
  }),
};
export const appendHashFlag = (kind: string) => bool(false, `Append a hash of the content to the name of the ${kind}.`);
export interface DataOptions {
  readonly fromLiteral: readonly string[];
  readonly fromFile: readonly string[];
  readonly fromEnvFile: readonly string[];
}

/** The pairs that the flags name. Throws FlagError for keys that are malformed or given twice, and for files that are not there. */
export async function readData(options: DataOptions, io: IO): Promise<ReadonlyMap<string, Buffer>> {
  const data = new Map<string, Buffer>();
  const add = (key: string, value: Buffer): void => {
    const [complaint] = configMapKey(key);
    if (complaint !== undefined) throw new FlagError(`${JSON.stringify(key)} cannot be a key: ${complaint}`);
    if (data.has(key)) throw new FlagError(`the key ${JSON.stringify(key)} is given twice`);
    data.set(key, value);
  };
  for (const literal of options.fromLiteral) {
    const at = literal.indexOf('=');
    if (at <= 0) throw new FlagError(`--from-literal: ${JSON.stringify(literal)} is not of the form key=value`);
    add(literal.slice(0, at), Buffer.from(literal.slice(at + 1)));
  }
  for (const source of options.fromFile) await addFile(source, io, add);
  for (const source of options.fromEnvFile) addVariables((await readBytes(resolve(io.cwd, source), source)).toString(), source, io, add);
  return data;
}

type Add = (key: string, value: Buffer) => void;

async function addFile(source: string, io: IO, add: Add): Promise<void> {
  const at = source.indexOf('=');
  const [key, path] = at === -1 ? [undefined, source] : [source.slice(0, at), source.slice(at + 1)];
  if (key === '' || path === '' || path.includes('='))
    throw new FlagError(`--from-file: ${JSON.stringify(source)} is not of the form [key=]path`);
  const file = resolve(io.cwd, path);
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) throw new FlagError(`--from-file: there is no file or directory ${path}`);
  if (!facts.isDirectory()) return add(key ?? basename(file), await readBytes(file, path));
  if (key !== undefined) throw new FlagError(`--from-file: ${path} is a directory, whose files have keys of their own: leave ${key}= out`);
  const entries = await readdir(file, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isFile()) add(entry.name, await readBytes(join(file, entry.name), join(path, entry.name)));
  }
}

function addVariables(text: string, source: string, io: IO, add: Add): void {
  const withoutMark = text.startsWith('\ufeff') ? text.slice(1) : text;
  withoutMark.split(/\r?\n/).forEach((raw, i) => {
    const line = raw.trimStart();
    if (line === '' || line.startsWith('#')) return;
    const at = line.indexOf('=');
    const key = at === -1 ? line.trimEnd() : line.slice(0, at);
    const [complaint] = environmentVariableName(key);
    if (complaint !== undefined) throw new FlagError(`${source}:${i + 1}: ${JSON.stringify(key)} cannot be a variable: ${complaint}`);
    add(key, Buffer.from(at === -1 ? (own(io.env, key) ?? '') : line.slice(at + 1)));
  });
}

export async function readBytes(file: string, displayName: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new FlagError(`${displayName} cannot be read: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`);
  });
}

/** Data as a ConfigMap holds it: text in data, other bytes in binaryData. */
function configMapData(pairs: ReadonlyMap<string, Buffer>): { data?: Record<string, string>; binaryData?: Record<string, string> } {
  const data: [string, string][] = [];
  const binaryData: [string, string][] = [];
  for (const [key, bytes] of pairs) {
    const text = bytes.toString();
    if (Buffer.from(text).equals(bytes)) data.push([key, text]);
    else binaryData.push([key, bytes.toString('base64')]);
  }
  return {
    ...(data.length > 0 && { data: Object.fromEntries(data) }),
    ...(binaryData.length > 0 && { binaryData: Object.fromEntries(binaryData) }),
  };
}
export const secretData = (pairs: ReadonlyMap<string, Buffer>): { data?: Record<string, string> } =>
  pairs.size === 0 ? {} : { data: Object.fromEntries([...pairs].map(([key, bytes]) => [key, bytes.toString('base64')])) };

export const configMapMaker = maker({
  path: 'configmap',
  aliases: ['cm'],
  summary: 'Create a config map from literals, files, directories or files of variables.',
  examples: [
    'plat create configmap web --from-literal=mode=fast --from-file=conf/',
    'plat create configmap web --from-file=site.conf=conf/a.conf --append-hash',
    'plat create cm web --from-env-file=.env',
  ],
  kind: 'ConfigMap',
  plural: 'configmaps',
  flags: { ...dataFlags, 'append-hash': appendHashFlag('config map') },
  async make(options, { io, name }) {
    const content = configMapData(await readData(options, io));
    if (!options.appendHash) return content;
    return { metadata: { name: `${name}-${configMapHash({ name, data: {}, ...content })}` }, ...content };
  },
});
