/** Custom objects whose versions a webhook converts, from end to end: definition, server, webhook over HTTPS. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { caBundle, patched, startWebhook, type TestWebhook } from '../../packages/server/src/admission/webhooks/testing.ts';
import { define, definitionOf, definitionsPath, withRules } from '../support/custom.ts';
import { type Loose, startTestServer, summary, type TestServer } from '../support/server.ts';

const group = 'house.example.com';
const text = { type: 'string' };
const specOf = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more }, status: { type: 'object', properties: { open: text } } },
});
const v1 = (storage: boolean) => ({ name: 'v1', storage, subresources: { status: {} }, schema: specOf({ host: text, port: text }) });
const v2 = (storage: boolean) => ({
  name: 'v2',
  storage,
  subresources: { status: {} },
  schema: specOf({ addr: { type: 'string', maxLength: 20 } }, { required: ['addr'] }),
  additionalPrinterColumns: [{ name: 'Address', type: 'string', jsonPath: '.spec.addr' }],
});

/** How the webhook turns doors; `undefined` while it is broken. */
const good = (door: Loose, to: string): Loose => {
  if (door.apiVersion === to) return door;
  const [host, port] = (door.spec?.addr ?? '').split(':');
  const spec = to.endsWith('/v2') ? { addr: `${door.spec?.host ?? ''}:${door.spec?.port ?? ''}`, extra: 'dropped' } : { host, port };
  return { ...door, apiVersion: to, spec };
};
let turn: typeof good | undefined = good;
let hook: TestWebhook;
let server: TestServer;
let namespace: string;
beforeAll(async () => {
  hook = await startWebhook(({ apiVersion, request }, res) => {
    const objects = request.objects as Loose[];
    const response =
      turn === undefined
        ? { uid: request.uid, result: { status: 'Failure', message: 'the hinge is stuck' } }
        : {
            uid: request.uid,
            result: { status: 'Success' },
            convertedObjects: objects.map((one) => turn?.(one, request.desiredAPIVersion as string)),
          };
    res.end(JSON.stringify({ apiVersion, kind: 'ConversionReview', response }));
    return undefined;
  });
  server = await startTestServer({ direct: true, store: 'lmdb', features: withRules });
  await define(server, definition(true));
});
afterAll(async () => {
  await server.close();
  await hook.close();
});
beforeEach(async () => {
  turn = good;
  namespace = await server.namespace();
  hook.calls.length = 0;
});

/** Doors of which the first or the second version is stored. */
function definition(first: boolean): Loose {
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: hook.url, caBundle } };
  return definitionOf(server, group, 'Door', [v1(first), v2(!first)], { conversion: { strategy: 'Webhook', webhook } });
}
const at = (version: string, name = ''): string =>
  `/apis/${group}/${version}/namespaces/${namespace}/doors${name === '' ? '' : `/${name}`}`;
const door = (version: string, name: string, spec: object): Loose => ({
  apiVersion: `${group}/${version}`,
  kind: 'Door',
  metadata: { name },
  spec,
});

test('every verb speaks both versions, and what a version does not know is dropped', async () => {
  const { admin } = server;
  const watches = await Promise.all(['v1', 'v2'].map((version) => admin.watch(`${at(version)}?watch=1`)));
  const made = await admin.ok('POST', at('v2'), door('v2', 'front', { addr: 'a:80' }));
  expect([made.apiVersion, made.spec]).toEqual([`${group}/v2`, { addr: 'a:80' }]);
  expect((await admin.ok('GET', at('v1', 'front'))).spec).toEqual({ host: 'a', port: '80' });
  expect((await admin.patch(at('v2', 'front'), { spec: { addr: 'b:90' } })).json.spec).toEqual({ addr: 'b:90' });
  expect((await admin.patch(at('v1', 'front'), { spec: { port: '91' } })).json.spec).toEqual({ host: 'b', port: '91' });
  const opened = await admin.patch(`${at('v2', 'front')}/status`, { status: { open: 'yes' } });
  expect([opened.json.status, opened.json.spec]).toEqual([{ open: 'yes' }, { addr: 'b:91' }]);
  await admin.ok('DELETE', at('v2', 'front'));
  for (const watch of watches) {
    expect((await watch.take(5)).map(summary)).toEqual([
      'ADDED front',
      'MODIFIED front',
      'MODIFIED front',
      'MODIFIED front',
      'DELETED front',
    ]);
    watch.close();
  }
  const specs = watches.map((watch) => watch.events.map(({ object }) => object.spec));
  expect(specs[1]).toEqual([{ addr: 'a:80' }, { addr: 'b:90' }, { addr: 'b:91' }, { addr: 'b:91' }, { addr: 'b:91' }]);
  expect(specs[0]?.[4]).toEqual({ host: 'b', port: '91' });
});

