/** What holds for any body of the core and storage kinds, however wrong it is. */
import { CSIDriverKind } from '../storage/csi-driver.ts';
import { CSINodeKind } from '../storage/csi-node.ts';
import { CSIStorageCapacityKind } from '../storage/csi-storage-capacity.ts';
import { StorageClassKind } from '../storage/storage-class.ts';
import { VolumeAttachmentKind } from '../storage/volume-attachment.ts';
import { type GoodBody, holdLaws } from '../validation/laws.testing.ts';
import { ConfigMapKind } from './config-map.ts';
import { EndpointsKind } from './endpoints.ts';
import { EventKind } from './event.ts';
import { LimitRangeKind } from './limit-range.ts';
import { NamespaceKind } from './namespace.ts';
import { NodeKind } from './node.ts';
import { PersistentVolumeKind } from './persistent-volume.ts';
import { PersistentVolumeClaimKind } from './persistent-volume-claim.ts';
import { ResourceQuotaKind } from './resource-quota.ts';
import { SecretKind } from './secret.ts';
import { ServiceAccountKind } from './service-account.ts';
import { ServiceKind } from './services/service.ts';

const metadata = { name: 'x', labels: { a: 'b' }, annotations: { c: 'd' } };
const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] } };

/** A good body of each kind that shows most of its fields. */
const bodies: readonly GoodBody[] = [
  ['ConfigMap', ConfigMapKind, { metadata, data: { a: '1' }, binaryData: { b: 'AA==' }, immutable: true }],
  [
    'Secret',
    SecretKind,
    { metadata, data: { username: 'MQ==' }, stringData: { b: '2' }, type: 'kubernetes.io/basic-auth', immutable: false },
  ],
  [
    'ServiceAccount',
    ServiceAccountKind,
    { metadata, secrets: [{ name: 's', kind: 'Secret' }], imagePullSecrets: [{ name: 'p' }], automountServiceAccountToken: false },
  ],
  [
    'Endpoints',
    EndpointsKind,
    {
      metadata,
      subsets: [
        {
          addresses: [{ ip: '192.0.2.1', hostname: 'h', nodeName: 'n', targetRef: { kind: 'Pod', name: 'p' } }],
          notReadyAddresses: [{ ip: '2001:db8::1' }],
          ports: [
            { name: 'a', port: 80, protocol: 'TCP', appProtocol: 'http' },
            { name: 'b', port: 53, protocol: 'UDP' },
          ],
        },
      ],
    },
  ],
  [
    'Service',
    ServiceKind,
    {
      metadata,
      spec: {
        type: 'LoadBalancer',
        clusterIP: '10.0.0.5',
        clusterIPs: ['10.0.0.5'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        selector: { a: 'b' },
        ports: [
          { name: 'a', port: 80, targetPort: 'web', nodePort: 30001, appProtocol: 'http' },
          { name: 'b', port: 81, protocol: 'UDP' },
        ],
        externalIPs: ['192.0.2.7'],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } },
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30002,
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        loadBalancerClass: 'a.example/b',
        internalTrafficPolicy: 'Local',
      },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }, { hostname: 'a.example' }] } },
    },
  ],
  [
    'Node',
    NodeKind,
    {
      metadata: { ...metadata, labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'x' } },
      spec: {
        podCIDR: '10.0.0.0/24',
        podCIDRs: ['10.0.0.0/24', 'fd00::/64'],
        providerID: 'a://b',
        taints: [{ key: 'k', effect: 'NoExecute' }],
      },
      status: {
        capacity: { cpu: '4', pods: '110' },
        addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
        conditions: [{ type: 'Ready', status: 'True' }],
        nodeInfo: { kubeletVersion: 'v1' },
        images: [{ names: ['a'], sizeBytes: 5 }],
      },
    },
  ],
  [
    'Namespace',
    NamespaceKind,
    { metadata, spec: { finalizers: ['example.org/x'] }, status: { phase: 'Active', conditions: [{ type: 'a' }] } },
  ],
  [
    'PersistentVolume',
    PersistentVolumeKind,
    {
      metadata,
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        csi: { driver: 'd', volumeHandle: 'h', controllerPublishSecretRef: { name: 'a', namespace: 'b' } },
        claimRef: { name: 'c', namespace: 'n' },
        storageClassName: 'fast',
        mountOptions: ['ro'],
        nodeAffinity,
      },
    },
  ],
  [
    'PersistentVolume of hosts and disks',
    PersistentVolumeKind,
    {
      metadata,
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        flexVolume: { driver: 'd', options: { a: 'b' }, secretRef: { name: 'a' } },
        persistentVolumeReclaimPolicy: 'Delete',
        volumeMode: 'Block',
      },
    },
  ],
  [
    'PersistentVolumeClaim',
    PersistentVolumeClaimKind,
    {
      metadata,
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
        selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'k', operator: 'Exists' }] },
        storageClassName: 'fast',
        volumeName: 'v',
        dataSource: { kind: 'PersistentVolumeClaim', name: 's' },
      },
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    },
  ],
  [
    'LimitRange',
    LimitRangeKind,
    {
      metadata,
      spec: {
        limits: [
          { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m' }, default: { cpu: '1' }, maxLimitRequestRatio: { cpu: '10' } },
          { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
        ],
      },
    },
  ],
  [
    'ResourceQuota',
    ResourceQuotaKind,
    {
      metadata,
      spec: {
        hard: { pods: '4', 'requests.cpu': '2' },
        scopes: ['NotBestEffort'],
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
      },
      status: { hard: { pods: '4' }, used: { pods: '1' } },
    },
  ],
  [
    'Event',
    EventKind,
    {
      metadata,
      involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p', fieldPath: 'spec.containers{c}' },
      reason: 'Why',
      message: ' m ',
      type: 'Normal',
      count: 3,
      firstTimestamp: '2024-01-01T00:00:00Z',
      lastTimestamp: '2024-01-01T01:00:00Z',
      source: { component: 'c', host: 'h' },
      eventTime: '2024-01-01T00:00:00.000001Z',
      series: { count: 2, lastObservedTime: '2024-01-01T00:00:00.000002Z' },
      action: 'Did',
      reportingComponent: 'a.example/b',
      reportingInstance: 'i',
    },
  ],
  [
    'StorageClass',
    StorageClassKind,
    {
      metadata: { ...metadata, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'p.example/x',
      parameters: { a: 'b' },
      mountOptions: ['ro'],
      allowVolumeExpansion: true,
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'z', values: ['a'] }] }],
    },
  ],
  [
    'CSIDriver',
    CSIDriverKind,
    { metadata, spec: { tokenRequests: [{ audience: 'a', expirationSeconds: 600 }], volumeLifecycleModes: ['Ephemeral'] } },
  ],
  ['CSINode', CSINodeKind, { metadata, spec: { drivers: [{ name: 'a', nodeID: 'x', topologyKeys: ['z'], allocatable: { count: 1 } }] } }],
  [
    'CSIStorageCapacity',
    CSIStorageCapacityKind,
    { metadata, storageClassName: 'fast', nodeTopology: { matchLabels: { a: 'b' } }, capacity: '1Gi', maximumVolumeSize: '1Gi' },
  ],
  [
    'VolumeAttachment',
    VolumeAttachmentKind,
    {
      metadata,
      spec: {
        attacher: 'a.example',
        nodeName: 'n',
        source: { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi: { driver: 'd', volumeHandle: 'h' } } },
      },
      status: { attached: true, attachmentMetadata: { a: 'b' }, attachError: { message: 'm' } },
    },
  ],
];

holdLaws(bodies);
