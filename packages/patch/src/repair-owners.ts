/**
 * Repairs of field ownership, as new lists of managedFields: a manager takes fields or gives them up, or gets another name.
 * The fields themselves stay as they are.
 */
import { difference, emptySet, type FieldSet, isEmpty, paths, union } from './fieldset.ts';
import {
  identifier,
  type ManagedFields,
  type ManagedFieldsEntry,
  type Manager,
  wholeSeconds,
  withFields,
  writeManagers,
} from './managers.ts';
import { managersOf } from './owners.ts';
import { elementText, SELF } from './path-element.ts';

/** A repair that the entries do not allow; the message says why. */
class OwnershipError extends Error {}

/** The manager that owns the fields afterwards. */
export interface NewOwner {
  readonly name: string;
  readonly operation: Manager['operation'];
  /** Empty for the object itself. */
  readonly subresource: string;
}

/** The list after `owner` has become the only owner of the fields and of all that is owned below them. */
export function takeFields(entries: ManagedFields, fields: readonly string[], owner: NewOwner, now: number): ManagedFieldsEntry[] {
  const managers = managersOf(entries);
  const taken = namedFields(managers, fields);
  const apiVersion = versionOf(managers, taken, owner);
  const rest = managers.map((manager) => withFields(manager, difference(manager.fields, taken)));
  const gained: Manager = { ...owner, apiVersion, time: wholeSeconds(now), fields: taken, entry: undefined };
  return written(merged([...rest, gained]));
}
/** The version of the fields: sets of different versions cannot be joined. */
function versionOf(managers: readonly Manager[], taken: FieldSet, owner: NewOwner): string {
  const losers = managers.filter(({ fields }) => difference(fields, taken) !== fields);
  const existing = managers.find((manager) => isOwner(manager, owner));
  const versions = new Set([...losers, ...(existing === undefined ? [] : [existing])].map(({ apiVersion }) => apiVersion));
  if (versions.size > 1) throw new OwnershipError(`the fields are owned in different versions: ${[...versions].join(', ')}`);
  return [...versions][0] as string;
}
const isOwner = (manager: Manager, { name, operation, subresource }: NewOwner): boolean =>
  manager.name === name && manager.operation === operation && manager.subresource === subresource;

/** The list after a manager has given up fields and all below them; without `fields` everything that it owns. */
export function releaseFields(
  entries: ManagedFields,
  fields: readonly string[],
  { name, operation }: { readonly name: string; readonly operation?: Manager['operation'] | undefined },
): ManagedFieldsEntry[] {
  const managers = managersOf(entries);
  const releasing = managers.filter((manager) => manager.name === name && (operation === undefined || manager.operation === operation));
  if (releasing.length === 0) throw unknownManager(managers, name, operation);
  const released = fields.length === 0 ? undefined : namedFields(releasing, fields);
  return written(
    managers.map((manager) => {
      if (!releasing.includes(manager)) return manager;
      return withFields(manager, released === undefined ? emptySet : difference(manager.fields, released));
    }),
  );
}

/**
 * The list after a manager has got another name, or the fields of its updates have become those that it applies (`asApply`). Entries
 * that are about the same manager then are joined.
 */
export function renameManager(entries: ManagedFields, from: string, to: string, { asApply }: { asApply: boolean }): ManagedFieldsEntry[] {
  const managers = managersOf(entries);
  if (!managers.some(({ name }) => name === from)) throw unknownManager(managers, from, undefined);
  const renamed = managers.map((manager): Manager => {
    if (manager.name !== from) return manager;
    return { ...manager, name: to, operation: asApply ? 'Apply' : manager.operation, entry: undefined };
  });
  return written(merged(renamed));
}

/** Managers with one entry each: sets of the same manager are joined, and the newest time counts. */
function merged(managers: readonly Manager[]): Manager[] {
  const byIdentity = new Map<string, Manager>();
  for (const manager of managers) {
    const key = identifier(manager);
    const other = byIdentity.get(key);
    if (other !== undefined && other.apiVersion !== manager.apiVersion && !isEmpty(other.fields)) {
      const versions = `${other.apiVersion} and ${manager.apiVersion}`;
      throw new OwnershipError(`entries of ${JSON.stringify(manager.name)} are of different versions, ${versions}, and cannot be joined`);
    }
    byIdentity.set(key, other === undefined ? manager : joined(other, manager));
  }
  return [...byIdentity.values()];
}
function joined(a: Manager, b: Manager): Manager {
  const newest = (a.time ?? '') > (b.time ?? '') ? a : b;
  return { ...b, time: newest.time, fields: union(a.fields, b.fields), entry: undefined };
}
/** An empty list in a request leaves the owners as they are; one with an empty entry removes them all. */
function written(managers: readonly Manager[]): ManagedFieldsEntry[] {
  return writeManagers(managers.filter(({ fields }) => !isEmpty(fields))) ?? [{}];
}

// ---- fields by their text ----------------------------------------------------------------------------------------

/** The members at and below the named fields. Throws OwnershipError for a field that none of the managers owns. */
function namedFields(managers: readonly Manager[], fields: readonly string[]): FieldSet {
  let named = emptySet;
  const owned = managers.map((manager) => manager.fields).reduce(union, emptySet);
  for (const field of fields) {
    const part = partNamed(owned, field.startsWith('.') ? field : `.${field}`);
    if (part === undefined) throw new OwnershipError(`no manager owns the field ${field}`);
    named = union(named, part);
  }
  return named;
}
/** Names may contain dots: the text is compared with what there is rather than split. Quotes may be left out. */
function partNamed(set: FieldSet, text: string): FieldSet | undefined {
  if (text === '') return set;
  for (const element in set) {
    if (element === SELF) continue;
    const exact = elementText(element);
    for (const name of [exact, exact.replaceAll('"', '')]) {
      const part = text.startsWith(name) ? partNamed(set[element] as FieldSet, text.slice(name.length)) : undefined;
      if (part !== undefined) return { [element]: part };
    }
  }
  return undefined;
}
function unknownManager(managers: readonly Manager[], name: string, operation: string | undefined): OwnershipError {
  const names = [...new Set(managers.map((manager) => manager.name))].map((known) => JSON.stringify(known)).join(', ');
  const how = operation === undefined ? '' : ` by ${operation}`;
  return new OwnershipError(`${JSON.stringify(name)} owns no fields${how}; managers are ${names === '' ? 'not recorded' : names}`);
}

// ---- changes -----------------------------------------------------------------------------------------------------

export interface OwnershipChange {
  readonly manager: Manager;
  readonly gains: readonly string[];
  readonly loses: readonly string[];
}
/** What each manager has gained and lost between two lists; those without a change are left out. */
export function ownershipChanges(before: ManagedFields, after: ManagedFields): OwnershipChange[] {
  const earlier = byIdentifier(before);
  const later = byIdentifier(after.filter(({ operation }) => operation !== undefined));
  return [...new Set([...earlier.keys(), ...later.keys()])].flatMap((key) => {
    const [old, current] = [earlier.get(key), later.get(key)];
    const [oldFields, currentFields] = [old?.fields ?? emptySet, current?.fields ?? emptySet];
    const change = { gains: paths(difference(currentFields, oldFields)), loses: paths(difference(oldFields, currentFields)) };
    return change.gains.length + change.loses.length === 0 ? [] : [{ manager: (current ?? old) as Manager, ...change }];
  });
}
const byIdentifier = (entries: ManagedFields): Map<string, Manager> =>
  new Map(managersOf(entries).map((manager) => [identifier(manager), manager]));
