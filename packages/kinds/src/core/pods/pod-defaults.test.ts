import { expect, test } from 'vitest';
import { create, defaulted, type Loose, shown, update, withFeatures } from '../../validation/kinds.testing.ts';
import { PodKind } from './pod.ts';
import { PodTemplateKind } from './pod-template.ts';

test('the least pod shows every default', () => {
  const { object } = create(PodKind, {
    metadata: { name: 'least' },
    spec: { containers: [{ name: 'main', image: 'registry.local/app:1.0' }] },
  });
  const { spec, status } = shown(PodKind, object);
  expect({ spec, status }).toEqual({
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.local/app:1.0',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
    },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
});

test('templates are spared what only pods get', () => {
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] },
  };
  const { object } = create(PodTemplateKind, { template });
  expect(object.template.spec.enableServiceLinks).toBeUndefined();
  expect(object.template.spec.containers[0].resources).toEqual({ limits: { cpu: '1' } });
  expect(object.metadata.generation).toBe(1);
});

test('requests follow limits, resource by resource, in thousandths', () => {
  const { object } = create(PodKind, {
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '100u', memory: '1Gi' }, requests: { memory: '512Mi' } } }] },
  });
  expect(object.spec.containers[0].resources).toEqual({ limits: { cpu: '1m', memory: '1Gi' }, requests: { cpu: '1m', memory: '512Mi' } });
});

test('both names of the service account say the same', () => {
  const spec = (fields: Loose) => defaulted(PodKind, { spec: { containers: [], ...fields } }).spec;
  expect(spec({ serviceAccount: 'old' })).toMatchObject({ serviceAccountName: 'old', serviceAccount: 'old' });
  expect(spec({ serviceAccountName: 'new', serviceAccount: 'old' })).toMatchObject({ serviceAccountName: 'new', serviceAccount: 'new' });
});

test('a seccomp profile has both of its forms on a new pod', () => {
  const { object } = create(PodKind, {
    metadata: { annotations: { 'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined' } },
    spec: { securityContext: { seccompProfile: { type: 'RuntimeDefault' } }, containers: [{ name: 'c', image: 'i' }] },
  });
  expect(object.metadata.annotations).toEqual({
    'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined',
    'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
  });
  expect(object.spec.containers[0].securityContext).toEqual({ seccompProfile: { type: 'Unconfined' } });
});

test('fields of features that are off are dropped, unless they are in use', () => {
  const probe = { exec: { command: ['a'] }, terminationGracePeriodSeconds: 7 };
  const body = {
    spec: {
      containers: [{ name: 'c', image: 'i', livenessProbe: probe, securityContext: { procMount: 'Unmasked' } }],
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 }],
    },
  };
  const { object: plain } = create(PodKind, body);
  expect(plain.spec.containers[0].livenessProbe.terminationGracePeriodSeconds).toBeUndefined();
  expect(plain.spec.containers[0].securityContext.procMount).toBe('Default');
  expect(plain.spec.topologySpreadConstraints[0].minDomains).toBeUndefined();
  const { object: rich } = create(
    PodKind,
    body,
    withFeatures('ProbeTerminationGracePeriod', 'ProcMountType', 'MinDomainsInPodTopologySpread'),
  );
  expect(rich.spec).toMatchObject(body.spec);
  const { object: kept, errors } = update(PodKind, rich, ({ metadata }) => {
    metadata.labels = { a: 'b' };
  });
  expect(errors).toEqual([]);
  expect(kept.spec).toEqual(rich.spec);
});
