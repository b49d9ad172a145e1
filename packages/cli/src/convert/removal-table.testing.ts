/**
 * The table of removed versions, row by row, as manifests that a person may have written. GROUP, DOMAIN and X- stand for the names of
 * an identity.
 */
import type { Identity } from '@plat-dev/meta/identity';

export interface Row {
  readonly removed: string;
  /** The release to convert to, where it is not the one that removed it. */
  readonly release?: string;
  readonly from: string;
  readonly kind: string;
  readonly to: string;
  /** Without apiVersion and kind. */
  readonly manifest: string;
  /** What it becomes; absent: nothing but the version changes. */
  readonly becomes?: string;
  /** Paths of what was changed and of what a person must decide. */
  readonly changed?: readonly string[];
  readonly decide?: readonly string[];
  /** No server stores it, or not in the same form: why. */
  readonly notCompared?: string;
}

export const withNames = (text: string, { groupSuffix, domain, schemaExtensionPrefix }: Identity): string =>
  text.replaceAll('GROUP', groupSuffix).replaceAll('DOMAIN', domain).replaceAll('X-', schemaExtensionPrefix);

const named = 'metadata: {name: x} # the name\n';
const pods = `  template: # what runs
    metadata:
      labels: {app: web} # selected
    spec:
      containers:
      - name: c # the only one
        image: i
`;
const selector = '  selector:\n    matchLabels:\n      app: web\n';
const labelled = 'metadata: {name: x, labels: {"app":"web"}} # the name\n';
const role = `${named}rules:\n- apiGroups: [""]\n  resources: [pods] # all of them\n  verbs: [get]\n`;
const binding = (kind: string): string =>
  `${named}roleRef: {apiGroup: rbac.authorization.GROUP, kind: ${kind}, name: r}\nsubjects:\n- kind: User\n  name: alice # a person\n  apiGroup: rbac.authorization.GROUP\n`;
const flow = `${named}spec:
  priorityLevelConfiguration: {name: exempt}
  matchingPrecedence: 9000 # late
  rules:
  - subjects: [{kind: User, user: {name: alice}}]
    nonResourceRules: [{verbs: [get], nonResourceURLs: [/x]}]
`;
const level = `${named}spec:\n  type: Limited\n  limited:\n    assuredConcurrencyShares: 5 # few\n    limitResponse: {type: Reject}\n`;
const metrics = `${named}spec:
  maxReplicas: 3 # at most
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics:
`;
const hooks = (kind: string): Row => ({
  removed: '1.22',
  from: 'admissionregistration.GROUP/v1beta1',
  kind,
  to: 'admissionregistration.GROUP/v1',
  manifest: `${named}webhooks:
- name: a.example.com # the first
  clientConfig: {url: "https://a.example.com/"}
- name: b.example.com
  clientConfig: {url: "https://b.example.com/"}
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 5
  sideEffects: None # it only looks
  admissionReviewVersions: [v1, v1beta1]
`,
  becomes: `${named}webhooks:
- name: a.example.com # the first
  clientConfig: {url: "https://a.example.com/"}
  sideEffects: Unknown
  admissionReviewVersions:
  - v1beta1
  failurePolicy: Ignore
  matchPolicy: Exact
  timeoutSeconds: 30
- name: b.example.com
  clientConfig: {url: "https://b.example.com/"}
  failurePolicy: Fail
  matchPolicy: Equivalent
  timeoutSeconds: 5
  sideEffects: None # it only looks
  admissionReviewVersions: [v1, v1beta1]
`,
  changed: ['webhooks[0].failurePolicy', 'webhooks[0].matchPolicy', 'webhooks[0].timeoutSeconds'],
  decide: ['webhooks[0].sideEffects', 'webhooks[0].admissionReviewVersions'],
  notCompared: 'version 1 refuses sideEffects Unknown',
});
const ingress = (from: string): Row => ({
  removed: '1.22',
  from,
  kind: 'Ingress',
  to: 'networking.GROUP/v1',
  manifest: `${named}spec:
  backend: # for all others
    serviceName: fallback
    servicePort: 8080 # by number
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /a # the first
        backend:
          serviceName: web
          servicePort: http
      - path: /b
        pathType: Prefix
        backend: {serviceName: web, servicePort: 80}
`,
  becomes: `${named}spec:
  defaultBackend: # for all others
    # by number
    service:
      name: fallback
      port:
        number: 8080
  rules:
  - host: a.example.com
    http:
      paths:
      - path: /a # the first
        pathType: ImplementationSpecific
        backend:
          service:
            name: web
            port:
              name: http
      - path: /b
        pathType: Prefix
        backend: {service: {"name":"web","port":{"number":80}}}
`,
  changed: ['spec.backend', 'spec.rules[0].http.paths[0].backend.serviceName'],
  decide: ['spec.rules[0].http.paths[0].pathType'],
});
const deployment = (from: string, more: Partial<Row>): Row => ({
  removed: '1.16',
  from,
  kind: 'Deployment',
  to: 'apps/v1',
  manifest: `${named}spec:\n  replicas: 2 # two\n${pods}`,
  ...more,
});
const claim = '  serviceName: db\n';
const same = (removed: string, from: string, kind: string, to: string, manifest: string, notCompared?: string): Row => ({
  removed,
  from,
  kind,
  to,
  manifest,
  ...(notCompared !== undefined && { notCompared }),
});
const review = 'it is an operation, nothing is stored';

