/** `plat log -f` over a network and servers that go away and come back. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOST_CHANGES, MOST_WATCHES, POLL_MS } from '../../packages/cli/src/history/follow-changes.ts';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startProxy, type TcpProxy } from '../support/tcp-proxy.ts';

describe.each(['memory', 'lmdb'] as const)('on %s', (store) => {
  let server: TestServer;
  let proxy: TcpProxy;
  let plat: Plat;
  let io: TestIO;
  let code: Promise<number>;
  beforeEach(async () => {
    server = await startTestServer({ store });
    proxy = await startProxy(server.port);
    plat = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--server', `https://127.0.0.1:${proxy.port}`]);
    ({ io, code } = plat.start(['log', '-f', '--manager', 'tester']));
    for (const name of ['first', 'followed']) {
      await create(name);
      await io.said(`configmap/${name}  created  admin (tester)`);
    }
  });
  afterEach(async () => {
    io.send('SIGINT');
    expect(await code).toBe(0);
    await proxy.close();
    await server.close();
  });
  const create = (name: string) =>
    server.admin.ok('POST', '/api/v1/namespaces/default/configmaps?fieldManager=tester', { metadata: { name } });
  const shown = (): string[] => [...io.stdout.matchAll(/configmap\/(\S+)/g)].map(([, name]) => name as string);

  test('after the connection was lost and the server has forgotten the events, changes come from history, each once', async () => {
    proxy.cut();
    await create('second');
    await create('third');
    await server.engine.compact(await server.engine.currentRevision());
    proxy.mend();
    await io.said('configmap/third  created  admin (tester)');
    await create('fourth');
    await io.said('configmap/fourth  created  admin (tester)');
    expect(shown()).toEqual(['first', 'followed', 'second', 'third', 'fourth']);
    expect(io.stderr).toMatch(/^note: changes cannot be followed, retrying: .*\nnote: the watches begin anew: .*\n$/);
  });

  test('of many changes at once the newest are shown, up to a bound', async () => {
    proxy.cut();
    for (let index = 0; index <= MOST_CHANGES; index++) await create(`many-${index}`);
    proxy.mend();
    await io.said(`configmap/many-${MOST_CHANGES}  created  admin (tester)`);
    expect(shown().slice(2)).toEqual(Array.from({ length: MOST_CHANGES }, (_, index) => `many-${index + 1}`));
    expect(io.stderr).toContain(`note: only the last ${MOST_CHANGES} changes are shown\n`);
  });

  test('it goes on after a restart of the server', async () => {
    server = await server.restart();
    await create('second');
    await io.said('configmap/second  created  admin (tester)');
    expect(shown()).toEqual(['first', 'followed', 'second']);
  });
});

test('of many kinds those with the newest changes have a connection, and the others are read now and then', async () => {
  const server = await startTestServer();
  const proxy = await startProxy(server.port);
  const clock = new FakeClock();
  const io = testIO({ clock });
  const connection = ['--kubeconfig', server.running.adminConfigPath, '--server', `https://127.0.0.1:${proxy.port}`];
  const create = (path: string, body: object) => server.admin.ok('POST', `${path}?fieldManager=tester`, body);
  await create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'earlier' } });
  const code = run(['log', '-A', '-f', '--manager', 'tester', ...connection], io);
  await io.said('types are read every 30 s');
  await create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'watched' } });
  await io.said('configmap/watched  created');
  // Requests other than watches have at most 16.
  expect(proxy.size).toBeLessThanOrEqual(MOST_WATCHES + 16);
  await create(`/apis/node.${server.identity.groupSuffix}/v1/runtimeclasses`, { metadata: { name: 'polled' }, handler: 'h' });
  await create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'later' } });
  await io.said('configmap/later  created');
  expect(io.stdout).not.toContain('runtimeclass/polled');
  await clock.advance(POLL_MS);
  await io.said('runtimeclass/polled  created  admin (tester)');
  io.send('SIGINT');
  expect(await code).toBe(0);
  expect(io.stderr).toMatch(/^note: \d+ types are read every 30 s; --kind names those to follow at once\n$/);
  await proxy.close();
  await server.close();
});
