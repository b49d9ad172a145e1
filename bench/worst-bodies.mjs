// Objects with one list or map as long as a body of a given size allows.
const NS = 'worst';
const core = `/api/v1/namespaces/${NS}`;
const group = (name, plural) => `/apis/${name}/namespaces/${NS}/${plural}`;

export const metadata = (apiVersion, kind, name) => ({ apiVersion, kind, metadata: { name } });

/** Bodies of up to this size are meant to be stored: their lists and maps keep to the bound on entries. */
const STORED = 1.4 * 2 ** 20;
const ENTRIES = 19_900;

/** A list of what `make` gives for 0, 1, 2 …, as long as its JSON text fits `size` bytes. `extra`: bytes an entry takes less. */
export function repeat(size, make, finish = (list) => list, extra = 0) {
  const list = [];
  for (let i = 0, used = 0; ; i++) {
    const entry = make(i);
    used += JSON.stringify(entry).length + 1 - extra / 2;
    if (used > size - 300 || (size <= STORED && list.length >= ENTRIES)) return finish(list);
    list.push(entry);
  }
}
const map = (size, key, value) => repeat(size, (i) => [key(i), value(i)], Object.fromEntries, 4);
/** As many entries as a list or map with a lower bound may have, in bodies that are meant to be stored. */
function atMost(most, size, value) {
  if (size > STORED) return value;
  return Array.isArray(value) ? value.slice(0, most) : Object.fromEntries(Object.entries(value).slice(0, most));
}

export const bodies = [];
const add = (name, path, make) => bodies.push({ name, path, make });

