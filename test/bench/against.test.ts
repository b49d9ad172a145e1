/** `npm run bench -- --against`: another server is measured in turn with ours. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inRounds } from '../../bench/rounds.mjs';
import { programMissing } from '../support/program.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe('rounds', () => {
  const figures = (rate: number, micros: number) => ({ rate, p50: 1, p99: 2, failed: 1, cpu: { all: micros, main: micros / 2 } });

  test('have each server once, in changing order, between two loads of the bare one; figures are medians', async () => {
    const order: string[] = [];
    const measure = (name: string) => {
      order.push(name);
      return name === 'ours' ? figures(50, order.length) : figures(25, 100 * order.length);
    };
    const measureBare = () => {
      order.push('bare');
      return figures(100, 7);
    };
    const found = await inRounds(['ours', 'other'], { rounds: 3, measure, measureBare });
    const [one, two] = [
      ['bare', 'ours', 'other', 'bare'],
      ['bare', 'other', 'ours', 'bare'],
    ] as const;
    expect(order).toEqual([...one, ...two, ...one]);
    expect(found.bare).toEqual({ rates: Array(6).fill(100), micros: Array(6).fill(7) });
    expect(found.targets).toEqual([
      { rate: 50, p50: 1, p99: 2, failed: 3, cpu: { all: 7, main: 3.5 }, ratio: 0.5 },
      { rate: 25, p50: 1, p99: 2, failed: 3, cpu: { all: 600, main: 300 }, ratio: 0.25 },
    ]);
  });
});

describe('a run', () => {
  let other: TestServer;
  beforeAll(async () => {
    other = await startTestServer({ identity: 'kubernetes' });
  });
  afterAll(async () => {
    await other?.close();
  });
  const bench = (...args: string[]): Promise<{ code: unknown; text: string }> =>
    new Promise((resolve) => {
      const program = join(import.meta.dirname, '../../bench/run.mjs');
      execFile(process.execPath, [program, '--no-build', ...args], { maxBuffer: 2 ** 24 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, text: stdout + stderr }),
      );
    });

  test.skipIf(programMissing !== undefined)(
    `has both servers in one table and leaves nothing in the other${programMissing === undefined ? '' : ` (skipped: ${programMissing})`}`,
    async () => {
      const size = ['--requests', '20', '--pods', '43', '--rounds', '1', '--stores', 'memory', '--only', 'get,create'];
      const against = ['--against', `${other.address},${process.pid}`, '--token', 'admin-token', '--name', 'second'];
      const { code, text } = await bench(...size, ...against);
      expect(code, text).toBe(0);
      expect(text).toContain('| load | plat (memory) | second | plat (memory) to second | bare |');
      for (const load of ['get', 'create']) {
        expect(text).toMatch(new RegExp(`^\\| ${load} \\| [\\d.]+ \\| [\\d.]+ \\| \\S+ \\| \\S+ \\|$`, 'm'));
        // Of each server, with no request that failed.
        expect(text.match(new RegExp(`^${load} .* failed 0 `, 'gm'))).toHaveLength(2);
      }
      const namesAt = async (path: string): Promise<string[]> =>
        (await other.admin.ok('GET', path)).items.map((item: Loose) => item.metadata.name).filter((name: string) => name.includes('bench'));
      await expect.poll(() => namesAt('/api/v1/namespaces')).toEqual([]);
      await expect.poll(() => namesAt('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')).toEqual([]);
    },
  );

  test('ends before it starts anything where the other server refuses the token', async () => {
    const { code, text } = await bench('--against', `${other.address},${process.pid}`, '--token', 'no-such-token');
    expect(code).toBe(2);
    expect(text).toContain(`--against: cannot measure this server: ${other.address}: 401`);
  });
});