test('an object is judged by the schema of the version in which it is written', async () => {
  const wrong = await server.admin.post(at('v2'), door('v2', 'front', {}));
  expect([wrong.status, wrong.json.details.causes[0].field]).toEqual([422, 'spec.addr']);
  await server.admin.ok('POST', at('v1'), door('v1', 'front', { host: 'a-very-long-name.example.com', port: '80' }));
  const long = await server.admin.patch(at('v2', 'front'), { metadata: { labels: { a: 'b' } } });
  expect([long.status, long.json.details.causes[0].field]).toEqual([422, 'spec.addr']);
  expect((await server.admin.patch(at('v1', 'front'), { metadata: { labels: { a: 'b' } } })).status).toBe(200);
});

test('a list takes one call and a Table shows the columns of its version', async () => {
  for (let i = 0; i < 30; i++) await server.admin.ok('POST', at('v1'), door('v1', `d${i}`, { host: `h${i}`, port: '1' }));
  hook.calls.length = 0;
  expect((await server.admin.ok('GET', at('v2'))).items).toHaveLength(30);
  expect(hook.calls).toHaveLength(1);
  const table = await server.admin.get(at('v2'), { accept: `application/json;as=Table;v=v1;g=meta.${server.identity.groupSuffix}` });
  expect(table.json.rows[0].cells.slice(0, 2)).toEqual(['d0', 'h0:1']);
});

test('a page of history takes one call, with the versions that were replaced', async () => {
  const { admin } = server;
  await admin.ok('POST', at('v1'), door('v1', 'front', { host: 'a', port: '0' }));
  for (let i = 1; i <= 30; i++) await admin.patch(at('v1', 'front'), { spec: { port: `${i}` } });
  hook.calls.length = 0;
  const { items } = await admin.ok('GET', `${at('v2', 'front')}?history=full`);
  expect(items.map(({ object }: Loose) => object.spec.addr)).toEqual(Array.from({ length: 31 }, (_, i) => `a:${30 - i}`));
  expect(hook.calls).toHaveLength(1);
  const page = await admin.ok('GET', `${at('v2')}?history=true&limit=5`);
  expect(page.items.at(-1).patch).toContainEqual({ op: 'replace', path: '/spec/addr', value: 'a:26' });
  expect(hook.calls).toHaveLength(2);
});

test('of history a version that cannot be converted is left out alone; a webhook that always fails is called a bounded number of times', async () => {
  const { admin } = server;
  await admin.ok('POST', at('v1'), door('v1', 'front', { host: 'a', port: '0' }));
  for (let i = 1; i <= 30; i++) await admin.patch(at('v1', 'front'), { spec: { port: `${i}` } });
  const historyOf = async (): Promise<Loose[]> => {
    hook.calls.length = 0;
    return (await admin.ok('GET', `${at('v2', 'front')}?history=full`)).items;
  };
  turn = (one, to) => (one.spec.port === '7' ? undefined : good(one, to));
  const items = await historyOf();
  const hidden = items.flatMap(({ object, resourceVersion }, i) => (object === undefined ? [{ i, resourceVersion }] : []));
  expect(hidden.map(({ i }) => i)).toEqual([30 - 7]);
  expect(items[30 - 7]?.reason).toContain('it cannot be converted: conversion webhook for');
  expect(items[30 - 8]).toMatchObject({ reason: expect.stringContaining('the version before: it cannot be converted') });
  expect(items.filter(({ patch }) => patch !== undefined)).toHaveLength(28);
  turn = undefined;
  expect((await historyOf()).every(({ reason }) => reason.includes('the hinge is stuck'))).toBe(true);
  expect(hook.calls).toHaveLength(1 + 2 * 16);
});

test('apply finds the owners in both versions', async () => {
  const apply = (manager: string, version: string, spec: object) =>
    server.admin.send('PATCH', `${at(version, 'front')}?fieldManager=${manager}`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: door(version, 'front', spec),
    });
  expect((await apply('one', 'v2', { addr: 'a:80' })).status).toBe(201);
  const refused = await apply('two', 'v1', { port: '81' });
  expect([refused.status, refused.json.details.causes[0].field]).toEqual([409, '.spec.addr']);
  expect((await apply('two', 'v1', { port: '80' })).status).toBe(200);
});

