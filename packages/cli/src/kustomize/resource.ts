/** An object of a kustomization with the names that it had, and the objects of a kustomization together. */
import { setOwn } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { effectiveNamespace, idText, kindIdOf, type ObjectId, sameId } from './ids.ts';

/** A fault of a kustomization or of a file that it names. */
export class KustomizeError extends Error {}

export type Behavior = 'create' | 'merge' | 'replace';

export const isMap = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class Resource {
  object: JsonObject;
  /** Names before each change, oldest first; references are found by them. */
  previous: Omit<ObjectId, 'group' | 'version'>[] = [];
  /** Innermost first. */
  prefixes: string[] = [];
  suffixes: string[] = [];
  needsHash = false;
  /** Names of the vars that take their value from it. */
  vars: string[] = [];

  constructor(object: JsonObject) {
    this.object = object;
  }
  private get metadata(): JsonObject {
    return isMap(this.object.metadata) ? this.object.metadata : {};
  }
  get kind(): string {
    return textOf(this.object.kind);
  }
  get name(): string {
    return textOf(this.metadata.name);
  }
  set name(name: string) {
    this.setMetadata('name', name);
  }
  get namespace(): string {
    return textOf(this.metadata.namespace);
  }
  set namespace(namespace: string) {
    if (namespace === '') delete this.metadata.namespace;
    else this.setMetadata('namespace', namespace);
  }
  private setMetadata(field: string, value: JsonValue): void {
    if (!isMap(this.object.metadata)) this.object.metadata = {};
    setOwn(this.object.metadata as JsonObject, field, value);
  }
  texts(field: 'labels' | 'annotations'): Record<string, string> {
    return textsOf(this.metadata[field]);
  }
  setTexts(field: 'labels' | 'annotations', values: Readonly<Record<string, string>>): void {
    if (Object.keys(values).length === 0) delete this.metadata[field];
    else this.setMetadata(field, { ...values });
  }
  get id(): ObjectId {
    return { ...kindIdOf(textOf(this.object.apiVersion), this.kind), name: this.name, namespace: this.namespace };
  }
  get previousIds(): ObjectId[] {
    const { group, version } = this.id;
    return this.previous.map((one) => ({ group, version, ...one }));
  }
  /** The id that the files give it. */
  get originalId(): ObjectId {
    return this.previousIds[0] ?? this.id;
  }
  get allIds(): ObjectId[] {
    return [...this.previousIds, this.id];
  }
  /** Before its name, namespace or kind changes. */
  remember(): void {
    const { kind, name } = this.id;
    this.previous.push({ kind, name, namespace: effectiveNamespace(this.id) });
  }
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
function textsOf(value: JsonValue | undefined): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, one] of Object.entries(isMap(value) ? value : {})) if (typeof one === 'string') setOwn(texts, key, one);
  return texts;
}

/** The objects of a kustomization, in the order of its files. */
export class Resources {
  list: Resource[] = [];

  add(resource: Resource): void {
    const { id } = resource;
    if (this.list.some((one) => sameId(one.id, id)))
      throw new KustomizeError(`may not add resource with an already registered id: ${idText(id)}`);
    this.list.push(resource);
  }
  /** Those that have or had an id. */
  byAnyId(matches: (id: ObjectId) => boolean): Resource[] {
    return this.list.filter((one) => one.allIds.some(matches));
  }
  /** The object that a patch names. Throws unless there is exactly one. */
  theOne(wantedId: ObjectId): Resource {
    const matches = this.byAnyId((id) => sameId(id, wantedId));
    if (matches.length === 1) return matches[0] as Resource;
    const text = idText(wantedId);
    throw new KustomizeError(
      `${matches.length === 0 ? 'no' : 'multiple'} matches for Id ${text}; failed to find unique target for patch ${text}`,
    );
  }
  /** Adds what a generator made, or merges it into the object of the same name. */
  absorb(generated: Resource, behavior: Behavior): void {
    const matches = this.byAnyId((id) => sameId(id, generated.id));
    const text = idText(generated.id);
    if (matches.length > 1) throw new KustomizeError(`found multiple objects that could accept merge of ${text}`);
    const old = matches[0];
    if (old === undefined) {
      if (behavior !== 'create') throw new KustomizeError(`id ${text} does not exist; cannot merge or replace`);
      this.add(generated);
      return;
    }
    if (behavior === 'create') throw new KustomizeError(`id ${text} exists; behavior must be merge or replace`);
    generated.setTexts('labels', { ...old.texts('labels'), ...generated.texts('labels') });
    generated.setTexts('annotations', { ...old.texts('annotations'), ...generated.texts('annotations') });
    generated.name = old.name;
    generated.namespace = old.namespace;
    generated.previous = old.previous;
    generated.prefixes = old.prefixes;
    generated.suffixes = old.suffixes;
    generated.needsHash = old.needsHash;
    generated.vars = old.vars;
    if (behavior === 'merge') {
      for (const field of ['data', 'binaryData'] as const) {
        const merged = { ...textsOf(old.object[field]), ...textsOf(generated.object[field]) };
        if (Object.keys(merged).length > 0) generated.object[field] = merged;
      }
    }
    this.list[this.list.indexOf(old)] = generated;
  }
}
