import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nodeLifecycleController } from '../nodelife/controller.ts';
import { ContainerFiles } from './container-files.ts';
import { partsOf } from './heartbeats.ts';
import { type SimulatedNodesSettings, simulatedNodes } from './index.ts';

const { pods, namespaces, configMaps, secrets } = fakeKinds;
const nodes = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false } as const;
const claims = { group: '', version: 'v1', name: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true } as const;
const events = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true } as const;
const leases = { group: 'coordination.k8s.io', version: 'v1', name: 'leases', kind: 'Lease', namespaced: true } as const;

let api: FakeApi;
let run: TestRun;
const start = async (settings: SimulatedNodesSettings = { count: 1 }): Promise<void> => {
  run = runControllers(api, [simulatedNodes({ kinds: false, metrics: false, ...settings })]);
  await run.idle();
};
beforeEach(() => {
  api = new FakeApi([nodes, pods, namespaces, configMaps, secrets, claims, events, leases], new FakeClock());
  api.put(namespaces, { metadata: { name: 'ns' } });
});
afterEach(async () => {
  await run.stop();
  expect(run.failures).toEqual([]);
});

const note = (name: string): string => `simulation.kubernetes.io/${name}`;
const pod = (name: string, { metadata = {}, spec = {}, status = {} }: Loose = {}): Loose =>
  api.put(pods, {
    metadata: { name, namespace: 'ns', ...metadata },
    spec: { nodeName: 'node-0', restartPolicy: 'Always', containers: [{ name: 'main', image: 'nginx' }], ...spec },
    status: { phase: 'Pending', ...status },
  });
const status = (name: string): Loose => api.get(pods, 'ns', name)?.status;
const reasons = (): string[] => api.all(events).map((event) => event.reason);
const writesOf = (name: string): number =>
  api.calls.filter((call) => call.startsWith(`PATCH /api/v1/namespaces/ns/pods/${name}/status`)).length;

test('nodes are registered with their facts, and renew their leases', async () => {
  await start({ count: 3, zones: ['a', 'b'], region: 'r', labels: { tier: 'x' }, capacity: { cpu: '4' } });
  expect(api.all(nodes).map(({ metadata }) => metadata.name)).toEqual(['node-0', 'node-1', 'node-2']);
  const [first, second, third] = api.all(nodes);
  expect(first.metadata.labels).toMatchObject({
    'kubernetes.io/hostname': 'node-0',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'topology.kubernetes.io/zone': 'a',
    'topology.kubernetes.io/region': 'r',
    tier: 'x',
  });
  expect([second, third].map((one) => one.metadata.labels['topology.kubernetes.io/zone'])).toEqual(['b', 'a']);
  expect(first.status.capacity).toMatchObject({ cpu: '4', memory: '256Gi', pods: '110' });
  expect(first.status.conditions.map((one: Loose) => `${one.type}=${one.status}`)).toEqual([
    'MemoryPressure=False',
    'DiskPressure=False',
    'PIDPressure=False',
    'Ready=True',
  ]);
  expect(new Set(api.all(nodes).map((one) => one.spec.podCIDR)).size).toBe(3);
  expect(new Set(api.all(nodes).map((one) => one.status.addresses[0].address)).size).toBe(3);
  expect(api.all(leases).map((one) => [one.metadata.namespace, one.metadata.name, one.spec.leaseDurationSeconds])).toEqual([
    ['kube-node-lease', 'node-0', 40],
    ['kube-node-lease', 'node-1', 40],
    ['kube-node-lease', 'node-2', 40],
  ]);
  await run.pass(10_000);
  for (const lease of api.all(leases)) expect(lease.spec.renewTime).toBe('2024-01-01T00:00:10.000000Z');
  await run.pass(5 * 60_000);
  for (const node of api.all(nodes)) expect(node.status.conditions[3].lastHeartbeatTime > '2024-01-01T00:00:30Z').toBe(true);
});

