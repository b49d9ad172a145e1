import type { Loose } from '@plat-dev/controllers/testing';
import { atOnce, noWork } from '@plat-dev/lib/slices';
import { plat } from '@plat-dev/meta/identity';
import { fromLabelSelector, LabelSelector } from '@plat-dev/meta/labels';
import { expect, test } from 'vitest';
import { LifecycleChoice } from './choose.ts';
import { Life, START } from './life.testing.ts';
import { delayOf, Lifecycles, quickLifecycle, type StageSpec } from './lifecycle.ts';
import { LifecycleIndex } from './lifecycle-index.ts';
import { failedStatus, stoppedStatus } from './pod-status.ts';

test('by default a pod is running and ready after one write', () => {
  const life = new Life({}).to(0);
  expect(life.writes).toBe(1);
  expect(life.due).toBeUndefined();
  expect(life.pod.status).toMatchObject({ phase: 'Running', hostIP: '172.16.0.2', podIP: '10.128.0.2', podIPs: [{ ip: '10.128.0.2' }] });
  expect(life.pod.status.startTime).toBe('2024-01-01T00:00:00Z');
  expect(life.state).toMatchObject({
    name: 'main',
    ready: true,
    started: true,
    restartCount: 0,
    image: 'nginx:1.25',
    state: { running: { startedAt: '2024-01-01T00:00:00Z' } },
  });
  expect(life.state.imageID).toMatch(/^nginx@sha256:[0-9a-f]{64}$/);
  expect(life.state.containerID).toMatch(/^containerd:\/\/[0-9a-f]{64}$/);
  expect(life.pod.status.conditions.map((one: Loose) => `${one.type}=${one.status}`)).toEqual([
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ]);
  expect(life.reasons).toEqual(['Pulled', 'Created', 'Started']);
  expect(life.to(1000).writes).toBe(1);
});

test('pull, start and readiness take their time', () => {
  const life = new Life({}, [
    { stage: 'pull', delay: '3s' },
    { stage: 'ready', delay: '2s' },
  ]);
  life.to(2);
  expect(life.pod.status.phase).toBe('Pending');
  expect(life.state.state).toEqual({ waiting: { reason: 'ContainerCreating' } });
  expect(life.pod.status.podIP).toBeUndefined();
  expect(life.condition('Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
  life.to(4);
  expect(life.pod.status.phase).toBe('Running');
  expect(life.state.ready).toBe(false);
  expect(life.condition('ContainersReady').message).toBe('containers with unready status: [main]');
  life.to(5);
  expect(life.condition('Ready')).toMatchObject({ status: 'True', lastTransitionTime: '2024-01-01T00:00:05Z' });
  expect(life.reasons).toEqual(['Pulling', 'Pulled', 'Created', 'Started']);
  expect(life.events[1]?.message).toBe('Successfully pulled image "nginx:1.25" in 3s');
});

test('init containers run one after another', () => {
  const initContainers = [
    { name: 'a', image: 'x' },
    { name: 'b', image: 'x' },
  ];
  const life = new Life({ initContainers }, [{ stage: 'init', delay: '2s' }]).to(1);
  const states = () => life.pod.status.initContainerStatuses.map((one: Loose) => Object.keys(one.state)[0]);
  expect(states()).toEqual(['running', 'waiting']);
  expect(life.pod.status.containerStatuses[0].state.waiting.reason).toBe('PodInitializing');
  expect(life.condition('Initialized')).toMatchObject({
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [a b]',
  });
  expect(life.to(3).pod.status.phase).toBe('Pending');
  expect(states()).toEqual(['terminated', 'running']);
  life.to(4);
  expect(states()).toEqual(['terminated', 'terminated']);
  expect(life.pod.status.initContainerStatuses.map((one: Loose) => one.ready)).toEqual([true, true]);
  expect(life.pod.status.phase).toBe('Running');
  expect(life.condition('Initialized').status).toBe('True');
});

test('an init container that fails restarts, or fails the pod that never restarts', () => {
  const initContainers = [{ name: 'a', image: 'x', command: ['false'] }];
  const again = new Life({ initContainers }).to(5);
  expect(again.pod.status.phase).toBe('Pending');
  expect(again.pod.status.initContainerStatuses[0]).toMatchObject({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } });
  const never = new Life({ initContainers, restartPolicy: 'Never' }).to(5);
  expect(never.pod.status.phase).toBe('Failed');
});

test('a container that fails restarts at once, then after 10 s, 20 s, 40 s, at most 5 minutes', () => {
  const life = new Life({}, [{ stage: 'exit', exitCode: 1 }]).to(0);
  expect(life.state).toMatchObject({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } }, ready: false });
  expect(life.state.state.waiting.message).toBe('back-off 10s restarting failed container=main pod=p_ns(u1)');
  expect(life.state.lastState.terminated).toMatchObject({ exitCode: 1, reason: 'Error' });
  expect(life.pod.status.phase).toBe('Running');
  expect(life.to(9.9).state.restartCount).toBe(1);
  expect(life.to(10).state.restartCount).toBe(2);
  expect(life.to(29.9).state.restartCount).toBe(2);
  expect(life.to(30).state.restartCount).toBe(3);
  expect(life.to(70).state.restartCount).toBe(4);
  life.to(3000);
  const { restartCount } = life.state;
  expect(life.state.state.waiting.message).toContain('back-off 5m0s');
  expect(life.to(3300).state.restartCount).toBe(restartCount + 1);
  expect(life.reasons).toContain('BackOff');
  const count = (wanted: string): number => life.reasons.filter((reason) => reason === wanted).length;
  expect(count('Pulled')).toBe(count('Started'));
});

