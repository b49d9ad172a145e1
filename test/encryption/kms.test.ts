/** Envelope encryption by a plug-in on a Unix socket: well, slow, dead, wrong, and back again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { REST_MS } from '../../packages/storage/src/encryption/kms.ts';
import { KmsPlugin } from './kms-plugin.ts';
import { onStoresWith } from './on-stores.ts';
import { ConfigFile, eventually, identityEntry, local, newKey } from './support.ts';

const path = (ns: string, name = ''): string => `/api/v1/namespaces/${ns}/secrets${name === '' ? '' : `/${name}`}`;
const secret = (name: string) => ({ metadata: { name }, stringData: { password: 'hidden' } });

const TIMEOUT_MS = 3000;
/**
 * Time for a server and its plug-in. A call that is never answered is given up soon, and the rest after a failure is over as soon as
 * a test says so.
 */
class Time {
  #ahead = 0;
  readonly clock: Clock;
  constructor(plugin: KmsPlugin) {
    this.clock = {
      ...systemClock,
      after: (millis, call, keepAlive) =>
        systemClock.after(plugin.behaviour === 'hangs' && millis === TIMEOUT_MS ? 100 : millis, call, keepAlive),
      monotonic: () => systemClock.monotonic() + this.#ahead,
    };
  }
  /** Calls again, after a rest each time, until an answer fits. */
  eventually<T>(ask: () => Promise<T>, fits: (answer: T) => boolean): Promise<T> {
    const rested = (): Promise<T> => {
      this.#ahead += REST_MS;
      return ask();
    };
    return eventually(rested, fits);
  }
}

onStoresWith(['memory', 'lmdb', 'etcd'], (start) => {
  const plugin = new KmsPlugin();
  const config = new ConfigFile('kubernetes', [
    { kms: { name: 'vault', endpoint: plugin.endpoint, cachesize: 2, timeout: `${TIMEOUT_MS}ms` } },
    identityEntry,
  ]);
  const time = new Time(plugin);
  const server = start({ identity: 'kubernetes', clock: time.clock, encryptionProviderConfig: config.path });
  let ns: string;
  beforeAll(async () => {
    await plugin.start();
    ns = await server().namespace();
  });
  afterAll(() => plugin.stop());

  test('a secret stands under a key of its own, which the plug-in encrypted', async () => {
    const { admin, engine } = server();
    for (const name of ['a', 'b', 'c', 'd']) await admin.ok('POST', path(ns), secret(name));
    const stored = await engine.get(`core/secrets/${ns}/a`);
    expect(stored?.value.toString('latin1', 0, 21)).toBe('k8s:enc:kms:v1:vault:');
    expect(stored?.value.includes('aGlkZGVu')).toBe(false);
    expect((await admin.ok('GET', path(ns, 'a'))).data).toEqual({ password: 'aGlkZGVu' });
    // From history, where the key of the first is no longer kept.
    const version = (await admin.ok('GET', path(ns, 'd'))).metadata.resourceVersion;
    await admin.ok('PUT', path(ns, 'a'), { ...secret('a'), stringData: { more: 'x' } });
    const past = await admin.ok('GET', `${path(ns)}?resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect(past.items.map((item: { data: unknown }) => item.data)).toEqual(Array(4).fill({ password: 'aGlkZGVu' }));
    expect((await admin.get('/healthz/kms-provider-0')).text).toBe('ok');
    expect((await admin.get('/readyz?verbose')).text).toContain('[+]kms-provider-0 ok');
    const metrics = (await admin.get('/metrics')).text;
    expect(metrics).toMatch(
      /apiserver_storage_transformation_operations_total\{transformation_type="to_storage",transformer_prefix="k8s:enc:kms:v1:",status="OK"\} [5-9]/,
    );
    expect(metrics).toContain('apiserver_envelope_encryption_dek_cache_fill_percent 1');
  });

  test('what hangs, refuses, lies or babbles costs a write its time limit, an error that says why, and nothing else', async () => {
    const { admin } = server();
    for (const [behaviour, why] of [
      ['hangs', `no answer within ${TIMEOUT_MS} ms`],
      ['lies', 'could not decrypt what it encrypted: the answer is another value'],
      ['refuses', 'PERMISSION_DENIED: not today'],
      ['babbles', 'the answer is not a message of the protocol'],
    ] as const) {
      plugin.behaviour = behaviour;
      const answer = await time.eventually(
        () => admin.send('POST', path(ns), { body: secret('no') }),
        ({ text }) => text.includes(why),
      );
      expect(answer.status).toBe(500);
      expect(answer.json.message).toContain('the object was not written: the KMS plug-in "vault" could not');
      // Others are served, the encrypted ones that are known too.
      expect((await admin.get(path(ns, 'a'))).status).toBe(200);
      await admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: `c-${behaviour}` } });
    }
    plugin.behaviour = 'well';
    await time.eventually(
      () => admin.send('POST', path(ns), { body: secret(`after`) }),
      ({ status }) => status === 201,
    );
  });

  test('a plug-in that died is found again', async () => {
    const { admin } = server();
    plugin.stop();
    const answer = await time.eventually(
      () => admin.send('POST', path(ns), { body: secret('dead') }),
      ({ status }) => status === 500,
    );
    expect(answer.json.message).toContain('it cannot be reached');
    await plugin.start();
    await time.eventually(
      () => admin.send('POST', path(ns), { body: secret('alive') }),
      ({ status }) => status === 201,
    );
  });
});

describe('a start', () => {
  test('without the plug-in serves all but what it encrypts; with it those, too', async () => {
    const { startTestServer } = await import('../support/server.ts');
    const plugin = await new KmsPlugin().start();
    const key = newKey('local');
    const kms = { kms: { name: 'vault', endpoint: plugin.endpoint, timeout: `${TIMEOUT_MS}ms` } };
    const time = new Time(plugin);
    const config = new ConfigFile('plat', [kms, identityEntry]);
    let server = await startTestServer({ direct: true, store: 'lmdb', clock: time.clock, encryptionProviderConfig: config.path });
    try {
      const ns = await server.namespace();
      for (let i = 0; i < 50; i++) await server.admin.ok('POST', path(ns), secret(`s${i}`));
      plugin.stop();
      config.write([local('aesgcm', key), kms, identityEntry]);
      server = await server.restart();
      const refused = await server.admin.get(path(ns, 's1'));
      expect(refused.status).toBe(500);
      expect(refused.json.message).toContain('it is encrypted, and the KMS plug-in "vault" could not');
      expect((await server.admin.get('/healthz/kms-provider-0')).status).toBe(500);
      await server.admin.ok('POST', path(ns), secret('new'));
      await plugin.start();
      // Nothing is configured anew: what could not be read is tried again.
      await time.eventually(
        () => server.admin.get(path(ns)),
        ({ json }) => json.items.length === 51,
      );
      expect((await server.admin.ok('GET', path(ns, 's1'))).data).toEqual({ password: 'aGlkZGVu' });
    } finally {
      plugin.stop();
      await server.close();
    }
  });
});