test('a change of the annotations of a namespace changes what happens to its pods', async () => {
  api.put(namespaces, { metadata: { name: 'ns', annotations: { [note('never-ready')]: 'true' } } });
  await start();
  pod('waits');
  await run.idle();
  const isReady = (): boolean => status('waits').conditions.some((one: Loose) => one.type === 'Ready' && one.status === 'True');
  expect([status('waits').phase, isReady()]).toEqual(['Running', false]);
  api.put(namespaces, { metadata: { name: 'ns', annotations: {} } });
  await run.idle();
  expect(isReady()).toBe(true);
});

test('a change of the capacity of a node changes what pods may use', async () => {
  await start();
  const capacity = (change: (amounts: Loose) => Loose): void => {
    const node = api.get(nodes, '', 'node-0');
    api.put(nodes, { ...node, status: { ...node.status, capacity: change(node.status.capacity) } });
  };
  const allocatable = (): Loose => api.get(nodes, '', 'node-0').status.allocatable;
  capacity((amounts) => ({ ...amounts, cpu: '64', 'example.com/gpu': '8' }));
  await run.idle();
  expect(allocatable()).toMatchObject({ cpu: '32', 'example.com/gpu': '8' });
  capacity((amounts) => ({ ...amounts, 'example.com/gpu': '4' }));
  await run.idle();
  expect(allocatable()).toMatchObject({ 'example.com/gpu': '4' });
  capacity(({ 'example.com/gpu': _gone, ...amounts }) => amounts);
  await run.idle();
  expect(allocatable()).not.toHaveProperty('example.com/gpu');
});

test('readiness follows what a client does to the files of a container, and costs nothing while it does nothing', async () => {
  const disks = new ContainerFiles(10);
  await start({ count: 1, disks });
  const readinessProbe = { httpGet: { path: '/index.html', port: 80 }, initialDelaySeconds: 30, periodSeconds: 5, failureThreshold: 2 };
  pod('web', { spec: { containers: [{ name: 'main', image: 'httpd', readinessProbe }] } });
  await run.idle();
  const ready = (): boolean => status('web').containerStatuses[0].ready;
  expect([ready(), writesOf('web')]).toEqual([true, 1]);
  const disk = `${api.get(pods, 'ns', 'web').metadata.uid}/main`;
  const file = '/usr/local/apache2/htdocs/index.html';
  const write = async (removed: string[], uid = api.get(pods, 'ns', 'web').metadata.uid): Promise<void> => {
    disks.set(disk, { contents: new Map(), removed: new Set(removed) });
    disks.wrote({ namespace: 'ns', name: 'web', uid });
    await run.idle();
  };
  await write([file], 'of the pod before');
  await run.pass(60_000);
  expect(ready()).toBe(true);
  await write([file]);
  expect(ready()).toBe(true);
  await run.pass(5000);
  expect([ready(), status('web').conditions[1].status]).toEqual([false, 'False']);
  await write([]);
  await run.pass(5000);
  expect(ready()).toBe(true);
  expect(writesOf('web')).toBe(3);
  expect(reasons().filter((reason) => reason === 'Unhealthy')).toHaveLength(1);
});

test('a pod runs until its preStop commands are done, at most for its grace period', async () => {
  await start();
  const hook = (script: string): Loose => ({
    containers: [{ name: 'main', image: 'nginx', lifecycle: { preStop: { exec: { command: ['sh', '-c', script] } } } }],
  });
  pod('short', { spec: hook('sleep 5') });
  pod('endless', { spec: hook('while true; do echo x; sleep 1; done') });
  pod('unknown', { spec: hook('nginx -s quit') });
  await run.idle();
  const remove = (name: string): void => {
    const object = api.get(pods, 'ns', name);
    const deletionTimestamp = new Date(run.clock.now() + 30_000).toISOString();
    api.put(pods, { ...object, metadata: { ...object.metadata, deletionTimestamp, deletionGracePeriodSeconds: 30 } });
  };
  for (const name of ['short', 'endless', 'unknown']) remove(name);
  await run.idle();
  const left = (): string[] => api.all(pods).map(({ metadata }) => metadata.name);
  expect(left()).toEqual(['short', 'endless']);
  await run.pass(4999);
  expect(left()).toEqual(['short', 'endless']);
  await run.pass(1);
  expect([left(), status('endless').phase]).toEqual([['endless'], 'Running']);
  await run.pass(25_000);
  expect(left()).toEqual([]);
});