test('a container that ran for ten minutes restarts without a delay', () => {
  const life = new Life({}, [{ stage: 'exit', delay: '15m', exitCode: 1 }]).to(1);
  expect(life.to(901).state).toMatchObject({ restartCount: 1, state: { running: {} } });
  expect(life.to(1802).state).toMatchObject({ restartCount: 2, state: { running: {} } });
});

test.each([
  ['Never', 0, 'Succeeded'],
  ['Never', 3, 'Failed'],
  ['OnFailure', 0, 'Succeeded'],
  ['OnFailure', 3, 'Running'],
  ['Always', 0, 'Running'],
])('with restartPolicy %s an exit with %s leads to %s', (restartPolicy, exitCode, phase) => {
  const life = new Life({ restartPolicy }, [{ stage: 'exit', delay: '1s', exitCode }]).to(20);
  expect(life.pod.status.phase).toBe(phase);
  if (phase === 'Succeeded') {
    expect(life.condition('Ready')).toMatchObject({ status: 'False', reason: 'PodCompleted' });
    expect(life.state.state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed', finishedAt: '2024-01-01T00:00:01Z' });
    expect(life.due).toBeUndefined();
  }
});

test('OOM', () => {
  const life = new Life({ restartPolicy: 'Never' }, [{ stage: 'exit', exitCode: 137, reason: 'OOMKilled' }]).to(1);
  expect(life.state.state.terminated).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
});

test('the command of a container decides how long it runs and how it exits', () => {
  const of = (command: string[], restartPolicy = 'Never') =>
    new Life({ restartPolicy, containers: [{ name: 'main', image: 'busybox', command }] });
  expect(of(['sh', '-c', 'sleep 5; exit 2']).to(4).pod.status.phase).toBe('Running');
  expect(of(['sh', '-c', 'sleep 5; exit 2']).to(5).state.state.terminated).toMatchObject({ exitCode: 2, reason: 'Error' });
  expect(of(['true']).to(0).pod.status.phase).toBe('Succeeded');
  expect(of(['sleep', 'infinity']).to(100_000).pod.status.phase).toBe('Running');
  expect(of(['tail', '-f', '/dev/null']).to(100_000).pod.status.phase).toBe('Running');
});

test('a pod of a job completes by itself if its command is unknown', () => {
  const ownerReferences = [{ kind: 'Job', name: 'j', uid: 'j', apiVersion: 'batch/v1', controller: true }];
  const life = new Life({ restartPolicy: 'Never' }, [], { ownerReferences });
  expect(life.to(0).pod.status.phase).toBe('Running');
  expect(life.to(0.1).pod.status.phase).toBe('Succeeded');
});

const owned = (kind: string): Loose => ({ ownerReferences: [{ kind, name: 'o', uid: 'o', apiVersion: 'v1', controller: true }] });

test.each<[string, Loose, Loose, string]>([
  ['an unknown program', { command: ['curl', 'web:80'] }, {}, 'Succeeded'],
  ['the entrypoint of an unknown image', {}, {}, 'Succeeded'],
  ['a script with an unknown program', { command: ['sh', '-c', 'wget -qO- web:80 && echo ok'] }, {}, 'Succeeded'],
  ['of a job', {}, owned('Job'), 'Succeeded'],
  ['of a job, with a port', { ports: [{ containerPort: 80 }] }, owned('Job'), 'Succeeded'],
  ['of another controller', {}, owned('TaskRun'), 'Succeeded'],
  ['adopted by a replica set', {}, owned('ReplicaSet'), 'Running'],
  ['adopted by a stateful set', {}, owned('StatefulSet'), 'Running'],
  ['adopted by a daemon set', {}, owned('DaemonSet'), 'Running'],
  ['adopted by a replication controller', {}, owned('ReplicationController'), 'Running'],
  ['with a port', { ports: [{ containerPort: 80 }] }, {}, 'Running'],
  ['with a probe', { livenessProbe: { tcpSocket: { port: 80 } } }, {}, 'Running'],
  ['a known server', { image: 'docker.io/library/redis:7' }, {}, 'Running'],
  ['a client in the image of a server', { image: 'redis:7', command: ['redis-cli', 'ping'] }, {}, 'Succeeded'],
  ['a server by its name', { command: ['/usr/sbin/nginx', '-g', 'daemon off;'] }, {}, 'Running'],
  ['that reads its input', { stdin: true }, {}, 'Running'],
  ['sleep', { command: ['sleep', 'infinity'] }, {}, 'Running'],
  ['tail -f', { command: ['tail', '-f', '/var/log/app'] }, {}, 'Running'],
])('%s, not to be restarted', (_title, container, metadata, phase) => {
  for (const restartPolicy of ['Never', 'OnFailure', 'Always']) {
    const life = new Life({ restartPolicy, containers: [{ name: 'main', image: 'app', ...container }] }, [], metadata);
    life.knows = (path) => !path.startsWith('/var');
    expect(life.to(0).pod.status.phase).toBe('Running');
    expect(life.to(100_000).pod.status.phase).toBe(restartPolicy === 'Always' ? 'Running' : phase);
    expect(life.state.restartCount).toBe(0);
  }
});

test('a life cycle keeps a pod running that would complete', () => {
  const bare = { restartPolicy: 'Never' };
  const phases = (...stages: StageSpec[]): string =>
    new Life({ ...bare, containers: [{ name: 'main', image: 'app' }] }, stages).to(100).pod.status.phase;
  expect(phases()).toBe('Succeeded');
  expect(phases({ stage: 'exit', never: true })).toBe('Running');
  expect(phases({ stage: 'ready', never: true })).toBe('Running');
  expect(phases({ stage: 'terminate', delay: '5s' })).toBe('Running');
  expect(phases({ stage: 'ready', delay: '3s' })).toBe('Running');
  expect(phases({ stage: 'ready', probes: true })).toBe('Succeeded');
  expect(phases({ stage: 'pull', delay: '5s' })).toBe('Succeeded');
  const failing = { ...bare, containers: [{ name: 'main', image: 'app', command: ['false'] }] };
  expect(new Life(failing, [{ stage: 'exit', never: true }]).to(100).pod.status.phase).toBe('Running');
});

test('a stage is about the containers that it names', () => {
  const spec = {
    restartPolicy: 'Never',
    initContainers: [{ name: 'prepare', image: 'app' }],
    containers: ['step-build', 'step-test', 'sidecar'].map((name) => ({ name, image: 'app', command: ['sleep', 'infinity'] })),
  };
  const life = new Life(spec, [
    { stage: 'init', containers: ['prepare'], delay: '2s' },
    { stage: 'exit', containers: ['step-*'], delay: '5s' },
    { stage: 'exit', containers: ['step-test'], delay: '6s', exitCode: 3 },
    { stage: 'ready', containers: ['sidecar'], never: true },
  ]);
  const states = () => life.pod.status.containerStatuses.map((one: Loose) => one.state.terminated?.exitCode ?? Object.keys(one.state)[0]);
  expect([life.to(1.9), states()][1]).toEqual(['waiting', 'waiting', 'waiting']);
  expect([life.to(6.9), states()][1]).toEqual(['running', 'running', 'running']);
  expect(life.pod.status.containerStatuses.map((one: Loose) => one.ready)).toEqual([true, true, false]);
  expect([life.to(8), states()][1]).toEqual([0, 3, 'running']);
});

test.each<[string, string[], string]>([
  ['copies a program', ['cp', '/app/tool', '/shared/'], 'Succeeded'],
  ['copies a directory', ['cp', '-r', '/app/.', '/shared'], 'Succeeded'],
  ['copies, then fails on purpose', ['sh', '-c', 'exit 4'], 'Failed'],
  [
    'goes on after a copy',
    ['sh', '-c', 'cp /app/a /shared/a && mv /app/b /shared/b && cat /app/c && ls /app && cd /app && exit 0'],
    'Succeeded',
  ],
  ['tests for a file', ['sh', '-c', '[ -x /app/tool ] || exit 1'], 'Succeeded'],
  ['waits for a file', ['sh', '-c', 'until [ -f /app/ready ]; do sleep 1; done'], 'Succeeded'],
  ['looks into a file', ['sh', '-c', 'if [ "$(cat /app/version)" != 2 ]; then exit 1; fi'], 'Succeeded'],
  ['waits for a text', ['sh', '-c', 'until [ "$(cat /app/state)" = ok ]; do sleep 1; done'], 'Succeeded'],
  ['reads a file as its input', ['sh', '-c', 'cat < /app/input'], 'Succeeded'],
  ['removes a file', ['rm', '/app/lock'], 'Succeeded'],
  ['runs an entrypoint', ['/entrypoint.sh', 'server'], 'Succeeded'],
  ['runs a script', ['sh', '/entrypoint.sh'], 'Succeeded'],
  ['cannot find what is known to be missing', ['cat', '/tmp/none'], 'Failed'],
  ['tests what is known to be missing', ['test', '-f', '/tmp/none'], 'Failed'],
])('what is not known of an image is not an error: an init container that %s', (_title, command, phase) => {
  const life = new Life({
    restartPolicy: 'Never',
    initContainers: [{ name: 'init', image: 'app', command }],
    containers: [{ name: 'main', image: 'app' }],
  });
  life.knows = (path) => path.startsWith('/tmp');
  expect(life.to(1e6).pod.status.phase).toBe(phase);
});

test('a main container that depends on unknown files runs on where it is kept up', () => {
  const life = new Life({ containers: [{ name: 'main', image: 'app', command: ['sh', '-c', 'if [ -x /app/run ]; then /app/run; fi'] }] });
  life.knows = () => false;
  expect(life.to(1000).state).toMatchObject({ restartCount: 0, state: { running: {} } });
});

test('a word that tells an entrypoint what to do is no program', () => {
  const of = (image: string, ...args: string[]): Life => new Life({ containers: [{ name: 'main', image, args }] }).to(9);
  expect(of('example.com/tool', 'sync').state.restartCount).toBe(0);
  expect(of('busybox', 'sync').state.restartCount).toBe(1);
  expect(of('example.com/tool', 'sh', '-c', 'exit 1').state.restartCount).toBe(1);
});

test('a container whose image is changed is stopped and started with the new one', () => {
  const life = new Life({
    containers: [
      { name: 'main', image: 'app:1' },
      { name: 'other', image: 'other:1' },
    ],
  }).to(5);
  const [{ containerID }, other] = life.pod.status.containerStatuses;
  life.events.length = 0;
  life.pod.spec.containers[0].image = 'app:2';
  life.stop = { afterMs: 3000, exitCode: 143 };
  life.message = 'stopped';
  expect(life.to(7.9).state).toMatchObject({ image: 'app:1', restartCount: 0, state: { running: {} } });
  life.to(8);
  expect(life.state).toMatchObject({
    image: 'app:2',
    imageID: expect.stringMatching(/^app@sha256:/),
    restartCount: 1,
    ready: true,
    state: { running: { startedAt: '2024-01-01T00:00:08Z' } },
    lastState: { terminated: { exitCode: 143, reason: 'Error', message: 'stopped', containerID, finishedAt: '2024-01-01T00:00:08Z' } },
  });
  expect(life.state.containerID).not.toBe(containerID);
  expect(life.pod.status.containerStatuses[1]).toEqual(other);
  expect(life.events.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
    'Killing: Container main definition changed, will be restarted',
    'Pulled: Container image "app:2" already present on machine',
    'Created: Created container main',
    'Started: Started container main',
  ]);
  // Another change is another restart, without a delay.
  life.pod.spec.containers[0].image = 'app:3';
  life.stop = { afterMs: 0, exitCode: 0 };
  expect(life.to(9).state).toMatchObject({ image: 'app:3', restartCount: 2, state: { running: {} } });
});

