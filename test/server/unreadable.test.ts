/** Objects that are in the store and cannot be read: everything else is served, and they can be got rid of. */

import { expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import type { Log } from '../../packages/lib/src/log.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import type { ChangeRecord, Engine, Entry } from '../../packages/storage/src/engine.ts';
import { type Answer, type Client, startTestServer, summary, type TestServer } from '../support/server.ts';
import type { Watch } from '../support/watch.ts';

const REASON = 'the test made it unreadable';

/** The engine, with values of chosen keys that cannot be read, as one with wrong checksums or keys delivers them. */
function withUnreadable(engine: Engine, isUnreadable: (key: string) => boolean): Engine {
  const seen = <T extends Entry | ChangeRecord>(one: T): T =>
    one.value !== undefined && isUnreadable(one.key) ? { ...one, value: Buffer.alloc(0), unreadable: { reason: REASON } } : one;
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'get')
        return async (key: string, at?: number) => {
          const entry = await target.get(key, at);
          return entry && seen(entry);
        };
      if (name === 'range')
        return async (request: Parameters<Engine['range']>[0]) => {
          const result = await target.range(request);
          return { ...result, entries: result.entries.map(seen) };
        };
      if (name === 'changes') return async (request: Parameters<Engine['changes']>[0]) => (await target.changes(request)).map(seen);
      if (name === 'subscribe')
        return (...[after, deliver, failed]: Parameters<Engine['subscribe']>) =>
          target.subscribe(after, (changes, revision) => deliver(changes.map(seen), revision), failed);
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const ask = (client: Client, method: string, path: string, body?: unknown, more: object = {}): Promise<Answer> =>
  client.send(method, path, { ...(body !== undefined && { body }), ...more });

async function scene(identity: 'plat' | 'kubernetes' = 'plat') {
  const lines: string[] = [];
  const log: Log = { ...silentLog, error: (message, fields) => void lines.push(`${message} ${jsonText(fields)}`) };
  const first = await startTestServer({ store: 'lmdb', identity, direct: true });
  const namespace = await first.namespace();
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const name of ['a', 'b', 'c'])
    await first.admin.ok('POST', path, { metadata: { name, labels: { n: name } }, data: { secret: 'content' } });
  const restart = (isUnreadable: (key: string) => boolean, more: { controllers?: string[] } = {}): Promise<TestServer> =>
    first.restart({ ...more, log, wrapEngine: (engine: Engine) => withUnreadable(engine, isUnreadable) });
  return { first, namespace, path, lines, restart };
}