test('the leases of many nodes are spread over the interval', () => {
  expect([1, 10, 11, 100, 1000, 5000].map(partsOf)).toEqual([1, 1, 2, 10, 100, 100]);
});

test('there are as many nodes as the settings say after a restart, and the taint of new nodes goes', async () => {
  await start({ count: 3 });
  await run.stop();
  const tainted = api.get(nodes, '', 'node-0');
  api.put(nodes, { ...tainted, spec: { ...tainted.spec, taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] } });
  await start({ count: 2 });
  expect(api.all(nodes).map(({ metadata }) => metadata.name)).toEqual(['node-0', 'node-1']);
  expect(api.get(nodes, '', 'node-0').spec.taints).toBeUndefined();
});

test('a node with the annotation is simulated, others are not', async () => {
  await start({ count: 0 });
  api.put(nodes, { metadata: { name: 'mine', annotations: { [note('node')]: 'true' } }, spec: {} });
  api.put(nodes, { metadata: { name: 'real' }, spec: {} });
  await run.idle();
  expect(api.get(nodes, '', 'mine')).toMatchObject({
    metadata: { labels: { 'kubernetes.io/hostname': 'mine' } },
    spec: { podCIDR: '10.128.0.0/24' },
    status: { capacity: { pods: '110' } },
  });
  expect(api.get(nodes, '', 'real').status).toBeUndefined();
  pod('on-mine', { spec: { nodeName: 'mine' } });
  pod('on-real', { spec: { nodeName: 'real' } });
  pod('nowhere', { spec: { nodeName: '' } });
  await run.idle();
  expect(['on-mine', 'on-real', 'nowhere'].map((name) => status(name).phase)).toEqual(['Running', 'Pending', 'Pending']);
  expect(api.all(leases).map(({ metadata }) => metadata.name)).toEqual(['mine']);
});

test('a pod is ready after one write, with an address of its node and events', async () => {
  await start();
  pod('a');
  pod('host', { spec: { hostNetwork: true } });
  await run.idle();
  expect(status('a')).toMatchObject({ phase: 'Running', podIP: '10.128.0.2', hostIP: '172.16.0.2' });
  expect(status('host').podIP).toBe('172.16.0.2');
  expect(writesOf('a')).toBe(1);
  expect(reasons().slice(0, 3)).toEqual(['Pulled', 'Created', 'Started']);
  expect(api.all(events)[0]).toMatchObject({
    involvedObject: { kind: 'Pod', name: 'a', fieldPath: 'spec.containers{main}' },
    source: { component: 'kubelet', host: 'node-0' },
  });
});

test('no events, where the settings say so', async () => {
  await start({ count: 1, events: false });
  pod('a');
  await run.idle();
  expect(status('a').phase).toBe('Running');
  expect(api.all(events)).toEqual([]);
});

test('annotations of pods and namespaces choose life cycles', async () => {
  await start();
  api.put(namespaces, { metadata: { name: 'failing', annotations: { [note('crash-loop')]: 'true' } } });
  pod('slow', { metadata: { annotations: { [note('slow-pull')]: '30s' } } });
  pod('done', {
    metadata: { annotations: { [note('complete-after')]: '5s', [note('exit-code')]: '7' } },
    spec: { restartPolicy: 'Never' },
  });
  pod('crashing', { metadata: { namespace: 'failing' } });
  pod('wrong', { metadata: { annotations: { [note('slow-pull')]: 'soon' } } });
  await run.idle();
  expect(status('slow').phase).toBe('Pending');
  expect(status('done').phase).toBe('Running');
  expect(status('wrong').phase).toBe('Running');
  expect(reasons()).toContain('InvalidLifecycle');
  expect(api.get(pods, 'failing', 'crashing').status.containerStatuses[0]).toMatchObject({ restartCount: 1 });
  await run.pass(5000);
  expect(status('done')).toMatchObject({ phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 7 } } }] });
  await run.pass(25_000);
  expect(status('slow').phase).toBe('Running');
  expect(api.get(pods, 'failing', 'crashing').status.containerStatuses[0]).toMatchObject({ restartCount: 3 });
});

