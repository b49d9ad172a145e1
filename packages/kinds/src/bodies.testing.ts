/** A good body of each kind outside the core, apps, batch and storage groups that shows most of its fields. */
import { generateKeyPairSync } from 'node:crypto';
import { kubernetes } from '@plat-dev/meta/identity';
import { makeRequest } from '@plat-dev/pki';
import { MutatingWebhookConfigurationKind } from './admissionregistration/mutating-webhook-configuration.ts';
import { ValidatingWebhookConfigurationKind } from './admissionregistration/validating-webhook-configuration.ts';
import { customResourceDefinitionKind } from './apiextensions/custom-resource-definition.ts';
import { APIServiceKind } from './apiregistration/api-service.ts';
import { HorizontalPodAutoscalerKind } from './autoscaling/horizontal-pod-autoscaler.ts';
import { CertificateSigningRequestKind } from './certificates/certificate-signing-request.ts';
import { LeaseKind } from './coordination/lease.ts';
import { EndpointSliceKind } from './discovery/endpoint-slice.ts';
import { FlowSchemaKind } from './flowcontrol/flow-schema.ts';
import { PriorityLevelConfigurationKind } from './flowcontrol/priority-level-configuration.ts';
import type { Kind } from './kind.ts';
import { IngressKind } from './networking/ingress.ts';
import { IngressClassKind } from './networking/ingress-class.ts';
import { NetworkPolicyKind } from './networking/network-policy.ts';
import { RuntimeClassKind } from './node/runtime-class.ts';
import { PodDisruptionBudgetKind } from './policy/pod-disruption-budget.ts';
import { PodSecurityPolicyKind } from './policy/pod-security-policy.ts';
import { ClusterRoleKind } from './rbac/cluster-role.ts';
import { ClusterRoleBindingKind } from './rbac/cluster-role-binding.ts';
import { RoleKind } from './rbac/role.ts';
import { RoleBindingKind } from './rbac/role-binding.ts';
import { PriorityClassKind } from './scheduling/priority-class.ts';
import type { Loose } from './validation/kinds.testing.ts';

const metadata = { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } };
const selector = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['d', 'e'] }] };
const rbac = 'rbac.authorization.k8s.io';
const backend = { service: { name: 'web', port: { number: 80 } } };

const ingress = {
  metadata,
  spec: {
    ingressClassName: 'c',
    defaultBackend: { resource: { apiGroup: 'example.com', kind: 'Bucket', name: 'b' } },
    tls: [{ hosts: ['a.example.com', '*.b.example.com'], secretName: 's' }],
    rules: [
      {
        host: 'a.example.com',
        http: {
          paths: [
            { path: '/', pathType: 'Exact', backend },
            { pathType: 'ImplementationSpecific', backend },
          ],
        },
      },
      { host: '*.b.example.com', http: { paths: [{ path: '/x', pathType: 'Prefix', backend }] } },
    ],
  },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example.com' }] } },
};

const networkPolicy = {
  metadata,
  spec: {
    podSelector: selector,
    ingress: [
      {
        ports: [
          { port: 80, endPort: 90 },
          { protocol: 'UDP', port: 'dns' },
        ],
        from: [{ podSelector: selector, namespaceSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
      },
    ],
    egress: [{ to: [{ namespaceSelector: selector }] }],
    policyTypes: ['Ingress', 'Egress'],
  },
};

const autoscaler = {
  metadata,
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 2,
    maxReplicas: 9,
    metrics: [
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
      { type: 'Pods', pods: { metric: { name: 'hits', selector }, target: { type: 'AverageValue', averageValue: '1500m' } } },
      {
        type: 'Object',
        object: {
          describedObject: { apiVersion: 'v1', kind: 'Service', name: 's' },
          metric: { name: 'rps' },
          target: { type: 'AverageValue', averageValue: '2k' },
        },
      },
      { type: 'External', external: { metric: { name: 'queue', selector }, target: { type: 'Value', value: '30' } } },
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
    ],
    behavior: {
      scaleUp: { stabilizationWindowSeconds: 3, selectPolicy: 'Min', policies: [{ type: 'Pods', value: 2, periodSeconds: 15 }] },
      scaleDown: { selectPolicy: 'Disabled', policies: [{ type: 'Percent', value: 10, periodSeconds: 60 }] },
    },
  },
};

const slice = {
  metadata,
  addressType: 'IPv4',
  endpoints: [
    {
      addresses: ['192.0.2.1'],
      conditions: { ready: true, serving: true, terminating: false },
      hostname: 'h',
      nodeName: 'n',
      zone: 'z',
      targetRef: { kind: 'Pod', name: 'p' },
      hints: { forZones: [{ name: 'z' }] },
    },
  ],
  ports: [
    { name: 'a', port: 80, protocol: 'TCP', appProtocol: 'http' },
    { name: 'b', port: 53, protocol: 'UDP' },
  ],
};

const flowSchema = {
  metadata,
  spec: {
    priorityLevelConfiguration: { name: 'p' },
    matchingPrecedence: 500,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [
          { kind: 'User', user: { name: 'u' } },
          { kind: 'Group', group: { name: 'g' } },
          { kind: 'ServiceAccount', serviceAccount: { namespace: 'n', name: '*' } },
        ],
        resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['n'], clusterScope: false }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['/healthz', '/x/*'] }],
      },
    ],
  },
};

const priorityLevel = {
  metadata,
  spec: {
    type: 'Limited',
    limited: {
      assuredConcurrencyShares: 5,
      limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } },
    },
  },
};

