/** Who owns which field of an object, for tools that show it. */
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { parseExact } from '@plat-dev/schema/json/parse';
import { conflictName } from './conflicts.ts';
import { type FieldSet, isMember } from './fieldset.ts';
import { type ManagedFields, type Manager, readManagers } from './managers.ts';
import { elementText, keysElement } from './path-element.ts';
import { isObject, type Values } from './shape.ts';

export interface OwnedField {
  /** `.spec.containers[name="main"].image`, as in the messages of conflicts. */
  readonly field: string;
  /** Where it stands in the object: `/spec/containers/0/image`. */
  readonly pointer: string;
  readonly value: unknown;
  readonly owners: readonly Manager[];
}

/** The managers of a list that a server sent; none if it cannot be read. */
export const managersOf = (entries: ManagedFields | undefined): Manager[] => readManagers(entries ?? [], false) ?? [];

/** The fields of an object that have owners, in the order in which they stand in it. */
export function ownedFields(entries: ManagedFields | undefined, object: Values): OwnedField[] {
  const fields: OwnedField[] = [];
  const roots = managersOf(entries).map((manager) => ({ manager, node: manager.fields }));
  collect(object, roots, { field: '', pointer: '' }, fields);
  return fields;
}

/** The owner that the message of a conflict names: `conflict with "hpa" using apps/v1`. */
const conflictingOwner = ({ owners }: OwnedField, message: string): Manager | undefined =>
  owners.find((owner) => message === `conflict with ${conflictName(owner)}`);

/** A field of an apply that another manager owns. */
export interface FieldConflict {
  readonly field: string;
  readonly manager: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly since?: string;
  readonly current?: unknown;
  readonly wanted?: unknown;
}

/** The conflicts that an apply of `wanted` was refused for. `existing`: the stored object, if the caller may read it. */
export function fieldConflicts(
  causes: readonly { readonly field?: string; readonly message?: string }[],
  entries: ManagedFields | undefined,
  existing: Values | undefined,
  wanted: Values,
): FieldConflict[] {
  const fieldsIn = (object: Values): Map<string, OwnedField> => new Map(ownedFields(entries, object).map((owned) => [owned.field, owned]));
  const [currentFields, wantedFields] = [fieldsIn(existing ?? {}), fieldsIn(wanted)];
  return causes.map(({ field = '', message = '' }) => {
    const current = currentFields.get(field);
    const owner = current && conflictingOwner(current, message);
    return {
      field,
      manager: owner?.name ?? message.replace(/^conflict with /, ''),
      ...(owner && { operation: owner.operation }),
      ...(owner && owner.subresource !== '' && { subresource: owner.subresource }),
      ...(owner?.time !== undefined && { since: owner.time }),
      ...(current && { current: current.value }),
      ...(wantedFields.has(field) && { wanted: wantedFields.get(field)?.value }),
    };
  });
}

/** The part of a manager's set that is about one value. */
interface OwnedNode {
  readonly manager: Manager;
  readonly node: FieldSet;
}
function collect(value: unknown, nodes: readonly OwnedNode[], place: Pick<OwnedField, 'field' | 'pointer'>, fields: OwnedField[]): void {
  for (const { key, element, inner } of partsOf(value, nodes)) {
    const innerNodes = nodes.flatMap(({ manager, node }) => {
      const innerNode = own(node, element);
      return innerNode === undefined ? [] : [{ manager, node: innerNode }];
    });
    if (innerNodes.length === 0) continue;
    const innerPlace = { field: place.field + elementText(element), pointer: `${place.pointer}/${pointerPart(key)}` };
    const owners = innerNodes.filter(({ node }) => isMember(node)).map(({ manager }) => manager);
    if (owners.length > 0) fields.push({ ...innerPlace, value: inner, owners });
    collect(inner, innerNodes, innerPlace, fields);
  }
}
export const pointerPart = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

interface Part {
  readonly key: string | number;
  readonly element: string;
  readonly inner: unknown;
}
function partsOf(value: unknown, nodes: readonly OwnedNode[]): Part[] {
  if (isObject(value)) return Object.entries(value).map(([key, inner]) => ({ key, element: `f:${key}`, inner }));
  if (!Array.isArray(value)) return [];
  const keyLists = keyListsOf(nodes);
  return value.flatMap((inner: unknown, key) => elementsOf(inner, key, keyLists).map((element) => ({ key, element, inner })));
}
/** The names of keys by which the sets tell the items of a list apart; mostly one list of names. */
function keyListsOf(nodes: readonly OwnedNode[]): string[][] {
  const keyLists = new Map<string, string[]>();
  for (const { node } of nodes)
    for (const element in node) {
      if (!element.startsWith('k:')) continue;
      const names = Object.keys(parseExact(element.slice(2)) as object);
      keyLists.set(jsonText(names), names);
    }
  return [...keyLists.values()];
}
function elementsOf(item: unknown, index: number, keyLists: readonly string[][]): string[] {
  if (!isObject(item)) return [`v:${jsonText(item)}`, `i:${index}`];
  const keyed = keyLists.filter((names) => names.every((name) => own(item, name) !== undefined));
  return [...keyed.map((names) => keysElement(names.map((name) => [name, own(item, name)]))), `i:${index}`];
}