test('pods wait for config maps, secrets and claims, and start when these exist', async () => {
  await start();
  const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } }];
  pod('env', { spec: { containers: [{ name: 'main', image: 'x', env }] } });
  pod('mount', { spec: { volumes: [{ name: 'v', secret: { secretName: 'hidden' } }] } });
  pod('claim', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } });
  pod('optional', { spec: { volumes: [{ name: 'v', configMap: { name: 'none', optional: true } }] } });
  await run.idle();
  const waiting = (name: string) => status(name).containerStatuses[0].state.waiting;
  expect(waiting('env')).toEqual({ reason: 'CreateContainerConfigError', message: 'configmap "settings" not found' });
  expect(waiting('mount')).toEqual({ reason: 'ContainerCreating' });
  expect(waiting('claim')).toEqual({ reason: 'ContainerCreating' });
  expect(status('optional').phase).toBe('Running');
  expect(api.all(events).map(({ message }) => message)).toContain('MountVolume.SetUp failed for volume "v" : secret "hidden" not found');
  api.put(configMaps, { metadata: { name: 'settings', namespace: 'ns' }, data: { b: '1' } });
  api.put(secrets, { metadata: { name: 'hidden', namespace: 'ns' } });
  api.put(claims, { metadata: { name: 'data', namespace: 'ns' }, status: { phase: 'Pending' } });
  await run.idle();
  expect(waiting('env').message).toBe("couldn't find key a in ConfigMap ns/settings");
  expect(status('mount').phase).toBe('Running');
  expect(status('claim').phase).toBe('Pending');
  api.put(configMaps, { metadata: { name: 'settings', namespace: 'ns' }, data: { a: '1' } });
  api.put(claims, { metadata: { name: 'data', namespace: 'ns' }, status: { phase: 'Bound' } });
  await run.idle();
  expect(status('env').phase).toBe('Running');
  expect(status('claim').phase).toBe('Running');
});

const remove = (name: string, more: Loose = {}): void => {
  const found = api.get(pods, 'ns', name);
  api.put(pods, {
    ...found,
    metadata: { ...found.metadata, deletionTimestamp: '2024-01-01T00:00:30Z', deletionGracePeriodSeconds: 30, ...more },
  });
};

test('a deleted pod is gone at once, or after the time that it takes to stop, and never later than its grace period', async () => {
  await start();
  pod('quick');
  pod('slow', { metadata: { annotations: { [note('stop-after')]: '10s' } } });
  pod('stuck', { metadata: { annotations: { [note('stop-after')]: '5m' } } });
  await run.idle();
  for (const name of ['quick', 'slow', 'stuck']) remove(name);
  await run.idle();
  expect(api.get(pods, 'ns', 'quick')).toBeUndefined();
  expect(reasons()).toContain('Killing');
  await run.pass(10_000);
  expect(api.get(pods, 'ns', 'slow')).toBeUndefined();
  expect(status('stuck').phase).toBe('Running');
  await run.pass(20_000);
  expect(api.get(pods, 'ns', 'stuck')).toBeUndefined();
});

