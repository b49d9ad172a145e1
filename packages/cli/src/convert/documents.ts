/** Converts the documents of a text: objects, lists of objects, and other values. */
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isObject } from './carry-changes.ts';
import type { Catalogue, Goal } from './catalogue.ts';
import { convertObject } from './convert-object.ts';
import type { Note } from './notes.ts';

/** The outcome for one object. */
export interface Outcome {
  /** Where it stands: `web.yaml, document 2`. */
  readonly source: string;
  /** `Ingress shop/web` */
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Undefined for what is no kind of the API. */
  readonly served?: ServedKind;
  /** The version that it was converted to. */
  readonly converted?: string;
  readonly notes: readonly Note[];
  /** Why it stays as it is, where its version should not. */
  readonly leftReason?: string;
  /** The release has no version for it. */
  readonly isGone?: boolean;
  readonly error?: string;
}

export class Converter {
  readonly outcomes: Outcome[] = [];
  private readonly catalogue: Catalogue;
  private readonly goal: Goal;

  constructor(catalogue: Catalogue, goal: Goal) {
    this.catalogue = catalogue;
    this.goal = goal;
  }

  /** The values of the documents of a text, converted. */
  documents(values: readonly JsonValue[], source: string): JsonValue[] {
    return values.map((value, i) => this.value(value, values.length > 1 ? `${source}, document ${i + 1}` : source));
  }

  private value(value: JsonValue, source: string): JsonValue {
    if (value === null) return value;
    if (!isObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') {
      this.outcomes.push({
        source,
        name: '',
        apiVersion: '',
        kind: '',
        notes: [],
        leftReason: 'not an API object: it has no apiVersion and kind',
      });
      return value;
    }
    const { items, kind } = value;
    if (Array.isArray(items) && kind.endsWith('List')) return this.list(value, items, source);
    return this.object(value, value.apiVersion, kind, source) ?? value;
  }

  private list(list: JsonObject, items: readonly JsonValue[], source: string): JsonObject {
    const kind = (list.kind as string).slice(0, -'List'.length);
    const converted = items.map((item, i) => {
      const at = `${source}, item ${i + 1}`;
      if (kind === '' || !isObject(item) || item.apiVersion !== undefined) return this.value(item, at);
      // Items of a typed list need no apiVersion and kind.
      const convertedItem = this.object(item, list.apiVersion as string, kind, at);
      if (convertedItem === undefined) return item;
      const { apiVersion: _, kind: named, ...rest } = convertedItem;
      return item.kind === undefined ? rest : { kind: named as JsonValue, ...rest };
    });
    return { ...list, apiVersion: this.listVersion(list, kind), items: converted };
  }
  private listVersion({ apiVersion }: JsonObject, kind: string): string {
    const served = kind === '' ? undefined : this.catalogue.find(apiVersion as string, kind);
    const to = served && this.catalogue.target(served, apiVersion as string, this.goal).to;
    return to?.apiVersion ?? (apiVersion as string);
  }

  /** The converted object; undefined where it stays as it is. */
  private object(object: JsonObject, apiVersion: string, kind: string, source: string): JsonObject | undefined {
    const about = { source, name: nameOf(object, kind), apiVersion, kind };
    const served = this.catalogue.find(apiVersion, kind);
    if (served === undefined) {
      const leftReason = this.catalogue.isBuiltIn(apiVersion) ? `unknown kind ${kind} in ${apiVersion}` : 'custom kind';
      this.outcomes.push({ ...about, notes: [], leftReason });
      return undefined;
    }
    const { to, why, isGone } = this.catalogue.target(served, apiVersion, this.goal);
    if (to === undefined) {
      this.outcomes.push({ ...about, served, notes: [], leftReason: why ?? '', ...(isGone && { isGone }) });
      return undefined;
    }
    if (to.apiVersion === apiVersion) {
      this.outcomes.push({ ...about, served, notes: [] });
      return undefined;
    }
    try {
      const { object: convertedItem, notes } = convertObject({ ...object, apiVersion, kind }, served, to);
      this.outcomes.push({ ...about, served, converted: to.apiVersion, notes });
      return convertedItem;
    } catch (error) {
      this.outcomes.push({ ...about, served, notes: [], error: `cannot be converted: ${(error as Error).message}` });
      return undefined;
    }
  }
}

function nameOf({ metadata }: JsonObject, kind: string): string {
  const { name, generateName, namespace } = isObject(metadata) ? metadata : {};
  const own = typeof name === 'string' ? name : typeof generateName === 'string' ? `${generateName}*` : '';
  return `${kind} ${typeof namespace === 'string' ? `${namespace}/` : ''}${own}`.trimEnd();
}