test('a new image is pulled, also for a container that never restarts, and may fail to be', () => {
  const life = new Life({ restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1', command: ['sleep', 'infinity'] }] }).to(1);
  life.pod.spec.containers[0].image = 'app:2';
  life.lifecycles = new Lifecycles([{ stage: 'pull', fails: true }]);
  expect([life.to(2).pod.status.phase, life.state.state.waiting.reason, life.state.restartCount]).toEqual([
    'Running',
    'ImagePullBackOff',
    0,
  ]);
  life.lifecycles = new Lifecycles([{ stage: 'pull', delay: '4s' }]);
  life.pod.spec.containers[0].image = 'app:3';
  expect(life.to(5.9).state.state.waiting.reason).toBe('ContainerCreating');
  expect(life.to(6).state).toMatchObject({
    image: 'app:3',
    restartCount: 1,
    state: { running: {} },
    lastState: { terminated: { exitCode: 0 } },
  });
  expect(life.events.map(({ message }) => message)).toContain('Successfully pulled image "app:3" in 4s');
});

test('a crash loop ends with another image, and a container that has completed stays so', () => {
  const life = new Life({ containers: [{ name: 'main', image: 'app:1', command: ['false'] }] }).to(1);
  expect(life.state).toMatchObject({ restartCount: 1, state: { waiting: { reason: 'CrashLoopBackOff' } } });
  life.pod.spec.containers[0] = { name: 'main', image: 'app:2', command: ['sleep', 'infinity'] };
  expect(life.to(2).state).toMatchObject({ restartCount: 2, state: { running: {} } });
  const over = new Life({
    restartPolicy: 'Never',
    containers: [
      { name: 'main', image: 'a', command: ['true'] },
      { name: 'other', image: 'nginx' },
    ],
  }).to(1);
  over.pod.spec.containers[0].image = 'b';
  expect(over.to(2).state).toMatchObject({ image: 'a', restartCount: 0, state: { terminated: { exitCode: 0 } } });
});

test('an image that does nothing ends a container', () => {
  const containers = [
    { name: 'step', image: 'app', command: ['true'] },
    { name: 'plain', image: 'docker:dind', ports: [{ containerPort: 1 }] },
    { name: 'command', image: 'redis', command: ['redis-server'] },
  ];
  const life = new Life({ restartPolicy: 'Never', containers }).to(5);
  expect(life.pod.status.phase).toBe('Running');
  for (const container of life.pod.spec.containers.slice(1)) container.image = 'example.com/pipeline/cmd/nop:v0.40@sha256:00';
  life.to(6);
  const ends = life.pod.status.containerStatuses.map(({ state }: Loose) => [state.terminated?.exitCode, state.terminated?.reason]);
  expect(ends).toEqual([
    [0, 'Completed'],
    [0, 'Completed'],
    [128, 'StartError'],
  ]);
  expect(life.pod.status.phase).toBe('Failed');
});

test('containers without what they refer to wait for it', () => {
  const life = new Life({});
  life.blocked = { main: { reason: 'CreateContainerConfigError', message: 'configmap "c" not found' } };
  life.to(5);
  expect(life.state.state.waiting).toEqual({ reason: 'CreateContainerConfigError', message: 'configmap "c" not found' });
  expect(life.pod.status.phase).toBe('Pending');
  life.blocked = {};
  expect(life.to(6).pod.status.phase).toBe('Running');
});

test('readiness gates hold back the pod, not its containers', () => {
  const life = new Life({ readinessGates: [{ conditionType: 'example.com/ok' }] }).to(0);
  expect(life.condition('ContainersReady').status).toBe('True');
  expect(life.condition('Ready')).toMatchObject({ status: 'False', reason: 'ReadinessGatesNotReady' });
  life.pod.status.conditions.push({ type: 'example.com/ok', status: 'True' });
  life.to(1);
  expect(life.condition('Ready').status).toBe('True');
  expect(life.condition('example.com/ok').status).toBe('True');
});

test('readiness follows the probe, after as many results as its thresholds say', () => {
  const readinessProbe = { exec: { command: ['test', '-f', '/x'] }, initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 2 };
  const life = new Life({ containers: [{ name: 'main', image: 'i', readinessProbe }] }, [{ stage: 'ready', probes: true }]);
  const ready = (): boolean => life.pod.status.containerStatuses[0].ready;
  life.healthy = false;
  expect([life.to(4), ready()][1]).toBe(false);
  expect([life.to(14), ready()][1]).toBe(false);
  life.healthy = true;
  expect([life.to(15), ready()][1]).toBe(true);
  life.healthy = false;
  expect([life.to(25), ready()][1]).toBe(true);
  expect([life.to(35), ready()][1]).toBe(false);
  expect(life.pod.status.conditions.find(({ type }: Loose) => type === 'Ready').status).toBe('False');
  expect(life.events.filter(({ reason }) => reason === 'Unhealthy')).toHaveLength(3);
});

const readinessProbe = { exec: { command: ['test', '-f', '/x'] }, initialDelaySeconds: 5, periodSeconds: 10, failureThreshold: 2 };
const probing = (stages: StageSpec[] = [], probe: Loose = {}): Life =>
  new Life(
    { containers: [{ name: 'main', image: 'i', command: ['sleep', 'infinity'], readinessProbe: { ...readinessProbe, ...probe } }] },
    stages,
  );

test('by default a readiness probe runs at once, and then rests', () => {
  const life = probing().to(0);
  expect([life.state.ready, life.due, life.probes, life.writes]).toEqual([true, undefined, 1, 1]);
  // Other changes of the pod do not run it.
  life.healthy = false;
  expect([life.to(1000).state.ready, life.probes, life.due]).toEqual([true, 1, undefined]);
});

test('by default a readiness probe that fails runs each period, until it succeeds', () => {
  const life = probing([], { successThreshold: 2 });
  life.healthy = false;
  expect([life.to(0).state.ready, life.due]).toEqual([false, START + 10_000]);
  expect([life.to(25).state.ready, life.probes]).toEqual([false, 3]);
  expect(life.reasons.filter((reason) => reason === 'Unhealthy')).toHaveLength(3);
  life.healthy = true;
  expect([life.to(30).state.ready, life.to(40).state.ready]).toEqual([false, true]);
  expect([life.to(1000).probes, life.due]).toEqual([5, undefined]);
});

test('by default what a client writes runs the readiness probe, which fails after as many periods as it says', () => {
  const life = probing().to(100);
  life.memory.writes++;
  expect([life.to(101).state.ready, life.probes, life.due]).toEqual([true, 2, undefined]);
  life.healthy = false;
  life.memory.writes++;
  expect([life.to(102).state.ready, life.due]).toEqual([true, START + 111_000]);
  // Further writes do not count.
  life.memory.writes++;
  expect([life.to(103).state.ready, life.probes]).toEqual([true, 3]);
  expect([life.to(110).state.ready, life.to(111).state.ready]).toEqual([true, false]);
  life.healthy = true;
  expect([life.to(120).state.ready, life.to(121).state.ready, life.due]).toEqual([false, true, undefined]);
});

test('by default the readiness probe runs when the command of the container has changed a file', () => {
  const life = probing();
  life.changes = [30, 31, 90];
  expect([life.to(0).state.ready, life.due]).toEqual([true, START + 30_000]);
  expect(life.to(29).probes).toBe(1);
  life.healthy = false;
  expect([life.to(30).state.ready, life.to(39).state.ready, life.to(40).state.ready]).toEqual([true, true, false]);
  life.healthy = true;
  expect([life.to(50).state.ready, life.due]).toEqual([true, START + 90_000]);
  expect([life.to(1000).due, life.probes]).toEqual([undefined, 5]);
  // A server that starts again knows of it, too.
  const again = probing();
  again.changes = life.changes;
  again.pod.status = life.pod.status;
  again.at = 60;
  expect([again.to(61).state.ready, again.due]).toEqual([true, START + 90_000]);
});

test('a failure that is not sure counts where all probes count, and not by default', () => {
  const states = [undefined, true, false].map((probes) => {
    const life = probing(probes === undefined ? [] : [{ stage: 'ready', probes }]);
    life.healthy = false;
    life.sure = false;
    return [life.to(100).state.ready, life.due !== undefined];
  });
  expect(states).toEqual([
    [true, false],
    [false, true],
    [true, false],
  ]);
});

test('probes: false switches them off, and what cannot be run needs no look', () => {
  const off = probing([{ stage: 'ready', probes: false }]);
  off.healthy = false;
  expect([off.to(100).state.ready, off.probes, off.due]).toEqual([true, 0, undefined]);
  const unknown = probing([], { exec: { command: ['pg_isready'] } });
  unknown.healthy = false;
  expect([unknown.to(100).state.ready, unknown.probes, unknown.due]).toEqual([true, 0, undefined]);
});

test('probes count where the life cycle says so', () => {
  const containers = [
    { name: 'main', image: 'x', readinessProbe: { initialDelaySeconds: 4, periodSeconds: 10 }, startupProbe: { initialDelaySeconds: 1 } },
  ];
  expect(new Life({ containers }).to(0).state.ready).toBe(true);
  const life = new Life({ containers }, [{ stage: 'ready', probes: true }]);
  expect([life.to(0.9).state.started, life.to(1).state.started]).toEqual([false, true]);
  expect(life.to(3.9).state.ready).toBe(false);
  expect(life.to(4).state.ready).toBe(true);
});

test('a container is restarted when its liveness or startup probe has failed often enough', () => {
  const probe = { exec: { command: ['cat', '/x'] }, periodSeconds: 10, failureThreshold: 2 };
  const command = ['sleep', 'infinity'];
  const probes: StageSpec[] = [{ stage: 'ready', probes: true }];
  const live = new Life({ containers: [{ name: 'main', image: 'i', command, livenessProbe: probe }] }, probes).to(5);
  live.healthy = false;
  expect(live.to(19.9).state.restartCount).toBe(0);
  expect(live.to(20).state).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 137, reason: 'Error' } } });
  expect(live.events.map(({ message }) => message)).toContain('Container main failed liveness probe, will be restarted');
  const slow = new Life({ containers: [{ name: 'main', image: 'i', command, livenessProbe: probe, startupProbe: probe }] }, probes);
  slow.healthy = false;
  expect(slow.to(9).state).toMatchObject({ started: false, ready: false, restartCount: 0 });
  expect(slow.to(10).state.restartCount).toBe(1);
  slow.healthy = true;
  expect(slow.to(25).state).toMatchObject({ started: true, ready: true, restartCount: 1 });
  // Nothing is known of the files of an image: its probes succeed, and nothing has to be done for them.
  const unknown = new Life({ containers: [{ name: 'main', image: 'i', livenessProbe: probe }] }, probes);
  unknown.healthy = false;
  expect([unknown.to(0).due, unknown.to(1000).state.restartCount]).toEqual([undefined, 0]);
});

