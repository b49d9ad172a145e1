import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Event } from '../../packages/kinds/src/audit/schema/v1.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issueServing, newAuthority, readAuthority } from '../../packages/pki/src/index.ts';
import { unknownFieldsIn } from '../../packages/schema/src/fields/field-place.ts';
import { decode } from '../../packages/schema/src/json/index.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import { define, definitionOf } from '../support/custom.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

const directory = temporaryDirectory('plat-audit');
let serial = 0;

interface Audited {
  readonly server: TestServer;
  /** Ends the server, and answers everything that was recorded. */
  close(): Promise<Loose[]>;
}

async function audited(policy: object, options: TestServerOptions = {}): Promise<Audited> {
  const id = serial++;
  const policyFile = join(directory, `policy-${id}.yaml`);
  const log = join(directory, `audit-${id}.log`);
  writeFileSync(policyFile, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy }));
  const server = await startTestServer({
    identity: 'kubernetes',
    controllers: [],
    auditPolicyFile: policyFile,
    auditLogPath: log,
    ...options,
  });
  return {
    server,
    close: async () => {
      await server.close();
      return readFileSync(log, 'utf8')
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
  };
}
const people = { users: ['admin', 'alice', 'bob', 'system:anonymous'] };
const complete = (events: Loose[]): Loose[] => events.filter(({ stage }) => stage === 'ResponseComplete');

test('an event says who did what to what, when, from where, and how it ended', async () => {
  const { server, close } = await audited({ rules: [{ level: 'Metadata', ...people, namespaces: ['default'] }] });
  const before = Date.now();
  const made = await server.admin.post(
    '/api/v1/namespaces/default/configmaps?fieldManager=me',
    { metadata: { name: 'c' }, data: { k: 'value' } },
    { 'x-forwarded-for': '10.1.2.3, nonsense', 'audit-id': 'my-id' },
  );
  expect(made.headers['audit-id']).toBe('my-id');
  await server.bob.get('/api/v1/namespaces/default/secrets/s');
  const events = await close();
  expect(events.map(({ stage, verb }) => `${verb} ${stage}`)).toEqual([
    'create RequestReceived',
    'create ResponseComplete',
    'get RequestReceived',
    'get ResponseComplete',
  ]);
  const [received, created, , refused] = events;
  expect(created).toEqual({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID: 'my-id',
    stage: 'ResponseComplete',
    requestURI: '/api/v1/namespaces/default/configmaps?fieldManager=me',
    verb: 'create',
    user: { username: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] },
    sourceIPs: ['10.1.2.3', '127.0.0.1'],
    userAgent: 'test/1.0',
    objectRef: { resource: 'configmaps', namespace: 'default', name: 'c', apiVersion: 'v1' },
    responseStatus: { metadata: {}, code: 201 },
    requestReceivedTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    stageTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
  });
  expect(received).toMatchObject({
    stage: 'RequestReceived',
    objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
  });
  expect(received.responseStatus).toBeUndefined();
  expect(Date.parse(created.requestReceivedTimestamp)).toBeGreaterThanOrEqual(before - 5);
  expect(Date.parse(created.stageTimestamp)).toBeGreaterThanOrEqual(Date.parse(created.requestReceivedTimestamp));
  expect(refused).toMatchObject({
    user: { username: 'bob' },
    objectRef: { resource: 'secrets', name: 's' },
    responseStatus: { status: 'Failure', reason: 'Forbidden', code: 403, details: { name: 's', kind: 'secrets' } },
    annotations: { 'authorization.k8s.io/decision': 'forbid' },
  });
  // What was recorded are objects of the API's own schema.
  for (const event of events) {
    decode(Event as MessageType, event);
    expect(unknownFieldsIn(Event as MessageType, event)).toEqual([]);
  }
});

