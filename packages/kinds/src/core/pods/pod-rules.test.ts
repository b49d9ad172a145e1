/** Rules of pods that depend on the release and on what is stored already. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { describe, expect, test } from 'vitest';
import { create, inRelease, type Loose, update } from '../../validation/kinds.testing.ts';
import { PodKind } from './pod.ts';
import { PodTemplateKind } from './pod-template.ts';

const container = { name: 'c', image: 'i' };
const body = (spec: object = {}, metadata: object = {}): Loose => ({
  metadata: { name: 'p', ...metadata },
  spec: { containers: [container], ...spec },
});
const inPod = (spec: object, release: ApiRelease, ...gates: string[]): string[] =>
  create(PodKind, body(spec), inRelease(release, ...gates)).errors;
const stored = (spec: object, release: ApiRelease = '1.36', ...gates: string[]): Loose => {
  const { object, errors } = create(PodKind, body(spec), inRelease(release, ...gates));
  expect(errors).toEqual([]);
  return object;
};
const changed = (pod: Loose, change: (pod: Loose) => void, subresource = '', release: ApiRelease = '1.36', ...gates: string[]): Loose =>
  update(PodKind, pod, change, subresource, inRelease(release, ...gates));

describe('init containers', () => {
  const probed = { name: 'i', image: 'i', readinessProbe: { exec: { command: ['a'] } } };
  test.each([
    ['1.24', 'Invalid', 'must not be set for init containers'],
    ['1.27', 'Forbidden', 'may not be set for init containers'],
    ['1.28', 'Forbidden', 'may not be set for init containers without restartPolicy=Always'],
  ] as const)('serve nothing in %s', (release, reason, text) => {
    const [error] = inPod({ initContainers: [probed] }, release);
    expect(error).toContain(`spec.initContainers[0].readinessProbe | ${reason} | `);
    expect(error).toMatch(new RegExp(`${text}$`));
  });
  test('that are sidecars have probes', () => {
    expect(inPod({ initContainers: [{ ...probed, restartPolicy: 'Always' }] }, '1.29')).toEqual([]);
  });
  test('restart by a policy of their own where containers do', () => {
    const initContainers = [{ name: 'i', image: 'i', restartPolicy: 'OnFailure' }];
    expect(inPod({ initContainers }, '1.33')[0]).toContain('spec.initContainers[0].restartPolicy | NotSupported');
    expect(inPod({ initContainers }, '1.35')).toEqual([]);
  });
});

test('containers have a restart policy where its feature is on, or where they have had it', () => {
  const spec = { containers: [{ ...container, restartPolicy: 'Never' }] };
  expect(inPod(spec, '1.30')).toEqual(['spec.containers[0].restartPolicy | Forbidden | Forbidden: may not be set for non-init containers']);
  const pod = stored(spec, '1.35');
  const { object, errors } = changed(pod, (one) => (one.metadata.labels = { a: 'b' }), '', '1.35', '-ContainerRestartRules');
  expect([errors, object.spec.containers[0].restartPolicy]).toEqual([[], 'Never']);
});

describe('scheduling gates', () => {
  const gated = (release: ApiRelease): Loose =>
    stored({ schedulingGates: [{ name: 'a' }, { name: 'b' }], nodeSelector: { x: 'y' } }, release);
  test('say so in a condition of the new pod', () => {
    expect(gated('1.27').status.conditions).toMatchObject([{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }]);
    expect(stored({}).status.conditions).toBeUndefined();
  });
  test('can only be removed', () => {
    const errors = changed(gated('1.27'), (pod) => (pod.spec.schedulingGates = [{ name: 'b' }, { name: 'new' }])).errors;
    expect(errors).toEqual([
      expect.stringContaining(
        "spec.schedulingGates[1].name | Forbidden | Forbidden: only deletion is allowed, but found new scheduling gate 'new'",
      ),
    ]);
    expect(changed(gated('1.27'), (pod) => delete pod.spec.schedulingGates).errors).toEqual([]);
  });
  test('let the nodes of a pod be narrowed since 1.27, and only while there are some', () => {
    const narrow = (pod: Loose) => (pod.spec.nodeSelector = { x: 'y', z: 'w' });
    expect(changed(gated('1.26'), narrow, '', '1.26').errors[0]).toContain('spec | Forbidden');
    expect(changed(gated('1.27'), narrow, '', '1.27').errors).toEqual([]);
    expect(changed(stored({ nodeSelector: { x: 'y' } }), narrow).errors[0]).toContain('spec | Forbidden');
    expect(changed(gated('1.27'), (pod) => (pod.spec.nodeSelector = { z: 'w' })).errors[0]).toContain(
      'only additions to spec.nodeSelector',
    );
  });
  test('let requirements of nodes be added, but neither terms nor affinity to pods', () => {
    const hard = 'requiredDuringSchedulingIgnoredDuringExecution';
    const term = (...keys: string[]) => ({ matchExpressions: keys.map((key) => ({ key, operator: 'Exists' })) });
    const pod = stored({ schedulingGates: [{ name: 'a' }], affinity: { nodeAffinity: { [hard]: { nodeSelectorTerms: [term('a')] } } } });
    const withTerms = (...terms: object[]) =>
      changed(pod, (one) => (one.spec.affinity.nodeAffinity[hard].nodeSelectorTerms = terms)).errors;
    expect(withTerms(term('a', 'b'))).toEqual([]);
    expect(withTerms(term('b', 'a'))[0]).toContain('nodeSelectorTerms[0] | Invalid');
    expect(withTerms(term('a'), term('b'))[0]).toContain('no additions/deletions to non-empty NodeSelectorTerms list are allowed');
    const near = { [hard]: [{ topologyKey: 'zone', labelSelector: {} }] };
    expect(changed(pod, (one) => (one.spec.affinity.podAffinity = near)).errors[0]).toContain('changed: spec.affinity');
  });
});

describe('resizes', () => {
  const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu: '4', memory: '4Gi' } });
  const pod = (release: ApiRelease = '1.36'): Loose =>
    stored({ containers: [{ ...container, resources: resources('1', '1Gi') }] }, release);
  const resize = (to: object, release: ApiRelease, ...gates: string[]): string[] =>
    changed(pod(release), (one) => (one.spec.containers[0].resources = to), 'resize', release, ...gates).errors;
  test('count as a change of the spec since 1.33', () => {
    const generation = (release: ApiRelease): unknown => {
      const one = pod(release);
      one.metadata.generation = 4;
      return changed(one, (next) => (next.spec.containers[0].resources = resources('2', '1Gi')), 'resize', release).object.metadata
        .generation;
    };
    expect([generation('1.32'), generation('1.33')]).toEqual([4, 5]);
  });
  test('take no memory away in 1.33 without a restart', () => {
    const less = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '4', memory: '3Gi' } };
    expect(resize(less, '1.33')).toEqual([
      'spec.containers[0].resources.limits[memory] | Forbidden | Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer',
    ]);
    expect(resize(less, '1.34')).toEqual([]);
  });
  test('need a node that reports resources', () => {
    const one = pod();
    one.status.containerStatuses = [
      { name: 'c', state: { running: {} }, lastState: {}, ready: true, restartCount: 0, image: 'i', imageID: '' },
    ];
    const errors = changed(one, (next) => (next.spec.containers[0].resources = resources('2', '1Gi')), 'resize').errors;
    expect(errors).toEqual(['spec | Forbidden | Forbidden: Pod running on node without support for resize']);
  });
  test('of init containers that are not sidecars came with 1.36', () => {
    const initContainers = [{ name: 'i', image: 'i', resources: resources('1', '1Gi') }];
    const errors = (release: ApiRelease) =>
      changed(
        stored({ initContainers }, release),
        (one) => (one.spec.initContainers[0].resources = resources('2', '1Gi')),
        'resize',
        release,
      ).errors;
    expect(errors('1.35')).toEqual(['spec | Forbidden | Forbidden: resources for non-sidecar init containers are immutable']);
    expect(errors('1.36')).toEqual([]);
  });
  test('are updates of the pod itself before 1.32, with their gate', () => {
    const change = (one: Loose) => (one.spec.containers[0].resources = resources('2', '1Gi'));
    expect(changed(pod('1.27'), change, '', '1.27', 'InPlacePodVerticalScaling').errors).toEqual([]);
    expect(changed(pod('1.27'), change, '', '1.27').errors[0]).toContain('changed: spec.containers');
    expect(changed(pod(), change).errors[0]).toContain('changed: spec.containers');
  });
});

describe('resources of a pod', () => {
  const limits = (amounts: object) => ({ resources: { limits: amounts } });
  test('follow from those of its containers, sidecars included', () => {
    const initContainers = [{ name: 's', image: 'i', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }];
    const containers = [{ ...container, resources: { requests: { cpu: '2' }, limits: { 'hugepages-2Mi': '4Mi', cpu: '3' } } }];
    const spec = { initContainers, containers, ...limits({ memory: '1Gi' }) };
    expect(stored(spec).spec.resources).toEqual({
      limits: { memory: '1Gi', 'hugepages-2Mi': '4Mi' },
      requests: { cpu: '3', memory: '1Gi', 'hugepages-2Mi': '4Mi' },
    });
    expect(create(PodKind, body(spec), inRelease('1.33')).object.spec).not.toHaveProperty('resources');
  });
  test('decide the quality of service', () => {
    expect(stored(limits({ cpu: '1', memory: '1Gi' })).status.qosClass).toBe('Guaranteed');
    expect(stored(limits({ cpu: '1' })).status.qosClass).toBe('Burstable');
  });
});

describe('what is stored may stay', () => {
  const label = (pod: Loose) => (pod.metadata.labels = { a: 'b' });
  const rows: Readonly<Record<string, Row>> = {
    'names of variables': {
      spec: { containers: [{ ...container, env: [{ name: 'odd name', value: '1' }] }] },
      release: '1.31',
      field: 'env[0].name',
    },
    'search domains': { spec: { dnsConfig: { searches: ['_a.example.com'] } }, release: '1.32', field: 'searches[0]' },
    'labels of files': {
      spec: { securityContext: { seLinuxChangePolicy: 'MountOption' } },
      release: '1.34',
      field: 'seLinuxChangePolicy',
      gate: 'SELinuxMount',
    },
    'numbers of taints': {
      spec: { tolerations: [{ key: 'a', operator: 'Gt', value: '5' }] },
      release: '1.35',
      field: 'operator',
      gate: 'TaintTolerationComparisonOperators',
    },
    'a sleep of nothing': {
      spec: { containers: [{ ...container, lifecycle: { preStop: { sleep: { seconds: 0 } } } }] },
      release: '1.32',
      field: 'sleep',
    },
  };
  interface Row {
    readonly spec: object;
    readonly release: ApiRelease;
    readonly field: string;
    readonly gate?: string;
  }
  test.each(Object.entries(rows))('%s', (_name, { spec, release, field, gate }) => {
    expect(inPod(spec, release)[0]).toContain(field);
    expect(changed(stored(spec, '1.36', ...(gate === undefined ? [] : [gate])), label, '', release).errors).toEqual([]);
  });
});

describe('defaults by release', () => {
  test('a negative grace period is a second since 1.27', () => {
    const period = (release: ApiRelease): unknown =>
      stored({ terminationGracePeriodSeconds: -5 }, release).spec.terminationGracePeriodSeconds;
    expect([period('1.26'), period('1.27')]).toEqual([-5, 1]);
  });
  test('templates on the host network name ports of the node before 1.28', () => {
    const template = { spec: { hostNetwork: true, containers: [{ ...container, ports: [{ containerPort: 80 }] }] } };
    const port = (release: ApiRelease): unknown =>
      create(PodTemplateKind, { metadata: { name: 't' }, template }, inRelease(release)).object.template.spec.containers[0].ports[0]
        .hostPort;
    expect([port('1.27'), port('1.28')]).toEqual([80, undefined]);
    expect(stored(template.spec).spec.containers[0].ports[0].hostPort).toBe(80);
  });
  test('label keys become requirements where the feature is on', () => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: {},
      matchLabelKeys: ['app', 'none'],
    };
    const selector = (release: ApiRelease): unknown =>
      create(PodKind, body({ topologySpreadConstraints: [constraint] }, { labels: { app: 'x' } }), inRelease(release)).object.spec
        .topologySpreadConstraints[0].labelSelector;
    expect([selector('1.33'), selector('1.34')]).toEqual([{}, { matchExpressions: [{ key: 'app', operator: 'In', values: ['x'] }] }]);
  });
  test('AppArmor annotations become fields, and fields annotations while nodes may be older', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c';
    const profileOf = (annotation: string, spec: object = {}) =>
      create(PodKind, body(spec, { annotations: { [key]: annotation } }), inRelease('1.36')).object.spec.containers[0].securityContext;
    expect(profileOf('localhost/x')).toEqual({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } });
    const ofPod = { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
    expect(profileOf('runtime/default', ofPod)).toBeUndefined();
    const annotations = (release: ApiRelease) => create(PodKind, body(ofPod), inRelease(release)).object.metadata.annotations;
    expect([annotations('1.33'), annotations('1.34')]).toEqual([{ [key]: 'runtime/default' }, undefined]);
  });
});

describe('the status', () => {
  const status = (name: string, exitCode?: number): Loose => ({
    name,
    state: exitCode === undefined ? { running: {} } : { terminated: { exitCode } },
    lastState: {},
    ready: false,
    restartCount: 0,
    image: 'i',
    imageID: '',
  });
  test('keeps the generations that a client leaves out', () => {
    const pod = stored({});
    pod.status.observedGeneration = 3;
    pod.status.conditions = [{ type: 'Ready', status: 'False', observedGeneration: 2 }];
    const { object } = changed(
      pod,
      (one) => {
        delete one.status.observedGeneration;
        one.status.conditions = [
          { type: 'Ready', status: 'True' },
          { type: 'Other', status: 'True' },
        ];
      },
      'status',
    );
    expect(object.status.observedGeneration).toBe(3);
    expect(object.status.conditions.map(({ observedGeneration }: Loose) => observedGeneration)).toEqual([2, undefined]);
  });
  test('keeps the quality of service since 1.32', () => {
    const change = (pod: Loose) => (pod.status.qosClass = 'Guaranteed');
    expect(changed(stored({}, '1.31'), change, 'status', '1.31').errors).toEqual([]);
    expect(changed(stored({}), change, 'status').errors[0]).toContain('status.qosClass | Invalid');
  });
  test('lets a container run again whose rules say so', () => {
    const rules = (action: string, ...values: number[]) => ({
      restartPolicy: 'Never',
      restartPolicyRules: [{ action, exitCodes: { operator: 'In', values } }],
    });
    const again = (spec: object): string[] => {
      const pod = stored({ restartPolicy: 'Never', ...spec });
      pod.status.containerStatuses = [status('c', 5)];
      return changed(pod, (one) => (one.status.containerStatuses = [status('c')]), 'status').errors;
    };
    expect(again({})).toEqual([expect.stringContaining('may not be transitioned to non-terminated state')]);
    expect(again({ containers: [{ ...container, ...rules('Restart', 5) }] })).toEqual([]);
    expect(again({ containers: [{ ...container, ...rules('Restart', 6) }] })).toHaveLength(1);
    expect(again({ containers: [container, { ...container, name: 'd', ...rules('RestartAllContainers', 6) }] })).toEqual([]);
  });
  test('lets a sidecar run again whatever the pod says', () => {
    const initContainers = [
      { name: 's', image: 'i', restartPolicy: 'Always' },
      { name: 'i', image: 'i' },
    ];
    const pod = stored({ restartPolicy: 'Never', initContainers });
    pod.status.initContainerStatuses = [status('s', 1), status('i', 0)];
    const { errors } = changed(pod, (one) => (one.status.initContainerStatuses = [status('s'), status('i')]), 'status');
    expect(errors).toEqual([expect.stringContaining('status.initContainerStatuses[1].state')]);
  });
  test('names a claim of the pod, once', () => {
    const pod = stored({ resourceClaims: [{ name: 'a', resourceClaimName: 'x' }] });
    const { errors } = changed(pod, (one) => (one.status.resourceClaimStatuses = [{ name: 'a' }, { name: 'b' }, { name: 'a' }]), 'status');
    expect(errors.map((text: string) => text.split(' | ').slice(0, 2))).toEqual([
      ['status.resourceClaimStatuses[1].name', 'Invalid'],
      ['status.resourceClaimStatuses[2].name', 'Duplicate'],
    ]);
  });
});

test('claims of containers are those of the pod, whole or by request, each once', () => {
  const claims = (...used: object[]): string[] =>
    inPod(
      { resourceClaims: [{ name: 'a', resourceClaimName: 'x' }], containers: [{ ...container, resources: { claims: used } }] },
      '1.36',
    ).map((text) => text.replace('spec.containers[0].resources.claims', ''));
  expect(claims({ name: 'a', request: 'r' }, { name: 'a', request: 's' })).toEqual([]);
  expect(claims({ name: 'a', request: 'r' }, { name: 'a', request: 'r' })[0]).toContain('[1] | Duplicate | Duplicate value: "a/r"');
  expect(claims({ name: 'a', request: 'r' }, { name: 'a' })[0]).toContain('[1] | Duplicate | Duplicate value: "a"');
  expect(claims({ name: 'b' })[0]).toContain('Not found: "b": must be one of the names in pod.spec.resourceClaims: a');
});
