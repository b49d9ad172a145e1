/** The fields that kustomize changes in the built-in kinds: labels and selectors, annotations, images, replicas, references. */
import { domainName, kubernetes } from '@plat-dev/meta/identity';
import type { FieldSpec } from './field-specs.ts';
import type { KindId } from './ids.ts';

/** Fields in which objects refer to one kind by name. */
export interface ReferenceSpec extends Partial<KindId> {
  readonly fieldSpecs: readonly FieldSpec[];
}
export interface Specs {
  readonly namePrefix: readonly FieldSpec[];
  readonly nameSuffix: readonly FieldSpec[];
  readonly namespace: readonly FieldSpec[];
  readonly commonLabels: readonly FieldSpec[];
  readonly commonAnnotations: readonly FieldSpec[];
  readonly images: readonly FieldSpec[];
  readonly replicas: readonly FieldSpec[];
  /** Fields in which `$(NAME)` of `vars` is replaced. */
  readonly varReference: readonly FieldSpec[];
  readonly nameReference: readonly ReferenceSpec[];
}

const of = (kinds: readonly Partial<KindId>[], create: boolean, ...paths: string[]): FieldSpec[] =>
  kinds.flatMap((kind) => paths.map((path) => ({ ...kind, path, create })));

const deployment = { kind: 'Deployment' };
const daemonSet = { kind: 'DaemonSet' };
const replicaSet = { kind: 'ReplicaSet' };
const statefulSet = { kind: 'StatefulSet', group: 'apps' };
const replicationController = { kind: 'ReplicationController', version: 'v1' };
const job = { kind: 'Job', group: 'batch' };
const cronJob = { kind: 'CronJob', group: 'batch' };

// ---- labels and annotations --------------------------------------------------------------------------------------

const affinityTerms = ['podAffinity', 'podAntiAffinity'].flatMap((affinity) => [
  `${affinity}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm`,
  `${affinity}/requiredDuringSchedulingIgnoredDuringExecution`,
]);
const commonLabels: readonly FieldSpec[] = [
  { path: 'metadata/labels', create: true },
  ...of([{ kind: 'Service', version: 'v1' }, replicationController], true, 'spec/selector'),
  ...of([deployment, replicaSet, daemonSet, statefulSet], true, 'spec/selector/matchLabels'),
  ...of([replicationController, deployment, replicaSet, daemonSet, statefulSet, job], true, 'spec/template/metadata/labels'),
  ...of(
    [{ ...deployment, group: 'apps' }, statefulSet],
    false,
    ...affinityTerms.map((term) => `spec/template/spec/affinity/${term}/labelSelector/matchLabels`),
    'spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels',
  ),
  ...of([statefulSet], true, 'spec/volumeClaimTemplates[]/metadata/labels'),
  ...of([job, { kind: 'PodDisruptionBudget', group: 'policy' }], false, 'spec/selector/matchLabels'),
  ...of([cronJob], false, 'spec/jobTemplate/spec/selector/matchLabels'),
  ...of([cronJob], true, 'spec/jobTemplate/metadata/labels', 'spec/jobTemplate/spec/template/metadata/labels'),
  ...of(
    [{ kind: 'NetworkPolicy', group: 'networking' }],
    false,
    'spec/podSelector/matchLabels',
    'spec/ingress/from/podSelector/matchLabels',
    'spec/egress/to/podSelector/matchLabels',
  ),
];
const commonAnnotations: readonly FieldSpec[] = [
  { path: 'metadata/annotations', create: true },
  ...of(
    [replicationController, deployment, replicaSet, daemonSet, { kind: 'StatefulSet' }, job],
    true,
    'spec/template/metadata/annotations',
  ),
  ...of([cronJob], true, 'spec/jobTemplate/metadata/annotations', 'spec/jobTemplate/spec/template/metadata/annotations'),
];

// ---- references --------------------------------------------------------------------------------------------------

/** Kinds with pods in them, and the place of the pod's spec there. */
const podHolders: readonly (readonly [Partial<KindId>, string])[] = [
  [{ kind: 'Pod', version: 'v1' }, 'spec'],
  [{ kind: 'PodTemplate' }, 'template/spec'],
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job', 'ReplicationController'].map(
    (kind) => [{ kind }, 'spec/template/spec'] as const,
  ),
  [{ kind: 'CronJob' }, 'spec/jobTemplate/spec/template/spec'],
];
/** Fields of a pod's spec, in every kind that has one. */
const inPods = (...fields: string[]): FieldSpec[] =>
  podHolders.flatMap(([kind, spec]) => fields.map((field) => ({ ...kind, path: `${spec}/${field}` })));
const inContainers = (...fields: string[]): string[] =>
  ['containers', 'initContainers'].flatMap((list) => fields.map((field) => `${list}/${field}`));
const inRoles = of([{ kind: 'Role' }, { kind: 'ClusterRole' }], false, 'rules/resourceNames');

/** Annotations of a well-known ingress controller, with the slash written as a path needs it. */
const ingressAnnotation = (name: string, prefix: string): FieldSpec => ({
  kind: 'Ingress',
  path: `metadata/annotations/${domainName(kubernetes, name, prefix).replace('/', '\\/')}`,
});