test('levels decide what of the bodies is kept', async () => {
  const rule = (level: string, name: string) => ({
    level,
    ...people,
    namespaces: ['default'],
    resources: [{ resources: ['configmaps'], resourceNames: [name] }],
  });
  const { server, close } = await audited({
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [rule('Metadata', 'm'), rule('Request', 'r'), rule('RequestResponse', 'rr'), { level: 'None' }],
  });
  const base = '/api/v1/namespaces/default/configmaps';
  for (const name of ['m', 'r', 'rr', 'n']) {
    await server.admin.ok('POST', base, { metadata: { name }, data: { k: 'v' } });
    await server.admin.put(`${base}/${name}`, { metadata: { name }, data: { k: 'put' } });
    await server.admin.patch(`${base}/${name}`, { data: { k: 'patched' } });
    await server.admin.send('PATCH', `${base}/${name}?fieldManager=a&force=true`, {
      body: `apiVersion: v1\nkind: ConfigMap\ndata:\n  k: applied\n`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
    });
    await server.admin.delete(`${base}/${name}`, { gracePeriodSeconds: 3 });
  }
  const events = complete(await close());
  const of = (name: string): Loose[] => events.filter(({ objectRef }) => objectRef.name === name);
  expect(of('n')).toEqual([]);
  for (const event of of('m')) expect([event.requestObject, event.responseObject]).toEqual([undefined, undefined]);
  // The name of an object to be created is not in the path: the rules did not know it.
  expect(of('rr').map(({ verb }) => verb)).toEqual(['update', 'patch', 'patch', 'delete']);
  for (const name of ['r', 'rr']) {
    expect(of(name).map(({ requestObject }) => requestObject)).toEqual([
      { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, creationTimestamp: null }, data: { k: 'put' } },
      { data: { k: 'patched' } },
      { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'applied' } },
      { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', gracePeriodSeconds: 3 },
    ]);
  }
  for (const event of of('r')) expect(event.responseObject).toBeUndefined();
  expect(of('rr').map(({ responseObject }) => responseObject.data?.k ?? responseObject.kind)).toEqual([
    'put',
    'patched',
    'applied',
    'Status',
  ]);
  expect(JSON.stringify(events)).not.toContain('managedFields');
});

test('answers are recorded in whatever form they were sent: lists, Tables, YAML, protobuf, pretty text', async () => {
  const { server, close } = await audited({
    omitStages: ['RequestReceived'],
    rules: [{ level: 'RequestResponse', ...people, namespaces: ['default'] }],
  });
  const base = '/api/v1/namespaces/default/configmaps';
  const forms = {
    yaml: 'application/yaml',
    binary: 'application/vnd.kubernetes.protobuf',
    table: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    pretty: 'application/json;pretty=1',
    plain: 'application/json',
  };
  await server.admin.ok('POST', base, { metadata: { name: 'c' }, data: { k: 'v' } });
  let requests = 0;
  const get = (path: string, accept: string) => server.admin.get(path, { accept, 'user-agent': String(requests++) });
  for (const accept of Object.values(forms)) {
    await get(`${base}/c`, accept);
    await get(base, accept);
  }
  await get(`${base}/gone`, forms.binary);
  // An answer that is sent in pieces may be recorded after the next one.
  const numbered = complete(await close()).filter(({ userAgent }) => /^\d+$/.test(userAgent));
  const events = numbered.sort((a, b) => Number(a.userAgent) - Number(b.userAgent));
  expect(events.map(({ responseObject }) => responseObject?.kind)).toEqual([
    'ConfigMap',
    'ConfigMapList',
    'ConfigMap',
    'ConfigMapList',
    'Table',
    'Table',
    'ConfigMap',
    'ConfigMapList',
    'ConfigMap',
    'ConfigMapList',
    'Status',
  ]);
  for (const { responseObject } of events.slice(0, 10)) {
    const one = responseObject.items?.[0] ?? responseObject.rows?.[0]?.object ?? responseObject;
    expect(one.metadata.name).toBe('c');
  }
});

