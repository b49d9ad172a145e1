/** Servers of a suite: when they start, what each test finds, and that every one ends. */
import { describe, expect, test } from 'vitest';
import type { TestServer } from '../test-server.ts';
import { assertCondition } from './assertions.ts';
import { checkGone } from './eventually.ts';
import { expectHelpers } from './expect.ts';
import { onServerWith, type WithServerOptions } from './with-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const create = (server: TestServer, name: string) => server.request('POST', maps, { body: { metadata: { name } } });
const names = async (server: TestServer): Promise<string[]> =>
  ((await server.request('GET', maps)).body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);

/** A runner whose hooks the test calls. */
function suite(options?: WithServerOptions) {
  const calls: Record<'beforeAll' | 'afterAll', () => Promise<void>> = { beforeAll: async () => {}, afterAll: async () => {} };
  const hooks = {
    beforeAll: (call: () => Promise<void>) => void Object.assign(calls, { beforeAll: call }),
    afterAll: (call: () => Promise<void>) => void Object.assign(calls, { afterAll: call }),
  };
  const onServer = onServerWith(hooks, options);
  return { onServer, begin: () => calls.beforeAll(), end: () => calls.afterAll() };
}
const isClosed = (server: TestServer) => expect(server.request('GET', '/api')).rejects.toThrow('the test server is closed');

test('what is set up once every test finds, and nothing of the other tests', async () => {
  const prepared: TestServer[] = [];
  const { onServer, begin, end } = suite({
    identity: 'kubernetes',
    setUp: async (server) => {
      prepared.push(server);
      await create(server, 'common');
    },
  });
  await begin();
  const used: TestServer[] = [];
  const one = onServer(async (server, word: string) => {
    used.push(server);
    expect(server.identity.name).toBe('kubernetes');
    expect(await names(server)).toEqual(['common']);
    await create(server, word);
    expect(await names(server)).toEqual(['common', word]);
  });
  expect(one.length).toBe(0);
  await one('first');
  // Tests may run at the same time.
  await Promise.all([one('second'), one('third')]);
  expect(prepared).toHaveLength(1);
  expect(new Set(used).size).toBe(3);
  for (const server of [...prepared, ...used]) await isClosed(server);
  await end();
});

test('the server of a test that fails is closed, and the error is the one of the test', async () => {
  const { onServer, begin, end } = suite();
  await begin();
  const used: TestServer[] = [];
  const failing = onServer(async (server) => {
    used.push(server);
    throw new RangeError('as it happens');
  });
  await expect(failing()).rejects.toThrow(RangeError);
  await expect(onServer(() => Promise.reject('a text'))()).rejects.toBe('a text');
  await isClosed(used[0] as TestServer);
  await end();
});

test('a failed assertion prints the history of the object that it was about, and other failures the last writes', async () => {
  const { onServer, begin, end } = suite({ clock: '2026-01-01T00:00:00Z' });
  await begin();
  const failing = (assert: (object: unknown) => void) =>
    onServer(async (server) => {
      const { body } = await create(server, 'a');
      await server.request('PATCH', `${maps}/a`, {
        user: 'alice',
        groups: ['system:masters'],
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { data: { x: '1' } },
      });
      assert(body);
    })().catch((error: Error) => error.message);
  const history =
    /History of ConfigMap default\/a:\n {2}2026-01-01T00:00:00.000Z created by .*\n {2}2026-01-01T00:00:00.000Z changed by alice \(patch\), resourceVersion \d+: data/;
  expect(await failing((object) => expect(object).toMatchObject({ data: { x: '2' } }))).toMatch(history);
  expect(await failing((object) => assertCondition(object, 'Ready'))).toMatch(history);
  expect(await failing(() => expect(1).toBe(2))).toMatch(
    /The last writes on the server:\n {2}create configmaps default\S* by .* → 201.*\n {2}patch configmaps default\/a by alice → 200/,
  );
  await end();
});

describe('a test that never returns', () => {
  test('loses its server when its signal is aborted', async () => {
    const { onServer, begin, end } = suite();
    await begin();
    const given = new AbortController();
    const ended = new Promise<TestServer>((resolve) => {
      void onServer(async (server, _: { signal: AbortSignal }) => {
        void server.ended.then(() => resolve(server));
        given.abort();
        await new Promise(() => {});
      })({ signal: given.signal });
    });
    await isClosed(await ended);
    await end();
  });

  test('loses its server when the suite ends', async () => {
    const { onServer, begin, end } = suite();
    await begin();
    const server = await new Promise<TestServer>((resolve) => {
      void onServer(async (each) => {
        resolve(each);
        await new Promise(() => {});
      })();
    });
    await end();
    await isClosed(server);
  });
});

test('waits of a suite take as long as it says', async () => {
  const { onServer, begin, end } = suite({ eventuallyTimeout: 1 });
  await begin();
  await onServer(async (server) => {
    const { message } = await checkGone(server, { apiVersion: 'v1', kind: 'Namespace', name: 'default' });
    expect(message()).toContain('is still there after 1 ms');
  })();
  await end();
});

test('a set-up that fails fails the suite and its tests, and its server is closed', async () => {
  const used: TestServer[] = [];
  const { onServer, begin, end } = suite({
    setUp: (server) => {
      used.push(server);
      throw new Error('no such file');
    },
  });
  await expect(begin()).rejects.toThrow('no such file');
  await expect(onServer(() => {})()).rejects.toThrow('no such file');
  expect(used).toHaveLength(1);
  await isClosed(used[0] as TestServer);
  await end();
});

test('a suite that is given up while it starts leaves nothing open', async () => {
  const { onServer, begin, end } = suite({ setUp: () => expect.unreachable() });
  const beginning = begin();
  await end();
  await expect(beginning).rejects.toThrow('the server of these tests was closed');
  await expect(onServer(() => {})()).rejects.toThrow('the server of these tests was closed');
});

describe('the helpers for vitest and Jest', () => {
  test('use the global functions of the runner, or those that they are given, and extend its expect', async () => {
    const calls: string[] = [];
    const runner = (name: string) => ({
      beforeAll: () => void calls.push(`${name} beforeAll`),
      afterAll: () => void calls.push(`${name} afterAll`),
      expect: { extend: (matchers: object) => void calls.push(`${name} ${Object.keys(matchers).length}`) },
    });
    const { withServer, matchers } = expectHelpers(runner('global'));
    const count = Object.keys(matchers).length;
    withServer();
    withServer({}, runner('given'));
    expect(calls).toEqual(['global', 'given'].flatMap((name) => [`${name} ${count}`, `${name} beforeAll`, `${name} afterAll`]));
  });
  test('say what to pass where there are no global functions', () => {
    expect(() => expectHelpers({}).withServer()).toThrow('use withServer(options, { beforeAll, afterAll, expect })');
  });
});
