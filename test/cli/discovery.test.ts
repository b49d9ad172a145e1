/** Commands that tell what a server serves. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  const group = `${unique('g')}.example.com`;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    plat = platFor(server);
    await define(
      server,
      definitionOf(server, group, 'Bed', [{}], { names: { plural: 'beds', kind: 'Bed', shortNames: ['bd'], categories: ['garden'] } }),
    );
  });
  afterAll(() => server.close());

  describe('api-resources', () => {
    test('a table of all, custom kinds among them', async () => {
      const lines = (await plat.ok(['api-resources'])).split('\n');
      expect(lines[0]).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND$/);
      expect(lines.some((line) => /^pods +po +v1 +true +Pod$/.test(line))).toBe(true);
      expect(lines.some((line) => new RegExp(`^beds +bd +${group}/v1 +true +Bed$`).test(line))).toBe(true);
      expect(lines.some((line) => line.startsWith('pods/'))).toBe(false);
    });

    test('chosen, sorted, and as names', async () => {
      expect(await plat.ok(['api-resources', '--api-group', 'apps', '-o', 'name', '--sort-by=name'])).toBe(
        ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'].map((name) => `${name}.apps\n`).join(''),
      );
      expect(await plat.ok(['api-resources', '--categories=garden', '-o', 'wide', '--no-headers'])).toMatch(
        new RegExp(`^beds +bd +${group}/v1 +true +Bed +\\S*get\\S* +garden\n$`),
      );
      const names = async (...args: string[]) => (await plat.ok(['api-resources', '-o', 'name', ...args])).split('\n');
      expect(await names('--namespaced=false')).toContain('nodes');
      expect(await names('--namespaced')).not.toContain('nodes');
      expect(await names('--verbs=create,list')).not.toContain('bindings');
      expect(await plat.run(['api-resources', '--api-group=none'])).toEqual({ code: 0, stdout: '', stderr: 'No resources found\n' });
    });

    test('words are refused', async () => {
      expect((await plat.run(['api-resources', 'pods'])).code).toBe(2);
    });
  });

  test('api-versions: sorted, one a line', async () => {
    const lines = (await plat.ok(['api-versions'])).trimEnd().split('\n');
    expect(lines).toEqual([...lines].sort());
    expect(lines).toEqual(expect.arrayContaining(['v1', 'apps/v1', `${group}/v1`]));
  });
});
