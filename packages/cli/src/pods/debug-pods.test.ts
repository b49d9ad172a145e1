import { expect, test } from 'vitest';
import { type DebugChoice, type DebuggedPod, ephemeralContainer, nodePod, podCopy } from './debug-pods.ts';

const choice = (changes: Partial<DebugChoice> = {}): DebugChoice => ({
  image: '',
  container: '',
  args: [],
  argumentsOnly: false,
  env: new Map(),
  imagePullPolicy: '',
  stdin: false,
  tty: false,
  target: '',
  copyTo: 'copy',
  sameNode: false,
  setImage: new Map(),
  shareProcesses: undefined,
  ...changes,
});
const original: DebuggedPod = {
  metadata: { name: 'web', namespace: 'n', annotations: { a: '1' } },
  spec: {
    nodeName: 'n1',
    initContainers: [{ name: 'init', image: 'i' }],
    containers: [
      { name: 'main', image: 'web:1', command: ['run'], args: ['x'], stdin: true },
      { name: 'side', image: 'side:1' },
    ],
    ephemeralContainers: [{ name: 'old', image: 'o' }],
    restartPolicy: 'Always',
  },
};
const generate = (): string => 'debugger-x';

test('a copy gets a new container, another name, and neither node nor ephemeral containers', () => {
  const { pod, container } = podCopy(
    original,
    choice({ image: 'busybox', stdin: true, args: ['sh'], env: new Map([['A', 'b']]) }),
    generate,
  );
  expect(container).toBe('debugger-x');
  expect(pod).toEqual({
    metadata: { name: 'copy', namespace: 'n', annotations: { a: '1' } },
    spec: {
      initContainers: original.spec.initContainers,
      containers: [
        ...original.spec.containers,
        {
          name: 'debugger-x',
          image: 'busybox',
          terminationMessagePolicy: 'File',
          command: ['sh'],
          env: [{ name: 'A', value: 'b' }],
          stdin: true,
        },
      ],
      restartPolicy: 'Always',
    },
  });
});

test('a copy changes a container, the images of all, the node and the sharing of processes', () => {
  const changed = podCopy(original, choice({ container: 'main', args: ['sh'], sameNode: true, shareProcesses: true }), generate);
  expect(changed.pod.spec.containers[0]).toEqual({ name: 'main', image: 'web:1', command: ['sh'] });
  expect(changed.pod.spec).toMatchObject({ nodeName: 'n1', shareProcessNamespace: true });
  const args = podCopy(original, choice({ container: 'main', args: ['y'], argumentsOnly: true }), generate);
  expect(args.pod.spec.containers[0]).toMatchObject({ command: ['run'], args: ['y'] });
  const images = podCopy(
    original,
    choice({
      setImage: new Map([
        ['*', 'all:1'],
        ['side', 'side:2'],
      ]),
    }),
    generate,
  );
  expect(images.container).toBe('');
  expect(images.pod.spec.containers.map(({ image }) => image)).toEqual(['all:1', 'side:2']);
  expect(() => podCopy(original, choice({ container: 'none' }), generate)).toThrow('you must specify image');
});

test('an ephemeral container, and a pod on a node', () => {
  expect(ephemeralContainer('d', choice({ image: 'busybox', target: 'main', tty: true, stdin: true, imagePullPolicy: 'Never' }))).toEqual({
    name: 'd',
    image: 'busybox',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'Never',
    stdin: true,
    tty: true,
    targetContainerName: 'main',
  });
  const { spec } = nodePod('p', 'n1', choice({ image: 'busybox', args: ['sh'], argumentsOnly: true }));
  expect(spec).toMatchObject({ nodeName: 'n1', hostPID: true, hostNetwork: true, hostIPC: true, restartPolicy: 'Never' });
  expect(spec.containers).toEqual([
    {
      name: 'debugger',
      image: 'busybox',
      terminationMessagePolicy: 'File',
      args: ['sh'],
      volumeMounts: [{ mountPath: '/host', name: 'host-root' }],
    },
  ]);
});
