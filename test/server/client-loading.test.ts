/** The HTTP client takes a while to load: a server does so when something is configured that it will call, not when it calls it. */
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../packages/lib/src/clock.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { HttpClient } from '../../packages/server/src/http-client/client.ts';
import { Outbound } from '../../packages/server/src/http-client/outbound.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Loose, startTestServer } from '../support/server.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
/** Matches what no test writes. */
const configuration = {
  metadata: { name: 'unused' },
  webhooks: [
    {
      name: 'unused.example.com',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: ['none.example.com'], apiVersions: ['v1'], resources: ['nothings'], operations: ['CREATE'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    },
  ],
};

test('for webhooks: when the first configuration is written, and at a start with one', async () => {
  const prepare = vi.spyOn(HttpClient, 'prepare');
  const dataDir = temporaryDirectory('plat-client-loading');
  const options = { store: 'lmdb', identity: 'kubernetes', dataDir } as const;
  const server = await startTestServer(options);
  await server.namespace();
  await define(server, definitionOf(server, 'garden.example.com', 'Seed', [{}]));
  expect(prepare).not.toHaveBeenCalled();
  await server.admin.ok('POST', configurations, configuration);
  expect(prepare).toHaveBeenCalled();
  await server.running.close();
  prepare.mockClear();
  const restarted = await startTestServer(options);
  expect(prepare).toHaveBeenCalled();
  await restarted.close();
});

test('for conversions: when a definition names a webhook', async () => {
  const prepare = vi.spyOn(HttpClient, 'prepare');
  const server = await startTestServer();
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/' } };
  const versions: Loose[] = [{ name: 'v1' }, { name: 'v2' }];
  await define(server, definitionOf(server, 'garden.example.com', 'Seed', versions, { conversion: { strategy: 'Webhook', webhook } }));
  expect(prepare).toHaveBeenCalled();
  await server.close();
});

test('for services that flags name: at the start', () => {
  const prepare = vi.spyOn(HttpClient, 'prepare');
  new Outbound({ server: 'https://127.0.0.1:1/' }, systemClock).close();
  expect(prepare).toHaveBeenCalledOnce();
});
