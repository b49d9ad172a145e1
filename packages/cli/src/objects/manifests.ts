/** Objects from files, directories, addresses and the standard input: YAML or JSON, one or more documents, lists expanded. */

import { isUtf8 } from 'node:buffer';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Clock } from '@plat-dev/lib/clock';
import { FlagError } from '@plat-dev/lib/flags';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYamlDocuments } from '@plat-dev/schema/yaml';
import type { IO } from '../command.ts';
import { goJson } from '../output/go-json.ts';
import { endsCommand, isStock } from '../program.ts';
import { exitOnInterrupt } from '../terminal/interrupt.ts';
import type { Manifest } from './manifest.ts';

/** The flags that name manifests. */
export interface ManifestOptions {
  readonly filename: readonly string[];
  readonly recursive: boolean;
  /** Directory with a kustomization; empty if there is none. */
  readonly kustomize?: string;
}

/** What reading them needs; without signals they are not interrupted, and without the name of the program it is plat. */
export type ManifestIO = Pick<IO, 'cwd' | 'stdin' | 'clock'> & Partial<Pick<IO, 'onSignal' | 'exit' | 'program'>>;

/** Whether the command line names any manifest. */
export const namesManifests = ({ filename, kustomize = '' }: Pick<ManifestOptions, 'filename' | 'kustomize'>): boolean =>
  filename.length > 0 || kustomize !== '';

/** The objects of the files that can be read, and the errors of the others. */
export interface FoundManifests {
  readonly manifests: Manifest[];
  readonly broken: readonly ManifestError[];
}

/**
 * The errors of the first document that has any: for commands that stop there. The items of a list are one document, and all of
 * them are tried.
 */
export async function firstFaults(manifests: readonly Manifest[], attempt: (manifest: Manifest) => Promise<void>): Promise<unknown[]> {
  const faults: unknown[] = [];
  let last: Manifest | undefined;
  for (const manifest of manifests) {
    const isSameList = manifest.list !== undefined && manifest.list === last?.list;
    if (faults.length > 0 && !isSameList) break;
    last = manifest;
    try {
      await attempt(manifest);
    } catch (error) {
      if (endsCommand(error)) throw error;
      faults.push(error);
    }
  }
  return faults;
}

/** All objects that -f and -k name. Throws FlagError for missing files and both flags together, ManifestError for invalid objects. */
export async function manifestsFrom(options: ManifestOptions, io: ManifestIO & Pick<IO, 'env'>): Promise<Manifest[]> {
  const { manifests, broken } = await findManifests(options, io);
  if (broken[0] !== undefined) throw broken[0];
  return manifests;
}

/**
 * The same for commands that go on with the other files where some are broken:
 *
 *   -f a.yaml -f broken.yaml -f b.yaml   →  the objects of a.yaml and b.yaml, and the error of broken.yaml
 *   -f broken.yaml                       →  throws its error
 *
 * `validates`: whether the command checks the fields of objects before it sends them, which finds missing kinds first.
 */
export async function findManifests(
  options: ManifestOptions,
  io: ManifestIO & Pick<IO, 'env'>,
  validates = false,
): Promise<FoundManifests> {
  const { filename, recursive, kustomize: directory = '' } = options;
  if (directory === '') return intactManifests(filename, recursive, io, validates);
  if (filename.length > 0) throw new FlagError('only one of -f or -k can be specified');
  const { kustomize } = await import('../kustomize.ts');
  const kustomized = await kustomize(directory, io);
  if (kustomized.length === 0) throw new ManifestError(`there are no objects in ${directory}`);
  return { manifests: kustomized.map((manifest) => checked(manifest.object, manifest.source, directory)), broken: [] };
}

/** An object that cannot be read, with its place. */
export class ManifestError extends Error {
  /** The line of the stock client about the same, which scripts look for. */
  readonly stockText: string | undefined;

  constructor(message: string, stockText?: string) {
    super(message);
    this.stockText = stockText;
  }
}
/** An object without kind or apiVersion. */
class UntypedError extends ManifestError {
  /** The same as the stock client reports it where it validates objects first. */
  readonly asInvalid: ManifestError;

