/** Controllers of one file each. */
import { afterEach, describe, expect, test } from 'vitest';
import { aggregate, clusterRoleAggregation } from './cluster-role-aggregation.ts';
import { type Budget, budgetStatus, disruptionController, shareOf } from './disruption.ts';
import type { Controller } from './runtime/controller.ts';
import type { SlimPod } from './runtime/pods.ts';
import { claimProtection, volumeProtection } from './storage/protection.ts';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from './testing.ts';
import { ttlAfterFinished } from './ttl-after-finished.ts';

const { pods, definitions, apiServices } = fakeKinds;
const kind = (group: string, name: string, kindName: string, namespaced = true): FakeKind => ({
  group,
  version: 'v1',
  name,
  kind: kindName,
  namespaced,
});
const claims = kind('', 'persistentvolumeclaims', 'PersistentVolumeClaim');
const volumes = kind('', 'persistentvolumes', 'PersistentVolume', false);
const jobs = kind('batch', 'jobs', 'Job');
const budgets = kind('policy', 'poddisruptionbudgets', 'PodDisruptionBudget');
const replicaSets = kind('apps', 'replicasets', 'ReplicaSet');
const deployments = kind('apps', 'deployments', 'Deployment');
const roles = kind('rbac.authorization.k8s.io', 'clusterroles', 'ClusterRole', false);

let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});
function start(controller: Controller) {
  const api = new FakeApi([pods, claims, volumes, jobs, budgets, replicaSets, deployments, roles, definitions, apiServices]);
  run = runControllers(api, [controller]);
  return { api, run };
}

describe('protection of claims', () => {
  const finalizers = ['kubernetes.io/pvc-protection'];
  const pod = (api: FakeApi, spec: object) =>
    api.put(pods, {
      metadata: { name: 'p', namespace: 'a' },
      spec: { nodeName: 'n', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }], ...spec },
    });

  test('a claim that nothing uses goes at once', async () => {
    const { api, run } = start(claimProtection);
    api.put(claims, { metadata: { name: 'c', namespace: 'a', finalizers } });
    await run.idle();
    await api.remove(claims, 'a', 'c');
    await run.idle();
    expect(api.get(claims, 'a', 'c')).toBeUndefined();
  });
  test('a claim that a pod uses waits for the pod', async () => {
    const { api, run } = start(claimProtection);
    pod(api, {});
    api.put(claims, { metadata: { name: 'c', namespace: 'a', finalizers } });
    await run.idle();
    await api.remove(claims, 'a', 'c');
    await run.idle();
    expect(api.get(claims, 'a', 'c')).toBeDefined();
    await api.remove(pods, 'a', 'p');
    await run.idle();
    expect(api.get(claims, 'a', 'c')).toBeUndefined();
  });
  test('a pod that is on no node does not hold its claim', async () => {
    const { api, run } = start(claimProtection);
    pod(api, { nodeName: undefined });
    api.put(claims, { metadata: { name: 'c', namespace: 'a', finalizers } });
    await run.idle();
    await api.remove(claims, 'a', 'c');
    await run.idle();
    expect(api.get(claims, 'a', 'c')).toBeUndefined();
  });
  test('the claim of an ephemeral volume is held by its pod', async () => {
    const { api, run } = start(claimProtection);
    pod(api, { volumes: [{ name: 'v', ephemeral: {} }] });
    api.put(claims, { metadata: { name: 'p-v', namespace: 'a', finalizers } });
    await run.idle();
    await api.remove(claims, 'a', 'p-v');
    await run.idle();
    expect(api.get(claims, 'a', 'p-v')).toBeDefined();
  });
  test('a claim without protection gets it', async () => {
    const { api, run } = start(claimProtection);
    api.put(claims, { metadata: { name: 'c', namespace: 'a' } });
    await run.idle();
    expect(api.get(claims, 'a', 'c').metadata.finalizers).toEqual(finalizers);
  });
  test('pods are not followed while no claim is to go', async () => {
    const { api, run } = start(claimProtection);
    api.put(claims, { metadata: { name: 'c', namespace: 'a', finalizers } });
    await run.idle();
    expect(api.calls.filter((call) => call.includes('/pods'))).toEqual([]);
  });
});

