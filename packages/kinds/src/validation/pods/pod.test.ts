import { expect, test } from 'vitest';
import { PodKind } from '../../core/pods/pod.ts';
import { create, type Loose, update } from '../kinds.testing.ts';

const stored = (spec: Loose = {}, metadata: Loose = {}): Loose =>
  create(PodKind, { metadata: { name: 'p', ...metadata }, spec: { containers: [{ name: 'c', image: 'app:1' }], ...spec } }).object;
const change = (pod: Loose, edit: (pod: Loose) => void, subresource?: string): string[] => update(PodKind, pod, edit, subresource).errors;
const like = (causes: string[]): Loose[] => causes.map((text) => expect.stringContaining(text));

test('images, deadlines and more tolerations may be changed', () => {
  const pod = stored({ tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }] });
  expect(
    change(pod, ({ spec, metadata }) => {
      spec.containers[0].image = 'app:2';
      spec.activeDeadlineSeconds = 100;
      spec.tolerations[0].tolerationSeconds = 9;
      spec.tolerations.push({ key: 'b', operator: 'Exists' });
      metadata.labels = { a: 'b' };
    }),
  ).toEqual([]);
});

test.each<[string, (spec: Loose) => void]>([
  [
    'host name',
    (spec) => {
      spec.hostname = 'h';
    },
  ],
  [
    'command',
    (spec) => {
      spec.containers[0].command = ['y'];
    },
  ],
  [
    'resources',
    (spec) => {
      spec.containers[0].resources = { limits: { cpu: '1' } };
    },
  ],
  [
    'node',
    (spec) => {
      spec.nodeName = 'n';
    },
  ],
  [
    'volumes',
    (spec) => {
      spec.volumes = [{ name: 'v', emptyDir: {} }];
    },
  ],
  [
    'priority',
    (spec) => {
      spec.priority = 7;
    },
  ],
  [
    'an empty affinity',
    (spec) => {
      spec.affinity = { nodeAffinity: {} };
    },
  ],
])('other fields of the spec are fixed: %s', (_name, edit) => {
  expect(change(stored(), ({ spec }) => edit(spec))).toEqual(
    like(['spec | Forbidden | Forbidden: pod updates may not change fields other than']),
  );
});

test('a deadline comes nearer or stays', () => {
  const pod = stored({ activeDeadlineSeconds: 50 });
  const set = (seconds: number | undefined) =>
    change(pod, ({ spec }) => {
      spec.activeDeadlineSeconds = seconds;
    });
  expect(set(40)).toEqual([]);
  expect(set(60)).toEqual(['spec.activeDeadlineSeconds | Invalid | Invalid value: 60: must be less than or equal to previous value']);
  expect(set(undefined)).toEqual([
    'spec.activeDeadlineSeconds | Invalid | Invalid value: "null": must not update from a positive integer to nil value',
  ]);
});

test('tolerations stay, containers stay', () => {
  const pod = stored({ tolerations: [{ key: 'a', operator: 'Exists' }] });
  expect(
    change(pod, ({ spec }) => {
      spec.tolerations = [];
    }),
  ).toEqual(['spec.tolerations | Forbidden | Forbidden: existing toleration can not be modified except its tolerationSeconds']);
  expect(
    change(pod, ({ spec }) => {
      spec.containers.push({ name: 'd', image: 'i' });
    }),
  ).toEqual(['spec.containers | Forbidden | Forbidden: pod updates may not add or remove containers']);
});

test('a grace below nothing may be mended', () => {
  const pod = stored({ terminationGracePeriodSeconds: -1 });
  expect(
    change(pod, ({ spec }) => {
      spec.terminationGracePeriodSeconds = 1;
    }),
  ).toEqual([]);
  expect(
    change(pod, ({ spec }) => {
      spec.terminationGracePeriodSeconds = 2;
    }),
  ).toHaveLength(1);
});

test('problems about labels come as often as clients know them', () => {
  expect(
    change(stored(), ({ metadata }) => {
      metadata.labels = { 'bad key': 'x' };
    }),
  ).toHaveLength(4);
});

test('annotations by which nodes know pods are fixed', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const pod = stored({}, { annotations: { [key]: 'runtime/default' } });
  expect(
    change(pod, ({ metadata }) => {
      metadata.annotations = {};
    }),
  ).toEqual(like(['may not remove or update AppArmor annotations']));
  expect(
    change(stored(), ({ metadata }) => {
      metadata.annotations = { [key]: 'runtime/default' };
    }),
  ).toEqual(like(['may not add AppArmor annotations']));
});