test('a simulated command has no handler for the signal that stops it: it runs for the grace period, or to its end', async () => {
  await start();
  const running = (name: string, command: string[], spec: Loose = {}, metadata: Loose = {}): Loose =>
    pod(name, {
      metadata: { finalizers: ['example.com/hold'], ...metadata },
      spec: { containers: [{ name: 'main', image: 'i', command }], ...spec },
    });
  running('sleep', ['sleep', '3600']);
  running('shell', ['sh', '-c', 'while true; do sleep 1; done']);
  running('short', ['sh', '-c', 'sleep 12; exit 5']);
  running('trap', ['sh', '-c', "trap 'exit 0' TERM; sleep 3600"]);
  running('ignores', ['sh', '-c', "trap '' TERM; sleep 3600"]);
  running('shared', ['sleep', '3600'], { shareProcessNamespace: true });
  running('server', ['/server']);
  running('script', ['sh', '-c', 'exec /server']);
  running('said', ['sleep', '3600'], {}, { annotations: { [note('stop-after')]: '1s' } });
  await run.idle();
  const names = api.all(pods).map(({ metadata }) => metadata.name);
  for (const name of names) remove(name);
  const stopped = (): Record<string, number> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const { terminated } = status(name).containerStatuses[0].state;
        return terminated === undefined ? [] : [[name, terminated.exitCode]];
      }),
    );
  await run.idle();
  expect(stopped()).toEqual({ trap: 0, shared: 0, server: 0, script: 0 });
  await run.pass(11_999);
  expect(stopped()).toEqual({ trap: 0, shared: 0, server: 0, script: 0, said: 0 });
  await run.pass(1);
  expect(stopped()).toMatchObject({ short: 5 });
  await run.pass(17_999);
  expect(Object.keys(stopped())).toHaveLength(6);
  await run.pass(1);
  expect(stopped()).toMatchObject({ sleep: 137, shell: 137, ignores: 137 });
});

test('a deletion without a grace period stops at once what would take its time', async () => {
  await start();
  pod('sleep', { spec: { containers: [{ name: 'main', image: 'i', command: ['sleep', '3600'] }] } });
  await run.idle();
  remove('sleep');
  await run.pass(1000);
  expect(status('sleep').phase).toBe('Running');
  remove('sleep', { deletionGracePeriodSeconds: 0 });
  await run.idle();
  expect(api.get(pods, 'ns', 'sleep')).toBeUndefined();
});

test('a container whose image is changed stops as a deleted one does, and starts again', async () => {
  await start();
  const containers = [
    { name: 'sleep', image: 'busybox:1', command: ['sleep', '3600'] },
    { name: 'server', image: 'app:1' },
  ];
  pod('changed', { spec: { containers, terminationGracePeriodSeconds: 5 } });
  await run.idle();
  const found = api.get(pods, 'ns', 'changed');
  const next = containers.map((one) => ({ ...one, image: one.image.replace('1', '2') }));
  api.put(pods, { ...found, spec: { ...found.spec, containers: next } });
  await run.idle();
  const images = (): string[] => status('changed').containerStatuses.map(({ image, restartCount }: Loose) => `${image} ${restartCount}`);
  expect(images()).toEqual(['busybox:1 0', 'app:2 1']);
  await run.pass(5000);
  expect(images()).toEqual(['busybox:2 1', 'app:2 1']);
  const ends = status('changed').containerStatuses.map(({ lastState }: Loose) => lastState.terminated.exitCode);
  expect(ends).toEqual([137, 0]);
  expect(reasons().filter((reason) => reason === 'Killing')).toHaveLength(2);
});

const messageOf = (name: string, at = 0): string | undefined => status(name).containerStatuses[at].state.terminated.message;
const script = (text: string, more: Loose = {}): Loose => ({
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', text], ...more }] },
});