test('Secrets and tokens are never recorded, at the highest level, by no way of writing them', async () => {
  const { server, close } = await audited({ rules: [{ level: 'RequestResponse' }] });
  const word = 'aHVudGVyMg'; // and what would come of it
  const value = `${word}==`;
  const base = '/api/v1/namespaces/default/secrets';
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data: { k: value } }) };
  await server.admin.ok('POST', base, { metadata: { name: 's', annotations }, data: { k: value } });
  await server.admin.put(`${base}/s`, { metadata: { name: 's' }, data: { k: value } });
  await server.admin.patch(`${base}/s`, { data: { l: value } });
  await server.admin.patch(`${base}/s`, { data: { l: value } }, 'strategic-merge-patch');
  await server.admin.patch(`${base}/s`, [{ op: 'add', path: '/data/m', value }], 'json-patch');
  await server.admin.patch(`${base}/s`, { data: { l: value, wrong: [value] } });
  await server.admin.patch(`${base}/s?fieldManager=x&force=true`, { apiVersion: 'v1', kind: 'Secret', data: { n: value } }, 'apply-patch');
  for (const accept of [
    'application/json',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  ]) {
    await server.admin.get(`${base}/s`, { accept });
    await server.admin.get(`${base}?includeObject=Object`, { accept });
  }
  await server.admin.post(base, `{"metadata":{"name":"bad"},"data":{"k":"${value}"`);
  await server.admin.post(base, { metadata: { name: 'bad name' }, data: { k: `${word}!` } });
  await server.admin.delete(`${base}/s`);
  await server.admin.send('POST', '/api/v1/namespaces/default/serviceaccounts', { body: { metadata: { name: 'sa' } } });
  const issued = await server.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts/sa/token', { spec: {} });
  await server.admin.ok('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: issued.status.token },
  });
  await server.anonymous.get('/api', { authorization: `Bearer ${issued.status.token}x` });
  const events = await close();
  expect(complete(events).length).toBeGreaterThan(20);
  const text = JSON.stringify(events);
  expect(text).not.toContain(word);
  expect(text).not.toContain(Buffer.from(value, 'base64').toString());
  expect(text).not.toContain(issued.status.token.split('.')[2]);
  expect(text).toContain('[redacted]');
});

test('both identities of someone who acts as another are recorded; the rule is for who authenticated', async () => {
  const { server, close } = await audited({ omitStages: ['RequestReceived'], rules: [{ level: 'Metadata', users: ['admin'] }] });
  await server.admin.get('/api/v1/namespaces/default/pods', { 'impersonate-user': 'carol', 'impersonate-group': 'ops' });
  const [event] = await close();
  expect(event).toMatchObject({
    user: { username: 'admin' },
    impersonatedUser: { username: 'carol', groups: ['ops', 'system:authenticated'] },
    responseStatus: { code: 403 },
  });
});

test('who cannot be authenticated is recorded once', async () => {
  const { server, close } = await audited({
    rules: [
      { level: 'Metadata', users: ['alice'] },
      { level: 'Metadata', nonResourceURLs: ['/healthz'] },
    ],
  });
  await server.anonymous.get('/api/v1/pods/x', { authorization: 'Bearer nobody' });
  await server.anonymous.get('/healthz', { authorization: 'Bearer nobody' });
  const events = await close();
  expect(events).toMatchObject([
    {
      stage: 'ResponseStarted',
      user: {},
      requestURI: '/healthz',
      responseStatus: { status: 'Failure', reason: 'Unauthorized', message: 'Authentication failed, attempted: bearer', code: 401 },
    },
  ]);
});

test('requests that last are logged when they begin and when they end', async () => {
  const { server, close } = await audited({ rules: [{ level: 'RequestResponse', ...people, verbs: ['watch'] }] });
  const watch = await server.admin.watch('/api/v1/namespaces/default/configmaps?watch=1&timeoutSeconds=30');
  watch.close();
  const events = await close();
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
  expect(events[1].responseStatus.code).toBe(200);
  expect(events[2].responseObject).toBeUndefined();
});

