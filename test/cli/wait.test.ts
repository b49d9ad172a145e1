import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('wait', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const group = `${unique('g')}.example.com`;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
    const keep = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    const schema = { type: 'object', properties: { spec: keep, status: keep } };
    await define(server, definitionOf(server, group, 'Bed', [{ schema, subresources: { status: {} } }]));
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server);
    ns = await server.namespace();
  });
  const path = (name = ''): string => `/apis/${group}/v1/namespaces/${ns}/beds${name}`;
  const make = (name: string, metadata: object = {}) =>
    server.admin.ok('POST', path(), { apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name, ...metadata } });
  const ready = (name: string, status: string) =>
    server.admin.patch(path(`/${name}/status`), { status: { phase: 'Grown', conditions: [{ type: 'Ready', status, reason: 'Rain' }] } });

  test('a condition that is there, comes, or does not come', async () => {
    await make('a');
    await ready('a', 'True');
    expect(await plat.ok(['wait', 'bed/a', '-n', ns, '--for=condition=Ready'])).toBe(`bed.${group}/a condition met\n`);
    await make('b');
    await ready('b', 'False');
    expect(await plat.timedOut(['wait', 'bed/b', '-n', ns, '--for=condition=ready'])).toEqual({
      code: 1,
      stdout: '',
      stderr: `plat: bed.${group}/b: timed out waiting for condition ready: it is False (Rain)\n`,
    });
    expect((await plat.run(['wait', 'bed/b', '-n', ns, '--for=condition=ready', '--timeout=0'])).code).toBe(1);
    const waiting = plat.start(['wait', 'beds', '--all', '-n', ns, '--for=condition=Ready', '--timeout=10m']);
    await waiting.io.said('bed.');
    await ready('b', 'True');
    expect(await waiting.code).toBe(0);
    expect(waiting.io.stdout).toBe(`bed.${group}/a condition met\nbed.${group}/b condition met\n`);
  });

  test('a value at a path', async () => {
    await make('a', { labels: { x: 'y' } });
    const { code } = plat.start(['wait', 'beds', '-l', 'x=y', '-n', ns, '--for=jsonpath={.status.phase}=Grown', '--timeout=10m']);
    await ready('a', 'True');
    expect(await code).toBe(0);
    expect(await plat.ok(['wait', 'bed/a', '-n', ns, '--for=jsonpath={.status.phase}=Grown', '-o', 'jsonpath={.status.phase}'])).toBe(
      'Grown',
    );
  });

  test('objects come and go', async () => {
    const coming = plat.start(['wait', 'bed/a', '-n', ns, '--for=create', '--timeout=10m']);
    await make('a');
    expect(await coming.code).toBe(0);
    const going = plat.start(['wait', 'bed/a', '-n', ns, '--for=delete', '--timeout=10m']);
    await server.admin.delete(path('/a'));
    expect(await going.code).toBe(0);
    expect(going.io.stdout).toBe(`bed.${group}/a deleted\n`);
    expect(await plat.ok(['wait', 'bed/a', '-n', ns, '--for=delete'])).toBe(`bed.${group}/a deleted\n`);
    expect(await plat.run(['wait', 'bed/a', '-n', ns, '--for=condition=Ready'])).toMatchObject({
      code: 1,
      stderr: `plat: bed.${group}/a: the object does not exist; --for=create waits for it\n`,
    });
  });

  test('nothing of a collection', async () => {
    expect(await plat.run(['wait', 'beds', '--all', '-n', ns, '--for=delete'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'No resources found\n',
    });
    expect((await plat.run(['wait', 'beds', '--all', '-n', ns, '--for=condition=Ready'])).code).toBe(1);
  });

  test('an object that goes while it is waited for ends the wait', async () => {
    await make('a');
    const { io, code } = plat.start(['wait', 'bed/a', '-n', ns, '--for=condition=Ready', '--timeout=10m']);
    await server.admin.delete(path('/a'));
    expect(await code).toBe(1);
    expect(io.stderr).toMatch(/the object (was deleted|does not exist)/);
  });
});

test.each([
  [[], 'For example: plat wait --for=condition=Ready pod/web'],
  [['pod/a'], 'condition missing'],
  [['pod/a', '--for=ready'], 'is none of delete, create, condition=NAME[=VALUE]'],
  [['pods', '--for=delete'], 'which pods?'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(['wait', ...args], io)).toBe(2);
  expect(io.stderr).toContain(message);
});

test('--local checks the objects of files once, without a server', async () => {
  const cwd = temporaryDirectory('plat-wait');
  writeFileSync(
    join(cwd, 'a.yaml'),
    `apiVersion: v1
kind: Pod
metadata: { name: a }
status: { phase: Running }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: b }
status: { phase: Failed }
`,
  );
  const io = testIO({ cwd });
  expect(await run(['wait', '--local', '-f', 'a.yaml', '--for=jsonpath={.status.phase}=Running'], io)).toBe(1);
  expect([io.stdout, io.stderr]).toEqual(['pod/a condition met\n', expect.stringContaining('deployment.apps/b: ')]);
  expect(io.stderr).toContain('deployment.apps/b: ');
  expect(io.stderr).toContain('it is Failed');
  expect(await run(['wait', '--local', 'pod/a', '--for=delete'], testIO({ cwd }))).toBe(2);
});
