/** Users of a configuration against a real server: a plug-in, a token in a file, someone to act as; and kubectl with the same file. */

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubectlBefore, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
const directory = temporaryDirectory('plat-credentials');
const config = join(directory, 'config');
const plugin = join(directory, 'plugin');
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
  writeFileSync(
    plugin,
    `#!${process.execPath}
const fs = require('fs');
fs.appendFileSync(__filename + '.runs', 'x');
const { spec, apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
// The first token is not good any more.
const token = fs.readFileSync(__filename + '.runs').length === 1 ? 'stale' : 'alice-token';
if (spec.cluster.server.startsWith('https://')) console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token } }));
`,
  );
  chmodSync(plugin, 0o755);
  writeFileSync(join(directory, 'token'), 'bob-token\n');
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never', provideClusterInfo: true };
  const user = (name: string, entry: object) => ({ name, user: entry });
  const ca = /certificate-authority-data: (\S+)/.exec(readFileSync(server.running.adminConfigPath, 'utf8'))?.[1];
  writeFileSync(
    config,
    jsonText({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: server.address, 'certificate-authority-data': ca } }],
      users: [
        user('plugin', { exec }),
        user('file', { tokenFile: 'token' }),
        user('admin', { token: 'admin-token' }),
        user('actor', { token: 'admin-token', as: 'carol', 'as-groups': ['g1', 'g2'] }),
      ],
      contexts: ['plugin', 'file', 'admin', 'actor'].map((name) => ({ name, context: { cluster: 'c', user: name } })),
    }),
  );
});
afterAll(() => server.close());

/** Who the server takes someone for, by what it says when it refuses. */
async function refusal(...args: string[]): Promise<string> {
  const io = testIO();
  expect(await run(['get', 'secrets', '--kubeconfig', config, ...args], io)).toBe(1);
  return /User "([^"]*)"/.exec(io.stderr)?.[1] ?? io.stderr;
}

test('the server knows the user by the plug-in, which is asked again after a 401', async () => {
  expect(await refusal('--context', 'plugin')).toBe('alice');
  expect(readFileSync(`${plugin}.runs`, 'utf8')).toBe('xx');
});

test('by a token in a file, by whom to act as in the file and on the command line', async () => {
  expect(await refusal('--context', 'file')).toBe('bob');
  expect(await refusal('--context', 'actor')).toBe('carol');
  expect(await refusal('--context', 'admin', '--as', 'dora', '--as-group', 'x')).toBe('dora');
});

test.skipIf(kubectlMissing !== undefined || kubectlBefore(22))(
  `kubectl takes the same file (${kubectlMissing ?? 'it is there'})`,
  async () => {
    const kubectl = kubectlFor(server);
    const { stderr } = await kubectl.run(['get', 'secrets', '--kubeconfig', config, '--context', 'plugin']);
    expect(stderr).toContain('User "alice"');
  },
);
