/** Controllers in a process of their own talk to a server as any client does. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../packages/client/src/config.ts';
import { connectionOf } from '../../packages/client/src/connection.ts';
import type { Connection } from '../../packages/client/src/connection-settings.ts';
import {
  identityOf,
  NAMESPACE_DELAY_MS,
  type RemoteControllersOptions,
  startRemoteControllers,
} from '../../packages/compose/src/background/remote-controllers.ts';
import { parseServerFlags, type ServerOptions } from '../../packages/compose/src/config/server-options.ts';
import { defaultFeatures } from '../../packages/kinds/src/feature-gates.ts';
import { systemClock } from '../../packages/lib/src/clock.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { systemRandom } from '../../packages/lib/src/random.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { shortWaits } from '../support/short-waits.ts';
import { until } from './support.ts';

const world = { env: {}, clock: systemClock, interactive: false, show: () => {} };
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(changes: Partial<RemoteControllersOptions> = {}): Promise<{ server: TestServer; connection: Connection }> {
  const server = await startTestServer({ identity: 'kubernetes', store: 'lmdb', controllers: ['-*'] });
  cleanups.push(() => server.close());
  // A new server answers before it has the key that signs tokens. Whoever asks for it waits.
  await server.admin.ok('GET', '/openid/v1/jwks');
  const connection = await connectionOf(await loadConfig([server.running.adminConfigPath]), {}, world);
  const options = {
    ...(parseServerFlags([
      '--leader-elect',
      '--leader-elect-lease-duration=3s',
      '--leader-elect-renew-deadline=2s',
      '--leader-elect-retry-period=200ms',
    ]) as ServerOptions),
    rootCaFile: undefined,
    serviceAccountPrivateKeyFile: join(server.dataDir, 'pki', 'sa.key'),
    useServiceAccountCredentials: true,
    feature: (name: string) => defaultFeatures.isOn(name),
    ...changes,
  };
  const running = startRemoteControllers(connection, await identityOf(connection, systemClock), options, {
    clock: shortWaits({ after: [NAMESPACE_DELAY_MS] }),
    random: systemRandom,
    log: silentLog,
  });
  cleanups.push(() => running.stop());
  return { server, connection };
}

test('they lead, act as their own accounts, fill secrets, and empty namespaces', async () => {
  const { server } = await start();
  const namespace = await server.namespace();
  const path = `/api/v1/namespaces/${namespace}`;
  await until('the account is there', async () => (await server.admin.get(`${path}/serviceaccounts/default`)).status === 200);
  const root = await until('the certificates are there', async () => {
    const answer = await server.admin.get(`${path}/configmaps/kube-root-ca.crt`);
    return answer.status === 200 && answer.json.data['ca.crt'];
  });
  expect(root).toBe(readFileSync(join(server.dataDir, 'pki', 'ca.crt'), 'utf8'));
  expect((await server.admin.get('/api/v1/namespaces/kube-system/serviceaccounts/root-ca-cert-publisher')).status).toBe(200);

  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  await server.admin.ok('POST', `${path}/secrets`, {
    metadata: { name: 'kept', annotations },
    type: 'kubernetes.io/service-account-token',
  });
  const token: string = await until('the secret is filled', async () => (await server.admin.ok('GET', `${path}/secrets/kept`)).data?.token);
  const account = server.client({ token: Buffer.from(token, 'base64').toString() });
  expect((await account.get(`${path}/pods`)).json.message).toContain(`system:serviceaccount:${namespace}:default`);

  await server.admin.ok('DELETE', path);
  await until('the namespace is gone', async () => (await server.admin.get(path)).status === 404);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
  expect((await server.admin.ok('GET', lease)).spec.holderIdentity).not.toBe('');
  await cleanups.pop()?.();
  expect((await server.admin.ok('GET', lease)).spec.holderIdentity ?? '').toBe('');
});

test('they go on when the server was away', async () => {
  const { server } = await start({ controllers: ['serviceaccount'], leaderElect: false });
  const port = server.port;
  await until('they work', async () => (await server.admin.ok('GET', '/api/v1/serviceaccounts')).items.length >= 4);
  const again = await server.restart({ securePort: port });
  cleanups.splice(0, 1, () => again.close());
  const namespace = await again.namespace();
  await until(
    'they work again',
    async () => (await again.admin.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`)).status === 200,
  );
}, 120_000);
