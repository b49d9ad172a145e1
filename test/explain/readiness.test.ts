/** `why not ready`: constructed cases, each with the cause that is named first, down the tree. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Loose, TestServer } from '../support/server.ts';
import { clusterCases } from './cases/cluster.ts';
import { networkCases, service } from './cases/network.ts';
import { core, podOn, ready, running, waiting } from './cases/objects.ts';
import { runningPodCases } from './cases/running-pods.ts';
import { deployment, replicaSet, workloadCases } from './cases/workloads.ts';
import { askWhy, startWorldServer, World } from './world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startWorldServer();
});
afterAll(() => server.close());

const nameOf = ({ resource, name }: Loose): string => `${resource}/${name}`;

describe('the first cause', () => {
  test.each([...workloadCases, ...runningPodCases, ...networkCases, ...clusterCases])(
    '$title',
    async ({ make, reason, message, command, chain, also = reason }) => {
      const world = new World(server, await server.namespace());
      try {
        const answer = await askWhy(server.admin, 'readinessexplanations', await make(world));
        expect(answer.causes[0]).toMatchObject({
          reason,
          message: expect.stringMatching(message),
          command: expect.stringMatching(command),
        });
        expect(answer.causes.map((cause: Loose) => cause.reason)).toContain(also);
        expect(answer.ready).toBe(false);
        const { path = [], object } = answer.causes[0];
        if (chain !== undefined) expect([...path, object].map(nameOf).join(' → ')).toBe(chain);
      } finally {
        await world.close();
      }
    },
  );
});

test('what is ready has no causes', async () => {
  const world = new World(server, await server.namespace());
  try {
    await world.put('pods', podOn('web', [running({ ready: true })], { status: { conditions: ready } }));
    await world.put('services', service());
    await world.put('configmaps', { metadata: { name: 'settings' } });
    for (const [resource, name] of [
      ['pods', 'web'],
      ['services', 'web'],
      ['configmaps', 'settings'],
    ] as const)
      expect(await askWhy(server.admin, 'readinessexplanations', core(world, resource, name))).toEqual({ ready: true });
  } finally {
    await world.close();
  }
});

test('a workload whose pods are refused is pending for that reason', async () => {
  const world = new World(server, await server.namespace());
  const conditions = [
    { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'pods "web-1-" is forbidden: exceeded quota: small' },
  ];
  await replicaSet(world, { replicas: 0, conditions });
  const about = { group: 'apps', resource: 'replicasets', namespace: world.ns, name: 'web-1' };
  expect(await askWhy(server.admin, 'pendingexplanations', about)).toMatchObject({ pending: true, causes: [{ reason: 'QuotaExceeded' }] });
});

test('without the right to list pods nothing is said about them, whether they are there or not', async () => {
  const world = new World(server, await server.namespace());
  try {
    const apiGroup = 'rbac.authorization.k8s.io';
    await world.put('clusterroles', {
      metadata: { name: 'asks' },
      rules: [
        { verbs: ['create'], apiGroups: ['explain.k8s.io'], resources: ['*'] },
        { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['services', 'deployments', 'replicasets'] },
      ],
    });
    const subjects = [{ kind: 'User', name: 'alice' }];
    await world.put('clusterrolebindings', {
      metadata: { name: 'asks' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'asks' },
      subjects,
    });
    await world.put('services', service());
    const aboutService = core(world, 'services', 'web');
    const emptyService = await askWhy(server.alice, 'readinessexplanations', aboutService);
    const aboutDeployment = await deployment(world, [waiting('ErrImagePull')]);
    expect(await askWhy(server.alice, 'readinessexplanations', aboutService)).toEqual(emptyService);
    const answer = await askWhy(server.alice, 'readinessexplanations', aboutDeployment);
    expect(JSON.stringify(answer)).not.toContain('web-1-x');
    expect(answer).toMatchObject({ ready: false, incomplete: [`you may not list pods in namespace ${world.ns}`] });
    await server.admin.ok('DELETE', `${world.path('pods', 'web-1-x')}?gracePeriodSeconds=0`);
    expect(await askWhy(server.alice, 'readinessexplanations', aboutDeployment)).toEqual(answer);
  } finally {
    await world.close();
  }
});
