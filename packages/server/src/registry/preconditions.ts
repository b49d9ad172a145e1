/** Precondition errors of a replace, in the text of a stock server, which names the storage key of the object. */
import { type ApiError, conflict } from '@plat-dev/meta/errors';
import type { Resource } from './catalog.ts';
import type { Target } from './context.ts';

/** Kinds that a stock server stores under another name than their plural, by base group and plural. */
const otherNames: Readonly<Record<string, string>> = {
  '/endpoints': 'services/endpoints',
  '/nodes': 'minions',
  '/replicationcontrollers': 'controllers',
  '/services': 'services/specs',
  'networking/ingresses': 'ingress',
  'policy/podsecuritypolicies': 'podsecuritypolicy',
};
/** Groups that a stock server stores under their full names. */
const keptByGroup: ReadonlySet<string> = new Set(['apiextensions', 'apiregistration']);

/** `/registry/leases/shop/n1`, `/registry/minions/n1`, `/registry/example.com/lamps/default/desk` */
export function stockKey({ resource, namespace, name }: Pick<Target, 'resource' | 'namespace' | 'name'>): string {
  const { kind } = resource;
  return `/registry/${folderOf(resource)}/${kind.namespaced ? `${namespace}/` : ''}${name}`;
}

function folderOf({ kind, group, custom }: Resource): string {
  if (custom || keptByGroup.has(kind.group)) return `${group}/${kind.plural}`;
  return otherNames[`${kind.group}/${kind.plural}`] ?? kind.plural;
}

/** The stored object is not the one that the precondition names. */
export function uidDiffers(target: Target, expectedUid: string, actual: string | undefined): ApiError {
  const why = `Precondition failed: UID in precondition: ${expectedUid}, UID in object meta: ${actual ?? ''}`;
  return conflict(
    target.resource.resource,
    target.name,
    `StorageError: invalid object, Code: 4, Key: ${stockKey(target)}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
  );
}
