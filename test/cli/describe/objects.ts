/** An object of every kind that describe knows, with most of what its page can show. */
import { makeRequest, newKeyPair } from '../../../packages/pki/src/index.ts';
import type { Loose, TestServer } from '../../support/server.ts';

/** So long ago that ages are whole years. */
const past = '2001-02-03T04:05:06Z';
const later = '2001-02-03T05:06:07Z';

const plurals: Readonly<Record<string, string>> = {
  Endpoints: 'endpoints',
  Ingress: 'ingresses',
  IngressClass: 'ingressclasses',
  NetworkPolicy: 'networkpolicies',
  PodSecurityPolicy: 'podsecuritypolicies',
  PriorityClass: 'priorityclasses',
  StorageClass: 'storageclasses',
};
const clusterWide = new Set([
  'CertificateSigningRequest',
  'ClusterRole',
  'ClusterRoleBinding',
  'CSINode',
  'CustomResourceDefinition',
  'IngressClass',
  'Namespace',
  'Node',
  'PersistentVolume',
  'PodSecurityPolicy',
  'PriorityClass',
  'StorageClass',
]);

export interface Made {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid: string };
}

/** Creates objects of a namespace, and of the whole cluster with names of their own. */
export class Maker {
  readonly made: Made[] = [];
  private readonly server: TestServer;
  private readonly ns: string;

  constructor(server: TestServer, ns: string) {
    this.server = server;
    this.ns = ns;
  }
  async make(object: Loose, status?: Loose): Promise<Made> {
    const { apiVersion, kind, metadata } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const scope = clusterWide.has(kind) ? '' : `/namespaces/${metadata.namespace ?? this.ns}`;
    const path = `${root}${scope}/${plurals[kind] ?? `${kind.toLowerCase()}s`}`;
    const created = await this.server.admin.ok('POST', path, object);
    if (status !== undefined) {
      const answer = await this.server.admin.patch(`${path}/${metadata.name}/status`, { status });
      if (answer.status >= 300) throw new Error(`status of ${kind}: ${answer.text}`);
    }
    const made: Made = { apiVersion, kind, metadata: created.metadata };
    this.made.push(made);
    return made;
  }
  /** Names of objects without namespace must not meet those of other tests. */
  name(word: string): string {
    return `${word}-${this.ns}`;
  }
}

const labels = { app: 'web', tier: 'front' };
const annotations = { 'example.com/note': 'hello', 'example.com/long': 'x'.repeat(160), 'example.com/lines': 'one\ntwo' };
const described = (name: string): Loose => ({ name, labels, annotations });

