/** Commands that tell what a server serves. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { kubectlFixture, kubectlMissing } from '../support/kubectl.ts';
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

    test('every name that it prints is a type for get', async () => {
      const names = (await plat.ok(['api-resources', '-o', 'name', '--verbs=list'])).trimEnd().split('\n');
      expect(names).toEqual(expect.arrayContaining(['podsecuritypolicies.policy', `beds.${group}`]));
      for (const name of names) expect(await plat.run(['get', name, '-A', '-o', 'name']), name).toMatchObject({ code: 0 });
    });

    test('words are refused', async () => {
      expect((await plat.run(['api-resources', 'pods'])).code).toBe(2);
    });
  });

  test('a type by the group of another identity is explained', async () => {
    const other = identity === 'plat' ? 'k8s.io' : 'plat.dev';
    const { code, stderr } = await plat.run(['get', `roles.rbac.authorization.${other}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(`this server has the names of identity ${identity}`);
    expect(stderr).toContain('--identity');
  });

  test('as kubectl: by group and name, verbs as lists, no categories', async () => {
    const io = testIO({ program: 'kubectl', env: { KUBECONFIG: server.running.adminConfigPath } });
    expect(await run(['api-resources', '-o', 'wide', '--api-group=apps'], io)).toBe(0);
    const [head, first] = io.stdout.split('\n');
    expect(head).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND +VERBS$/);
    expect(first).toMatch(/^controllerrevisions +apps\/v1 +true +ControllerRevision +\[create delete .*\]$/);
  });

  test('what earlier commands learned is not asked for again', async () => {
    const cache = temporaryDirectory('plat-cache');
    const asked = async (...args: string[]): Promise<string[]> => {
      const { code, stderr } = await plat.run([...args, '--cache-dir', cache, '-v=6']);
      expect(code).toBe(0);
      return [...stderr.matchAll(/^GET https?:\/\/[^/]+(\S+) 200 OK in \d+ milliseconds$/gm)].map((found) => found[1] as string);
    };
    const list = '/api/v1/namespaces?limit=500&includeObject=None';
    expect(await asked('get', 'namespaces')).toEqual(['/api/v1', list]);
    expect(await asked('get', 'namespaces')).toEqual([list]);
    expect((await asked('api-resources')).length).toBeGreaterThan(10);
    expect(await asked('api-resources', '--cached')).toEqual([]);
    expect(await asked('get', 'bd', '-A')).toEqual([`/apis/${group}/v1/beds?limit=500`]);
  });

  test('--match-server-version', async () => {
    expect((await plat.run(['get', 'namespaces', '--match-server-version'])).code).toBe(0);
    const older = await startTestServer({ identity, apiRelease: '1.20' });
    const { code, stderr } = await platFor(older).run(['get', 'namespaces', '--match-server-version']);
    await older.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^plat: server version \(v1\.20\.0\S*\) differs from client version \(v1\.24\.17\)\n$/);
  });

  test('version shows that of the server, too', async () => {
    expect(await plat.ok(['version'])).toMatch(/^plat .*\nServer Version: v1\.24\.17\S*\n$/);
    expect(JSON.parse(await plat.ok(['version', '-o', 'json'])).serverVersion).toMatchObject({ major: '1', minor: '24' });
    expect(await plat.ok(['version', '--client'])).not.toContain('Server');
  });

  test('api-versions: sorted, one a line', async () => {
    const lines = (await plat.ok(['api-versions'])).trimEnd().split('\n');
    expect(lines).toEqual([...lines].sort());
    expect(lines).toEqual(expect.arrayContaining(['v1', 'apps/v1', `${group}/v1`]));
  });
});

describe.skipIf(kubectlMissing !== undefined)(`beside the stock client${kubectlMissing ? ` (${kubectlMissing})` : ''}`, () => {
  const fixture = kubectlFixture();
  test.each([['api-versions'], ['api-resources'], ['api-resources', '--namespaced=false', '-o', 'name', '--sort-by=kind']])(
    '%s %s prints the same',
    async (...args) => {
      const io = testIO({ program: 'kubectl', env: { KUBECONFIG: fixture.server.running.adminConfigPath } });
      expect(await run(args, io)).toBe(0);
      expect(io.stdout).toBe(await fixture.kubectl.ok(args));
    },
  );
});
