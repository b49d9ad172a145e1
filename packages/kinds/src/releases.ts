/**
 * Which resources each release of the API served by default, since when they are deprecated, and their replacements.
 *
 *   batch/v1beta1 CronJob   release 1.20   served
 *                           release 1.21   served, deprecated: use batch/v1
 *                           release 1.25   removed
 *
 * A resource that is not in the table is served by all releases from 1.15 to 1.36. Facts are those of the stock servers: what their
 * default configuration enables, and the life cycle that their types declare. `release-texts.ts` makes warnings and errors from it.
 */
import { isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion, splitApiVersion } from '@plat-dev/meta/api-version';

/** Groups are base names: `networking/v1`; the core group is `v1`. */
export interface Lifetime {
  readonly kind: string;
  /** The first release that had it; absent: 1.15 or an older one. */
  readonly introduced?: string;
  /** No release served it by default (alpha). */
  readonly off?: true;
  readonly deprecated?: string;
  readonly removed?: string;
  /** Group and version to move to. */
  readonly replacement?: string;
  /** The version, with another kind if there is one, that warnings name instead of the replacement, by release; empty: they name none. */
  readonly warned?: Readonly<Record<string, string>>;
  /** The release of removal that warnings name, where the version went earlier than announced. */
  readonly announced?: string;
  /** Advice if there is no replacement. */
  readonly advice?: string;
}
type Facts = Omit<Lifetime, 'kind'>;

const never: Readonly<Record<string, string>> = {};
const webhooks = 'MutatingWebhookConfiguration ValidatingWebhookConfiguration';
const reviews = 'LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview';
const roles = 'ClusterRole ClusterRoleBinding Role RoleBinding';
const flows = 'FlowSchema PriorityLevelConfiguration';
const policies = 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding';
const mutatingPolicies = 'MutatingAdmissionPolicy MutatingAdmissionPolicyBinding';
const claims = 'ResourceClaim ResourceClaimTemplate';
const devices = 'DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice';
const structured = 'use the classes and claims of resource/v1, which describe devices';
const podSecurity = 'use pod security admission (labels of namespaces) or an admission webhook';

const addressesInAlpha: Facts = {
  off: true,
  deprecated: '1.30',
  removed: '1.31',
  announced: '1.33',
  replacement: 'networking/v1beta1',
  warned: never,
};