const podSpec: Loose = {
  serviceAccountName: 'runner',
  nodeSelector: { disk: 'ssd', arch: 'arm64' },
  priorityClassName: '',
  tolerations: [
    { key: 'gpu', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 60 },
  ],
  readinessGates: [{ conditionType: 'example.com/routed' }, { conditionType: 'example.com/other' }],
  initContainers: [{ name: 'setup', image: 'busybox:1', command: ['sh', '-c', 'echo one\necho two'] }],
  containers: [
    {
      name: 'web',
      image: 'nginx:1.25',
      args: ['--port', '80'],
      ports: [
        { containerPort: 80, name: 'http' },
        { containerPort: 443, hostPort: 8443, protocol: 'TCP' },
      ],
      resources: { limits: { cpu: '500m', memory: '128Mi' }, requests: { cpu: '250m', memory: '64Mi', 'ephemeral-storage': '1Gi' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 'http' }, initialDelaySeconds: 5 },
      readinessProbe: { exec: { command: ['cat', '/tmp/ready'] } },
      startupProbe: { tcpSocket: { port: 80 }, periodSeconds: 3 },
      envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'S_', secretRef: { name: 'keys', optional: true } }],
      env: [
        { name: 'PLAIN', value: 'one\ntwo' },
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'APP', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
        { name: 'NOTE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['example.com/note']" } } },
        { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'MEMORY', valueFrom: { resourceFieldRef: { containerName: 'web', resource: 'requests.memory', divisor: '1Mi' } } },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'k' } } },
        { name: 'SETTING', valueFrom: { configMapKeyRef: { name: 'settings', key: 's', optional: true } } },
      ],
      volumeMounts: [
        { name: 'scratch', mountPath: '/scratch' },
        { name: 'data', mountPath: '/data', subPath: 'a/b', readOnly: true },
      ],
    },
    {
      name: 'side',
      image: 'side:1',
      volumeDevices: [{ name: 'block', devicePath: '/dev/b' }],
      volumeMounts: [{ name: 'scratch', mountPath: '/s' }],
    },
  ],
  volumes: [
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '10Mi' } },
    { name: 'plain', emptyDir: {} },
    { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'block', persistentVolumeClaim: { claimName: 'block', readOnly: true } },
    { name: 'host', hostPath: { path: '/var/log' } },
    { name: 'keys', secret: { secretName: 'keys' } },
    { name: 'settings', configMap: { name: 'settings', optional: true } },
    { name: 'share', nfs: { server: 'nfs.example', path: '/a' } },
    { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { name: 'disk', gcePersistentDisk: { pdName: 'd', fsType: 'ext4', readOnly: true } },
    { name: 'ceph', rbd: { monitors: ['a', 'b'], image: 'i', secretRef: { name: 's' } } },
    { name: 'flex', flexVolume: { driver: 'x/y', options: { b: '2', a: '1' } } },
    { name: 'scsi', iscsi: { targetPortal: 'p', iqn: 'iqn.2024-05.com.example:a', lun: 1 } },
    { name: 'azure', azureDisk: { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' } },
    { name: 'fibre', fc: { targetWWNs: ['w1', 'w2'], lun: 0 } },
    { name: 'driver', csi: { driver: 'd.example', volumeAttributes: { b: '2', a: '1' } } },
    {
      name: 'temporary',
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { x: 'y' } },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
    {
      name: 'mixed',
      projected: {
        sources: [
          { secret: { name: 'keys' } },
          { configMap: { name: 'settings' } },
          { downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
          { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
        ],
      },
    },
  ],
};
const podStatus: Loose = {
  phase: 'Running',
  message: 'it runs',
  startTime: past,
  hostIP: '10.0.0.1',
  podIP: '10.1.0.1',
  podIPs: [{ ip: '10.1.0.1' }, { ip: 'fd00::1' }],
  conditions: [
    { type: 'Ready', status: 'False' },
    { type: 'example.com/routed', status: 'True' },
  ],
  initContainerStatuses: [
    {
      name: 'setup',
      image: 'busybox:1',
      imageID: 'sha256:a',
      containerID: 'c://a',
      ready: true,
      restartCount: 0,
      state: { terminated: { exitCode: 0, reason: 'Completed', startedAt: past, finishedAt: later } },
      lastState: {},
    },
  ],
  containerStatuses: [
    {
      name: 'web',
      image: 'nginx:1.25',
      imageID: 'sha256:b',
      containerID: 'c://b',
      ready: true,
      restartCount: 2,
      state: { running: { startedAt: later } },
      lastState: { terminated: { exitCode: 137, signal: 9, reason: 'OOMKilled', message: 'too much', startedAt: past, finishedAt: later } },
    },
    {
      name: 'side',
      image: 'side:1',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: 'ImagePullBackOff' } },
      lastState: {},
    },
  ],
};
const template = (more: Loose = {}): Loose => ({
  metadata: { labels, annotations: { 'example.com/t': 'u' } },
  spec: { ...podSpec, containers: podSpec.containers, ...more },
});
const selector = { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'back'] }] };
const owner = ({ apiVersion, kind, metadata }: Made): Loose => [
  { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true },
];

/** The objects, in the order in which they are described. */
export async function makeAll(maker: Maker, ns: string): Promise<void> {
  await makeConfig(maker);
  await makeStorage(maker, ns);
  await makeWorkloads(maker);
  await makeNetwork(maker);
  await makeRoles(maker, ns);
  await makeCluster(maker, ns);
}

