/** The file `kustomization.yaml`: its fields, and which of those of the stock tool are not supported. */

import { isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { didYouMean } from '@plat-dev/lib/suggest';
import { groupName, kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import type { FieldSpec } from './field-specs.ts';
import type { GeneratorArgs, GeneratorOptions } from './generate.ts';
import type { ImageChange } from './images.ts';
import type { Loader } from './loader.ts';
import type { PatchArgs } from './patches.ts';
import type { ReplacementArgs } from './replacements.ts';
import { isMap, KustomizeError } from './resource.ts';
import type { Var } from './vars.ts';

export interface Kustomization {
  readonly kind: 'Kustomization' | 'Component';
  readonly resources: readonly string[];
  readonly components: readonly string[];
  readonly namePrefix: string;
  readonly nameSuffix: string;
  readonly namespace: string;
  readonly commonLabels: Readonly<Record<string, string>>;
  readonly labels: readonly {
    readonly pairs?: Readonly<Record<string, string>>;
    readonly includeSelectors?: boolean;
    readonly fields?: readonly FieldSpec[];
  }[];
  readonly commonAnnotations: Readonly<Record<string, string>>;
  readonly patchesStrategicMerge: readonly string[];
  readonly patchesJson6902: readonly PatchArgs[];
  readonly patches: readonly PatchArgs[];
  readonly images: readonly ImageChange[];
  readonly replicas: readonly { readonly name: string; readonly count: number }[];
  readonly replacements: readonly ReplacementArgs[];
  readonly configMapGenerator: readonly GeneratorArgs[];
  readonly secretGenerator: readonly GeneratorArgs[];
  readonly generatorOptions: GeneratorOptions | undefined;
  readonly configurations: readonly string[];
  readonly vars: readonly Var[];
}

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const;

/** The form of each field: a text, a map of texts, a list of texts or of entries with these fields, or an object with these. */
type Form = 'text' | 'texts' | 'list' | { readonly items: Fields } | { readonly fields: Fields };
type Fields = Readonly<Record<string, 'text' | 'number' | 'switch' | 'texts' | 'list' | 'any'>>;

const generatorOptions = { labels: 'texts', annotations: 'texts', disableNameSuffixHash: 'switch', immutable: 'switch' } as const;
const generator = {
  name: 'text',
  namespace: 'text',
  behavior: 'text',
  literals: 'list',
  files: 'list',
  envs: 'list',
  env: 'text',
  options: 'any',
} as const;
const patch = { path: 'text', patch: 'text', target: 'any', options: 'any' } as const;
const forms: Readonly<Record<string, Form>> = {
  apiVersion: 'text',
  kind: 'text',
  metadata: { fields: { name: 'text', namespace: 'text', labels: 'texts', annotations: 'texts' } },
  resources: 'list',
  bases: 'list',
  components: 'list',
  namePrefix: 'text',
  nameSuffix: 'text',
  namespace: 'text',
  commonLabels: 'texts',
  labels: { items: { pairs: 'texts', includeSelectors: 'switch', fields: 'any' } },
  commonAnnotations: 'texts',
  patchesStrategicMerge: 'list',
  patchesJson6902: { items: patch },
  patches: { items: patch },
  images: { items: { name: 'text', newName: 'text', newTag: 'text', digest: 'text' } },
  replicas: { items: { name: 'text', count: 'number' } },
  replacements: { items: { path: 'text', source: 'any', targets: 'any' } },
  configMapGenerator: { items: generator },
  secretGenerator: { items: { ...generator, type: 'text' } },
  generatorOptions: { fields: generatorOptions },
  configurations: 'list',
  vars: { items: { name: 'text', objref: 'any', fieldref: 'any' } },
};
/** Fields of the stock tool that are refused, and what to do instead. */
const unsupported: Readonly<Record<string, string>> = {
  crds: 'name the fields with references in a file of configurations',
  openapi: 'lists of custom kinds are replaced as a whole',
  transformers: 'use the fields of the kustomization',
  generators: 'use configMapGenerator and secretGenerator',
  validators: 'run them on the output',
  helmCharts: 'run `helm template` and name its output in resources',
  helmGlobals: 'run `helm template` and name its output in resources',
  helmChartInflationGenerator: 'run `helm template` and name its output in resources',
  inventory: 'use apply --prune',
  buildMetadata: 'remove it',
};

/** Reads and checks the file of a directory. Throws KustomizeError. */
export async function readKustomization(loader: Loader): Promise<Kustomization> {
  const existingFiles: string[] = [];
  for (const name of fileNames) if (await loader.has(name)) existingFiles.push(name);
  const [name, second] = existingFiles;
  if (name === undefined) {
    throw new KustomizeError(
      `unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '${loader.root}'`,
    );
  }
  if (second !== undefined) throw new KustomizeError(`Found multiple kustomization files under: ${loader.root}`);
  const where = `${loader.root}/${name}`;
  let value: JsonValue;
  try {
    value = parseYaml(await loader.read(name), { single: true });
  } catch (error) {
    throw error instanceof KustomizeError ? error : new KustomizeError(`${where}: ${(error as Error).message}`);
  }
  if (value === null) throw new KustomizeError(`${where}: kustomization.yaml is empty`);
  if (!isMap(value)) throw new KustomizeError(`${where}: this is not an object`);
  return withDefaults(where, spelled(value));
}

/** Names of fields count in any case, as in the stock tool: `nameprefix`. */
function spelled(value: JsonObject): JsonObject {
  const withFieldNames = (object: JsonObject, names: readonly string[]): JsonObject => {
    const right = (name: string): string => names.find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
    return Object.fromEntries(Object.entries(object).map(([name, inner]) => [names.includes(name) ? name : right(name), inner]));
  };
  const inner = (form: Form | undefined, fieldValue: JsonValue): JsonValue => {
    if (form === undefined || typeof form === 'string') return fieldValue;
    if ('fields' in form) return isMap(fieldValue) ? withFieldNames(fieldValue, Object.keys(form.fields)) : fieldValue;
    return Array.isArray(fieldValue)
      ? fieldValue.map((item) => (isMap(item) ? withFieldNames(item, Object.keys(form.items)) : item))
      : fieldValue;
  };
  const outer = withFieldNames(value, [...Object.keys(forms), ...Object.keys(unsupported)]);
  return Object.fromEntries(Object.entries(outer).map(([name, fieldValue]) => [name, inner(own(forms, name), fieldValue)]));
}

function withDefaults(where: string, value: JsonObject): Kustomization {
  for (const [field, fieldValue] of Object.entries(value)) {
    const form = own(forms, field);
    if (form !== undefined) checkForm(where, field, form, fieldValue);
    else if (Object.hasOwn(unsupported, field)) throw new KustomizeError(`${where}: ${field} is not supported: ${own(unsupported, field)}`);
    else throw new KustomizeError(`${where}: unknown field ${JSON.stringify(field)}${didYouMean(field, Object.keys(forms))}`);
  }
  const { kind = 'Kustomization', apiVersion } = value;
  if (kind !== 'Kustomization' && kind !== 'Component') throw new KustomizeError(`${where}: kind should be Kustomization or Component`);
  const expectedVersion = `${groupName(kubernetes, 'kustomize.config')}/${kind === 'Component' ? 'v1alpha1' : 'v1beta1'}`;
  if (apiVersion !== undefined && apiVersion !== null && apiVersion !== expectedVersion) {
    throw new KustomizeError(`${where}: apiVersion for ${kind} should be ${expectedVersion}`);
  }
  const list = (field: string): never => (own(value, field) ?? []) as never;
  const text = (field: string): string => (own(value, field) ?? '') as string;
  const texts = (field: string): Record<string, string> => (own(value, field) ?? {}) as Record<string, string>;
  return {
    kind,
    resources: [...(list('resources') as string[]), ...(list('bases') as string[])],
    components: list('components'),
    namePrefix: text('namePrefix'),
    nameSuffix: text('nameSuffix'),
    namespace: text('namespace'),
    commonLabels: texts('commonLabels'),
    labels: list('labels'),
    commonAnnotations: texts('commonAnnotations'),
    patchesStrategicMerge: list('patchesStrategicMerge'),
    patchesJson6902: list('patchesJson6902'),
    patches: list('patches'),
    images: list('images'),
    replicas: list('replicas'),
    replacements: list('replacements'),
    configMapGenerator: list('configMapGenerator'),
    secretGenerator: list('secretGenerator'),
    generatorOptions: (value.generatorOptions ?? undefined) as GeneratorOptions | undefined,
    configurations: list('configurations'),
    vars: list('vars'),
  };
}

function checkForm(where: string, field: string, form: Form, value: JsonValue): void {
  const wrong = (what: string): KustomizeError => new KustomizeError(`${where}: ${field} must be ${what}`);
  if (value === null) return;
  if (typeof form === 'string') checkValue(where, field, form, value);
  else if ('fields' in form) {
    if (!isMap(value)) throw wrong('an object');
    checkFields(where, field, form.fields, value);
  } else {
    if (!Array.isArray(value)) throw wrong('a list');
    value.forEach((item, i) => {
      if (!isMap(item)) throw wrong('a list of objects');
      checkFields(where, `${field}[${i}]`, form.items, item);
    });
  }
}
function checkFields(where: string, at: string, fields: Fields, value: JsonObject): void {
  for (const [name, inner] of Object.entries(value)) {
    const form = own(fields, name);
    if (form === undefined)
      throw new KustomizeError(`${where}: unknown field ${JSON.stringify(`${at}.${name}`)}${didYouMean(name, Object.keys(fields))}`);
    if (inner !== null) checkValue(where, `${at}.${name}`, form, inner);
  }
}
function checkValue(where: string, at: string, form: 'text' | 'number' | 'switch' | 'texts' | 'list' | 'any', value: JsonValue): void {
  const isText = (one: JsonValue): boolean => typeof one === 'string';
  const [right, what] = {
    text: [isText(value), 'a text'],
    number: [isNumeric(value), 'a number'],
    switch: [typeof value === 'boolean', 'true or false'],
    texts: [isMap(value) && Object.values(value).every(isText), 'a map of texts: quote numbers and true or false'],
    list: [Array.isArray(value) && value.every(isText), 'a list of texts'],
    any: [true, ''],
  }[form] as [boolean, string];
  if (!right) throw new KustomizeError(`${where}: ${at} must be ${what}`);
}
