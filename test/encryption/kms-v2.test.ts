/** Envelope encryption by a plug-in of version v2: one seed, another when the key is another, and what health checks say. */
import { afterEach, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { KmsPlugin } from './kms-plugin.ts';
import { ConfigFile, identityEntry } from './support.ts';

const plugin = new KmsPlugin();
let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  plugin.stop();
});

test('secrets are encrypted, read after a restart of the plug-in, and the check says when it is not healthy', async () => {
  await plugin.start();
  const config = new ConfigFile('kubernetes', [{ kms: { apiVersion: 'v2', name: 'vault', endpoint: plugin.endpoint } }, identityEntry]);
  server = await startTestServer({ identity: 'kubernetes', store: 'memory', encryptionProviderConfig: config.path });
  const { admin, engine } = server;
  const secrets = '/api/v1/namespaces/default/secrets';
  const before = plugin.calls;
  for (const name of ['a', 'b', 'c']) await admin.ok('POST', secrets, { metadata: { name }, stringData: { password: 'hidden' } });
  // The proof, the key, and one seed.
  expect(plugin.calls - before).toBeLessThanOrEqual(5);
  const stored = await engine.get('core/secrets/default/a');
  expect(stored?.value.toString('latin1', 0, 21)).toBe('k8s:enc:kms:v2:vault:');
  expect(stored?.value.includes('aGlkZGVu')).toBe(false);
  expect((await admin.ok('GET', `${secrets}/a`)).data).toEqual({ password: 'aGlkZGVu' });
  expect((await admin.get('/healthz/kms-provider-0')).status).toBe(200);
  plugin.health = 'the vault is sealed';
  const copy = await startTestServer({ identity: 'kubernetes', store: 'memory', encryptionProviderConfig: config.path });
  try {
    expect((await copy.admin.get('/healthz/kms-provider-0')).status).toBe(500);
    const refused = await copy.admin.post(secrets, { metadata: { name: 'd' } });
    expect(refused.status).toBeGreaterThanOrEqual(500);
    plugin.health = 'ok';
  } finally {
    await copy.close();
  }
});