  constructor(field: 'kind' | 'apiVersion', object: JsonObject, source: string, origin: string) {
    const stock = `Object '${field === 'kind' ? 'Kind' : field}' is missing in '${goJson(object)}'`;
    super(`${source}: the object has no ${field}`, `error: unable to decode ${JSON.stringify(origin)}: ${stock}`);
    this.asInvalid = new ManifestError(this.message, notValid(`${field} not set`, origin));
  }
}
/** The line of the stock client about an object that its validation refuses. */
export const notValid = (problem: string, origin: string): string =>
  `error: error validating ${JSON.stringify(origin)}: error validating data: ${problem}; if you choose to ignore these errors, turn validation off with --validate=false`;

const extensions = ['.yaml', '.yml', '.json'];
/** No file of objects is larger; the server takes 3 MiB an object. */
const maxBytes = 64 << 20;

/** All objects that the `-f` flags name, in their order. Throws FlagError for missing files, ManifestError for invalid objects. */
export async function readManifests(paths: readonly string[], recursive: boolean, io: ManifestIO): Promise<Manifest[]> {
  const { manifests, broken } = await intactManifests(paths, recursive, io);
  if (broken[0] !== undefined) throw broken[0];
  return manifests;
}
/** A file with an error is left out as a whole, so that no part of it is taken for all of it; the stock client takes a part. */
async function intactManifests(paths: readonly string[], recursive: boolean, io: ManifestIO, validates = false): Promise<FoundManifests> {
  const manifests: Manifest[] = [];
  const broken: ManifestError[] = [];
  for (const textOrError of await findTexts(paths, recursive, io)) {
    try {
      if (textOrError instanceof ManifestError) throw textOrError;
      manifests.push(...manifestsOf(textOrError.text, textOrError.source, textOrError.origin));
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error;
      if (isStock({ program: io.program ?? 'plat' }) && !(textOrError instanceof ManifestError))
        manifests.push(...stockPart(textOrError, validates));
      broken.push(validates && error instanceof UntypedError ? error.asInvalid : error);
    }
  }
  if (manifests.length === 0) throw broken[0] ?? new ManifestError(`there are no objects in ${paths.join(', ')}`);
  return { manifests, broken };
}

/**
 * The objects that the stock client takes from a text with an error. It reads one document after another, up to one that it
 * cannot parse or that is invalid:
 *
 *   one, not YAML, three             →  one
 *   one, without a kind, three       →  one; also three, where objects are not validated
 *   a list with one without a kind   →  nothing; the others, where objects are not validated
 */
function stockPart({ text, source, origin }: ManifestText, validates: boolean): Manifest[] {
  const manifests: Manifest[] = [];
  const documents = text.split(/\n(?=---(?:\s|$))/).flatMap((document) => {
    const { whole, rest } = jsonObjects(document);
    return rest.trim() === '' ? whole : [...whole, rest];
  });
  for (const document of documents) {
    const values = parsedOr(() => valuesOf(document, source, origin));
    if (values === undefined) break;
    for (const value of validates ? values : values.flatMap(itemsOf)) {
      const objects = parsedOr(() => (value === null ? [] : objectsOf(value, source, origin)));
      if (objects === undefined && validates) return manifests;
      manifests.push(...(objects ?? []));
    }
  }
  return manifests;
}
/** Undefined in place of a ManifestError. */
function parsedOr<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ManifestError) return undefined;
    throw error;
  }
}

export interface ManifestText {
  /** Its name in messages. */
  readonly source: string;
  readonly text: string;
  /** As `Manifest.origin`. */
  readonly origin: string;
  /** Undefined for the standard input and for addresses. */
  readonly file?: string;
}

