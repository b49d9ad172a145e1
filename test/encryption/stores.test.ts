/** Objects that are encrypted in every store, under both identities: what is stored, what is read, and with which keys. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encryptedMark } from '../../packages/storage/src/encryption/stored-form.ts';
import { type EtcdFixture, etcdMissing, startEtcd } from '../support/etcd.ts';
import { type Loose, startTestServer, type TestServer, type TestServerOptions, unique } from '../support/server.ts';
import { ConfigFile, eventually, filesHolding, identityEntry, local, newKey, soon } from './support.ts';

const MARKER = 'marker-that-must-not-be-stored';
const encoded = Buffer.from(MARKER).toString('base64');
const secret = (name: string, text = MARKER) => ({ metadata: { name }, stringData: { password: text } });
const path = (ns: string, name = ''): string => `/api/v1/namespaces/${ns}/secrets${name === '' ? '' : `/${name}`}`;

const defineWidgets = (server: TestServer, group: string): Promise<unknown> =>
  server.admin.ok('POST', `/apis/apiextensions.${server.identity.groupSuffix}/v1/customresourcedefinitions`, {
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { word: { type: 'string' } } } } },
          },
        },
      ],
    },
  });

/** Identities differ in the mark of what is encrypted, whatever the store: each is tried in one that is in memory and in one that is not. */
const tried = {
  memory: ['plat', 'kubernetes'],
  lmdb: ['kubernetes'],
  etcd: ['plat'],
} as const;

