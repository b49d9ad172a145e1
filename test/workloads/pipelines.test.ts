/**
 * The pod of a task as Tekton makes it: init containers copy the entrypoint out of an image and write scripts, steps report results by
 * their termination messages, and the controller stops a sidecar by changing its image.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer } from '../../packages/testing/src/server.ts';
import type { TestServer } from '../../packages/testing/src/test-server.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a test looks at has no type until it has looked.
type Loose = any;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', clock: '2026-01-01T00:00:00Z', workloads: true, server: { simulatedNodes: 1 } });
});
afterAll(() => server.close());

async function good(method: string, path: string, body?: unknown, type?: string): Promise<Loose> {
  const headers = type === undefined ? {} : { headers: { 'content-type': type } };
  const answer = await server.request(method, path, { ...headers, ...(body !== undefined && { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.body;
}
const pods = '/api/v1/namespaces/default/pods';
const after = async (time: string): Promise<Loose> => {
  await server.settled();
  await server.clock.advance(time);
  await server.settled();
  return good('GET', `${pods}/build-pod`);
};

const RELEASE = 'gcr.io/tekton-releases/github.com/tektoncd/pipeline/cmd';
const shared = [
  { name: 'bin', mountPath: '/tekton/bin' },
  { name: 'scripts', mountPath: '/tekton/scripts' },
  { name: 'run', mountPath: '/tekton/run' },
  { name: 'downward', mountPath: '/tekton/downward' },
];
const step = (name: string, command: string[]): Loose => ({
  name: `step-${name}`,
  image: 'example.com/builder',
  command: ['/tekton/bin/entrypoint'],
  args: [
    '-wait_file',
    '/tekton/downward/ready',
    '-termination_path',
    '/tekton/termination',
    '-entrypoint',
    command[0],
    '--',
    ...command.slice(1),
  ],
  terminationMessagePath: '/tekton/termination',
  volumeMounts: shared,
});
const results = JSON.stringify([
  { key: 'digest', value: 'sha256:12ab', type: 1 },
  { key: 'StartedAt', value: '2026-01-01T00:00:00Z', type: 3 },
]);

const task = (annotations: Loose = {}): Loose => ({
  metadata: {
    name: 'build-pod',
    annotations,
    labels: { 'tekton.dev/taskRun': 'build' },
    ownerReferences: [
      { apiVersion: 'tekton.dev/v1', kind: 'TaskRun', name: 'build', uid: 'u', controller: true, blockOwnerDeletion: true },
    ],
  },
  spec: {
    restartPolicy: 'Never',
    volumes: [
      { name: 'bin', emptyDir: {} },
      { name: 'scripts', emptyDir: {} },
      { name: 'run', emptyDir: {} },
      {
        name: 'downward',
        downwardAPI: { items: [{ path: 'ready', fieldRef: { fieldPath: "metadata.annotations['tekton.dev/ready']" } }] },
      },
    ],
    initContainers: [
      {
        name: 'prepare',
        image: `${RELEASE}/entrypoint:v0.40`,
        command: ['cp', '/ko-app/entrypoint', '/tekton/bin/entrypoint'],
        volumeMounts: shared,
      },
      {
        name: 'place-scripts',
        image: 'cgr.dev/chainguard/busybox',
        command: ['sh'],
        args: [
          '-c',
          'scriptfile="/tekton/scripts/script-0"\ntouch $scriptfile && chmod +x $scriptfile\necho IyEvYmluL3NoCg== > $scriptfile\n',
        ],
        volumeMounts: shared,
      },
      {
        name: 'working-dir',
        image: 'busybox',
        command: ['/bin/sh', '-c', 'mkdir -p /workspace/source && ls -la /tekton/bin/entrypoint'],
        volumeMounts: shared,
      },
    ],
    containers: [
      step('build', ['/tekton/scripts/script-0']),
      {
        name: 'step-report',
        image: 'busybox',
        command: ['sh', '-c', `sleep 2; echo -n '[{"key":"size","value":"3","type":1}]' > /tekton/termination`],
        terminationMessagePath: '/tekton/termination',
      },
      { name: 'sidecar-docker', image: 'docker:dind', ports: [{ containerPort: 2376 }] },
    ],
  },
});
const states = ({ status }: Loose): Loose =>
  Object.fromEntries(
    [...status.initContainerStatuses, ...status.containerStatuses].map(({ name, state }: Loose) => [
      name,
      state.terminated ?? Object.keys(state)[0],
    ]),
  );

test('a task runs, has results, and ends when its sidecar is stopped', async () => {
  await good('POST', pods, task({ 'simulation.kubernetes.io/termination-message.step-build': results }));
  await after('1s');
  // The controller lets the first step begin.
  await good('PATCH', `${pods}/build-pod`, { metadata: { annotations: { 'tekton.dev/ready': 'READY' } } }, 'application/merge-patch+json');
  const stepped = await after('2s');
  expect(states(stepped)).toMatchObject({
    prepare: { exitCode: 0 },
    'place-scripts': { exitCode: 0 },
    'working-dir': { exitCode: 0 },
    'step-build': { exitCode: 0, reason: 'Completed', message: results },
    'step-report': { exitCode: 0, message: '[{"key":"size","value":"3","type":1}]' },
    'sidecar-docker': 'running',
  });
  expect(stepped.status.phase).toBe('Running');
  const containers = stepped.spec.containers.map((one: Loose) =>
    one.name.startsWith('sidecar-') ? { ...one, image: `${RELEASE}/nop:v0.40` } : one,
  );
  await good('PUT', `${pods}/build-pod`, { ...stepped, spec: { ...stepped.spec, containers } });
  const done = await after('1s');
  expect(done.status.phase).toBe('Succeeded');
  expect(done.status.containerStatuses[2]).toMatchObject({
    name: 'sidecar-docker',
    image: `${RELEASE}/nop:v0.40`,
    restartCount: 1,
    state: { terminated: { exitCode: 0, reason: 'Completed' } },
    lastState: { terminated: { reason: 'Error', exitCode: 143 } },
  });
  expect(done.status.containerStatuses[0].state.terminated.message).toBe(results);
  const log = await server.request('GET', `${pods}/build-pod/log?container=working-dir`);
  expect(log.text).toMatch(/^-rw-r--r-- {4}1 root {5}root {13}0 .* \/tekton\/bin\/entrypoint\n$/);
  await good('DELETE', `${pods}/build-pod`);
  await server.settled();
});

test('a PodLifecycle says how the steps of tasks end', async () => {
  await good('POST', '/apis/simulation.k8s.io/v1alpha1/podlifecycles', {
    apiVersion: 'simulation.k8s.io/v1alpha1',
    kind: 'PodLifecycle',
    metadata: { name: 'tasks' },
    spec: {
      selector: { matchExpressions: [{ key: 'tekton.dev/taskRun', operator: 'Exists' }] },
      stages: [
        { stage: 'exit', containers: ['step-*'], message: results },
        { stage: 'exit', containers: ['step-report'], delay: '5s', exitCode: 3, message: 'broken' },
        { stage: 'exit', containers: ['sidecar-*'], delay: '6s' },
      ],
    },
  });
  await server.settled();
  await good('POST', pods, task());
  expect(states(await after('4s'))).toMatchObject({
    'step-build': { exitCode: 0, message: results },
    'step-report': 'running',
    'sidecar-docker': 'running',
  });
  const done = await after('2s');
  expect(states(done)).toMatchObject({
    'step-report': { exitCode: 3, reason: 'Error', message: 'broken' },
    'sidecar-docker': { exitCode: 0 },
  });
  expect(done.status.phase).toBe('Failed');
});
