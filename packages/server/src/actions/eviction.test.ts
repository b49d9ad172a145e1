import { afterEach, expect, test, vi } from 'vitest';
import { NAMESPACE, openRegistry } from '../registry/scenario.testing.ts';
import { eviction } from './eviction.ts';

afterEach(() => void vi.restoreAllMocks());

test('the budget of a pod is looked for in many turns where there are many', async () => {
  const { deps, create, get, replace } = await openRegistry();
  const metadata = { name: 'a', labels: { app: 'x' } };
  const pod = await create('pods', {
    metadata,
    spec: { containers: [{ name: 'c', image: 'i', terminationMessagePolicy: 'File', imagePullPolicy: 'Always' }] },
  });
  await replace('pods', { ...pod, status: { phase: 'Running' } }, { subresource: 'status' });
  for (let i = 0; i < 100; i++)
    await create('poddisruptionbudgets.policy', {
      metadata: { name: `b${i}` },
      spec: { minAvailable: 1, selector: { matchLabels: { app: `y${i}` } } },
    });
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now++);
  let turns = 0;
  let immediate = setImmediate(function count() {
    turns++;
    immediate = setImmediate(count);
  });
  const write = {
    resource: deps.catalog.builtin('', 'pods'),
    namespace: NAMESPACE,
    name: 'a',
    subresource: 'eviction',
    user: { name: 'alice', groups: [] },
    dryRun: false,
    manager: 'script',
    options: {},
    warn() {},
    annotate() {},
  };
  const answer = await eviction(deps)({ write, body: { metadata: { name: 'a' }, deleteOptions: { gracePeriodSeconds: 0 } } } as never);
  clearImmediate(immediate);
  expect(answer).toMatchObject({ status: 201 });
  expect(turns).toBeGreaterThan(10);
  expect(get('pods', 'a')).toBeUndefined();
});
