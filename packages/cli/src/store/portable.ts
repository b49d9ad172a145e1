/**
 * Objects for another server: without the fields that their own server set, and with the names of the other identity.
 *
 * Left out are objects that every server or its controllers make themselves: they would conflict with those of the other server.
 */

import { builtinKinds } from '@plat-dev/kinds';
import { alphaKinds } from '@plat-dev/kinds/alpha-kinds';
import { setOwn } from '@plat-dev/lib/own';
import { groupOfApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, domainName, groupName, type Identity, identities } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export interface Exported extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: JsonObject;
}

/** Fields of metadata that a server sets. */
const serverFields = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'selfLink',
  'ownerReferences',
];

/** Whether the servers make such objects by themselves. */
export function isOwn({ apiVersion, kind, metadata }: Exported, identity: Identity): boolean {
  const group = baseGroup(identity, groupOfApiVersion(apiVersion));
  if (kind === 'Event' || kind === 'EndpointSlice' || (group === 'coordination' && kind === 'Lease')) return true;
  const owners = metadata.ownerReferences as { controller?: boolean }[] | undefined;
  if (owners?.some(({ controller }) => controller === true)) return true;
  const labels = (metadata.labels ?? {}) as Record<string, string>;
  const annotations = (metadata.annotations ?? {}) as Record<string, string>;
  if (labels[domainName(identity, 'bootstrapping')] !== undefined) return true;
  if (labels[domainName(identity, 'automanaged', 'kube-aggregator')] !== undefined) return true;
  if (annotations[domainName(identity, 'autoupdate-spec', 'apf')] === 'true') return true;
  const name = metadata.name as string;
  if (kind === 'PriorityClass' && name.startsWith('system-')) return true;
  if (kind === 'ConfigMap' && name === identity.rootCAConfigMap) return true;
  return (kind === 'Service' || kind === 'Endpoints') && metadata.namespace === 'default' && name === identity.serviceName;
}

/** Tokens are signed by a key that the other server does not have. */
export const isToken = ({ kind, type }: Exported, identity: Identity): boolean =>
  kind === 'Secret' && type === domainName(identity, 'service-account-token');

/** Without the fields that the server set. */
export function stripped(object: Exported): Exported {
  const { status: _, ...rest } = object;
  const metadata: JsonObject = {};
  for (const [name, value] of Object.entries(object.metadata)) if (!serverFields.includes(name)) setOwn(metadata, name, value);
  const portable = { ...rest, metadata } as Exported;
  if (object.kind === 'Namespace' && groupOfApiVersion(object.apiVersion) === '') delete portable.spec;
  return portable;
}

/** Fields with content of users: nothing in them is renamed. */
const foreign = new Set(['data', 'binaryData', 'stringData', 'args', 'command', 'env', 'caBundle']);

/** Gives objects of one identity the names of another. */
export function renamer(from: Identity, to: Identity): (object: Exported) => Exported {
  if (from.name === to.name) return (object) => object;
  const groups = new Map<string, string>();
  for (const { group, custom } of [...builtinKinds(from), ...alphaKinds])
    if (!custom) groups.set(groupName(from, group), groupName(to, group));
  const namespaces = new Map<string, string>();
  for (const place of ['system', 'public', 'nodeLease'] as const) namespaces.set(from.namespaces[place], to.namespaces[place]);
  const word = (text: string): string => {
    const slash = text.indexOf('/');
    const head = slash < 0 ? text : text.slice(0, slash);
    const rest = slash < 0 ? '' : text.slice(slash);
    const group = groups.get(head);
    if (group !== undefined && head !== '') return group + rest;
    if (slash < 0) return text;
    if (head === from.domain) return to.domain + rest;
    return head.endsWith(`.${from.domain}`) ? head.slice(0, -from.domain.length) + to.domain + rest : text;
  };
  const walk = (value: JsonValue, field: string): JsonValue => {
    if (typeof value === 'string') return field === 'namespace' ? (namespaces.get(value) ?? value) : word(value);
    if (Array.isArray(value)) return value.map((item) => walk(item, field));
    if (typeof value !== 'object' || value === null) return value;
    const walked: JsonObject = {};
    for (const [name, inner] of Object.entries(value)) setOwn(walked, word(name), foreign.has(name) ? inner : walk(inner, name));
    return walked;
  };
  return (object) => {
    const renamed = walk(object, '') as Exported;
    const name = object.metadata.name as string;
    if (object.kind === 'Namespace' && groupOfApiVersion(object.apiVersion) === '') renamed.metadata.name = namespaces.get(name) ?? name;
    return renamed;
  };
}

/** The identity whose names an object has; undefined if it has no such names. */
export function identityOfObject({ apiVersion }: Exported): Identity | undefined {
  const group = groupOfApiVersion(apiVersion);
  return Object.values(identities).find(({ groupSuffix }) => group.endsWith(`.${groupSuffix}`));
}

/** The order in which objects are created: those that others need first, those that may deny others last. Names of directories. */
export const ranks = ['0-namespaces', '1-definitions', '2-cluster', '3-settings', '4-objects', '5-webhooks'] as const;
const settings = new Set(['ConfigMap', 'Secret', 'ServiceAccount', 'ResourceQuota', 'LimitRange', 'Role', 'RoleBinding']);
const last = new Set(['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration', 'APIService']);

export function rankOf({ apiVersion, kind, metadata }: Exported): number {
  if (kind === 'Namespace' && groupOfApiVersion(apiVersion) === '') return 0;
  if (kind === 'CustomResourceDefinition') return 1;
  if (last.has(kind)) return 5;
  if (metadata.namespace === undefined) return 2;
  return settings.has(kind) ? 3 : 4;
}

/** Where an object stands in a directory of manifests: `4-objects/shop/deployment.apps/web.yaml`. */
export function pathOf(object: Exported): string {
  const { apiVersion, kind, metadata } = object;
  const group = groupOfApiVersion(apiVersion);
  const type = group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
  const parts = [ranks[rankOf(object)] as string, metadata.namespace as string | undefined, type, `${metadata.name as string}.yaml`];
  return parts
    .filter((part) => part !== undefined)
    .map(fileName)
    .join('/');
}
const fileName = (text: string): string => text.replace(/[^\w.:@-]|^\./g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);