test('while the webhook fails the stored version works, and nothing is half written', async () => {
  const { admin } = server;
  await admin.ok('POST', at('v1'), door('v1', 'front', { host: 'a', port: '1' }));
  turn = undefined;
  const told = `conversion webhook for ${group}/v1, Kind=Door failed: the hinge is stuck`;
  const answers = [
    await admin.get(at('v2', 'front')),
    await admin.get(at('v2')),
    await admin.patch(at('v2', 'front'), { spec: { addr: 'x:1' } }),
    await admin.send('DELETE', at('v2', 'front')),
    await admin.send('DELETE', at('v2')),
  ];
  expect(answers.map(({ status, json }) => [status, json.message])).toEqual(answers.map(() => [500, told]));
  const made = await admin.post(at('v2'), door('v2', 'back', { addr: 'x:1' }));
  expect([made.status, made.json.message]).toEqual([500, told.replace('/v1,', '/v2,')]);
  expect((await admin.ok('GET', at('v1'))).items.map((one: Loose) => one.spec)).toEqual([{ host: 'a', port: '1' }]);
  const metadata = await admin.get(at('v2'), {
    accept: `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${server.identity.groupSuffix}`,
  });
  expect(metadata.json.items).toHaveLength(1);
});

test('admission webhooks see the version that they ask for, and what they change is converted back', async () => {
  const seen: Loose[] = [];
  const mutator = await startWebhook(({ request }) => {
    seen.push(request.object);
    return patched({ op: 'replace', path: '/spec/addr', value: 'changed:1' });
  });
  const path = `/apis/admissionregistration.${server.identity.groupSuffix}/v1/mutatingwebhookconfigurations`;
  await server.admin.ok('POST', path, {
    metadata: { name: 'doors' },
    webhooks: [
      {
        name: 'doors.example.com',
        rules: [{ apiGroups: [group], apiVersions: ['v2'], operations: ['CREATE'], resources: ['doors'] }],
        clientConfig: { url: mutator.url, caBundle },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const made = await server.admin.ok('POST', at('v1'), door('v1', 'front', { host: 'a', port: '80' }));
  expect(made.spec).toEqual({ host: 'changed', port: '1' });
  expect(seen.map(({ apiVersion, spec }) => [apiVersion, spec])).toEqual([[`${group}/v2`, { addr: 'a:80' }]]);
  await server.admin.ok('DELETE', `${path}/doors`);
  await mutator.close();
});

test.each(['v1', 'v2'])('rules of one version alone hold for requests in it, with %s stored', async (stored) => {
  const kind = stored === 'v1' ? 'Window' : 'Shutter';
  const plural = `${kind.toLowerCase()}s`;
  const rules = [
    { rule: 'self.host != self.port', message: 'host and port differ' },
    { rule: 'oldSelf.host == self.host', message: 'host is immutable' },
  ];
  const ruled = specOf({ host: text, port: text }, { [`${server.identity.schemaExtensionPrefix}validations`]: rules });
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: hook.url, caBundle } };
  const versions = [
    { ...v1(stored === 'v1'), schema: ruled },
    { ...v2(stored === 'v2'), schema: specOf({ addr: text }) },
  ];
  await define(server, definitionOf(server, group, kind, versions, { conversion: { strategy: 'Webhook', webhook } }));
  const path = (version: string, name = ''): string => at(version, name).replace('/doors', `/${plural}`);
  const object = (version: string, name: string, spec: object) => ({ ...door(version, name, spec), kind });
  const refused = ({ status, json }: { status: number; json: Loose }): unknown => [
    status,
    (json.details?.causes ?? []).map(({ message }: Loose) => message.replace(/^.*: /, '')),
  ];
  const { admin } = server;
  expect(refused(await admin.post(path('v1'), object('v1', 'a', { host: 'x', port: 'x' })))).toEqual([422, ['host and port differ']]);
  await admin.ok('POST', path('v1'), object('v1', 'a', { host: 'x', port: '1' }));
  expect(refused(await admin.patch(path('v1', 'a'), { spec: { host: 'y' } }))).toEqual([422, ['host is immutable']]);
  // The other version has no rules.
  expect((await admin.patch(path('v2', 'a'), { spec: { addr: 'y:2' } })).status).toBe(200);
  await admin.ok('POST', path('v2'), object('v2', 'b', { addr: 'x:x' }));
  // What it left is the old value of the next request.
  expect((await admin.patch(path('v1', 'a'), { spec: { port: '3' } })).json.spec).toEqual({ host: 'y', port: '3' });
  expect(refused(await admin.patch(path('v1', 'b'), { metadata: { labels: { a: 'b' } } }))).toEqual([422, ['host and port differ']]);
  expect((await admin.patch(`${path('v2', 'b')}/status`, { status: { open: 'yes' } })).status).toBe(200);
  expect((await admin.patch(path('v1', 'b'), { spec: { port: '4' } })).json).toMatchObject({
    spec: { host: 'x', port: '4' },
    status: { open: 'yes' },
  });
  const applied = (spec: object) =>
    admin.send('PATCH', `${path('v1', 'b')}?fieldManager=me&force=true`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: object('v1', 'b', spec),
    });
  expect(refused(await applied({ host: 'z', port: '5' }))).toEqual([422, ['host is immutable']]);
  expect((await applied({ host: 'x', port: '5' })).status).toBe(200);
});

test('a scale is read and written where the version of the request keeps its number', async () => {
  const number = { type: 'integer' };
  const scaled = (name: string, field: string) => ({
    name,
    schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: number } }, status: { type: 'object' } } },
    subresources: { scale: { specReplicasPath: `.spec.${field}`, statusReplicasPath: '.status.n' } },
  });
  turn = ({ spec, ...rest }, to) => ({ ...rest, apiVersion: to, spec: to.endsWith('/v2') ? { size: spec.wings } : { wings: spec.size } });
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: hook.url, caBundle } };
  const gates = definitionOf(server, group, 'Gate', [scaled('v1', 'wings'), scaled('v2', 'size')], {
    conversion: { strategy: 'Webhook', webhook },
  });
  await define(server, gates);
  const gate = (version: string) => at(version, 'north').replace('/doors/', '/gates/');
  const north = { apiVersion: `${group}/v1`, kind: 'Gate', metadata: { name: 'north' }, spec: { wings: 2 } };
  await server.admin.ok('POST', gate('v1').replace('/north', ''), north);
  const scale = await server.admin.ok('GET', `${gate('v2')}/scale`);
  expect(scale.spec.replicas).toBe(2);
  const wider = await server.admin.ok('PUT', `${gate('v2')}/scale`, { ...scale, spec: { replicas: 3 } });
  expect(wider.spec.replicas).toBe(3);
  expect((await server.admin.patch(`${gate('v2')}/scale`, { spec: { replicas: 4 } })).json.spec.replicas).toBe(4);
  expect((await server.admin.ok('GET', gate('v1'))).spec).toEqual({ wings: 4 });
});