test('a volume waits until it is bound no more', async () => {
  const { api, run } = start(volumeProtection);
  const metadata = { name: 'v', finalizers: ['kubernetes.io/pv-protection'] };
  api.put(volumes, { metadata, status: { phase: 'Bound' } });
  await run.idle();
  await api.remove(volumes, '', 'v');
  await run.idle();
  expect(api.get(volumes, '', 'v')).toBeDefined();
  api.put(volumes, { ...api.get(volumes, '', 'v'), status: { phase: 'Released' } });
  await run.idle();
  expect(api.get(volumes, '', 'v')).toBeUndefined();
});

describe('jobs that have ended', () => {
  const job = (api: FakeApi, ttlSecondsAfterFinished: number | undefined, type: string) =>
    api.put(jobs, {
      metadata: { name: 'j', namespace: 'a' },
      spec: { ttlSecondsAfterFinished },
      status: { conditions: [{ type, status: 'True', lastTransitionTime: new Date(api.clock.now()).toISOString() }] },
    });
  test.each(['Complete', 'Failed'])('go when their time is over after %s', async (type) => {
    const { api, run } = start(ttlAfterFinished);
    job(api, 60, type);
    await run.pass(59_000);
    expect(api.get(jobs, 'a', 'j').metadata.deletionTimestamp).toBeUndefined();
    await run.pass(2000);
    expect(api.get(jobs, 'a', 'j').metadata.finalizers).toEqual(['foregroundDeletion']);
  });
  test('stay where they ask for nothing, or have not ended', async () => {
    const { api, run } = start(ttlAfterFinished);
    job(api, undefined, 'Complete');
    await run.pass(10_000_000);
    expect(api.get(jobs, 'a', 'j')).toBeDefined();
    job(api, 0, 'Suspended');
    await run.pass(10_000);
    expect(api.get(jobs, 'a', 'j')).toBeDefined();
  });
  test('that were given more time meanwhile get it', async () => {
    const { api, run } = start(ttlAfterFinished);
    job(api, 60, 'Complete');
    await run.pass(30_000);
    api.put(jobs, { ...api.get(jobs, 'a', 'j'), spec: { ttlSecondsAfterFinished: 600 } });
    await run.pass(100_000);
    expect(api.get(jobs, 'a', 'j').metadata.deletionTimestamp).toBeUndefined();
  });
});

