/**
 * Ownership through the `scale` subresource. There the object shows only its number of replicas, as another kind; the
 * owner of the field behind it owns the number. A write to the view is validated on the view, and then carried back.
 *
 *   managers of the object ──viewManagers──▸ managers of the view ──write──▸ ──objectManagers──▸ managers of the object
 */
import { difference, has, isEmpty, setOf } from './fieldset.ts';
import { type ManagedFields, type ManagedFieldsEntry, type Manager, readManagers, withFields, writeManagers } from './managers.ts';

/**
 * The field behind the number, as a path of names, in a version of the kind; an empty path in a version without scale,
 * undefined if there is no such version.
 */
export type ReplicasPath = (apiVersion: string) => readonly string[] | undefined;

const replicasOfView = setOf(['f:spec', 'f:replicas']);
const elements = (path: readonly string[]): string[] => path.map((name) => `f:${name}`);

/** managedFields of the view: those of the object that own the field behind the number. */
export function viewManagers(
  entries: ManagedFields | undefined,
  pathOf: ReplicasPath,
  viewVersion: string,
): ManagedFieldsEntry[] | undefined {
  const managers: Manager[] = [];
  for (const manager of readManagers(entries ?? [], true) ?? []) {
    const path = pathOf(manager.apiVersion);
    if (path !== undefined && ownsNumber(manager, path))
      managers.push({ ...manager, apiVersion: viewVersion, fields: replicasOfView, entry: undefined });
  }
  return writeManagers(managers);
}

/** managedFields of the object after a write resulted in `view`. New entries carry no time. */
export function objectManagers(
  entries: ManagedFields | undefined,
  view: ManagedFields | undefined,
  pathOf: ReplicasPath,
  apiVersion: string,
): ManagedFieldsEntry[] | undefined {
  const owners = readManagers(view ?? [], true) ?? [];
  const path = pathOf(apiVersion);
  const managersAfter: Manager[] = [];
  for (const manager of readManagers(entries ?? [], true) ?? []) {
    const scalePath = pathOf(manager.apiVersion);
    if (scalePath === undefined) continue;
    const at = owners.findIndex((owner) => isSame(owner, manager));
    if (!ownsNumber(manager, scalePath)) managersAfter.push(manager);
    else if (at >= 0) {
      owners.splice(at, 1);
      managersAfter.push(manager);
    } else {
      const otherFields = difference(manager.fields, setOf(elements(scalePath)));
      if (!isEmpty(otherFields)) managersAfter.push(withFields(manager, otherFields));
    }
  }
  if (path !== undefined)
    for (const owner of owners)
      managersAfter.push({ ...owner, apiVersion, time: undefined, fields: setOf(elements(path)), entry: undefined });
  return writeManagers(managersAfter);
}
const ownsNumber = ({ fields }: Manager, path: readonly string[]): boolean => path.length > 0 && has(fields, elements(path));

function isSame(a: Manager, b: Manager): boolean {
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource;
}
