import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { domainName, groupName } from '../../packages/meta/src/identity.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('auth reconcile with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  let group: string;
  beforeAll(async () => {
    server = await startTestServer({ identity, controllers: [] });
    plat = platFor(server);
    group = groupName(server.identity, 'rbac.authorization');
  });
  afterAll(() => server.close());
  const object = (kind: string, name: string, namespace: string | undefined, more: object): object => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    ...more,
  });
  const rules = (verbs: string) => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: verbs.split(',') }] });
  const reconcile = (items: readonly object[], ...flags: string[]) =>
    plat.run(['auth', 'reconcile', '-f', '-', ...flags], { apiVersion: 'v1', kind: 'List', items });

  test('what is missing is created, with its namespace, and later only added to', async () => {
    const ns = unique('made');
    const first = await reconcile([
      object('Role', 'r', ns, rules('get,list')),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'skipped' } },
    ]);
    expect(first).toMatchObject({ code: 0, stdout: `role.${group}/r reconciled\n` });
    expect(first.stderr).toContain('\treconciliation required create\n\tmissing rules added:\n\t\t{');
    const same = await reconcile([object('Role', 'r', ns, rules('get'))]);
    expect(same).toEqual({ code: 0, stdout: `role.${group}/r reconciled\n`, stderr: '' });
    const dry = await reconcile([object('Role', 'r', ns, rules('watch'))], '--dry-run=client');
    expect(dry.stdout).toBe(`role.${group}/r reconciled (dry run)\n`);
    const path = `/apis/${group}/v1/namespaces/${ns}/roles/r`;
    expect((await server.admin.ok('GET', path)).rules).toEqual(rules('get,list').rules);
    await reconcile([object('Role', 'r', ns, rules('watch'))]);
    expect((await server.admin.ok('GET', path)).rules).toEqual([...rules('get,list').rules, ...rules('watch').rules]);
    await reconcile([object('Role', 'r', ns, rules('watch'))], '--remove-extra-permissions');
    expect((await server.admin.ok('GET', path)).rules).toEqual(rules('watch').rules);
  });

  test('a binding to another role is made anew; an object that opted out stays', async () => {
    const name = unique('b');
    const roleRef = (role: string) => ({ apiGroup: group, kind: 'ClusterRole', name: role });
    const subjects = [{ apiGroup: group, kind: 'User', name: 'u' }];
    const binding = (role: string) => object('ClusterRoleBinding', name, undefined, { roleRef: roleRef(role), subjects });
    await reconcile([binding('view')]);
    const path = `/apis/${group}/v1/clusterrolebindings/${name}`;
    const before = await server.admin.ok('GET', path);
    expect((await reconcile([binding('edit')])).stderr).toContain('reconciliation required recreate');
    const after = await server.admin.ok('GET', path);
    expect([after.roleRef.name, after.metadata.uid === before.metadata.uid]).toEqual(['edit', false]);
    await server.admin.patch(path, {
      metadata: { annotations: { [domainName(server.identity, 'autoupdate', 'rbac.authorization')]: 'false' } },
    });
    expect((await reconcile([binding('view')])).stderr).toContain('but object opted out');
    expect((await server.admin.ok('GET', path)).roleRef.name).toBe('edit');
    expect(await plat.run(['auth', 'reconcile'])).toMatchObject({ code: 2 });
  });

  test('other versions are refused before the server is asked, other groups are skipped', async () => {
    const kubectl = platFor(server, {}, ['--server', 'https://127.0.0.1:1', '--token', 'none'], 'kubectl');
    for (const [version, kind] of [
      ['v1beta1', 'ClusterRole'],
      ['v1alpha1', 'RoleBinding'],
    ]) {
      const role = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'r' } };
      const line = ['auth', 'reconcile', '-f', '-'];
      const supported = `only ${group}/v1 is supported`;
      expect(await kubectl.run(line, role)).toEqual({ code: 1, stdout: '', stderr: `error: ${supported}: not *${version}.${kind}\n` });
      expect(await plat.run(line, role)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`${supported}, not ${group}/${version}\n`),
      });
    }
    const other = { apiVersion: 'example.com/v1', kind: 'Role', metadata: { name: 'r' } };
    expect(await reconcile([other])).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
