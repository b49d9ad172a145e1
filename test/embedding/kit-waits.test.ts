/**
 * Waits on a server without a port keep the process of a script or test alive until they are over; an open server alone does not.
 * Each program runs as people run it: in a process of its own, with the built package.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { programDirectory, programMissing } from '../support/program.ts';

const node = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
  // A runner within a runner would report to that.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
};

const START = `
import { startTestServer } from '${programDirectory}/testing.js';
import { assertEventually } from '${programDirectory}/testing-node.js';
const server = await startTestServer();
const client = server.client();
const absent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'absent' } };
/** What happens later without anything that keeps the process alive. */
const later = (call) => setTimeout(call, 50).unref();
const create = () => client.create(absent);
`;

test.skipIf(programMissing !== undefined).each([
  [
    'waitFor that fails',
    `await client.waitFor(absent, 'Ready', { timeout: 100 }).catch(({ name }) => console.log(name));`,
    'WaitTimeout\n',
  ],
  ['waitFor that succeeds', 'later(create); console.log((await client.waitFor(absent, "create")).metadata.name);', 'absent\n'],
  [
    'a watch',
    `later(create); for await (const { object } of client.core.v1.configmaps('default').watch({ fieldSelector: 'metadata.name=absent' })) { console.log(object.metadata.name); break; }`,
    'absent\n',
  ],
  [
    'a watch by fetch',
    `later(create); const { body } = await server.fetch('/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dabsent'); for await (const chunk of body) { console.log(JSON.parse(Buffer.from(chunk)).type); break; }`,
    'ADDED\n',
  ],
  [
    'assertEventually that fails',
    `await assertEventually(server, absent, { data: {} }, { timeout: 100 }).catch(({ name }) => console.log(name));`,
    'AssertionError\n',
  ],
  ['a delayed request', `server.faults.delay({}, 100); console.log((await server.request('GET', '/version')).status);`, '200\n'],
  [
    'a delayed request of a client',
    `server.faults.delay({}, 100); console.log((await client.core.v1.nodes().list()).items.length);`,
    '0\n',
  ],
  ['an informer', `server.faults.delay({}, 100); await client.core.v1.nodes().informer().synced; console.log('synced');`, 'synced\n'],
])('%s keeps a script alive until it is over, and an open server does not', async (_, program, out) => {
  expect(await node('--input-type=module', '-e', `${START}${program}`)).toEqual({ code: 0, out, err: '' });
});

test.skipIf(programMissing !== undefined)('a wait that fails in node:test is reported, and later tests run', async () => {
  const file = join(temporaryDirectory('plat-waits'), 'wait.test.mjs');
  writeFileSync(
    file,
    `import test from 'node:test';${START}
test('first', () => client.waitFor(absent, 'Ready', { timeout: 100 }));
test('second', () => server.close());`,
  );
  const { code, out } = await node('--test', '--test-reporter=tap', file);
  expect(code).toBe(1);
  expect(out).toContain('ConfigMap (v1) default/absent: it does not exist after 100 ms');
  expect(out).toMatch(/^\s*ok 2 - second$/m);
  expect(out).not.toContain('event loop');
});
