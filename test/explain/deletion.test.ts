/** `why not deleted`: constructed cases, each with the cause that is named first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MOST_CAUSES } from '../../packages/server/src/explain/cause.ts';
import type { Loose, TestServer } from '../support/server.ts';
import { deletedConfigMap, deletedPod, foreground, hold, webhook } from './cases/deleted-objects.ts';
import { deletionCases } from './cases/deletion.ts';
import { namespaceDeletionCases } from './cases/namespace-deletion.ts';
import { askWhy, owner, startWorldServer, World } from './world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startWorldServer();
});
afterAll(() => server.close());

describe('the first cause', () => {
  test.each([...deletionCases, ...namespaceDeletionCases])(
    '$title',
    async ({ make, reason, message, command, also = reason, isAskedByAlice = false }) => {
      const world = new World(server, await server.namespace());
      try {
        const { causes, deleting } = await askWhy(isAskedByAlice ? server.alice : server.admin, 'deletionexplanations', await make(world));
        expect(causes[0]).toMatchObject({ reason, message: expect.stringMatching(message), command: expect.stringMatching(command) });
        expect(causes.map((cause: Loose) => cause.reason)).toContain(also);
        expect(deleting).toBe(reason !== 'NotDeleting' && also !== 'NotDeleting');
      } finally {
        await world.close();
      }
    },
  );
});

test('an answer names a bounded number of causes, and says how many there are', async () => {
  const world = new World(server, await server.namespace());
  const withFinalizers = async (name: string, count: number) => {
    const finalizers = Array.from({ length: count }, (_, index) => `example.com/hold-${index}`);
    await world.put('configmaps', { metadata: { name, finalizers } });
    await world.remove('configmaps', name);
    return askWhy(server.admin, 'deletionexplanations', { resource: 'configmaps', namespace: world.ns, name });
  };
  const atBound = await withFinalizers('at-bound', MOST_CAUSES);
  expect(atBound).toMatchObject({ deleting: true, causes: { length: MOST_CAUSES } });
  expect(atBound).not.toHaveProperty('incomplete');
  const beyond = await withFinalizers('beyond', MOST_CAUSES + 1);
  expect(beyond).toMatchObject({
    causes: { length: MOST_CAUSES },
    incomplete: [`only ${MOST_CAUSES} causes are named`],
  });
  expect(beyond.causes[0].message).toContain(`example.com/hold-${MOST_CAUSES}.`);
});

describe('rights', () => {
  let world: World;
  let grant: (name: string, rules: object[]) => Promise<void>;
  beforeAll(async () => {
    world = new World(server, await server.namespace());
    grant = async (name, rules) => {
      await world.put('roles', { metadata: { name }, rules });
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
      await world.put('rolebindings', { metadata: { name }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    };
    const rules = [{ verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] }];
    await world.put('clusterroles', { metadata: { name: 'asks' }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asks' };
    await world.put('clusterrolebindings', { metadata: { name: 'asks' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
  });
  afterAll(() => world.close());

  test('who may not get an object is not told about it, whether it is there or not', async () => {
    await deletedConfigMap(world, { finalizers: [hold] });
    const about = (name: string) => askWhy(server.alice, 'deletionexplanations', { resource: 'configmaps', namespace: world.ns, name });
    await expect(about('settings')).rejects.toThrow(/^403 configmaps "settings" is forbidden: User "alice" cannot get/);
    await expect(about('absent')).rejects.toThrow(/^403 configmaps "absent" is forbidden: User "alice" cannot get/);
    await grant('reads-settings', [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }]);
    await expect(about('absent')).rejects.toThrow('404 configmaps "absent" not found');
    expect((await about('settings')).causes[0].reason).toBe('Finalizer');
  });

  test('what the caller may not read changes nothing in the answer', async () => {
    const parent = await world.put('configmaps', { metadata: { name: 'parent' } });
    await foreground(world, 'configmaps', 'parent');
    const about = { resource: 'configmaps', namespace: world.ns, name: 'parent' };
    const without = await askWhy(server.alice, 'deletionexplanations', about);
    await world.put('secrets', { metadata: { name: 'hidden-child', ownerReferences: [owner(parent, { blockOwnerDeletion: true })] } });
    await world.put('validatingwebhookconfigurations', webhook('hidden-guard', ['DELETE', 'UPDATE']));
    expect(await askWhy(server.alice, 'deletionexplanations', about)).toEqual(without);
    expect(without.incomplete).toContain(`you may not list secrets in namespace ${world.ns}`);
    expect(without.incomplete).toContain('you may not list validatingwebhookconfigurations');
    expect(JSON.stringify(await askWhy(server.admin, 'deletionexplanations', about))).toContain('hidden-child');
  });

  test('an object that is referred to is counted, and its state is not said', async () => {
    await grant('reads-pods', [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }]);
    const about = await deletedPod(world, 'n-secret', {}, { gracePeriodSeconds: 3600 });
    const withoutNode = await askWhy(server.alice, 'deletionexplanations', about);
    expect(withoutNode).toMatchObject({ unread: 1, causes: [{ reason: 'GracePeriodRunning' }] });
    await world.put('nodes', { metadata: { name: 'n-secret' } });
    expect(await askWhy(server.alice, 'deletionexplanations', about)).toEqual(withoutNode);
  });
});

test('bad questions are refused, each with its field', async () => {
  const ask = (spec: object) => server.admin.post('/apis/explain.k8s.io/v1alpha1/deletionexplanations', { spec });
  const messages = [];
  for (const spec of [{}, { resource: 'pods', name: 'a' }, { resource: 'none', name: 'a' }, { group: 'apps', resource: 'pods', name: 'a' }])
    messages.push([(await ask(spec)).status, (await ask(spec)).json.message.split(' is invalid: ')[1]]);
  expect(messages).toEqual([
    [422, '[spec.resource: Required value, spec.name: Required value]'],
    [422, 'spec.namespace: Required value'],
    [422, 'spec.resource: Invalid value: "none": there is no such resource in the group'],
    [422, 'spec.resource: Invalid value: "pods": there is no such resource in the group'],
  ]);
});