async function makeConfig(maker: Maker): Promise<void> {
  await maker.make({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } });
  const account = await maker.make({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: described('runner'),
    secrets: [{ name: 'keys' }, { name: 'absent' }],
    imagePullSecrets: [{ name: 'pull' }],
  });
  await maker.make({ apiVersion: 'v1', kind: 'Secret', metadata: described('keys'), type: 'example.com/own', data: { k: 'aGVsbG8=' } });
  await maker.make({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'runner-token',
      annotations: { 'kubernetes.io/service-account.name': 'runner', 'kubernetes.io/service-account.uid': account.metadata.uid },
    },
    type: 'kubernetes.io/service-account-token',
    data: { token: 'c2VjcmV0' },
  });
  await maker.make({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: described('settings'),
    data: { s: 'a\tb\nlonger\tc\n' },
    binaryData: { b: 'AAEC' },
  });
  await maker.make({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'empty' } });
}

async function makeStorage(maker: Maker, ns: string): Promise<void> {
  const volume = maker.name('volume');
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: described(volume),
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        storageClassName: 'fast',
        claimRef: { namespace: ns, name: 'data' },
        csi: { driver: 'd.example', volumeHandle: 'h', fsType: 'ext4', volumeAttributes: { b: '2', a: '1' } },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'zone', operator: 'In', values: ['a', 'b'] },
                  { key: 'disk', operator: 'Exists' },
                ],
              },
              { matchExpressions: [{ key: 'arch', operator: 'NotIn', values: ['arm64'] }] },
            ],
          },
        },
      },
    },
    { phase: 'Bound', message: 'well' },
  );
  const sources: readonly Loose[] = [
    { hostPath: { path: '/a' } },
    { nfs: { server: 's', path: '/a', readOnly: true } },
    { glusterfs: { endpoints: 'e', path: 'p' } },
    { cinder: { volumeID: 'v', secretRef: { name: 'n', namespace: 's' } } },
    { azureFile: { secretName: 's', shareName: 'h', secretNamespace: 'n' } },
    { scaleIO: { gateway: 'g', system: 's', secretRef: { name: 'n', namespace: 'm' }, volumeName: 'v' } },
    { csi: { driver: 'd', volumeHandle: 'h' } },
  ];
  for (const [i, source] of sources.entries()) {
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteMany'], ...source };
    await maker.make({ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: maker.name(`source-${i}`) }, spec });
  }
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: described('data'),
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        volumeName: volume,
        resources: { requests: { storage: '5Gi' } },
        dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'before' },
      },
    },
    {
      phase: 'Bound',
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '10Gi' },
      conditions: [{ type: 'Resizing', status: 'True', lastTransitionTime: past, reason: 'asked', message: 'it grows' }],
    },
  );
  await maker.make({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'pending' },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
  });
  await maker.make({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: maker.name('class'), annotations: { 'storageclass.kubernetes.io/is-default-class': 'true', a: 'b' } },
    provisioner: 'p.example',
    parameters: { b: '2', a: '1' },
    mountOptions: ['ro', 'soft'],
    allowVolumeExpansion: true,
    allowedTopologies: [
      {
        matchLabelExpressions: [
          { key: 'zone', values: ['a', 'b'] },
          { key: 'row', values: ['1'] },
        ],
      },
    ],
  });
  await maker.make({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSINode',
    metadata: described(maker.name('csi')),
    spec: { drivers: [{ name: 'd.example', nodeID: 'n1', topologyKeys: ['zone', 'row'], allocatable: { count: 5 } }] },
  });
}