// ---- metadata
const configMap = (name, more) => ({ ...metadata('v1', 'ConfigMap', name), ...more });
const withMeta = (name, more) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...more } });
add('config map data', `${core}/configmaps`, (name, size) =>
  configMap(name, {
    data: map(
      size,
      (i) => `k${i}`,
      () => 'v',
    ),
  }),
);
add('config map binary data', `${core}/configmaps`, (name, size) =>
  configMap(name, {
    binaryData: map(
      size,
      (i) => `k${i}`,
      () => 'eA==',
    ),
  }),
);
add('config map one text', `${core}/configmaps`, (name, size) => configMap(name, { data: { a: 'x'.repeat(size - 300) } }));
add('config map escapes', `${core}/configmaps`, (name, size) => configMap(name, { data: { a: '\n'.repeat((size - 300) / 2) } }));
add('secret data', `${core}/secrets`, (name, size) => ({
  ...metadata('v1', 'Secret', name),
  data: map(
    size,
    (i) => `k${i}`,
    () => 'eA==',
  ),
}));
add('secret string data', `${core}/secrets`, (name, size) => ({
  ...metadata('v1', 'Secret', name),
  stringData: map(
    size,
    (i) => `k${i}`,
    () => 'x',
  ),
}));
add('labels', `${core}/configmaps`, (name, size) =>
  withMeta(name, {
    labels: map(
      size,
      (i) => `k${i}`,
      () => 'v',
    ),
  }),
);
add('annotations', `${core}/configmaps`, (name, size) =>
  withMeta(name, {
    annotations: map(
      Math.min(size, 250_000),
      (i) => `k${i}`,
      () => 'v',
    ),
  }),
);
add('annotations, too many', `${core}/configmaps`, (name, size) =>
  withMeta(name, {
    annotations: map(
      size,
      (i) => `k${i}`,
      () => 'v',
    ),
  }),
);
add('finalizers', `${core}/configmaps`, (name, size) => withMeta(name, { finalizers: repeat(size, (i) => `x.example/f${i}`) }));
const owner = (i) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` });
add('owners', `${core}/configmaps`, (name, size) => withMeta(name, { ownerReferences: repeat(size, owner) }));
add('managers', `${core}/configmaps`, (name, size) =>
  withMeta(name, {
    managedFields: repeat(size, (i) => ({
      manager: `m${i}`,
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': {} },
    })),
  }),
);
add('managed fields, wide', `${core}/configmaps`, (name, size) =>
  withMeta(name, {
    managedFields: [
      {
        manager: 'm',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': map(
            size,
            (i) => `f:k${i}`,
            () => ({}),
          ),
        },
      },
    ],
  }),
);

// ---- pods
const podPath = `${core}/pods`;
const podOf = (name, spec, meta = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...meta },
  spec: { containers: [{ name: 'a', image: 'b' }], ...spec },
});
const container = (more) => ({ containers: [{ name: 'a', image: 'b', ...more }] });
const pod = (name, make) => add(`pod ${name}`, podPath, (named, size) => podOf(named, make(size)));
pod('containers', (size) => ({ containers: repeat(size, (i) => ({ name: `c${i}`, image: 'b' })) }));
pod('init containers', (size) => ({ initContainers: repeat(size, (i) => ({ name: `c${i}`, image: 'b' })) }));
pod('env', (size) => container({ env: repeat(size, (i) => ({ name: `E${i}` })) }));
pod('env from fields', (size) =>
  container({ env: repeat(size, (i) => ({ name: `E${i}`, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } })) }),
);
pod('env from', (size) => container({ envFrom: repeat(size, (i) => ({ configMapRef: { name: `c${i}` } })) }));
pod('arguments', (size) => container({ args: repeat(size, () => 'a') }));
pod('ports', (size) => container({ ports: repeat(size, (i) => ({ containerPort: (i % 65_535) + 1, hostPort: (i % 65_535) + 1 })) }));
pod('named ports', (size) => container({ ports: repeat(size, (i) => ({ containerPort: (i % 65_535) + 1, name: `p${i}` })) }));
pod('volumes', (size) => ({ volumes: repeat(size, (i) => ({ name: `v${i}`, emptyDir: {} })) }));
pod('volumes from secrets', (size) => ({ volumes: repeat(size, (i) => ({ name: `v${i}`, secret: { secretName: `s${i}` } })) }));
pod('volume items', (size) => ({
  volumes: [{ name: 'v', configMap: { name: 'c', items: repeat(size, (i) => ({ key: `k${i}`, path: `p${i}` })) } }],
}));
pod('projected sources', (size) => ({
  volumes: [{ name: 'v', projected: { sources: repeat(size, (i) => ({ secret: { name: `s${i}` } })) } }],
}));
pod('volumes and mounts', (size) => ({
  volumes: repeat(size / 2, (i) => ({ name: `v${i}`, emptyDir: {} })),
  ...container({ volumeMounts: repeat(size / 2, (i) => ({ name: `v${i}`, mountPath: `/m${i}` })) }),
}));
pod('mounts', (size) => ({
  volumes: [{ name: 'v', emptyDir: {} }],
  ...container({ volumeMounts: repeat(size, (i) => ({ name: 'v', mountPath: `/m${i}` })) }),
}));
// As many resources as a container may have, in as many containers as fit.
const perContainer = (size) =>
  atMost(
    1_000,
    size,
    map(
      size / 2,
      (i) => `example.com/r${i}`,
      () => '1',
    ),
  );
pod('resources', (size) => {
  const resources = { requests: perContainer(size), limits: perContainer(size) };
  const count = Math.max(1, Math.floor((size * 0.7) / JSON.stringify(resources).length));
  return { containers: Array.from({ length: count }, (_, i) => ({ name: `c${i}`, image: 'a', resources })) };
});
pod('tolerations', (size) => ({ tolerations: repeat(size, (i) => ({ key: `k${i}`, operator: 'Exists' })) }));
pod('node selector', (size) => ({
  nodeSelector: map(
    size,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
pod('pull secrets', (size) => ({ imagePullSecrets: repeat(size, (i) => ({ name: `s${i}` })) }));
pod('host aliases', (size) => ({ hostAliases: repeat(size, (i) => ({ ip: '1.2.3.4', hostnames: [`h${i}`] })) }));
pod('spread constraints', (size) => ({
  topologySpreadConstraints: repeat(size, (i) => ({ maxSkew: 1, topologyKey: `k${i}`, whenUnsatisfiable: 'DoNotSchedule' })),
}));
pod('readiness gates', (size) => ({ readinessGates: repeat(size, (i) => ({ conditionType: `c${i}` })) }));
pod('node affinity terms', (size) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: repeat(size, (i) => ({ matchExpressions: [{ key: `k${i}`, operator: 'Exists' }] })),
      },
    },
  },
}));
pod('node affinity values', (size) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: repeat(size, (i) => `v${i}`) }] }],
      },
    },
  },
}));
pod('pod affinity', (size) => ({
  affinity: {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: repeat(size, (i) => ({
        weight: 1,
        podAffinityTerm: { topologyKey: `k${i}`, labelSelector: {} },
      })),
    },
  },
}));
pod('sysctls', (size) => ({ securityContext: { sysctls: repeat(size, (i) => ({ name: `kernel.shm${i}`, value: '1' })) } }));
pod('groups', (size) => ({ securityContext: { supplementalGroups: repeat(size, (i) => i) } }));
pod('name servers', (size) => ({ dnsPolicy: 'None', dnsConfig: { nameservers: repeat(size, () => '1.2.3.4'), searches: [] } }));
add('pod labels', podPath, (name, size) =>
  podOf(
    name,
    {},
    {
      labels: map(
        size,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  ),
);
add('pod owners', podPath, (name, size) => podOf(name, {}, { ownerReferences: repeat(size, owner) }));
add(
  'deployment containers',
  group('apps/v1', 'deployments').replace('/apis/apps/v1/namespaces', '/apis/apps/v1/namespaces'),
  (name, size) => ({
    ...metadata('apps/v1', 'Deployment', name),
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: repeat(size, (i) => ({ name: `c${i}`, image: 'b' })) } },
    },
  }),
);
add('deployment labels', '/apis/apps/v1/namespaces/worst/deployments', (name, size) => {
  const labels = map(
    size / 2,
    (i) => `k${i}`,
    () => 'v',
  );
  return {
    ...metadata('apps/v1', 'Deployment', name),
    spec: {
      replicas: 0,
      selector: { matchLabels: atMost(5_000, size, labels) },
      template: { metadata: { labels }, spec: podOf('', {}).spec },
    },
  };
});
add('deployment expressions', '/apis/apps/v1/namespaces/worst/deployments', (name, size) => ({
  ...metadata('apps/v1', 'Deployment', name),
  spec: {
    replicas: 0,
    selector: {
      matchLabels: { a: 'b' },
      matchExpressions: atMost(
        5_000,
        size,
        repeat(size, (i) => ({ key: `k${i}`, operator: 'DoesNotExist' })),
      ),
    },
    template: { metadata: { labels: { a: 'b' } }, spec: podOf('', {}).spec },
  },
}));
add('stateful set claims', '/apis/apps/v1/namespaces/worst/statefulsets', (name, size) => ({
  ...metadata('apps/v1', 'StatefulSet', name),
  spec: {
    replicas: 0,
    serviceName: 's',
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: podOf('', {}).spec },
    volumeClaimTemplates: repeat(size, (i) => ({
      metadata: { name: `c${i}` },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    })),
  },
}));

// ---- other built-in kinds
add('service ports', `${core}/services`, (name, size) => ({
  ...metadata('v1', 'Service', name),
  spec: { selector: { a: 'b' }, ports: repeat(size, (i) => ({ name: `p${i}`, port: (i % 65_535) + 1 })) },
}));
add('service selector', `${core}/services`, (name, size) => ({
  ...metadata('v1', 'Service', name),
  spec: {
    selector: atMost(
      5_000,
      size,
      map(
        size,
        (i) => `k${i}`,
        () => 'v',
      ),
    ),
    ports: [{ port: 1 }],
  },
}));
add('service external addresses', `${core}/services`, (name, size) => ({
  ...metadata('v1', 'Service', name),
  spec: { externalIPs: repeat(size, () => '1.2.3.4'), ports: [{ port: 1 }] },
}));
add('service ranges', `${core}/services`, (name, size) => ({
  ...metadata('v1', 'Service', name),
  spec: { type: 'LoadBalancer', loadBalancerSourceRanges: repeat(size, () => '1.2.3.0/24'), ports: [{ port: 1 }] },
}));
const address = (i) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
add('endpoints addresses', `${core}/endpoints`, (name, size) => ({
  ...metadata('v1', 'Endpoints', name),
  subsets: [{ addresses: repeat(size, (i) => ({ ip: address(i) })), ports: [{ port: 1 }] }],
}));
add('endpoints subsets', `${core}/endpoints`, (name, size) => ({
  ...metadata('v1', 'Endpoints', name),
  subsets: repeat(size, (i) => ({ addresses: [{ ip: address(i) }], ports: [{ port: 1 }] })),
}));
add('endpoint slice', group('discovery.k8s.io/v1', 'endpointslices'), (name, size) => ({
  ...metadata('discovery.k8s.io/v1', 'EndpointSlice', name),
  addressType: 'IPv4',
  ports: [],
  endpoints: repeat(size, (i) => ({ addresses: [address(i)] })),
}));
const backend = { service: { name: 's', port: { number: 1 } } };
add('ingress rules', group('networking.k8s.io/v1', 'ingresses'), (name, size) => ({
  ...metadata('networking.k8s.io/v1', 'Ingress', name),
  spec: { rules: repeat(size, (i) => ({ host: `h${i}` })), defaultBackend: backend },
}));
add('ingress paths', group('networking.k8s.io/v1', 'ingresses'), (name, size) => ({
  ...metadata('networking.k8s.io/v1', 'Ingress', name),
  spec: { rules: [{ http: { paths: repeat(size, (i) => ({ path: `/p${i}`, pathType: 'Exact', backend })) } }] },
}));
add('ingress hosts', group('networking.k8s.io/v1', 'ingresses'), (name, size) => ({
  ...metadata('networking.k8s.io/v1', 'Ingress', name),
  spec: { defaultBackend: backend, tls: [{ hosts: repeat(size, (i) => `h${i}`) }] },
}));
add('network policy rules', group('networking.k8s.io/v1', 'networkpolicies'), (name, size) => ({
  ...metadata('networking.k8s.io/v1', 'NetworkPolicy', name),
  spec: { podSelector: {}, ingress: repeat(size, () => ({ from: [{ podSelector: {} }] })) },
}));
add('network policy blocks', group('networking.k8s.io/v1', 'networkpolicies'), (name, size) => ({
  ...metadata('networking.k8s.io/v1', 'NetworkPolicy', name),
  spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: repeat(size, (i) => `${address(i)}/32`) } }] }] },
}));
const rbac = 'rbac.authorization.k8s.io/v1';
add('role rules', group(rbac, 'roles'), (name, size) => ({
  ...metadata(rbac, 'Role', name),
  rules: repeat(size, (i) => ({ apiGroups: [''], resources: [`r${i}`], verbs: ['get'] })),
}));
add('role names', group(rbac, 'roles'), (name, size) => ({
  ...metadata(rbac, 'Role', name),
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: repeat(size, (i) => `n${i}`) }],
}));
add('role cross product', group(rbac, 'roles'), (name, size) => ({
  ...metadata(rbac, 'Role', name),
  rules: [
    {
      apiGroups: repeat(size / 4, (i) => `g${i}`),
      resources: repeat(size / 4, (i) => `r${i}`),
      verbs: repeat(size / 4, (i) => `v${i}`),
      resourceNames: repeat(size / 4, (i) => `n${i}`),
    },
  ],
}));
add('cluster role paths', `/apis/${rbac}/clusterroles`, (name, size) => ({
  ...metadata(rbac, 'ClusterRole', name),
  rules: [{ nonResourceURLs: repeat(size, (i) => `/p${i}`), verbs: ['get'] }],
}));
add('cluster role aggregation', `/apis/${rbac}/clusterroles`, (name, size) => ({
  ...metadata(rbac, 'ClusterRole', name),
  aggregationRule: {
    clusterRoleSelectors: atMost(
      1_000,
      size,
      repeat(size, (i) => ({ matchLabels: { [`k${i}`]: 'v' } })),
    ),
  },
  rules: [],
}));
add('role binding subjects', group(rbac, 'rolebindings'), (name, size) => ({
  ...metadata(rbac, 'RoleBinding', name),
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: repeat(size, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `u${i}` })),
}));
add('limit range limits', `${core}/limitranges`, (name, size) => ({
  ...metadata('v1', 'LimitRange', name),
  spec: {
    limits: atMost(
      1_000,
      size,
      repeat(size, (i) => ({ type: `example.com/t${i}`, max: { cpu: '1' } })),
    ),
  },
}));
add('quota resources', `${core}/resourcequotas`, (name, size) => ({
  ...metadata('v1', 'ResourceQuota', name),
  spec: {
    hard: atMost(
      5_000,
      size,
      map(
        size,
        (i) => `count/r${i}.example.com`,
        () => '1',
      ),
    ),
  },
}));
add('quota scopes', `${core}/resourcequotas`, (name, size) => ({
  ...metadata('v1', 'ResourceQuota', name),
  spec: {
    hard: { pods: '1' },
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: repeat(size, (i) => `p${i}`) }] },
  },
}));
add('account secrets', `${core}/serviceaccounts`, (name, size) => ({
  ...metadata('v1', 'ServiceAccount', name),
  secrets: repeat(size, (i) => ({ name: `s${i}` })),
}));
add('node taints', '/api/v1/nodes', (name, size) => ({
  ...metadata('v1', 'Node', name),
  spec: { taints: repeat(size, (i) => ({ key: `k${i}`, effect: 'NoSchedule' })) },
}));
add('namespace finalizers', '/api/v1/namespaces', (name, size) => ({
  ...metadata('v1', 'Namespace', name),
  spec: { finalizers: repeat(size, (i) => `x.example/f${i}`) },
}));
add('volume mount options', '/api/v1/persistentvolumes', (name, size) => ({
  ...metadata('v1', 'PersistentVolume', name),
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/a' },
    mountOptions: repeat(size, (i) => `o${i}`),
  },
}));
add('claim access modes', `${core}/persistentvolumeclaims`, (name, size) => ({
  ...metadata('v1', 'PersistentVolumeClaim', name),
  spec: { accessModes: repeat(size, () => 'ReadWriteOnce'), resources: { requests: { storage: '1Gi' } } },
}));
add('storage class topologies', '/apis/storage.k8s.io/v1/storageclasses', (name, size) => ({
  ...metadata('storage.k8s.io/v1', 'StorageClass', name),
  provisioner: 'a.b/c',
  allowedTopologies: atMost(
    1_000,
    size,
    repeat(size, (i) => ({ matchLabelExpressions: [{ key: `k${i}`, values: ['v'] }] })),
  ),
}));
add('storage class parameters', '/apis/storage.k8s.io/v1/storageclasses', (name, size) => ({
  ...metadata('storage.k8s.io/v1', 'StorageClass', name),
  provisioner: 'a.b/c',
  parameters: map(
    size,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
add('node drivers', '/apis/storage.k8s.io/v1/csinodes', (name, size) => ({
  ...metadata('storage.k8s.io/v1', 'CSINode', name),
  spec: {
    drivers: atMost(
      1_000,
      size,
      repeat(size, (i) => ({ name: `d${i}`, nodeID: 'n' })),
    ),
  },
}));
const registration = 'admissionregistration.k8s.io/v1';
const webhook = (i) => ({
  name: `w${i}.example.com`,
  clientConfig: { url: 'https://127.0.0.1:1/' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
});
add('webhooks', `/apis/${registration}/validatingwebhookconfigurations`, (name, size) => ({
  ...metadata(registration, 'ValidatingWebhookConfiguration', name),
  webhooks: atMost(1_000, size, repeat(size, webhook)),
}));
add('webhook rules', `/apis/${registration}/mutatingwebhookconfigurations`, (name, size) => ({
  ...metadata(registration, 'MutatingWebhookConfiguration', name),
  webhooks: [
    {
      ...webhook(0),
      rules: repeat(size, (i) => ({ operations: ['CREATE'], apiGroups: ['none.example'], apiVersions: ['v1'], resources: [`r${i}`] })),
    },
  ],
}));
add('webhook versions', `/apis/${registration}/validatingwebhookconfigurations`, (name, size) => ({
  ...metadata(registration, 'ValidatingWebhookConfiguration', name),
  webhooks: [{ ...webhook(0), admissionReviewVersions: repeat(size, (i) => `v${i}`) }],
}));
add('autoscaler metrics', group('autoscaling/v2', 'horizontalpodautoscalers'), (name, size) => ({
  ...metadata('autoscaling/v2', 'HorizontalPodAutoscaler', name),
  spec: {
    maxReplicas: 2,
    scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
    metrics: repeat(size, (i) => ({
      type: 'Pods',
      pods: { metric: { name: `m${i}` }, target: { type: 'AverageValue', averageValue: '1' } },
    })),
  },
}));
add('job', group('batch/v1', 'jobs'), (name, size) => ({
  ...metadata('batch/v1', 'Job', name),
  spec: { suspend: true, template: { spec: { restartPolicy: 'Never', ...container({ env: repeat(size, (i) => ({ name: `E${i}` })) }) } } },
}));
const flow = 'flowcontrol.apiserver.k8s.io/v1beta2';
add('flow schema rules', `/apis/${flow}/flowschemas`, (name, size) => ({
  ...metadata(flow, 'FlowSchema', name),
  spec: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 9000,
    rules: repeat(size, (i) => ({
      subjects: [{ kind: 'User', user: { name: `u${i}` } }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
    })),
  },
}));
add('flow schema subjects', `/apis/${flow}/flowschemas`, (name, size) => ({
  ...metadata(flow, 'FlowSchema', name),
  spec: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 9000,
    rules: [
      {
        subjects: repeat(size, (i) => ({ kind: 'User', user: { name: `u${i}` } })),
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }],
      },
    ],
  },
}));
add('disruption budget', group('policy/v1', 'poddisruptionbudgets'), (name, size) => ({
  ...metadata('policy/v1', 'PodDisruptionBudget', name),
  spec: { minAvailable: 1, selector: { matchExpressions: repeat(size, (i) => ({ key: `k${i}`, operator: 'Exists' })) } },
}));
add('pod security policy', '/apis/policy/v1beta1/podsecuritypolicies', (name, size) => ({
  ...metadata('policy/v1beta1', 'PodSecurityPolicy', name),
  spec: {
    seLinux: { rule: 'RunAsAny' },
    runAsUser: { rule: 'RunAsAny' },
    fsGroup: { rule: 'RunAsAny' },
    supplementalGroups: { rule: 'RunAsAny' },
    volumes: ['*'],
    allowedHostPaths: repeat(size / 2, (i) => ({ pathPrefix: `/p${i}` })),
    allowedUnsafeSysctls: repeat(size / 2, (i) => `kernel.s${i}`),
  },
}));
add('signing request usages', '/apis/certificates.k8s.io/v1/certificatesigningrequests', (name, size) => ({
  ...metadata('certificates.k8s.io/v1', 'CertificateSigningRequest', name),
  spec: { request: 'eA==', signerName: 'a.b/c', usages: repeat(size, () => 'client auth') },
}));
add('event text', `${core}/events`, (name, size) => ({
  ...metadata('v1', 'Event', name),
  metadata: { name, namespace: NS },
  involvedObject: { namespace: NS },
  message: 'x'.repeat(Math.min(size - 400, 3e6)),
}));

// ---- custom objects
const customPath = `/apis/worst.example.com/v1/namespaces/${NS}/things`;
const thing = (name, make) =>
  add(`thing ${name}`, customPath, (named, size) => ({ ...metadata('worst.example.com/v1', 'Thing', named), spec: make(size) }));
thing('map', (size) => ({
  map: map(
    size,
    (i) => `k${i}`,
    () => 'v',
  ),
}));
thing('rows', (size) => ({ rows: repeat(size, (i) => ({ name: `r${i}` })) }));
thing('set', (size) => ({ set: repeat(size, (i) => `s${i}`) }));
thing('numbers', (size) => ({ numbers: repeat(size, (i) => i) }));
thing('unique', (size) => ({ unique: repeat(size, (i) => ({ a: i })) }));
thing('unknown fields', (size) =>
  map(
    size,
    (i) => `u${i}`,
    () => 'v',
  ),
);
thing('free', (size) => ({
  free: map(
    size,
    (i) => `u${i}`,
    () => 'v',
  ),
}));
thing('choices', (size) => ({ choices: repeat(size, () => 'b') }));
thing('embedded', (size) => ({
  embedded: {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      labels: map(
        size,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  },
}));
const nested = (depth) => {
  /** @type {unknown} */
  let value = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
};
thing('deep', () => ({ free: nested(900) }));
thing('deep many times', (size) => ({ free: { list: repeat(size, () => nested(400)) } }));
thing('deep lists', () => ({ free: JSON.parse(`${'['.repeat(3000)}${']'.repeat(3000)}`) }));

/** A definition with two versions of the same schema; `special` is put into it. */
export function definition(plural, special = { type: 'string' }, groupName = 'worst.example.com') {
  const text = { type: 'string' };
  const spec = {
    type: 'object',
    properties: {
      special,
      note: text,
      n: { type: 'integer' },
      map: { type: 'object', additionalProperties: text },
      list: { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true } },
      rows: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: text } },
      },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
      numbers: { type: 'array', items: { type: 'integer', minimum: 0 } },
      unique: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
      choices: { type: 'array', items: { type: 'string', enum: ['a', 'b'], anyOf: [{ pattern: '^a' }, { pattern: '^b' }] } },
      embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const columns = [{ name: 'Note', type: 'string', jsonPath: '.spec.note' }];
  const kind = plural[0].toUpperCase() + plural.slice(1).replace(/s$/, '');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${groupName}` },
    spec: {
      group: groupName,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema, additionalPrinterColumns: columns })),
    },
  };
}
