/** `plat log -f` over a network and servers that go away and come back. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MOST_CHANGES } from '../../packages/cli/src/history/follow-changes.ts';
import type { TestIO } from '../../packages/cli/src/testing.ts';
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
