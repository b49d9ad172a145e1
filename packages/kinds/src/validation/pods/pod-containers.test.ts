import { atOnce } from '@plat-dev/lib/slices';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import { PodKind } from '../../core/pods/pod.ts';
import { create, type Loose, testEnv } from '../kinds.testing.ts';
import { validateAllContainers } from './containers.ts';

/** Causes about the container of an otherwise good pod, without its place in front. */
function container(fields: Loose, spec: Loose = {}): string[] {
  const { errors } = create(PodKind, {
    spec: { containers: [{ name: 'c', image: 'i', ...fields }], serviceAccountName: 'default', ...spec },
  });
  return errors.map((text) => text.replace(/^spec\.containers\[0\]\.?/, ''));
}
const pod = (spec: Loose): string[] => create(PodKind, { spec: { containers: [{ name: 'c', image: 'i' }], ...spec } }).errors;
const label = expect.stringContaining('a lowercase RFC 1123 label must consist');
const subdomain = expect.stringContaining('a lowercase RFC 1123 subdomain must consist');

test('a good container has no causes', () => {
  expect(container({})).toEqual([]);
  expect(pod({ initContainers: [{ name: 'i', image: 'i' }] })).toEqual([]);
});

test('names are unique labels across all containers', () => {
  expect(container({ name: 'Bad_Name' })).toEqual([label]);
  expect(container({ name: '' })).toEqual(['name | Required | Required value']);
  expect(pod({ containers: [] })).toEqual(['spec.containers | Required | Required value']);
  expect(pod({ containers: ['a', 'a', 'a'].map((name) => ({ name, image: 'i' })) })).toEqual([
    'spec.containers[1].name | Duplicate | Duplicate value: "a"',
    'spec.containers[2].name | Duplicate | Duplicate value: "a"',
  ]);
  expect(pod({ initContainers: [{ name: 'c', image: 'i' }] })).toEqual(['spec.initContainers[0].name | Duplicate | Duplicate value: "c"']);
});

test('the work of validating containers grows with their number', () => {
  const reads = (length: number): number => {
    let count = 0;
    const counted = {
      get: (target: object, name: string) => {
        if (name === 'name') count++;
        return Reflect.get(target, name);
      },
    };
    const containers = Array.from(
      { length },
      (_, i) => new Proxy({ name: `c${i}`, image: 'i', resources: {}, terminationMessagePolicy: 'File' }, counted),
    );
    const errors = new FieldErrors();
    const scope = { spec: { containers } as never, volumes: new Map(), claimNames: new Set<string>(), env: testEnv };
    atOnce(validateAllContainers(scope, Path.of('spec'), errors));
    expect(count).toBeGreaterThanOrEqual(length);
    return count;
  };
  expect(reads(20_000)).toBeLessThan(2.2 * reads(10_000));
});

test('images are there and have no blanks around them', () => {
  expect(container({ image: '' })).toEqual(['image | Required | Required value']);
  expect(container({ image: ' i' })).toEqual(['image | Invalid | Invalid value: " i": must not have leading or trailing whitespace']);
  expect(container({ imagePullPolicy: 'Maybe' })).toEqual([
    'imagePullPolicy | NotSupported | Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"',
  ]);
  expect(container({ terminationMessagePolicy: 'Shout' })).toEqual([
    "terminationMessagePolicy | Invalid | Invalid value: \"Shout\": must be 'File' or 'FallbackToLogsOnError'",
  ]);
});