/** The texts that the `-f` flags name, in their order. Throws ManifestError for one that cannot be read. */
export async function readTexts(paths: readonly string[], recursive: boolean, io: ManifestIO): Promise<ManifestText[]> {
  const texts = await findTexts(paths, recursive, io);
  return texts.map((one) => {
    if (one instanceof ManifestError) throw one;
    return one;
  });
}
/** The same with the errors of those that cannot be read in their place. */
async function findTexts(paths: readonly string[], recursive: boolean, io: ManifestIO): Promise<(ManifestText | ManifestError)[]> {
  const textsAndErrors: (ManifestText | ManifestError)[] = [];
  for (const path of paths) {
    const texts = await textsOf(path, recursive, io);
    textsAndErrors.push(...(await Promise.all(texts.map((text) => text().catch(asManifestError)))));
  }
  return textsAndErrors;
}
function asManifestError(error: unknown): ManifestError {
  if (error instanceof ManifestError) return error;
  throw error;
}
async function textsOf(path: string, recursive: boolean, io: ManifestIO): Promise<(() => Promise<ManifestText>)[]> {
  const only = (source: string, origin: string, read: () => Promise<string>) => [
    async () => ({ source, origin, text: await exitOnInterrupt(io, read) }),
  ];
  if (path === '-') return only('the standard input', 'STDIN', () => io.stdin());
  if (/^https?:\/\//.test(path)) return only(path, path, () => download(path, io.clock));
  const files = await filesOf(resolve(io.cwd, path), path, recursive);
  return files.map(([file, source]) => async () => ({
    source,
    origin: source,
    text: textOf(await readBounded(file, source), source),
    file,
  }));
}

/** How long the server of an address may be silent. */
export const SILENCE_MS = 30_000;

async function download(address: string, clock: Clock): Promise<string> {
  const failed = (error: Error): never => {
    if (error instanceof ManifestError) throw error;
    throw new ManifestError(`${address} cannot be read: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  };
  const stop = new AbortController();
  const silent = (): void => stop.abort(new Error(`the server there was silent for ${SILENCE_MS / 1000} seconds`));
  let cancel = clock.after(SILENCE_MS, silent);
  const reportedChunks = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      cancel();
      cancel = clock.after(SILENCE_MS, silent);
      yield chunk;
    }
  };
  try {
    const answer = await fetch(address, { signal: stop.signal });
    if (!answer.ok) throw new ManifestError(`${address} cannot be read: the server there answered ${answer.status}`);
    return textOf(await collected(answer.body === null ? [] : reportedChunks(answer.body), address), address);
  } catch (error) {
    return failed(error as Error);
  } finally {
    cancel();
    // Ends what was not read.
    stop.abort();
  }
}

/** Pipes and devices have no size: what is read is counted. */
async function readBounded(path: string, source: string): Promise<Buffer> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new ManifestError(`${source} cannot be read: ${error.message}`);
  });
  try {
    return await collected(file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 }), source);
  } finally {
    await file.close();
  }
}
/** Throws ManifestError as soon as there is too much. */
export async function collected(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  source: string,
  most = maxBytes,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw new ManifestError(`${source} is larger than ${most} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
/** UTF-8, or UTF-16 that begins with its mark. Other bytes would be replaced, and the objects would not be those of the file. */
export function textOf(bytes: Buffer, source: string): string {
  const wide = wideText(bytes);
  if (wide !== undefined) return wide;
  if (!isUtf8(bytes)) throw new ManifestError(`${source}: the file is not UTF-8 text`);
  return bytes.toString();
}

/** Some shells write UTF-16 into files, as those of Windows do. */
function wideText(bytes: Buffer): string | undefined {
  const mark = bytes.length % 2 === 0 && bytes.length > 0 ? bytes.readUInt16BE(0) : 0;
  if (mark !== 0xfffe && mark !== 0xfeff) return undefined;
  try {
    return new TextDecoder(mark === 0xfffe ? 'utf-16le' : 'utf-16be', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A file, or those of a directory in order of name; each with its path for messages. */
async function filesOf(file: string, displayPath: string, recursive: boolean): Promise<[file: string, shown: string][]> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) {
    const matched = await filesMatching(file, displayPath);
    if (matched.length === 0) {
      throw new FlagError(`there is no file or directory ${displayPath}`, `error: the path ${JSON.stringify(displayPath)} does not exist`);
    }
    return matched;
  }
  if (!facts.isDirectory()) return [[file, displayPath]];
  const files = await filesIn(file, displayPath, recursive);
  if (files.length === 0) {
    throw new FlagError(
      `the directory ${displayPath} holds no file that ends in ${extensions.join(', ')}${recursive ? '' : '; -R looks below it, too'}`,
      `error: error reading [${displayPath}]: recognized file extensions are [.json .yaml .yml]`,
    );
  }
  return files;
}
/** `manifests/*.yaml` where the shell did not expand it. The pattern is the last part of the path. */
async function filesMatching(path: string, displayPath: string): Promise<[file: string, shown: string][]> {
  const pattern = basename(path);
  if (!/[*?]|\[.*\]/.test(pattern)) return [];
  const expression = new RegExp(
    `^${pattern
      .replace(/[.+^${}()|\\]|\[(?!.*\])/g, '\\$&')
      .replace(/\*/g, '[^/]*')
      .replace(/\?/g, '[^/]')
      .replace(/\[!/g, '[^')}$`,
  );
  const entries = await readdir(dirname(path), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => !entry.isDirectory() && expression.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((name) => [join(dirname(path), name), join(dirname(displayPath), name)]);
}
async function filesIn(directory: string, displayPath: string, recursive: boolean): Promise<[file: string, shown: string][]> {
  const files: [string, string][] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(directory, entry.name);
    const name = join(displayPath, entry.name);
    if (entry.isDirectory()) files.push(...(recursive ? await filesIn(file, name, true) : []));
    else if (extensions.some((end) => entry.name.endsWith(end))) files.push([file, name]);
  }
  return files;
}

/** Characters that YAML does not have; JSON has its own rules. */
const notYaml = /[^\P{Cc}\t\n\r\u0085]/u;

/** The objects of one text. */
export function manifestsOf(text: string, source: string, origin = source): Manifest[] {
  const documents = valuesOf(text, source, origin);
  const several = documents.length > 1;
  return documents.flatMap((document, i) =>
    document === null ? [] : objectsOf(document, several ? `${source}, document ${i + 1}` : source, origin),
  );
}
/** The documents of a text; empty ones are null. Throws ManifestError. */
function valuesOf(text: string, source: string, origin: string): JsonValue[] {
  try {
    if (!/^\s*[{[]/.test(text) && notYaml.test(text)) throw new ManifestError('yaml: control characters are not allowed');
    return concatenated(text).flatMap((one) => parseYamlDocuments(one));
  } catch (error) {
    const { message } = error as Error;
    throw new ManifestError(`${source}: ${message}`, `error: error parsing ${origin}: ${message}`);
  }
}

/** JSON objects may follow each other without a separator, which YAML does not allow: the texts of each of them. */
function concatenated(text: string): string[] {
  const { whole, rest } = jsonObjects(text);
  return rest.trim() === '' && whole.length > 0 ? whole : [text];
}
/** The texts of the JSON objects that a text begins with, and what follows them. */
function jsonObjects(text: string): { readonly whole: string[]; readonly rest: string } {
  const whole: string[] = [];
  if (!/^\s*\{/.test(text)) return { whole, rest: text };
  let start = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') i = endOfString(text, i);
    else if (c === '{') depth++;
    else if (c === '}' && --depth === 0) {
      whole.push(text.slice(start, i + 1));
      start = i + 1;
    } else if (depth === 0 && !/\s/.test(c as string)) break;
  }
  return { whole, rest: text.slice(start) };
}
/** The position of the quote that ends the string which begins at `start`. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

/** The items of a list; undefined for what is none. */
function listItems(value: JsonValue): readonly JsonValue[] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { kind, items } = value;
  return Array.isArray(items) && typeof kind === 'string' && kind.endsWith('List') ? items : undefined;
}
const itemsOf = (value: JsonValue): readonly JsonValue[] => listItems(value)?.flatMap(itemsOf) ?? [value];

function objectsOf(value: JsonValue, source: string, origin: string, list?: object): Manifest[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ManifestError(`${source}: this is not an object`);
  const items = listItems(value);
  if (items !== undefined) return items.flatMap((item, i) => objectsOf(item, `${source}, item ${i + 1}`, origin, list ?? value));
  return [checked(value as Manifest['object'], source, origin, list)];
}
function checked(object: Manifest['object'], source: string, origin: string, list?: object): Manifest {
  const { apiVersion, kind, metadata } = object;
  if (typeof kind !== 'string' || kind === '') throw new UntypedError('kind', object, source, origin);
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new UntypedError('apiVersion', object, source, origin);
  const meta = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : {};
  const filled = (field: JsonValue | undefined): string | undefined => (typeof field === 'string' && field !== '' ? field : undefined);
  return { object, name: filled(meta.name), namespace: filled(meta.namespace), source, origin, list };
}

export function labelsOf(object: Manifest['object']): Record<string, string> {
  const labels = (object.metadata as { labels?: Record<string, string> } | undefined)?.labels;
  return labels ?? {};
}

export function withNamespace(object: Manifest['object'], namespace: string): Manifest['object'] {
  return { ...object, metadata: { ...(object.metadata as object), namespace } };
}