test('a life cycle says when liveness probes fail', () => {
  const livenessProbe = { httpGet: { port: 80 }, periodSeconds: 5, failureThreshold: 2 };
  const life = new Life({ containers: [{ name: 'main', image: 'i', livenessProbe }] }, [{ stage: 'live', delay: '30s' }]);
  expect(life.to(34.9).state.restartCount).toBe(0);
  expect(life.to(35).state.restartCount).toBe(1);
  expect(new Life({}, [{ stage: 'live', delay: '30s' }]).to(1000).state.restartCount).toBe(0);
});

test('images that cannot be pulled', () => {
  const life = new Life({}, [{ stage: 'pull', fails: true }]).to(100);
  expect(life.state.state.waiting).toEqual({ reason: 'ImagePullBackOff', message: 'Back-off pulling image "nginx:1.25"' });
  expect(life.pod.status.phase).toBe('Pending');
});

test('after a restart of the server the status is enough to go on', () => {
  const life = new Life({ restartPolicy: 'Never' }, [{ stage: 'exit', delay: '10s' }]).to(4);
  const later = new Life({ restartPolicy: 'Never' }, [{ stage: 'exit', delay: '10s' }]);
  later.pod.status = life.pod.status;
  expect(later.to(9).pod.status.phase).toBe('Running');
  expect(later.to(10).pod.status.phase).toBe('Succeeded');
});

