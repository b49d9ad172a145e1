import { expect, test } from 'vitest';
import { PodKind } from '../../core/pods/pod.ts';
import { create, type Loose, testEnv, withFeatures } from '../kinds.testing.ts';

const body = (spec: Loose, metadata: Loose = {}): Loose => ({ metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } });
const pod = (spec: Loose, metadata?: Loose): string[] => create(PodKind, body(spec, metadata)).errors;
const like = (causes: string[]): Loose[] => causes.map((text) => expect.stringContaining(text));

test.each<[string, Loose, string[]]>([
  [
    'restart policy',
    { restartPolicy: 'Sometimes' },
    ['spec.restartPolicy | NotSupported | Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
  ],
  [
    'deadline',
    { activeDeadlineSeconds: 0 },
    ['spec.activeDeadlineSeconds | Invalid | Invalid value: 0: must be between 1 and 2147483647, inclusive'],
  ],
  ['grace below nothing is let be', { terminationGracePeriodSeconds: -1 }, []],
  ['node', { nodeName: 'Bad Node' }, ['spec.nodeName | Invalid']],
  ['account', { serviceAccountName: 'Bad!' }, ['spec.serviceAccountName | Invalid']],
  ['host name', { hostname: 'a.b', subdomain: 'UP' }, ['spec.hostname | Invalid', 'spec.subdomain | Invalid']],
  ['node selector', { nodeSelector: { 'a b': 'c d' } }, ['spec.nodeSelector | Invalid', 'spec.nodeSelector | Invalid']],
  [
    'aliases',
    { hostAliases: [{ ip: 'x', hostnames: ['A_B'] }] },
    ['spec.hostAliases.ip | Invalid | Invalid value: "x": must be valid IP address', 'spec.hostAliases.hostnames | Invalid'],
  ],
  ['gates', { readinessGates: [{ conditionType: 'a b' }] }, ['spec.readinessGates[0].conditionType | Invalid']],
  [
    'classes',
    { priorityClassName: 'A', runtimeClassName: 'B', preemptionPolicy: 'Perhaps' },
    ['spec.priorityClassName | Invalid', 'spec.runtimeClassName | Invalid', 'spec.preemptionPolicy | NotSupported'],
  ],
  ['overhead', { overhead: { cpu: '-1' } }, ['spec.overhead.limits[cpu] | Invalid']],
  [
    'added containers',
    { ephemeralContainers: [{ name: 'e', image: 'i' }] },
    ['spec.ephemeralContainers | Forbidden | Forbidden: cannot be set on create'],
  ],
  ['process namespaces', { shareProcessNamespace: true, hostPID: true }, ['spec.securityContext.shareProcessNamespace | Invalid']],
])('words of a pod: %s', (_name, spec, causes) => {
  expect(pod(spec)).toEqual(like(causes));
});

test.each<[string, Loose, string[]]>([
  [
    'none without servers',
    { dnsPolicy: 'None' },
    ['spec.dnsConfig | Required | Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
  ],
  ['none with an empty list', { dnsPolicy: 'None', dnsConfig: {} }, ['spec.dnsConfig.nameservers | Required']],
  [
    'too many servers',
    { dnsConfig: { nameservers: ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'] } },
    [
      'spec.dnsConfig.nameservers | Invalid | Invalid value: []string{"1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"}: must not have more than 3 nameservers',
    ],
  ],
  ['too many paths', { dnsConfig: { searches: 'abcdefg'.split('') } }, ['spec.dnsConfig.searches | Invalid']],
  [
    'too long a path',
    { dnsConfig: { searches: [['a'.repeat(63), 'b'.repeat(63)].join('.'), ['c'.repeat(63), 'd'.repeat(63)].join('.'), 'e'] } },
    ['must not have more than 256 characters'],
  ],
  [
    'what they hold',
    { dnsConfig: { nameservers: ['nope'], searches: ['bad_', 'fine.'], options: [{ value: '1' }] } },
    ['spec.dnsConfig.nameservers[0] | Invalid', 'spec.dnsConfig.searches[0] | Invalid', 'spec.dnsConfig.options[0] | Required'],
  ],
])('name service: %s', (_name, spec, causes) => {
  expect(pod(spec)).toEqual(like(causes));
});

test.each<[string, Loose, string[]]>([
  [
    'ids',
    { runAsUser: -1, fsGroup: -1, supplementalGroups: [-5] },
    ['securityContext.fsGroup | Invalid', 'securityContext.runAsUser | Invalid', 'securityContext.supplementalGroups[0] | Invalid'],
  ],
  [
    'sysctls',
    { sysctls: [{ name: 'Bad Name', value: 'x' }, { value: '1' }, { name: 'a.b', value: '1' }, { name: 'a.b', value: '2' }] },
    ['sysctls[0].name | Invalid', 'sysctls[1].name | Required', 'sysctls[3].name | Duplicate'],
  ],
  ['group policy', { fsGroupChangePolicy: 'Now' }, ['fsGroupChangePolicy | NotSupported']],
])('security of a pod: %s', (_name, securityContext, causes) => {
  expect(pod({ securityContext })).toEqual(like(causes));
});

test('an operating system forbids the fields of the other', () => {
  expect(pod({ os: { name: 'beos' } })).toEqual([
    'spec.os | NotSupported | Unsupported value: "beos": supported values: "linux", "windows"',
  ]);
  expect(pod({ os: { name: 'windows' }, hostPID: true, securityContext: { fsGroup: 1 } })).toEqual([
    'spec.hostPID | Forbidden | Forbidden: cannot be set for a windows pod',
    'spec.securityContext.fsGroup | Forbidden | Forbidden: cannot be set for a windows pod',
  ]);
  expect(pod({ os: { name: 'linux' }, securityContext: { windowsOptions: {} } })).toEqual([
    'spec.securityContext.windowsOptions | Forbidden | Forbidden: windows options cannot be set for a linux pod',
  ]);
});

test('processes of a Windows host need its network, all together', () => {
  const host = { securityContext: { windowsOptions: { hostProcess: true } } };
  const containers = [
    { name: 'a', image: 'i', ...host },
    { name: 'b', image: 'i' },
  ];
  expect(pod({ containers })).toEqual(like(['spec | Invalid', 'spec.hostNetwork | Invalid']));
  expect(pod({ containers, ...host, hostNetwork: true })).toEqual([]);
  expect(create(PodKind, body({ ...host, hostNetwork: true }), { ...testEnv, allowPrivileged: false }).errors).toEqual(
    like(['spec | Forbidden']),
  );
});

const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
const soft = 'preferredDuringSchedulingIgnoredDuringExecution';
test.each<[string, Loose, string[]]>([
  ['no terms', { nodeAffinity: { [hard]: {} } }, [`nodeAffinity.${hard}.nodeSelectorTerms | Required`]],
  [
    'operators',
    {
      nodeAffinity: {
        [hard]: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'a', operator: 'In' },
                { key: 'a', operator: 'Gt', values: ['1', '2'] },
                { key: 'a', operator: 'Exists', values: ['x'] },
                { key: '', operator: 'Near' },
              ],
            },
          ],
        },
      },
    },
    [
      'matchExpressions[0].values | Required',
      'matchExpressions[1].values | Required',
      'matchExpressions[2].values | Forbidden',
      'matchExpressions[3].operator | Invalid',
      'matchExpressions[3].key | Invalid',
      'matchExpressions[3].key | Invalid',
    ],
  ],
  [
    'fields',
    {
      nodeAffinity: {
        [hard]: {
          nodeSelectorTerms: [
            {
              matchFields: [
                { key: 'metadata.name', operator: 'In', values: ['A'] },
                { key: 'x', operator: 'Exists' },
              ],
            },
          ],
        },
      },
    },
    ['matchFields[0].values[0] | Invalid', 'matchFields[1].operator | Invalid', 'matchFields[1].key | Invalid'],
  ],
  [
    'weights',
    {
      nodeAffinity: { [soft]: [{ weight: 0, preference: {} }] },
      podAffinity: { [soft]: [{ weight: 101, podAffinityTerm: { topologyKey: 'z' } }] },
    },
    [`nodeAffinity.${soft}[0].weight | Invalid`, `podAffinity.${soft}[0].weight | Invalid`],
  ],
  [
    'topology',
    { podAntiAffinity: { [hard]: [{ labelSelector: {}, namespaces: ['UP'] }] } },
    ['namespace | Invalid', 'topologyKey | Required', 'topologyKey | Invalid', 'topologyKey | Invalid'],
  ],
])('affinity: %s', (_name, affinity, causes) => {
  expect(pod({ affinity })).toEqual(like(causes));
});

