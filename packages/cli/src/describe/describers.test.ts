/** Pages that the stock client of tests does not have: of versions and kinds that newer releases removed, and of states of time. */

import { notFound } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { BuiltIn, Cluster } from './cluster.ts';
import { describers } from './describers.ts';
import { Page } from './page.ts';
import type { Described } from './values.ts';

const now = Date.parse('2024-05-06T12:00:00Z');
/** A cluster with some objects by the name of their resource. */
const cluster = (objects: Readonly<Record<string, object>> = {}): Cluster =>
  ({
    identity: kubernetes,
    now,
    get: async ({ group, name }: BuiltIn, _: string, object: string) => {
      if (objects[name] === undefined) throw notFound({ group, resource: name }, object);
      return objects[name];
    },
    list: async ({ name }: BuiltIn) => objects[name] ?? [],
    events: async () => [],
  }) as unknown as Cluster;

async function pageOf(kind: string, object: object, version = 'v1', objects = {}): Promise<string> {
  const page = new Page();
  await describers[kind]?.write(page, object as Described<never>, cluster(objects), version);
  return page.toString();
}

test('a pod security policy', async () => {
  const spec = {
    allowPrivilegeEscalation: false,
    allowedCapabilities: ['NET_ADMIN', 'SYS_TIME'],
    allowedFlexVolumes: [{ driver: 'a' }, { driver: 'b' }],
    allowedUnsafeSysctls: ['kernel.*'],
    volumes: ['secret', 'emptyDir'],
    hostPorts: [{ min: 1, max: 9 }],
    seLinux: { rule: 'MustRunAs', seLinuxOptions: { user: 'u', level: 's0' } },
    runAsUser: {
      rule: 'MustRunAs',
      ranges: [
        { min: 1, max: 65535 },
        { min: 7, max: 7 },
      ],
    },
    fsGroup: { rule: 'RunAsAny' },
    supplementalGroups: { rule: 'RunAsAny' },
  };
  expect(await pageOf('policy/PodSecurityPolicy', { metadata: { name: 'narrow' }, spec }, 'v1beta1')).toBe(
    [
      'Name:  narrow',
      '',
      'Settings:',
      '  Allow Privileged:                       false',
      '  Allow Privilege Escalation:             false',
      '  Default Add Capabilities:               <none>',
      '  Required Drop Capabilities:             <none>',
      '  Allowed Capabilities:                   NET_ADMIN,SYS_TIME',
      '  Allowed Volume Types:                   secret,emptyDir',
      '  Allowed FlexVolume Types:               driver=a,driver=b',
      '  Allowed Unsafe Sysctls:                 kernel.*',
      '  Allow Host Network:                     false',
      '  Allow Host Ports:                       1-9',
      '  Allow Host PID:                         false',
      '  Allow Host IPC:                         false',
      '  Read Only Root Filesystem:              false',
      '  SELinux Context Strategy: MustRunAs     ',
      '    User:                                 u',
      '    Role:                                 <none>',
      '    Type:                                 <none>',
      '    Level:                                s0',
      '  Run As User Strategy: MustRunAs         ',
      '    Ranges:                               1-65535,7-7',
      '  FSGroup Strategy: RunAsAny              ',
      '    Ranges:                               <none>',
      '  Supplemental Groups Strategy: RunAsAny  ',
      '    Ranges:                               <none>',
      '',
    ].join('\n'),
  );
});

test('an ingress of version v1beta1 shows its default backend without a name', async () => {
  const endpoints = { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'web', port: 8080 }] }] };
  const services = { spec: { ports: [{ name: 'web', port: 80 }] } };
  const spec = {
    backend: { serviceName: 'a', servicePort: 80 },
    rules: [{ http: { paths: [{ path: '/x', backend: { serviceName: 'a', servicePort: 'web' } }] } }],
  };
  const text = await pageOf('networking/Ingress', { metadata: { name: 'i', namespace: 'n' }, spec }, 'v1beta1', { endpoints, services });
  expect(text).toMatch(/^Default backend: {2}10\.0\.0\.1:8080$/m);
  expect(text).toMatch(/^ {2}\* {11}\n {14}\/x {3}a:web \(10\.0\.0\.1:8080\)$/m);
  const missing = await pageOf('networking/Ingress', { metadata: { name: 'i' }, spec: {} }, 'v1beta1');
  expect(missing).toMatch(/^Default backend: {2}<default>$/m);
  expect(missing).toMatch(/^ {2}\* +\* +<default>$/m);
  const dangling = { defaultBackend: { service: { name: 'a', port: { name: 'web' } } } };
  expect(await pageOf('networking/Ingress', { metadata: { name: 'i' }, spec: dangling })).toContain(
    'a:web (<error: endpoints "a" not found>)',
  );
});

test('an endpoint slice of version v1beta1 shows its topology', async () => {
  const endpoints = [{ addresses: ['10.0.0.1', '10.0.0.2'], topology: { zone: 'z', host: 'h' } }];
  const text = await pageOf('discovery/EndpointSlice', { metadata: { name: 's' }, addressType: 'IPv4', endpoints }, 'v1beta1');
  expect(text).toContain('  - Addresses:  10.0.0.1,10.0.0.2\n    Conditions:\n      Ready:   <unset>\n');
  expect(text).toMatch(/^ {4}Topology: {2}host=h\n {14,}zone=z$/m);
  expect(text).not.toContain('NodeName');
});

test('an autoscaler of version v1', async () => {
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 4, targetCPUUtilizationPercentage: 80 };
  const text = await pageOf('autoscaling/HorizontalPodAutoscaler', { metadata: { name: 'h' }, spec, status: { currentReplicas: 1 } });
  expect(text).toContain('Target CPU utilization:   80%\nCurrent CPU utilization:  <unknown>%\nMin replicas:             <unset>\n');
  expect(text).toContain('Deployment pods:          1 current / 0 desired\n');
});

test('what is being deleted says since when', async () => {
  const metadata = { name: 'a', deletionTimestamp: '2024-05-06T11:00:00Z', deletionGracePeriodSeconds: 30 };
  expect(await pageOf('/Pod', { metadata })).toMatch(/^Status: +Terminating \(lasts 60m\)\nTermination Grace Period: {2}30s\n/m);
  expect(await pageOf('/PersistentVolumeClaim', { metadata })).toMatch(/^Status: +Terminating \(lasts 60m\)$/m);
  expect(await pageOf('/PersistentVolume', { metadata })).toMatch(/^Status: +Terminating \(lasts 60m\)$/m);
});

test('a job that is done says how long it took', async () => {
  const status = { startTime: '2024-05-06T10:00:00Z', completionTime: '2024-05-06T10:05:30Z', ready: 0 };
  const text = await pageOf('batch/Job', { metadata: { name: 'j' }, spec: {}, status });
  expect(text).toMatch(/^Duration: +5m30s$/m);
  expect(text).toMatch(/^Pods Statuses: +0 Active \(0 Ready\) \/ 0 Succeeded \/ 0 Failed$/m);
});

test('empty objects of every kind have a page', async () => {
  for (const kind of Object.keys(describers)) {
    if (kind === 'certificates/CertificateSigningRequest') continue;
    expect(await pageOf(kind, { metadata: {} }), kind).toMatch(/^Name:/);
  }
  await expect(pageOf('certificates/CertificateSigningRequest', { metadata: {}, spec: { request: 'AAAA' } })).rejects.toThrow(
    'Error parsing CSR: PEM block type must be CERTIFICATE REQUEST',
  );
});