/** Group and version, kinds, facts. */
const table: readonly (readonly [string, string, Facts])[] = [
  ['v1', 'ComponentStatus', { deprecated: '1.19' }],
  ['v1', 'Endpoints', { deprecated: '1.33', warned: { '1.33': 'discovery/v1 EndpointSlice' } }],
  ['admissionregistration/v1', webhooks, { introduced: '1.16' }],
  ['admissionregistration/v1beta1', webhooks, { deprecated: '1.16', removed: '1.22', replacement: 'admissionregistration/v1' }],
  ['admissionregistration/v1', policies, { introduced: '1.30' }],
  [
    'admissionregistration/v1beta1',
    policies,
    { introduced: '1.28', off: true, deprecated: '1.31', removed: '1.34', replacement: 'admissionregistration/v1', warned: never },
  ],
  [
    'admissionregistration/v1alpha1',
    policies,
    { introduced: '1.26', off: true, deprecated: '1.29', removed: '1.32', replacement: 'admissionregistration/v1', warned: never },
  ],
  ['admissionregistration/v1', mutatingPolicies, { introduced: '1.36' }],
  [
    'admissionregistration/v1beta1',
    mutatingPolicies,
    { introduced: '1.34', off: true, deprecated: '1.37', removed: '1.40', replacement: 'admissionregistration/v1' },
  ],
  [
    'admissionregistration/v1alpha1',
    mutatingPolicies,
    { introduced: '1.32', off: true, deprecated: '1.35', removed: '1.38', replacement: 'admissionregistration/v1', warned: never },
  ],
  ['apiextensions/v1', 'CustomResourceDefinition', { introduced: '1.16' }],
  ['apiextensions/v1beta1', 'CustomResourceDefinition', { deprecated: '1.16', removed: '1.22', replacement: 'apiextensions/v1' }],
  ['apiregistration/v1beta1', 'APIService', { deprecated: '1.19', removed: '1.22', replacement: 'apiregistration/v1' }],
  ['apps/v1beta1', 'ControllerRevision Deployment StatefulSet', { deprecated: '1.8', removed: '1.16', replacement: 'apps/v1' }],
  [
    'apps/v1beta2',
    'ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet',
    { deprecated: '1.9', removed: '1.16', replacement: 'apps/v1' },
  ],
  ['authentication/v1', 'SelfSubjectReview', { introduced: '1.28' }],
  [
    'authentication/v1alpha1',
    'SelfSubjectReview',
    { introduced: '1.26', off: true, deprecated: '1.29', removed: '1.32', replacement: 'authentication/v1', warned: never },
  ],
  [
    'authentication/v1beta1',
    'SelfSubjectReview',
    { introduced: '1.27', off: true, deprecated: '1.30', removed: '1.33', replacement: 'authentication/v1', warned: never },
  ],
  ['authentication/v1beta1', 'TokenReview', { deprecated: '1.19', removed: '1.22', replacement: 'authentication/v1' }],
  ['authorization/v1beta1', reviews, { deprecated: '1.19', removed: '1.22', replacement: 'authorization/v1' }],
  ['autoscaling/v2', 'HorizontalPodAutoscaler', { introduced: '1.23' }],
  [
    'autoscaling/v2beta1',
    'HorizontalPodAutoscaler',
    {
      deprecated: '1.22',
      removed: '1.25',
      replacement: 'autoscaling/v2',
      warned: { '1.22': 'autoscaling/v2beta2', '1.24': 'autoscaling/v2' },
    },
  ],
  [
    'autoscaling/v2beta2',
    'HorizontalPodAutoscaler',
    { deprecated: '1.23', removed: '1.26', replacement: 'autoscaling/v2', warned: { '1.24': 'autoscaling/v2' } },
  ],
  ['batch/v1', 'CronJob', { introduced: '1.21' }],
  ['batch/v1beta1', 'CronJob', { deprecated: '1.21', removed: '1.25', replacement: 'batch/v1' }],
  ['batch/v2alpha1', 'CronJob', { off: true, removed: '1.21', replacement: 'batch/v1' }],
  ['certificates/v1', 'CertificateSigningRequest', { introduced: '1.19' }],
  ['certificates/v1beta1', 'CertificateSigningRequest', { deprecated: '1.19', removed: '1.22', replacement: 'certificates/v1' }],
  ['certificates/v1alpha1', 'ClusterTrustBundle', { introduced: '1.27', off: true, deprecated: '1.34', removed: '1.37' }],
  ['certificates/v1beta1', 'ClusterTrustBundle', { introduced: '1.33', off: true, deprecated: '1.37', removed: '1.40' }],
  [
    'certificates/v1alpha1',
    'PodCertificateRequest',
    { introduced: '1.34', off: true, removed: '1.35', replacement: 'certificates/v1beta1' },
  ],
  ['certificates/v1beta1', 'PodCertificateRequest', { introduced: '1.35', off: true, deprecated: '1.38', removed: '1.41' }],
  ['coordination/v1alpha1', 'LeaseCandidate', { introduced: '1.31', off: true, removed: '1.32', replacement: 'coordination/v1alpha2' }],
  ['coordination/v1alpha2', 'LeaseCandidate', { introduced: '1.32', off: true, deprecated: '1.35', removed: '1.38' }],
  ['coordination/v1beta1', 'LeaseCandidate', { introduced: '1.33', off: true, deprecated: '1.36', removed: '1.39' }],
  ['coordination/v1beta1', 'Lease', { deprecated: '1.19', removed: '1.22', replacement: 'coordination/v1' }],
  ['discovery/v1', 'EndpointSlice', { introduced: '1.21' }],
  ['discovery/v1beta1', 'EndpointSlice', { introduced: '1.17', deprecated: '1.21', removed: '1.25', replacement: 'discovery/v1' }],
  ['events/v1', 'Event', { introduced: '1.19' }],
  ['events/v1beta1', 'Event', { deprecated: '1.22', removed: '1.25', replacement: 'events/v1', warned: never }],
  ['extensions/v1beta1', 'DaemonSet Deployment ReplicaSet', { deprecated: '1.8', removed: '1.16', replacement: 'apps/v1' }],
  ['extensions/v1beta1', 'Ingress', { deprecated: '1.14', removed: '1.22', replacement: 'networking/v1' }],
  ['extensions/v1beta1', 'NetworkPolicy', { deprecated: '1.9', removed: '1.16', replacement: 'networking/v1' }],
  ['extensions/v1beta1', 'PodSecurityPolicy', { deprecated: '1.11', removed: '1.16', replacement: 'policy/v1beta1', advice: podSecurity }],
  [
    'flowcontrol.apiserver/v1alpha1',
    flows,
    { introduced: '1.18', off: true, deprecated: '1.20', removed: '1.21', replacement: 'flowcontrol.apiserver/v1beta1' },
  ],
  [
    'flowcontrol.apiserver/v1beta1',
    flows,
    {
      introduced: '1.20',
      deprecated: '1.23',
      removed: '1.26',
      replacement: 'flowcontrol.apiserver/v1beta2',
      warned: { '1.24': 'flowcontrol.apiserver/v1beta2', '1.26': 'flowcontrol.apiserver/v1beta3' },
    },
  ],
  [
    'flowcontrol.apiserver/v1beta2',
    flows,
    { introduced: '1.23', deprecated: '1.26', removed: '1.29', replacement: 'flowcontrol.apiserver/v1beta3' },
  ],
  [
    'flowcontrol.apiserver/v1beta3',
    flows,
    { introduced: '1.26', deprecated: '1.29', removed: '1.32', replacement: 'flowcontrol.apiserver/v1' },
  ],
  ['flowcontrol.apiserver/v1', flows, { introduced: '1.29' }],
  ['internal.apiserver/v1alpha1', 'StorageVersion', { introduced: '1.20', off: true }],
  ['networking/v1', 'Ingress IngressClass', { introduced: '1.19' }],
  ['networking/v1', 'IPAddress ServiceCIDR', { introduced: '1.33' }],
  [
    'networking/v1beta1',
    'IPAddress ServiceCIDR',
    { introduced: '1.31', off: true, deprecated: '1.34', removed: '1.37', replacement: 'networking/v1', warned: never },
  ],
  ['networking/v1alpha1', 'IPAddress', { ...addressesInAlpha, introduced: '1.27' }],
  ['networking/v1alpha1', 'ServiceCIDR', { ...addressesInAlpha, introduced: '1.29' }],
  [
    'networking/v1alpha1',
    'ClusterCIDR',
    { introduced: '1.25', off: true, deprecated: '1.28', removed: '1.29', announced: '1.31', advice: 'give nodes their ranges directly' },
  ],
  ['networking/v1beta1', 'Ingress', { deprecated: '1.19', removed: '1.22', replacement: 'networking/v1' }],
  ['networking/v1beta1', 'IngressClass', { introduced: '1.18', deprecated: '1.19', removed: '1.22', replacement: 'networking/v1' }],
  ['node/v1', 'RuntimeClass', { introduced: '1.20' }],
  ['node/v1alpha1', 'RuntimeClass', { off: true, removed: '1.24', replacement: 'node/v1' }],
  ['node/v1beta1', 'RuntimeClass', { deprecated: '1.22', removed: '1.25', replacement: 'node/v1', warned: never }],
  ['policy/v1', 'PodDisruptionBudget', { introduced: '1.21' }],
  ['policy/v1beta1', 'PodDisruptionBudget', { deprecated: '1.21', removed: '1.25', replacement: 'policy/v1' }],
  ['policy/v1beta1', 'PodSecurityPolicy', { deprecated: '1.21', removed: '1.25', advice: podSecurity }],
  ['rbac.authorization/v1alpha1', roles, { off: true, deprecated: '1.17', removed: '1.22', replacement: 'rbac.authorization/v1' }],
  ['rbac.authorization/v1beta1', roles, { deprecated: '1.17', removed: '1.22', replacement: 'rbac.authorization/v1' }],
  ['resource/v1', devices, { introduced: '1.34' }],
  ['resource/v1beta2', devices, { introduced: '1.33', off: true, deprecated: '1.36', removed: '1.39' }],
  ['resource/v1beta2', 'DeviceTaintRule', { introduced: '1.36', off: true, deprecated: '1.39', removed: '1.42' }],
  ['resource/v1beta1', devices, { introduced: '1.32', off: true, deprecated: '1.35', removed: '1.38' }],
  ['resource/v1alpha3', devices, { introduced: '1.31', off: true, removed: '1.34', replacement: 'resource/v1' }],
  ['resource/v1alpha3', 'DeviceTaintRule', { introduced: '1.33', off: true, deprecated: '1.36', removed: '1.39' }],
  ['resource/v1alpha3', 'PodSchedulingContext', { introduced: '1.31', off: true, removed: '1.32', advice: structured }],
  ['resource/v1alpha3', 'ResourcePoolStatusRequest', { introduced: '1.36', off: true, deprecated: '1.39', removed: '1.42' }],
  ['resource/v1alpha2', claims, { introduced: '1.27', off: true, removed: '1.31', replacement: 'resource/v1alpha3' }],
  ['resource/v1alpha2', 'PodSchedulingContext', { introduced: '1.27', off: true, removed: '1.31', replacement: 'resource/v1alpha3' }],
  ['resource/v1alpha2', 'ResourceClass', { introduced: '1.27', off: true, removed: '1.31', advice: structured }],
  [
    'resource/v1alpha2',
    'ResourceClaimParameters ResourceClassParameters',
    { introduced: '1.30', off: true, removed: '1.31', advice: structured },
  ],
  ['resource/v1alpha2', 'ResourceSlice', { introduced: '1.30', off: true, removed: '1.31', replacement: 'resource/v1alpha3' }],
  ['resource/v1alpha1', `${claims} ResourceClass`, { introduced: '1.26', off: true, removed: '1.27', replacement: 'resource/v1alpha2' }],
  ['resource/v1alpha1', 'PodScheduling', { introduced: '1.26', off: true, removed: '1.27', advice: 'use PodSchedulingContext' }],
  ['scheduling/v1alpha1', 'Workload', { introduced: '1.35', off: true, removed: '1.36', replacement: 'scheduling/v1alpha2' }],
  ['scheduling/v1alpha2', 'PodGroup Workload', { introduced: '1.36', off: true }],
  ['scheduling/v1alpha1', 'PriorityClass', { off: true, deprecated: '1.14', removed: '1.22', replacement: 'scheduling/v1' }],
  ['scheduling/v1beta1', 'PriorityClass', { deprecated: '1.14', removed: '1.22', replacement: 'scheduling/v1' }],
  ['settings/v1alpha1', 'PodPreset', { off: true, removed: '1.20', advice: 'use a mutating admission webhook' }],
  ['storage/v1', 'CSIDriver', { introduced: '1.18' }],
  ['storage/v1', 'CSINode', { introduced: '1.17' }],
  ['storage/v1', 'CSIStorageCapacity', { introduced: '1.24' }],
  ['storage/v1', 'VolumeAttributesClass', { introduced: '1.34' }],
  [
    'storage/v1beta1',
    'VolumeAttributesClass',
    { introduced: '1.31', off: true, deprecated: '1.34', removed: '1.37', replacement: 'storage/v1' },
  ],
  [
    'storage/v1alpha1',
    'VolumeAttributesClass',
    { introduced: '1.29', off: true, deprecated: '1.32', removed: '1.35', replacement: 'storage/v1' },
  ],
  ['storage/v1alpha1', 'VolumeAttachment', { off: true, deprecated: '1.21', removed: '1.24', replacement: 'storage/v1' }],
  [
    'storage/v1alpha1',
    'CSIStorageCapacity',
    { introduced: '1.19', off: true, deprecated: '1.21', removed: '1.24', replacement: 'storage/v1beta1' },
  ],
  ['storage/v1beta1', 'CSIDriver StorageClass VolumeAttachment', { deprecated: '1.19', removed: '1.22', replacement: 'storage/v1' }],
  ['storage/v1beta1', 'CSINode', { deprecated: '1.17', removed: '1.22', replacement: 'storage/v1' }],
  ['storage/v1beta1', 'CSIStorageCapacity', { introduced: '1.21', deprecated: '1.24', removed: '1.27', replacement: 'storage/v1' }],
  [
    'storagemigration/v1alpha1',
    'StorageVersionMigration',
    {
      introduced: '1.30',
      off: true,
      deprecated: '1.33',
      removed: '1.35',
      announced: '1.36',
      replacement: 'storagemigration/v1beta1',
      warned: never,
    },
  ],
  ['storagemigration/v1beta1', 'StorageVersionMigration', { introduced: '1.35', off: true, deprecated: '1.38', removed: '1.41' }],
];