test.each<[string, Loose, string[]]>([
  ['all', { operator: 'Exists' }, []],
  ['no key', {}, ['tolerations[0].operator | Invalid']],
  [
    'seconds',
    { key: 'a', operator: 'Exists', tolerationSeconds: 5 },
    ['tolerations[0].effect | Invalid | Invalid value: "": effect must be \'NoExecute\' when `tolerationSeconds` is set'],
  ],
  [
    'value',
    { key: 'a', operator: 'Exists', value: 'v' },
    [
      'tolerations[0].operator | Invalid | Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"v", Effect:"", TolerationSeconds:(*int64)(nil)}',
    ],
  ],
  ['operator', { key: 'a', operator: 'Near' }, ['tolerations[0].operator | NotSupported']],
  ['effect', { key: 'a', operator: 'Exists', effect: 'Never' }, ['tolerations[0].effect | NotSupported']],
])('tolerations: %s', (_name, toleration, causes) => {
  expect(pod({ tolerations: [toleration] })).toEqual(like(causes));
});

test('spreading is asked for once a key', () => {
  const once = { maxSkew: 1, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' };
  expect(pod({ topologySpreadConstraints: [once, { ...once, maxSkew: 2 }] })).toEqual([
    'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable} | Duplicate | Duplicate value: "{z, DoNotSchedule}"',
  ]);
  expect(pod({ topologySpreadConstraints: [{}] })).toEqual(
    like(['maxSkew | Invalid', 'topologyKey | Required', 'whenUnsatisfiable | NotSupported']),
  );
  const least = body({ topologySpreadConstraints: [{ ...once, whenUnsatisfiable: 'ScheduleAnyway', minDomains: 0 }] });
  expect(create(PodKind, least).errors).toEqual([]);
  expect(create(PodKind, least, withFeatures('MinDomainsInPodTopologySpread')).errors).toEqual(
    like(['minDomains | Invalid', 'minDomains | Invalid']),
  );
});

test.each<[string, Record<string, string>, string[]]>([
  [
    'mirror',
    { 'kubernetes.io/config.mirror': 'x' },
    ['[kubernetes.io/config.mirror] | Invalid | Invalid value: "x": must set spec.nodeName'],
  ],
  ['seccomp', { 'seccomp.security.alpha.kubernetes.io/pod': 'odd' }, ['.seccomp.security.alpha.kubernetes.io/pod | Invalid']],
  [
    'AppArmor of nobody',
    { 'container.apparmor.security.beta.kubernetes.io/absent': 'runtime/default' },
    ['| Invalid | Invalid value: "absent": container not found'],
  ],
  ['AppArmor', { 'container.apparmor.security.beta.kubernetes.io/c': 'odd' }, ['invalid AppArmor profile name']],
  ['cost', { 'controller.kubernetes.io/pod-deletion-cost': '+1' }, ['must be a 32bit integer']],
  ['fine cost', { 'controller.kubernetes.io/pod-deletion-cost': '-10' }, []],
  ['tolerations', { 'scheduler.alpha.kubernetes.io/tolerations': 'x' }, ['looking for beginning of value']],
  ['tolerations that are wrong', { 'scheduler.alpha.kubernetes.io/tolerations': '[{}]' }, ['[0].operator | Invalid']],
])('annotations: %s', (_name, annotations, causes) => {
  expect(pod({}, { annotations })).toEqual(like(causes));
});

test('all errors are reported, in the order of the stock server', () => {
  const worst = {
    restartPolicy: 'No',
    dnsPolicy: 'No',
    hostname: 'A',
    nodeSelector: { 'x y': 'z' },
    containers: [{ name: 'C', ports: [{ containerPort: 0 }], env: [{ name: '' }], volumeMounts: [{ name: 'none', mountPath: '' }] }],
    volumes: [{ name: 'V' }],
  };
  expect(pod(worst, { name: 'Worst' }).map((text) => text.split(' | ')[0])).toEqual([
    'metadata.name',
    'spec.volumes[0].name',
    'spec.containers[0].name',
    'spec.containers[0].image',
    'spec.containers[0].ports[0].containerPort',
    'spec.containers[0].env[0].name',
    'spec.containers[0].volumeMounts[0].name',
    'spec.containers[0].volumeMounts[0].mountPath',
    'spec.restartPolicy',
    'spec.dnsPolicy',
    'spec.nodeSelector',
    'spec.hostname',
  ]);
});