test.each<[string, Loose[], string[]]>([
  ['no number', [{}], ['ports[0].containerPort | Required | Required value']],
  [
    'too large',
    [{ containerPort: 65536 }],
    ['ports[0].containerPort | Invalid | Invalid value: 65536: must be between 1 and 65535, inclusive'],
  ],
  [
    'host port',
    [{ containerPort: 1, hostPort: -1 }],
    ['ports[0].hostPort | Invalid | Invalid value: -1: must be between 1 and 65535, inclusive'],
  ],
  [
    'protocol',
    [{ containerPort: 1, protocol: 'tcp' }],
    ['ports[0].protocol | NotSupported | Unsupported value: "tcp": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    'same names',
    [
      { name: 'a', containerPort: 1 },
      { name: 'a', containerPort: 2 },
    ],
    ['ports[1].name | Duplicate | Duplicate value: "a"'],
  ],
  [
    'same host ports',
    [
      { containerPort: 1, hostPort: 9 },
      { containerPort: 2, hostPort: 9 },
    ],
    ['ports[1].hostPort | Duplicate | Duplicate value: "TCP//9"'],
  ],
  [
    'host ports of two protocols',
    [
      { containerPort: 1, hostPort: 9 },
      { containerPort: 1, hostPort: 9, protocol: 'UDP' },
    ],
    [],
  ],
])('ports: %s', (_name, ports, causes) => {
  expect(container({ ports })).toEqual(causes);
});

test('on the network of the host ports are those of the host', () => {
  expect(container({ ports: [{ containerPort: 7001, hostPort: 7009 }] }, { hostNetwork: true })).toEqual([
    'ports[0].containerPort | Invalid | Invalid value: 7001: must match `hostPort` when `hostNetwork` is true',
  ]);
  expect(container({ ports: [{ containerPort: 7001 }] }, { hostNetwork: true })).toEqual([]);
});

test.each<[string, Loose, string[]]>([
  ['no name', {}, ['env[0].name | Required | Required value']],
  ['digit first', { name: '1A' }, ['env[0].name | Invalid']],
  [
    'value and source',
    { name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ['env[0].valueFrom | Invalid | Invalid value: "": may not be specified when `value` is not empty'],
  ],
  [
    'no source',
    { name: 'A', valueFrom: {} },
    [
      'env[0].valueFrom | Invalid | Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    ],
  ],
  [
    'unknown field',
    { name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.hostname' } } },
    [
      'env[0].valueFrom.fieldRef.fieldPath | Invalid | Invalid value: "spec.hostname": error converting fieldPath: field label not supported: spec.hostname',
    ],
  ],
  [
    'field of another version',
    { name: 'A', valueFrom: { fieldRef: { apiVersion: 'v2', fieldPath: 'metadata.name' } } },
    [
      'env[0].valueFrom.fieldRef.fieldPath | Invalid | Invalid value: "metadata.name": error converting fieldPath: unsupported pod version: v2',
    ],
  ],
  [
    'field that files may show',
    { name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } },
    ['env[0].valueFrom.fieldRef.fieldPath | NotSupported'],
  ],
  ['one label', { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } }, []],
  [
    'a label that cannot be',
    { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } } },
    ['env[0].valueFrom.fieldRef | Invalid'],
  ],
  [
    'a part of a name',
    { name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.name['a']" } } },
    ['env[0].valueFrom.fieldRef.fieldPath | Invalid'],
  ],
  [
    'no key',
    { name: 'A', valueFrom: { configMapKeyRef: { name: 'x' } } },
    ['env[0].valueFrom.configMapKeyRef.key | Required | Required value'],
  ],
  ['no secret', { name: 'A', valueFrom: { secretKeyRef: { key: 'k' } } }, ['env[0].valueFrom.secretKeyRef.name | Invalid']],
  [
    'unknown resource',
    { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } },
    ['env[0].valueFrom.resourceFieldRef.resource | NotSupported'],
  ],
  ['huge pages', { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.hugepages-2Mi' } } }, []],
  [
    'cpu divisor',
    { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '3m' } } },
    ['env[0].valueFrom.resourceFieldRef.divisor | Invalid'],
  ],
  ['memory divisor', { name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } }, []],
])('variables: %s', (_name, variable, causes) => {
  expect(container({ env: [variable] })).toEqual(causes.map((text) => expect.stringContaining(text)));
});