test('stopped and failed pods', () => {
  const life = new Life({}).to(1);
  const world = { pod: life.pod, now: START + 2000, memory: life.memory, message: () => noWork('') };
  expect(atOnce(stoppedStatus(world, () => 0))).toMatchObject({
    phase: 'Running',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 0 } } }],
  });
  const failed = atOnce(failedStatus(world, 'DeadlineExceeded', 'too long'));
  expect(failed).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded', message: 'too long' });
  const never = new Life({ restartPolicy: 'Never' }).to(1);
  expect(atOnce(stoppedStatus({ ...world, pod: never.pod }, () => 143)).phase).toBe('Failed');
});

test('jitter is the same for the same seed, and different for others', () => {
  const delay = { delayMs: 1000, jitterMs: 500 };
  expect(delayOf(delay, 'a')).toBe(delayOf(delay, 'a'));
  const drawn = new Set(Array.from({ length: 20 }, (_, i) => delayOf(delay, `pod ${i}`)));
  expect(drawn.size).toBeGreaterThan(10);
  for (const one of drawn) expect(one >= 1000 && one < 1500).toBe(true);
});

const choice = new LifecycleChoice(plat);
const note = (name: string, value: string) => ({ [`simulation.plat.dev/${name}`]: value });
const chosen = (annotations: Record<string, string>, ofNamespace = {}) =>
  choice.choose({ metadata: { annotations } }, ofNamespace, new LifecycleIndex()).lifecycles.of('main');

