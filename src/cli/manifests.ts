/** Objects from files, directories, addresses and the standard input: YAML or JSON, one or more documents, lists expanded. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { FlagError } from '../lib/flags.ts';
import type { JsonObject, JsonValue } from '../schema/types.ts';
import { parseYamlDocuments } from '../schema/yaml.ts';
import type { IO } from './command.ts';

/** An object of the API as a person wrote it. */
export interface Manifest {
  readonly object: JsonObject & { apiVersion: string; kind: string };
  /** Undefined if the server generates the name. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** Its place, for messages: `web.yaml, document 2`. */
  readonly source: string;
}

/** An object that cannot be read, with its place. */
export class ManifestError extends Error {}

const extensions = ['.yaml', '.yml', '.json'];
/** No file of objects is larger; the server takes 3 MiB an object. */
const maxBytes = 64 << 20;

/** All objects that the `-f` flags name, in their order. Throws FlagError for missing files, ManifestError for invalid objects. */
export async function readManifests(paths: readonly string[], recursive: boolean, io: Pick<IO, 'cwd' | 'stdin'>): Promise<Manifest[]> {
  const found: Manifest[] = [];
  for (const { source, text } of await readTexts(paths, recursive, io)) found.push(...manifestsOf(text, source));
  if (found.length === 0) throw new ManifestError(`there are no objects in ${paths.join(', ')}`);
  return found;
}

export interface ManifestText {
  /** Its name in messages. */
  readonly source: string;
  readonly text: string;
  /** Undefined for the standard input and for addresses. */
  readonly file?: string;
}

/** The texts that the `-f` flags name, in their order. */
export async function readTexts(paths: readonly string[], recursive: boolean, io: Pick<IO, 'cwd' | 'stdin'>): Promise<ManifestText[]> {
  const found: ManifestText[] = [];
  for (const path of paths) found.push(...(await textsOf(path, recursive, io)));
  return found;
}
async function textsOf(path: string, recursive: boolean, io: Pick<IO, 'cwd' | 'stdin'>): Promise<ManifestText[]> {
  if (path === '-') return [{ source: 'the standard input', text: await io.stdin() }];
  if (/^https?:\/\//.test(path)) return [{ source: path, text: await download(path) }];
  const files = await filesOf(resolve(io.cwd, path), path, recursive);
  return Promise.all(files.map(async ([file, source]) => ({ source, text: await readFile(file, 'utf8'), file })));
}

async function download(address: string): Promise<string> {
  const answer = await fetch(address).catch((error: Error) => {
    throw new ManifestError(`${address} cannot be read: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  if (!answer.ok) throw new ManifestError(`${address} cannot be read: the server there answered ${answer.status}`);
  const text = await answer.text();
  if (text.length > maxBytes) throw new ManifestError(`${address} is larger than ${maxBytes} bytes`);
  return text;
}

/** A file, or those of a directory in order of name; each with its path for messages. */
async function filesOf(file: string, shown: string, recursive: boolean): Promise<[file: string, shown: string][]> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) throw new FlagError(`there is no file or directory ${shown}`);
  if (!facts.isDirectory()) return [[file, shown]];
  const found = await filesIn(file, shown, recursive);
  if (found.length === 0) {
    throw new FlagError(
      `the directory ${shown} holds no file that ends in ${extensions.join(', ')}${recursive ? '' : '; -R looks below it, too'}`,
    );
  }
  return found;
}
async function filesIn(directory: string, shown: string, recursive: boolean): Promise<[file: string, shown: string][]> {
  const found: [string, string][] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = join(directory, entry.name);
    const name = join(shown, entry.name);
    if (entry.isDirectory()) found.push(...(recursive ? await filesIn(file, name, true) : []));
    else if (extensions.some((end) => entry.name.endsWith(end))) found.push([file, name]);
  }
  return found;
}

/** The objects of one text. */
export function manifestsOf(text: string, source: string): Manifest[] {
  let documents: JsonValue[];
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    throw new ManifestError(`${source}: ${(error as Error).message}`);
  }
  const several = documents.length > 1;
  return documents.flatMap((document, i) =>
    document === null ? [] : objectsOf(document, several ? `${source}, document ${i + 1}` : source),
  );
}

function objectsOf(value: JsonValue, source: string): Manifest[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ManifestError(`${source}: this is not an object`);
  const { apiVersion, kind, items, metadata } = value;
  for (const [field, is] of Object.entries({ apiVersion, kind })) {
    if (typeof is !== 'string' || is === '') throw new ManifestError(`${source}: the object has no ${field}`);
  }
  if (Array.isArray(items) && (kind as string).endsWith('List')) {
    return items.flatMap((item, i) => objectsOf(item, `${source}, item ${i + 1}`));
  }
  const meta = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? metadata : {};
  const textOf = (field: JsonValue | undefined): string | undefined => (typeof field === 'string' && field !== '' ? field : undefined);
  return [{ object: value as Manifest['object'], name: textOf(meta.name), namespace: textOf(meta.namespace), source }];
}

export function labelsOf(object: Manifest['object']): Record<string, string> {
  const labels = (object.metadata as { labels?: Record<string, string> } | undefined)?.labels;
  return labels ?? {};
}
