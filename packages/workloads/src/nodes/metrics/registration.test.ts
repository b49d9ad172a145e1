import { FakeApi, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { afterEach, expect, test } from 'vitest';
import { registerMetrics } from './registration.ts';

const apiServices = { group: 'apiregistration.k8s.io', version: 'v1', name: 'apiservices', kind: 'APIService', namespaced: false } as const;
const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', name: 'clusterroles', kind: 'ClusterRole', namespaced: false } as const;

let run: TestRun;
afterEach(async () => {
  await run.stop();
  expect(run.failures).toEqual([]);
});
const withService = async (service: Loose): Promise<string[]> => {
  const api = new FakeApi([apiServices, roles]);
  api.put(apiServices, { metadata: { name: 'v1beta1.metrics.k8s.io' }, spec: { service } });
  run = runControllers(api, [{ name: 'metrics', start: registerMetrics }]);
  await run.idle();
  return [...api.all(apiServices), ...api.all(roles)].map(({ metadata }) => metadata.name);
};

test('an APIService that an earlier release left behind is removed', async () => {
  expect(await withService({ namespace: 'kube-system', name: 'simulated-metrics' })).toEqual(['system:simulated-metrics-reader']);
});

test('that of a metrics server is left alone', async () => {
  expect(await withService({ namespace: 'kube-system', name: 'metrics-server' })).toEqual([
    'v1beta1.metrics.k8s.io',
    'system:simulated-metrics-reader',
  ]);
});
