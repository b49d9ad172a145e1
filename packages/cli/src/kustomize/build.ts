/**
 * Builds a kustomization: its resources and those of its bases, then its components, generators and changes, in the order of
 * the stock tool; names get their hashes and references follow at the end, once for all.
 */
import { setOwn } from '@plat-dev/lib/own';
import { domainName, kubernetes } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml, parseYamlDocuments } from '@plat-dev/schema/yaml';
import { builtInSpecs, type Specs } from './built-in-specs.ts';
import { eachField, type FieldSpec } from './field-specs.ts';
import { generate } from './generate.ts';
import { contentHash } from './hash.ts';
import { idText, isClusterScoped, isOfKind, plainGroup, sameId } from './ids.ts';
import { changeImages } from './images.ts';
import { type Kustomization, readKustomization } from './kustomization.ts';
import type { Loader } from './loader.ts';
import { applyPatch, applyStrategicPatch, type SchemaOf } from './patches.ts';
import { updateReferences } from './references.ts';
import { applyReplacement } from './replacements.ts';
import { isMap, KustomizeError, Resource, Resources } from './resource.ts';
import { Vars } from './vars.ts';

export interface BuildOptions {
  readonly schemaOf: SchemaOf;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The objects of a directory with a kustomization, in the order of its files. */
export async function build(loader: Loader, options: BuildOptions): Promise<Resource[]> {
  const builder = new Builder(options);
  const file = await readKustomization(loader);
  const { list } = await builder.directory(loader, file, new Resources());
  for (const one of list) {
    if (!one.needsHash) continue;
    const hash = contentHash(one.object);
    one.remember();
    one.name = `${one.name}-${hash}`;
  }
  updateReferences(list, builder.specs.nameReference);
  builder.vars.resolve(list, builder.specs.varReference);
  return list;
}

class Builder {
  private readonly options: BuildOptions;
  /** Those of the built-in kinds and of the files in `configurations`. */
  specs: Specs = builtInSpecs;
  readonly vars = new Vars();

