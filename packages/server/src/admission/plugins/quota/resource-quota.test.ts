import type { ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import { expect, test, vi } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import type { AdmissionRequest, CommitStep } from '../../types.ts';
import { resourceQuota } from './resource-quota.ts';

/** A quota whose use so far is known. */
const quota = (hard: Record<string, string>, used: Record<string, string>, spec: object = {}, name = 'q') => ({
  metadata: { name, namespace: 'ns', resourceVersion: '7' },
  spec: { hard, ...spec },
  status: { hard, used },
});
const ctr = (resources: object, name = 'c') => ({ name, resources });
const secret = { metadata: { name: 's', namespace: 'ns' } };

async function start(...quotas: object[]) {
  const world = new World().with('resourcequotas', ...quotas);
  return { world, plugin: await world.plugin(resourceQuota) };
}
/** What the commit of a request would write besides: what each quota has used then. */
async function charged(request: AdmissionRequest): Promise<(Record<string, string> | undefined)[]> {
  for (const step of request.commitSteps ?? []) await step.prepare();
  for (const step of request.commitSteps ?? []) step.settle(true);
  return request.sideWrites.map(({ object }) => (object as unknown as ResourceQuota).status.used);
}

test('use is charged with the commit, guarded by the version of the quota', async () => {
  const { world, plugin } = await start(quota({ secrets: '5' }, { secrets: '2' }));
  const request = world.request('secrets', secret);
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(request.sideWrites).toEqual([]);
  expect(await charged(request)).toEqual([{ secrets: '3' }]);
  expect(request.sideWrites[0]?.object.metadata.resourceVersion).toBe('7');
});

test('what exceeds a quota is refused, with what was asked, used and allowed', async () => {
  const { world, plugin } = await start(quota({ secrets: '2' }, { secrets: '2' }));
  expect(await refusalOf(plugin, world.request('secrets', secret))).toBe(
    'secrets "s" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2',
  );
});

test('whether it still fits is asked again at the commit', async () => {
  const { world, plugin } = await start(quota({ secrets: '3' }, { secrets: '2' }));
  const request = world.request('secrets', secret);
  await refusalOf(plugin, request);
  world.with('resourcequotas', quota({ secrets: '3' }, { secrets: '3' }));
  await expect(charged(request)).rejects.toThrow(/exceeded quota/);
});

test('those that charge a namespace take turns from the check to the end of the commit', async () => {
  const { world, plugin } = await start(quota({ secrets: '9' }, { secrets: '0' }));
  const requests = [world.request('secrets', secret), world.request('secrets', secret)] as const;
  for (const request of requests) await refusalOf(plugin, request);
  const [first, second] = requests.map((request) => request.commitSteps?.[0]);
  await first?.prepare();
  let entered = false;
  const waiting = Promise.resolve(second?.prepare()).then(() => {
    entered = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(entered).toBe(false);
  // The first commit is over and visible.
  world.with('resourcequotas', quota({ secrets: '9' }, { secrets: '1' }));
  first?.settle(true);
  await waiting;
  second?.settle(true);
  expect((requests[1].sideWrites[0]?.object as unknown as ResourceQuota | undefined)?.status.used).toEqual({ secrets: '2' });
});

test('where the store tells the revision at once, the next request builds on it before anything is durable', async () => {
  const { world, plugin } = await start(quota({ secrets: '2' }, { secrets: '0' }));
  const requests = Array.from({ length: 3 }, () => world.request('secrets', secret));
  for (const request of requests) await refusalOf(plugin, request);
  const [first, second, third] = requests.map((request) => request.commitSteps?.[0] as CommitStep);
  await first?.prepare();
  first?.assigned?.(8);
  await second?.prepare();
  second?.assigned?.(9);
  expect(requests[1]?.sideWrites[0]?.object).toMatchObject({ metadata: { resourceVersion: '8' }, status: { used: { secrets: '2' } } });
  await expect(third?.prepare()).rejects.toThrow(/used: secrets=2, limited: secrets=2/);
  third?.settle(false);
  // The disk fails: what was built on the first goes with it.
  first?.settle(false);
  second?.settle(false);
  const after = world.request('secrets', secret);
  await refusalOf(plugin, after);
  expect(await charged(after)).toEqual([{ secrets: '1' }]);
});

test('a dry run is checked and not charged', async () => {
  const { world, plugin } = await start(quota({ secrets: '1' }, { secrets: '0' }));
  const request = world.request('secrets', secret, { dryRun: true });
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(request.commitSteps).toBeUndefined();
});

test('a quota whose use nobody has counted yet lets nothing through', async () => {
  const { world, plugin } = await start({ ...quota({ secrets: '1' }, {}), status: { hard: { secrets: '1' } } });
  expect(await refusalOf(plugin, world.request('secrets', secret))).toMatch(/status unknown for quota: q, resources: secrets/);
});

test.each([
  ['configmaps', { metadata: { name: 'x', namespace: 'ns' } }, 'count/configmaps'],
  ['apps/deployments', { metadata: { name: 'x', namespace: 'ns' }, spec: { selector: {}, template: {} } }, 'count/deployments.apps'],
  ['coordination/leases', { metadata: { name: 'x', namespace: 'ns' } }, 'count/leases.coordination.k8s.io'],
  ['resourcequotas', { metadata: { name: 'x', namespace: 'ns' } }, 'resourcequotas'],
  ['persistentvolumeclaims', { metadata: { name: 'x', namespace: 'ns' }, spec: {} }, 'persistentvolumeclaims'],
])('%s are counted as %s', async (kind, object, name) => {
  const { world, plugin } = await start(quota({ [name]: '1' }, { [name]: '0' }));
  const request = world.request(kind, object);
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(await charged(request)).toEqual([{ [name]: '1' }]);
});

test('compute is added up, the neediest init container included, and every container must state it', async () => {
  const bounds = { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '5' };
  const { world, plugin } = await start(quota(bounds, { 'requests.cpu': '0', 'limits.memory': '0', pods: '0' }));
  const stated = { requests: { cpu: '100m' }, limits: { memory: '100Mi' } };
  const request = world.request(
    'pods',
    podOf({
      containers: [ctr(stated), ctr(stated, 'd')],
      initContainers: [ctr({ requests: { cpu: '500m' }, limits: { memory: '1Mi' } }, 'i')],
    }),
  );
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(await charged(request)).toEqual([{ 'requests.cpu': '500m', 'limits.memory': '200Mi', pods: '1' }]);
  expect(await refusalOf(plugin, world.request('pods', podOf({ containers: [ctr(stated), ctr({}, 'd')] })))).toBe(
    'pods "p" is forbidden: failed quota: q: must specify limits.memory for: d; requests.cpu for: d',
  );
});

test.each([
  ['BestEffort', {}, true],
  ['BestEffort', { containers: [ctr({ requests: { cpu: '1' } })] }, false],
  ['NotBestEffort', { containers: [ctr({ requests: { cpu: '1' } })] }, true],
  ['Terminating', { activeDeadlineSeconds: 5 }, true],
  ['Terminating', {}, false],
  ['NotTerminating', {}, true],
  [
    'CrossNamespacePodAffinity',
    { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'z', namespaces: ['other'] }] } } },
    true,
  ],
  ['CrossNamespacePodAffinity', {}, false],
])('the scope %s holds %j: %s', async (scope, spec, holds) => {
  const { world, plugin } = await start(quota({ pods: '5' }, { pods: '0' }, { scopes: [scope] }));
  const request = world.request('pods', podOf(spec));
  await refusalOf(plugin, request);
  expect(request.commitSteps !== undefined).toBe(holds);
});