describe('disruption budgets', () => {
  const slim = (name: string, ready = true): SlimPod => ({ metadata: { name }, spec: {}, status: { ready } }) as SlimPod;
  const now = Date.UTC(2024, 0, 1);
  const status = (spec: Budget['spec'], pods: SlimPod[], expected: number): Loose => {
    const found = budgetStatus({ metadata: {}, spec } as Budget, pods, expected, now);
    return [found.currentHealthy, found.desiredHealthy, found.expectedPods, found.disruptionsAllowed];
  };
  test.each<[string, Budget['spec'], number, number, number[]]>([
    ['at least two', { minAvailable: 2 }, 3, 3, [3, 2, 3, 1]],
    ['at least more than there are', { minAvailable: 5 }, 3, 3, [3, 5, 3, 0]],
    ['half of them, rounded up', { minAvailable: '50%' }, 3, 5, [3, 3, 5, 0]],
    ['one less', { maxUnavailable: 1 }, 3, 3, [3, 2, 3, 1]],
    ['a third less', { maxUnavailable: '34%' }, 3, 3, [3, 1, 3, 2]],
    ['all of them', { maxUnavailable: '100%' }, 3, 3, [3, 0, 3, 3]],
    ['nothing expected', { minAvailable: 0 }, 0, 0, [0, 0, 0, 0]],
  ])('%s', (_what, spec, healthy, expected, found) => {
    expect(
      status(
        spec,
        Array.from({ length: healthy }, (_, i) => slim(`p${i}`)),
        expected,
      ),
    ).toEqual(found);
  });
  test('a share is a percentage', () => {
    expect(shareOf('30%', 10)).toBe(3);
    expect(() => shareOf('three', 10)).toThrow();
  });
  test('pods that are not ready, going or evicted are not healthy; an eviction that did not happen is forgotten', () => {
    const budget = {
      metadata: { generation: 4 },
      spec: { minAvailable: 1 },
      status: { disruptedPods: { p0: '2024-01-01T00:00:00Z', p9: '2023-12-31T23:00:00Z' } },
    } as unknown as Budget;
    const going = { ...slim('p2'), metadata: { name: 'p2', deletionTimestamp: 'x' } } as SlimPod;
    const found = budgetStatus(budget, [slim('p0'), slim('p1', false), going, slim('p3'), slim('p9')], 5, now);
    expect(found).toMatchObject({ currentHealthy: 2, disruptedPods: { p0: '2024-01-01T00:00:00Z' }, observedGeneration: 4 });
    expect(found.conditions).toMatchObject([{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }]);
  });
  test('how many there should be is asked of the deployment behind the replica set', async () => {
    const { api, run } = start(disruptionController);
    const owned = (owner: Loose, of: FakeKind) => [
      { apiVersion: 'apps/v1', kind: of.kind, name: owner.metadata.name, uid: owner.metadata.uid, controller: true },
    ];
    const deployment = api.put(deployments, { metadata: { name: 'd', namespace: 'a' }, spec: { replicas: 4 } });
    const set = api.put(replicaSets, {
      metadata: { name: 'rs', namespace: 'a', ownerReferences: owned(deployment, deployments) },
      spec: { replicas: 1 },
    });
    for (const name of ['one', 'two'])
      api.put(pods, {
        metadata: { name, namespace: 'a', labels: { app: 'x' }, ownerReferences: owned(set, replicaSets) },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      });
    api.put(budgets, {
      metadata: { name: 'b', namespace: 'a', generation: 1 },
      spec: { maxUnavailable: '50%', selector: { matchLabels: { app: 'x' } } },
    });
    await run.idle();
    expect(api.get(budgets, 'a', 'b').status).toMatchObject({
      expectedPods: 4,
      desiredHealthy: 2,
      currentHealthy: 2,
      disruptionsAllowed: 0,
    });
    await api.remove(replicaSets, 'a', 'rs');
    api.put(pods, { ...api.get(pods, 'a', 'one'), status: {} });
    await run.idle();
    expect(api.get(budgets, 'a', 'b').status.conditions[0]).toMatchObject({
      reason: 'SyncFailed',
      message: 'found no controllers for pod "one"',
    });
  });
});

describe('roles made of others', () => {
  const rule = (verb: string) => ({ verbs: [verb], apiGroups: [''], resources: ['pods'] });
  const role = (name: string, labels: object, rules: object[], more: object = {}): Loose => ({
    metadata: { name, labels },
    rules,
    ...more,
  });
  const gathers = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: 'all' } }, { matchLabels: { into: 'more' } }] } };

  test('have the rules of all that they select, by selector and name, each once', () => {
    const all = [
      role('b', { into: 'all' }, [rule('get'), rule('list')]),
      role('a', { into: 'all' }, [rule('watch'), rule('get')]),
      role('c', { into: 'more' }, [rule('patch')]),
      role('d', {}, [rule('delete')]),
    ];
    expect(aggregate(role('all', { into: 'all' }, [], gathers), all).map(({ verbs }) => verbs?.[0])).toEqual([
      'watch',
      'get',
      'list',
      'patch',
    ]);
  });
  test('are applied when a part changes, and not when nothing does', async () => {
    const { api, run } = start(clusterRoleAggregation);
    const applied: Loose[] = [];
    const original = api.request.bind(api);
    api.request = async (request) => {
      if (request.method === 'PATCH')
        applied.push({ path: request.path, type: request.headers?.['content-type'], body: JSON.parse(String(request.body)) });
      return original(request);
    };
    api.put(roles, role('all', {}, [], gathers));
    api.put(roles, role('part', { into: 'all' }, [rule('get')]));
    await run.idle();
    expect(applied).toEqual([
      {
        path: '/apis/rbac.authorization.k8s.io/v1/clusterroles/all?fieldManager=clusterrole-aggregation-controller&force=true',
        type: 'application/apply-patch+yaml',
        body: { kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'all' }, rules: [rule('get')] },
      },
    ]);
    api.put(
      roles,
      role('part', { into: 'all' }, [rule('get')], { metadata: { name: 'part', labels: { into: 'all' }, annotations: { x: 'y' } } }),
    );
    await run.idle();
    expect(applied).toHaveLength(1);
  });
});
