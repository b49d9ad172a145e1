/** The configuration file while a server uses it: changes, faults, and what is told of them. */

import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { composeEncryption, type Encryption, LOOK_MS, RETRY_MS } from '../../packages/compose/src/store/encryption.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { type Log, silentLog } from '../../packages/lib/src/log.ts';
import { Metrics } from '../../packages/lib/src/metrics.ts';
import { systemRandom } from '../../packages/lib/src/random.ts';
import { plat } from '../../packages/meta/src/identity.ts';
import { KMS_VERSION } from '../../packages/storage/src/encryption/kms.ts';
import { secretKey, secretValue } from '../../packages/storage/src/encryption/testing.ts';
import { openMemoryEngine } from '../../packages/storage/src/engines/memory.ts';
import { startTestServer } from '../support/server.ts';
import { ConfigFile, eventually, identityEntry, local, newKey, soon } from './support.ts';

const ended: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function setUp(config: ConfigFile, more: { reload?: boolean; connect?: Parameters<typeof composeEncryption>[0]['connect'] } = {}) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const line = (level: string) => (message: string, fields?: object) => void lines.push(`${level} ${message} ${jsonText(fields ?? {})}`);
  const log: Log = { ...silentLog, error: line('error'), warn: line('warn'), info: line('info') };
  const metrics = new Metrics({ version: '1.24' });
  const engine = openMemoryEngine();
  const encryption = await composeEncryption({
    file: config.path,
    reload: more.reload ?? true,
    identity: plat,
    engine,
    metrics,
    log,
    clock,
    random: systemRandom,
    ...(more.connect !== undefined && { connect: more.connect }),
  });
  const reread: string[] = [];
  const unreadable = new Map<string, number>();
  encryption.follow({
    reread: async (prefix) => void reread.push(prefix),
    unreadable: () => unreadable,
  });
  ended.push(
    () => encryption.close(),
    () => engine.close(),
  );
  return { clock, lines, metrics, encryption, engine, reread, unreadable };
}

const put = (encryption: Encryption, name: string) =>
  encryption.engine.commit([{ type: 'put', key: secretKey('n', name), value: secretValue('n', name) }]);
/** A look reads the file, which no fake clock hastens. */
async function look({ clock, encryption }: { clock: FakeClock; encryption: Encryption }): Promise<void> {
  await clock.advance(LOOK_MS);
  await encryption.look();
}

test('a changed file is used by the next write, and a key that went is noticed', async () => {
  const [one, two] = [newKey('one'), newKey('two')];
  const config = new ConfigFile('plat', [local('aescbc', one), identityEntry]);
  const server = await setUp(config);
  await put(server.encryption, 'a');
  config.write([local('aescbc', two, one), identityEntry]);
  await look(server);
  await put(server.encryption, 'b');
  expect((await server.engine.get(secretKey('n', 'b')))?.value.includes('aescbc:v1:two:')).toBe(true);
  expect((await server.encryption.engine.get(secretKey('n', 'a')))?.unreadable).toBeUndefined();
  expect(server.reread).toEqual([]);
  config.write([local('aescbc', two), identityEntry]);
  await look(server);
  expect(server.reread).toEqual(['core/secrets/']);
  expect((await server.encryption.engine.get(secretKey('n', 'a')))?.unreadable?.reason).toContain('no matching key');
  server.unreadable.set('core/secrets/', 1);
  config.write([local('aescbc', two, one), identityEntry]);
  await look(server);
  expect(server.reread).toEqual(['core/secrets/', 'core/secrets/']);
  expect(server.metrics.expose()).toContain('apiserver_encryption_config_controller_automatic_reload_success_total 3');
});

