/** What holds for any body of a pod or of a kind with a template, however wrong it is. */
import { DaemonSetKind } from '../../apps/daemon-set.ts';
import { DeploymentKind } from '../../apps/deployment.ts';
import { ReplicaSetKind } from '../../apps/replica-set.ts';
import { StatefulSetKind } from '../../apps/stateful-set.ts';
import { CronJobKind } from '../../batch/cron-job.ts';
import { JobKind } from '../../batch/job.ts';
import { type GoodBody, holdLaws } from '../../validation/laws.testing.ts';
import { ReplicationControllerKind } from '../replication-controller.ts';
import { PodKind } from './pod.ts';
import { PodTemplateKind } from './pod-template.ts';

const container = {
  name: 'c',
  image: 'reg:5000/app',
  ports: [{ containerPort: 80, name: 'web' }],
  envFrom: [{ configMapRef: { name: 'a' } }],
  env: [
    { name: 'A', value: 'b' },
    { name: 'N', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'R', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
  ],
  resources: { limits: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' } },
  livenessProbe: { httpGet: { port: 80 } },
  readinessProbe: { grpc: { port: 1 } },
  startupProbe: { tcpSocket: { port: 'web' } },
  lifecycle: { preStop: { httpGet: { port: 1 } } },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
  securityContext: {
    runAsUser: 1,
    windowsOptions: { runAsUserName: 'a' },
    seccompProfile: { type: 'RuntimeDefault' },
    capabilities: { add: ['A'] },
  },
};
const full = {
  metadata: { name: 'p', labels: { a: 'b' }, annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' } },
  spec: {
    containers: [container, { name: 'd', image: 'i' }],
    initContainers: [{ name: 'i', image: 'i' }],
    volumes: [
      { name: 'v' },
      { name: 's', secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
      {
        name: 'p',
        projected: {
          sources: [
            { serviceAccountToken: { path: 't' } },
            { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'metadata.labels' } }] } },
          ],
        },
      },
      {
        name: 'e',
        ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } } },
      },
      { name: 'i', iscsi: { targetPortal: 'x', iqn: 'iqn.2001-04.com.example:storage', lun: 1 } },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
              matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }],
      },
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z', labelSelector: { matchLabels: { a: 'b' } } }],
      },
    },
    tolerations: [{ key: 'a', operator: 'Exists' }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} }],
    dnsConfig: { nameservers: ['1.1.1.1'], searches: ['a.b'], options: [{ name: 'n' }] },
    hostAliases: [{ ip: '1.1.1.1', hostnames: ['a'] }],
    readinessGates: [{ conditionType: 'a' }],
    securityContext: { sysctls: [{ name: 'a.b', value: '1' }], supplementalGroups: [1], windowsOptions: { hostProcess: false } },
    overhead: { cpu: '1' },
    hostNetwork: true,
    serviceAccountName: 'a',
  },
  status: {
    podIP: '10.0.0.1',
    containerStatuses: [
      {
        name: 'c',
        image: 'i',
        imageID: '',
        ready: true,
        restartCount: 1,
        state: { running: {} },
        lastState: { terminated: { exitCode: 1, finishedAt: '2024-01-01T00:00:00Z' } },
      },
    ],
  },
};

const template = { metadata: { labels: { a: 'b' } }, spec: { ...full.spec, hostNetwork: false } };
const selector = { matchLabels: { a: 'b' } };
const bodies: readonly GoodBody[] = [
  ['Pod', PodKind, full],
  ['PodTemplate', PodTemplateKind, { template }],
  ['ReplicationController', ReplicationControllerKind, { spec: { template } }],
  ['Deployment', DeploymentKind, { spec: { selector, template, strategy: { rollingUpdate: { maxSurge: '10%' } } } }],
  ['ReplicaSet', ReplicaSetKind, { spec: { selector, template } }],
  [
    'StatefulSet',
    StatefulSetKind,
    {
      spec: {
        selector,
        template,
        serviceName: 's',
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }],
        updateStrategy: { rollingUpdate: { partition: 1 } },
      },
    },
  ],
  ['DaemonSet', DaemonSetKind, { spec: { selector, template } }],
  [
    'Job',
    JobKind,
    { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } }, completions: 3, completionMode: 'Indexed' } },
  ],
  [
    'CronJob',
    CronJobKind,
    {
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  ],
];

holdLaws(bodies);
