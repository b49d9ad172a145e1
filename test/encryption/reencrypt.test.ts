/** Keys are rotated step by step with kubectl and `plat store reencrypt`, online and in a store that no server uses. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kubectl, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { onStoresWith } from './on-stores.ts';
import { ConfigFile, eventually, filesHolding, identityEntry, local, newKey, soon } from './support.ts';

const path = (ns: string, name = ''): string => `/api/v1/namespaces/${ns}/secrets${name === '' ? '' : `/${name}`}`;
const secret = (name: string) => ({ metadata: { name }, stringData: { password: 'hidden' } });
/** More than a page of the command; in a directory, more than a batch. */
const count = 120;
const countInDirectory = 60;

/** Waits until the server writes by the file as it is now. */
const used = (server: TestServer, ns: string, mark: string): Promise<unknown> =>
  eventually(
    async () => {
      await server.admin.send('DELETE', path(ns, 'probe'));
      await server.admin.ok('POST', path(ns), secret('probe'));
      return server.engine.get(`core/secrets/${ns}/probe`);
    },
    (entry) => entry?.value.includes(mark) === true,
  );

onStoresWith(['memory', 'lmdb', 'etcd'], (start) => {
  const key1 = newKey('key1');
  const key2 = newKey('key2');
  const config = new ConfigFile('kubernetes', [local('aescbc', key1), identityEntry]);
  const server = start({ identity: 'kubernetes', ...soon, encryptionProviderConfig: config.path });
  let ns: string;
  let plat: Plat;
  beforeAll(async () => {
    ns = await server().namespace();
    plat = platFor(server());
  });

  test('through the running server: every object under the new key, nothing else changed', async () => {
    const { admin } = server();
    for (let i = 0; i < count; i++) await admin.ok('POST', path(ns), secret(`s${i}`));
    expect((await plat.run(['store', 'reencrypt', '--check'])).code).toBe(0);
    config.write([local('secretbox', key2), local('aescbc', key1), identityEntry]);
    await used(server(), ns, 'secretbox:v1:key2:');
    const before = await admin.ok('GET', path(ns, 's7'));
    const check = await plat.run(['store', 'reencrypt', '--check']);
    expect(check.code).toBe(3);
    expect(check.stdout).toMatch(/^secrets: \d+ current, 12\d under other keys, 0 unreadable\n(?:.*\n)* {2}aescbc key1: 12\d$/m);
    const done = await plat.run(['store', 'reencrypt']);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(
      /^12\d objects were written again\nsecrets: 12\d current, 0 under other keys, 0 unreadable\n {2}secretbox key2: 12\d\n$/,
    );
    const after = await admin.ok('GET', path(ns, 's7'));
    expect({ ...after, metadata: { ...after.metadata, resourceVersion: '' } }).toEqual({
      ...before,
      metadata: { ...before.metadata, resourceVersion: '' },
    });
    // Once more, and nothing is written.
    const again = await plat.json(['store', 'reencrypt', '-o', 'json']);
    expect(again.rewritten).toBe(0);
    // The old key may go.
    config.write([local('secretbox', key2)]);
    expect((await plat.run(['store', 'reencrypt', '--check'])).code).toBe(0);
    const alice = platFor(server(), {}, ['--server', server().address, '--token', 'alice-token', '--insecure-skip-tls-verify']);
    expect((await alice.run(['store', 'reencrypt', '--check'])).stderr).toContain('/store/encryption');
  });
});

