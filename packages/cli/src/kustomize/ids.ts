/** How a kustomization names objects: by kind, name and namespace, also by those that they had before a change. */
import { own } from '@plat-dev/lib/own';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, identities } from '@plat-dev/meta/identity';

export interface KindId {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
export interface ObjectId extends KindId {
  readonly name: string;
  /** Empty if the object names none. */
  readonly namespace: string;
}

export const kindIdOf = (apiVersion: string, kind: string): KindId => ({ ...splitApiVersion(apiVersion), kind });

/** `networking` for the full name of the group under any identity; other groups as they are. */
export function plainGroup(group: string): string {
  for (const identity of Object.values(identities)) {
    const base = baseGroup(identity, group);
    if (base !== undefined) return base;
  }
  return group;
}

/** Built-in kinds that have no namespace, by plain group. */
const clusterKinds: Readonly<Record<string, readonly string[]>> = {
  '': ['ComponentStatus', 'Namespace', 'Node', 'PersistentVolume'],
  admissionregistration: ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
  apiextensions: ['CustomResourceDefinition'],
  apiregistration: ['APIService'],
  authentication: ['TokenReview'],
  authorization: ['SelfSubjectAccessReview', 'SelfSubjectRulesReview', 'SubjectAccessReview'],
  certificates: ['CertificateSigningRequest'],
  extensions: ['PodSecurityPolicy'],
  'flowcontrol.apiserver': ['FlowSchema', 'PriorityLevelConfiguration'],
  networking: ['IngressClass'],
  node: ['RuntimeClass'],
  policy: ['PodSecurityPolicy'],
  'rbac.authorization': ['ClusterRole', 'ClusterRoleBinding'],
  scheduling: ['PriorityClass'],
  storage: ['CSIDriver', 'CSINode', 'StorageClass', 'VolumeAttachment'],
};
export const isClusterScoped = ({ group, kind }: KindId): boolean => own(clusterKinds, plainGroup(group))?.includes(kind) ?? false;

/** The namespace of objects that have none. */
const NO_NAMESPACE = '_none_';

/** The namespace by which objects are compared: none and `default` are the same. */
export function effectiveNamespace(id: ObjectId): string {
  if (isClusterScoped(id) || id.namespace === NO_NAMESPACE) return NO_NAMESPACE;
  return id.namespace === '' ? 'default' : id.namespace;
}

export const sameKind = (a: KindId, b: KindId): boolean => a.group === b.group && a.version === b.version && a.kind === b.kind;
export const sameId = (a: ObjectId, b: ObjectId): boolean =>
  a.name === b.name && sameKind(a, b) && effectiveNamespace(a) === effectiveNamespace(b);

/** Whether a kind has the given group, version and kind; empty ones match all. */
export const isOfKind = (kind: KindId, pattern: Partial<KindId>): boolean =>
  (!pattern.group || plainGroup(pattern.group) === plainGroup(kind.group)) &&
  (!pattern.version || pattern.version === kind.version) &&
  (!pattern.kind || pattern.kind === kind.kind);

/** `Deployment.v1.apps/web.[noNs]` */
export function idText({ group, version, kind, name, namespace }: ObjectId): string {
  return `${kind || '[noKind]'}.${version || '[noVer]'}.${group || '[noGrp]'}/${name || '[noName]'}.${namespace || '[noNs]'}`;
}

// ---- order -------------------------------------------------------------------------------------------------------

const first = [
  'Namespace',
  'ResourceQuota',
  'StorageClass',
  'CustomResourceDefinition',
  'ServiceAccount',
  'PodSecurityPolicy',
  'Role',
  'ClusterRole',
  'RoleBinding',
  'ClusterRoleBinding',
  'ConfigMap',
  'Secret',
  'Endpoints',
  'Service',
  'LimitRange',
  'PriorityClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Deployment',
  'StatefulSet',
  'CronJob',
  'PodDisruptionBudget',
];
const last = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
const rank = ({ kind }: KindId): number => {
  const at = first.indexOf(kind);
  return at >= 0 ? at - first.length : last.indexOf(kind) + 1;
};
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Objects that others need come first: the legacy order of `kustomize`. */
export function legacyOrder(a: ObjectId, b: ObjectId): number {
  if (!sameKind(a, b)) {
    const kindText = ({ group, version, kind }: KindId): string => `${group || '~G'}_${version || '~V'}_${kind}`;
    return rank(a) - rank(b) || compare(kindText(a), kindText(b));
  }
  const idText = ({ namespace, name }: ObjectId): string => `${namespace || '~X'}|${name}`;
  return compare(idText(a), idText(b));
}