const podSecurityPolicy = {
  metadata: { ...metadata, annotations: { 'seccomp.security.alpha.kubernetes.io/allowedProfileNames': '*,localhost/a' } },
  spec: {
    privileged: true,
    seLinux: { rule: 'MustRunAs', seLinuxOptions: { level: 'l' } },
    runAsUser: { rule: 'MustRunAs', ranges: [{ min: 1, max: 10 }] },
    runAsGroup: { rule: 'MayRunAs', ranges: [{ min: 5, max: 6 }] },
    supplementalGroups: { rule: 'RunAsAny' },
    fsGroup: { rule: 'RunAsAny' },
    volumes: ['configMap', '*'],
    hostPorts: [{ min: 1, max: 99 }],
    defaultAddCapabilities: ['NET_ADMIN'],
    requiredDropCapabilities: ['KILL'],
    allowedCapabilities: ['SYS_TIME'],
    defaultAllowPrivilegeEscalation: false,
    allowedHostPaths: [{ pathPrefix: '/tmp', readOnly: true }],
    allowedFlexVolumes: [{ driver: 'd/v' }],
    allowedCSIDrivers: [{ name: 'd.example.com' }],
    allowedUnsafeSysctls: ['kernel.*'],
    forbiddenSysctls: ['net.ipv4.tcp_syncookies'],
    allowedProcMountTypes: ['Default'],
    runtimeClass: { allowedRuntimeClassNames: ['*'], defaultRuntimeClassName: 'kata' },
  },
};

const webhook = {
  name: 'a.b.example.com',
  clientConfig: { service: { namespace: 'n', name: 's', path: '/p', port: 8443 }, caBundle: 'YQ==' },
  rules: [
    { operations: ['CREATE', 'UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments', '*/scale'], scope: '*' },
  ],
  failurePolicy: 'Ignore',
  matchPolicy: 'Exact',
  namespaceSelector: selector,
  objectSelector: {},
  sideEffects: 'None',
  timeoutSeconds: 5,
  admissionReviewVersions: ['v1', 'v1beta1'],
};

const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', format: 'int32', minimum: 1, maximum: 10, exclusiveMaximum: true, multipleOf: 1, default: 3 },
        mode: { type: 'string', enum: ['fast', 'slow'], pattern: '^[a-z]+$', maxLength: 9 },
        port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        list: {
          type: 'array',
          maxItems: 5,
          items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, v: { type: 'number', nullable: true } } },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
        },
        map: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
      oneOf: [{ required: ['mode'] }, { properties: { size: { minimum: 3 } } }],
    },
    status: { type: 'object', properties: { n: { type: 'integer' } } },
  },
};
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema },
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size', priority: 1 }],
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        deprecationWarning: 'old',
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
    conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://h.example/x' } } },
  },
};

const pem = makeRequest({ commonName: 'jane', organizations: ['dev'] }, generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const signingRequest = {
  metadata,
  spec: {
    request: Buffer.from(pem).toString('base64'),
    signerName: 'example.com/mine',
    expirationSeconds: 3600,
    usages: ['client auth', 'digital signature'],
  },
};

export const bodies: [string, Kind, Loose][] = [
  ['Ingress', IngressKind, ingress],
  [
    'IngressClass',
    IngressClassKind,
    {
      metadata,
      spec: { controller: 'example.com/c', parameters: { apiGroup: 'e.f', kind: 'K', name: 'n', scope: 'Namespace', namespace: 'ns' } },
    },
  ],
  ['NetworkPolicy', NetworkPolicyKind, networkPolicy],
  ['PodDisruptionBudget', PodDisruptionBudgetKind, { metadata, spec: { minAvailable: '50%', selector } }],
  ['PodSecurityPolicy', PodSecurityPolicyKind, podSecurityPolicy],
  ['Role', RoleKind, { metadata, rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['p'] }] }],
  [
    'ClusterRole',
    ClusterRoleKind,
    { metadata, rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }], aggregationRule: { clusterRoleSelectors: [selector] } },
  ],
  [
    'RoleBinding',
    RoleBindingKind,
    {
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
  ],
  [
    'ClusterRoleBinding',
    ClusterRoleBindingKind,
    { metadata, roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'r' }, subjects: [{ kind: 'Group', apiGroup: rbac, name: 'g' }] },
  ],
  ['HorizontalPodAutoscaler', HorizontalPodAutoscalerKind, autoscaler],
  ['EndpointSlice', EndpointSliceKind, slice],
  ['FlowSchema', FlowSchemaKind, flowSchema],
  ['PriorityLevelConfiguration', PriorityLevelConfigurationKind, priorityLevel],
  ['PriorityClass', PriorityClassKind, { metadata, value: 5, globalDefault: true, description: 'd', preemptionPolicy: 'Never' }],
  [
    'Lease',
    LeaseKind,
    { metadata, spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2022-03-04T05:06:07.123456Z', leaseTransitions: 2 } },
  ],
  [
    'RuntimeClass',
    RuntimeClassKind,
    {
      metadata,
      handler: 'fast',
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }] },
    },
  ],
  [
    'MutatingWebhookConfiguration',
    MutatingWebhookConfigurationKind,
    { metadata, webhooks: [{ ...webhook, reinvocationPolicy: 'IfNeeded' }] },
  ],
  ['ValidatingWebhookConfiguration', ValidatingWebhookConfigurationKind, { metadata, webhooks: [webhook] }],
  [
    'APIService',
    APIServiceKind,
    {
      metadata: { name: 'v1.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        groupPriorityMinimum: 10,
        versionPriority: 5,
        service: { namespace: 'n', name: 's', port: 443 },
        caBundle: 'YQ==',
      },
    },
  ],
  ['CustomResourceDefinition', customResourceDefinitionKind(kubernetes), definition],
  ['CertificateSigningRequest', CertificateSigningRequestKind, signingRequest],
];
