/** Replacements: a value of one object is copied into fields of others. */
import { type Integer, integerOf, isNumeric } from '@plat-dev/lib/integers';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import { fieldPlaces } from './field-paths.ts';
import { effectiveNamespace, isOfKind, type ObjectId } from './ids.ts';
import type { Loader } from './loader.ts';
import type { Selector } from './patches.ts';
import { isMap, KustomizeError, type Resource, type Resources } from './resource.ts';

interface FieldOptions {
  readonly delimiter?: string;
  readonly index?: number;
  readonly create?: boolean;
}
interface Source extends Partial<ObjectId> {
  readonly fieldPath?: string;
  readonly options?: FieldOptions;
}
interface Target {
  readonly select?: Selector;
  readonly reject?: readonly Selector[];
  readonly fieldPaths?: readonly string[];
  readonly options?: FieldOptions;
}
export interface ReplacementArgs {
  readonly path?: string;
  readonly source?: Source;
  readonly targets?: readonly Target[];
}

export async function applyReplacement(args: ReplacementArgs, resources: Resources, loader: Loader): Promise<void> {
  for (const { source, targets } of await readReplacements(args, loader)) {
    if (source === undefined || targets === undefined || targets.length === 0) {
      throw new KustomizeError('replacements must specify a source and at least one target');
    }
    const value = sourceValue(resources, source);
    for (const target of targets) replaceIn(resources, target, value);
  }
}
/** A file holds one replacement or a list of them. */
async function readReplacements(args: ReplacementArgs, loader: Loader): Promise<readonly ReplacementArgs[]> {
  if (args.path === undefined || args.path === '') return [args];
  const value = parseYaml(await loader.read(args.path));
  const list = Array.isArray(value) ? value : [value];
  if (!list.every(isMap)) throw new KustomizeError(`replacements ${args.path}: the file holds no replacement`);
  return list as readonly ReplacementArgs[];
}

// ---- objects -----------------------------------------------------------------------------------------------------

const isSelected = (id: ObjectId, { name = '', namespace = '', ...kind }: Partial<ObjectId>): boolean =>
  (name === '' || name === id.name) &&
  (namespace === '' || effectiveNamespace({ ...id, namespace }) === effectiveNamespace(id)) &&
  isOfKind(id, kind);

function sourceValue(resources: Resources, source: Source): JsonValue {
  const { fieldPath = 'metadata.name', options, ...id } = source;
  const idText = JSON.stringify(id);
  const sources = resources.byAnyId((one) => isSelected(one, id));
  if (sources.length === 0) throw new KustomizeError(`replacements: nothing selected by ${idText}`);
  if (sources.length > 1) throw new KustomizeError(`replacements: multiple matches for selector ${idText}`);
  const [place] = fieldPlaces((sources[0] as Resource).object, fieldPath || 'metadata.name');
  const value = place?.value;
  if (value === undefined || value === null) {
    throw new KustomizeError(`fieldPath \`${fieldPath}\` is missing for replacement source ${idText}`);
  }
  const { delimiter = '', index = 0 } = options ?? {};
  if (delimiter === '') return value;
  if (typeof value === 'object') throw new KustomizeError('delimiter option can only be used with scalar nodes');
  const part = String(value).split(delimiter)[index];
  if (part === undefined) throw new KustomizeError(`options.index ${index} is out of bounds for value ${String(value)}`);
  return part;
}

function replaceIn(resources: Resources, { select, reject = [], fieldPaths = ['metadata.name'], options }: Target, value: JsonValue): void {
  if (select === undefined) throw new KustomizeError('target must specify resources to select');
  for (const one of resources.list) {
    const rejected = reject.some((other) => matchesAny(one, other) && Object.keys(other).length > 0);
    if (rejected || !matchesAny(one, select)) continue;
    for (const path of fieldPaths)
      for (const place of fieldPlaces(one.object, path, options?.create === true)) place.set(replaced(place.value, value, options));
  }
}
function matchesAny(one: Resource, { labelSelector, annotationSelector, ...id }: Selector): boolean {
  return (
    one.allIds.some((any) => isSelected(any, id)) &&
    parseLabelSelector(labelSelector ?? '').matches(one.texts('labels')) &&
    parseLabelSelector(annotationSelector ?? '').matches(one.texts('annotations'))
  );
}

// ---- values ------------------------------------------------------------------------------------------------------

function replaced(current: JsonValue | undefined, value: JsonValue, options: FieldOptions | undefined): JsonValue {
  const { delimiter = '', index = 0 } = options ?? {};
  let text = value;
  if (delimiter !== '') {
    if (typeof current === 'object' || typeof value === 'object')
      throw new KustomizeError('delimiter option can only be used with scalar nodes');
    const parts = String(current ?? '').split(delimiter);
    if (index < 0) parts.unshift(String(value));
    else if (index >= parts.length) parts.push(String(value));
    else parts[index] = String(value);
    text = parts.join(delimiter);
  }
  return typeof text === 'object' ? cloneJson(text) : asTypeOf(current, text);
}
/** A number that is copied into a text becomes one, and the other way round. */
function asTypeOf(current: JsonValue | undefined, value: string | Integer | boolean): JsonValue {
  if (typeof current === 'string') return String(value);
  if (isNumeric(current) && typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
    return /^[+-]?\d+$/.test(value) ? integerOf(value) : Number(value);
  if (typeof current === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
