/** What the matchers hold, and what they say where it does not hold. */
import { AssertionError } from 'node:assert';
import { FakeClock } from '@plat-dev/lib/clock';
import { describe, expect, test } from 'vitest';
import { startTestServer } from '../server.ts';
import type { TestServer } from '../test-server.ts';
import { assertCondition, assertEventually, assertEventuallyGone, assertOwnedBy, assertSeen, assertSeenTimes } from './assertions.ts';
import { checkEventually } from './eventually.ts';
import { matchers } from './matchers.ts';
import { differences } from './partial-match.ts';
import type { RequestPattern, SeenRequest } from './request-checks.ts';

const web = {
  verb: 'update',
  resource: 'deployments',
  namespace: 'default',
  name: 'web',
  user: 'alice',
  code: 409,
  changed: ['.spec.replicas'],
};
const requests: SeenRequest[] = [
  { ...web, code: 200 },
  web,
  { ...web, name: 'db', subresource: 'status', changed: ['.status.conditions[0].status'] },
  { verb: 'list', resource: 'nodes', subresource: '', namespace: '', name: '', user: 'bob', code: 403 },
];
const server = { requests, fetch: () => Promise.reject(new Error('nothing is asked of this server')) };

describe('toHaveSeen', () => {
  const holds: [string, RequestPattern, number][] = [
    ['a request by any of its parts', { verb: 'update', name: 'web' }, 2],
    ['a code', { code: 409 }, 2],
    ['one of several values', { code: [200, 403] }, 2],
    ['a pattern of a text', { user: /^ali/ }, 3],
    ['a pattern with a state of its own', { user: /^ali/g }, 3],
    ['a function', { code: (code) => (code ?? 0) >= 400 }, 3],
    ['a resource with its subresource', { resource: 'deployments/status' }, 1],
    ['the absence of a part', { namespace: undefined }, 1],
    ['no subresource', { resource: 'deployments', subresource: undefined }, 2],
    ['a changed field', { changed: ['.spec.replicas'] }, 2],
    ['a field above one that was changed', { changed: ['.status.conditions'] }, 1],
    ['a changed field without its first dot', { changed: ['spec.replicas'] }, 2],
    ['no field that only begins alike', { changed: ['.spec.rep'] }, 0],
    ['no dry run', { dryRun: false }, 4],
  ];
  test.each(holds)('finds %s', (_, pattern, times) => {
    expect(matchers.toHaveSeen(server, pattern).pass).toBe(times > 0);
    expect(matchers.toHaveSeenTimes(server, pattern, times).pass).toBe(true);
    expect(matchers.toHaveSeenTimes(server, pattern, times + 1).pass).toBe(false);
  });

  test('says which requests come nearest, and in what they differ', () => {
    expect(matchers.toHaveSeen(server, { verb: 'update', resource: 'deployments', name: 'web2' }).message()).toBe(
      [
        'the server has not seen { verb: "update", resource: "deployments", name: "web2" }:',
        '  the nearest of 4 requests:',
        '  update deployments/status default/db by alice → 409 (.status.conditions[0].status)   differs in name ("db")',
        '  update deployments default/web by alice → 409 (.spec.replicas)   differs in name ("web")',
        '  update deployments default/web by alice → 200 (.spec.replicas)   differs in name ("web")',
        '  list nodes by bob → 403   differs in verb ("list"), resource ("nodes"), name (absent)',
      ].join('\n'),
    );
    expect(matchers.toHaveSeen({ ...server, requests: [] }, { verb: 'get' }).message()).toContain('it has seen no requests');
  });

  test('says how often, under not too', () => {
    expect(matchers.toHaveSeenTimes(server, { name: 'web' }, 1).message()).toContain('has seen { name: "web" } 2 times, not once:\n');
    expect(matchers.toHaveSeen(server, { name: 'db' }).message()).toContain(
      'has seen { name: "db" } once:\n  update deployments/status default/db',
    );
  });

  test('refuses what is no part of a request, and what is no server', () => {
    expect(() => matchers.toHaveSeen(server, { verbs: 'get' } as RequestPattern)).toThrow('unknown field of a request: verbs');
    expect(() => matchers.toHaveSeen({}, { verb: 'get' })).toThrow('toHaveSeen needs a test server');
  });
});

describe('toHaveCondition', () => {
  const pod = (...conditions: object[]) => ({ kind: 'Pod', metadata: { namespace: 'a', name: 'p' }, status: { conditions } });
  const ready = { type: 'Ready', status: 'False', reason: 'Starting', message: 'not yet' };

  test('asks for type, status and reason', () => {
    expect(matchers.toHaveCondition(pod(ready), 'Ready', 'False').pass).toBe(true);
    expect(matchers.toHaveCondition(pod(ready), 'Ready', 'False', 'Starting').pass).toBe(true);
    expect(matchers.toHaveCondition(pod(ready), 'Ready', 'False', 'Other').pass).toBe(false);
    expect(matchers.toHaveCondition(pod({ type: 'Ready', status: 'True' }), 'Ready').pass).toBe(true);
  });
  test('shows the conditions that there are', () => {
    expect(matchers.toHaveCondition(pod(ready), 'Ready').message()).toBe(
      'Pod a/p has no condition Ready=True: it has Ready=False (Starting): not yet',
    );
    expect(matchers.toHaveCondition(undefined, 'Ready').message()).toBe('absent has no condition Ready=True: it has no conditions');
  });
});

