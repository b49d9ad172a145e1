/** The objects under `examples/`, with the kinds that they are of. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import { type ServedKind, serve } from '../../packages/kinds/src/served-kind.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import type { Loose } from './client.ts';

export const examplesFolder = fileURLToPath(new URL('../../examples', import.meta.url));

export interface Example {
  /** `50-core-pod.yaml`, or `requests/…` for what is asked and not kept. */
  readonly file: string;
  readonly object: Loose;
  /** Kind and version of the object. */
  readonly served: ServedKind;
  /** Where it is created. */
  readonly path: string;
}

export const kinds = builtinKinds(kubernetes);

/** All versions of a built-in kind as a server offers them. */
export function servedVersions(kind: (typeof kinds)[number]): ServedKind[] {
  const store = kind.sharesStoreOf;
  const owner = kinds.find((other) => other.group === store?.group && other.plural === store.plural);
  return serve(kind, kubernetes, owner === undefined ? {} : { store: owner });
}
const everyVersion = kinds.flatMap(servedVersions);

function readExample(file: string): Example {
  const object = parse(readFileSync(join(examplesFolder, file), 'utf8')) as Loose;
  const served = everyVersion.find((one) => one.apiVersion === object.apiVersion && one.kind.kind === object.kind);
  if (served === undefined) throw new Error(`${file}: there is no ${object.apiVersion} ${object.kind}`);
  const root = served.group === '' ? `/api/${served.version}` : `/apis/${served.apiVersion}`;
  const namespace = served.kind.namespaced ? `/namespaces/${object.metadata.namespace}` : '';
  return { file, object, served, path: `${root}${namespace}/${served.kind.plural}` };
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(examplesFolder, folder))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => join(folder, name));

/** In the order in which they can be created. */
export const readExamples = (): Example[] => [...filesIn(''), ...filesIn('requests')].map(readExample);
