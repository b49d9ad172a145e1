/** Warnings of the server reach the person who asked. */
import { afterAll, beforeAll, expect, test } from 'vitest';
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