test('a file that cannot be used leaves the one before in use, and is reported once', async () => {
  const one = newKey('one');
  const config = new ConfigFile('plat', [local('aesgcm', one), identityEntry]);
  const server = await setUp(config);
  const bad = newKey('bad', 7);
  config.write([local('aesgcm', bad)]);
  for (let i = 0; i < 5; i++) await look(server);
  expect(server.lines).toHaveLength(1);
  expect(server.lines[0]).toContain('error cannot use the new encryption configuration, keeping the old one');
  expect(server.lines[0]).toContain('a key of aesgcm has 16, 24 or 32 bytes, not 7');
  rmSync(config.path);
  for (let i = 0; i < 5; i++) await look(server);
  expect(server.lines).toHaveLength(2);
  await put(server.encryption, 'a');
  expect((await server.engine.get(secretKey('n', 'a')))?.value.includes('aesgcm:v1:one:')).toBe(true);
  config.write([identityEntry]);
  await look(server);
  await put(server.encryption, 'b');
  expect((await server.engine.get(secretKey('n', 'b')))?.value).toEqual(secretValue('n', 'b'));
  const shown = server.metrics.expose();
  expect(shown).toContain('apiserver_encryption_config_controller_automatic_reload_failures_total 2');
  for (const text of [...server.lines, shown])
    for (const { secret } of [one, bad])
      expect(text.includes(secret) || text.includes(Buffer.from(secret, 'base64').toString('hex'))).toBe(false);
});

test('a file that others can read is warned of; without reload it is read once', async () => {
  const config = new ConfigFile('plat', [local('aesgcm', newKey('one'))]);
  chmodSync(config.path, 0o644);
  const server = await setUp(config, { reload: false });
  expect(server.lines.map((line) => line.split(' {')[0])).toEqual([
    'warn encryption configuration can be read or changed by other users, set its mode to 600',
  ]);
  expect(server.clock.pending).toBe(0);
});

test('what a plug-in could not decrypt is read again once it works, and not before', async () => {
  const turned = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0xff));
  let gone = false;
  const answer = async (bytes: Buffer): Promise<Buffer> => {
    if (gone) throw new Error('it cannot be reached');
    return turned(bytes);
  };
  const connect = () => ({ version: async () => KMS_VERSION, encrypt: answer, decrypt: answer, close: () => {} });
  const config = new ConfigFile('plat', [{ kms: { name: 'vault', endpoint: 'unix:///nowhere', cachesize: 1 } }]);
  const server = await setUp(config, { connect });
  await put(server.encryption, 'a');
  await put(server.encryption, 'b');
  gone = true;
  expect((await server.encryption.engine.get(secretKey('n', 'a')))?.unreadable).toBeDefined();
  await server.clock.advance(3 * RETRY_MS);
  expect(server.reread).toEqual([]);
  gone = false;
  await server.clock.advance(2 * RETRY_MS);
  expect(server.reread).toEqual(['core/secrets/']);
  await server.clock.advance(10 * RETRY_MS);
  expect(server.reread).toEqual(['core/secrets/']);
});

test('a plug-in that is away at the start is logged once, with its socket, and tried until it works', async () => {
  let [gone, calls] = [true, 0];
  const turned = async (bytes: Buffer): Promise<Buffer> => Buffer.from(bytes.map((byte) => byte ^ 0xff));
  const version = async (): Promise<string> => {
    calls++;
    if (gone) throw new Error('it cannot be reached');
    return KMS_VERSION;
  };
  const connect = () => ({ version, encrypt: turned, decrypt: turned, close: () => {} });
  const config = new ConfigFile('plat', [{ kms: { name: 'vault', endpoint: 'unix:///run/vault.sock' } }]);
  const server = await setUp(config, { connect });
  await server.clock.advance(4 * RETRY_MS);
  expect(calls).toBe(4);
  const away = 'error KMS plug-in failed, retrying {"provider":"vault","socket":"/run/vault.sock",' + '"error":"it cannot be reached"}';
  expect(server.lines).toEqual([away]);
  const [check] = server.encryption.checks;
  expect(check?.name).toBe('kms-provider-0');
  await expect(check?.check()).rejects.toThrow('the KMS plug-in "vault" could not report its version: it cannot be reached');
  gone = false;
  await server.clock.advance(RETRY_MS);
  expect(server.lines).toEqual([away, 'info KMS plug-in works again {"provider":"vault","socket":"/run/vault.sock"}']);
  await expect(check?.check()).resolves.toBeUndefined();
  // Nothing is asked any more that nobody needs: four times away, once by the check, then once by each of them.
  await server.clock.advance(4 * RETRY_MS);
  expect(calls).toBe(7);
});

