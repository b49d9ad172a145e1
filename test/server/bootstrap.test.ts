/** The objects of a first start, as clients find them. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { recordedText } from '../../packages/lib/src/testing/recordings.testing.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const flow = '/apis/flowcontrol.apiserver.k8s.io/v1beta2';
const paths: Record<string, string> = {
  namespaces: '/api/v1/namespaces',
  services: '/api/v1/services',
  clusterroles: `${rbac}/clusterroles`,
  clusterrolebindings: `${rbac}/clusterrolebindings`,
  roles: `${rbac}/roles`,
  rolebindings: `${rbac}/rolebindings`,
  priorityclasses: '/apis/scheduling.k8s.io/v1/priorityclasses',
  flowschemas: `${flow}/flowschemas`,
  prioritylevelconfigurations: `${flow}/prioritylevelconfigurations`,
  apiservices: '/apis/apiregistration.k8s.io/v1/apiservices',
};

/** What a recording leaves out: what is different on every server and at every time. */
function lasting(object: Loose): Loose {
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, selfLink, ...metadata } = object.metadata;
  const text = jsonText({ ...object, metadata })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/"targetPort":\d+/, '"targetPort":0');
  return JSON.parse(text);
}
const named = (objects: Loose[]): Record<string, Loose> =>
  Object.fromEntries(objects.map((object) => [`${object.metadata.namespace ?? ''}/${object.metadata.name}`, lasting(object)]));

describe('compared with a stock server', () => {
  let server: TestServer;
  let facts: Record<string, Loose[]>;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
    facts = JSON.parse(recordedText('api-facts', 'bootstrap-objects.json'));
  });
  afterAll(() => server.close());

  test.each(Object.entries(paths))('%s', async (name, path) => {
    expect(named((await server.admin.ok('GET', path)).items)).toEqual(named(facts[name] as Loose[]));
  });

  test('configmaps', async () => {
    const wanted = Object.keys(named(facts.configmaps as Loose[]));
    expect(Object.keys(named((await server.admin.ok('GET', '/api/v1/configmaps')).items))).toEqual(expect.arrayContaining(wanted));
  });

  test('the service of the server leads to it', async () => {
    const endpoints = await server.admin.ok('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    expect(endpoints.subsets).toEqual([
      { addresses: [{ ip: expect.any(String) }], ports: [{ name: 'https', port: server.port, protocol: 'TCP' }] },
    ]);
  });
});

test('under its own identity no name of a stock server appears', async () => {
  const server = await startTestServer({ identity: 'plat' });
  for (const path of Object.values(paths)) {
    const text = (await server.admin.get(path.replaceAll('k8s.io', 'plat.dev'))).text;
    expect(new Set(text.match(/[\w./:-]*(k8s\.io|kubernetes|kube-(system|public|node-lease|root-ca))[\w./:-]*/g) ?? []), path).toEqual(
      new Set(),
    );
    expect(JSON.parse(text).items.length, path).toBeGreaterThan(0);
  }
  expect((await server.admin.get('/api/v1/namespaces/default/services/plat')).status).toBe(200);
  await server.close();
});