async function makeWorkloads(maker: Maker): Promise<void> {
  const deployment = await maker.make(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: described('web'),
      spec: { replicas: 3, minReadySeconds: 5, selector, template: template() },
    },
    {
      replicas: 3,
      updatedReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      unavailableReplicas: 2,
      conditions: [{ type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' }],
    },
  );
  const set = async (name: string, replicas: number, more: Loose): Promise<Made> =>
    maker.make(
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { ...described(name), ownerReferences: owner(deployment) },
        spec: {
          replicas,
          selector: { matchLabels: { ...labels, 'pod-template-hash': name } },
          template: {
            ...template(more),
            metadata: { labels: { ...labels, 'pod-template-hash': name }, annotations: { 'example.com/t': 'u' } },
          },
        },
      },
      { replicas, conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] },
    );
  const current = await set('web-new', 2, {});
  await set('web-old', 1, { hostNetwork: false, subdomain: 'other' });
  const phases = { 'web-new-1': 'Running', 'web-new-2': 'Pending', 'web-new-3': 'Failed' };
  for (const [name, phase] of Object.entries(phases)) {
    await maker.make(
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...described(name), labels: { ...labels, 'pod-template-hash': 'web-new' }, ownerReferences: owner(current) },
        spec: { ...podSpec, ...(phase === 'Running' && { nodeName: maker.name('node') }) },
      },
      { ...podStatus, phase, ...(phase !== 'Running' && { reason: 'Because' }) },
    );
  }
  await maker.make({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'bare' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const controller = await maker.make(
    {
      apiVersion: 'v1',
      kind: 'ReplicationController',
      metadata: described('old'),
      spec: {
        replicas: 1,
        selector: { app: 'old' },
        template: { metadata: { labels: { app: 'old' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
    { replicas: 1, conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'Quota' }] },
  );
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'old-1', labels: { app: 'old' }, ownerReferences: owner(controller) },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
    { phase: 'Succeeded' },
  );
  await maker.make(
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: described('db'),
      spec: {
        replicas: 2,
        serviceName: 'db',
        selector,
        template: template(),
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
        volumeClaimTemplates: [
          {
            metadata: described('data'),
            spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
    { replicas: 1 },
  );
  await maker.make(
    { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: described('agent'), spec: { selector, template: template() } },
    {
      desiredNumberScheduled: 5,
      currentNumberScheduled: 4,
      updatedNumberScheduled: 3,
      numberAvailable: 2,
      numberMisscheduled: 1,
      numberReady: 2,
    },
  );
  await maker.make(
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: described('once'),
      spec: {
        parallelism: 2,
        completions: 40,
        completionMode: 'Indexed',
        activeDeadlineSeconds: 600,
        suspend: false,
        template: { ...template({ restartPolicy: 'Never', readinessGates: undefined }) },
      },
    },
    {
      startTime: past,
      active: 2,
      succeeded: 30,
      failed: 1,
      completedIndexes: '0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38',
    },
  );
  await maker.make(
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: described('nightly'),
      spec: {
        schedule: '0 3 * * *',
        suspend: true,
        startingDeadlineSeconds: 30,
        jobTemplate: { spec: { parallelism: 1, activeDeadlineSeconds: 5, template: template({ restartPolicy: 'Never' }) } },
      },
    },
    {
      lastScheduleTime: past,
      active: [
        { kind: 'Job', name: 'a' },
        { kind: 'Job', name: 'b' },
      ],
    },
  );
}

async function makeNetwork(maker: Maker): Promise<void> {
  await maker.make({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: described('web'),
    subsets: [
      {
        addresses: ['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4'].map((ip) => ({ ip })),
        notReadyAddresses: [{ ip: '10.1.0.9' }],
        ports: [
          { name: 'http', port: 8080 },
          { name: 'https', port: 8443, protocol: 'TCP' },
        ],
      },
    ],
  });
  await maker.make({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...described('web-1'), labels: { ...labels, 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [
      { name: 'http', port: 8080 },
      { name: 'https', port: 8443 },
    ],
    endpoints: [
      {
        addresses: ['10.1.0.1'],
        conditions: { ready: true },
        hostname: 'a',
        nodeName: 'n',
        zone: 'z',
        targetRef: { kind: 'Pod', name: 'web-new-1' },
      },
      { addresses: ['10.1.0.2'], conditions: {} },
      { addresses: ['10.1.0.3'] },
      { addresses: ['10.1.0.4'] },
    ],
  });
  await maker.make({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'none' },
    addressType: 'IPv6',
    endpoints: [],
  });
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: described('web'),
      spec: {
        type: 'LoadBalancer',
        selector: labels,
        externalIPs: ['192.0.2.1'],
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: ['192.0.2.0/24'],
        sessionAffinity: 'ClientIP',
        ports: [
          { name: 'http', port: 80, targetPort: 'web' },
          { name: 'https', port: 443, targetPort: 8443 },
        ],
      },
    },
    { loadBalancer: { ingress: [{ ip: '192.0.2.9' }, { hostname: 'lb.example' }] } },
  );
  await maker.make({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'outside' },
    spec: { type: 'ExternalName', externalName: 'example.com' },
  });
  await maker.make({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'headless' },
    spec: { clusterIP: 'None', ports: [{ port: 80 }] },
  });
  await maker.make(
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: described('web'),
      spec: {
        ingressClassName: 'nginx',
        defaultBackend: { service: { name: 'web', port: { number: 443 } } },
        tls: [{ hosts: ['a.example', 'b.example'], secretName: 'tls' }, { hosts: ['c.example'] }],
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { name: 'http' } } } },
                { path: '/x', pathType: 'Exact', backend: { resource: { apiGroup: 'k.example', kind: 'Bucket', name: 'b' } } },
              ],
            },
          },
          { host: 'b.example' },
        ],
      },
    },
    { loadBalancer: { ingress: [{ ip: '192.0.2.9' }, { hostname: 'a.lb' }] } },
  );
  await maker.make({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: described(maker.name('nginx')),
    spec: { controller: 'example.com/nginx', parameters: { apiGroup: 'k.example', kind: 'Parameters', name: 'p' } },
  });
  await maker.make({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: described('guard'),
    spec: {
      podSelector: { matchLabels: labels },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          ports: [{ port: 80 }, { port: 'dns', protocol: 'UDP' }],
          from: [
            { podSelector: { matchLabels: { a: 'b' } }, namespaceSelector: {} },
            { podSelector: {} },
            { namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
            { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '10.2.0.0/16'] } },
          ],
        },
        {},
      ],
    },
  });
  await maker.make({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'open' },
    spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [{ podSelector: { matchLabels: { a: 'b' } } }] }] },
  });
}

