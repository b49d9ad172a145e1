/** Ways from the rights that one has to more of them, as they were found: each with real roles, and with kubectl. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { onStores } from '../support/stores.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const alice = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }];

onStores(['memory', 'lmdb'], { identity: 'kubernetes', controllers: [] }, (given) => {
  test.each(['everything', 'admin', 'edit', 'view'])('%s in one namespace reaches no other namespace', async (role) => {
    const server = given();
    const ns = await server.namespace();
    const other = await server.namespace();
    const base = `${RBAC}/namespaces/${ns}`;
    if (role === 'everything')
      await server.admin.ok('POST', `${base}/roles`, {
        metadata: { name: role },
        rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
      });
    const kind = role === 'everything' ? 'Role' : 'ClusterRole';
    await server.admin.ok('POST', `${base}/rolebindings`, { metadata: { name: 'b' }, roleRef: roleRef(kind, role), subjects: alice });
    expect((await server.alice.get(`/api/v1/namespaces/${ns}`)).status).toBe(200);
    const before = server.engine.revision;
    for (const path of [
      `/api/v1/namespaces/${ns}/namespaces`,
      `/api/v1/namespaces/${ns}/namespaces/${other}`,
      `/api/v1/watch/namespaces/${ns}/namespaces`,
    ]) {
      for (const [method, body] of [
        ['GET'],
        ['POST', { metadata: { name: 'mine' } }],
        ['PUT', { metadata: { name: other } }],
        ['PATCH', {}],
        ['DELETE'],
      ] as const) {
        const answer = await server.alice.send(method, path, { ...(body && { body }) });
        expect([403, 404], `${method} ${path} ${answer.text}`).toContain(answer.status);
      }
      expect([403, 404]).toContain((await server.alice.get(`${path}?watch=1`)).status);
    }
    expect(server.engine.revision).toBe(before);
    expect((await server.alice.get('/api/v1/namespaces')).status).toBe(403);
    expect((await server.alice.get(`/api/v1/namespaces/${other}`)).status).toBe(403);
  });

  test('the right to one secret is not the right to list them all', async () => {
    const server = given();
    const ns = await server.namespace();
    const base = `${RBAC}/namespaces/${ns}`;
    for (const name of ['mine', 'other'])
      await server.admin.ok('POST', `/api/v1/namespaces/${ns}/secrets`, { metadata: { name }, stringData: { a: name } });
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'], resourceNames: ['mine'] }];
    await server.admin.ok('POST', `${base}/roles`, { metadata: { name: 'one' }, rules });
    await server.admin.ok('POST', `${base}/rolebindings`, { metadata: { name: 'b' }, roleRef: roleRef('Role', 'one'), subjects: alice });
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    const list = (selector: string) => server.alice.get(`${secrets}?fieldSelector=${encodeURIComponent(selector)}`);
    const good = await list('metadata.name=mine');
    expect([good.status, good.json.items.length]).toEqual([200, 1]);
    for (const selector of [
      'type!=x\\,metadata.name=mine',
      'type!=\\\\\\,metadata.name=mine',
      'metadata.name!=x',
      'type!=x',
      'metadata.name=mine\\',
      'metadata.name=other,type!=metadata.name=mine',
    ]) {
      const answer = await list(selector);
      expect(answer.status, `${selector}: ${answer.text}`).toBe(403);
    }
    // Both hold, so that nothing is left; the one that is asked for is never more than is shown.
    const both = await list('metadata.name=mine,metadata.name=other');
    expect([both.status, both.json.items]).toEqual([200, []]);
    expect(
      (await server.alice.get(`/api/v1/watch/namespaces/${ns}/secrets/${encodeURIComponent('other,metadata.name=mine')}`)).status,
    ).toBe(403);
  });

  test('the right to write cluster roles is not the right to empty an aggregated one', async () => {
    const server = given();
    const roles = `${RBAC}/clusterroles`;
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { 'example.com/gathered': 'true' } }] };
    const rules = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['get', 'update', 'patch'] }];
    await server.admin.ok('POST', roles, { metadata: { name: 'writer' }, rules });
    await server.admin.ok('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'writer' },
      roleRef: roleRef('ClusterRole', 'writer'),
      subjects: alice,
    });
    await server.admin.ok('POST', roles, { metadata: { name: 'gathering' }, aggregationRule, rules });
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'gathering' } };
    const path = `${roles}/gathering`;
    for (const answer of [
      await server.alice.put(path, { ...role, rules: [] }),
      await server.alice.patch(path, { aggregationRule: null, rules: null }),
      await server.alice.patch(path, { rules: [] }),
      await server.alice.patch(path, [{ op: 'remove', path: '/aggregationRule' }], 'json-patch'),
      await server.alice.patch(
        `${path}?fieldManager=a&force=true`,
        { ...role, metadata: { ...role.metadata, labels: { a: 'b' } } },
        'apply-patch',
      ),
    ])
      expect([answer.status, answer.json.message]).toEqual([
        403,
        'clusterroles.rbac.authorization.k8s.io "gathering" is forbidden: must have cluster-admin privileges to use the aggregationRule',
      ]);
    expect(await server.admin.ok('GET', path)).toMatchObject({ aggregationRule, rules });
  });

  test('the right to escalate one role holds where the request names it: to update, put or apply, not to post', async () => {
    const server = given();
    const ns = await server.namespace();
    const base = `${RBAC}/namespaces/${ns}`;
    const group = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] };
    await server.admin.ok('POST', `${base}/roles`, {
      metadata: { name: 'writer' },
      rules: [
        { ...group, verbs: ['create', 'update', 'patch'] },
        { ...group, verbs: ['escalate'], resourceNames: ['mine', 'put', 'applied'] },
      ],
    });
    await server.admin.ok('POST', `${base}/rolebindings`, { metadata: { name: 'b' }, roleRef: roleRef('Role', 'writer'), subjects: alice });
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    const role = (name: string) => ({ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name }, rules });
    const posted = await server.alice.post(`${base}/roles`, role('mine'));
    expect([posted.status, posted.json.message]).toEqual([403, expect.stringContaining('not currently held')]);
    await server.admin.ok('POST', `${base}/roles`, { ...role('mine'), rules: [] });
    expect((await server.alice.patch(`${base}/roles/mine`, { rules })).status).toBe(200);
    expect((await server.alice.put(`${base}/roles/put`, role('put'))).status).toBe(201);
    expect((await server.alice.patch(`${base}/roles/applied?fieldManager=a`, role('applied'), 'apply-patch')).status).toBe(201);
    expect((await server.alice.patch(`${base}/roles/other?fieldManager=a`, role('other'), 'apply-patch')).status).toBe(403);
  });

  test.skipIf(kubectlMissing !== undefined)('kubectl is refused as well', async () => {
    const server = given();
    const ns = await server.namespace();
    await server.admin.ok('POST', `${RBAC}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'b' },
      roleRef: roleRef('ClusterRole', 'admin'),
      subjects: alice,
    });
    const kubectl = kubectlFor(server);
    const raw = await kubectl.run(['--as', 'alice', 'get', '--raw', `/api/v1/namespaces/${ns}/namespaces`]);
    expect([raw.code === 0, /NotFound|could not find|forbidden/i.test(raw.stderr)]).toEqual([false, true]);
  });

  test.skipIf(kubectlMissing !== undefined)('a watch of kubectl ends with the right to it', async () => {
    const server = given();
    const ns = await server.namespace();
    const bindings = `${RBAC}/namespaces/${ns}/rolebindings`;
    await server.admin.ok('POST', bindings, { metadata: { name: 'b' }, roleRef: roleRef('ClusterRole', 'view'), subjects: alice });
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'first' } });
    const kubectl = kubectlFor(server);
    const { process, line } = kubectl.start(['--as', 'alice', 'get', 'configmaps', '-n', ns, '--watch', '-o', 'name']);
    const exited = once(process, 'exit');
    await line(/first/);
    await server.admin.ok('DELETE', `${bindings}/b`);
    await exited;
    const again = await kubectl.run(['--as', 'alice', 'get', 'configmaps', '-n', ns]);
    expect([again.code === 0, again.stderr.includes('Forbidden')]).toEqual([false, true]);
  });
});
