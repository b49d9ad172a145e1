// Valid requests that the fuzzer starts from: some of every kind written here, and objects of the recorded conversations where
// they lie beside the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const namespaces = ['fuzz-a', 'fuzz-b'];
const ns = '/api/v1/namespaces/fuzz-a';
const group = (name) => `/apis/${name}/namespaces/fuzz-a`;
const object = (apiVersion, kind, rest = {}) => ({ apiVersion, kind, metadata: { name: 'one', labels: { app: 'x' } }, ...rest });
const container = {
  name: 'main',
  image: 'nginx',
  ports: [{ containerPort: 80, name: 'web' }],
  env: [{ name: 'A', value: 'b' }],
  resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } },
  livenessProbe: { httpGet: { path: '/', port: 'web' }, periodSeconds: 5 },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
};
const podSpec = { containers: [container], volumes: [{ name: 'v', emptyDir: {} }], tolerations: [{ key: 'a', operator: 'Exists' }] };
const template = { metadata: { labels: { app: 'x' } }, spec: podSpec };
const once = { metadata: { labels: { app: 'x' } }, spec: { ...podSpec, restartPolicy: 'Never' } };
const selector = { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] };
const rules = [{ apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['get', 'list'], resourceNames: ['a'] }];
const rbac = 'rbac.authorization.k8s.io/v1';
const workload = { replicas: 2, selector, template };
const metric = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };
const path = { path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } };
const peer = { from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }], ports: [{ port: 80, endPort: 90 }] };
const flowRule = {
  subjects: [{ kind: 'User', user: { name: 'nobody' } }],
  resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] }],
};
const flow = { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 9000, rules: [flowRule] };

