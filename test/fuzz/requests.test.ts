/** The fuzzer of whole requests in its short form; `node bench/fuzz-requests.mjs --count 1000000` is the long one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Above the store all is the same, and few of the requests reach it: of those of the second one there are fewer. */
const counts = { memory: rounds(2_500), lmdb: rounds(500) } as const;
const program = join(import.meta.dirname, '../../bench/fuzz-requests.mjs');
const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

test.each(['memory', 'lmdb'] as const)(
  'no request changed from a valid one ends the server or is answered with 500 (%s)',
  async (store) => {
    const count = counts[store];
    const server = await startTestServer({ store, identity: 'kubernetes' });
    servers.push(server);
    const args = ['--server', server.address, '--token', 'admin-token', '--other-token', 'alice-token', '--count', String(count)];
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, [program, ...args, '--seed', String(testSeed)], { maxBuffer: 64 * 2 ** 20 }, (_error, stdout, stderr) =>
        resolve(stdout === '' ? stderr : stdout),
      );
    });
    const [first = '', ...problems] = said.split('\n');
    expect(first, said).toMatch(/^\{/);
    const result = JSON.parse(first) as { fiveHundreds: number; broken: number; alive: boolean; statuses: Record<string, number> };
    expect(
      { fiveHundreds: result.fiveHundreds, broken: result.broken, alive: result.alive },
      `--seed ${testSeed}\n${problems.join('\n')}`,
    ).toEqual({
      fiveHundreds: 0,
      broken: 0,
      alive: true,
    });
    // Some of the requests did what they say: a server that refuses all would pass otherwise.
    expect((result.statuses[200] ?? 0) + (result.statuses[201] ?? 0)).toBeGreaterThan(count / 20);
    expect(server.errors.filter((line) => line.startsWith('request failed'))).toEqual([]);
  },
  180_000,
);