test('envFrom names exactly one source', () => {
  expect(container({ envFrom: [{}] })).toEqual([
    'envFrom | Invalid | Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
  ]);
  expect(container({ envFrom: [{ configMapRef: {} }] })).toEqual(['envFrom[0].configMapRef.name | Required | Required value']);
  expect(container({ envFrom: [{ secretRef: { name: 'Bad!' } }] })).toEqual([subdomain]);
  expect(container({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] })).toEqual([
    'envFrom | Invalid | Invalid value: "": may not have more than one field specified at a time',
  ]);
});

test.each<[string, Loose, string[]]>([
  ['no handler', {}, ['livenessProbe | Required | Required value: must specify a handler type']],
  [
    'two handlers',
    { exec: { command: ['a'] }, tcpSocket: { port: 1 } },
    ['livenessProbe.tcpSocket | Forbidden | Forbidden: may not specify more than 1 handler type'],
  ],
  ['no command', { exec: {} }, ['livenessProbe.exec.command | Required | Required value']],
  ['port by name', { tcpSocket: { port: 'UP' } }, ['livenessProbe.tcpSocket.port | Invalid', 'livenessProbe.tcpSocket.port | Invalid']],
  ['scheme', { httpGet: { port: 1, scheme: 'FTP' } }, ['livenessProbe.httpGet.scheme | NotSupported']],
  ['header', { httpGet: { port: 1, httpHeaders: [{ name: 'a b', value: '' }] } }, ['livenessProbe.httpGet.httpHeaders | Invalid']],
  ['grpc', { grpc: { port: 0 } }, ['livenessProbe.grpc.port | Invalid']],
  [
    'successes',
    { exec: { command: ['a'] }, successThreshold: 2 },
    ['livenessProbe.successThreshold | Invalid | Invalid value: 2: must be 1'],
  ],
  [
    'negative',
    { exec: { command: ['a'] }, periodSeconds: -1 },
    ['livenessProbe.periodSeconds | Invalid | Invalid value: -1: must be greater than or equal to 0'],
  ],
])('probes: %s', (_name, livenessProbe, causes) => {
  expect(container({ livenessProbe })).toEqual(causes.map((text) => expect.stringContaining(text)));
});

test('a readiness probe ends nothing, an init container serves nothing', () => {
  expect(container({ readinessProbe: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 5 } })).toEqual([
    expect.stringContaining('must not be set for readinessProbes'),
  ]);
  expect(pod({ initContainers: [{ name: 'i', image: 'i', livenessProbe: { exec: { command: ['a'] } }, lifecycle: {} }] })).toEqual([
    expect.stringMatching(/^spec\.initContainers\[0\]\.lifecycle \| Invalid .*must not be set for init containers$/),
    expect.stringMatching(/^spec\.initContainers\[0\]\.livenessProbe \| Invalid .*must not be set for init containers$/),
  ]);
  expect(container({ lifecycle: { preStop: {} } })).toEqual(['lifecycle.preStop | Required | Required value: must specify a handler type']);
});

