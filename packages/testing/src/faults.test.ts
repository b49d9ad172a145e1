/** Faults that a test asks for. */
import { Agent, request as httpsRequest } from 'node:https';
import { FakeClock } from '@plat-dev/lib/clock';
import { groupName } from '@plat-dev/meta/identity';
import type { Context } from '@plat-dev/server/context';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Fault } from './faults.ts';
import { Instruments } from './instruments.ts';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const map = (name: string, value = 'a') => ({ metadata: { name }, data: { value } });
let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ clock: 'fake' });
});
afterEach(() => server.close());

const create = async (name: string): Promise<number> => (await server.request('POST', maps, { body: map(name) })).status;

test('the n-th matching request is refused, with the status that is asked for', async () => {
  const fault = server.faults.refuse({ verb: 'create', resource: 'configmaps', nth: 2 }, 503);
  const never = server.faults.refuse({ verb: 'create', resource: 'secrets' }, { code: 429, reason: 'TooManyRequests', message: 'later' });
  expect([await create('one'), await create('two'), await create('three')]).toEqual([201, 503, 201]);
  expect((await server.request('GET', maps)).status).toBe(200);
  expect([fault.matched, fault.count]).toEqual([3, 1]);
  expect(server.faults.unused()).toEqual([never]);
  expect(await server.request('POST', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: 'a' } } })).toMatchObject({
    status: 429,
    body: { reason: 'TooManyRequests', message: 'later', code: 429 },
  });
  never.remove();
  expect((await server.request('POST', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: 'a' } } })).status).toBe(201);
  expect(() => server.faults.refuse({}, 200)).toThrow('400 to 599');
});

test('a fault is for one user, and ends with all others by clear', async () => {
  server.faults.refuse({ user: 'alice' }, 500);
  expect((await server.request('GET', '/api', { user: 'alice' })).status).toBe(500);
  expect((await server.request('GET', '/api', { user: 'bob' })).status).toBe(200);
  server.faults.clear();
  expect((await server.request('GET', '/api', { user: 'alice' })).status).toBe(200);
});

test('updates conflict as often as is asked for; reads and creations do not', async () => {
  await create('one');
  const fault = server.faults.conflict({ resource: 'configmaps' }, 2);
  expect(await create('two')).toBe(201);
  const update = () => server.request('PUT', `${maps}/one`, { body: map('one', 'b') });
  expect(await update()).toMatchObject({ status: 409, body: { reason: 'Conflict', details: { name: 'one', kind: 'configmaps' } } });
  expect([(await update()).status, (await update()).status]).toEqual([409, 200]);
  expect(fault.count).toBe(2);
});

test('a delayed request waits for the clock of the server', async () => {
  server.faults.delay({ verb: 'create' }, '5s');
  const made = create('one');
  await server.clock.advance('4s');
  expect((await server.request('GET', `${maps}/one`)).status).toBe(404);
  await server.clock.advance('1s');
  expect((await server.request('GET', `${maps}/one`)).status).toBe(200);
  expect(await made).toBe(201);
});

test.each([
  ['removed', (fault: Fault) => fault.remove()],
  ['cleared', () => server.faults.clear()],
])('a request that waits for a delay goes on when that is %s, without faults that are gone', async (_, end) => {
  const fault = server.faults.delay({ verb: 'create' }, '1h');
  const refusal = server.faults.refuse({ verb: 'create' }, 503);
  const made = create('one');
  await server.settled();
  expect(fault.count).toBe(1);
  refusal.remove();
  end(fault);
  expect(await made).toBe(201);
  expect(refusal.count).toBe(0);
});

test('a delay leaves no timer behind when its request or the server ends', async () => {
  const clock = new FakeClock();
  const instruments = new Instruments();
  const engine = openMemoryEngine({ clock });
  instruments.begin({ engine, clock, isBusy: () => false });
  const before = clock.pending;
  const context = (): Context => ({ user: { name: 'a', groups: [] }, info: { verb: 'get' }, path: '/' }) as unknown as Context;
  const [one, two] = [context(), context()];
  instruments.faults.delay({}, '1h');
  void instruments.faults.apply(one);
  void instruments.faults.apply(two);
  expect(clock.pending).toBe(before + 2);
  instruments.finished(one);
  expect(clock.pending).toBe(before + 1);
  instruments.close();
  expect(clock.pending).toBe(before);
  await engine.close();
});

test('a request whose client went away while it was delayed is not carried out', async () => {
  server.faults.delay({ verb: 'create' }, '5s');
  const ending = new AbortController();
  const made = server.fetch(maps, { method: 'POST', body: JSON.stringify(map('one')), signal: ending.signal });
  await server.settled();
  ending.abort(new Error('enough'));
  await expect(made).rejects.toThrow('enough');
  await server.clock.advance('5s');
  expect((await server.request('GET', `${maps}/one`)).status).toBe(404);
});

test('a watch is not cut by a fault that was removed', async () => {
  const fault = server.faults.drop({ resource: 'configmaps' }, { afterEvents: 1 });
  const watch = server.client().core.v1.configmaps('default').watch();
  await watch.ready;
  fault.remove();
  for (const name of ['one', 'two', 'three']) await create(name);
  const names: string[] = [];
  for await (const { object } of watch) if (names.push(object.metadata.name as string) === 3) break;
  expect(names).toEqual(['one', 'two', 'three']);
});

test('a dropped request has no answer and does nothing', async () => {
  const fault = server.faults.drop({ verb: 'create' });
  await expect(create('one')).rejects.toThrow('aborted the response');
  fault.remove();
  expect((await server.request('GET', `${maps}/one`)).status).toBe(404);
});