async function makeRoles(maker: Maker, ns: string): Promise<void> {
  const rules = [
    { apiGroups: ['', 'apps'], resources: ['pods', 'deployments/scale'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['watch'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['*'] },
  ];
  const subjects = [
    { kind: 'ServiceAccount', name: 'runner', namespace: ns },
    { kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' },
  ];
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const roleRef = (kind: string, name: string): Loose => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
  const clusterRole = maker.name('reader');
  await maker.make({ apiVersion, kind: 'Role', metadata: described('reader'), rules });
  await maker.make({
    apiVersion,
    kind: 'ClusterRole',
    metadata: described(clusterRole),
    rules: [...rules, { nonResourceURLs: ['/a', '/b'], verbs: ['get', 'post'] }],
  });
  await maker.make({ apiVersion, kind: 'RoleBinding', metadata: described('reader'), roleRef: roleRef('Role', 'reader'), subjects });
  await maker.make({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: described(clusterRole),
    roleRef: roleRef('ClusterRole', clusterRole),
    subjects,
  });
}

async function makeCluster(maker: Maker, ns: string): Promise<void> {
  const node = maker.name('node');
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...described(node), labels: { ...labels, 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'extra' } },
      spec: {
        podCIDR: '10.1.0.0/24',
        podCIDRs: ['10.1.0.0/24'],
        providerID: 'p://1',
        unschedulable: true,
        taints: [
          { key: 'b', effect: 'NoSchedule', value: 'v' },
          { key: 'a', effect: 'NoExecute' },
        ],
      },
    },
    {
      capacity: { cpu: '4', memory: '8Gi', pods: '110', 'ephemeral-storage': '100Gi', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '2' },
      allocatable: {
        cpu: '3800m',
        memory: '7Gi',
        pods: '110',
        'ephemeral-storage': '90Gi',
        'hugepages-2Mi': '4Mi',
        'example.com/gpu': '2',
      },
      conditions: [
        { type: 'Ready', status: 'True', lastHeartbeatTime: later, lastTransitionTime: past, reason: 'KubeletReady', message: 'ready' },
      ],
      addresses: [
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'Hostname', address: node },
      ],
      nodeInfo: {
        machineID: 'm',
        systemUUID: 's',
        bootID: 'b',
        kernelVersion: '6.1',
        osImage: 'Linux',
        containerRuntimeVersion: 'c://1',
        kubeletVersion: 'v1.24.0',
        kubeProxyVersion: 'v1.24.0',
        operatingSystem: 'linux',
        architecture: 'arm64',
      },
    },
  );
  await maker.make({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: node, namespace: 'kube-node-lease' },
    spec: { holderIdentity: node, renewTime: '2001-02-03T04:05:06.123456Z' },
  });
  await maker.make(
    {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: described('most'),
      spec: { hard: { pods: '100', 'requests.memory': '1Ti' }, scopes: ['NotTerminating', 'NotBestEffort'] },
    },
    { hard: { pods: '100', 'requests.memory': '1Ti' }, used: { pods: '3', 'requests.memory': '1G' } },
  );
  await maker.make({
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: described('bounds'),
    spec: {
      limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '10m' }, default: { cpu: '1' }, defaultRequest: { cpu: '100m' } }],
    },
  });
  maker.made.push({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns, uid: '' } });
  await maker.make(
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: described('web'),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 2,
        maxReplicas: 10,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
          { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
          { type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } } },
          {
            type: 'Object',
            object: {
              metric: { name: 'hits' },
              describedObject: { apiVersion: 'v1', kind: 'Service', name: 'web' },
              target: { type: 'Value', value: '100' },
            },
          },
          { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '5' } } },
          { type: 'External', external: { metric: { name: 'total' }, target: { type: 'Value', value: '7' } } },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 30,
            policies: [
              { type: 'Pods', value: 4, periodSeconds: 15 },
              { type: 'Percent', value: 100, periodSeconds: 60 },
            ],
          },
          scaleDown: { selectPolicy: 'Disabled' },
        },
      },
    },
    {
      currentReplicas: 2,
      desiredReplicas: 3,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '200m' } } },
        { type: 'Resource', resource: { name: 'memory', current: { averageValue: '50Mi' } } },
        { type: 'Pods', pods: { metric: { name: 'rps' }, current: { averageValue: '7' } } },
      ],
      conditions: [{ type: 'AbleToScale', status: 'True', reason: 'Ready', message: 'it can' }],
    },
  );
  await maker.make(
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: described('web'),
      spec: { minAvailable: '50%', selector: { matchLabels: labels } },
    },
    { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
  );
  await maker.make({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'most' }, spec: { maxUnavailable: 1 } });
  await maker.make({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: maker.name('high'), annotations: { a: 'b' } },
    value: 1000,
    description: 'before others',
  });
  const request = Buffer.from(
    makeRequest({ commonName: 'jane', organizations: ['dev', 'ops'] }, newKeyPair(), {
      dns: ['a.example', 'b.example'],
      addresses: ['10.0.0.1', '0:0:0:0:0:0:0:1'],
      emails: ['jane@example.com'],
      uris: ['spiffe://example/jane'],
    }),
  ).toString('base64');
  await maker.make({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: maker.name('jane'), labels },
    spec: { request, signerName: 'example.com/any', usages: ['client auth'], expirationSeconds: 7200 },
  });
}