test.each<[string, Loose, string[]]>([
  [
    'negative',
    { limits: { cpu: '-1' } },
    ['limits[cpu] | Invalid | Invalid value: "-1": must be greater than or equal to 0', 'requests[cpu] | Invalid'],
  ],
  [
    'more than the limit',
    { requests: { memory: '2Gi' }, limits: { memory: '1Gi' } },
    ['requests | Invalid | Invalid value: "2Gi": must be less than or equal to memory limit'],
  ],
  ['the same in other words', { requests: { memory: '1024Mi' }, limits: { memory: '1Gi' } }, []],
  [
    'no such resource',
    { requests: { bogus: '1' } },
    [
      'requests[bogus] | Invalid | Invalid value: "bogus": must be a standard resource type or fully qualified',
      'requests[bogus] | Invalid | Invalid value: "bogus": must be a standard resource for containers',
    ],
  ],
  ['part of a device', { limits: { 'example.com/x': '1.5' } }, ['limits[example.com/x] | Invalid', 'requests[example.com/x] | Invalid']],
  [
    'a device without a limit',
    { requests: { 'example.com/x': '1' } },
    ['limits | Required | Required value: Limit must be set for non overcommitable resources'],
  ],
  [
    'fewer devices than the limit',
    { requests: { 'example.com/x': '1' }, limits: { 'example.com/x': '2' } },
    ['requests | Invalid | Invalid value: "1": must be equal to example.com/x limit'],
  ],
  ['huge pages alone', { limits: { 'hugepages-2Mi': '4Mi' } }, [' | Forbidden | Forbidden: HugePages require cpu or memory']],
  [
    'part of a huge page',
    { limits: { cpu: '1', 'hugepages-2Mi': '3Mi' } },
    [
      'limits[hugepages-2Mi] | Invalid | Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'requests[hugepages-2Mi] | Invalid',
    ],
  ],
  ['in the own domain', { limits: { 'kubernetes.io/x': '1' } }, []],
  ['keys that objects inherit', { requests: { constructor: '1' } }, ['requests[constructor] | Invalid', 'requests[constructor] | Invalid']],
])('resources: %s', (_name, resources, causes) => {
  const found = container({ resources }).map((text) => text.replace(/^resources\.?/, ''));
  expect(found).toEqual(causes.map((text) => expect.stringContaining(text)));
});

test.each<[string, Loose, string[]]>([
  [
    'ids',
    { runAsUser: -3, runAsGroup: 2 ** 31 },
    ['runAsUser | Invalid | Invalid value: -3: must be between 0 and 2147483647, inclusive', 'runAsGroup | Invalid'],
  ],
  ['no escalation and all rights', { privileged: true, allowPrivilegeEscalation: false }, [' | Invalid']],
  [
    'no escalation and the mightiest capability',
    { capabilities: { add: ['CAP_SYS_ADMIN'] }, allowPrivilegeEscalation: false },
    [' | Invalid'],
  ],
  ['profile without a file', { seccompProfile: { type: 'Localhost' } }, ['seccompProfile.localhostProfile | Required']],
  [
    'file outside',
    { seccompProfile: { type: 'Localhost', localhostProfile: '../x' } },
    [
      'metadata.annotations.container.seccomp.security.alpha.kubernetes.io/c | Invalid',
      'seccompProfile.localhostProfile | Invalid | Invalid value: "../x": must not contain \'..\'',
    ],
  ],
  [
    'file without need',
    { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' } },
    ['seccompProfile.localhostProfile | Invalid'],
  ],
  ['unknown profile', { seccompProfile: { type: 'Odd' } }, ['seccompProfile.type | NotSupported']],
  [
    'windows user',
    { windowsOptions: { runAsUserName: 'a\\b\\c' } },
    ['windowsOptions.runAsUserName | Invalid | Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than one backslash'],
  ],
  ['windows user of dots', { windowsOptions: { runAsUserName: '...' } }, ['windowsOptions.runAsUserName | Invalid']],
  ['windows user of a domain', { windowsOptions: { runAsUserName: 'CORP\\worker' } }, []],
])('security: %s', (_name, securityContext, causes) => {
  const found = container({ securityContext }).map((text) => text.replace(/^securityContext\.?/, ''));
  expect(found).toEqual(causes.map((text) => expect.stringContaining(text)));
});

test('a server may forbid containers all rights', () => {
  const body = { spec: { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] } };
  expect(create(PodKind, body).errors).toEqual([]);
  expect(create(PodKind, body, { ...testEnv, allowPrivileged: false }).errors).toEqual([
    'spec.containers[0].securityContext.privileged | Forbidden | Forbidden: disallowed by cluster policy',
  ]);
});