test('annotations choose the life cycle, those of the pod before those of its namespace', () => {
  expect(chosen({})).toEqual(quickLifecycle);
  expect(chosen(note('slow-pull', '30s')).pull).toEqual({ delayMs: 30_000, jitterMs: 0, fails: false });
  expect(chosen(note('never-ready', 'true')).ready.never).toBe(true);
  expect(chosen(note('never-ready', 'false'))).toEqual(quickLifecycle);
  expect(chosen(note('crash-loop', 'true')).exit.when).toMatchObject({ exitCode: 1, reason: 'Error', delayMs: 0 });
  expect(chosen(note('oom', 'true')).exit.when).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  expect(chosen({ ...note('complete-after', '5s'), ...note('exit-code', '3') }).exit.when).toMatchObject({ exitCode: 3, delayMs: 5000 });
  expect(chosen({}, note('fail', 'true')).exit.when).toMatchObject({ exitCode: 1 });
  expect(chosen(note('complete-after', '1s'), note('fail', 'true')).exit.when).toMatchObject({ exitCode: 0 });
  expect(chosen({ 'simulation.plat.dev/logs': 'x' })).toEqual(quickLifecycle);
});

test('annotations may name a container, which comes after what is said of all', () => {
  const annotations = {
    ...note('exit-code.step-test', '3'),
    ...note('complete-after', '10s'),
    ...note('complete-after.step-test', '5s'),
    ...note('complete-after.sidecar', 'never'),
    ...note('termination-message', 'all'),
    ...note('termination-message.sidecar', 'one'),
    ...note('ready-after.sidecar', '2s'),
    ...note('unknown.sidecar', 'x'),
  };
  const { lifecycles } = choice.choose({ metadata: { annotations } }, {}, new LifecycleIndex());
  expect(lifecycles.of('step-build').exit).toMatchObject({ when: { delayMs: 10_000, exitCode: 0 }, message: 'all' });
  expect(lifecycles.of('step-test').exit).toMatchObject({ when: { delayMs: 5000, exitCode: 3, reason: 'Error' }, message: 'all' });
  // It may be an init container.
  expect(lifecycles.of('step-test').init).toMatchObject({ when: { delayMs: 5000, exitCode: 3 } });
  expect(lifecycles.of('step-build').init).toEqual({ when: undefined, message: undefined });
  expect([lifecycles.of('sidecar').exit, lifecycles.of('sidecar').ready.delayMs]).toEqual([{ when: 'never', message: 'one' }, 2000]);
  expect(lifecycles.of('constructor').ready.delayMs).toBe(0);
});