for (const store of ['memory', 'lmdb', 'etcd'] as const) {
  for (const identity of tried[store]) {
    const skip = store === 'etcd' ? etcdMissing : undefined;
    describe.skipIf(skip !== undefined)(`on ${store} as ${identity}${skip === undefined ? '' : ` (skipped: ${skip})`}`, () => {
      const key1 = newKey('key1');
      let etcd: EtcdFixture | undefined;
      let config: ConfigFile;
      let server: TestServer;
      let ns: string;
      const options = (): TestServerOptions => ({
        store,
        identity,
        ...soon,
        encryptionProviderConfig: config.path,
        ...(etcd !== undefined && { etcdServers: [etcd.endpoint] }),
      });
      beforeAll(async () => {
        if (store === 'etcd') etcd = await startEtcd();
        config = new ConfigFile(identity, [local('aesgcm', key1), identityEntry]);
        server = await startTestServer(options());
        ns = await server.namespace();
      });
      afterAll(async () => {
        await server?.close();
        await etcd?.stop();
      });

      test('a secret is stored under the first key, and read, listed, watched, updated and deleted as it was given', async () => {
        const { admin } = server;
        const watch = await admin.watch(`${path(ns)}?watch=1`);
        await admin.ok('POST', path(ns), secret('one'));
        const stored = await server.engine.get(`core/secrets/${ns}/one`);
        const mark = encryptedMark(server.identity);
        expect(stored?.value.toString('latin1', 0, 40)).toContain(`${mark}aesgcm:v1:key1:`);
        expect(stored?.value.includes(MARKER) || stored?.value.includes(encoded)).toBe(false);
        const read = await admin.ok('GET', path(ns, 'one'));
        expect(read.data).toEqual({ password: encoded });
        await admin.ok('PUT', path(ns, 'one'), { ...read, stringData: { more: MARKER } });
        expect((await admin.ok('GET', path(ns))).items.map((item: { data: unknown }) => item.data)).toEqual([
          { password: encoded, more: encoded },
        ]);
        await admin.ok('DELETE', path(ns, 'one'));
        const events = [await watch.next(), await watch.next(), await watch.next()];
        expect(events.map(({ type, object }) => [type, Object.keys(object.data)])).toEqual([
          ['ADDED', ['password']],
          ['MODIFIED', ['more', 'password']],
          ['DELETED', ['more', 'password']],
        ]);
        watch.close();
        // From the history of the store.
        const past = await admin.ok('GET', `${path(ns)}?resourceVersion=${read.metadata.resourceVersion}&resourceVersionMatch=Exact`);
        expect(past.items.map((item: { data: unknown }) => item.data)).toEqual([{ password: encoded }]);
      });

      test('a key that goes makes its objects unreadable and nothing else; when it comes back they are read again', async () => {
        const { admin } = server;
        const other = newKey('key2');
        await admin.ok('POST', path(ns), secret('kept'));
        config.write([local('secretbox', other), identityEntry]);
        const refused = await eventually(
          () => admin.get(path(ns, 'kept')),
          ({ status }) => status === 500,
        );
        expect(refused.json).toMatchObject({ reason: 'InternalError', code: 500 });
        expect(refused.json.message).toContain(`secrets "${ns}/kept"`);
        expect(refused.json.message).toContain('encrypted by aesgcm with the key "key1"; no matching key');
        expect(refused.text).not.toContain(key1.secret);
        await admin.ok('POST', path(ns), secret('new'));
        const listed = await admin.get(path(ns));
        expect(listed.json.items.map((item: Loose) => item.metadata.name)).toEqual(['new']);
        expect(listed.headers.warning).toContain('1 of the secrets cannot be read');
        expect((await admin.get(`/api/v1/namespaces/${ns}/configmaps`)).status).toBe(200);
        // The new key writes, the old one reads.
        config.write([local('secretbox', other), local('aesgcm', key1), identityEntry]);
        const back = await eventually(
          () => admin.get(path(ns, 'kept')),
          ({ status }) => status === 200,
        );
        expect(back.json.data).toEqual({ password: encoded });
        expect((await server.engine.get(`core/secrets/${ns}/new`))?.value.toString('latin1', 0, 60)).toContain('secretbox:v1:key2:');
        // A write that changes nothing brings an object under the new key, as `kubectl replace` of everything is to do.
        await admin.ok('PUT', path(ns, 'kept'), back.json);
        expect((await server.engine.get(`core/secrets/${ns}/kept`))?.value.toString('latin1', 0, 60)).toContain('secretbox:v1:key2:');
        const again = await admin.ok('GET', path(ns, 'kept'));
        expect((await admin.ok('PUT', path(ns, 'kept'), again)).metadata.resourceVersion).toBe(again.metadata.resourceVersion);
        config.write([local('aesgcm', key1), local('secretbox', other), identityEntry]);
        for (const name of ['kept', 'new']) await admin.ok('DELETE', path(ns, name));
        await eventually(
          async () => {
            await admin.send('DELETE', path(ns, 'probe'));
            await admin.ok('POST', path(ns), secret('probe'));
            return server.engine.get(`core/secrets/${ns}/probe`);
          },
          (entry) => entry?.value.includes('aesgcm:v1:key1:') === true,
        );
      });

      test('the value of one object put in the place of another is refused', async () => {
        const { admin } = server;
        const other = await server.namespace();
        await admin.ok('POST', path(ns), secret('mine', 'stolen'));
        const stolen = await server.engine.get(`core/secrets/${ns}/mine`);
        await server.engine.commit([{ type: 'put', key: `core/secrets/${other}/mine`, value: stolen?.value as Buffer }]);
        const answer = await eventually(
          () => admin.get(path(other, 'mine')),
          ({ status }) => status !== 404,
        );
        expect(answer.status).toBe(500);
        expect(answer.json.message).toContain('it is not the value of this object');
        expect((await admin.send('DELETE', path(other, 'mine'))).status).toBe(200);
      });

      test('custom kinds are encrypted by their full name', async () => {
        const group = `${unique('g')}.example.com`;
        config.write([local('aescbc', newKey('cbc')), local('aesgcm', key1), identityEntry], ['secrets', `widgets.${group}`]);
        await eventually(
          async () => {
            await server.admin.send('DELETE', path(ns, 'probe'));
            await server.admin.ok('POST', path(ns), secret('probe'));
            return server.engine.get(`core/secrets/${ns}/probe`);
          },
          (entry) => entry?.value.includes(':enc:aescbc:v1:cbc:') === true,
        );
        await defineWidgets(server, group);
        const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
        await eventually(
          () => server.admin.get(widgets),
          ({ status }) => status === 200,
        );
        const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w' }, spec: { word: MARKER } };
        await server.admin.ok('POST', widgets, widget);
        const stored = await server.engine.get(`~${group}/widgets/${ns}/w`);
        expect(stored?.value.includes(':enc:aescbc:v1:cbc:')).toBe(true);
        expect(stored?.value.includes(MARKER)).toBe(false);
        expect((await server.admin.ok('GET', `${widgets}/w`)).spec.word).toBe(MARKER);
      });

      if (store !== 'memory')
        test('after a restart: without the configuration, with a wrong key, with the right one', async () => {
          config.write([local('aesgcm', key1), identityEntry]);
          server = await server.restart(options());
          await server.admin.ok('POST', path(ns), secret('lasting'));
          const { encryptionProviderConfig: _, ...plain } = options();
          server = await server.restart({ ...plain, encryptionProviderConfig: undefined });
          const bare = await server.admin.get(path(ns, 'lasting'));
          expect(bare.status).toBe(500);
          expect(bare.json.message).toContain('the encryption configuration has no rule for its kind');
          config.write([local('aesgcm', newKey('key1')), identityEntry]);
          server = await server.restart(options());
          const wrong = await server.admin.get(path(ns, 'lasting'));
          expect(wrong.status).toBe(500);
          expect(wrong.json.message).toContain('the one of that name in the encryption configuration does not decrypt it');
          config.write([local('aesgcm', key1), identityEntry]);
          server = await server.restart(options());
          expect((await server.admin.ok('GET', path(ns, 'lasting'))).data).toEqual({ password: encoded });
          expect(server.errors.filter((line) => line.includes('lasting'))).toEqual([]);
        });

      if (store === 'lmdb')
        test('no file of the directory holds what was encrypted, while it runs and after', async () => {
          const { admin } = server;
          await admin.ok('POST', path(ns), secret('disk'));
          const read = await admin.ok('GET', path(ns, 'disk'));
          await admin.ok('PUT', path(ns, 'disk'), { ...read, stringData: { again: MARKER } });
          await admin.ok('DELETE', path(ns, 'disk'));
          await admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'seen' }, data: { text: 'plain-marker' } });
          expect(filesHolding(server.dataDir, 'plain-marker')).not.toEqual([]);
          for (const text of [MARKER, encoded]) expect(filesHolding(server.dataDir, text)).toEqual([]);
          server = await server.restart(options());
          expect(filesHolding(server.dataDir, 'plain-marker')).not.toEqual([]);
          for (const text of [MARKER, encoded]) expect(filesHolding(server.dataDir, text)).toEqual([]);
        });

      test('what rules do not name stays as it is', async () => {
        await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'plain' }, data: { text: 'seen' } });
        const stored = await server.engine.get(`core/configmaps/${ns}/plain`);
        expect(stored?.value.toString()).toContain('"text":"seen"');
      });
    });
  }
}