test('a termination message is what a container wrote to its file, when it exits or is stopped', async () => {
  await start();
  pod('usual', script('printf done > /dev/termination-log'));
  pod('failed', script('echo broken > /dev/termination-log; exit 2'));
  pod('path', script('echo x > /dev/termination-log; echo -n there > /run/message', { terminationMessagePath: '/run/message' }));
  pod('none', script('echo x; exit 1'));
  pod('stopped', {
    ...script('echo -n one > /dev/termination-log; sleep 5; echo -n two > /dev/termination-log; sleep 60'),
    metadata: { finalizers: ['a/b'] },
  });
  await run.pass(1000);
  expect(['usual', 'failed', 'path', 'none'].map((name) => messageOf(name))).toEqual(['done', 'broken\n', 'there', undefined]);
  expect(status('failed').containerStatuses[0].state.terminated).toMatchObject({ exitCode: 2, reason: 'Error' });
  remove('stopped', { deletionGracePeriodSeconds: 3 });
  await run.pass(3000);
  expect(status('stopped').containerStatuses[0].state.terminated).toMatchObject({ exitCode: 137, message: 'one' });
});

test('the end of the log is the message of a container that failed without one, where it says so', async () => {
  await start();
  const fallback = { terminationMessagePolicy: 'FallbackToLogsOnError' };
  pod('log', script('echo first; sleep 1; echo last; exit 1', fallback));
  pod('file', script('echo log; echo file > /dev/termination-log; exit 1', fallback));
  pod('succeeded', script('echo log', fallback));
  pod('long', script('for i in $(seq 1 200); do echo line $i; done; exit 1', fallback));
  pod('wide', script(`echo ${'x'.repeat(5000)}; exit 1`, fallback));
  pod('annotated', {
    metadata: { annotations: { [note('logs')]: 'from annotation', [note('fail')]: 'true' } },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app', ...fallback }] },
  });
  await run.pass(2000);
  expect(['log', 'file', 'succeeded', 'annotated'].map((name) => messageOf(name))).toEqual([
    'first\nlast\n',
    'file\n',
    undefined,
    'from annotation\n',
  ]);
  const lines = (messageOf('long') ?? '').split('\n');
  expect([lines.length, lines[0], lines.at(-2)]).toEqual([81, 'line 121', 'line 200']);
  expect(messageOf('wide')).toBe(`${'x'.repeat(2047)}\n`);
});

test('termination messages are bounded: 4096 bytes from the end, and 12 KiB for all containers of a pod', async () => {
  await start();
  pod('one', script(`printf a%s ${'ä'.repeat(2048)} > /dev/termination-log`));
  const write = { image: 'busybox', command: ['sh', '-c', `printf %s b${'c'.repeat(5000)} > /dev/termination-log`] };
  const containers = Array.from({ length: 6 }, (_, i) => ({ name: `c${i}`, ...write }));
  pod('many', {
    spec: {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'init', ...write },
        { name: 'more', ...write },
      ],
      containers,
    },
  });
  await run.idle();
  expect(messageOf('one')).toBe('ä'.repeat(2048));
  const { initContainerStatuses, containerStatuses } = status('many');
  const sizes = [...initContainerStatuses, ...containerStatuses].map(({ state }) => state.terminated.message.length);
  expect(sizes).toEqual(Array.from({ length: 8 }, () => 1536));
  expect(containerStatuses[0].state.terminated.message).toBe('c'.repeat(1536));
});

test('annotations and life cycles say what the termination messages are, for each container', async () => {
  await start();
  const results = '[{"key":"digest","value":"sha256:0","type":1}]';
  const annotations = {
    [note('termination-message.step-build')]: results,
    [note('termination-message.prepare')]: 'prepared',
    [note('termination-message')]: 'other',
  };
  const spec = {
    restartPolicy: 'Never',
    initContainers: [{ name: 'prepare', image: 'entrypoint' }],
    containers: [
      { name: 'step-build', image: 'app' },
      { name: 'step-test', image: 'busybox', command: ['sh', '-c', 'echo own > /dev/termination-log'] },
    ],
  };
  pod('task', { metadata: { annotations }, spec });
  await run.pass(200);
  expect([status('task').phase, messageOf('task', 0), messageOf('task', 1)]).toEqual(['Succeeded', results, 'other']);
  expect(status('task').initContainerStatuses[0].state.terminated).toMatchObject({ exitCode: 0, message: 'prepared' });
});