test('deprecated versions and pod security leave their marks', async () => {
  const { server, close } = await audited({
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', ...people, namespaces: ['marked'] }],
  });
  await server.admin.ok('POST', '/api/v1/namespaces', {
    metadata: { name: 'marked', labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } },
  });
  await server.admin.get('/apis/batch/v1beta1/namespaces/marked/cronjobs');
  await server.admin.send('POST', '/api/v1/namespaces/marked/serviceaccounts', { body: { metadata: { name: 'default' } } });
  await server.admin.ok('POST', '/api/v1/namespaces/marked/pods', {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  });
  const events = await close();
  const of = (resource: string): Loose => events.find(({ objectRef }) => objectRef.resource === resource).annotations;
  expect(of('cronjobs')).toMatchObject({ 'k8s.io/deprecated': 'true', 'k8s.io/removed-release': '1.25' });
  expect(of('pods')).toMatchObject({ 'pod-security.kubernetes.io/enforce-policy': 'baseline:latest' });
});

test('deprecated versions of custom kinds leave the same mark as built-in ones', async () => {
  const { server, close } = await audited({
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata', ...people, resources: [{ group: 'kitchen.example.com' }] }],
  });
  const versions = [{ name: 'v2' }, { name: 'v1', deprecated: true, deprecationWarning: 'use v2' }];
  await define(server, definitionOf(server, 'kitchen.example.com', 'Ladle', versions));
  for (const version of ['v1', 'v2'])
    expect((await server.admin.get(`/apis/kitchen.example.com/${version}/namespaces/default/ladles`)).status).toBe(200);
  const marks = (await close()).map(({ objectRef, annotations }) => [objectRef.apiVersion, annotations?.['k8s.io/deprecated']]);
  expect(marks).toEqual([
    ['v1', 'true'],
    ['v2', undefined],
  ]);
});

test('nothing is lost when the server ends while requests are under way', async () => {
  const { server, close } = await audited({ rules: [{ level: 'Metadata', ...people, verbs: ['create'], namespaces: ['default'] }] });
  const answers = Array.from({ length: 200 }, (_, i) =>
    server.admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: `c${i}` } }).then(
      ({ status }) => status,
      () => 0,
    ),
  );
  const first = await answers[0];
  expect(first).toBe(201);
  const events = close();
  const done = (await Promise.all(answers)).filter((status) => status === 201).length;
  const recorded = complete(await events).filter(({ responseStatus }) => responseStatus.code === 201).length;
  expect(done).toBeGreaterThan(0);
  expect(recorded).toBeGreaterThanOrEqual(done);
});

test('the old format', async () => {
  const log = join(directory, 'legacy.log');
  const { server } = await audited(
    { rules: [{ level: 'Metadata', ...people, verbs: ['get'], namespaces: ['default'] }] },
    { auditLogPath: log, auditLogFormat: 'legacy' },
  );
  await server.alice.get('/api/v1/namespaces/default/pods/p');
  await server.close();
  const [received, done] = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(received).toMatch(
    /^\S+ AUDIT: id="[^"]+" stage="RequestReceived" ip="127.0.0.1" method="get" user="alice" groups="\\"dev\\",\\"qa\\",\\"system:authenticated\\"" as="<self>" asgroups="<lookup>" user-agent="test\/1.0" namespace="default" uri="\/api\/v1\/namespaces\/default\/pods\/p" response="<deferred>"$/,
  );
  expect(done).toMatch(/response="403"$/);
});