test('a watch is cut after some events, of clients in the process', async () => {
  server.faults.drop({ resource: 'configmaps' }, { afterEvents: 2 });
  const response = await server.fetch(`${maps}?watch=true&resourceVersion=0`);
  for (const name of ['one', 'two', 'three']) await create(name);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  const whole = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += Buffer.from(part.value).toString();
  };
  await expect(whole()).rejects.toThrow('aborted the response');
  expect(text === '' ? 0 : text.trim().split('\n').length).toBeLessThanOrEqual(2);
});

test('a watch is cut after some events, and a request dropped, of clients over a connection', async () => {
  await using over = await startTestServer({ listen: true });
  over.faults.drop({ resource: 'configmaps' }, { afterEvents: 2 });
  over.faults.drop({ resource: 'secrets' });
  const [, token] = await tokenOf(over);
  const asked = (path: string) =>
    new Promise<{ status: number; text: string; error: string }>((resolve) => {
      let text = '';
      let status = 0;
      const end = (error: string) => resolve({ status, text, error });
      const options = { method: 'GET', rejectUnauthorized: false, headers: { authorization: `Bearer ${token}` } };
      const req = httpsRequest(`${over.url}${path}`, options, (res) => {
        status = res.statusCode ?? 0;
        res.on('data', (chunk: Buffer) => {
          text += chunk;
        });
        res.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? ''));
        res.on('end', () => end('ended'));
      });
      req.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? ''));
      req.end();
    });
  for (const name of ['one', 'two', 'three']) await over.request('POST', maps, { body: map(name) });
  const { status, text, error } = await asked(`${maps}?watch=true&resourceVersion=0`);
  expect([status, error]).toEqual([200, 'ECONNRESET']);
  expect(text.trim().split('\n')).toHaveLength(2);
  expect(await asked('/api/v1/namespaces/default/secrets')).toEqual({ status: 0, text: '', error: 'ECONNRESET' });
});

test('a connection whose watch was to be cut, but ended by itself, is good for other requests', async () => {
  await using over = await startTestServer({ listen: true, clock: 'fake' });
  const [, token] = await tokenOf(over);
  over.faults.drop({ resource: 'configmaps' }, { afterEvents: 1 });
  over.faults.drop({ resource: 'configmaps' }, { afterEvents: 2 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const get = (path: string, begun = (): void => {}) =>
    new Promise<number>((resolve, reject) => {
      const req = httpsRequest(`${over.url}${path}`, { agent, headers: { authorization: `Bearer ${token}` } }, (res) => {
        begun();
        res.on('error', reject);
        res.on('end', () => resolve(res.statusCode ?? 0));
        res.resume();
      });
      req.on('error', reject);
      req.end();
    });
  let ended: Promise<number> | undefined;
  await new Promise<void>((resolve) => {
    ended = get(`${maps}?watch=true&timeoutSeconds=5`, resolve);
  });
  await over.clock.advance('5s');
  expect(await ended).toBe(200);
  for (let i = 0; i < 3; i++) expect(await get('/api/v1/namespaces')).toBe(200);
  agent.destroy();
});

/** Of a service account that may do everything. */
async function tokenOf(over: TestServer): Promise<[string, string]> {
  const rbac = groupName(over.identity, 'rbac.authorization');
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await over.request('POST', accounts, { body: { metadata: { name: 'robot' } } });
  await over.request('POST', `/apis/${rbac}/v1/clusterrolebindings`, {
    body: {
      metadata: { name: 'robot' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
    },
  });
  const { body } = await over.request('POST', `${accounts}/robot/token`, { body: {} });
  return ['robot', (body as { status: { token: string } }).status.token];
}

test('a webhook is broken without being asked, and its failure policy decides', async () => {
  const webhooks = (failurePolicy: string, name: string) => ({
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        failurePolicy,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        // Nobody listens there.
        clientConfig: { url: 'https://127.0.0.1:9/check' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      },
    ],
  });
  const path = `/apis/${groupName(server.identity, 'admissionregistration')}/v1/validatingwebhookconfigurations`;
  for (const [policy, name] of [
    ['Ignore', 'lenient'],
    ['Fail', 'strict'],
  ] as const)
    expect((await server.request('POST', path, { body: webhooks(policy, name) })).status).toBe(201);
  const lenient = server.faults.webhook('lenient.example.com');
  const strict = server.faults.webhook('strict.example.com', { message: 'out of order' });
  expect(await server.request('POST', maps, { body: map('one') })).toMatchObject({
    status: 500,
    body: { message: expect.stringContaining('failed calling webhook "strict.example.com": failed to call webhook: out of order') },
  });
  expect([lenient.count, strict.count]).toEqual([1, 1]);
});

test('a server has a bounded number of faults', () => {
  for (let i = 0; i < 1000; i++) server.faults.refuse({ name: String(i) });
  expect(() => server.faults.refuse({})).toThrow('at most 1000 faults');
});

test('a pattern with a field or a verb that no request has is refused with a suggestion', () => {
  const wrong = (pattern: object): unknown => server.faults.refuse(pattern);
  expect(() => wrong({ verbs: 'create' })).toThrow('unknown field verbs in a pattern of requests (did you mean verb?)');
  expect(() => wrong({ verb: 'craete' })).toThrow('unknown verb craete in a pattern of requests (did you mean create?)');
  expect(() => wrong({ verb: ['get', 'lst'] })).toThrow('unknown verb lst');
  expect(() => server.faults.refuse({ code: 200 } as object)).toThrow('unknown field code');
  expect(server.faults.unused()).toEqual([]);
  expect(() => server.requests.find({ resorce: 'pods' } as object)).toThrow('did you mean resource?');
  expect(server.requests.filter({ code: 200, dryRun: false, verb: 'post' })).toEqual([]);
});
