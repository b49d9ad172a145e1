import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { systemClock } from '../lib/clock.ts';
import { makeAuthority, makeServer } from '../lib/pki/made.testing.ts';
import { temporaryDirectory } from '../lib/temporary.testing.ts';
import { loadConfig } from './config.ts';
import { connectionOf } from './connection.ts';
import { defaultRoots, extraRootsVariable } from './extra-roots.ts';
import { Transport } from './transport.ts';

const root = makeAuthority('corporate');
const file = join(temporaryDirectory('plat-roots'), 'extra.pem');
writeFileSync(file, root.certificate);

test('what was moved is added to what Node trusts; a file that cannot be read is left out', () => {
  expect(defaultRoots({ [extraRootsVariable]: file })).toEqual([...rootCertificates, root.certificate]);
  expect(defaultRoots({})).toBeUndefined();
  expect(defaultRoots({ [extraRootsVariable]: '/nonexistent' })).toBeUndefined();
});

test('a server without a CA in the configuration is trusted by it, and by nothing else', async () => {
  const pair = makeServer(root);
  const server = createServer({ key: pair.key, cert: pair.certificate }, (_, response) => void response.end('{}'));
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = async (env: Record<string, string>): Promise<string> => {
    const world = { env, clock: systemClock, interactive: false, show: () => {} };
    const connection = await connectionOf(await loadConfig([]), { server: address }, world);
    const transport = new Transport(connection, 'test/1', systemClock, { verifyDirectly: true });
    try {
      return await transport.text({ path: '/' });
    } finally {
      transport.close();
    }
  };
  try {
    expect(await ask({ [extraRootsVariable]: file })).toBe('{}');
    await expect(ask({})).rejects.toThrow('cannot be trusted');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
