/** Test servers that listen, and clients that are not ours. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CoreV1Api, KubeConfig, Watch } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { startTestServer } from '../../packages/testing/src/server.ts';
import { kubectlMissing, kubectlProgram } from '../support/kubectl.ts';

test('the client of another project works with the configuration as an object and as text', async () => {
  await using server = await startTestServer({ identity: 'kubernetes', listen: true });
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfigText());
  const core = config.makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: 'a' } } });
  expect((await server.client().core.v1.namespaces().get('a')).metadata.name).toBe('a');
  const seen = new Promise<string>((resolve, reject) => {
    const watch = new Watch(config);
    watch
      .watch('/api/v1/namespaces', { fieldSelector: 'metadata.name=b' }, (_type, object) => resolve(object.metadata.name), reject)
      .catch(reject);
  });
  await server
    .client()
    .core.v1.namespaces()
    .create({ metadata: { name: 'b' } });
  expect(await seen).toBe('b');
  const alice = new KubeConfig();
  alice.loadFromString(JSON.stringify(server.kubeconfig('alice')));
  await expect(alice.makeApiClient(CoreV1Api).listNamespace()).rejects.toMatchObject({ code: 403 });
});

test.skipIf(kubectlMissing !== undefined)('kubectl works with it, as a user with groups', async () => {
  await using server = await startTestServer({ identity: 'kubernetes', listen: true });
  const file = join(temporaryDirectory('plat-kit'), 'config');
  writeFileSync(file, server.kubeconfigText('bob', ['system:masters']));
  const kubectl = (...args: string[]) => promisify(execFile)(kubectlProgram, ['--kubeconfig', file, ...args]);
  await kubectl('create', 'namespace', 'k');
  const { stdout } = await kubectl('get', 'namespace', 'k', '-o', 'jsonpath={.status.phase}');
  expect(stdout).toBe('Active');
});

test('without a port the error says how to have one', async () => {
  await using server = await startTestServer();
  expect(() => server.kubeconfig()).toThrow('the test server has no port: start it with { listen: true }');
});
