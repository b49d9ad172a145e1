/** Integers of 64 bits on their way to other programs and back: webhooks, audit trail, exports, backups, encryption, the test kit. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { parseExact } from '../../packages/schema/src/json/parse.ts';
import { caBundle, patched, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { startTestServer as startKit } from '../../packages/testing/src/index.ts';
import { configText, local, newKey } from '../encryption/support.ts';
import { define, definitionOf } from '../support/custom.ts';
import { platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const MOST = 9223372036854775807n;
const ODD = 9007199254740993n;
const group = 'integers.example.com';
const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const thing = (name: string, rest: object, version = 'v1') => ({
  apiVersion: `${group}/${version}`,
  kind: 'Thing',
  metadata: { name },
  ...rest,
});
const at = (name = '', version = 'v1') => `/apis/${group}/${version}/namespaces/default/things${name === '' ? '' : `/${name}`}`;
const directory = temporaryDirectory('plat-integers');

const servers: TestServer[] = [];
const hooks: TestWebhook[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
  for (const hook of hooks) await hook.close();
});
async function start(options: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer({ identity: 'kubernetes', direct: true, ...options });
  servers.push(server);
  return server;
}

test('admission webhooks get it and set it', async () => {
  const server = await start();
  await define(server, definitionOf(server, group, 'Thing', [{ schema }]));
  const hook = await startWebhook(({ request }) => {
    if (request.operation === 'DELETE') return { allowed: true };
    const size = (request.object as Loose).size as bigint;
    return patched({ op: 'test', path: '/size', value: size }, { op: 'add', path: '/next', value: size - 1n });
  });
  hooks.push(hook);
  await server.admin.ok('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'all' },
    webhooks: [
      {
        name: 'all.example.com',
        rules: [
          { operations: ['*'], apiGroups: [group], apiVersions: ['*'], resources: ['*'] },
          { operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] },
        ],
        clientConfig: { url: hook.url, caBundle },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  });
  expect((await server.admin.post(at(), thing('a', { size: MOST }))).json).toMatchObject({ size: MOST, next: MOST - 1n });
  expect((await server.admin.patch(at('a'), { size: ODD })).json).toMatchObject({ size: ODD, next: ODD - 1n });
  const update = hook.calls.at(-1)?.review.request as Loose;
  expect([update.object.size, update.oldObject.size]).toEqual([ODD, MOST]);
  await server.admin.ok('POST', '/api/v1/namespaces/default/pods', {
    metadata: { name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  });
  await server.admin.delete(`/api/v1/namespaces/default/pods/p?gracePeriodSeconds=${MOST}`);
  expect((hook.calls.at(-1)?.review.request as Loose)?.options.gracePeriodSeconds).toBe(MOST);
});

test('conversion webhooks get it and send it', async () => {
  const server = await start();
  const hook = await startWebhook(({ apiVersion, request }, res) => {
    const convertedObjects = (request.objects as Loose[]).map(({ size, length, ...rest }) => {
      const isNew = request.desiredAPIVersion === `${group}/v2`;
      return { ...rest, apiVersion: request.desiredAPIVersion, [isNew ? 'length' : 'size']: isNew ? size - 1n : length + 1n };
    });
    res.end(
      jsonText({ apiVersion, kind: 'ConversionReview', response: { uid: request.uid, result: { status: 'Success' }, convertedObjects } }),
    );
    return undefined;
  });
  hooks.push(hook);
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: hook.url, caBundle } };
  const versions = [{ schema }, { name: 'v2', schema }];
  await define(server, definitionOf(server, group, 'Thing', versions, { conversion: { strategy: 'Webhook', webhook } }));
  await server.admin.ok('POST', at(), thing('a', { size: MOST }));
  expect((await server.admin.get(at('a', 'v2'))).json.length).toBe(MOST - 1n);
  expect((await server.admin.patch(at('a', 'v2'), { length: ODD })).json.length).toBe(ODD);
  expect((await server.admin.get(at('a'))).json.size).toBe(ODD + 1n);
  expect((await server.admin.get(at('', 'v2'))).json.items[0].length).toBe(ODD);
});

test('the audit trail has it', async () => {
  const [policy, log] = [join(directory, 'policy.json'), join(directory, 'audit.log')];
  const rules = [{ level: 'RequestResponse', omitManagedFields: true, resources: [{ group }] }, { level: 'None' }];
  writeFileSync(policy, jsonText({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  const server = await startTestServer({ identity: 'kubernetes', auditPolicyFile: policy, auditLogPath: log });
  await define(server, definitionOf(server, group, 'Thing', [{ schema }]));
  await server.admin.ok('POST', at(), thing('a', { size: MOST }));
  await server.admin.patch(at('a'), { size: ODD });
  await server.close();
  const events = readFileSync(log, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseExact(line) as Loose);
  const complete = events.filter(({ stage, requestObject }) => stage === 'ResponseComplete' && requestObject !== undefined);
  expect(complete.map(({ verb, requestObject, responseObject }) => [verb, requestObject.size, responseObject.size])).toEqual([
    ['create', MOST, MOST],
    ['patch', ODD, ODD],
  ]);
});

test('exports, imports and backups keep it, and so does encryption', async () => {
  const config = join(directory, 'encryption.json');
  writeFileSync(
    config,
    configText('kubernetes', { resources: [`things.${group}`, 'controllerrevisions.apps'], providers: [local('aesgcm', newKey('a'))] }),
  );
  const server = await start({ store: 'lmdb', encryptionProviderConfig: config, direct: false });
  await define(server, definitionOf(server, group, 'Thing', [{ schema }]));
  await server.admin.ok('POST', at(), thing('a', { size: MOST, list: [ODD] }));
  const plat = platFor(server);
  await plat.ok(['store', 'export', '--to', 'objects', '--encryption-provider-config', config]);
  const other = await start({ store: 'lmdb', direct: false });
  const { stderr } = await platFor(other).run(['store', 'import', '--from', join(plat.cwd, 'objects')]);
  expect([stderr, (await other.admin.get(at('a'))).json]).toEqual(['', expect.objectContaining({ size: MOST, list: [ODD] })]);
  await platFor(other).ok(['store', 'export', '--to', join(directory, 'lines.jsonl'), '--format', 'json-lines']);
  const lines = readFileSync(join(directory, 'lines.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => parseExact(line) as Loose).find(({ kind }) => kind === 'Thing')).toMatchObject({ size: MOST, list: [ODD] });
  const backup = join(directory, 'store.backup');
  await platFor(other).ok(['store', 'backup', '--to', backup]);
  const restored = await start({ store: 'memory', restoreFrom: backup });
  expect((await restored.admin.get(at('a'))).json).toMatchObject({ size: MOST, list: [ODD] });
});

test('the test kit takes it and shows it: client, watch, informer, requests, snapshots', async () => {
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
  const server = await startKit({ identity: 'kubernetes', crds: definition, objects: thing('first', { size: ODD }) });
  try {
    const things = server.client().resource({ apiVersion: `${group}/v1`, kind: 'Thing' }, 'default');
    expect((await things.get('first')).size).toBe(ODD);
    const watch = things.watch();
    await watch.ready;
    const createdThing = await things.create(thing('a', { size: MOST }));
    expect(createdThing.size).toBe(MOST);
    for await (const { object } of watch)
      if (object.metadata.name === 'a') {
        expect(object.size).toBe(MOST);
        break;
      }
    expect((await things.patch('a', { size: MOST - 1n })).size).toBe(MOST - 1n);
    expect((await things.apply({ ...thing('a', { more: ODD }) })).more).toBe(ODD);
    const informer = things.informer();
    await informer.synced;
    expect(informer.get('default', 'a')?.size).toBe(MOST - 1n);
    informer.stop();
    expect((await things.list()).items.map(({ size }) => size)).toEqual([MOST - 1n, ODD]);
    for (const options of [{}, { binary: true }]) {
      const pods = server.client(undefined, undefined, options).core.v1.pods('default');
      const pod = await pods.create({
        metadata: { generateName: 'p-' },
        spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: MOST },
      });
      expect(pod.spec.terminationGracePeriodSeconds).toBe(MOST);
      expect((await pods.get(pod.metadata.name ?? '')).spec.terminationGracePeriodSeconds).toBe(MOST);
    }
  } finally {
    await server.close();
  }
});