describe('a start', () => {
  test.each([
    ['{"kind": "x"', 'the file is neither YAML nor JSON'],
    ['kind: Other', 'must have kind: EncryptionConfiguration'],
  ])('is refused with %j', async (text, why) => {
    const config = new ConfigFile('plat', [identityEntry]);
    writeFileSync(config.path, text);
    await expect(startTestServer({ encryptionProviderConfig: config.path })).rejects.toThrow(
      `--encryption-provider-config ${config.path}: ${why}`,
    );
  });
  test('is refused without the file', async () => {
    await expect(startTestServer({ encryptionProviderConfig: '/nowhere/encryption.yaml' })).rejects.toThrow(
      '--encryption-provider-config /nowhere/encryption.yaml: there is no file',
    );
  });
});

test('keys are in no answer, log line or metric of a server', async () => {
  const keys = [newKey('one'), newKey('two')];
  const config = new ConfigFile('plat', [local('aescbc', ...keys), identityEntry]);
  const lines: string[] = [];
  const keep = (message: string, fields?: object) => void lines.push(message + jsonText(fields ?? {}));
  const log: Log = {
    ...silentLog,
    error: keep,
    warn: keep,
    info: keep,
    debug: (_, message, fields) => keep(message, fields),
    enabled: () => true,
  };
  const server = await startTestServer({ ...soon, encryptionProviderConfig: config.path, log, v: 10 });
  ended.push(() => server.close());
  const ns = await server.namespace();
  await server.admin.ok('POST', `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'a' } });
  config.write([local('aescbc', newKey('one')), identityEntry]);
  const refused = await eventually(
    () => server.admin.get(`/api/v1/namespaces/${ns}/secrets/a`),
    ({ status }) => status === 500,
  );
  const texts = [refused.text, ...lines];
  for (const path of ['/metrics', '/configz', '/store/encryption', '/healthz?verbose', '/debug/pprof', '/flagz', '/statusz'])
    texts.push((await server.admin.get(path)).text);
  for (const { secret } of keys) {
    const bytes = Buffer.from(secret, 'base64');
    for (const shown of [secret, bytes.toString('hex'), bytes.toString('latin1')])
      expect(texts.filter((text) => text.includes(shown))).toEqual([]);
  }
  expect((await server.admin.ok('GET', '/store/encryption')).collections).toEqual([
    { resource: 'secrets', current: 0, outdated: 0, unreadable: 1, forms: [{ provider: 'aescbc', name: 'one', objects: 1 }] },
  ]);
  expect((await server.alice.get('/store/encryption')).status).toBe(403);
});

test('a key that goes, and one that comes back, end the watches of its kind with 410: no event says which objects that are', async () => {
  const key = newKey('one');
  const config = new ConfigFile('plat', [local('aescbc', key), identityEntry]);
  const server = await startTestServer({ ...soon, encryptionProviderConfig: config.path });
  ended.push(() => server.close());
  const ns = await server.namespace();
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  await server.admin.ok('POST', secrets, { metadata: { name: 'a' } });
  for (const [providers, names] of [
    [[identityEntry], []],
    [[local('aescbc', key), identityEntry], ['a']],
  ] as const) {
    const { metadata } = await server.admin.ok('GET', secrets);
    await server.namespace();
    const watch = await server.admin.watch(`${secrets}?watch=1`);
    config.write(providers);
    expect(await watch.ended).toBe('end');
    // Whoever was away meanwhile is told, too.
    const resumed = await server.admin.watch(`${secrets}?watch=1&resourceVersion=${metadata.resourceVersion}`);
    expect(await resumed.ended).toBe('end');
    expect(resumed.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    expect(watch.events.at(-1)).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
    const { items } = await server.admin.ok('GET', secrets);
    expect(items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(names);
  }
});
