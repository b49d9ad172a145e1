/** Two servers on one etcd, whose configurations change one after the other: what one writes the other reads as soon as it has the key. */
import { expect, test } from 'vitest';
import { onPeers } from '../support/stores.ts';
import { ConfigFile, eventually, identityEntry, local, newKey, soon } from './support.ts';

const path = (ns: string, name = ''): string => `/api/v1/namespaces/${ns}/secrets${name === '' ? '' : `/${name}`}`;
const secret = (name: string) => ({ metadata: { name }, stringData: { password: 'hidden' } });
const [key1, key2] = [newKey('key1'), newKey('key2')];
const here = new ConfigFile('plat', [local('aesgcm', key1), identityEntry]);
const there = new ConfigFile('plat', [local('aesgcm', key1), identityEntry]);

onPeers({ ...soon, encryptionProviderConfig: here.path, second: { encryptionProviderConfig: there.path } }, (one, two) => {
  test('a key that one server does not have yet', async () => {
    const ns = await one().namespace();
    await one().admin.ok('POST', path(ns), secret('before'));
    expect((await two().admin.ok('GET', path(ns, 'before'))).data).toEqual({ password: 'aGlkZGVu' });
    here.write([local('secretbox', key2), local('aesgcm', key1), identityEntry]);
    await eventually(
      async () => {
        await one().admin.send('DELETE', path(ns, 'probe'));
        await one().admin.ok('POST', path(ns), secret('probe'));
        return one().engine.get(`core/secrets/${ns}/probe`);
      },
      (entry) => entry?.value.includes('secretbox:v1:key2:') === true,
    );
    const refused = await two().admin.get(path(ns, 'probe'));
    expect([refused.status, refused.json.reason]).toEqual([500, 'InternalError']);
    expect((await two().admin.ok('GET', path(ns, 'before'))).data).toEqual({ password: 'aGlkZGVu' });
    there.write([local('aesgcm', key1), local('secretbox', key2), identityEntry]);
    const read = await eventually(
      () => two().admin.get(path(ns, 'probe')),
      ({ status }) => status === 200,
    );
    expect(read.json.data).toEqual({ password: 'aGlkZGVu' });
    // Written there under the other key, read here.
    await two().admin.ok('POST', path(ns), secret('after'));
    expect((await one().admin.ok('GET', path(ns, 'after'))).data).toEqual({ password: 'aGlkZGVu' });
    expect((await one().admin.ok('GET', path(ns))).items).toHaveLength(3);
  });
});
