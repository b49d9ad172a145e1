/** Commands about nodes: cordon, taint, drain and their usage. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
let plat: Plat;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  plat = platFor(server);
  ns = await server.namespace();
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
});
afterAll(() => server.close());

async function newNode(labels: Record<string, string> = {}): Promise<string> {
  const name = unique('node');
  await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name, labels } });
  // New nodes are tainted as not ready.
  await server.admin.patch(`/api/v1/nodes/${name}`, { spec: { taints: null } });
  return name;
}
const node = (name: string): Promise<Loose> => server.admin.ok('GET', `/api/v1/nodes/${name}`);
async function pod(name: string, nodeName: string, more: { owner?: string; spec?: object; labels?: object } = {}): Promise<void> {
  const { owner, spec = {}, labels = {} } = more;
  const ownerReferences = owner === undefined ? [] : [{ apiVersion: 'apps/v1', kind: owner, name: 'owner', uid: 'u', controller: true }];
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, {
    metadata: { name, ownerReferences, labels },
    spec: { nodeName, containers: [{ name: 'main', image: 'i' }], ...spec },
  });
}

test('cordon and uncordon', async () => {
  const label = unique('zone');
  const [a, b] = [await newNode({ zone: label }), await newNode({ zone: label })];
  expect(await plat.run(['cordon', a, '--dry-run=client'])).toEqual({ code: 0, stdout: `node/${a} cordoned (dry run)\n`, stderr: '' });
  expect(await plat.ok(['cordon', a, '--dry-run=server'])).toBe(`node/${a} cordoned (server dry run)\n`);
  expect((await node(a)).spec.unschedulable).toBeUndefined();
  expect(await plat.ok(['cordon', `node/${a}`])).toBe(`node/${a} cordoned\n`);
  expect(await plat.ok(['cordon', '-l', `zone=${label}`])).toBe(`node/${a} already cordoned\nnode/${b} cordoned\n`);
  expect((await node(b)).spec.unschedulable).toBe(true);
  expect(await plat.ok(['uncordon', a, b])).toBe(`node/${a} uncordoned\nnode/${b} uncordoned\n`);
  expect((await node(b)).spec.unschedulable).toBeUndefined();
  expect(await plat.ok(['uncordon', a])).toBe(`node/${a} already uncordoned\n`);
  expect(await plat.run(['cordon'])).toMatchObject({ code: 2 });
  expect(await plat.run(['cordon', a, '-l', 'x=y'])).toMatchObject({ code: 2 });
  expect(await plat.run(['cordon', 'absent'])).toMatchObject({ code: 1, stderr: expect.stringContaining('NotFound') });
});

test('taint', async () => {
  const name = await newNode();
  expect(await plat.ok(['taint', 'nodes', name, 'k=v:NoSchedule', 'x:NoExecute'])).toBe(`node/${name} tainted\n`);
  expect((await node(name)).spec.taints.map(({ key, value, effect }: Loose) => [key, value, effect])).toEqual([
    ['k', 'v', 'NoSchedule'],
    ['x', undefined, 'NoExecute'],
  ]);
  expect(await plat.run(['taint', 'node', name, 'k=w:NoSchedule'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('already has k taint(s)'),
  });
  expect(await plat.ok(['taint', 'node', name, 'k=w:NoSchedule', '--overwrite', '--dry-run=client'])).toBe(
    `node/${name} modified (dry run)\n`,
  );
  expect(await plat.ok(['taint', 'node', name, 'k=w:NoSchedule', '--overwrite'])).toBe(`node/${name} modified\n`);
  const shown = await plat.json(['taint', 'node', name, 'x-']);
  expect(shown.spec.taints).toEqual([{ key: 'k', value: 'w', effect: 'NoSchedule' }]);
  expect(await plat.ok(['taint', `node/${name}`, 'k:NoSchedule-'])).toBe(`node/${name} untainted\n`);
  expect((await node(name)).spec.taints).toBeUndefined();
  expect(await plat.run(['taint', 'node', name, 'k-'])).toMatchObject({ code: 1, stderr: expect.stringContaining('taint "k" not found') });
  expect(await plat.run(['taint', 'pods', 'x', 'k-'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('only node types are supported'),
  });
});

test('drain evicts the pods that may go and names those that may not', async () => {
  const name = await newNode();
  await pod('plain', name, { owner: 'ReplicaSet' });
  await pod('bare', name);
  const refused = await plat.run(['drain', name]);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toBe(`node/${name} cordoned\n`);
  expect(refused.stderr).toContain(`cannot delete Pods declare no controller (use --force to override): ${ns}/bare`);
  expect(refused.stderr).toMatch(/^plat: cannot drain node "[^"]+": cannot delete Pods declare no controller/m);
  expect(refused.stderr).not.toContain('error:');
  const dry = await plat.run(['drain', name, '--force', '--dry-run=client']);
  expect(dry.stdout).toBe(
    `node/${name} already cordoned (dry run)\nevicting pod ${ns}/bare (dry run)\nevicting pod ${ns}/plain (dry run)\nnode/${name} drained (dry run)\n`,
  );
  const drained = await plat.run(['drain', name, '--force', '--grace-period=0']);
  expect(drained.stderr).toContain(`WARNING: deleting Pods that declare no controller: ${ns}/bare\n`);
  expect(drained.stdout.split('\n').sort()).toEqual(
    [
      '',
      `evicting pod ${ns}/bare`,
      `evicting pod ${ns}/plain`,
      `node/${name} already cordoned`,
      `node/${name} drained`,
      'pod/bare evicted',
      'pod/plain evicted',
    ].sort(),
  );
  expect(await plat.ok(['drain', name])).toBe(`node/${name} already cordoned\nnode/${name} drained\n`);
});

test('drain leaves pods of daemon sets, and removes only what a selector selects', async () => {
  const name = await newNode();
  await server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/daemonsets`, {
    metadata: { name: 'owner' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  await pod('daemon', name, { owner: 'DaemonSet' });
  await pod('chosen', name, { owner: 'Job', labels: { go: 'yes' } });
  await pod('other', name, { owner: 'Job' });
  expect((await plat.run(['drain', name])).stderr).toContain('use --ignore-daemonsets');
  const { stdout, stderr } = await plat.run([
    'drain',
    name,
    '--ignore-daemonsets',
    '--pod-selector',
    'go=yes',
    '--disable-eviction',
    '--grace-period=0',
  ]);
  expect(stdout).toBe(`node/${name} already cordoned\npod/chosen deleted\nnode/${name} drained\n`);
  expect(stderr).toBe('');
  expect((await plat.run(['drain', name, '--ignore-daemonsets', '--dry-run=server'])).stdout).toContain(
    `evicting pod ${ns}/other (server dry run)\n`,
  );
  expect((await server.admin.get(`/api/v1/namespaces/${ns}/pods/other`)).status).toBe(200);
  expect(await plat.run(['drain', name, '--pod-selector', '=,'])).toMatchObject({ code: 2 });
});

test('an eviction that a budget does not allow is retried, until the time is up', async () => {
  const name = await newNode();
  await pod('guarded', name, { owner: 'ReplicaSet', labels: { app: 'guarded' } });
  const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
  const { metadata } = await server.admin.ok('POST', budgets, {
    metadata: { name: 'guard' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
  });
  const allow = (disruptionsAllowed: number): Promise<unknown> =>
    server.admin.patch(`${budgets}/guard/status`, {
      status: { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, observedGeneration: metadata.generation },
    });
  await server.admin.patch(`/api/v1/namespaces/${ns}/pods/guarded/status`, {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await allow(0);
  const start = (...more: string[]) => {
    const clock = new FakeClock();
    const io = testIO({ clock });
    const code = run(['drain', name, '--grace-period=0', ...more, '--kubeconfig', server.running.adminConfigPath], io);
    return { clock, io, code };
  };
  const timed = start('--timeout=3s');
  await timed.io.said('retrying in 5s');
  await timed.clock.advance(3000);
  expect(await timed.code).toBe(1);
  expect(timed.io.stderr).toContain('global timeout reached: 3s');
  expect(timed.io.stderr).toContain(`plat: pods that are still on node ${JSON.stringify(name)}: ${ns}/guarded\n`);
  const { clock, io, code } = start();
  await io.said('retrying in 5s');
  expect(io.stderr).toContain(`plat: cannot evict pod ${ns}/guarded yet, retrying in 5s: Cannot evict pod`);
  await allow(1);
  await clock.advance(5000);
  expect(await code).toBe(0);
  expect(io.stdout).toBe(
    `node/${name} already cordoned\nevicting pod ${ns}/guarded\nevicting pod ${ns}/guarded\npod/guarded evicted\nnode/${name} drained\n`,
  );
});

test('the usage of nodes and pods', async () => {
  expect(await plat.run(['top', 'pod'])).toMatchObject({ code: 1, stderr: expect.stringContaining('Metrics API not available') });
  // Custom resources stand in for a metrics server.
  for (const [plural, kind, scope] of [
    ['nodes', 'NodeMetrics', 'Cluster'],
    ['pods', 'PodMetrics', 'Namespaced'],
  ])
    await server.admin.ok('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: `${plural}.metrics.k8s.io`, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
      spec: {
        group: 'metrics.k8s.io',
        scope,
        names: { plural, kind },
        versions: [
          {
            name: 'v1beta1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
  const name = await newNode();
  await server.admin.patch(`/api/v1/nodes/${name}/status`, {
    status: { allocatable: { cpu: '2', memory: '4Gi' }, capacity: { cpu: '4', memory: '8Gi' } },
  });
  const api = '/apis/metrics.k8s.io/v1beta1';
  const send = async (path: string, body: object): Promise<void> => {
    // The definition is served a moment after it was made.
    for (;;) if ((await server.admin.send('POST', `${api}${path}`, { body })).status === 201) return;
  };
  await send('/nodes', {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'NodeMetrics',
    metadata: { name },
    usage: { cpu: '500m', memory: '1Gi' },
  });
  await send(`/namespaces/${ns}/pods`, {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { name: 'web' },
    containers: [
      { name: 'a', usage: { cpu: '5m', memory: '3Mi' } },
      { name: 'b', usage: { cpu: '6m', memory: '2Mi' } },
    ],
  });
  expect(await plat.ok(['top', 'nodes', name])).toMatch(new RegExp(`^NAME .*\n${name} +500m +25% +1024Mi +25% +\n$`));
  expect(await plat.ok(['top', 'node', name, '--show-capacity', '--no-headers'])).toMatch(
    new RegExp(`^${name} +500m +12% +1024Mi +12% +\n$`),
  );
  expect(await plat.ok(['top', 'po', '-n', ns])).toBe('NAME   CPU(cores)   MEMORY(bytes)   \nweb    11m          5Mi             \n');
  expect(await plat.ok(['top', 'pod', 'web', '--containers', '-n', ns, '--sort-by=cpu', '--use-protocol-buffers=false'])).toBe(
    'POD   NAME   CPU(cores)   MEMORY(bytes)   \nweb   b      6m           2Mi             \nweb   a      5m           3Mi             \n',
  );
  expect(await plat.run(['top', 'pod', '-n', 'default'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No resources found in default namespace.\n',
  });
  expect(await plat.run(['top', 'pod', 'web', '-l', 'a=b'])).toMatchObject({ code: 2 });
  expect(await plat.run(['top', 'pod', '--sort-by=name'])).toMatchObject({ code: 2 });
});