test('commands see the config maps and secrets of their pod, and what others left in its volumes', async () => {
  api.put(configMaps, { metadata: { name: 'settings', namespace: 'ns' }, data: { mode: 'fast', 'run.conf': 'port=80\n' } });
  api.put(secrets, { metadata: { name: 'hidden', namespace: 'ns' }, data: { password: Buffer.from('secret').toString('base64') } });
  await start();
  const volumes = [
    { name: 'config', configMap: { name: 'settings' } },
    { name: 'work', emptyDir: {} },
  ];
  pod('reads', {
    spec: {
      restartPolicy: 'Never',
      volumes,
      initContainers: [
        {
          name: 'init',
          image: 'busybox',
          command: [
            'sh',
            '-c',
            '[ "$PASSWORD" = secret ] && mkdir -p /out/sub && cp /config/run.conf /out/sub/ && echo $MODE >> /out/sub/run.conf',
          ],
          env: [
            { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'settings', key: 'mode' } } },
            { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'hidden', key: 'password' } } },
          ],
          volumeMounts: [
            { name: 'config', mountPath: '/config' },
            { name: 'work', mountPath: '/out' },
          ],
        },
      ],
      containers: [
        {
          name: 'main',
          image: 'busybox',
          workingDir: '/in/sub',
          command: ['sh', '-c', 'cat run.conf > /dev/termination-log'],
          volumeMounts: [{ name: 'work', mountPath: '/in' }],
        },
      ],
    },
  });
  const failing = {
    name: 'main',
    image: 'app',
    command: ['cat', '/config/none'],
    volumeMounts: [{ name: 'config', mountPath: '/config' }],
  };
  pod('fails', { spec: { restartPolicy: 'Never', volumes, containers: [failing] } });
  await run.idle();
  expect([status('reads').phase, messageOf('reads')]).toEqual(['Succeeded', 'port=80\nfast\n']);
  // All is known of a config map: a key that it does not have is missing.
  expect(status('fails').phase).toBe('Failed');
});

test('a pod with a finalizer is stopped, and deleted only once', async () => {
  await start();
  pod('held', { metadata: { finalizers: ['example.com/hold'] }, spec: { restartPolicy: 'Never' } });
  await run.idle();
  remove('held');
  await run.idle();
  expect(status('held')).toMatchObject({
    phase: 'Failed',
    containerStatuses: [{ ready: false, state: { terminated: { exitCode: 143 } } }],
  });
  const deletes = (): number => api.calls.filter((call) => call === 'DELETE /api/v1/namespaces/ns/pods/held').length;
  expect(deletes()).toBe(1);
  remove('held', { deletionGracePeriodSeconds: 0 });
  await run.pass(60_000);
  expect(deletes()).toBe(1);
});

test('a deleted pod frees its address', async () => {
  await start({ count: 1, capacity: { pods: '200' } });
  // A scheduler has bound more than fit.
  const bound = { status: { conditions: [{ type: 'PodScheduled', status: 'True' }] } };
  for (let i = 0; i < 253; i++) pod(`p${i}`, bound);
  await run.idle();
  pod('last', bound);
  await run.idle();
  expect(status('last').containerStatuses[0].state.waiting.reason).toBe('ContainerCreating');
  expect(reasons()).toContain('FailedCreatePodSandBox');
  remove('p7');
  await run.idle();
  api.put(pods, { ...api.get(pods, 'ns', 'last') });
  await run.idle();
  expect(status('last').phase).toBe('Running');
});

test('a pod that is active too long fails', async () => {
  await start();
  pod('late', { spec: { activeDeadlineSeconds: 20 } });
  await run.pass(19_000);
  expect(status('late').phase).toBe('Running');
  await run.pass(1000);
  expect(status('late')).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
});