test('a webhook over TLS takes batches; what does not fit is counted', async () => {
  const now = Date.now();
  const issued = newAuthority('hooks', now);
  const { certificate, key } = issueServing(readAuthority(issued), { commonName: 'hook', dns: [], addresses: ['127.0.0.1'] }, now);
  const taken: Loose[] = [];
  let hold: (() => void) | undefined;
  const hook = https.createServer({ cert: certificate, key }, async (req, res) => {
    let text = '';
    for await (const chunk of req) text += chunk;
    taken.push({ authorization: req.headers.authorization, ...JSON.parse(text) });
    if (hold === undefined) res.end();
    else hold = () => res.end();
  });
  await new Promise<void>((resolve) => {
    hook.listen(0, '127.0.0.1', resolve);
  });
  const config = join(directory, 'hook.conf');
  writeFileSync(
    config,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'h',
          cluster: {
            server: `https://127.0.0.1:${(hook.address() as AddressInfo).port}/audit`,
            'certificate-authority-data': Buffer.from(issued.certificate).toString('base64'),
          },
        },
      ],
      users: [{ name: 'u', user: { token: 'hook-token' } }],
      contexts: [{ name: 'c', context: { cluster: 'h', user: 'u' } }],
      'current-context': 'c',
    }),
  );
  const { server, close } = await audited(
    { omitStages: ['RequestReceived'], rules: [{ level: 'Metadata', ...people, verbs: ['get'], namespaces: ['default'] }] },
    { auditWebhookConfigFile: config, auditWebhookBatchMaxSize: 2, auditWebhookBatchBufferSize: 3, auditWebhookBatchMaxWait: 3_600_000 },
  );
  const get = (n: number) => server.admin.get(`/api/v1/namespaces/default/pods/p${n}`);
  await get(1);
  await get(2);
  while (taken.length < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(taken[0]).toMatchObject({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    authorization: 'Bearer hook-token',
    items: [{ objectRef: { name: 'p1' } }, { objectRef: { name: 'p2' } }],
  });
  // The service hangs: eight events are on their way, three wait, and the rest is dropped.
  hold = () => {};
  for (let i = 3; i < 18; i++) await get(i);
  const errors = async (): Promise<string> =>
    /apiserver_audit_error_total\{plugin="webhook"\} (\d+)/.exec((await server.admin.get('/metrics')).text)?.[1] ?? '0';
  while ((await errors()) !== '4') await new Promise((resolve) => setTimeout(resolve, 5));
  hold = undefined;
  hook.closeAllConnections();
  expect(complete(await close())).toHaveLength(17);
  expect(server.errors).toHaveLength(1);
  expect(server.errors[0]).toContain('the queue is full');
  hook.close();
});

test('strict: a request that cannot be recorded is refused', async () => {
  const config = join(directory, 'dead.conf');
  writeFileSync(
    config,
    jsonText({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'h', cluster: { server: 'http://127.0.0.1:1/' } }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'c', context: { cluster: 'h', user: 'u' } }],
      'current-context': 'c',
    }),
  );
  const { server, close } = await audited(
    { rules: [{ level: 'Metadata', ...people, namespaces: ['default'] }] },
    { auditWebhookConfigFile: config, auditWebhookMode: 'blocking-strict', auditWebhookInitialBackoff: 1 },
  );
  const answer = await server.admin.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'c' } });
  expect(answer.json).toMatchObject({ code: 500, message: 'Internal error occurred: failed to store audit event' });
  expect((await server.admin.get('/metrics')).text).toContain('apiserver_audit_requests_rejected_total 1\n');
  const free = await server.admin.get('/api/v1/configmaps?fieldSelector=metadata.name=c');
  expect(free.json.items).toEqual([]);
  await close();
});

test('a policy that cannot be used keeps the server from starting', async () => {
  await expect(audited({ rules: [{ level: 'Everything' }] })).rejects.toThrow(
    /--audit-policy-file .*rules\[0\].level: Unsupported value: "Everything"/,
  );
});

test.skipIf(kubectlMissing !== undefined)('kubectl apply of a Secret leaves no trace of what it holds', async () => {
  const { server, close } = await audited({ rules: [{ level: 'RequestResponse' }] });
  const file = join(directory, 'secret.yaml');
  writeFileSync(file, 'apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: default }\nstringData: { password: correct-horse }\n');
  const apply = (): Promise<string> => kubectlFor(server).ok(['apply', '-f', file]);
  expect(await apply()).toContain('secret/s created');
  writeFileSync(file, readFileSync(file, 'utf8').replace('correct-horse', 'battery-staple'));
  expect(await apply()).toContain('secret/s configured');
  const text = JSON.stringify(await close());
  for (const word of ['correct-horse', 'battery-staple']) {
    expect(text).not.toContain(word);
    expect(text).not.toContain(Buffer.from(word).toString('base64'));
  }
});