test('added containers are neither removed nor changed, and nothing else moves with them', () => {
  const pod = stored();
  const first = update(
    PodKind,
    pod,
    ({ spec, metadata }) => {
      spec.ephemeralContainers = [{ name: 'd1', image: 'dbg:1', targetContainerName: 'c' }];
      spec.hostname = 'ignored';
      metadata.labels = { l: 'x' };
    },
    'ephemeralcontainers',
  );
  expect(first.errors).toEqual([]);
  expect(first.object.spec.hostname).toBeUndefined();
  expect(first.object.metadata.labels).toBeUndefined();
  const again = (edit: (spec: Loose) => void) => change(first.object, ({ spec }) => edit(spec), 'ephemeralcontainers');
  expect(
    again((spec) => {
      spec.ephemeralContainers = [];
    }),
  ).toEqual(like(['spec.ephemeralContainers | Forbidden | Forbidden: existing ephemeral containers "d1" may not be removed']));
  expect(
    again((spec) => {
      spec.ephemeralContainers[0].image = 'x';
    }),
  ).toEqual(like(['may not be changed']));
  const bad = (container: Loose) =>
    again((spec) => {
      spec.ephemeralContainers.push({ name: 'x', image: 'i', ...container });
    });
  expect(bad({ name: 'c' })).toEqual(['spec.ephemeralContainers[1].name | Duplicate | Duplicate value: "c"']);
  expect(bad({ ports: [{ containerPort: 1 }] })).toEqual([
    'spec.ephemeralContainers[1].ports | Forbidden | Forbidden: cannot be set for an Ephemeral Container',
  ]);
  expect(bad({ targetContainerName: 'd1' })).toEqual(['spec.ephemeralContainers[1].targetContainerName | NotFound | Not found: "d1"']);
});

const containerStatus = (state: Loose): Loose => ({
  name: 'c',
  image: 'i',
  imageID: '',
  ready: false,
  restartCount: 0,
  state,
  lastState: {},
});

test('a container that ended for good does not run again', () => {
  const ended = (exitCode: number, restartPolicy: string) => {
    const pod = stored({ restartPolicy });
    pod.status.containerStatuses = [containerStatus({ terminated: { exitCode } })];
    return change(
      pod,
      ({ status }) => {
        status.containerStatuses = [containerStatus({ running: {} })];
      },
      'status',
    );
  };
  const cause = ['status.containerStatuses[0].state | Forbidden | Forbidden: may not be transitioned to non-terminated state'];
  expect(ended(1, 'Never')).toEqual(cause);
  expect(ended(0, 'OnFailure')).toEqual(cause);
  expect(ended(1, 'OnFailure')).toEqual([]);
  expect(ended(1, 'Always')).toEqual([]);
});

test('through status the spec stays and the addresses are addresses', () => {
  const { object, errors } = update(
    PodKind,
    stored(),
    ({ spec, status, metadata }) => {
      spec.containers[0].image = 'other';
      status.podIP = '10.8.0.1';
      metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }];
    },
    'status',
  );
  expect(errors).toEqual([]);
  expect(object.spec.containers[0].image).toBe('app:1');
  expect(object.status.podIPs).toEqual([{ ip: '10.8.0.1' }]);
  expect(object.metadata.ownerReferences).toBeUndefined();
  const ips = (...list: string[]) =>
    change(
      stored(),
      ({ status }) => {
        status.podIPs = list.map((ip) => ({ ip }));
      },
      'status',
    );
  expect(ips('10.0.0.1', 'fd00::1')).toEqual([]);
  expect(ips('nope')).toEqual(like(['status.podIPs[0] | Invalid']));
  expect(ips('10.0.0.1', '10.0.0.1')).toEqual(like(['may specify no more than one IP for each IP family', 'status.podIPs[1] | Duplicate']));
  expect(
    change(
      stored(),
      ({ status }) => {
        status.nominatedNodeName = 'Bad Node';
      },
      'status',
    ),
  ).toEqual(like(['status.nominatedNodeName | Invalid']));
});

test('deprecated fields of a pod are warned of once, when it is created', () => {
  const { warnings } = create(PodKind, {
    metadata: {
      annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'localhost/', 'scheduler.alpha.kubernetes.io/critical-pod': '' },
    },
    spec: {
      nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
      ],
      containers: [{ name: 'c', image: 'i', env: [{ name: 'A' }, { name: 'A' }], resources: { requests: { memory: '1.5' } } }],
      imagePullSecrets: [{}, { name: 'a' }, { name: 'a' }],
      hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }],
      volumes: [{ name: 'g', gitRepo: { repository: 'r' } }],
    },
  });
  expect(warnings).toEqual([
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    'spec.volumes[0].gitRepo: deprecated in v1.11',
    'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
    'spec.imagePullSecrets[2].name: duplicate name "a"',
    'spec.imagePullSecrets[0].name: invalid empty name ""',
    'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: deprecated since v1.19, non-functional in v1.25+; use the "seccompProfile" field instead',
    'spec.containers[0].resources.requests[memory]: fractional byte value "1500m" is invalid, must be an integer',
    'spec.containers[0].env[1].name: duplicate name "A"',
  ]);
});

test('a pod that repeats thousands of values has more warnings than an answer carries, and no thousands', () => {
  const hostAliases = Array.from({ length: 20_000 }, (_, i) => ({ ip: '1.1.1.1', hostnames: [`h${i}`] }));
  const { warnings } = create(PodKind, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], hostAliases } });
  expect(warnings).toHaveLength(100);
  expect(warnings.at(-1)).toBe('spec.hostAliases[100].ip: duplicate ip "1.1.1.1"');
});