const rbac = 'rbac.authorization';
const nameReference: readonly ReferenceSpec[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({
    kind,
    fieldSpecs: [{ kind: 'HorizontalPodAutoscaler', path: 'spec/scaleTargetRef/name' }],
  })),
  {
    kind: 'ConfigMap',
    version: 'v1',
    fieldSpecs: [
      ...inPods(
        'volumes/configMap/name',
        ...inContainers('env/valueFrom/configMapKeyRef/name', 'envFrom/configMapRef/name'),
        'volumes/projected/sources/configMap/name',
      ),
      { kind: 'Node', path: 'spec/configSource/configMap' },
      ...inRoles,
      ingressAnnotation('fastcgi-params-configmap', 'nginx.ingress'),
    ],
  },
  {
    kind: 'Secret',
    version: 'v1',
    fieldSpecs: [
      ...inPods(
        'volumes/secret/secretName',
        ...inContainers('env/valueFrom/secretKeyRef/name', 'envFrom/secretRef/name'),
        'imagePullSecrets/name',
        'volumes/projected/sources/secret/name',
      ),
      { kind: 'Ingress', path: 'spec/tls/secretName' },
      ingressAnnotation('auth-secret', 'ingress'),
      ingressAnnotation('auth-secret', 'nginx.ingress'),
      ingressAnnotation('auth-tls-secret', 'nginx.ingress'),
      { kind: 'ServiceAccount', path: 'imagePullSecrets/name' },
      ...of(
        [{ kind: 'StorageClass' }],
        false,
        ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) => `parameters/${name}`),
      ),
      ...inRoles,
      {
        kind: 'Service',
        group: 'serving.knative.dev',
        version: 'v1',
        path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
      },
      { kind: 'PersistentVolume', path: 'spec/azureFile/secretName' },
    ],
  },
  {
    kind: 'Service',
    version: 'v1',
    fieldSpecs: [
      { ...statefulSet, path: 'spec/serviceName' },
      ...of(
        [{ kind: 'Ingress' }],
        false,
        'spec/rules/http/paths/backend/serviceName',
        'spec/backend/serviceName',
        'spec/rules/http/paths/backend/service/name',
        'spec/defaultBackend/service/name',
      ),
      { kind: 'APIService', group: 'apiregistration', path: 'spec/service/name' },
      ...of(
        ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => ({ kind, group: 'admissionregistration' })),
        false,
        'webhooks/clientConfig/service',
      ),
    ],
  },
  { kind: 'Role', group: rbac, fieldSpecs: [{ kind: 'RoleBinding', group: rbac, path: 'roleRef/name' }] },
  {
    kind: 'ClusterRole',
    group: rbac,
    fieldSpecs: of(
      ['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({ kind, group: rbac })),
      false,
      'roleRef/name',
    ),
  },
  {
    kind: 'ServiceAccount',
    version: 'v1',
    fieldSpecs: [
      ...of(
        ['RoleBinding', 'ClusterRoleBinding'].map((kind) => ({ kind, group: rbac })),
        false,
        'subjects',
      ),
      ...inPods('serviceAccountName'),
    ],
  },
  { kind: 'PersistentVolumeClaim', version: 'v1', fieldSpecs: inPods('volumes/persistentVolumeClaim/claimName') },
  {
    kind: 'PersistentVolume',
    version: 'v1',
    fieldSpecs: [
      { kind: 'PersistentVolumeClaim', path: 'spec/volumeName' },
      { kind: 'ClusterRole', path: 'rules/resourceNames' },
    ],
  },
  {
    kind: 'StorageClass',
    version: 'v1',
    group: 'storage',
    fieldSpecs: [
      { kind: 'PersistentVolume', path: 'spec/storageClassName' },
      { kind: 'PersistentVolumeClaim', path: 'spec/storageClassName' },
      { kind: 'StatefulSet', path: 'spec/volumeClaimTemplates/spec/storageClassName' },
    ],
  },
  { kind: 'PriorityClass', version: 'v1', group: 'scheduling', fieldSpecs: inPods('priorityClassName') },
  { kind: 'IngressClass', version: 'v1', group: 'networking', fieldSpecs: [{ kind: 'Ingress', path: 'spec/ingressClassName' }] },
];

export const builtInSpecs: Specs = {
  namePrefix: [{ path: 'metadata/name' }],
  nameSuffix: [{ path: 'metadata/name' }],
  // metadata.namespace and the subjects of bindings have a rule of their own.
  namespace: [
    { path: 'metadata/name', kind: 'Namespace', create: true },
    { path: 'spec/service/namespace', group: 'apiregistration', kind: 'APIService', create: true },
    { path: 'spec/conversion/webhook/clientConfig/service/namespace', group: 'apiextensions', kind: 'CustomResourceDefinition' },
  ],
  commonLabels,
  commonAnnotations,
  images: ['spec', 'spec/template/spec'].flatMap((spec) =>
    inContainers('image').map((path) => ({ path: `${spec}/${path}`, create: true })),
  ),
  replicas: of(
    ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({ kind })),
    true,
    'spec/replicas',
  ),
  varReference: [
    ...inPods(...inContainers('args', 'command', 'env/value', 'volumeMounts/mountPath'), 'volumes/nfs/server'),
    { kind: 'Deployment', path: 'spec/template/metadata/annotations' },
    { kind: 'StatefulSet', path: 'spec/volumeClaimTemplates/spec/nfs/server' },
    { kind: 'PersistentVolume', path: 'spec/nfs/server' },
    ...of([{ kind: 'Service' }], false, 'spec/ports/port', 'spec/ports/targetPort'),
    ...of([{ kind: 'Ingress' }], false, 'spec/rules/host', 'spec/tls/hosts', 'spec/tls/secretName'),
    { path: 'metadata/labels' },
    { path: 'metadata/annotations' },
  ],
  nameReference,
};
