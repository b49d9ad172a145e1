/** Warnings of the server reach the person who asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

test.each([['table'], ['yaml'], ['name']])('plat get -o %s prints them once, on the standard error', async (output) => {
  const args = ['get', 'cronjobs.v1beta1.batch', '-A', ...(output === 'table' ? [] : ['-o', output])];
  const { code, stdout, stderr } = await platFor(server).run(args);
  expect(code).toBe(0);
  expect(stderr.match(/^Warning: batch\/v1beta1 CronJob is deprecated/gm)).toHaveLength(1);
  expect(stdout).not.toContain('deprecated');
});

test('--warnings-as-errors fails for them, after the work was done', async () => {
  const plat = platFor(server);
  const { code, stdout, stderr } = await plat.run(['get', 'cronjobs.v1beta1.batch', '-A', '-o', 'yaml', '--warnings-as-errors']);
  expect(code).toBe(1);
  expect(stdout).toContain('kind: List');
  expect(stderr).toContain('plat: 1 warning received\n');
  expect((await plat.run(['get', 'namespaces', '--warnings-as-errors'])).code).toBe(0);
});

test('they are yellow on a terminal, unless NO_COLOR says otherwise', async () => {
  const shown = async (env: Record<string, string>): Promise<string> => {
    const { terminal } = testIO();
    const io: TestIO = testIO({ env, terminal: { ...terminal, errorsAreShown: true, writeError: (bytes) => io.err(bytes.toString()) } });
    expect(await run(['get', 'cronjobs.v1beta1.batch', '--kubeconfig', server.running.adminConfigPath], io)).toBe(0);
    return io.stderr;
  };
  expect(await shown({})).toContain('\x1b[33;1mWarning:\x1b[0m batch/v1beta1');
  expect(await shown({ NO_COLOR: '1' })).toContain('Warning: batch/v1beta1');
  expect(await shown({ TERM: 'dumb' })).toMatch(/^Warning:/m);
});
