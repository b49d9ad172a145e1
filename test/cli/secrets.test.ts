/** Values of secrets are printed where they are asked for, and nowhere else. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());
beforeEach(async () => {
  ns = await server.namespace();
});

const VALUE = 'hidden-value';
const hidden = new RegExp(`${VALUE}|${btoa(VALUE)}|${btoa('hidden-other')}|hidden-other`);
const secret = (value: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's' },
  data: { password: btoa(value) },
  ...more,
});

test.each(['plat', 'kubectl'] as const)('as %s: changes, tables, pages, errors, traces and what is kept on disk', async (program) => {
  const cache = temporaryDirectory('plat-cache');
  const plat = platFor(server, { PATH: process.env.PATH ?? '' }, undefined, program);
  const all = async (line: string, input?: unknown): Promise<number> => {
    const words = line.split(' ').map((word) => (word === 'NS' ? ns : word));
    const { code, stdout, stderr } = await plat.run([...words, '-n', ns, '--cache-dir', cache], input);
    expect(`${stdout}${stderr}`, line).not.toMatch(hidden);
    return code;
  };
  const succeeds = async (line: string, input?: unknown): Promise<void> => expect(await all(line, input), line).toBe(0);
  for (const v of [0, 10]) {
    await succeeds(`create -f - -v=${v}`, secret(VALUE));
    await succeeds(`apply -f - --server-side=false -v=${v}`, secret('hidden-other'));
    await succeeds(`apply -f - --server-side --force-conflicts -v=${v}`, secret(VALUE));
    await succeeds(`replace -f - -v=${v}`, secret('hidden-other'));
    await succeeds(`get secrets -o wide -v=${v}`);
    await succeeds(`get secret s -o name -v=${v}`);
    await succeeds(`describe secret s -v=${v}`);
    await succeeds(`label secret s x=y --overwrite -v=${v}`);
    await succeeds(`annotate secret s x=y --overwrite -v=${v}`);
    expect(await all(`diff -f - -v=${v}`, secret(VALUE))).toBe(1);
    // Refused by the server, and by the client.
    for (const bad of [
      secret(VALUE, { type: 5 }),
      secret(VALUE, { kind: 'Secre' }),
      secret(VALUE, { data: { a: VALUE } }),
      secret(VALUE, { dat: 1 }),
    ])
      expect(await all(`apply -f - -v=${v}`, bad)).not.toBe(0);
    expect(await all(`patch secret s -p {"data":{"password":"${VALUE}"}} -v=${v}`)).not.toBe(0);
    await succeeds(`delete secret s -v=${v}`);
  }
  const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(files).not.toEqual([]);
  for (const { parentPath, path, name } of files) expect(readFileSync(join(parentPath ?? path, name), 'utf8')).not.toMatch(hidden);
});

test('they are printed where they are asked for', async () => {
  const plat = platFor(server);
  await plat.ok(['create', '-n', ns, '-f', '-'], secret(VALUE));
  expect(await plat.ok(['get', 'secret', 's', '-n', ns, '-o', 'yaml'])).toContain(btoa(VALUE));
});