test('more annotations than are looked at are reported and not used', () => {
  const many = (count: number) => Object.assign({}, ...Array.from({ length: count }, (_, i) => note(`fail.c${i}`, 'true')));
  const of = (count: number) => choice.choose({ metadata: { annotations: many(count) } }, {}, new LifecycleIndex());
  expect(of(100).lifecycles.of('c99').exit.when).toMatchObject({ exitCode: 1 });
  expect([of(101).problem, of(101).lifecycles.of('c99').exit.when]).toEqual([
    'more than 100 annotations are about the life cycle',
    undefined,
  ]);
});

test('a message alone does not say when a container exits', () => {
  const of = (...stages: StageSpec[]) => new Lifecycles(stages).of('main').exit;
  expect(of({ stage: 'exit', message: 'm' })).toEqual({ when: undefined, message: 'm' });
  expect(of({ stage: 'exit', delay: '1s' }, { stage: 'exit', message: 'm' })).toMatchObject({ when: { delayMs: 1000 }, message: 'm' });
  expect(of({ stage: 'exit', message: 'm', exitCode: 1 })).toMatchObject({ when: { delayMs: 0, exitCode: 1 }, message: 'm' });
  expect(chosen(note('termination-message', 'm')).exit).toEqual({ when: undefined, message: 'm' });
});

