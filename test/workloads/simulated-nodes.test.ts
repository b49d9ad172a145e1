/** Pods on simulated nodes through the API: phases, logs, exec, attach, port-forward and proxies, with the stock client and with plat. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', workloads: ['nodes'], simulatedNodes: 2, simulatedNodesForwardLocal: true });
  ns = await server.namespace();
});
afterAll(async () => {
  expect(server.errors).toEqual([]);
  await server.close();
});

const podsPath = (): string => `/api/v1/namespaces/${ns}/pods`;
const note = (name: string): string => `simulation.kubernetes.io/${name}`;

/** The object when it is as the test wants it. */
async function when(path: string, name: string, holds: (object: Loose) => boolean): Promise<Loose> {
  const watch = await server.admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3D${name}`);
  try {
    for (;;) {
      const { object } = await watch.next();
      if (holds(object)) return object;
    }
  } finally {
    watch.close();
  }
}
const isRunning = (pod: Loose): boolean =>
  pod.status.phase === 'Running' && pod.status.conditions.some((one: Loose) => one.type === 'Ready' && one.status === 'True');

/** A pod that is bound to a node by its author. */
async function make(name: string, { metadata = {}, spec = {}, container = {} }: Loose = {}, holds = isRunning): Promise<Loose> {
  await server.admin.ok('POST', podsPath(), {
    metadata: { name, ...metadata },
    spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'nginx', ...container }], ...spec },
  });
  return when(podsPath(), name, holds);
}

test('nodes are ready, and a pod runs with an address of its node', async () => {
  await when('/api/v1/nodes', 'node-1', (node) =>
    node.status.conditions?.some((one: Loose) => one.type === 'Ready' && one.status === 'True'),
  );
  const pod = await make('first');
  expect(pod.status).toMatchObject({
    phase: 'Running',
    podIP: expect.stringMatching(/^10\.128\./),
    hostIP: expect.stringMatching(/^172\.16\./),
  });
  await server.admin.delete(`${podsPath()}/first`);
  const watch = await server.admin.watch(`${podsPath()}?watch=1&fieldSelector=metadata.name%3Dfirst`);
  while ((await server.admin.get(`${podsPath()}/first`)).status !== 404) await watch.next();
  watch.close();
});

test('proxied requests get the name of the pod, where something listens', async () => {
  await make('named');
  const answer = await server.admin.get(`${podsPath()}/named:80/proxy/any?x=1`);
  expect([answer.status, answer.text]).toEqual([200, 'named']);
  const refused = await server.admin.get(`${podsPath()}/named:81/proxy/`);
  expect([refused.status, refused.json.message]).toEqual([
    503,
    expect.stringMatching(/dial tcp 10\.128\.\d+\.\d+:81: connect: connection refused$/),
  ]);
  expect((await server.admin.get('/api/v1/nodes/node-0/proxy/healthz')).text).toBe('ok');
  const ofNode = async (node: string): Promise<Loose[]> => (await server.admin.ok('GET', `/api/v1/nodes/${node}/proxy/pods`)).items;
  expect((await ofNode('node-0:10250')).map(({ metadata }) => metadata.name)).toContain('named');
  expect(await ofNode('node-1')).toEqual([]);
});

test('annotations of the namespace lead ports of its pods, and are their logs', async () => {
  const local = createHttpServer((_req, res) => void res.end('local'));
  const port = await new Promise<number>((resolve) =>
    local.listen(0, '127.0.0.1', () => resolve((local.address() as { port: number }).port)),
  );
  try {
    const annotations = { [note('port-forward')]: `81=127.0.0.1:${port}`, [note('logs')]: 'of the namespace' };
    await server.admin.patch(`/api/v1/namespaces/${ns}`, { metadata: { annotations } });
    await make('led');
    await make('own', { metadata: { annotations: { [note('logs.main')]: 'of the pod' } } });
    expect((await server.admin.get(`${podsPath()}/led:81/proxy/`)).text).toBe('local');
    expect((await server.admin.get(`${podsPath()}/led/log`)).text).toBe('of the namespace\n');
    expect((await server.admin.get(`${podsPath()}/own/log`)).text).toBe('of the pod\n');
  } finally {
    local.close();
    const annotations = { [note('port-forward')]: null, [note('logs')]: null };
    await server.admin.patch(`/api/v1/namespaces/${ns}`, { metadata: { annotations } });
  }
});

test('containers know the name servers, and probes and logs see what init containers left', async () => {
  const volumeMounts = [{ name: 'work', mountPath: '/work' }];
  await make('files', {
    spec: {
      volumes: [{ name: 'work', emptyDir: {} }],
      initContainers: [
        { name: 'init', image: 'busybox', command: ['sh', '-c', 'mkdir /work/sub; echo hello > /work/sub/a'], volumeMounts },
      ],
    },
    container: { command: ['sh', '-c', 'cat /work/sub/a /etc/resolv.conf; sleep infinity'], volumeMounts },
  });
  const log = await server.admin.get(`${podsPath()}/files/log`);
  expect(log.text).toBe(`hello\nsearch ${ns}.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.0.0.10\noptions ndots:5\n`);
  await server.admin.ok('DELETE', `${podsPath()}/files?gracePeriodSeconds=0`);
});

test('the agent of a node knows the pods of this node only, and refuses what it cannot read', async () => {
  await make('there');
  const asked = async (node: string, path: string): Promise<string> => {
    const { status, text } = await server.admin.get(`/api/v1/nodes/${node}/proxy/${path}`);
    return `${status} ${text}`;
  };
  const logs = `containerLogs/${ns}/there/main`;
  expect(await asked('node-0', logs)).toMatch(/^200 simulated container main/);
  expect(await asked('node-1', logs)).toBe(`404 pod "there_${ns}" not found`);
  expect(await asked('node-0', `${logs}/more`)).toBe('404 page not found');
  for (const wrong of ['tailLines=x', 'tailLines=-1', 'limitBytes=0', 'sinceSeconds=1e3', 'sinceTime=soon'])
    expect(await asked('node-0', `${logs}?${wrong}`)).toMatch(/^400 /);
  expect(await asked('node-0', `containerLogs/${ns}/%zz/main`)).toBe('400 "%zz" is not encoded as a part of a path is');
});

test('a life cycle whose delays are none is refused', async () => {
  const group = 'simulation.k8s.io/v1alpha1';
  const answers = async (...delays: string[]): Promise<number[]> => {
    const found: number[] = [];
    for (const delay of delays) {
      const spec = { namespaces: ['none'], stages: [{ stage: 'ready', delay }] };
      const body = { apiVersion: group, kind: 'PodLifecycle', metadata: { generateName: 'd-' }, spec };
      found.push((await server.admin.post(`/apis/${group}/podlifecycles`, body)).status);
    }
    return found;
  };
  await when('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', `podlifecycles.${group.split('/')[0]}`, ({ status }) =>
    status.conditions?.some((one: Loose) => one.type === 'Established' && one.status === 'True'),
  );
  expect(await answers('-1s', '1d', '5', '', '99999999999999999999h', `${'99999h'.repeat(30)}`)).toEqual(Array(6).fill(422));
  expect(await answers('0', '1.5s', '1h30m5s', '250ms')).toEqual(Array(4).fill(201));
});

test('containers have tokens of their service account, and know the services', async () => {
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  const token = { serviceAccountToken: { path: 'token', audience: 'there' } };
  await make('account', {
    spec: { volumes: [{ name: 'v', projected: { sources: [token] } }] },
    container: {
      command: ['sh', '-c', 'cat /run/v/token; echo; echo $KUBERNETES_SERVICE_PORT $WEB_SERVICE_PORT; sleep 100000'],
      volumeMounts: [{ name: 'v', mountPath: '/run/v' }],
    },
  });
  const [written, ports] = (await server.admin.get(`${podsPath()}/account/log`)).text.split('\n');
  expect(ports).toBe('443 80');
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: written, audiences: ['there'] } };
  const { status } = await server.admin.ok('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review);
  expect(status).toMatchObject({ authenticated: true, user: { username: `system:serviceaccount:${ns}:default` } });
});

test('logs: of the command, of an annotation, of a container that waits', async () => {
  await make('talks', { container: { command: ['sh', '-c', 'echo one; echo two; echo three; sleep 100000'] } });
  const log = async (query = ''): Promise<string> => (await server.admin.get(`${podsPath()}/talks/log${query}`)).text;
  expect(await log()).toBe('one\ntwo\nthree\n');
  expect(await log('?tailLines=1')).toBe('three\n');
  expect(await log('?limitBytes=5')).toBe('one\nt');
  expect(await log('?timestamps=true&tailLines=1')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z three\n$/);
  const previous = await server.admin.get(`${podsPath()}/talks/log?previous=true`);
  expect([previous.status, previous.json.message]).toEqual([400, 'previous terminated container "main" in pod "talks" not found']);
  await make('noted', { metadata: { annotations: { [note('logs')]: 'from the annotation' } } });
  expect((await server.admin.get(`${podsPath()}/noted/log`)).text).toBe('from the annotation\n');
  const waits = { metadata: { annotations: { [note('slow-pull')]: '1h' } } };
  await make('waits', waits, (pod) => pod.status.containerStatuses !== undefined);
  const answer = await server.admin.get(`${podsPath()}/waits/log`);
  expect([answer.status, answer.json.message]).toEqual([400, 'container "main" in pod "waits" is waiting to start: ContainerCreating']);
});

test('a followed log ends with the container', async () => {
  await make('ends', {
    metadata: { annotations: { [note('complete-after')]: '1s', [note('logs')]: 'line' } },
    spec: { restartPolicy: 'Never' },
  });
  expect((await server.admin.get(`${podsPath()}/ends/log?follow=true`)).text).toBe('line\n');
});

test('the metrics API has the usage of nodes and pods', async () => {
  const annotations = { [note('usage.cpu')]: '250m', [note('usage.memory')]: '64Mi' };
  await make('measured', { metadata: { annotations, labels: { app: 'measured' } } });
  const metrics = '/apis/metrics.k8s.io/v1beta1';
  expect((await server.admin.ok('GET', metrics)).resources.map((one: Loose) => one.name)).toEqual(['nodes', 'pods']);
  const list = await server.admin.ok('GET', `${metrics}/namespaces/${ns}/pods?labelSelector=app%3Dmeasured`);
  expect(list).toMatchObject({
    kind: 'PodMetricsList',
    items: [
      { metadata: { name: 'measured' }, window: '15s', containers: [{ name: 'main', usage: { cpu: '250000000n', memory: '65536Ki' } }] },
    ],
  });
  expect(await server.admin.ok('GET', `${metrics}/namespaces/${ns}/pods/measured`)).toMatchObject({ kind: 'PodMetrics' });
  expect((await server.admin.ok('GET', `${metrics}/nodes`)).items.map((one: Loose) => one.metadata.name)).toEqual(['node-0', 'node-1']);
  expect((await server.admin.get(`${metrics}/nodes/none`)).json).toMatchObject({ kind: 'Status', code: 404, reason: 'NotFound' });
  expect((await server.admin.get(`${metrics}/namespaces/${ns}/pods/none`)).status).toBe(404);
  // A container that waits for its restart uses nothing.
  const isWaiting = (pod: Loose): boolean => pod.status.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff';
  await make('crashing', { metadata: { annotations: { [note('crash-loop')]: 'true' } } }, isWaiting);
  expect((await server.admin.get(`${metrics}/namespaces/${ns}/pods/crashing`)).status).toBe(404);
  expect((await server.admin.post(`${metrics}/nodes`, {})).status).toBe(405);
  expect((await server.bob.get(`${metrics}/nodes`)).status).toBe(403);
  const table = await server.admin.send('GET', `${metrics}/nodes`, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
  expect(table.json).toMatchObject({
    kind: 'Table',
    rows: [{ cells: ['node-0', expect.stringMatching(/n$/), expect.stringMatching(/Ki$/), '15s'] }, {}],
  });
  const plat = platFor(server);
  expect(await plat.ok(['top', 'pod', '-n', ns, 'measured'])).toMatch(/measured\s+250m\s+64Mi/);
  expect(await plat.ok(['top', 'node'])).toMatch(/node-0\s+\d+m/);
});

describe('API servers in simulated pods', () => {
  const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
  const apiService = (group: string, service: string): Loose => ({
    metadata: { name: `v1beta1.${group}`, labels: { 'app.kubernetes.io/managed-by': 'Helm' } },
    spec: {
      group,
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: service, namespace: ns, port: 443 },
    },
  });
  const service = (name: string): Promise<Loose> =>
    server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, {
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ name: 'https', port: 443, targetPort: 'https' }] },
    });
  const server443 = { ports: [{ name: 'https', containerPort: 10250 }] };
  const available = (group: string, value: string): Promise<Loose> =>
    when(apiServices, `v1beta1.${group}`, ({ status }) =>
      status?.conditions?.some((one: Loose) => one.type === 'Available' && one.status === value),
    );
  const status = async (path: string): Promise<number> => (await server.admin.get(path)).status;

  test('the metrics API needs no APIService, so that the chart of a metrics server can bring its own', async () => {
    const metrics = '/apis/metrics.k8s.io/v1beta1';
    expect(await status(`${apiServices}/v1beta1.metrics.k8s.io`)).toBe(404);
    const groups = async (): Promise<string[]> => (await server.admin.ok('GET', '/apis')).groups.map(({ name }: Loose) => name);
    expect(await groups()).toContain('metrics.k8s.io');
    expect(await status(`${metrics}/nodes`)).toBe(200);
    expect(await status('/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader')).toBe(404);
    await service('metrics-server');
    await server.admin.ok('POST', apiServices, apiService('metrics.k8s.io', 'metrics-server'));
    // It is that server which has to answer, as long as it does not run.
    await available('metrics.k8s.io', 'False');
    expect([await status(`${metrics}/nodes`), (await groups()).filter((name) => name === 'metrics.k8s.io')]).toEqual([
      503,
      ['metrics.k8s.io'],
    ]);
    await make('metrics-server', { metadata: { labels: { app: 'metrics-server' } }, container: server443 });
    await available('metrics.k8s.io', 'True');
    expect((await server.admin.ok('GET', `${metrics}/nodes`)).items).toHaveLength(2);
    await server.admin.ok('DELETE', `${apiServices}/v1beta1.metrics.k8s.io`);
    await expect.poll(() => status(`${metrics}/nodes`)).toBe(200);
  });

  test('another one is available, and has no resources', async () => {
    const custom = '/apis/custom.example.com/v1beta1';
    await service('adapter');
    await make('adapter', { metadata: { labels: { app: 'adapter' } }, container: server443 });
    await server.admin.ok('POST', apiServices, apiService('custom.example.com', 'adapter'));
    await available('custom.example.com', 'True');
    expect(await server.admin.ok('GET', custom)).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'custom.example.com/v1beta1',
      resources: [],
    });
    expect(await status(`${custom}/things`)).toBe(404);
    await server.admin.ok('DELETE', `${apiServices}/v1beta1.custom.example.com`);
  });
});

test('pools of nodes and life cycles of pods are objects', async () => {
  const group = '/apis/simulation.k8s.io/v1alpha1';
  const apiVersion = 'simulation.k8s.io/v1alpha1';
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  for (const name of ['nodepools', 'podlifecycles'])
    await when(definitions, `${name}.simulation.k8s.io`, ({ status }) =>
      status?.conditions?.some((one: Loose) => one.type === 'Established' && one.status === 'True'),
    );
  const taints = [{ key: 'only', value: 'big', effect: 'NoSchedule' }];
  await server.admin.ok('POST', `${group}/nodepools`, {
    apiVersion,
    kind: 'NodePool',
    metadata: { name: 'big' },
    spec: { count: 2, labels: { size: 'big' }, taints, capacity: { cpu: '64', pods: '500' }, zones: ['a', 'b'] },
  });
  await when(`${group}/nodepools`, 'big', ({ status }) => status?.ready === 2);
  expect(await server.admin.ok('GET', '/api/v1/nodes/big-1')).toMatchObject({
    metadata: { labels: { size: 'big', 'topology.kubernetes.io/zone': 'b' } },
    spec: { podCIDR: expect.stringMatching(/\/23$/), taints: expect.arrayContaining(taints) },
    status: { capacity: { cpu: '64', pods: '500', memory: '256Gi' } },
  });
  const wrong: Loose[] = [
    { count: -1 },
    { count: 1, capacity: { cpu: 'lots' } },
    { count: 1, labels: { size: 'very big' } },
    { count: 1, taints: [{ key: 'a b', effect: 'NoSchedule' }] },
    { count: 1, zones: ['a b'] },
  ];
  for (const spec of wrong)
    expect(
      (await server.admin.post(`${group}/nodepools`, { apiVersion, kind: 'NodePool', metadata: { name: 'wrong' }, spec })).status,
    ).toBe(422);
  await server.admin.patch(`${group}/nodepools/big`, { spec: { count: 1 } });
  await when(`${group}/nodepools`, 'big', ({ status }) => status?.nodes === 1);
  await server.admin.ok('POST', `${group}/podlifecycles`, {
    apiVersion,
    kind: 'PodLifecycle',
    metadata: { name: 'failing' },
    spec: { selector: { matchLabels: { app: 'failing' } }, stages: [{ stage: 'exit', exitCode: 9 }] },
  });
  const labels = { app: 'failing' };
  const isFailed = (pod: Loose): boolean => pod.status.phase === 'Failed';
  // The object may arrive after the first pod: only one that runs already changes with it.
  const failed = await make('by-lifecycle', { metadata: { labels }, spec: { nodeName: 'big-0', restartPolicy: 'Never' } }, isFailed);
  expect(failed.status.containerStatuses[0].state.terminated.exitCode).toBe(9);
});

test('nodes have storage of their own, for the volume controller of a stock controller manager', async () => {
  await when('/apis/storage.k8s.io/v1/storageclasses', 'standard', ({ provisioner }) => provisioner === 'simulated.storage.k8s.io');
  const { metadata } = await server.admin.ok('POST', `/api/v1/namespaces/${ns}/persistentvolumeclaims`, {
    metadata: { name: 'data', annotations: { 'volume.kubernetes.io/storage-provisioner': 'simulated.storage.k8s.io' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'standard', resources: { requests: { storage: '1Gi' } } },
  });
  const volume = await when('/api/v1/persistentvolumes', `pvc-${metadata.uid}`, ({ spec }) => spec !== undefined);
  expect(volume.spec).toMatchObject({ claimRef: { name: 'data' }, csi: { driver: 'simulated.storage.k8s.io' } });
});

describe('plat', () => {
  test('exec and logs', async () => {
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'settings' }, data: { colour: 'blue' } });
    await make('tools', {
      spec: { volumes: [{ name: 'v', configMap: { name: 'settings' } }] },
      container: { env: [{ name: 'A', value: '1' }], volumeMounts: [{ name: 'v', mountPath: '/etc/settings' }] },
    });
    const plat = platFor(server);
    const exec = (...command: string[]) => plat.run(['exec', '-n', ns, 'tools', '--', ...command]);
    expect(await exec('cat', '/etc/settings/colour')).toMatchObject({ code: 0, stdout: 'blue' });
    expect(await exec('sh', '-c', 'echo $A; echo oops >&2; exit 4')).toMatchObject({ code: 4, stdout: '1\n', stderr: 'oops\n' });
    expect(await exec('nginx')).toMatchObject({ code: 127 });
    const long = 'a'.repeat(20_000);
    expect(await exec('echo', long)).toMatchObject({ code: 0, stdout: `${long}\n` });
    expect(await plat.ok(['logs', '-n', ns, 'tools'])).toContain('simulated container main');
  });

  test('a pod is not ready when exec moved the file that its readiness probe asks for', async () => {
    const readinessProbe = { httpGet: { path: '/index.html', port: 80 }, initialDelaySeconds: 600, failureThreshold: 1 };
    await make('moved', { container: { image: 'httpd', readinessProbe } });
    const moved = await platFor(server).run(['exec', '-n', ns, 'moved', '--', 'mv', '/usr/local/apache2/htdocs/index.html', '/tmp/']);
    expect(moved).toMatchObject({ code: 0 });
    await when(podsPath(), 'moved', (pod) => !isRunning(pod));
  });

  test('a container to which a client is attached exits with its command', async () => {
    const plat = platFor(server);
    const script = `echo -n read: && cat && echo 'stdin closed' && exit 3`;
    const arguments_ = ['run', 'attached', '-n', ns, '--image=busybox', '--restart=Never', '--attach', '--stdin', '--', 'sh', '-c', script];
    arguments_.splice(2, 0, `--overrides=${JSON.stringify({ spec: { nodeName: 'node-0' } })}`);
    const ran = await plat.run(arguments_);
    expect(ran).toMatchObject({ code: 3, stdout: 'read:stdin closed\n' });
    const pod = await when(podsPath(), 'attached', ({ status }) => status.phase === 'Failed');
    expect(pod.status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
    expect(await plat.ok(['logs', '-n', ns, 'attached'])).toBe('read:stdin closed\n');
  });

  test('files are copied both ways, also those that the command of the container made', async () => {
    await make('copies', { container: { command: ['sh', '-c', 'mkdir /data; echo made > /data/a; sleep 100000'] } });
    const plat = platFor(server);
    const directory = temporaryDirectory('plat-cp');
    await plat.ok(['cp', '-n', ns, 'copies:/data/a', join(directory, 'a')]);
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('made\n');
    const bytes = randomBytes(100_000);
    writeFileSync(join(directory, 'b'), bytes);
    await plat.ok(['cp', '-n', ns, join(directory, 'b'), 'copies:/tmp/b']);
    await plat.ok(['cp', '-n', ns, 'copies:/tmp/b', join(directory, 'c')]);
    expect(readFileSync(join(directory, 'c')).equals(bytes)).toBe(true);
  });
});

describe.skipIf(kubectlMissing !== undefined)('kubectl', () => {
  test.each([
    ['WebSocket', 'true'],
    ['SPDY', 'false'],
  ])('exec over %s with output, errors, exit codes and input', async (protocol, websockets) => {
    const name = `stock-${protocol.toLowerCase()}`;
    await make(name);
    const kubectl = kubectlFor(server, { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: websockets });
    const exec = (...command: string[]) => kubectl.run(['exec', '-n', ns, name, '--', ...command]);
    expect(await exec('sh', '-c', 'echo out; echo err >&2; exit 3')).toMatchObject({
      code: 3,
      stdout: 'out\n',
      stderr: expect.stringContaining('err\n'),
    });
    expect(await kubectl.run(['exec', '-i', '-n', ns, name, '--', 'cat'], 'a\nb\n')).toMatchObject({ code: 0, stdout: 'a\nb\n' });
    expect(await kubectl.ok(['logs', '-n', ns, name])).toContain('simulated container main');
  });

  test('port-forward echoes, or leads to an address of this machine that an annotation names', async () => {
    const echo = createServer((socket) => void socket.once('data', (chunk) => socket.end(`local ${chunk}`)));
    const local = await new Promise<number>((resolve) =>
      echo.listen(0, '127.0.0.1', () => resolve((echo.address() as { port: number }).port)),
    );
    await make('ports', { metadata: { annotations: { [note('port-forward')]: `81=127.0.0.1:${local}` } } });
    const { process: child, line } = kubectlFor(server).start(['port-forward', '-n', ns, 'pod/ports', ':80', ':81']);
    try {
      const ports = await Promise.all(
        [/127\.0\.0\.1:(\d+) -> 80/, /127\.0\.0\.1:(\d+) -> 81/].map(async (one) => Number(one.exec(await line(one))?.[1])),
      );
      const { connect } = await import('node:net');
      const answers = await Promise.all(
        ports.map(
          (port) =>
            new Promise<string>((resolve, reject) => {
              let text = '';
              const socket = connect(port, '127.0.0.1', () => socket.write('hello'));
              socket.on('data', (chunk) => {
                text += chunk;
                socket.end();
              });
              socket.on('close', () => resolve(text));
              socket.on('error', reject);
            }),
        ),
      );
      expect(answers).toEqual(['hello', 'local hello']);
    } finally {
      child.kill('SIGKILL');
      echo.close();
    }
  });
});