/** `Ingress` → `ingresses`, `NetworkPolicy` → `networkpolicies`: right for all kinds of the table. */
const pluralOf = (kind: string): string =>
  /(Endpoints|Parameters)$/.test(kind) ? kind.toLowerCase() : `${kind.toLowerCase().replace(/y$/, 'ie').replace(/s$/, 'se')}s`;
const keyOf = (group: string, version: string, plural: string): string => `${joinApiVersion(group, version)}/${plural}`;

const lifetimes: ReadonlyMap<string, Lifetime> = new Map(
  table.flatMap(([apiVersion, kinds, facts]) =>
    kinds.split(' ').map((kind): [string, Lifetime] => [`${apiVersion}/${pluralOf(kind)}`, { kind, ...facts }]),
  ),
);

/** All rows, by `group/version/plural` with the base name of the group. */
export const allLifetimes = (): Iterable<[string, Lifetime]> => lifetimes;

/** The row of a resource; undefined if all releases serve it, or none. `group` is a base name. */
export const lifetimeOf = (group: string, version: string, plural: string): Lifetime | undefined =>
  lifetimes.get(keyOf(group, version, plural));

/** Whether a release has the resource, by default or not. */
export function existsIn(lifetime: Lifetime | undefined, release: string): boolean {
  const { introduced, removed } = lifetime ?? {};
  return (introduced === undefined || isAtLeast(release, introduced)) && (removed === undefined || !isAtLeast(release, removed));
}
/** Whether a release serves it by default. */
export const servedByDefault = (lifetime: Lifetime | undefined, release: string): boolean =>
  lifetime?.off !== true && existsIn(lifetime, release);

/** The version to use in a release: the replacement, or the replacement of that in turn. */
export function replacementIn({ replacement }: Lifetime, plural: string, release: string): string | undefined {
  if (replacement === undefined) return undefined;
  const { group, version } = splitApiVersion(replacement);
  const next = lifetimeOf(group, version, plural);
  const isOld = next?.deprecated !== undefined && isAtLeast(release, next.deprecated);
  return isOld ? (replacementIn(next, plural, release) ?? (existsIn(next, release) ? replacement : undefined)) : replacement;
}
