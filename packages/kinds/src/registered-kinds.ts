/**
 * The kinds that a body may name, for the messages of a stock server: they distinguish a known kind that is not that of the
 * path from an unknown one, and from an old version of the right kind.
 *
 * Known are the kinds of `schemas.ts`, and those of removed versions: the message of a stock server still says that the version
 * is wrong.
 */

import { own } from '@plat-dev/lib/own';
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, type Identity } from '@plat-dev/meta/identity';
import { typeText } from '@plat-dev/schema/json/mismatch';
import type { MessageType } from '@plat-dev/schema/types';
import { hasVersion, schemaOf } from './schemas.ts';

export interface RegisteredKind {
  /** The kind in the version that was named: `v1beta2.Deployment`. */
  readonly type: string;
  /** The kind in all its versions: `apps.Deployment`. */
  readonly home: string;
}

/** Kinds of removed versions, by base group and version. A star: they have a list kind. */
const retired: Readonly<Record<string, string>> = {
  'admissionregistration/v1beta1': 'MutatingWebhookConfiguration* ValidatingWebhookConfiguration*',
  'apps/v1beta1': 'ControllerRevision* Deployment* DeploymentRollback Scale StatefulSet*',
  'apps/v1beta2': 'ControllerRevision* DaemonSet* Deployment* ReplicaSet* Scale StatefulSet*',
  'authorization/v1beta1': 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview',
  'certificates/v1beta1': 'CertificateSigningRequest*',
  'coordination/v1beta1': 'Lease*',
  'extensions/v1beta1': 'DaemonSet* Deployment* DeploymentRollback Ingress* NetworkPolicy* PodSecurityPolicy* ReplicaSet* Scale',
  'flowcontrol.apiserver/v1alpha1': 'FlowSchema* PriorityLevelConfiguration*',
  'networking/v1beta1': 'Ingress* IngressClass*',
  'node/v1alpha1': 'RuntimeClass*',
  'rbac.authorization/v1alpha1': 'ClusterRole* ClusterRoleBinding* Role* RoleBinding*',
  'rbac.authorization/v1beta1': 'ClusterRole* ClusterRoleBinding* Role* RoleBinding*',
  'scheduling/v1alpha1': 'PriorityClass*',
  'scheduling/v1beta1': 'PriorityClass*',
  'storage/v1alpha1': 'CSIStorageCapacity* VolumeAttachment*',
};
const retiredKinds = (groupVersion: string): string[] =>
  (own(retired, groupVersion) ?? '')
    .split(' ')
    .flatMap((name) => (name.endsWith('*') ? [name.slice(0, -1), `${name.slice(0, -1)}List`] : [name]));

/** Kinds (and their lists) of another group than the one that serves them. */
const movedKinds: Readonly<Record<string, string>> = {
  'apps.Scale': 'autoscaling',
  'events.Event': 'core',
  'extensions.DaemonSet': 'apps',
  'extensions.Deployment': 'apps',
  'extensions.DeploymentRollback': 'apps',
  'extensions.Ingress': 'networking',
  'extensions.NetworkPolicy': 'networking',
  'extensions.PodSecurityPolicy': 'policy',
  'extensions.ReplicaSet': 'apps',
  'extensions.Scale': 'autoscaling',
};
function home(group: string, kind: string): string {
  return `${movedKinds[`${group}.${kind.replace(/List$/, '')}`] ?? group}.${kind}`;
}

/** `core.v1.Secret` → `core.Secret`; `events.v1.Event` → `core.Event`. */
export function homeOf(schema: MessageType): string {
  return home(groupOf(schema), schema.name.slice(schema.name.lastIndexOf('.') + 1));
}
const groupOf = ({ name }: MessageType): string => name.slice(0, name.indexOf('.'));

/** Kinds that are the same in every version. */
const unversioned = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']);
/** Kinds that every version has. */
const inEveryVersion = new Set([
  'WatchEvent',
  'ListOptions',
  'GetOptions',
  'CreateOptions',
  'UpdateOptions',
  'PatchOptions',
  'DeleteOptions',
]);

/** A stock server has one scheme for custom resource definitions, one for APIServices, and one for all other kinds. */
const parts: ReadonlySet<string> = new Set(['apiextensions', 'apiregistration']);
const partOf = (group: string): string => (parts.has(group) ? group : '');

/** Looks up a kind in the scheme that has `target`. */
export function registeredKindOf(
  apiVersion: string,
  kind: string,
  target: MessageType,
  identity: Identity,
  release: ApiRelease = apiRelease,
): RegisteredKind | undefined {
  const { group: fullGroup, version } = splitApiVersion(apiVersion);
  const group = baseGroup(identity, fullGroup);
  const schema = schemaOf(group ?? '', version, kind, identity, release);
  if (schema?.name.startsWith('meta.')) return isMetaKind(kind, group, version, identity) ? registeredKind(schema) : undefined;
  // Audit events are not bodies of requests.
  if (group === undefined || group === 'audit' || partOf(group) !== partOf(groupOf(target))) return undefined;
  if (schema !== undefined) return registeredKind(schema);
  if (!retiredKinds(`${group}/${version}`).includes(kind)) return undefined;
  return { type: `${version}.${kind}`, home: home(group.split('.')[0] as string, kind) };
}
const registeredKind = (schema: MessageType): RegisteredKind => ({ type: typeText(schema), home: homeOf(schema) });

function isMetaKind(kind: string, group: string | undefined, version: string, identity: Identity): boolean {
  if (unversioned.has(kind)) return true;
  if (group === undefined) return false;
  if (kind === 'List') return group === '' && version === 'v1';
  return inEveryVersion.has(kind) && (hasVersion(group, version, identity) || Object.hasOwn(retired, `${group}/${version}`));
}
