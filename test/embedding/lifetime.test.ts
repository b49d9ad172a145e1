/** A server leaves nothing behind: no timer, port, socket or file, whether it ran or failed at any step of its start. */
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type RunningServer, type Surroundings, startServer } from '../../packages/compose/src/server.ts';
import { silentLog } from '../../packages/lib/src/log.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { keysInMemory } from '../../packages/pki/src/index.ts';
import { Client } from '../support/client.ts';
import { provideSigningKey } from '../support/signing-key.ts';
import { LeftOpen } from './left-open.ts';

type Options = Parameters<typeof startServer>[0];

const root = temporaryDirectory('plat-lifetime');
/** Each server would else make an RSA key of its own, which takes longer than all the rest of a start. */
const serviceAccountSigningKeyFile = join(root, 'pki', 'sa.key');
provideSigningKey(root);
let serial = 0;
const startWithOwnKey = (options: Options = {}): Promise<RunningServer> =>
  startServer({ securePort: 0, store: 'memory', dataDir: join(root, String(serial++)), ...options }, { log: silentLog });
const start = (options: Options = {}, around: Surroundings = {}): Promise<RunningServer> =>
  startServer(
    { securePort: 0, store: 'memory', dataDir: join(root, String(serial++)), serviceAccountSigningKeyFile, ...options },
    { log: silentLog, ...around },
  );
/** Keys take longer to make than all the rest of a start: most servers that keep nothing on disk share theirs. */
const keys = keysInMemory();
const startWithKeys = (around: Surroundings = {}): Promise<RunningServer> =>
  startServer({ store: 'memory', securePort: 0, serviceAccountSigningKeyFile }, { log: silentLog, keys, ...around });

const left = new LeftOpen();
afterAll(() => left.stop());

test('a server in memory writes nothing to disk, and gives its credentials as values', async () => {
  const before = readdirSync(root);
  const directory = process.cwd();
  const files = readdirSync(directory);
  const server = await startServer({ store: 'memory', securePort: 0 }, { log: silentLog });
  expect(server.adminConfigPath).toBeUndefined();
  const config = parse(server.adminConfig);
  const { user } = config.users[0];
  const pem = (text: string): string => Buffer.from(text, 'base64').toString();
  const client = new Client(server.address, {
    certificate: { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) },
  });
  await client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'a' } });
  client.close();
  await server.close();
  expect(readdirSync(root)).toEqual(before);
  expect(readdirSync(directory)).toEqual(files);
  expect(await left.list()).toEqual([]);
});

test.each([
  [{ store: 'disk' as never }, 'option store: "disk" is not one of lmdb, memory, etcd'],
  [{ securePort: '1' as never }, 'option securePort: a number is needed, not a string'],
  [{ authorizationMode: 'RBAC' as never }, 'option authorizationMode: a list is needed, not a string'],
  [{ storr: 'memory' } as never, 'unknown option storr (did you mean store?)'],
  [{ identity: 'other' as never }, '--identity other: neither one of plat, kubernetes nor a readable JSON file'],
])('options that are wrong are named: %j', async (options, message) => {
  await expect(startServer(options, { log: silentLog })).rejects.toThrow(message);
  expect(await left.list()).toEqual([]);
});

test.each([[undefined], [{}]])('every option has a default: %j', async (options) => {
  const names: string[] = [];
  // The start ends before it opens anything, since the defaults are a port and a directory that others may use: that of the project
  // would be one, and keys are made in it meanwhile.
  const starting = (name: string): void => {
    names.push(name);
    throw new Error('far enough');
  };
  const before = process.cwd();
  process.chdir(temporaryDirectory('plat-defaults'));
  try {
    await expect(startServer(options, { log: silentLog, starting })).rejects.toThrow('far enough');
  } finally {
    process.chdir(before);
  }
  expect(names).toHaveLength(1);
  expect(await left.list()).toEqual([]);
});

test.each(['memory', 'lmdb'] as const)('a server on %s that is closed leaves nothing open', async (store) => {
  // The one in memory that makes its own key is the first.
  const server = await (store === 'memory' ? start() : startWithOwnKey({ store }));
  const client = new Client(server.address, {});
  expect((await client.send('GET', '/livez')).status).toBe(200);
  client.close();
  // What is open is found: timers, and the port, which is a socket.
  const open = (await left.list()).join('\n');
  expect(open).toMatch(/^Timeout at .*\(packages\//m);
  expect(open).toMatch(/^socket:/m);
  await server.close();
  expect(await server.ended).toBeUndefined();
  expect(await left.list()).toEqual([]);
});

test('a server that is aborted leaves nothing open, with requests and watches under way', async () => {
  const server = await start({ authorizationMode: ['AlwaysAllow'], anonymousAuth: true });
  const client = new Client(server.address, {});
  await client.watch('/api/v1/namespaces?watch=1');
  await server.abort();
  client.close();
  expect(await left.list()).toEqual([]);
});

test.each(['memory', 'lmdb'] as const)('a start on %s that fails at any step leaves nothing open, and says why', async (store) => {
  const begin = (around: Surroundings) => (store === 'memory' ? startWithKeys(around) : start({ store }, around));
  // The names of all parts, in the order in which they start.
  const names: string[] = [];
  await (await begin({ starting: (name) => void names.push(name) })).close();
  expect(names).toEqual(
    expect.arrayContaining(['store', 'cache', 'auth', 'admission', 'definitions', 'https', 'announcement', 'background']),
  );
  for (const name of names) {
    const starting = (part: string): void => {
      if (part === name) throw new Error(`no ${part}`);
    };
    await expect(begin({ starting }), name).rejects.toThrow(`no ${name}`);
    expect(await left.list(), name).toEqual([]);
  }
});

test('a port in use is named by its flag, and what listens already is closed', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  await expect(start({ securePort: port })).rejects.toThrow(
    `127.0.0.1:${port} is in use: is another server running? Choose another port with --secure-port (option securePort)`,
  );
  await expect(start({ insecurePort: port })).rejects.toThrow(
    `127.0.0.1:${port} is in use: is another server running? Choose another port with --insecure-port (option insecurePort)`,
  );
  await new Promise((resolve) => taken.close(resolve));
  expect(await left.list()).toEqual([]);
});

test('a hundred servers open and close in one process', async () => {
  await (await startWithKeys()).close();
  for (let round = 0; round < 20; round++) {
    // In every fourth round one makes its own keys, in a directory of its own.
    const first = round % 4 === 0 ? start() : startWithKeys();
    const servers = await Promise.all([first, ...Array.from({ length: 4 }, () => startWithKeys())]);
    expect(new Set(servers.map(({ port }) => port)).size).toBe(5);
    await Promise.all(servers.map((server) => server.close()));
  }
  expect(await left.list()).toEqual([]);
}, 600_000);