describe('toBeOwnedBy', () => {
  const owner = { apiVersion: 'a.example/v1', kind: 'Website', metadata: { name: 'w', uid: 'u' } };
  const reference = { apiVersion: 'a.example/v1', kind: 'Website', name: 'w', uid: 'u', controller: true };
  const owned = { kind: 'Service', metadata: { name: 's', ownerReferences: [reference] } };

  test('takes an object, or parts of a reference', () => {
    expect(matchers.toBeOwnedBy(owned, owner).pass).toBe(true);
    expect(matchers.toBeOwnedBy(owned, { kind: 'Website', controller: true }).pass).toBe(true);
    expect(matchers.toBeOwnedBy(owned, { kind: 'Website', controller: false }).pass).toBe(false);
    expect(matchers.toBeOwnedBy(owned, { ...owner, metadata: { name: 'w', uid: 'another' } }).pass).toBe(false);
    expect(() => matchers.toBeOwnedBy(owned, {})).toThrow('an owner needs at least one of');
  });
  test('shows the owners that there are', () => {
    expect(matchers.toBeOwnedBy({ kind: 'Service', metadata: { name: 's' } }, { name: 'w' }).message()).toBe(
      'Service s has no owner {"name":"w"}: it has no owners',
    );
  });
});

test('differences name the place', () => {
  const value = { a: { 'b.c': 1, list: [{ x: 1, y: 2 }], text: 'abc' } };
  expect(differences(value, { a: { 'b.c': 1, list: [{ x: 1 }], text: /b/ } })).toEqual([]);
  expect(differences(value, { a: { 'b.c': expect.any(Number) } })).toEqual([]);
  expect(differences(value, { a: { 'b.c': 2, list: [{ x: 3 }], text: /d/, more: {} } })).toEqual([
    '.a["b.c"] is 1, not 2',
    '.a.list[0].x is 1, not 3',
    '.a.text is "abc", which does not match /d/',
    '.a.more is absent, not {}',
  ]);
  expect(differences(value, { a: { list: [] } })).toEqual(['.a.list has 1 items, not 0: [{"x":1,"y":2}]']);
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`f${index}`, 1]));
  expect(differences({}, many).at(-1)).toBe('2 more fields differ');
});

