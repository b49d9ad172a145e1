/**
 * What earlier versions encrypted is read, and what is written now they would read: the bytes are the same. `before` has values that
 * they wrote with ciphers of their own, and a backup of a store with such values, each with its keys.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { type Random, systemRandom } from '../../packages/lib/src/random.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { type LocalProviderName, localProvider } from '../../packages/storage/src/encryption/provider.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer } from '../support/server.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`before/${name}`, import.meta.url));

interface EarlierValue {
  readonly provider: LocalProviderName;
  /** Base64, as in the file of keys. */
  readonly secret: string;
  readonly place: string;
  readonly length: number;
  /** Base64. */
  readonly stored: string;
}
const values = JSON.parse(fixture('values.json').toString()) as readonly EarlierValue[];
const titled = values.map((value) => [value.provider, Buffer.from(value.secret, 'base64').length, value.length, value] as const);

test.each(titled)('%s, a key of %i bytes, a value of %i', (type, _, length, { secret, place, stored }) => {
  const key = { name: 'key1', secret: Buffer.from(secret, 'base64') };
  const earlier = Buffer.from(stored, 'base64');
  const value = Buffer.from(Array.from({ length }, (_, i) => i % 251));
  const { open, prefix } = localProvider(type, key, kubernetes, systemRandom);
  expect((open(earlier, place) as Buffer).equals(value)).toBe(true);
  // With the nonce of then, the bytes of then.
  const sameBytes: Random = { ...systemRandom, bytes: (count) => earlier.subarray(prefix.length, prefix.length + count) };
  expect(localProvider(type, key, kubernetes, sameBytes).seal(value, place)).toEqual(earlier);
});

test('a backup with values of every cipher is restored, and all of them are read', async () => {
  const directory = temporaryDirectory('plat-before');
  const [backup, dataDir, encryptionProviderConfig] = ['store.backup', 'data', 'encryption.json'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(backup, gunzipSync(fixture('store.backup.gz')));
  writeFileSync(encryptionProviderConfig, fixture('encryption.json'), { mode: 0o600 });
  const io = testIO({ cwd: directory });
  expect([await run(['store', 'restore', '--from', backup, '--data-dir', dataDir], io), io.stderr]).toEqual([0, '']);

  const server = await startTestServer({ store: 'lmdb', identity: 'kubernetes', dataDir, encryptionProviderConfig });
  for (const [name, length] of Object.entries({ empty: 0, short: 10, long: 9000 })) {
    const text = 'x'.repeat(length);
    const secret = await server.admin.ok('GET', `/api/v1/namespaces/before/secrets/${name}`);
    expect(secret.data).toEqual({ text: Buffer.from(text).toString('base64') });
    expect((await server.admin.ok('GET', `/api/v1/namespaces/before/configmaps/${name}`)).data).toEqual({ text });
    const lease = await server.admin.ok('GET', `/apis/coordination.k8s.io/v1/namespaces/before/leases/${name}`);
    expect(lease.metadata.annotations).toEqual({ text });
  }
  const checked = await platFor(server).run(['store', 'reencrypt', '--check']);
  expect([checked.code, checked.stdout]).toEqual([0, expect.stringMatching(/secrets: \d+ current, 0 under other keys, 0 unreadable/)]);
  await server.close();
});