test('wrong annotations are reported and not used', () => {
  for (const wrong of [
    note('slow-pull', 'soon'),
    note('ready-after', '-5s'),
    note('exit-code', '300'),
    note('exit-code', '1e2'),
    note('exit-code', 'x'),
  ])
    expect(choice.choose({ metadata: { annotations: wrong } }, {}, new LifecycleIndex())).toEqual({
      lifecycles: new Lifecycles([]),
      problem: expect.any(String),
    });
});

test('configured life cycles select pods by labels and namespace, the first by name', () => {
  const one = (name: string, matchLabels: Record<string, string>, namespaces: string[] = []) => ({
    name,
    selector: fromLabelSelector({ matchLabels }),
    namespaces,
    images: [],
    lifecycles: new Lifecycles([{ stage: 'ready', delay: '1s' }]),
  });
  const all = [one('a', { app: 'web' }, ['other']), one('b', { app: 'web' }), one('c', {})];
  const of = (labels: Record<string, string>, namespace = 'ns') =>
    choice.choose({ metadata: { labels, namespace } }, undefined, new LifecycleIndex(all)).lifecycles;
  expect(of({ app: 'web' }, 'other')).toBe(all[0]?.lifecycles);
  expect(of({ app: 'web' })).toBe(all[1]?.lifecycles);
  expect(of({})).toBe(all[2]?.lifecycles);
});

test('configured life cycles select pods by the images of their containers', () => {
  const lifecycles = new Lifecycles([{ stage: 'pull', fails: true }]);
  const fails = (patterns: string[], ...images: string[]): boolean => {
    const all = [{ name: 'a', selector: fromLabelSelector({}), namespaces: [], images: patterns, lifecycles }];
    return (
      choice.choose({ metadata: {}, spec: { containers: images.map((image) => ({ image })) } }, undefined, new LifecycleIndex(all))
        .lifecycles === lifecycles
    );
  };
  expect(fails(['web:404'], 'web:404')).toBe(true);
  expect(fails(['web:404'], 'web:4041')).toBe(false);
  expect(fails(['*:404'], 'app:1', 'web:404')).toBe(true);
  expect(fails(['*.invalid/*'], 'registry.invalid/app:1')).toBe(true);
  expect(fails(['a*a'], 'a')).toBe(false);
  expect(fails(['a*b*c'], 'a-c-b-c')).toBe(true);
  expect(fails(['a*b*c'], 'a-c')).toBe(false);
});

test('of many configured life cycles a pod is compared with those that can select it, and changes are seen', () => {
  const lifecycles = new Lifecycles([{ stage: 'ready', delay: '1s' }]);
  let compared = 0;
  const counting = (matchLabels: Record<string, string>) => {
    const selector = new LabelSelector(fromLabelSelector({ matchLabels }).requirements);
    const { matches } = selector;
    selector.matches = (labels) => {
      compared++;
      return matches.call(selector, labels);
    };
    return selector;
  };
  const one = (name: string, more: { app?: string; namespaces?: string[]; images?: string[] }) => ({
    name,
    selector: counting(more.app === undefined ? {} : { app: more.app }),
    namespaces: more.namespaces ?? [],
    images: more.images ?? [],
    lifecycles,
  });
  const index = new LifecycleIndex();
  for (let i = 1000; i-- > 0; ) {
    index.add(one(`l${i}`, { app: `a${i}` }));
    index.add(one(`n${i}`, { namespaces: [`ns${i}`] }));
    index.add(one(`i${i}`, { images: [`app:${i}`] }));
  }
  const first = (labels: Record<string, string>, namespace = '', image = '') =>
    index.first({ metadata: { labels, namespace }, spec: { containers: [{ image }] } })?.name;
  expect([first({ app: 'a7' }), first({}, 'ns8'), first({}, '', 'app:9'), first({ app: 'x' })]).toEqual(['l7', 'n8', 'i9', undefined]);
  expect(first({ app: 'a7' }, 'ns8', 'app:9')).toBe('i9');
  expect(compared).toBe(5);
  const [all, early] = [one('z', { images: ['*'] }), one('a', { app: 'a7' })];
  index.add(all);
  index.add(early);
  expect([first({ app: 'a7' }, 'ns8', 'app:9'), first({ app: 'x' })]).toEqual(['a', 'z']);
  index.delete(early);
  index.delete(all);
  expect([first({ app: 'a7' }), first({ app: 'x' })]).toEqual(['l7', undefined]);
});