describe('on a server', () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'm' };
  const withServer = async (body: (server: TestServer) => Promise<void>): Promise<void> => {
    await using server = await startTestServer();
    await body(server);
  };
  /** A server of which is known when an assertion has read an object and watches it. */
  const watched = (server: TestServer) => {
    let watches = (): void => {};
    const isWatched = new Promise<void>((resolve) => {
      watches = resolve;
    });
    const fetch: TestServer['fetch'] = async (input, init) => {
      const response = await server.fetch(input, init);
      if (String(input).includes('watch=true')) watches();
      return response;
    };
    return { requests: [], fetch, isWatched };
  };
  const put = (server: TestServer, value: string) =>
    server.request('PUT', `${maps}/m`, { body: { metadata: { name: 'm' }, data: { value } } });

  test('an object that is already so is found, and one that becomes so is waited for', () =>
    withServer(async (server) => {
      const waited = assertEventually(server, reference, { apiVersion: 'v1', kind: 'ConfigMap', data: { value: 'b' } });
      await server.request('POST', maps, { body: { metadata: { name: 'm' }, data: { value: 'a' } } });
      await assertEventually(server, reference, { apiVersion: 'v1', kind: 'ConfigMap', data: { value: 'a' } });
      await put(server, 'b');
      await waited;
      const gone = assertEventuallyGone(server, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'default' } });
      await server.request('DELETE', `${maps}/m`);
      await gone;
      await assertEventually(server, reference, (object) => object === undefined);
    }));

  test('the wait ends with what differs in the last state', () =>
    withServer(async (server) => {
      const clock = new FakeClock();
      await server.request('POST', maps, { body: { metadata: { name: 'm' }, data: { value: 'a' } } });
      const asked = watched(server);
      const waited = checkEventually(asked, reference, { data: { value: 'b' } }, { clock, timeout: 1000 });
      await asked.isWatched;
      await clock.advance(1000);
      const { pass, message, actual } = await waited;
      expect({ pass, text: message() }).toEqual({
        pass: false,
        text: 'ConfigMap m was not as expected within 1000 ms:\n  .data.value is "a", not "b"',
      });
      expect(actual).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'm' } });
    }));

  test('an object that never comes, and one that stays, are named', () =>
    withServer(async (server) => {
      const clock = new FakeClock();
      const asked = watched(server);
      const waited = matchers.toEventuallyHave(asked, reference, {}, { clock, timeout: '7ms' });
      await asked.isWatched;
      await clock.advance(7);
      const { message, expected } = await waited;
      expect(expected).toBeUndefined();
      expect(message()).toBe('ConfigMap m was not as expected within 7 ms: it does not exist');
      await server.request('POST', maps, { body: { metadata: { name: 'm', finalizers: ['a.example/b'] } } });
      const stays = async (): Promise<string> => {
        const asked = watched(server);
        const gone = matchers.toEventuallyBeGone(asked, reference, { clock, timeout: 7 });
        await asked.isWatched;
        await clock.advance(7);
        return (await gone).message();
      };
      expect(await stays()).toBe('ConfigMap m is still there after 7 ms: it was not deleted');
      await server.request('DELETE', `${maps}/m`);
      expect(await stays()).toBe('ConfigMap m is still there after 7 ms: it waits for its finalizers ["a.example/b"]');
    }));

  test('faults do not touch the requests of assertions, and are not used up by them', () =>
    withServer(async (server) => {
      await server.request('POST', maps, { body: { metadata: { name: 'm' }, data: { value: 'a' } } });
      const fault = server.faults.refuse({ nth: 1 }, 503);
      await assertEventually(server, reference, { data: { value: 'a' } });
      expect([fault.matched, fault.count]).toEqual([0, 0]);
      expect((await server.request('GET', `${maps}/m`)).status).toBe(503);
    }));

  test.each([
    ['when the server does not answer', () => true],
    ['when the list is not answered', (path: string) => path.includes('fieldSelector')],
  ])('the wait ends in time %s', async (_, isSilent) => {
    await withServer(async (server) => {
      const clock = new FakeClock();
      let asked = (): void => {};
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const fetch: TestServer['fetch'] = (input, init) => {
        if (!isSilent(String(input))) return server.fetch(input, init);
        asked();
        return new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        });
      };
      const silent = { requests: [], fetch };
      const waited = [checkEventually(silent, reference, {}, { clock, timeout: 7 })];
      waited.push(Promise.resolve(matchers.toEventuallyBeGone(silent, reference, { clock, timeout: 7 })) as (typeof waited)[0]);
      await isAsked;
      await clock.advance(7);
      for (const check of waited)
        expect((await check).message()).toBe('ConfigMap m was not as expected within 7 ms: the server has not answered');
    });
  });

  test.each([
    ['ends', (response: Response) => response.body?.cancel().then(() => new Response('')) as Promise<Response>],
    [
      'is broken off',
      async (response: Response) => {
        await response.body?.cancel();
        return new Response(new ReadableStream({ start: (controller) => controller.error(new Error('broken off')) }));
      },
    ],
    [
      'fails because its version is too old',
      async (response: Response) => {
        await response.body?.cancel();
        return new Response(`${JSON.stringify({ type: 'ERROR', object: { code: 410 } })}\n`);
      },
    ],
  ])('the wait goes on with another when a watch %s', (_, ended) =>
    withServer(async (server) => {
      let watches = 0;
      const fetch: TestServer['fetch'] = async (input, init) => {
        const response = await server.fetch(input, init);
        if (!String(input).includes('watch=true')) return response;
        if (++watches <= 2) return ended(response);
        void server.request('POST', maps, { body: { metadata: { name: 'm' }, data: { value: 'a' } } });
        return response;
      };
      await assertEventually({ fetch }, reference, { data: { value: 'a' } });
      expect(watches).toBe(3);
    }),
  );

  test('a kind that is not served fails at once', () =>
    withServer(async (server) => {
      const lamp = { apiVersion: 'garden.example/v1', kind: 'Lamp', name: 'a' };
      await expect(assertEventually(server, lamp, {})).rejects.toThrow('the server has no kind Lamp in garden.example/v1');
      await expect(assertEventually(server, { kind: 'Lamp' }, {})).rejects.toThrow('an object is named by apiVersion, kind and name');
    }));
});

test('assertions throw what runners print with a difference', () => {
  expect(() => assertSeen(server, { verb: 'get' })).toThrow(AssertionError);
  expect(() => assertSeenTimes(server, { verb: 'list' }, 0)).toThrow('has seen { verb: "list" } once, not never');
  expect(() => assertCondition({}, 'Ready')).toThrow('it has no conditions');
  expect(() => assertOwnedBy({}, { name: 'a' })).toThrow('it has no owners');
  const object = { kind: 'Pod', metadata: { name: 'a' }, spec: {}, status: { conditions: [{ type: 'Ready', status: 'False' }] } };
  expect(matchers.toHaveCondition(object, 'Ready')).toMatchObject({
    actual: [{ type: 'Ready', status: 'False' }],
    expected: [{ type: 'Ready', status: 'True' }],
  });
  assertSeen(server, { verb: 'list' });
  assertSeenTimes(server, { verb: 'get' }, 0);
});