export const removalTable: readonly Row[] = [
  // ---- 1.27
  same(
    '1.27',
    'storage.GROUP/v1beta1',
    'CSIStorageCapacity',
    'storage.GROUP/v1',
    `${named}storageClassName: fast # quick\ncapacity: 1000Mi\n`,
  ),
  // ---- 1.26
  // With 1.26 version v1beta2 is deprecated in turn.
  { ...same('1.26', 'flowcontrol.apiserver.GROUP/v1beta1', 'FlowSchema', 'flowcontrol.apiserver.GROUP/v1beta2', flow), release: '1.25' },
  {
    ...same('1.26', 'flowcontrol.apiserver.GROUP/v1beta1', 'PriorityLevelConfiguration', 'flowcontrol.apiserver.GROUP/v1beta2', level),
    release: '1.25',
  },
  same(
    '1.26',
    'autoscaling/v2beta2',
    'HorizontalPodAutoscaler',
    'autoscaling/v2',
    `${metrics}  - type: Resource\n    resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}\n`,
  ),
  // ---- 1.25
  same(
    '1.25',
    'batch/v1beta1',
    'CronJob',
    'batch/v1',
    `${named}spec:\n  schedule: "*/5 * * * *" # often\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers: [{name: c, image: i}]\n`,
  ),
  {
    removed: '1.25',
    from: 'discovery.GROUP/v1beta1',
    kind: 'EndpointSlice',
    to: 'discovery.GROUP/v1',
    manifest: `${named}addressType: IPv4
endpoints:
- addresses: [10.1.2.3] # the first
  topology:
    DOMAIN/hostname: node-1
    topology.DOMAIN/zone: zone-a # here
    example.com/rack: r7
`,
    becomes: `${named}addressType: IPv4
endpoints:
- addresses: [10.1.2.3] # the first
  # here
  zone: zone-a
  nodeName: node-1
`,
    decide: ['endpoints[0].topology'],
    notCompared: 'a server keeps the rest of the map, which nobody can write',
  },
  same(
    '1.25',
    'events.GROUP/v1beta1',
    'Event',
    'events.GROUP/v1',
    `${named}eventTime: "2020-01-02T03:04:05.000000Z" # then\nreportingController: example.com/c\nreportingInstance: c-1\naction: Run\nreason: Started\ntype: Normal\nnote: it runs\nregarding: {kind: Pod, name: p, namespace: default}\n`,
  ),
  {
    removed: '1.25',
    from: 'autoscaling/v2beta1',
    kind: 'HorizontalPodAutoscaler',
    to: 'autoscaling/v2',
    manifest: `${metrics}  - type: Resource # by use\n    resource:\n      name: cpu\n      targetAverageUtilization: 50 # half\n`,
    becomes: `${metrics}  - type: Resource # by use\n    resource:\n      name: cpu\n      # half\n      target:\n        type: Utilization\n        averageUtilization: 50\n`,
    changed: ['spec.metrics[0].resource.targetAverageUtilization'],
  },
  {
    removed: '1.25',
    from: 'policy/v1beta1',
    kind: 'PodDisruptionBudget',
    to: 'policy/v1',
    manifest: `${named}spec:\n  minAvailable: 1 # one\n  selector: {} # nothing\n`,
    becomes: `${named}spec:\n  minAvailable: 1 # one\n  # nothing\n`,
    decide: ['spec.selector'],
    notCompared: 'a server keeps the selector that selects nothing in a form of its own',
  },
  same(
    '1.25',
    'policy/v1beta1',
    'PodDisruptionBudget',
    'policy/v1',
    `${named}spec:\n  minAvailable: 50% # half\n  selector:\n    matchLabels: {app: web}\n`,
  ),
  same('1.25', 'policy/v1beta1', 'PodDisruptionBudget', 'policy/v1', `${named}spec:\n  minAvailable: 1\n`),
  same('1.25', 'node.GROUP/v1beta1', 'RuntimeClass', 'node.GROUP/v1', `${named}handler: runc # the usual\n`),
  // ---- 1.22
  hooks('ValidatingWebhookConfiguration'),
  hooks('MutatingWebhookConfiguration'),
  {
    removed: '1.22',
    from: 'apiextensions.GROUP/v1beta1',
    kind: 'CustomResourceDefinition',
    to: 'apiextensions.GROUP/v1',
    manifest: `metadata: {name: lamps.example.com} # the name
spec:
  group: example.com # ours
  version: v1
  names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList}
  preserveUnknownFields: false
  subresources:
    status: {} # as usual
  additionalPrinterColumns:
  - name: Colour # shown first
    type: string
    JSONPath: .spec.colour # its colour
  validation:
    openAPIV3Schema:
      type: object
      properties:
        # what is wanted
        spec:
          type: object # always
  conversion:
    strategy: Webhook # by call
    webhookClientConfig: {url: "https://a.example.com/"}
`,
    becomes: `metadata: {name: lamps.example.com} # the name
spec:
  group: example.com # ours
  names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList}
  # shown first
  # its colour
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          # what is wanted
          spec:
            type: object # always
    subresources:
      status: {} # as usual
    additionalPrinterColumns:
    - name: Colour
      type: string
      jsonPath: .spec.colour
  conversion:
    strategy: Webhook # by call
    webhook: {clientConfig: {"url":"https://a.example.com/"}, conversionReviewVersions: ["v1beta1"]}
`,
    changed: [
      'spec.scope',
      'spec.version',
      'spec.validation',
      'spec.subresources',
      'spec.additionalPrinterColumns',
      'spec.conversion.webhookClientConfig',
    ],
    decide: ['spec.conversion.webhook.conversionReviewVersions'],
  },
  {
    removed: '1.22',
    from: 'apiextensions.GROUP/v1beta1',
    kind: 'CustomResourceDefinition',
    to: 'apiextensions.GROUP/v1',
    manifest: `metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Cluster # everywhere
  names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList}
  versions:
  - name: v1
    served: true
    storage: true
  - name: v2 # next
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object}}
`,
    becomes: `metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Cluster # everywhere
  names: {kind: Lamp, plural: lamps, singular: lamp, listKind: LampList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        X-preserve-unknown-fields: true
  - name: v2 # next
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object}}
        X-preserve-unknown-fields: true
`,
    decide: ['spec.versions[0].schema.openAPIV3Schema', 'spec.versions[1].schema.openAPIV3Schema'],
    notCompared: 'a server keeps preserveUnknownFields of what was stored',
  },
  same(
    '1.22',
    'apiregistration.GROUP/v1beta1',
    'APIService',
    'apiregistration.GROUP/v1',
    'metadata: {name: v1.other.example.com}\nspec:\n  group: other.example.com # theirs\n  version: v1\n  groupPriorityMinimum: 100\n  versionPriority: 10\n  insecureSkipTLSVerify: true\n  service: {name: s, namespace: default}\n',
  ),
  same('1.22', 'authentication.GROUP/v1beta1', 'TokenReview', 'authentication.GROUP/v1', 'spec: {token: t} # a token\n', review),
  {
    ...same('1.22', 'authorization.GROUP/v1beta1', 'SubjectAccessReview', 'authorization.GROUP/v1', '', review),
    manifest: 'spec:\n  user: alice\n  group: [devs] # hers\n  resourceAttributes: {verb: get, resource: pods}\n',
    becomes: 'spec:\n  user: alice\n  groups: [devs] # hers\n  resourceAttributes: {verb: get, resource: pods}\n',
    changed: ['spec.group'],
  },
  {
    ...same('1.22', 'authorization.GROUP/v1beta1', 'LocalSubjectAccessReview', 'authorization.GROUP/v1', '', review),
    manifest:
      'metadata: {namespace: default}\nspec:\n  group: [devs]\n  resourceAttributes: {namespace: default, verb: get, resource: pods}\n',
    becomes:
      'metadata: {namespace: default}\nspec:\n  groups: [devs]\n  resourceAttributes: {namespace: default, verb: get, resource: pods}\n',
    changed: ['spec.group'],
  },
  same(
    '1.22',
    'authorization.GROUP/v1beta1',
    'SelfSubjectAccessReview',
    'authorization.GROUP/v1',
    'spec: {resourceAttributes: {verb: get, resource: pods}} # may I\n',
    review,
  ),
  same(
    '1.22',
    'authorization.GROUP/v1beta1',
    'SelfSubjectRulesReview',
    'authorization.GROUP/v1',
    'spec: {namespace: default} # here\n',
    review,
  ),
  {
    removed: '1.22',
    from: 'certificates.GROUP/v1beta1',
    kind: 'CertificateSigningRequest',
    to: 'certificates.GROUP/v1',
    manifest: `${named}spec:\n  request: bm90aGluZw== # a request\n  usages: [client auth, client auth, digital signature]\n`,
    becomes: `${named}spec:\n  request: bm90aGluZw== # a request\n  signerName: DOMAIN/legacy-unknown\n  usages: ["client auth","digital signature"]\n`,
    changed: ['spec.usages'],
    decide: ['spec.signerName'],
    notCompared: 'version 1 does not take requests for legacy-unknown',
  },
  {
    removed: '1.22',
    from: 'certificates.GROUP/v1beta1',
    kind: 'CertificateSigningRequest',
    to: 'certificates.GROUP/v1',
    manifest: `${named}spec:
  request: bm90aGluZw==
  signerName: example.com/signer # theirs
status:
  conditions:
  - type: Approved # yes
`,
    becomes: `${named}spec:
  request: bm90aGluZw==
  signerName: example.com/signer # theirs
  usages:
  - digital signature
  - key encipherment
status:
  conditions:
  - type: Approved # yes
    status: "True"
`,
    changed: ['spec.usages', 'status.conditions[0].status'],
    notCompared: 'the request is none',
  },
  same('1.22', 'coordination.GROUP/v1beta1', 'Lease', 'coordination.GROUP/v1', `${named}spec: {holderIdentity: me} # mine\n`),
  ingress('extensions/v1beta1'),
  ingress('networking.GROUP/v1beta1'),
  same('1.22', 'networking.GROUP/v1beta1', 'IngressClass', 'networking.GROUP/v1', `${named}spec: {controller: example.com/c} # ours\n`),
  same('1.22', 'rbac.authorization.GROUP/v1beta1', 'ClusterRole', 'rbac.authorization.GROUP/v1', role),
  same('1.22', 'rbac.authorization.GROUP/v1beta1', 'ClusterRoleBinding', 'rbac.authorization.GROUP/v1', binding('ClusterRole')),
  same('1.22', 'rbac.authorization.GROUP/v1beta1', 'Role', 'rbac.authorization.GROUP/v1', role),
  same('1.22', 'rbac.authorization.GROUP/v1beta1', 'RoleBinding', 'rbac.authorization.GROUP/v1', binding('Role')),
  same('1.22', 'scheduling.GROUP/v1beta1', 'PriorityClass', 'scheduling.GROUP/v1', `${named}value: 10 # low\n`),
  same('1.22', 'storage.GROUP/v1beta1', 'CSIDriver', 'storage.GROUP/v1', `${named}spec: {attachRequired: false} # no\n`),
  same(
    '1.22',
    'storage.GROUP/v1beta1',
    'CSINode',
    'storage.GROUP/v1',
    `${named}spec:\n  drivers: [{name: d, nodeID: node, topologyKeys: [zone]}] # one\n`,
  ),
  same('1.22', 'storage.GROUP/v1beta1', 'StorageClass', 'storage.GROUP/v1', `${named}provisioner: example.com/p # theirs\n`),
  same(
    '1.22',
    'storage.GROUP/v1beta1',
    'VolumeAttachment',
    'storage.GROUP/v1',
    `${named}spec: {attacher: a, nodeName: node, source: {persistentVolumeName: v}} # one\n`,
  ),
  // ---- 1.16
  same(
    '1.16',
    'extensions/v1beta1',
    'NetworkPolicy',
    'networking.GROUP/v1',
    `${named}spec:\n  podSelector: {} # all pods\n  ingress: [{}]\n`,
  ),
  {
    removed: '1.16',
    from: 'extensions/v1beta1',
    kind: 'DaemonSet',
    to: 'apps/v1',
    manifest: `${named}spec:\n  templateGeneration: 4 # counted\n${pods}`,
    becomes: `${labelled}spec:\n  # counted\n${selector}${pods}  updateStrategy:\n    type: OnDelete\n`,
    changed: ['spec.templateGeneration', 'metadata.labels', 'spec.updateStrategy.type'],
    decide: ['spec.selector'],
    notCompared: 'a server counts from the generation that was written',
  },
  same('1.16', 'apps/v1beta2', 'DaemonSet', 'apps/v1', `${named}spec:\n${selector}${pods}`),
  deployment('extensions/v1beta1', {
    manifest: `${named}spec:\n  replicas: 2 # two\n  rollbackTo: {revision: 3} # back\n${pods}`,
    becomes: `${labelled}spec:
  replicas: 2 # two
  # back
${selector}${pods}  strategy:
    rollingUpdate:
      maxUnavailable: 1
      maxSurge: 1
  revisionHistoryLimit: 2147483647
  progressDeadlineSeconds: 2147483647
`,
    changed: [
      'metadata.labels',
      'spec.strategy.rollingUpdate.maxUnavailable',
      'spec.strategy.rollingUpdate.maxSurge',
      'spec.revisionHistoryLimit',
      'spec.progressDeadlineSeconds',
    ],
    decide: ['spec.rollbackTo', 'spec.selector'],
    notCompared: 'a server rolls back',
  }),
  deployment('apps/v1beta1', {
    becomes: `${labelled}spec:\n  replicas: 2 # two\n${selector}${pods}  revisionHistoryLimit: 2\n`,
    changed: ['metadata.labels', 'spec.revisionHistoryLimit'],
    decide: ['spec.selector'],
  }),
  deployment('apps/v1beta2', { manifest: `${named}spec:\n${selector}${pods}` }),
  {
    removed: '1.16',
    from: 'apps/v1beta1',
    kind: 'StatefulSet',
    to: 'apps/v1',
    manifest: `${named}spec:\n${claim}${pods}`,
    becomes: `${labelled}spec:\n${claim}${selector}${pods}  updateStrategy:\n    type: OnDelete\n`,
    changed: ['metadata.labels', 'spec.updateStrategy.type'],
    decide: ['spec.selector'],
  },
  same('1.16', 'apps/v1beta2', 'StatefulSet', 'apps/v1', `${named}spec:\n${claim}${selector}${pods}`),
  ...['extensions/v1beta1', 'apps/v1beta1'].map(
    (from): Row => ({
      removed: '1.16',
      from,
      kind: 'ReplicaSet',
      to: 'apps/v1',
      manifest: `${named}spec:\n  replicas: 2 # two\n${pods}`,
      becomes: `${labelled}spec:\n  replicas: 2 # two\n${selector}${pods}`,
      changed: ['metadata.labels'],
      decide: ['spec.selector'],
      ...(from === 'apps/v1beta1' && { notCompared: 'no release served it' }),
    }),
  ),
  same('1.16', 'apps/v1beta2', 'ReplicaSet', 'apps/v1', `${named}spec:\n${selector}${pods}`),
  same(
    '1.16',
    'extensions/v1beta1',
    'PodSecurityPolicy',
    'policy/v1beta1',
    `${named}spec:\n  privileged: false # no\n  seLinux: {rule: RunAsAny}\n  supplementalGroups: {rule: RunAsAny}\n  runAsUser: {rule: RunAsAny}\n  fsGroup: {rule: RunAsAny}\n`,
  ),
];