describe('in a directory that no server uses', () => {
  let server: TestServer;
  let ns: string;
  let config: ConfigFile;
  const [key1, key2] = [newKey('key1'), newKey('key2')];
  beforeAll(async () => {
    config = new ConfigFile('plat', [identityEntry], ['secrets', 'events']);
    server = await startTestServer({ store: 'lmdb', encryptionProviderConfig: config.path, direct: true });
    ns = await server.namespace();
    for (let i = 0; i < countInDirectory; i++) await server.admin.ok('POST', path(ns), secret(`s${i}`));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/events`, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: ns },
    });
  });
  afterAll(() => server.close());

  test('from plain to encrypted to another key; what expires still does', async () => {
    const plat = platFor(server, {}, []);
    const offline = ['store', 'reencrypt', '--data-dir', server.dataDir, '--encryption-provider-config', config.path];
    expect((await plat.run(offline)).stderr).toContain('is in use');
    config.write([local('aesgcm', key1), identityEntry], ['secrets', 'events']);
    server = await server.restart({ encryptionProviderConfig: undefined });
    await server.running.close();
    const first = await plat.run(offline);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.stdout).toContain(
      `secrets: ${countInDirectory} current, 0 under other keys, 0 unreadable\n  aesgcm key1: ${countInDirectory}\n`,
    );
    config.write([local('secretbox', key2), local('aesgcm', key1)], ['secrets', 'events']);
    expect((await plat.run([...offline, '--check'])).code).toBe(3);
    expect((await plat.run(offline)).code).toBe(0);
    expect((await plat.run([...offline, '--check'])).code).toBe(0);
    config.write([local('secretbox', key2)], ['secrets', 'events']);
    server = await startTestServer({ store: 'lmdb', dataDir: server.dataDir, encryptionProviderConfig: config.path, direct: true });
    expect((await server.admin.ok('GET', path(ns))).items).toHaveLength(countInDirectory);
    const { entries } = await server.engine.range({ prefix: 'core/events/', expiries: true });
    expect(entries.map(({ expires }) => (expires ?? 0) - Date.now() > 0 && (expires ?? 0) - Date.now() <= 3600_000)).toEqual(
      entries.map(() => true),
    );
    expect(entries.length).toBeGreaterThan(0);
    expect(filesHolding(server.dataDir, ':enc:secretbox:v1:key2:')).not.toEqual([]);
  });

  test('what is asked for must fit together', async () => {
    const plat = platFor(server);
    expect((await plat.run(['store', 'reencrypt', '--encryption-provider-config', config.path])).code).toBe(2);
    expect((await platFor(server, {}, []).run(['store', 'reencrypt', '--data-dir', server.dataDir])).stderr).toContain(
      '--encryption-provider-config is missing',
    );
  });
});

describe.skipIf(kubectlMissing !== undefined)(`kubectl through a rotation (${kubectlMissing ?? 'found'})`, () => {
  test('create, rotate, restart, replace, drop the old key', async () => {
    const identity = 'kubernetes';
    const [key1, key2] = [newKey('key1'), newKey('key2')];
    const config = new ConfigFile(identity, [local('aesgcm', key1), identityEntry]);
    let server = await startTestServer({ store: 'lmdb', identity, encryptionProviderConfig: config.path });
    let kubectl: Kubectl = kubectlFor(server);
    const restart = async (): Promise<void> => {
      server = await server.restart();
      kubectl = kubectlFor(server);
    };
    const password = async (): Promise<string> => kubectl.ok(['-n', 'default', 'get', 'secret', 'db', '-o', 'jsonpath={.data.password}']);
    const stored = async (): Promise<string> => (await server.engine.get('core/secrets/default/db'))?.value.toString('latin1', 0, 60) ?? '';
    try {
      await kubectl.ok(['-n', 'default', 'create', 'secret', 'generic', 'db', '--from-literal=password=hidden']);
      config.write([local('aesgcm', key1, key2), identityEntry]);
      await restart();
      config.write([local('aesgcm', key2, key1), identityEntry]);
      await restart();
      expect(await password()).toBe('aGlkZGVu');
      expect(await stored()).toContain('aesgcm:v1:key1:');
      const all = await kubectl.ok(['get', 'secrets', '--all-namespaces', '-o', 'json']);
      await kubectl.ok(['replace', '-f', '-'], JSON.parse(all));
      expect(await stored()).toContain('aesgcm:v1:key2:');
      config.write([local('aesgcm', key2)]);
      await restart();
      expect(await password()).toBe('aGlkZGVu');
      config.write([local('aesgcm', newKey('key2'))]);
      await restart();
      const refused = await kubectl.run(['-n', 'default', 'get', 'secret', 'db']);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('no matching key');
      await kubectl.ok(['get', 'namespaces']);
    } finally {
      await server.close();
    }
  });
});
