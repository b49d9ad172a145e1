/** Controllers within a real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeRequest, newKeyPair, noNames, privateKeyPem } from '../../packages/pki/src/index.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';
import { until } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: ['*', 'bootstrapsigner', 'tokencleaner'] });
});
afterAll(async () => {
  await server.close();
});
const admin = () => server.admin;

test('controllers may do what the roles of the first start let them do, and no more', async () => {
  const binding = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:controller:service-account-controller';
  const kept = await admin().ok('GET', binding);
  await admin().ok('DELETE', binding);
  const namespace = await server.namespace();
  await until('the other controllers have seen the namespace', async () => {
    const map = await admin().get(`/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`);
    return map.status === 200;
  });
  expect((await admin().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status).toBe(404);
  const { resourceVersion: _version, uid: _uid, ...metadata } = kept.metadata;
  await admin().ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { ...kept, metadata });
  await until(
    'the account is made',
    async () => (await admin().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200,
  );
});

test('a namespace that is held says what holds it, and goes when it is let go', async () => {
  const namespace = await server.namespace();
  await admin().ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/hold'] } });
  await admin().ok('DELETE', `/api/v1/namespaces/${namespace}`);
  const held = await until('a condition tells', async () => {
    const found = await admin().ok('GET', `/api/v1/namespaces/${namespace}`);
    return found.status.conditions?.find((condition: Loose) => condition.type === 'NamespaceObjectsHeld');
  });
  expect(held.message).toBe('configmaps/held waits for example.com/hold');
  expect((await admin().patch(`/api/v1/namespaces/${namespace}/configmaps/held`, { metadata: { finalizers: null } })).status).toBe(200);
  await until('the namespace is gone', async () => (await admin().get(`/api/v1/namespaces/${namespace}`)).status === 404);
});

describe('certificates', () => {
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

  test('what the server signs lets its holder in', async () => {
    const keys = newKeyPair();
    const name = unique('csr');
    const request = Buffer.from(makeRequest({ commonName: 'jane', organizations: ['dev'] }, keys, noNames)).toString('base64');
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'], expirationSeconds: 3600 };
    await admin().ok('POST', requests, { metadata: { name }, spec });
    const approval = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test' }] } };
    expect((await admin().patch(`${requests}/${name}/approval`, approval)).status).toBe(200);
    const certificate: string = await until(
      'it is signed',
      async () => (await admin().ok('GET', `${requests}/${name}`)).status.certificate,
    );
    const cert = Buffer.from(certificate, 'base64').toString();
    const jane = server.client({ certificate: { key: privateKeyPem(keys.privateKey), cert } });
    const answer = await jane.get('/api/v1/namespaces/default/pods');
    expect([answer.status, answer.json.message]).toEqual([403, expect.stringContaining('User "jane" cannot list resource "pods"')]);
    const review = await jane.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/version', verb: 'get' } },
    });
    expect(review.json.status.allowed).toBe(true);
  });
});

test('an owner in one kind and its dependents in others go together', async () => {
  const namespace = await server.namespace();
  const path = `/api/v1/namespaces/${namespace}`;
  const owner = await admin().ok('POST', `${path}/configmaps`, { metadata: { name: 'owner' } });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }];
  await admin().ok('POST', `${path}/secrets`, { metadata: { name: 'child', ownerReferences } });
  await admin().ok('POST', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, { metadata: { name: 'child', ownerReferences } });
  await admin().ok('DELETE', `${path}/configmaps/owner`);
  await until('the secret is gone', async () => (await admin().get(`${path}/secrets/child`)).status === 404);
  await until(
    'the lease is gone',
    async () => (await admin().get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/child`)).status === 404,
  );
});

test('the queues of the controllers are counted', async () => {
  const metrics = (await admin().get('/metrics')).text;
  expect(metrics).toMatch(/workqueue_adds_total\{name="serviceaccount"\} [1-9]/);
  expect(metrics).toMatch(/workqueue_work_duration_seconds_count\{name="namespace"\} \d/);
});

test('nothing went wrong', () => {
  expect(server.errors).toEqual([]);
});

test('a server whose controllers are off leaves namespaces alone, and ends at once', async () => {
  const quiet = await startTestServer({ controllers: ['-*'] });
  const namespace = await quiet.namespace();
  await quiet.admin.ok('DELETE', `/api/v1/namespaces/${namespace}`);
  expect((await quiet.admin.ok('GET', `/api/v1/namespaces/${namespace}`)).status.phase).toBe('Terminating');
  expect((await quiet.admin.ok('GET', '/api/v1/serviceaccounts')).items).toEqual([]);
  await quiet.close();
});

test('a controller that does not exist is refused at the start', async () => {
  await expect(startTestServer({ controllers: ['*', '-namespce'] })).rejects.toThrow('"namespce" is not the name of a controller');
});
