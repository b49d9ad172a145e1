/** Patches of a kustomization: strategic merges and JSON patches, of files or of the kustomization itself. */
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { jsonPatch } from '@plat-dev/patch/json-patch';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import { parseYamlDocuments } from '@plat-dev/schema/yaml';
import { effectiveNamespace, idText, type ObjectId, plainGroup } from './ids.ts';
import type { Loader } from './loader.ts';
import { mergePatch } from './merge.ts';
import { isMap, KustomizeError, Resource, type Resources } from './resource.ts';

/** Which objects; texts are regular expressions that match the whole. */
export interface Selector extends Partial<ObjectId> {
  readonly labelSelector?: string;
  readonly annotationSelector?: string;
}
export interface PatchArgs {
  readonly path?: string;
  readonly patch?: string;
  readonly target?: Selector;
  readonly options?: { readonly allowNameChange?: boolean; readonly allowKindChange?: boolean };
}
/** Undefined for custom kinds. */
export type SchemaOf = (apiVersion: string, kind: string) => Promise<MessageType | undefined>;

/** The objects that a selector matches by their current or original name. */
function select(resources: Resources, selector: Selector): Resource[] {
  const group = matcher(selector.group);
  const version = matcher(selector.version);
  const kind = matcher(selector.kind);
  const name = matcher(selector.name);
  const namespace = matcher(selector.namespace);
  const labels = parseLabelSelector(selector.labelSelector ?? '');
  const annotations = parseLabelSelector(selector.annotationSelector ?? '');
  return resources.list.filter((one) => {
    const { id, originalId } = one;
    return (
      (name(id.name) || name(originalId.name)) &&
      (namespace(effectiveNamespace(id)) || namespace(effectiveNamespace(originalId))) &&
      (group(id.group) || group(plainGroup(id.group))) &&
      version(id.version) &&
      kind(id.kind) &&
      labels.matches(one.texts('labels')) &&
      annotations.matches(one.texts('annotations'))
    );
  });
}
/** A regular expression for the whole text; an empty one matches all. */
function matcher(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined || pattern === '') return () => true;
  try {
    const expression = new RegExp(`^(?:${pattern})$`);
    return (text) => expression.test(text);
  } catch {
    throw new KustomizeError(`${JSON.stringify(pattern)} is not a valid regular expression`);
  }
}

/** An entry of `patches` or `patchesJson6902`. `field` names it in messages. */
export async function applyPatch(
  field: string,
  args: PatchArgs,
  resources: Resources,
  loader: Loader,
  schemaOf: SchemaOf,
  mustMatch = false,
): Promise<void> {
  const { path = '', patch = '', target, options } = args;
  if ((path === '') === (patch.trim() === '')) throw new KustomizeError(`${field}: an entry needs either path or patch`);
  const text = path === '' ? patch : (await loader.read(path)).toString();
  const where = path === '' ? field : `${field} ${path}`;
  const parsed = parsePatch(where, text);
  if (Array.isArray(parsed)) {
    if (target === undefined) throw new KustomizeError(`${where}: a JSON patch needs a target`);
    const patchTargets = select(resources, target);
    if (mustMatch && patchTargets.length === 0)
      throw new KustomizeError(`${where}: no object matches the target ${JSON.stringify(target)}`);
    for (const one of patchTargets) applyJsonPatch(where, parsed, one);
    return;
  }
  for (const one of parsed.patches) {
    const patchResource = new Resource(one);
    const patchTargets = target === undefined ? [resources.theOne(patchResource.id)] : select(resources, target);
    for (const resource of patchTargets) await applyMerge(resource, one, schemaOf, options);
  }
  resources.list = resources.list.filter((one) => Object.keys(one.object).length > 0);
}

/** An entry of `patchesStrategicMerge`: a path, or the patch itself. */
export async function applyStrategicPatch(entry: string, resources: Resources, loader: Loader, schemaOf: SchemaOf): Promise<void> {
  const isInline = entry.includes('\n') || /^\s*\{/.test(entry);
  await applyPatch('patchesStrategicMerge', isInline ? { patch: entry } : { path: entry }, resources, loader, schemaOf);
}

/** The operations of a JSON patch, or one or more strategic merge patches. */
function parsePatch(where: string, text: string): JsonValue[] | { readonly patches: JsonObject[] } {
  let documents: JsonValue[];
  try {
    documents = parseYamlDocuments(text, { words: true }).filter((one) => one !== null);
  } catch (error) {
    throw new KustomizeError(`${where}: unable to parse SM or JSON patch: ${(error as Error).message}`);
  }
  const [only] = documents;
  if (documents.length === 1 && Array.isArray(only)) return only;
  if (documents.length === 0) throw new KustomizeError(`${where}: the patch is empty`);
  const patches = documents.map((document) => {
    if (!isMap(document))
      throw new KustomizeError(`${where}: unable to parse SM or JSON patch: it is neither an object nor a list of operations`);
    const { metadata, kind } = document;
    if (typeof kind !== 'string' || !isMap(metadata) || typeof metadata.name !== 'string') {
      throw new KustomizeError(`${where}: a strategic merge patch needs kind and metadata.name`);
    }
    return document;
  });
  return { patches };
}

function applyJsonPatch(where: string, operations: JsonValue[], resource: Resource): void {
  resource.remember();
  try {
    resource.object = jsonPatch(operations)(resource.object) as JsonObject;
  } catch (error) {
    const cause = (error as Error).cause;
    throw new KustomizeError(`${where}: ${idText(resource.id)}: ${typeof cause === 'string' ? cause : (error as Error).message}`);
  }
}

async function applyMerge(resource: Resource, patch: JsonObject, schemaOf: SchemaOf, options: PatchArgs['options']): Promise<void> {
  const { id, namespace } = resource;
  const schema = await schemaOf(String(resource.object.apiVersion ?? ''), id.kind);
  if (options?.allowNameChange === true || options?.allowKindChange === true) resource.remember();
  // The patch names its target, which may be another object when a selector chose it.
  const { apiVersion: _, ...changes } = cloneJson(patch) as JsonObject;
  const merged = mergePatch(schema, resource.object, changes);
  if (merged === undefined) {
    resource.object = {};
    return;
  }
  resource.object = merged;
  if (options?.allowKindChange !== true) resource.object.kind = id.kind;
  if (options?.allowNameChange !== true) resource.name = id.name;
  resource.namespace = namespace;
}
