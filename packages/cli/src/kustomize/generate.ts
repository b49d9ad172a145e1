/** Config maps and secrets that a kustomization makes from literals, files and files of variables. */

import { isUtf8 } from 'node:buffer';
import { basename } from 'node:path';
import { own, setOwn } from '@plat-dev/lib/own';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Loader } from './loader.ts';
import { type Behavior, KustomizeError, Resource } from './resource.ts';

export interface GeneratorOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly disableNameSuffixHash?: boolean;
  readonly immutable?: boolean;
}
export interface GeneratorArgs {
  readonly name?: string;
  readonly namespace?: string;
  readonly behavior?: string;
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
  readonly envs?: readonly string[];
  readonly env?: string;
  readonly options?: GeneratorOptions;
  /** Of secrets. */
  readonly type?: string;
}
export interface Generated {
  readonly resource: Resource;
  readonly behavior: Behavior;
}

type Env = Readonly<Record<string, string | undefined>>;

export async function generate(
  kind: 'ConfigMap' | 'Secret',
  args: GeneratorArgs,
  common: GeneratorOptions | undefined,
  loader: Loader,
  env: Env,
): Promise<Generated> {
  const { name, namespace, behavior = 'create', type } = args;
  const what = kind === 'ConfigMap' ? 'configMapGenerator' : 'secretGenerator';
  if (name === undefined || name === '') throw new KustomizeError(`${what}: an entry has no name`);
  if (behavior !== '' && !['create', 'merge', 'replace', 'unspecified'].includes(behavior)) {
    throw new KustomizeError(`${what} ${name}: unknown behavior ${JSON.stringify(behavior)}: use create, merge or replace`);
  }
  const object: JsonObject = { apiVersion: 'v1', kind, metadata: { name, ...(namespace && { namespace }) } };
  if (kind === 'Secret') object.type = type || 'Opaque';
  for (const [key, value] of await valuesOf(`${what} ${name}`, args, loader, env)) addValue(object, key, value);
  const options = merged(args.options, common);
  const resource = new Resource(object);
  resource.setTexts('labels', options.labels ?? {});
  resource.setTexts('annotations', options.annotations ?? {});
  if (options.immutable === true) object.immutable = true;
  resource.needsHash = options.disableNameSuffixHash !== true;
  return { resource, behavior: behavior === 'merge' || behavior === 'replace' ? behavior : 'create' };
}

/** The options of an entry come before those of all entries. */
function merged(own: GeneratorOptions = {}, common: GeneratorOptions = {}): GeneratorOptions {
  return {
    labels: { ...common.labels, ...own.labels },
    annotations: { ...common.annotations, ...own.annotations },
    disableNameSuffixHash: common.disableNameSuffixHash === true || own.disableNameSuffixHash === true,
    immutable: common.immutable === true || own.immutable === true,
  };
}

function addValue(object: JsonObject, key: string, value: Buffer): void {
  const isText = object.kind === 'ConfigMap' && isUtf8(value);
  const field = object.kind === 'ConfigMap' && !isText ? 'binaryData' : 'data';
  object[field] ??= {};
  setOwn(object[field] as JsonObject, key, isText ? value.toString() : base64Lines(value));
}
const LINE = 70;
/** In lines where it is long, as the stock client writes it: the hash of the name counts them. */
function base64Lines(value: Buffer): string {
  const text = value.toString('base64');
  return text.length < LINE ? text : (text.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? []).map((line) => `${line}\n`).join('');
}

async function valuesOf(what: string, args: GeneratorArgs, loader: Loader, env: Env): Promise<Map<string, Buffer>> {
  const pairs: [string, Buffer][] = [];
  for (const path of [...(args.envs ?? []), ...(args.env ? [args.env] : [])])
    pairs.push(...variablesOf(what, (await loader.read(path)).toString(), env));
  for (const literal of args.literals ?? []) pairs.push(literalOf(what, literal));
  for (const source of args.files ?? []) {
    const [key, path] = fileSource(what, source);
    pairs.push([key, await loader.read(path)]);
  }
  const values = new Map<string, Buffer>();
  for (const [key, value] of pairs) {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..')) {
      throw new KustomizeError(`${what}: ${JSON.stringify(key)} is not a valid key: letters, digits, "-", "_" and "." are allowed`);
    }
    if (values.has(key)) throw new KustomizeError(`${what} repeats the key ${JSON.stringify(key)}`);
    values.set(key, value);
  }
  return values;
}

/** `key=value`, the value perhaps in quotes. */
function literalOf(what: string, literal: string): [string, Buffer] {
  const at = literal.indexOf('=');
  if (at <= 0) throw new KustomizeError(`${what}: invalid literal source ${literal}, expected key=value`);
  const value = literal.slice(at + 1);
  const quote = value[0];
  const isQuoted = (quote === '"' || quote === "'") && value.endsWith(quote);
  return [literal.slice(0, at), Buffer.from(isQuoted ? value.slice(1, -1) : value)];
}
/** `path` or `key=path` */
function fileSource(what: string, source: string): [key: string, path: string] {
  const [key = '', path, ...more] = source.split('=');
  if (path === undefined) return [basename(source), source];
  if (key === '' || path === '' || more.length > 0) {
    throw new KustomizeError(`${what}: invalid file source ${source}, expected path or key=path`);
  }
  return [key, path];
}
/** Lines `NAME=value`; a name alone takes the value of the environment. Empty lines and comments are left out. */
function variablesOf(what: string, text: string, env: Env): [string, Buffer][] {
  const pairs: [string, Buffer][] = [];
  for (const raw of text.replace(/^\uFEFF/, '').split('\n')) {
    const line = raw.replace(/\r$/, '').trimStart();
    if (line === '' || line.startsWith('#')) continue;
    const at = line.indexOf('=');
    const key = at === -1 ? line : line.slice(0, at);
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(key))
      throw new KustomizeError(`${what}: ${JSON.stringify(key)} is not a valid name of a variable`);
    pairs.push([key, Buffer.from(at === -1 ? (own(env, key) ?? '') : line.slice(at + 1))]);
  }
  return pairs;
}
