import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/**
 * An editor that does, each time it is opened, the next of its steps: a replacement in the file, or a patch of the object that
 * someone else would make meanwhile. What it was shown is kept in files 0, 1, ….
 */
const program = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
const [directory, file] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(directory + '/steps.json', 'utf8'));
let n = 0;
while (existsSync(directory + '/' + n)) n++;
let text = readFileSync(file, 'utf8');
writeFileSync(directory + '/' + n, text);
const { replace, write, patch, fail } = steps[n] ?? {};
if (patch) await fetch(patch.url, { method: 'PATCH', body: JSON.stringify(patch.body), headers: { authorization: 'Bearer admin-token', 'content-type': 'application/merge-patch+json' } });
if (write !== undefined) text = write;
for (const [from, to] of replace ?? []) text = text.replace(from, to);
writeFileSync(file, text);
process.exit(fail ?? 0);
`;

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('edit', () => {
  let server: TestServer;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'plat' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    ns = await server.namespace();
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'a' }, data: { x: '1' } });
  });
  const path = (): string => `/api/v1/namespaces/${ns}/configmaps/a`;

  function editor(steps: object[]): { plat: Plat; env: Record<string, string>; shown(n: number): string } {
    const directory = temporaryDirectory('plat-editor');
    const env = {
      PLAT_EDITOR: `${process.execPath} --no-warnings ${directory}/editor.mjs ${directory}`,
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
    };
    writeFileSync(join(directory, 'editor.mjs'), program);
    writeFileSync(join(directory, 'steps.json'), jsonText(steps));
    return { plat: platFor(server, env), env, shown: (n) => readFileSync(join(directory, String(n)), 'utf8') };
  }

  test('a change is stored', async () => {
    const { plat, shown } = editor([{ replace: [['x: "1"', 'x: "2"']] }]);
    expect(await plat.ok(['edit', 'cm/a', '-n', ns])).toBe('configmap/a edited\n');
    expect((await server.admin.ok('GET', path())).data).toEqual({ x: '2' });
    expect(shown(0)).toMatch(/^# Edit the object below/);
    expect(shown(0)).not.toContain('managedFields');
  });

  test('what is left as it is, or emptied, changes nothing', async () => {
    const before = await server.admin.ok('GET', path());
    const steps: { write?: string }[] = [{}, { write: '' }, { write: '# all\n\n# gone\n' }];
    for (const step of steps) {
      const why = step.write === undefined ? 'no changes made' : 'saved file was empty';
      expect(await editor([step]).plat.run(['edit', 'cm', 'a', '-n', ns])).toEqual({
        code: 0,
        stdout: '',
        stderr: `Edit cancelled, ${why}.\n`,
      });
    }
    expect(await server.admin.ok('GET', path())).toEqual(before);
  });

  test('what is refused comes back with the reason until it is mended', async () => {
    const { plat, shown } = editor([
      { replace: [['x: "1"', 'x: [']] },
      { replace: [['x: [', '"x y": "2"']] },
      { replace: [['name: a', 'name: b']] },
      {
        replace: [
          ['name: b', 'name: a'],
          ['"x y"', 'xy'],
        ],
      },
    ]);
    expect(await plat.ok(['edit', 'cm/a', '-n', ns])).toBe('configmap/a edited\n');
    expect(shown(1)).toMatch(/^(#.*\n)+# .+\napiVersion/);
    expect(shown(1)).toContain('  x: [\n');
    expect(shown(2)).toContain('# ConfigMap "a" is invalid: data[x y]');
    expect(shown(3)).toContain('# apiVersion, kind and metadata.name identify the object');
    expect(shown(3)).not.toContain('is invalid');
    expect((await server.admin.ok('GET', path())).data).toEqual({ xy: '2' });
  });

  test('who gives up keeps the file', async () => {
    const { plat } = editor([{ replace: [['x: "1"', '"x y": "1"']] }, {}]);
    const { code, stderr } = await plat.run(['edit', 'cm/a', '-n', ns]);
    expect(code).toBe(1);
    expect(stderr).toContain('plat: configmap/a: edit canceled: ConfigMap "a" is invalid');
    const file = /kept in (\S+)/.exec(stderr)?.[1] as string;
    expect(readFileSync(file, 'utf8')).toContain('"x y": "1"');
  });

  test('what others change meanwhile is shown, and saving again goes over it', async () => {
    const patch = { url: `${server.address}${path()}`, body: { data: { other: 'theirs' } } };
    const { plat, shown } = editor([{ patch, replace: [['x: "1"', 'x: "2"']] }, {}]);
    expect(await plat.ok(['edit', 'cm/a', '-n', ns])).toBe('configmap/a edited\n');
    expect(shown(1)).toContain('# the object has changed on the server');
    expect(shown(1)).toContain('# +  other: theirs\n');
    expect((await server.admin.ok('GET', path())).data).toEqual({ x: '2' });
  });

  test('the patch of an edit, and the annotation of a client-side apply', async () => {
    const { plat } = editor([{ replace: [['x: "1"', 'x: "2"']] }]);
    expect(await plat.ok(['edit', 'cm/a', '-n', ns, '--output-patch', '--save-config'])).toMatch(
      /^Patch: \{"data":\{"x":"2"\},"metadata":\{"annotations":\{.*\nconfigmap\/a edited\n$/,
    );
    const { annotations } = (await server.admin.ok('GET', path())).metadata;
    expect(JSON.parse(annotations['kubectl.kubernetes.io/last-applied-configuration'])).toMatchObject({ data: { x: '2' } });
  });

  test('called as kubectl: a patch that leaves what others changed, and lines with the endings of Windows', async () => {
    const patch = { url: `${server.address}${path()}`, body: { data: { other: 'theirs' } } };
    const { env, shown } = editor([{ patch, replace: [['x: "1"', 'x: "2"']] }]);
    const kubectl = platFor(server, env, undefined, 'kubectl');
    expect(await kubectl.ok(['edit', 'cm/a', '-n', ns, '--windows-line-endings'])).toBe('configmap/a edited\n');
    expect(shown(0)).toContain('kind: ConfigMap\r\n');
    const { data, metadata } = await server.admin.ok('GET', path());
    expect(data).toEqual({ x: '2', other: 'theirs' });
    expect(metadata.managedFields.map((one: { manager: string }) => one.manager)).toContain('kubectl-edit');
    const refused = editor([{ replace: [['x: "2"', '"x y": "2"']] }, {}]);
    const { code, stderr } = await platFor(server, refused.env, undefined, 'kubectl').run(['edit', 'cm/a', '-n', ns]);
    expect(code).toBe(1);
    expect(stderr).toContain('error: configmaps "a" is invalid\nA copy of your changes has been stored to "');
    expect(stderr).toContain('error: Edit cancelled, no valid changes were saved.\n');
  });

  test('what a client-side apply keeps is edited', async () => {
    const { plat } = editor([{ replace: [['x: "1"', 'x: "5"']] }]);
    expect(await plat.run(['apply', 'edit-last-applied', 'cm/a', '-n', ns])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no last-applied-configuration annotation found on resources'),
    });
    const file = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } };
    await plat.ok(['apply', '-n', ns, '-f', '-', '--server-side=false'], file);
    expect(await plat.ok(['apply', 'edit-last-applied', 'cm/a', '-n', ns])).toBe('configmap/a edited\n');
    expect(JSON.parse(await plat.ok(['apply', 'view-last-applied', 'cm/a', '-n', ns, '-o', 'json'])).data).toEqual({ x: '5' });
    expect((await server.admin.ok('GET', path())).data).toEqual({ x: '1' });
  });

  test('JSON, and an editor that fails', async () => {
    const { plat, shown } = editor([{ replace: [['"x": "1"', '"x": "3"']] }]);
    expect(JSON.parse(await plat.ok(['edit', 'cm/a', '-n', ns, '-o', 'json']))).toMatchObject({ kind: 'ConfigMap', data: { x: '3' } });
    expect(shown(0)).toContain('"kind": "ConfigMap"');
    const failing = await editor([{ fail: 3 }]).plat.run(['edit', 'cm/a', '-n', ns]);
    expect(failing.code).toBe(1);
    expect(failing.stderr).toContain('ended with 3; set EDITOR to another');
    expect(existsSync(/kept in (\S+)/.exec(failing.stderr)?.[1] ?? '/nonexistent')).toBe(false);
  });
});
