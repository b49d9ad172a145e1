/** What holds for any body of a pod or of a kind with a template, however wrong it is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DaemonSetKind } from '../apps/daemon-set.ts';
import { DeploymentKind } from '../apps/deployment.ts';
import { ReplicaSetKind } from '../apps/replica-set.ts';
import { StatefulSetKind } from '../apps/stateful-set.ts';
import { CronJobKind } from '../batch/cron-job.ts';
import { JobKind } from '../batch/job.ts';
import type { Kind } from '../kind.ts';
import { create, defaulted, type Loose, shown, testEnv, update } from '../validation/kinds.testing.ts';
import { PodKind } from './pod.ts';
import { PodTemplateKind } from './pod-template.ts';
import { ReplicationControllerKind } from './replication-controller.ts';

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

/** Values that clients put in wrong places. */
const odd = fc.constantFrom<Loose>(
  '',
  'x',
  'Bad Value',
  '..',
  '/',
  '../a',
  'é'.repeat(70),
  -1,
  0,
  1,
  65536,
  2 ** 31,
  true,
  false,
  null,
  {},
  [],
  [{}],
  ['x'],
  { a: 'b' },
  { constructor: '1' },
  '1Gi',
  '-1',
  '1.5',
  "metadata.labels['a']",
);

/** Every place in a value: path of keys and indexes. */
function places(value: Loose, at: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [at];
  const keys = Array.isArray(value) ? value.map((_, i) => i) : Object.keys(value);
  return [at, ...keys.flatMap((key) => places(value[key as never], [...at, key]))];
}
function put(value: Loose, path: (string | number)[], change: Loose): Loose {
  const copy = structuredClone(value);
  const last = path.at(-1);
  if (last === undefined) return copy;
  let parent = copy;
  for (const key of path.slice(0, -1)) parent = parent?.[key as never];
  if (typeof parent === 'object' && parent !== null) parent[last as never] = change;
  return copy;
}
const mutated = (body: Loose): fc.Arbitrary<Loose> => {
  const all = places(body).filter((path) => path.length > 0 && path[0] !== 'kind' && path[0] !== 'apiVersion');
  return fc
    .array(fc.tuple(fc.constantFrom(...all), odd), { minLength: 1, maxLength: 4 })
    .map((changes) => changes.reduce((value, [path, change]) => put(value, path, change), body));
};

const template = { metadata: { labels: { a: 'b' } }, spec: { ...full.spec, hostNetwork: false } };
const selector = { matchLabels: { a: 'b' } };
const bodies: [string, Kind, Loose][] = [
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

test.each(bodies)('a good %s has no causes', (_name, kind, body) => {
  expect(create(kind, body).errors).toEqual([]);
});

/** Bodies that decoding itself refuses are no matter of these rules. */
function decodes<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if ((error as Error).name === 'DecodeError') return undefined;
    throw error;
  }
}

test.each(bodies)('defaults of a %s change nothing the second time', (_name, kind, body) => {
  fc.assert(
    fc.property(mutated(body), (changed) => {
      const once = decodes(() => defaulted(kind, changed));
      if (once === undefined) return;
      const twice = structuredClone(once);
      kind.versions[kind.hub]?.defaults?.(twice as never, testEnv);
      expect(twice).toEqual(once);
      expect(shown(kind, defaulted(kind, shown(kind, once)))).toEqual(shown(kind, once));
    }),
    { numRuns: 150 },
  );
});

test.each(bodies)('the rules of a %s stand whatever they are given', (_name, kind, body) => {
  const good = create(kind, body).object;
  const subresources = ['', ...Object.keys(kind.subresources).filter((name) => kind.subresources[name]?.type === 'object')];
  fc.assert(
    fc.property(mutated(body), fc.constantFrom(...subresources), (changed, subresource) => {
      const made = decodes(() => create(kind, changed));
      if (made === undefined) return;
      const updated = decodes(() =>
        update(kind, good, (object) => Object.assign(object, structuredClone(changed), { metadata: object.metadata }), subresource),
      );
      expect([...made.errors, ...(updated?.errors ?? [])].every((text) => text.includes(' | '))).toBe(true);
      kind.cells?.(made.object as never, testEnv);
    }),
    { numRuns: 250 },
  );
});
