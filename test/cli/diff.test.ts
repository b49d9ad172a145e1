import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('diff', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server);
    ns = await server.namespace();
  });
  const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

  test('what is new, what changes, what stays', async () => {
    const args = ['diff', '-n', ns, '-f', '-'];
    expect(await plat.run(args, configMap('a', { x: '1' }))).toEqual({
      code: 1,
      stdout: `--- live/configmap/a\n+++ applied/configmap/a\n@@ -0,0 +1,7 @@\n+apiVersion: v1\n+data:\n+  x: "1"\n+kind: ConfigMap\n+metadata:\n+  name: a\n+  namespace: ${ns}\n`,
      stderr: '',
    });
    await plat.ok(['apply', '-n', ns, '-f', '-'], configMap('a', { x: '1', y: '2' }));
    expect(await plat.run(args, configMap('a', { x: '1', y: '2' }))).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await plat.run(args, configMap('a', { x: '3' }));
    expect(code).toBe(1);
    expect(stdout.split('\n').filter((line) => /^[-+] /.test(line))).toEqual(['-  x: "1"', '-  "y": "2"', '+  x: "3"']);
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps/a`)).data).toEqual({ x: '1', y: '2' });
  });

  test('secrets are not shown', async () => {
    const secret = (data: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data });
    await plat.ok(['apply', '-n', ns, '-f', '-'], secret({ a: 'b2xk', same: 'c2FtZQ==' }));
    const { stdout } = await plat.run(['diff', '-n', ns, '-f', '-'], secret({ a: 'bmV3', same: 'c2FtZQ==' }));
    expect(stdout).toContain("-  a: '*** (before)'\n+  a: '*** (after)'\n   same: '***'\n");
    expect(stdout).not.toMatch(/b2xk|bmV3|c2FtZQ/);
  });

  test('secrets are not shown where they are deleted, where their namespace is new, and in the annotation of an apply', async () => {
    const secret = (name: string, namespace: string, value: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { app: ns } },
      stringData: { a: value },
    });
    const later = unique('later');
    const items = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: later } },
      secret('new', later, 'hidden-new'),
      secret('s', ns, 'hidden-after'),
    ];
    const hidden = new RegExp(`hidden|${['new', 'before', 'after', 'gone'].map((end) => btoa(`hidden-${end}`)).join('|')}`);
    for (const program of ['plat', 'kubectl'] as const) {
      const one = platFor(server, { PATH: process.env.PATH ?? '' }, undefined, program);
      await one.ok(['apply', '-f', '-', '--server-side=false'], {
        apiVersion: 'v1',
        kind: 'List',
        items: [secret('s', ns, 'hidden-before'), secret('gone', ns, 'hidden-gone')],
      });
      const { code, stdout, stderr } = await one.run(
        ['diff', '-f', '-', '--server-side=false', '--prune', '-l', `app=${ns}`, '--prune-allowlist', 'core/v1/Secret'],
        { apiVersion: 'v1', kind: 'List', items: items.slice(2) },
      );
      expect({ code, stderr }, program).toEqual({ code: 1, stderr: '' });
      expect(stdout, program).toContain("-  a: '*** (before)'\n+  a: '*** (after)'\n");
      expect(stdout, program).toMatch(/-\s+a: '\*\*\*'\n/);
      expect(stdout, program).not.toMatch(hidden);
      const coming = await one.run(['diff', '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
      expect(coming.code, program).toBe(1);
      expect(coming.stdout + coming.stderr, program).not.toMatch(hidden);
      expect(coming.stdout).toContain("a: '***'");
    }
  });

  test('conflicts and other failures are not differences', async () => {
    await plat.ok(['apply', '-n', ns, '-f', '-', '--field-manager=alice'], configMap('c', { x: '1' }));
    const refused = await plat.run(['diff', '-n', ns, '-f', '-'], configMap('c', { x: '2' }));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('plat: ConfigMap c: 1 field is owned by other managers:\n  "alice"\n    .data.x\n');
    expect((await plat.run(['diff', '-n', ns, '-f', '-', '--force-conflicts'], configMap('c', { x: '2' }))).code).toBe(1);
    expect((await plat.run(['diff', '-n', ns, '-f', '-'], { ...configMap('c', {}), kind: 'ConfigMop' })).code).toBe(2);
    expect((await plat.run(['diff', '-f', '-'], 'a: [')).code).toBe(2);
    expect((await plat.run(['diff'])).code).toBe(2);
    const nowhere = ['diff', '-f', '-', '--server', 'http://127.0.0.1:1'];
    expect((await plat.run(nowhere, configMap('c', {}))).code).toBe(2);
  });

  test('what needs a namespace or a definition of the same files is new', async () => {
    const group = `${unique('g')}.example.com`;
    const name = unique('later');
    const items = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { ...configMap('a', { x: '1' }), metadata: { name: 'a', namespace: name } },
      definitionOf(server, group, 'Bed', [{}]),
      { apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name: 'b' } },
    ];
    const { code, stdout, stderr } = await plat.run(['diff', '-f', '-'], { apiVersion: 'v1', kind: 'List', items });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.match(/^\+\+\+ .*/gm)).toEqual([
      `+++ applied/namespace/${name}`,
      '+++ applied/configmap/a',
      expect.stringContaining('+++ applied/customresourcedefinition.'),
      '+++ applied/bed/b',
    ]);
  });

  test('a client-side apply, another program for the comparison, and what would be pruned', async () => {
    const labelled = (name: string, data: object) => ({ ...configMap(name, data), metadata: { name, labels: { app: ns } } });
    const kubectl = platFor(server, { PATH: process.env.PATH ?? '' }, undefined, 'kubectl');
    const list = { apiVersion: 'v1', kind: 'List', items: [labelled('a', { x: '1' }), labelled('gone', { y: '1' })] };
    await kubectl.ok(['apply', '-n', ns, '-f', '-'], list);
    expect(await kubectl.run(['diff', '-n', ns, '-f', '-'], list)).toEqual({ code: 0, stdout: '', stderr: '' });
    const changed = await kubectl.run(['diff', '-n', ns, '-f', '-', '--prune', '-l', `app=${ns}`], labelled('a', { x: '2' }));
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain(`MERGED-`);
    expect(changed.stdout.split('\n').filter((line) => /^[-+] {2}[xy]|^[-+] {2}"y"/.test(line))).toEqual([
      '-  x: "1"',
      '+  x: "2"',
      '-  "y": "1"',
    ]);
    const external = (program: string) =>
      platFor(server, { PATH: process.env.PATH ?? '', KUBECTL_EXTERNAL_DIFF: program }, undefined, 'kubectl');
    const shown = external('ls -R ;rm');
    const listed = await shown.run(['diff', '-n', ns, '-f', '-'], labelled('a', { x: '2' }));
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(`v1.ConfigMap.${ns}.a\n`) });
    const failing = external('no-such-program');
    expect(await failing.run(['diff', '-n', ns, '-f', '-'], labelled('a', { x: '2' }))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('failed to run "no-such-program"'),
    });
    expect((await kubectl.run(['diff', '-n', ns, '-f', '-', '--force-conflicts'], list)).code).toBe(2);
  });
});