test('after the stored version has changed, objects of the one before are converted when they are read, also after a restart', async () => {
  const path = `${definitionsPath(server)}/doors.${group}`;
  await server.admin.ok('POST', at('v1'), door('v1', 'old', { host: 'a', port: '1' }));
  const { versions } = definition(false).spec;
  const changed = await server.admin.patch(path, { spec: { versions } });
  expect(changed.status, changed.text).toBe(200);
  server = await server.restart();
  await server.admin.ok('POST', at('v2'), door('v2', 'young', { addr: 'b:2' }));
  turn = undefined;
  expect((await server.admin.ok('GET', at('v1', 'old'))).spec).toEqual({ host: 'a', port: '1' });
  expect((await server.admin.get(at('v2', 'old'))).status).toBe(500);
  expect((await server.admin.ok('GET', at('v2', 'young'))).spec).toEqual({ addr: 'b:2' });
  turn = good;
  expect((await server.admin.ok('GET', at('v2'))).items.map((one: Loose) => one.spec)).toEqual([{ addr: 'a:1' }, { addr: 'b:2' }]);
  await server.admin.patch(at('v1', 'old'), { metadata: { labels: { seen: 'yes' } } });
  turn = undefined;
  expect((await server.admin.ok('GET', at('v2', 'old'))).spec).toEqual({ addr: 'a:1' });
});

test('a definition goes with its objects although its webhook fails', async () => {
  turn = undefined;
  const path = `${definitionsPath(server)}/doors.${group}`;
  const watch = await server.admin.watch(`${definitionsPath(server)}?watch=1&fieldSelector=metadata.name%3Ddoors.${group}`);
  await server.admin.ok('DELETE', path);
  await watch.until(({ type }) => type === 'DELETED');
  watch.close();
  expect((await server.admin.get(path)).status).toBe(404);
});
