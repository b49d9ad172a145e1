/** Trees of owners and dependents. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe('tree', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const labels = { app: 'web' };
  const make = async (group: string, plural: string, body: Loose, status?: Loose): Promise<Loose> => {
    const root = group === '' ? '/api/v1' : `/apis/${group}`;
    const cluster = ['persistentvolumes', 'clusterroles', 'clusterrolebindings'].includes(plural);
    const path = `${root}${cluster ? '' : `/namespaces/${ns}`}/${plural}`;
    const made = await server.admin.ok('POST', path, body);
    if (status !== undefined) expect((await server.admin.patch(`${path}/${body.metadata.name}/status`, { status })).status).toBe(200);
    return made;
  };
  const owned = (apiVersion: string, kind: string, { metadata }: Loose, controller = true): Loose => ({
    ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller }],
  });
  const pod = { containers: [{ name: 'c', image: 'i' }], volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] };
  /** Names of the tree without columns. */
  const shape = (text: string): string[] =>
    text
      .split('\n')
      .slice(1, -1)
      .map((line) => /^.*?\S\/\S+(?: \(\S+\))?/.exec(line)?.[0] ?? '');
  const tree = async (...args: string[]): Promise<string> => plat.ok(['tree', '-n', ns, ...args]);

  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: [] });
    plat = platFor(server);
    ns = await server.namespace();
    await make('', 'serviceaccounts', { metadata: { name: 'default' } });
    const template = { metadata: { labels }, spec: pod };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    const deployment = await make(
      'apps/v1',
      'deployments',
      { metadata: { name: 'web' }, spec },
      { replicas: 2, readyReplicas: 1, conditions: [{ type: 'Available', status: 'False', reason: 'Few' }] },
    );
    const set = await make('apps/v1', 'replicasets', { metadata: { name: 'web-1', ...owned('apps/v1', 'Deployment', deployment) }, spec });
    await make(
      '',
      'pods',
      { metadata: { name: 'web-1-a', labels, ...owned('apps/v1', 'ReplicaSet', set) }, spec: pod },
      { phase: 'Running' },
    );
    await make('', 'pods', { metadata: { name: 'web-1-b', labels, ...owned('apps/v1', 'ReplicaSet', set) }, spec: pod });
    await make('', 'configmaps', { metadata: { name: 'extra', ...owned('apps/v1', 'ReplicaSet', set, false) } });
    await make('', 'persistentvolumes', {
      metadata: { name: `vol-${ns}` },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        hostPath: { path: '/x' },
        claimRef: { namespace: ns, name: 'data' },
      },
    });
    await make(
      '',
      'persistentvolumeclaims',
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], volumeName: `vol-${ns}`, resources: { requests: { storage: '1Gi' } } },
      },
      { phase: 'Bound' },
    );
    await make('', 'services', { metadata: { name: 'web' }, spec: { selector: labels, ports: [{ port: 80 }] } });
    const { groupSuffix: suffix } = server.identity;
    await make(`networking.${suffix}/v1`, 'ingresses', {
      metadata: { name: 'front' },
      spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    });
    await make('autoscaling/v2', 'horizontalpodautoscalers', {
      metadata: { name: 'scaler' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
    });
    const rbac = `rbac.authorization.${suffix}`;
    await make(`${rbac}/v1`, 'roles', { metadata: { name: 'reader' } });
    await make(`${rbac}/v1`, 'rolebindings', {
      metadata: { name: 'readers' },
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'absent', namespace: ns }],
    });
  });
  afterAll(() => server.close());

  test('dependents below by their owner references, and what is linked in other ways', async () => {
    const text = await tree('deployment/web');
    expect(shape(text)).toEqual([
      'Deployment/web',
      '└─ReplicaSet/web-1',
      '  ├─ConfigMap/extra',
      '  ├─Pod/web-1-a',
      '  │ └─PersistentVolumeClaim/data',
      `  │   └─PersistentVolume/vol-${ns}`,
      '  └─Pod/web-1-b',
      '    └─PersistentVolumeClaim/data',
      '<- HorizontalPodAutoscaler/scaler',
    ]);
    expect(text).toMatch(/^OBJECT +READY +STATUS +AGE +VIA\n/);
    expect(text).toMatch(/^Deployment\/web +1\/2 +NotAvailable \(Few\) +\d\w*$/m);
    expect(text).toMatch(/─Pod\/web-1-a +0\/1 +Running +\d\w*$/m);
    expect(text).toMatch(/^ {2}│ └─PersistentVolumeClaim\/data +Bound +\d\w* +claimName$/m);
    expect(text).toMatch(/^ {4}└─PersistentVolumeClaim\/data +Bound, shown above +\d\w* +claimName$/m);
    expect(text).toMatch(/scaler +\d\w* +scaleTargetRef$/m);
  });
  test('owners above', async () => {
    expect(shape(await tree('pod', 'web-1-b')).slice(0, 3)).toEqual(['Deployment/web', '└─ReplicaSet/web-1', '  └─Pod/web-1-b']);
  });
  test('owners that are gone are shown as such', async () => {
    const gone = { metadata: { name: 'gone', uid: 'no-such-uid' } };
    await make('', 'configmaps', { metadata: { name: 'orphan', ...owned('v1', 'Secret', gone) } });
    await make('', 'configmaps', {
      metadata: { name: 'confused', ...owned('apps/v1', 'Deployment', { metadata: { name: 'web', uid: 'another-uid' } }) },
    });
    await make('', 'configmaps', { metadata: { name: 'foreign', ...owned('nothing.example/v1', 'Thing', gone) } });
    expect(await tree('cm/orphan')).toMatch(/^Secret\/gone +not found\n└─ConfigMap\/orphan /m);
    expect(await tree('cm/confused')).toMatch(/^Deployment\/web +gone: another object has its name\n/m);
    expect(await tree('cm/foreign')).toMatch(/^Thing\/gone +the server has no such kind\n/m);
  });
  test('services, ingresses, claims, volumes and bindings', async () => {
    expect(shape(await tree('service/web')).filter((line) => !line.includes('Claim') && !line.includes('Volume'))).toEqual([
      'Service/web',
      '├─Endpoints/web',
      '├─Pod/web-1-a',
      '└─Pod/web-1-b',
      '<- Ingress/front',
    ]);
    expect(await tree('service/web')).toMatch(/─Endpoints\/web +not found +same name$/m);
    expect(shape(await tree('ingress/front')).slice(0, 2)).toEqual(['Ingress/front', '└─Service/web']);
    expect(shape(await tree('hpa/scaler')).slice(0, 3)).toEqual([
      'HorizontalPodAutoscaler/scaler',
      '└─Deployment/web',
      '  └─ReplicaSet/web-1',
    ]);
    expect(shape(await tree('pvc/data'))).toEqual([
      'PersistentVolumeClaim/data',
      `└─PersistentVolume/vol-${ns}`,
      '<- Pod/web-1-a',
      '<- Pod/web-1-b',
    ]);
    expect(shape(await tree('rolebinding/readers'))).toEqual(['RoleBinding/readers', '├─Role/reader', '└─ServiceAccount/absent']);
    expect(shape(await tree('role/reader'))).toEqual(['Role/reader', '<- RoleBinding/readers']);
  });
  test('objects without namespace own in all namespaces with -A, and say so without', async () => {
    const { metadata } = await make('', 'persistentvolumes', {
      metadata: { name: `owner-${ns}` },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } },
    });
    await make('', 'secrets', { metadata: { name: 'of-volume', ...owned('v1', 'PersistentVolume', { metadata }) } });
    expect(shape(await plat.ok(['tree', `pv/owner-${ns}`, '-A']))).toEqual([`PersistentVolume/owner-${ns}`, `└─Secret/of-volume (${ns})`]);
    const elsewhere = await plat.run(['tree', `pv/owner-${ns}`]);
    expect(shape(elsewhere.stdout)).toEqual([`PersistentVolume/owner-${ns}`]);
    expect(elsewhere.stderr).toBe('note: dependents in other namespaces than default are not shown: -A looks in all\n');
  });
  test('a ring of owners ends', async () => {
    const first = await make('', 'configmaps', { metadata: { name: 'ring-1' } });
    const second = await make('', 'configmaps', { metadata: { name: 'ring-2', ...owned('v1', 'ConfigMap', first) } });
    await server.admin.patch(`/api/v1/namespaces/${ns}/configmaps/ring-1`, { metadata: owned('v1', 'ConfigMap', second) });
    const { code, stdout, stderr } = await plat.run(['tree', '-n', ns, 'cm/ring-1']);
    expect(code).toBe(0);
    expect(stderr).toContain('note: owners are followed 20 times at most\n');
    expect(stdout).toMatch(/─ConfigMap\/ring-1 +shown above/);
  });
  test('JSON', async () => {
    const json = await plat.json(['tree', '-n', ns, 'replicaset/web-1']);
    expect(json).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'web-1',
      namespace: ns,
      ready: '0/2',
      owners: [{ kind: 'Deployment', name: 'web', owners: [] }],
      dependents: [
        { kind: 'ConfigMap' },
        { kind: 'Pod', status: 'Running', dependents: [{ kind: 'PersistentVolumeClaim', via: 'claimName' }] },
        { kind: 'Pod' },
      ],
      referencedBy: [],
      notes: [],
    });
  });
  test('what may not be listed is named', async () => {
    const path = `/apis/rbac.authorization.${server.identity.groupSuffix}/v1/namespaces/${ns}`;
    const apiGroup = `rbac.authorization.${server.identity.groupSuffix}`;
    await server.admin.ok('POST', `${path}/roles`, {
      metadata: { name: 'narrow' },
      rules: [{ apiGroups: ['apps'], resources: ['deployments', 'replicasets'], verbs: ['get', 'list'] }],
    });
    await server.admin.ok('POST', `${path}/rolebindings`, {
      metadata: { name: 'narrow' },
      roleRef: { apiGroup, kind: 'Role', name: 'narrow' },
      subjects: [{ apiGroup, kind: 'User', name: 'bob' }],
    });
    const bob = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--as', 'bob']);
    const { code, stdout, stderr } = await bob.run(['tree', '-n', ns, 'deployment/web']);
    expect([code, shape(stdout)]).toEqual([0, ['Deployment/web', '└─ReplicaSet/web-1']]);
    expect(stderr).toContain('note: pods could not be listed: Forbidden\n');
  });
  test('mistakes', async () => {
    expect((await plat.run(['tree'])).code).toBe(2);
    expect((await plat.run(['tree', 'pods'])).stderr).toContain('which pods?');
    expect((await plat.run(['tree', 'pod', 'a', 'b'])).stderr).toContain('tree takes one object');
    expect((await plat.run(['tree', 'pod/a', '-A', '-n', ns])).stderr).toContain('-A is for objects without namespace');
    expect(await plat.run(['tree', 'pod/absent', '-n', ns])).toMatchObject({ code: 1, stdout: '' });
  });
});

test('links by names and labels of the identity', async () => {
  const server = await startTestServer({ identity: 'plat', controllers: [] });
  const { groupSuffix: suffix, domain } = server.identity;
  const post = (path: string, body: Loose): Promise<Loose> => server.admin.ok('POST', path, body);
  await post('/api/v1/namespaces/default/services', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
  const labels = { [`${domain}/service-name`]: 'web' };
  const slice = { metadata: { name: 'web-x', labels }, addressType: 'IPv4', endpoints: [] };
  await post(`/apis/discovery.${suffix}/v1/namespaces/default/endpointslices`, slice);
  const front = { metadata: { name: 'front' }, spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } } };
  await post(`/apis/networking.${suffix}/v1/namespaces/default/ingresses`, front);
  const text = await platFor(server).ok(['tree', 'ingress/front']);
  expect(text).toMatch(
    /^Ingress\/front .*\n└─Service\/web .* backend\n {2}├─Endpoints\/web .*\n {2}└─EndpointSlice\/web-x .* service-name label\n$/m,
  );
  await server.close();
});