test.each([
  ['In', ['high'], 'high', true],
  ['In', ['high'], 'low', false],
  ['NotIn', ['high'], 'low', true],
  ['Exists', undefined, 'low', true],
  ['DoesNotExist', undefined, undefined, true],
])('a quota for priority classes %s %j holds %s: %s', async (operator, values, priorityClassName, holds) => {
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }] };
  const { world, plugin } = await start(quota({ pods: '5' }, { pods: '0' }, { scopeSelector }));
  const request = world.request('pods', podOf(priorityClassName === undefined ? {} : { priorityClassName }));
  await refusalOf(plugin, request);
  expect(request.commitSteps !== undefined).toBe(holds);
});

test('an update is charged with what it adds, and gives back what it frees', async () => {
  const bounds = { 'requests.storage': '3Gi', 'services.nodeports': '1' };
  const { world, plugin } = await start(quota(bounds, { 'requests.storage': '2Gi', 'services.nodeports': '1' }));
  const claim = (storage: string) => ({ metadata: { name: 'c', namespace: 'ns' }, spec: { resources: { requests: { storage } } } });
  const grown = world.request('persistentvolumeclaims', claim('2Gi'), { old: claim('1Gi') });
  expect(await refusalOf(plugin, grown)).toBeUndefined();
  expect(await charged(grown)).toEqual([{ 'requests.storage': '3Gi', 'services.nodeports': '1' }]);
  expect(await refusalOf(plugin, world.request('persistentvolumeclaims', claim('9Gi'), { old: claim('1Gi') }))).toMatch(/exceeded quota/);
  const service = (type: string) => ({ metadata: { name: 's', namespace: 'ns' }, spec: { type, ports: [{ port: 80 }] } });
  const freed = world.request('services', service('ClusterIP'), { old: service('NodePort') });
  expect(await refusalOf(plugin, freed)).toBeUndefined();
  expect(await charged(freed)).toEqual([{ 'requests.storage': '2Gi', 'services.nodeports': '0' }]);
});

