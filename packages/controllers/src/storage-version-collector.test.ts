import { afterEach, expect, test } from 'vitest';
import { storageVersionCollector } from './storage-version-collector.ts';
import { FakeApi, type FakeKind, type Loose, runControllers, type TestRun } from './testing.ts';

const group = 'internal.apiserver.k8s.io';
const versions: FakeKind = { group, version: 'v1alpha1', name: 'storageversions', kind: 'StorageVersion', namespaced: false };
const leases: FakeKind = { group: 'coordination.k8s.io', version: 'v1', name: 'leases', kind: 'Lease', namespaced: true };
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start() {
  const api = new FakeApi([versions, leases]);
  const lease = (name: string, labels: Loose = { 'k8s.io/component': 'kube-apiserver' }): Loose =>
    api.put(leases, { metadata: { name, namespace: 'kube-system', labels } });
  /** `a=v1 b=v2`: server a stores version 1, server b version 2. */
  const stored = (name: string, text: string): Loose => {
    const storageVersions = text.split(' ').map((one) => {
      const [apiServerID, encodingVersion] = one.split('=');
      return { apiServerID, encodingVersion, decodableVersions: [encodingVersion] };
    });
    return api.put(versions, { metadata: { name }, spec: {}, status: { storageVersions } });
  };
  const servers = (name: string): string[] | undefined =>
    api.get(versions, '', name)?.status.storageVersions.map((one: Loose) => one.apiServerID);
  const begin = (): TestRun => {
    run = runControllers(api, [storageVersionCollector]);
    return run;
  };
  return { api, lease, stored, servers, begin };
}

test('what servers without a lease said is taken out, and what follows from the others is set', async () => {
  const { api, lease, stored, servers, begin } = start();
  lease('a');
  lease('other', {});
  stored('core.pods', 'a=v1 gone=v2 other=v1');
  stored('core.nodes', 'gone=v1');
  stored('core.secrets', 'a=v1');
  const before = api.get(versions, '', 'core.secrets').metadata.resourceVersion;
  await begin().idle();
  expect([servers('core.pods'), servers('core.nodes'), servers('core.secrets')]).toEqual([['a'], undefined, ['a']]);
  expect(api.get(versions, '', 'core.pods').status).toMatchObject({
    commonEncodingVersion: 'v1',
    conditions: [{ type: 'AllEncodingVersionsEqual', status: 'True', reason: 'CommonEncodingVersionSet' }],
  });
  expect(api.get(versions, '', 'core.secrets').metadata.resourceVersion).toBe(before);
});

test('the end of a lease is the end of what its server said', async () => {
  const { api, lease, stored, servers, begin } = start();
  lease('a');
  lease('b');
  stored('core.pods', 'a=v1 b=v2');
  stored('core.nodes', 'b=v1');
  const running = begin();
  await running.idle();
  expect([servers('core.pods'), servers('core.nodes')]).toEqual([['a', 'b'], ['b']]);
  await api.remove(leases, 'kube-system', 'b');
  await running.idle();
  expect([servers('core.pods'), servers('core.nodes')]).toEqual([['a'], undefined]);
  stored('core.nodes', 'b=v1');
  await running.idle();
  expect(servers('core.nodes')).toBeUndefined();
  expect(running.failures).toEqual([]);
});
