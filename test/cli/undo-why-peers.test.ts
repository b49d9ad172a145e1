/** `plat undo`, `plat log` and `plat why` with two servers on one etcd: each knows what was done at the other. */
import { beforeAll, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import type { Loose } from '../support/server.ts';
import { onPeers } from '../support/stores.ts';

onPeers({ disableAdmissionPlugins: ['ServiceAccount'] }, (one, two) => {
  let first: Plat;
  let second: Plat;
  let namespace: string;
  const as = (user: string): string[] => ['--as', user, '--as-group', 'system:masters'];
  const configMaps = (name = ''): string => `/api/v1/namespaces/${namespace}/configmaps${name === '' ? '' : `/${name}`}`;
  const dataOf = async (server: typeof one, name: string): Promise<Loose> => (await server().admin.get(configMaps(name))).json.data;
  beforeAll(async () => {
    first = platFor(one());
    second = platFor(two());
    namespace = await one().namespace();
  });

  test('undo at one server takes back what was done at the other, and is seen by both', async () => {
    await first.ok(['create', 'configmap', 'a', '--from-literal=x=1', '-n', namespace, ...as('alice')]);
    await first.ok(['patch', 'cm', 'a', '-p', '{"data":{"x":"2"}}', '-n', namespace, ...as('bob')]);
    expect(await second.ok(['undo', 'cm/a', '-n', namespace, '--yes'])).toContain('data.x 1 → 2');
    expect([await dataOf(one, 'a'), await dataOf(two, 'a')]).toEqual([{ x: '1' }, { x: '1' }]);
    await second.ok(['delete', 'cm/a', '-n', namespace]);
    expect(await first.ok(['undo', 'cm/a', '-n', namespace, '--yes'])).toContain('configmap/a created anew\n');
    expect(await dataOf(two, 'a')).toEqual({ x: '1' });
    for (const plat of [first, second]) {
      const { items } = await plat.json(['history', 'cm/a', '-n', namespace]);
      expect(items.map(({ type, user }: Loose) => `${type} ${user}`)).toEqual([
        'created admin',
        'deleted admin',
        'updated admin',
        'updated bob',
        'created alice',
      ]);
    }
  });

  test('changes of a user at both servers are undone together; one that came in between is left', async () => {
    await first.ok(['create', 'configmap', 'kept', '--from-literal=x=1', '-n', namespace, ...as('alice')]);
    await second.ok(['create', 'configmap', 'lost', '--from-literal=x=1', '-n', namespace, ...as('alice')]);
    await first.ok(['patch', 'cm', 'lost', '-p', '{"data":{"x":"2"}}', '-n', namespace, ...as('mallory')]);
    await second.ok(['delete', 'cm/lost', '-n', namespace, ...as('mallory')]);
    await second.ok(['patch', 'cm', 'kept', '-p', '{"data":{"x":"2"}}', '-n', namespace, ...as('mallory')]);
    await first.ok(['patch', 'cm', 'kept', '-p', '{"data":{"x":"3"}}', '-n', namespace, ...as('bob')]);
    const { code, stdout } = await first.run(['undo', '--since', '1h', '--by', 'mallory', '-n', namespace, '--yes']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/skip +configmap\/kept: bob has changed it since/);
    expect(stdout).toContain('1 undone, 1 not\n');
    expect([await dataOf(two, 'lost'), await dataOf(two, 'kept')]).toEqual([{ x: '1' }, { x: '3' }]);
    const log = await second.ok(['log', '-n', namespace, '--kind', 'configmaps', '--by', 'mallory']);
    expect(
      log
        .replace(/^\d\d:\d\d /gm, '')
        .split('\n')
        .slice(0, 3),
    ).toEqual([
      'configmap/lost  data.x 1 → 2  mallory (plat)',
      'configmap/lost  deleted  mallory (plat)',
      'configmap/kept  data.x 1 → 2  mallory (plat)',
    ]);
  });

  test('a log that follows at one server shows what is done at the other', async () => {
    const { io, code } = first.start(['log', '-f', '-n', namespace, '--by', 'carol']);
    await second.ok(['create', 'configmap', 'followed', '-n', namespace, ...as('carol')]);
    await io.said('configmap/followed  created  carol');
    await second.ok(['patch', 'cm', 'followed', '-p', '{"data":{"x":"1"}}', '-n', namespace, ...as('carol')]);
    await io.said('carol (plat)\n');
    io.send('SIGINT');
    expect(await code).toBe(0);
  });

  test('why denied, why allowed and who can: a role that was made at one server counts at the other', async () => {
    const question = ['delete', 'pods/web', '-n', namespace, '--as', 'dave'];
    const { code, stdout } = await second.run(['why', 'denied', ...question]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('dave may not delete pods/web.\n')]);
    await first.ok(['apply', '-f', '-'], stdout);
    await expect.poll(async () => (await second.run(['why', 'allowed', ...question])).code).toBe(0);
    expect((await second.run(['why', 'denied', ...question])).code).toBe(1);
    expect(await second.ok(['who', 'can', 'delete', 'pods/web', '-n', namespace])).toContain('dave');
  });

  test('why denied without arguments is about the last refusal, which the server that refused remembers', async () => {
    const erin = (server: typeof one): Plat => platFor(server(), {}, ['--kubeconfig', server().running.adminConfigPath, '--as', 'erin']);
    expect((await erin(one).run(['get', 'secrets', '-n', namespace])).stderr).toContain('cannot list resource "secrets"');
    expect((await erin(one).run(['why', 'denied'])).stdout).toContain('erin may not list secrets');
    expect(await erin(two).run(['why', 'denied'])).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('refus') });
  });

  test('why not deleted: finalizers and owners that the other server wrote', async () => {
    const held = { metadata: { name: 'held', finalizers: ['example.com/hold'] } };
    await one().admin.ok('POST', configMaps(), held);
    await second.ok(['delete', 'cm/held', '-n', namespace, '--wait=false']);
    for (const plat of [first, second])
      expect((await plat.run(['why', 'not', 'deleted', 'cm/held', '-n', namespace])).stdout).toContain('example.com/hold');
    await one().admin.patch(configMaps('held'), { metadata: { finalizers: null } });
  });

  test('why pending, why not ready and why rejected: objects that the other server wrote', async () => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await one().admin.ok('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
    expect((await second.run(['why', 'pending', 'web', '-n', namespace])).stdout).toMatch(/^pods\/web is pending\.\n\n1\. No scheduler/);
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await one().admin.ok('POST', `/api/v1/namespaces/${namespace}/services`, { metadata: { name: 'web' }, spec });
    expect((await second.run(['why', 'not', 'ready', 'services/web', '-n', namespace])).stdout).toContain('No pods have the labels');
    const quota = { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } };
    await one().admin.ok('POST', `/api/v1/namespaces/${namespace}/resourcequotas`, quota);
    const rejected = () => second.run(['why', 'rejected', '-n', namespace, '-f', '-'], { ...pod, metadata: { name: 'more' } });
    await expect.poll(async () => (await rejected()).stdout).toContain('exceeded quota: none');
  });

  test('why conflict: the manager that applied at the other server', async () => {
    const manifest = (x: string): Loose => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owned', namespace }, data: { x } });
    await first.ok(['apply', '--server-side', '--field-manager', 'hand', '-f', '-'], manifest('1'));
    const { stdout } = await second.run(['why', 'conflict', '-f', '-'], manifest('2'));
    expect(stdout).toMatch(/data\.x.*hand/s);
  });
});
