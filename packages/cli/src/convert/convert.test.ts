import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { apiReleases } from '@plat-dev/lib/version';
import { identities } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';
import { type Row, removalTable, withNames } from './removal-table.testing.ts';

async function convert(text: string, ...flags: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = testIO({ stdin: async () => text });
  const code = await run(['convert', '-f', '-', ...flags], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
/** The lines of the report about changed fields, and those about decisions. */
const paths = (stderr: string, word: string): string[] =>
  [...stderr.matchAll(/^ {2}(changed|decide) +(\S+): /gm)].flatMap(([, kind, path]) => (kind === word ? [path as string] : []));

const cases = removalTable.map((row): [string, string, string, Row] => [row.removed, row.from, row.kind, row]);

describe.each(Object.values(identities))('the table of removed versions with the names of $name', (identity) => {
  test.each(cases)('%s: %s %s', async (removed, from, kind, row) => {
    const text = (apiVersion: string, body: string): string =>
      withNames(`# ours\napiVersion: ${apiVersion}\nkind: ${kind} # a kind\n${body}`, identity);
    // The release that removed it, and the one that servers have by default.
    for (const release of removed === '1.16' ? ['1.16', '1.24'] : [row.release ?? removed]) {
      const { to } = row;
      const { code, stdout, stderr } = await convert(text(from, row.manifest), '--to-release', release, '--identity', identity.name);
      expect(stdout).toBe(text(to, row.becomes ?? row.manifest));
      expect(paths(stderr, 'changed')).toEqual(expect.arrayContaining([...(row.changed ?? [])]));
      expect(paths(stderr, 'decide').sort()).toEqual([...(row.decide ?? [])].sort());
      expect(code).toBe(row.decide === undefined ? 0 : 3);
    }
  });
});

test('without a server groups are named as by default, and how to get other names is said, if it matters', async () => {
  const policy = 'apiVersion: extensions/v1beta1\nkind: NetworkPolicy\nmetadata: {name: a}\nspec: {podSelector: {}}\n';
  const { stdout, stderr } = await convert(policy);
  expect(stdout).toContain('apiVersion: networking.plat.dev/v1\n');
  expect(stderr).toContain('--identity kubernetes names them as stock servers do\n');
  const deployment = 'apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: a}\nspec: {selector: {}, template: {}}\n';
  expect((await convert(deployment)).stderr).not.toContain('--identity');
});

test('the release before leaves a version alone that it does not deprecate', async () => {
  const text = 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: x}\n';
  expect(await convert(text, '--to-release', '1.20')).toMatchObject({ code: 0, stdout: text });
  expect((await convert(text, '--to-release', '1.21')).stdout).toContain('batch/v1\n');
});

test('a version that is still to come goes back to the one before it', async () => {
  const text =
    'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: x}\nspec:\n  defaultBackend: {service: {name: a, port: {number: 80}}}\n';
  const { stdout } = await convert(text, '--to-release', '1.16');
  expect(stdout).toContain('apiVersion: networking.k8s.io/v1beta1\n');
  expect(stdout).toContain('backend: {serviceName: "a", servicePort: 80}');
});

test('a policy that no version is left for is left alone, and a person must decide', async () => {
  const text = 'apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: x}\n';
  const { code, stdout, stderr } = await convert(text, '--to-release', '1.25');
  expect({ code, stdout }).toEqual({ code: 3, stdout: text });
  expect(stderr).toContain('release 1.25 has no PodSecurityPolicy: it was removed in 1.25; use pod security admission');
});

test('without a release objects get the newest version of 1.24', async () => {
  const { stdout } = await convert(
    'apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\nspec: {maxReplicas: 1, targetCPUUtilizationPercentage: 50, scaleTargetRef: {kind: A, name: b}}\n',
  );
  expect(stdout).toContain('autoscaling/v2\n');
  expect(stdout).toContain('averageUtilization');
});

test('--output-version converts the kinds that it has, also to an older version', async () => {
  const text = 'apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: x}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: z}\n';
  const { code, stdout, stderr } = await convert(text, '--output-version', 'extensions/v1beta1');
  expect(stdout).toBe(text.replace('apps/v1', 'extensions/v1beta1'));
  expect(code).toBe(0);
  expect(stderr).toContain('ConfigMap z: v1 left alone: extensions/v1beta1 has no ConfigMap');
  expect((await convert(text, '--output-version', 'apps/v7')).code).toBe(2);
});

test('lists, custom kinds, values files, fields that nobody knows and empty documents', async () => {
  const text = `---
# only a comment
---
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1beta1 # old
  kind: Role
  metadata: {name: r}
  typo: kept
- {apiVersion: example.com/v1, kind: Lamp, metadata: {name: l}}
---
kind: DaemonSetList
apiVersion: apps/v1beta2
items:
- metadata: {name: d} # no kind of its own
---
replicas: 3
`;
  const { code, stdout, stderr } = await convert(text);
  expect(stdout).toBe(text.replace('/v1beta1', '/v1').replace('apps/v1beta2', 'apps/v1'));
  expect(code).toBe(0);
  expect(stderr).toContain('document 2, item 2: Lamp l: example.com/v1 left alone: custom kind');
  expect(stderr).toContain('document 4: left alone: not an API object');
  expect(stderr).toContain('2 of 4 objects converted');
});

test('objects that cannot be converted and texts that cannot be read are errors', async () => {
  const wrong = await convert('apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: x}\nspec: {replicas: many}\n');
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Deployment x: apps/v1beta1: cannot be converted: ') });
  expect(wrong.stderr).toContain('0 of 1 object converted, 0 with something to decide, 1 error\n');
  expect(await convert('a: {{ .Values.a }}\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('the standard input: ') });
});

const oldRole = '# ours\r\napiVersion: rbac.authorization.k8s.io/v1beta1\r\nkind: Role\r\nmetadata: {name: r}\r\n';
const newRole = oldRole.replace('v1beta1', 'v1');

describe('--write', () => {
  function folder(files: Readonly<Record<string, string>>): string {
    const cwd = temporaryDirectory('plat-convert');
    mkdirSync(join(cwd, 'm', 'below'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, 'm', name), text);
    return cwd;
  }
  test('files of a folder are replaced, with their mode and through links; others are not touched', async () => {
    const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n';
    const cwd = folder({
      'a.yaml': oldRole,
      'b.json': '{"apiVersion": "batch/v1beta1", "kind": "CronJob"}',
      'below/c.yml': oldRole,
      'd.yaml': other,
    });
    chmodSync(join(cwd, 'm', 'a.yaml'), 0o640);
    symlinkSync('../a.yaml', join(cwd, 'm', 'below', 'link.yaml'));
    const before = statSync(join(cwd, 'm', 'd.yaml'), { bigint: true });
    const io = testIO({ cwd });
    expect(await run(['convert', '-f', 'm', '-R', '--write'], io)).toBe(0);
    expect(io.stdout).toBe('');
    const text = (name: string): string => readFileSync(join(cwd, 'm', name), 'utf8');
    expect([text('a.yaml'), text('b.json'), text('below/c.yml'), text('d.yaml')]).toEqual([
      newRole,
      '{"apiVersion": "batch/v1", "kind": "CronJob"}',
      newRole,
      other,
    ]);
    expect(statSync(join(cwd, 'm', 'a.yaml')).mode & 0o777).toBe(0o640);
    expect(statSync(join(cwd, 'm', 'd.yaml'), { bigint: true }).ino).toBe(before.ino);
    expect(readdirSync(join(cwd, 'm')).sort()).toEqual(['a.yaml', 'b.json', 'below', 'd.yaml']);
    expect(await run(['convert', '-f', 'm', '-R', '--write'], io)).toBe(0);
    expect(text('a.yaml')).toBe(newRole);
  });
  test('nothing is written where one file cannot be read or one object not be converted', async () => {
    for (const wrong of ['a: [', 'apiVersion: apps/v1beta1\nkind: Deployment\nspec: 1\n']) {
      const cwd = folder({ 'a.yaml': oldRole, 'b.yaml': wrong });
      const io = testIO({ cwd });
      expect(await run(['convert', '-f', 'm', '--write'], io)).toBe(1);
      expect(io.stderr).toContain('no file was written');
      expect(readFileSync(join(cwd, 'm', 'a.yaml'), 'utf8')).toBe(oldRole);
    }
  });
});

test('several files are one text, and -o prints objects', async () => {
  const cwd = temporaryDirectory('plat-convert');
  writeFileSync(join(cwd, 'a.yaml'), newRole);
  writeFileSync(join(cwd, 'b.yaml'), `---\n${oldRole}`);
  writeFileSync(join(cwd, 'c.yaml'), oldRole.trimEnd());
  const printed = async (...flags: string[]): Promise<string> => {
    const io = testIO({ cwd });
    expect(await run(['convert', '-f', '.', ...flags], io)).toBe(0);
    return io.stdout;
  };
  expect(await printed()).toBe(`${newRole}---\n${newRole}---\n${newRole.trimEnd()}\n`);
  expect(JSON.parse(await printed('-o', 'json'))).toMatchObject({ kind: 'List', items: [{ kind: 'Role' }, {}, {}] });
  expect((await printed('-o', 'yaml')).split('---\n')).toHaveLength(3);
});

test.each([
  [['-f', 'a', 'b'], 'convert takes no arguments'],
  [[], 'which files?'],
  [['-f', '-', '--write'], '--write: - is not a file'],
  [['-f', 'a', '--write', '-o', 'json'], 'leave out -o'],
  [['-f', 'a', '--to-release', '1.25', '--output-version', 'v1'], 'exclude each other'],
  [['-f', 'a', '--to-release', '1.99'], `"1.99" is not one of ${apiReleases.join(', ')}`],
  [['-f', '-', '--output-version', 'apps/v3'], 'no kind has this version; there are apps/v1, apps/v1beta2, apps/v1beta1\n'],
  [['-f', '-', '--output-version', 'batc/v1'], 'no kind has this version (did you mean batch/v1?)\n'],
])('%j is refused', async (args, words) => {
  const io = testIO();
  expect(await run(['convert', ...args], io)).toBe(2);
  expect(io.stderr).toContain(words);
});

test('kinds of later releases are known', async () => {
  const manifest = (apiVersion: string, kind: string) => `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n`;
  const policy = await convert(
    manifest('admissionregistration.k8s.io/v1beta1', 'ValidatingAdmissionPolicyBinding'),
    '--to-release',
    '1.36',
  );
  expect([policy.code, policy.stdout]).toEqual([0, manifest('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding')]);
  const early = await convert(manifest('resource.k8s.io/v1', 'DeviceClass'), '--to-release', '1.30');
  expect(early.stderr).toContain('release 1.30 has no DeviceClass: it was added in 1.34');
});