// biome-ignore format: a table
const written = [
  [`${ns}/configmaps`, object('v1', 'ConfigMap', { data: { a: '1' }, binaryData: { b: 'AAE=' }, immutable: false })],
  [`${ns}/secrets`, object('v1', 'Secret', { type: 'Opaque', stringData: { p: 'q' }, data: { r: 'cw==' } })],
  [`${ns}/pods`, object('v1', 'Pod', { spec: podSpec })],
  [`${ns}/services`, object('v1', 'Service', { spec: { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'web', protocol: 'TCP' }], type: 'ClusterIP' } })],
  [`${ns}/serviceaccounts`, object('v1', 'ServiceAccount', { secrets: [{ name: 's' }] })],
  [`${ns}/endpoints`, object('v1', 'Endpoints', { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] })],
  [`${ns}/events`, object('v1', 'Event', { involvedObject: { kind: 'Pod', namespace: 'fuzz-a', name: 'one' }, reason: 'x', type: 'Normal' })],
  [`${ns}/limitranges`, object('v1', 'LimitRange', { spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } })],
  [`${ns}/resourcequotas`, object('v1', 'ResourceQuota', { spec: { hard: { pods: '10000', 'requests.cpu': '1000' } } })],
  [`${ns}/persistentvolumeclaims`, object('v1', 'PersistentVolumeClaim', { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } })],
  [`${ns}/replicationcontrollers`, object('v1', 'ReplicationController', { spec: { replicas: 1, selector: { app: 'x' }, template } })],
  [`${ns}/podtemplates`, object('v1', 'PodTemplate', { template })],
  ['/api/v1/nodes', object('v1', 'Node', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }], podCIDR: '10.2.0.0/24' } })],
  ['/api/v1/persistentvolumes', object('v1', 'PersistentVolume', { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } } })],
  [`${group('apps/v1')}/deployments`, object('apps/v1', 'Deployment', { spec: { ...workload, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } } } })],
  [`${group('apps/v1')}/statefulsets`, object('apps/v1', 'StatefulSet', { spec: { serviceName: 's', selector, template } })],
  [`${group('apps/v1')}/daemonsets`, object('apps/v1', 'DaemonSet', { spec: { selector, template } })],
  [`${group('apps/v1')}/replicasets`, object('apps/v1', 'ReplicaSet', { spec: workload })],
  [`${group('batch/v1')}/jobs`, object('batch/v1', 'Job', { spec: { template: once } })],
  [`${group('batch/v1')}/cronjobs`, object('batch/v1', 'CronJob', { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: once } } } })],
  [`${group('batch/v1beta1')}/cronjobs`, object('batch/v1beta1', 'CronJob', { spec: { schedule: '@daily', jobTemplate: { spec: { template: once } } } })],
  [`${group('autoscaling/v2')}/horizontalpodautoscalers`, object('autoscaling/v2', 'HorizontalPodAutoscaler', { spec: { maxReplicas: 5, scaleTargetRef: { kind: 'Deployment', name: 'one' }, metrics: [metric] } })],
  [`${group('policy/v1')}/poddisruptionbudgets`, object('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: '50%', selector } })],
  [`${group('networking.k8s.io/v1')}/ingresses`, object('networking.k8s.io/v1', 'Ingress', { spec: { rules: [{ host: '*.example.com', http: { paths: [path] } }] } })],
  [`${group('networking.k8s.io/v1')}/networkpolicies`, object('networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: selector, ingress: [peer] } })],
  [`${group(rbac)}/roles`, object(rbac, 'Role', { rules })],
  [`/apis/${rbac}/clusterroles`, object(rbac, 'ClusterRole', { rules, aggregationRule: { clusterRoleSelectors: [selector] } })],
  [`${group(rbac)}/rolebindings`, object(rbac, 'RoleBinding', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' }, subjects: [{ kind: 'User', name: 'alice' }] })],
  ['/apis/storage.k8s.io/v1/storageclasses', object('storage.k8s.io/v1', 'StorageClass', { provisioner: 'x.example/y', allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a'] }] }] })],
  ['/apis/storage.k8s.io/v1/csidrivers', object('storage.k8s.io/v1', 'CSIDriver', { spec: { attachRequired: true } })],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', object('scheduling.k8s.io/v1', 'PriorityClass', { value: 100 })],
  [`${group('coordination.k8s.io/v1')}/leases`, object('coordination.k8s.io/v1', 'Lease', { spec: { holderIdentity: 'a', renewTime: '2024-05-01T08:00:00.000001Z' } })],
  [`${group('discovery.k8s.io/v1')}/endpointslices`, object('discovery.k8s.io/v1', 'EndpointSlice', { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ port: 80 }] })],
  ['/apis/flowcontrol.apiserver.k8s.io/v1beta2/flowschemas', object('flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema', { spec: flow })],
  ['/apis/certificates.k8s.io/v1/certificatesigningrequests', object('certificates.k8s.io/v1', 'CertificateSigningRequest', { spec: { request: 'LS0tLS1CRUdJTg==', signerName: 'example.com/x', usages: ['client auth'] } })],
  ['/apis/authorization.k8s.io/v1/subjectaccessreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: { user: 'alice', resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'fuzz-a' } } }],
  ['/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: 'fuzz-a' } }],
  ['/apis/authentication.k8s.io/v1/tokenreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x.y.z' } }],
  [`${group('fuzz.example.com/v1')}/widgets`, object('fuzz.example.com/v1', 'Widget', { spec: { size: 3, parts: [{ name: 'a', weight: 1.5 }], note: 'n', any: { deep: [1, { x: null }] } } })],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets('gadgets', 'Gadget')],
];

/** A definition with what schemas usually say. */
export function widgets(plural, kind) {
  const text = { type: 'string', pattern: '^[a-z]+$' };
  const part = { type: 'object', required: ['name'], properties: { name: text, weight: { type: 'number' } } };
  const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const properties = {
    size: { type: 'integer', minimum: 0, maximum: 100, default: 1 },
    parts: { type: 'array', ...keyed, items: part },
    note: { type: 'string', maxLength: 50, enum: ['n', 'm', 'o'] },
    any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    port: { 'x-kubernetes-int-or-string': true },
  };
  const status = { type: 'object', properties: { size: { type: 'integer' } } };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties }, status } };
  const version = (name, storage) => ({
    name,
    served: true,
    storage,
    subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    schema: { openAPIV3Schema },
  });
  const spec = {
    group: 'fuzz.example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [version('v1', true), version('v1beta1', false)],
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.fuzz.example.com` },
    spec,
  };
}

const patches = [
  [
    'application/json-patch+json',
    '[{"op":"add","path":"/metadata/labels/x","value":"y"},{"op":"test","path":"/metadata/name","value":"one"}]',
  ],
  ['application/merge-patch+json', '{"metadata":{"labels":{"a":null,"b":"c"}}}'],
  [
    'application/strategic-merge-patch+json',
    '{"metadata":{"labels":{"$patch":"replace","a":"b"}},"spec":{"containers":[{"name":"main","image":"x"}]}}',
  ],
];
// biome-ignore format: a table
const places = ['/', '/api', '/apis', '/apis/apps/v1', '/openapi/v2', '/openapi/v3', '/version', '/healthz?verbose', '/readyz', '/metrics', '/debug/api_priority_and_fairness/dump_queues', '/.well-known/openid-configuration', '/store/backup', `${ns}/pods/one/log`, `${ns}/pods/one/exec?command=x`, `${ns}/pods/one/eviction`, `${ns}/pods/one/binding`, `${ns}/pods/one/proxy/x`, `${ns}/serviceaccounts/one/token`, `${group('apps/v1')}/deployments/one/scale`];
const json = 'application/json';

/** Requests as { method, path, type, body }. */
export function corpus(shared) {
  const requests = places.flatMap((place) => [
    { method: 'GET', path: place },
    { method: 'POST', path: place, type: json, body: '{}' },
  ]);
  for (const [collection, body] of written) requests.push(...requestsOf(collection, body));
  return [...requests, ...recorded(shared)];
}
function requestsOf(collection, body) {
  const text = JSON.stringify(body);
  const create = { method: 'POST', path: collection, type: json, body: text };
  if (body.metadata === undefined) return [create];
  const one = `${collection}/${body.metadata.name}`;
  const options = '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}';
  return [
    create,
    { method: 'GET', path: collection },
    { method: 'GET', path: one },
    { method: 'GET', path: `${collection}?watch=1&timeoutSeconds=1` },
    { method: 'PUT', path: one, type: json, body: text },
    { method: 'PUT', path: `${one}/status`, type: json, body: text },
    ...patches.map(([type, patch]) => ({ method: 'PATCH', path: one, type, body: patch })),
    { method: 'PATCH', path: `${one}?fieldManager=fuzz&force=true`, type: 'application/apply-patch+yaml', body: text },
    { method: 'DELETE', path: one, type: json, body: options },
    { method: 'DELETE', path: `${collection}?labelSelector=app%3Dx` },
  ];
}

/** What breaks others' requests by design is left out: webhooks and servers behind this one lead nowhere here. */
const unfit = /clientConfig|webhook|apiservices|APIService/i;
/** Most objects that are taken from the recorded conversations. */
const MOST_RECORDED = 1500;

function recorded(shared) {
  const folder = join(shared, 'parity/recorded');
  if (!existsSync(folder)) return [];
  const found = [];
  for (const file of readdirSync(folder)) {
    for (const steps of Object.values(JSON.parse(readFileSync(join(folder, file), 'utf8')))) {
      for (const step of Array.isArray(steps) ? steps : []) {
        const made = recordedRequest(step?.body);
        if (made !== undefined) found.push(made);
      }
    }
  }
  const each = Math.ceil(found.length / MOST_RECORDED);
  return found.filter((_, index) => index % each === 0);
}
function recordedRequest(body) {
  if (typeof body?.apiVersion !== 'string' || typeof body.kind !== 'string') return undefined;
  const text = JSON.stringify(body)
    .replaceAll('<ns>', 'fuzz-a')
    .replaceAll('"<time>"', '"2024-05-01T08:00:00Z"')
    .replace(/"(uid|resourceVersion|creationTimestamp)":"[^"]*",?/g, '')
    .replace(/<[a-z]+>/g, 'x');
  const collection = collectionOf(body);
  return collection === undefined || unfit.test(text) || text.length > 20_000
    ? undefined
    : { method: 'POST', path: collection, type: json, body: text };
}

const clusterKinds =
  /^(Namespace|Node|PersistentVolume|ClusterRole|ClusterRoleBinding|StorageClass|PriorityClass|CSIDriver|CSINode|IngressClass|RuntimeClass|FlowSchema|PriorityLevelConfiguration|CustomResourceDefinition|CertificateSigningRequest|PodSecurityPolicy|VolumeAttachment)$/;
function collectionOf({ apiVersion, kind, metadata }) {
  if (/List$|^(Status|Table|APIGroup|APIResource|APIVersions|DeleteOptions)/.test(kind)) return undefined;
  if (typeof apiVersion !== 'string') return undefined;
  if (metadata?.name === undefined && metadata?.generateName === undefined) return undefined;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return clusterKinds.test(kind) ? `${root}/${pluralOf(kind)}` : `${root}/namespaces/fuzz-a/${pluralOf(kind)}`;
}
function pluralOf(kind) {
  const word = kind.toLowerCase();
  if (word === 'endpoints') return word;
  if (/s$/.test(word)) return `${word}es`;
  return /[^aeo]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/** Objects in the binary form, where foreign bytes of them lie beside the repository. */
export function binaries(shared) {
  const folder = join(shared, 'fixtures/wire');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.pb'))
    .flatMap((file) => {
      const body = JSON.parse(readFileSync(join(folder, file.replace(/pb$/, 'json')), 'utf8'));
      const collection = collectionOf({ ...body, metadata: { name: 'x' } });
      if (collection === undefined || unfit.test(JSON.stringify(body))) return [];
      return [{ method: 'POST', path: collection, type: 'application/vnd.kubernetes.protobuf', body: readFileSync(join(folder, file)) }];
    });
}