  constructor(options: BuildOptions) {
    this.options = options;
  }
  /** Adds to `resources`, which are those of the parent for a component. */
  async directory(loader: Loader, file: Kustomization, resources: Resources): Promise<Resources> {
    for (const path of file.resources) await this.resource(path, loader, resources);
    for (const path of file.components) await this.component(path, loader, resources);
    for (const path of file.configurations) this.specs = merged(this.specs, readSpecs(path, await loader.read(path)));
    await this.generate(file, loader, resources);
    await this.change(file, loader, resources);
    this.vars.add(file.vars, resources);
    resources.list = resources.list.filter((one) => !isLocal(one));
    return resources;
  }
  private async resource(path: string, loader: Loader, resources: Resources): Promise<void> {
    if (!(await loader.isDirectory(path))) {
      for (const object of objectsOf(path, (await loader.read(path)).toString())) resources.add(new Resource(object));
      return;
    }
    const below = await loader.below(path);
    const file = await readKustomization(below);
    if (file.kind === 'Component') throw new KustomizeError(`expected kind != 'Component' for path '${below.root}'`);
    for (const one of (await this.directory(below, file, new Resources())).list) resources.add(one);
  }
  private async component(path: string, loader: Loader, resources: Resources): Promise<void> {
    const below = await loader.below(path);
    const file = await readKustomization(below);
    if (file.kind !== 'Component') {
      throw new KustomizeError(`expected kind 'Component' for path '${below.root}' but got '${file.kind}'`);
    }
    await this.directory(below, file, resources);
  }
  private async generate(file: Kustomization, loader: Loader, resources: Resources): Promise<void> {
    for (const [kind, entries] of [
      ['ConfigMap', file.configMapGenerator],
      ['Secret', file.secretGenerator],
    ] as const) {
      for (const args of entries) {
        const { resource, behavior } = await generate(kind, args, file.generatorOptions, loader, this.options.env);
        resources.absorb(resource, behavior);
      }
    }
  }
  private async change(file: Kustomization, loader: Loader, resources: Resources): Promise<void> {
    const { schemaOf } = this.options;
    for (const entry of file.patchesStrategicMerge) await applyStrategicPatch(entry, resources, loader, schemaOf);
    for (const args of file.patches) await applyPatch('patches', args, resources, loader, schemaOf);
    if (file.namespace !== '') this.setNamespace(file.namespace, resources);
    this.rename(file, resources);
    for (const { pairs = {}, includeSelectors, fields = [] } of file.labels) {
      const always = includeSelectors === true ? this.specs.commonLabels : [{ path: 'metadata/labels', create: true }];
      setTexts(resources, pairs, [...fields, ...always]);
    }
    setTexts(resources, file.commonLabels, this.specs.commonLabels);
    setTexts(resources, file.commonAnnotations, this.specs.commonAnnotations);
    for (const args of file.patchesJson6902) await applyPatch('patchesJson6902', args, resources, loader, schemaOf, true);
    for (const { name, count } of file.replicas) this.setReplicas(name, count, resources);
    for (const image of file.images) for (const one of resources.list) changeImages(one, image);
    for (const args of file.replacements) await applyReplacement(args, resources, loader);
  }
  private setNamespace(namespace: string, resources: Resources): void {
    for (const one of resources.list) {
      one.remember();
      if (!isClusterScoped(one.id)) one.namespace = namespace;
      if (one.kind === 'RoleBinding' || one.kind === 'ClusterRoleBinding') setSubjects(one.object, namespace);
      for (const spec of this.specs.namespace) eachField(one.object, spec, '', ({ set }) => set(namespace));
      if (resources.list.filter((other) => sameId(other.id, one.id)).length > 1) {
        throw new KustomizeError(`namespace transformation produces ID conflict: ${idText(one.id)}`);
      }
    }
  }
  private rename({ namePrefix, nameSuffix }: Kustomization, resources: Resources): void {
    const change = (text: string, specs: readonly FieldSpec[], note: (one: Resource) => void, changed: (name: string) => string): void => {
      if (text === '') return;
      for (const one of resources.list) {
        const { originalId } = one;
        if (keepsName(originalId)) continue;
        for (const spec of specs) {
          if (!isOfKind(originalId, spec)) continue;
          if (spec.path === 'metadata/name') {
            note(one);
            one.remember();
          }
          eachField(one.object, { path: spec.path }, undefined, ({ value, set }) => set(changed(String(value ?? ''))));
        }
      }
    };
    change(
      namePrefix,
      this.specs.namePrefix,
      (one) => one.prefixes.push(namePrefix),
      (name) => `${namePrefix}${name}`,
    );
    change(
      nameSuffix,
      this.specs.nameSuffix,
      (one) => one.suffixes.push(nameSuffix),
      (name) => `${name}${nameSuffix}`,
    );
  }
  private setReplicas(name: string, count: number, resources: Resources): void {
    let isMatched = false;
    for (const spec of this.specs.replicas) {
      for (const one of resources.byAnyId((id) => id.name === name && isOfKind(id, spec))) {
        isMatched = true;
        eachField(one.object, { path: spec.path, create: true }, 0, ({ set }) => set(count));
      }
    }
    if (isMatched) return;
    const kinds = this.specs.replicas.map(({ kind }) => kind).join(', ');
    throw new KustomizeError(`replicas: there is no object named ${JSON.stringify(name)} among the kinds ${kinds}`);
  }
}

/** Objects that a prefix or suffix leaves alone: others refer to them in ways that are not known. */
const keepsName = (id: { group: string; kind: string }): boolean =>
  id.kind === 'CustomResourceDefinition' ||
  id.kind === 'Namespace' ||
  (id.kind === 'APIService' && plainGroup(id.group) === 'apiregistration');

/** The default account of a namespace is the one of the namespace that the kustomization sets. */
function setSubjects(object: JsonObject, namespace: string): void {
  if (!Array.isArray(object.subjects)) return;
  for (const subject of object.subjects) if (isMap(subject) && subject.name === 'default') subject.namespace = namespace;
}

function setTexts(resources: Resources, texts: Readonly<Record<string, string>>, specs: readonly FieldSpec[]): void {
  if (Object.keys(texts).length === 0) return;
  for (const one of resources.list)
    for (const spec of specs)
      eachField(one.object, spec, {}, ({ value, set }) => {
        const map: JsonObject = isMap(value) ? value : {};
        for (const [key, text] of Object.entries(texts)) setOwn(map, key, text);
        set(map);
      });
}

const localConfig = domainName(kubernetes, 'local-config', 'config');
const isLocal = (one: Resource): boolean => (one.texts('annotations')[localConfig] ?? 'false') !== 'false';

/** The objects of a file; lists are expanded. */
function objectsOf(path: string, text: string): JsonObject[] {
  let documents: JsonValue[];
  try {
    documents = parseYamlDocuments(text, { words: true });
  } catch (error) {
    throw new KustomizeError(`${path}: ${(error as Error).message}`);
  }
  return documents.flatMap((document) => expanded(path, document));
}
function expanded(path: string, value: JsonValue): JsonObject[] {
  if (value === null) return [];
  if (!isMap(value)) throw new KustomizeError(`${path}: this is not an object`);
  if (Object.keys(value).length === 0) return [];
  const { kind, items, metadata } = value;
  if (typeof kind !== 'string' || kind === '') throw new KustomizeError(`${path}: missing kind in object`);
  if (kind.endsWith('List')) return (Array.isArray(items) ? items : []).flatMap((item) => expanded(path, item));
  if (!isMap(metadata) || typeof metadata.name !== 'string' || metadata.name === '') {
    throw new KustomizeError(`${path}: missing metadata.name in object of kind ${kind}`);
  }
  return [value];
}

// ---- configurations ----------------------------------------------------------------------------------------------

function readSpecs(path: string, text: Buffer): Partial<Specs> {
  const value = parseYaml(text);
  if (value === null) return {};
  if (!isMap(value)) throw new KustomizeError(`configurations ${path}: this is not an object`);
  for (const [field, list] of Object.entries(value)) {
    if (!Object.hasOwn(builtInSpecs, field)) throw new KustomizeError(`configurations ${path}: unknown field ${JSON.stringify(field)}`);
    if (!Array.isArray(list) || !list.every(isMap)) throw new KustomizeError(`configurations ${path}: ${field} must be a list of objects`);
  }
  return value as unknown as Partial<Specs>;
}
function merged(specs: Specs, more: Partial<Specs>): Specs {
  const entries = Object.entries(specs).map(([field, list]) => [field, [...list, ...(more[field as keyof Specs] ?? [])]]);
  return Object.fromEntries(entries) as Specs;
}