test('several quotas are all charged', async () => {
  const { world, plugin } = await start(
    quota({ secrets: '5' }, { secrets: '1' }),
    quota({ 'count/secrets': '5' }, { 'count/secrets': '4' }, {}, 'r'),
  );
  const request = world.request('secrets', secret);
  await refusalOf(plugin, request);
  expect(await charged(request)).toEqual([{ secrets: '2' }, { 'count/secrets': '5' }]);
});

test('resources that the configuration limits need a quota that covers them', async () => {
  const world = new World();
  const plugin = await world.plugin(resourceQuota, {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'ResourceQuotaConfiguration',
    limitedResources: [
      { resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['vip'] }] },
      { resource: 'persistentvolumeclaims', matchContains: ['fast.storageclass.storage.k8s.io/requests.storage'] },
    ],
  });
  expect(await refusalOf(plugin, world.request('pods', podOf()))).toBeUndefined();
  expect(await refusalOf(plugin, world.request('pods', podOf({ priorityClassName: 'vip' })))).toMatch(
    /insufficient quota to match these scopes: \[\{PriorityClass In \[vip\]\}\]/,
  );
  const claim = {
    metadata: { name: 'c', namespace: 'ns' },
    spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
  };
  expect(await refusalOf(plugin, world.request('persistentvolumeclaims', claim))).toMatch(
    /insufficient quota to consume: fast.storageclass.storage.k8s.io\/requests.storage/,
  );
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] };
  world.with('resourcequotas', quota({ pods: '5' }, { pods: '0' }, { scopeSelector }));
  expect(await refusalOf(plugin, world.request('pods', podOf({ priorityClassName: 'vip' })))).toBeUndefined();
});

test('a hundred quotas of many resources are charged in many turns, and only for what the request uses', async () => {
  const others = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`count/k${i}.example.com`, '1']));
  const quotas = Array.from({ length: 100 }, (_, i) => quota({ ...others, secrets: '5' }, { ...others, secrets: '2' }, {}, `q${i}`));
  const { world, plugin } = await start(...quotas);
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now++);
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns++;
    immediate = setImmediate(count);
  });
  const request = world.request('secrets', secret);
  expect(await refusalOf(plugin, request)).toBeUndefined();
  const turnsOfCheck = turns;
  expect(turnsOfCheck).toBeGreaterThan(10);
  const usages = await charged(request);
  clearImmediate(immediate);
  vi.restoreAllMocks();
  expect(turns - turnsOfCheck).toBeGreaterThan(10);
  expect(usages).toEqual(quotas.map(() => ({ ...others, secrets: '3' })));
});