test('a node that is down does nothing until it returns', async () => {
  await start();
  const setDown = (value: string): void => {
    const node = api.get(nodes, '', 'node-0');
    api.put(nodes, { ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, [note('down')]: value } } });
  };
  setDown('true');
  const renewed = api.get(leases, 'kube-node-lease', 'node-0').spec.renewTime;
  pod('waiting');
  await run.pass(60_000);
  expect(api.get(leases, 'kube-node-lease', 'node-0').spec.renewTime).toBe(renewed);
  expect(status('waiting').phase).toBe('Pending');
  const node = api.get(nodes, '', 'node-0');
  api.put(nodes, { ...node, status: { ...node.status, conditions: [{ type: 'Ready', status: 'Unknown' }] } });
  setDown('false');
  await run.idle();
  expect(status('waiting').phase).toBe('Running');
  expect(api.get(leases, 'kube-node-lease', 'node-0').spec.renewTime > renewed).toBe(true);
  expect(api.get(nodes, '', 'node-0').status.conditions.find((one: Loose) => one.type === 'Ready').status).toBe('True');
});

test('where the leases are watched in the same process they are renewed rarely, and a node that is down is noticed as usual', async () => {
  run = runControllers(api, [nodeLifecycleController, simulatedNodes({ count: 2, kinds: false, metrics: false })]);
  await run.idle();
  await run.pass(0);
  const before = api.calls.length;
  await run.pass(600_000);
  expect(api.calls.slice(before).filter((call) => call.includes('/leases/'))).toEqual([]);
  await run.pass(300_000);
  const node = api.get(nodes, '', 'node-0');
  api.put(nodes, { ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, [note('down')]: 'true' } } });
  const ready = (name: string): unknown => api.get(nodes, '', name).status.conditions.find((one: Loose) => one.type === 'Ready').status;
  await run.pass(39_999);
  expect([ready('node-0'), ready('node-1')]).toEqual(['True', 'True']);
  await run.pass(1);
  expect([ready('node-0'), ready('node-1')]).toEqual(['Unknown', 'True']);
});

test('a restart goes on where the pods are, without another write', async () => {
  await start();
  pod('a');
  pod('b', { metadata: { annotations: { [note('complete-after')]: '1h' } }, spec: { restartPolicy: 'Never' } });
  await run.idle();
  await run.stop();
  const before = writesOf('a') + writesOf('b');
  await start();
  pod('c');
  await run.pass(1000);
  expect(writesOf('a') + writesOf('b')).toBe(before);
  expect(status('c').podIP).not.toBe(status('a').podIP);
  expect(status('c').podIP).not.toBe(status('b').podIP);
  await run.pass(3_600_000);
  expect(status('b').phase).toBe('Succeeded');
});

test('a pod that names its node and does not fit fails, and the next one fits once there is room', async () => {
  await start({ count: 1, capacity: { cpu: '4' } });
  const port = { spec: { containers: [{ name: 'main', image: 'i', ports: [{ containerPort: 80, hostPort: 8080 }] }] } };
  const cpu = (amount: string) => ({ spec: { containers: [{ name: 'main', image: 'i', resources: { requests: { cpu: amount } } }] } });
  pod('first', port);
  await run.idle();
  pod('second', port);
  pod('half', cpu('3'));
  await run.idle();
  pod('more', cpu('2'));
  pod('elsewhere', { spec: { nodeSelector: { zone: 'x' } } });
  await run.idle();
  expect(status('first').phase).toBe('Running');
  expect(status('second')).toMatchObject({ phase: 'Failed', reason: 'NodePorts', message: 'Pod Predicate NodePorts failed' });
  expect(status('half').phase).toBe('Running');
  expect(status('more')).toMatchObject({
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: "Pod Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  });
  expect(status('elsewhere')).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
  expect(reasons()).toEqual(expect.arrayContaining(['NodePorts', 'OutOfcpu', 'NodeAffinity']));
  api.put(pods, { ...api.get(pods, 'ns', 'first'), status: { phase: 'Succeeded' } });
  await run.idle();
  pod('third', port);
  await run.idle();
  expect(status('third').phase).toBe('Running');
});
