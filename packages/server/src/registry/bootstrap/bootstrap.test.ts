import { releaseEnv } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { recordedText } from '@plat-dev/lib/testing/recordings.testing';
import { baseGroup, kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { apiServices } from './api-services.ts';
import { flowSchemas, priorityLevels } from './flow-control.ts';
import { authenticationConfigMap, serverService, systemNamespaces, systemPriorityClasses } from './objects.ts';
import { bootstrap } from './run.ts';

const now = '2026-01-01T00:00:00Z';
/** The recorded times are those of the recording. */
const atNow = (value: unknown): unknown => JSON.parse(jsonText(value).replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, now));

test('the objects are those of a stock server', () => {
  const facts = JSON.parse(recordedText('api-facts', 'bootstrap-objects.json'));
  const served = facts.apiservices.map((one: { spec: { group?: string; version: string } }) => ({
    group: baseGroup(kubernetes, one.spec.group ?? ''),
    version: one.spec.version,
  }));
  expect(apiServices(kubernetes, [...served, { group: 'apiregistration', version: 'v1' }], now)).toEqual(atNow(facts.apiservices));
  expect(flowSchemas(kubernetes, now, releaseEnv())).toEqual(atNow(facts.flowschemas));
  expect(priorityLevels(kubernetes, releaseEnv())).toEqual(facts.prioritylevelconfigurations);
  expect(systemNamespaces(kubernetes)).toEqual(facts.namespaces);
  expect(systemPriorityClasses()).toEqual(facts.priorityclasses);
  expect(serverService(kubernetes, '10.0.0.1', 16443)).toEqual(facts.services[0]);
  const published = facts.configmaps.find((one: { metadata: { name: string } }) => one.metadata.name.startsWith('extension'));
  expect(authenticationConfigMap(kubernetes, published.data['client-ca-file'], undefined)).toEqual(published);
});

test('another identity has the same objects under its own names', () => {
  const text = JSON.stringify([
    flowSchemas(plat, now, releaseEnv()),
    priorityLevels(plat, releaseEnv()),
    systemNamespaces(plat),
    serverService(plat, 'fd00::1', 6443),
  ]);
  expect(text).not.toMatch(/k8s\.io|kubernetes|kube-(system|public|node-lease)/);
  expect(text).toContain('plat-system-service-accounts');
  expect(text).toContain('IPv6');
});

test.each([
  ['scheduling/priorityclasses', 'priority-classes'],
  ['flowcontrol.apiserver/flowschemas', 'flows'],
  ['/namespaces', 'namespaces'],
  ['apiregistration/apiservices', 'api-services'],
  ['/configmaps', 'trust'],
  ['rbac.authorization/clusterroles', 'roles'],
])('while %s are not made, the part %s alone is not done', async (held, part) => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ensure = async (group: string, plural: string): Promise<boolean> => {
    if (`${group}/${plural}` === held) await gate;
    return true;
  };
  const writer = { ensure, ensureAll: ensure, change: async () => {}, find: () => undefined };
  const done: string[] = [];
  const catalog = {
    feature: () => true,
    release: '1.24',
    serves: () => false,
    all: () => [{ kind: { group: 'apps' }, resources: [{ version: 'v1', group: 'apps', custom: false }] }],
  };
  const finished = bootstrap(writer as never, catalog as never, kubernetes, 0, { trust: {}, serviceRanges: [] }, (one) => done.push(one));
  // Everything but what is held goes on without waiting for anything outside.
  await new Promise((resolve) => setImmediate(resolve));
  expect(done.sort()).toEqual(
    ['api-services', 'flows', 'namespaces', 'priority-classes', 'roles', 'service-ranges', 'trust'].filter((one) => one !== part),
  );
  release();
  await finished;
  expect(done).toContain(part);
});