/** Events of some objects, of both forms. */
export async function makeEvents(server: TestServer, ns: string, about: readonly Made[]): Promise<void> {
  for (const { apiVersion, kind, metadata } of about) {
    const namespace = metadata.namespace ?? 'default';
    const involvedObject = {
      apiVersion,
      kind,
      name: metadata.name,
      uid: metadata.uid,
      ...(metadata.namespace && { namespace: metadata.namespace }),
    };
    const post = (name: string, more: Loose): Promise<Loose> =>
      server.admin.ok('POST', `/api/v1/namespaces/${namespace}/events`, {
        metadata: { name: `${name}-${kind.toLowerCase()}-${metadata.name}`, namespace },
        involvedObject,
        type: 'Normal',
        reason: 'Happened',
        message: `${name} of ${ns}\n`,
        ...more,
      });
    await post('second', { firstTimestamp: past, lastTimestamp: later, count: 7, type: 'Warning', source: { component: 'kubelet' } });
    await post('first', { firstTimestamp: past, lastTimestamp: past, count: 1, source: { component: 'scheduler' } });
    await post('third', {
      eventTime: '2001-02-03T04:05:06.000001Z',
      reportingComponent: 'example.com/c',
      reportingInstance: 'i',
      action: 'Doing',
      series: { count: 3, lastObservedTime: '2001-02-03T06:05:06.000001Z' },
    });
  }
}