test.each(['plat', 'kubernetes'] as const)(
  'one unreadable object: the others are served, it is named and can be deleted (%s)',
  async (identity) => {
    const { path, namespace, lines, restart } = await scene(identity);
    const server = await restart((key) => key === `core/configmaps/${namespace}/b`);
    const { admin } = server;

    const got = await ask(admin, 'GET', `${path}/b`);
    expect(got.status).toBe(500);
    expect(got.json).toMatchObject({ reason: 'InternalError', details: { name: 'b', kind: 'configmaps' } });
    expect(got.json.message).toMatch(
      new RegExp(
        `^Internal error occurred: configmaps "${namespace}/b" of revision \\d+ cannot be read from the store: ${REASON}; where that cannot be repaired, restore`,
      ),
    );
    expect(JSON.stringify(got.json)).not.toContain('content');

    const list = await ask(admin, 'GET', path);
    expect(list.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toContain('c');
    expect(list.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).not.toContain('b');
    expect(list.headers.warning).toBe('299 - "1 of the configmaps cannot be read from the store and are not in this list"');
    // Nothing is said where nothing is missing.
    expect((await ask(admin, 'GET', '/api/v1/namespaces/default/configmaps')).headers.warning).toBeUndefined();
    expect((await ask(admin, 'GET', '/api/v1/secrets')).headers.warning).toBeUndefined();

    expect((await ask(admin, 'POST', path, { metadata: { name: 'b' } })).json).toMatchObject({ code: 409, reason: 'AlreadyExists' });
    expect((await ask(admin, 'POST', `${path}?dryRun=All`, { metadata: { name: 'b' } })).json).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
    });
    const refused = { code: 500, message: expect.stringContaining(REASON) };
    expect((await ask(admin, 'PUT', `${path}/b`, { metadata: { name: 'b' } })).json).toMatchObject(refused);
    const patch = { headers: { 'content-type': 'application/merge-patch+json' } };
    expect((await ask(admin, 'PATCH', `${path}/b`, { data: {} }, patch)).json).toMatchObject(refused);
    const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } };
    expect((await ask(admin, 'PATCH', `${path}/b?fieldManager=x`, applied, apply)).json).toMatchObject(refused);

    expect(lines).toEqual([expect.stringMatching(/^stored object cannot be read, set aside .*configmaps\/.*\/b","revision":\d+,"reason"/)]);
    expect((await ask(admin, 'GET', '/healthz/store-values')).status).toBe(500);
    for (const page of ['healthz', 'readyz', 'livez']) {
      const shown = await ask(admin, 'GET', `/${page}?verbose`);
      expect(shown.status).toBe(200);
      expect(shown.text).toContain('[!]store-values: 1 object cannot be read\n');
    }
    expect((await ask(admin, 'GET', '/metrics')).text).toContain('apiserver_storage_unreadable_objects{resource="configmaps"} 1\n');

    expect((await ask(admin, 'DELETE', `${path}/b`, { preconditions: { uid: 'x' } })).status).toBe(409);
    expect((await ask(admin, 'DELETE', `${path}/b`, { preconditions: { resourceVersion: '1' } })).status).toBe(409);
    expect((await ask(admin, 'DELETE', `${path}/b?dryRun=All`)).status).toBe(200);
    expect((await ask(admin, 'GET', `${path}/b`)).status).toBe(500);
    expect((await ask(admin, 'DELETE', `${path}/b`)).json).toMatchObject({ status: 'Success', details: { name: 'b' } });
    expect((await ask(admin, 'GET', `${path}/b`)).status).toBe(404);
    expect((await ask(admin, 'GET', path)).headers.warning).toBeUndefined();
    expect((await ask(admin, 'GET', '/healthz/store-values')).status).toBe(200);
    expect((await ask(admin, 'GET', '/metrics')).text).not.toContain('apiserver_storage_unreadable_objects{');
    await server.close();
  },
);

test('an object that becomes unreadable leaves the watches, and comes back when it can be read', async () => {
  const { path, namespace, restart } = await scene();
  let broken = false;
  const server = await restart((key) => broken && key === `core/configmaps/${namespace}/b`);
  const { admin } = server;
  // The fourth of them is written by a controller.
  await (await admin.watch(`${path}?watch=1`)).until((event) => event.object.metadata?.name === 'plat-root-ca.crt');
  const revision = (await admin.ok('GET', path)).metadata.resourceVersion;
  const watch = await admin.watch(`${path}?watch=1&resourceVersion=${revision}`);
  broken = true;
  await server.engine.commit([{ type: 'put', key: `core/configmaps/${namespace}/b`, value: Buffer.from('anything') }]);
  await watch.take(1);
  expect((await ask(admin, 'GET', `${path}/b`)).status).toBe(500);
  // Who comes later and reads the past is told the same.
  const later = await admin.watch(`${path}?watch=1&resourceVersion=${revision}`);
  await later.take(1);
  for (const one of [watch, later]) expect(one.events.map(summary)).toEqual([expect.stringMatching(/DELETED.*b/)]);
  // A list of the past shows what could be read then.
  broken = false;
  expect((await admin.ok('GET', `${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`)).items).toHaveLength(4);
  await server.close();
});

/** A watch that has ended because its client must list again. */
async function expectGone(watch: Watch): Promise<void> {
  expect(await watch.ended).toBe('end');
  expect(watch.events.at(-1)).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
  expect(watch.events.at(-1)?.object).toMatchObject({ message: expect.stringContaining('list and watch again') });
}

test.each(['memory', 'history'] as const)(
  'the deletion of an unreadable object ends watches that may have seen it, also those that resume (from %s)',
  async (from) => {
    const { first, path, namespace, restart } = await scene();
    // A client that knows the object from when it could be read, and one by a selector that has it.
    const before = (await first.admin.ok('GET', path)).metadata.resourceVersion;
    const isB = (key: string): boolean => key === `core/configmaps/${namespace}/b`;
    // A controller would publish certificates at any time.
    let server = await restart(isB, { controllers: [] });
    const queries = ['', '&labelSelector=n%3Db', '&fieldSelector=metadata.name%3Db'];
    const live = await Promise.all(queries.map((query) => server.admin.watch(`${path}?watch=1&resourceVersion=${before}${query}`)));
    await server.admin.ok('DELETE', `${path}/b`);
    for (const watch of live) await expectGone(watch);
    const after = (await server.admin.ok('GET', path)).metadata.resourceVersion;
    if (from === 'history') server = await server.restart({ controllers: [], wrapEngine: (engine: Engine) => withUnreadable(engine, isB) });
    for (const query of queries) await expectGone(await server.admin.watch(`${path}?watch=1&resourceVersion=${before}${query}`));
    // Who has listed since then goes on.
    const later = await server.admin.watch(`${path}?watch=1&resourceVersion=${after}`);
    await server.admin.ok('DELETE', `${path}/c`);
    expect((await later.take(1)).map(summary)).toEqual([expect.stringMatching(/DELETED.*c/)]);
    later.close();
    await server.close();
  },
);

test('an object that cannot be read and is written anew ends watches whose selection may have had it', async () => {
  const { first, path, namespace, restart } = await scene();
  const { metadata } = await first.admin.ok('GET', path);
  let broken = true;
  const server = await restart((key) => broken && key === `core/configmaps/${namespace}/b`);
  const watch = await server.admin.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}&labelSelector=n%3Db`);
  const key = `core/configmaps/${namespace}/`;
  const other = await server.engine.get(`${key}a`);
  broken = false;
  // As another server on the same store does that has the key.
  await server.engine.commit([{ type: 'put', key: `${key}b`, value: other?.value as Buffer }]);
  await expectGone(watch);
  expect((await ask(server.admin, 'GET', `${path}/b`)).status).toBe(200);
  await server.close();
});

test('a namespace with unreadable objects can be emptied', async () => {
  const { path, namespace, restart } = await scene();
  // A controller would write the certificates of the server into the namespace again.
  const server = await restart((key) => key.startsWith(`core/configmaps/${namespace}/`), { controllers: [] });
  const { admin } = server;
  expect((await admin.ok('GET', path)).items).toEqual([]);
  // A selector cannot select what cannot be read.
  await admin.ok('DELETE', `${path}?labelSelector=n%3Da`);
  expect((await ask(admin, 'GET', `${path}/a`)).status).toBe(500);
  await admin.ok('DELETE', path);
  expect((await server.engine.range({ prefix: `core/configmaps/${namespace}/` })).entries).toEqual([]);
  await server.close();
});

test('a namespace that is unreadable itself is deleted only when nothing is left in it', async () => {
  const { path, namespace, restart } = await scene();
  const server = await restart((key) => key === `core/namespaces/${namespace}` || key === `core/configmaps/${namespace}/b`);
  const { admin } = server;
  const own = `/api/v1/namespaces/${namespace}`;
  const refused = await ask(admin, 'DELETE', own);
  expect(refused.json).toMatchObject({ code: 409, reason: 'Conflict', details: { name: namespace, kind: 'namespaces' } });
  expect(refused.json.message).toMatch(
    new RegExp(`it cannot be read \\(${REASON}\\), and there are still \\w+ in it\\. Delete what is in the namespace first`),
  );
  expect((await ask(admin, 'GET', `${path}/a`)).status).toBe(200);
  // What the controllers keep in every namespace comes back until they see that it is gone; here they do not see it at all.
  for (const resource of ['configmaps', 'serviceaccounts', 'secrets']) await admin.ok('DELETE', `${own}/${resource}`);
  await expect.poll(async () => (await ask(admin, 'DELETE', own)).status).toBe(200);
  expect((await server.engine.range({ prefix: `core/configmaps/${namespace}/` })).entries).toEqual([]);
  expect((await ask(admin, 'GET', own)).status).toBe(404);
  await server.close();
});

test('bytes that are no object are set aside like others', async () => {
  const { path, namespace, restart, first } = await scene();
  const key = (name: string) => `core/configmaps/${namespace}/${name}`;
  const head = (at: number) => Buffer.from([1, 0, 0, 0, 0, 0, 0, at]);
  const values: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    short: Buffer.from([1, 0, 0]),
    format: Buffer.concat([Buffer.from([9, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{"metadata":{}}')]),
    text: Buffer.concat([head(1), Buffer.from('private words')]),
    nothing: Buffer.concat([head(1), Buffer.from('null')]),
    bare: Buffer.concat([head(1), Buffer.from('{}')]),
    offset: Buffer.concat([head(200), Buffer.from('{"metadata":{}}')]),
  };
  await first.engine.commit(Object.entries(values).map(([name, value]) => ({ type: 'put', key: key(name), value })));
  const server = await restart(() => false, { controllers: [] });
  for (const name of Object.keys(values)) {
    const got = await ask(server.admin, 'GET', `${path}/${name}`);
    expect([name, got.status]).toEqual([name, 500]);
    expect(got.text).not.toContain('private');
    expect(got.json.message).toMatch(/cannot be read from the store: (it|its) /);
    expect((await ask(server.admin, 'DELETE', `${path}/${name}`)).status).toBe(200);
  }
  const names = (await server.admin.ok('GET', path)).items.map((item: { metadata: { name: string } }) => item.metadata.name);
  expect(names).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  await server.close();
});

test('a store none of whose values can be read still starts, and all of it can be deleted', async () => {
  const { restart, path } = await scene();
  const server = await restart(() => true);
  const { admin } = server;
  expect((await ask(admin, 'GET', '/readyz')).status).toBe(200);
  expect((await ask(admin, 'GET', `${path}/a`)).status).toBe(500);
  const resources = [
    '/api/v1',
    ...(await admin.ok('GET', '/apis')).groups.map(
      (g: { preferredVersion: { groupVersion: string } }) => `/apis/${g.preferredVersion.groupVersion}`,
    ),
  ];
  for (const base of resources) {
    for (const { name, namespaced, verbs } of (await admin.ok('GET', base)).resources as {
      name: string;
      namespaced: boolean;
      verbs: string[];
    }[]) {
      if (name.includes('/') || !verbs.includes('list')) continue;
      const listed = await ask(admin, 'GET', `${base}/${name}`);
      expect([base, name, listed.status]).toEqual([base, name, 200]);
      if (!namespaced && verbs.includes('deletecollection')) expect((await ask(admin, 'DELETE', `${base}/${name}`)).status).toBe(200);
    }
  }
  await server.close();
});
