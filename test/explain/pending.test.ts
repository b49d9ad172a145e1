/** `why pending`: constructed cases, each with the cause that is named first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '../support/server.ts';
import { claimCases } from './cases/claims.ts';
import { node, waiting } from './cases/objects.ts';
import { placementCases, requests } from './cases/placement.ts';
import { started, startingPodCases } from './cases/starting-pods.ts';
import { askWhy, pod, type Question, startWorldServer, World } from './world.ts';

let server: TestServer;
let alone: TestServer;
beforeAll(async () => {
  server = await startWorldServer({ workloads: ['scheduler'] });
  alone = await startWorldServer();
});
afterAll(async () => {
  await server.close();
  await alone.close();
});
const about = ({ ns }: World): Question => ({ resource: 'pods', namespace: ns, name: 'web' });

/** Pods would use nodes of the next case. */
async function ended(world: World): Promise<void> {
  await world.server.admin.ok('DELETE', `${world.path('pods')}?gracePeriodSeconds=0`);
  await world.close();
}

describe('the first cause', () => {
  test.each([...placementCases, ...claimCases, ...startingPodCases])('$title', async ({ make, reason, message, command, isAlone }) => {
    const on = isAlone ? alone : server;
    const world = new World(on, await on.namespace());
    try {
      await make(world);
      const answer = await askWhy(on.admin, 'pendingexplanations', about(world));
      expect(answer.causes[0]).toMatchObject({ reason, message: expect.stringMatching(message), command: expect.stringMatching(command) });
      expect(answer.pending).toBe(reason !== 'NotPending');
      expect(JSON.stringify(answer)).not.toContain('SECRET-VALUE');
    } finally {
      await ended(world);
    }
  });
});

test('what each node refuses, and without the right to list nodes only how many', async () => {
  const world = new World(server, await server.namespace());
  try {
    await world.put('nodes', node('west'));
    await world.put('nodes', node('east', { spec: { unschedulable: true } }));
    await world.put('pods', pod('web', requests('4')));
    expect((await askWhy(server.admin, 'pendingexplanations', about(world))).refusals).toEqual([
      { reason: 'Insufficient cpu', count: 1, nodes: ['west'] },
      { reason: 'node(s) were unschedulable', count: 1, nodes: ['east'] },
    ]);
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [{ verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] }],
    });
    const apiGroup = 'rbac.authorization.k8s.io';
    const subjects = [{ kind: 'User', name: 'alice' }];
    await world.put('clusterrolebindings', {
      metadata: { name: 'asks' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'asks' },
      subjects,
    });
    await world.put('rolebindings', { metadata: { name: 'views' }, roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' }, subjects });
    const isDecided = async () => (await server.admin.ok('GET', world.path('pods', 'web'))).status.conditions?.[0].status;
    await expect.poll(isDecided, { timeout: 20_000 }).toBe('False');
    const answer = await askWhy(server.alice, 'pendingexplanations', about(world));
    expect(answer.refusals).toEqual([
      { reason: 'Insufficient cpu', count: 1 },
      { reason: 'node(s) were unschedulable', count: 1 },
    ]);
    expect(JSON.stringify(answer)).not.toMatch(/west|east/);
    expect(answer.incomplete).toContain('you may not list nodes');
  } finally {
    await ended(world);
  }
});

test('a secret that the caller may not read is counted, whether it is there or not', async () => {
  const world = new World(server, await server.namespace());
  try {
    await started(world, { volumes: [{ name: 's', secret: { secretName: 'hidden' } }] }, waiting('ContainerCreating'));
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [
        { verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] },
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
      ],
    });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asks' };
    await world.put('clusterrolebindings', { metadata: { name: 'asks' }, roleRef, subjects: [{ kind: 'User', name: 'alice' }] });
    const withoutSecret = await askWhy(server.alice, 'pendingexplanations', about(world));
    expect(withoutSecret).toMatchObject({ unread: 2, causes: [{ reason: 'NotStarted' }] });
    await world.put('secrets', { metadata: { name: 'hidden' } });
    expect(await askWhy(server.alice, 'pendingexplanations', about(world))).toEqual(withoutSecret);
  } finally {
    await ended(world);
  }
});
