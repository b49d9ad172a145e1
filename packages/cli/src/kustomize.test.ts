import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import type { JsonObject } from '@plat-dev/schema/types';
import { parseYamlDocuments } from '@plat-dev/schema/yaml';
import { describe, expect, test } from 'vitest';
import { run } from './index.ts';
import { changedImage } from './kustomize/images.ts';
import { manifestsFrom } from './objects/manifests.ts';
import { testIO } from './testing.ts';

/** A directory with these files. */
function files(contents: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory('kustomize');
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
async function built(contents: Readonly<Record<string, string>>, args: readonly string[] = ['.'], env: Record<string, string> = {}) {
  const io = testIO({ cwd: files(contents), env });
  const code = await run(['kustomize', ...args], io);
  return { code, stderr: io.stderr, stdout: io.stdout, objects: parseYamlDocuments(io.stdout) as JsonObject[] };
}
const configMap = (name: string, more = ''): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`;

describe('generated names', () => {
  test('are those of the stock client', async () => {
    const kustomization = `configMapGenerator:
- {name: empty}
- {name: one, literals: ["key=a<b>&c"]}
secretGenerator:
- {name: keys, literals: [a=1]}
`;
    const { stdout } = await built({ 'kustomization.yaml': kustomization });
    expect(stdout.match(/name: .*/g)).toEqual(['name: empty-6ct58987ht', 'name: one-26kdk7mb6f', 'name: keys-25khgmg44c']);
  });

  test('variables of the environment, and keys that are not valid', async () => {
    const kustomization = 'configMapGenerator: [{name: a, envs: [e.env], options: {disableNameSuffixHash: true}}]';
    const { objects } = await built({ 'kustomization.yaml': kustomization, 'e.env': '\uFEFFA\nB=2\r\n#C=3\n' }, ['.'], {
      A: 'from outside',
    });
    expect(objects).toEqual([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { A: 'from outside', B: '2' } }]);
    expect((await built({ 'kustomization.yaml': 'configMapGenerator: [{name: a, literals: ["a b=1"]}]' })).stderr).toContain(
      '"a b" is not a valid key',
    );
    expect((await built({ 'kustomization.yaml': 'configMapGenerator: [{name: a, literals: [a=1, a=2]}]' })).stderr).toContain(
      'repeats the key "a"',
    );
  });
});

describe('no path leaves the directory', () => {
  test('files above it, also by a link', async () => {
    const outside = files({ 'secret.yaml': configMap('outside') });
    const root = files({ 'in/kustomization.yaml': 'resources: [../out.yaml]', 'out.yaml': configMap('x') });
    const refused = async (cwd: string, ...args: string[]): Promise<string> => {
      const io = testIO({ cwd });
      expect(await run(['kustomize', ...args], io)).toBe(1);
      return io.stderr;
    };
    expect(await refused(root, 'in')).toContain("is not in or below '");
    symlinkSync(join(outside, 'secret.yaml'), join(root, 'in', 'link.yaml'));
    writeFileSync(join(root, 'in', 'kustomization.yaml'), 'resources: [link.yaml]');
    expect(await refused(root, 'in')).toContain("is not in or below '");
    const io = testIO({ cwd: root });
    expect(await run(['kustomize', 'in', '--load-restrictor=LoadRestrictionsNone'], io)).toBe(0);
    expect(io.stdout).toContain('name: outside');
  });

  test.each([
    'https://example.com/a.yaml',
    'github.com/owner/name/path?ref=v1',
    'git@example.com:owner/name.git',
    'ssh://example.com/x',
    'file:///etc/passwd',
  ])('%s is not fetched', async (path) => {
    const { code, stderr } = await built({ 'kustomization.yaml': `resources: [${JSON.stringify(path)}]` });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('remote resources are not fetched') });
  });

  test('a kustomization that names itself or a directory above it', async () => {
    expect((await built({ 'kustomization.yaml': 'resources: [./]' })).stderr).toContain('cycle detected');
    const around = { 'a/kustomization.yaml': 'resources: [../b]', 'b/kustomization.yaml': 'resources: [../a]' };
    expect((await built(around, ['a'])).stderr).toContain('cycle detected');
  });

  test('more directories within each other than are followed', async () => {
    const deep: Record<string, string> = {};
    for (let i = 0; i <= 102; i++) deep[`d${i}/kustomization.yaml`] = i === 102 ? '{namePrefix: a}' : `resources: [../d${i + 1}]`;
    expect((await built(deep, ['d3'])).code).toBe(0);
    expect((await built(deep, ['d0'])).stderr).toContain('more than 100 kustomizations within each other');
  });
});

describe('mistakes are named', () => {
  test.each([
    ['{}', ''],
    ['', 'is empty'],
    ['[]', 'this is not an object'],
    ['resourcs: []', 'unknown field "resourcs" (did you mean resources?)'],
    ['images: [{name: a, tag: b}]', 'unknown field "images[0].tag"'],
    ['commonLabels: {a: 1}', 'commonLabels must be a map of texts'],
    ['replicas: [{name: a, count: x}]', 'replicas[0].count must be a number'],
    ['replicas: [{name: a, count: 1}]', 'there is no object named "a"'],
    ['vars: [{name: A, objref: {kind: Pod, name: x, apiVersion: v1}}]', 'var A cannot be mapped to a field'],
    [
      'resources: [a.yaml]\nvars: [{name: A, objref: {kind: ConfigMap, name: a, apiVersion: v1}, fieldref: {fieldPath: data.x}}]',
      'var A: the object has no field data.x',
    ],
    ['helmCharts: []', 'helmCharts is not supported: run `helm template`'],
    ['crds: [a]', 'crds is not supported'],
    ['kind: Pod', 'kind should be Kustomization or Component'],
    ['apiVersion: v1', 'apiVersion for Kustomization should be kustomize.config.k8s.io/v1beta1'],
    ['resources: [none.yaml]', 'none.yaml: no such file or directory'],
    ['resources: [a.yaml, a.yaml]', 'may not add resource with an already registered id: ConfigMap.v1.[noGrp]/a.[noNs]'],
    ['patches: [{path: a.yaml, patch: x}]', 'an entry needs either path or patch'],
    ['patches: [{patch: "[{op: remove, path: /x}]"}]', 'a JSON patch needs a target'],
    ['patches: [{patch: "{kind: ConfigMap, apiVersion: v1, metadata: {name: b}}"}]', 'no matches for Id ConfigMap.v1.[noGrp]/b.[noNs]'],
    [
      'resources: [a.yaml]\npatches: [{target: {kind: ConfigMap}, patch: "[{op: remove, path: /x}]"}]',
      'operation 0 (remove /x) does not apply',
    ],
    ['resources: [a.yaml]\npatches: [{target: {kind: "("}, patch: "[]"}]', '"(" is not a valid regular expression'],
    ['resources: [bad.yaml]', 'bad.yaml: missing metadata.name in object of kind Pod'],
    ['components: [c]', "expected kind 'Component'"],
    ['configMapGenerator: [{name: a, behavior: merge}]', 'does not exist; cannot merge or replace'],
    ['configMapGenerator: [{name: a, behavior: other}]', 'unknown behavior "other"'],
    ['resources: [a.yaml]\nreplacements: [{source: {kind: Pod}, targets: [{}]}]', 'nothing selected by {"kind":"Pod"}'],
  ])('%s', async (kustomization, message) => {
    const { code, stderr } = await built({
      'kustomization.yaml': kustomization,
      'a.yaml': configMap('a'),
      'bad.yaml': 'kind: Pod\n',
      'c/kustomization.yaml': '{}',
    });
    expect(code).toBe(message === '' ? 0 : 1);
    expect(stderr).toContain(message);
  });

  test('flags for what is not there, and too many arguments', async () => {
    expect((await built({}, ['.', '--enable-helm'])).stderr).toContain('--enable-helm: not supported: charts are not rendered');
    expect((await built({}, ['a', 'b'])).code).toBe(2);
    expect((await built({})).stderr).toContain("unable to find one of 'kustomization.yaml'");
    expect((await built({ 'kustomization.yaml': '{}', Kustomization: '{}' })).stderr).toContain('Found multiple kustomization files');
  });
});

test('objects of the identity of plat get the same changes', async () => {
  const binding = `apiVersion: rbac.authorization.plat.dev/v1
kind: ClusterRoleBinding
metadata: {name: b}
roleRef: {apiGroup: rbac.authorization.plat.dev, kind: ClusterRole, name: r}
subjects: [{kind: ServiceAccount, name: default, namespace: x}]
---
apiVersion: rbac.authorization.plat.dev/v1
kind: ClusterRole
metadata: {name: r}
`;
  const { objects } = await built({ 'kustomization.yaml': 'resources: [b.yaml]\nnamePrefix: p-\nnamespace: team', 'b.yaml': binding });
  expect(objects).toMatchObject([
    { kind: 'ClusterRole', metadata: { name: 'p-r' } },
    { kind: 'ClusterRoleBinding', metadata: { name: 'p-b' }, roleRef: { name: 'p-r' }, subjects: [{ name: 'default', namespace: 'team' }] },
  ]);
  expect(objects.every(({ metadata }) => !Object.hasOwn(metadata as JsonObject, 'namespace'))).toBe(true);
});

test('words that older YAML takes for true and false are texts', async () => {
  const { objects } = await built({
    'kustomization.yaml': 'resources: [a.yaml]',
    'a.yaml': configMap('a', 'data: {y: yes, off: No}\nimmutable: true\n'),
  });
  expect(objects).toMatchObject([{ data: { y: 'yes', off: 'No' }, immutable: true }]);
});

test('objects that are for the tool alone are left out', async () => {
  const local = configMap('local', '  annotations: {config.kubernetes.io/local-config: "true"}\n');
  const { stdout } = await built({ 'kustomization.yaml': 'resources: [a.yaml]', 'a.yaml': `${local}---\n${configMap('kept')}` });
  expect(stdout).toBe('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kept\n');
});

test('the order of the files or that of needs; into a file or a directory', async () => {
  const root = files({
    'kustomization.yaml': 'resources: [a.yaml]\nnamespace: home',
    'a.yaml': `${configMap('b')}---\n${configMap('a')}---\napiVersion: v1\nkind: Namespace\nmetadata: {name: home}\n`,
  });
  const names = async (...args: string[]): Promise<string[]> => {
    const io = testIO({ cwd: root });
    expect(await run(['kustomize', ...args], io)).toBe(0);
    return [...io.stdout.matchAll(/ {2}name: (.*)/g)].map(([, name]) => name as string);
  };
  expect(await names()).toEqual(['home', 'a', 'b']);
  expect(await names('--reorder=none')).toEqual(['b', 'a', 'home']);
  expect(await names('-o', 'out.yaml')).toEqual([]);
  expect(readFileSync(join(root, 'out.yaml'), 'utf8')).toContain('---\n');
  mkdirSync(join(root, 'out'));
  await names('-o', 'out');
  expect(readdirSync(join(root, 'out')).sort()).toEqual(['v1_configmap_a.yaml', 'v1_configmap_b.yaml', 'v1_namespace_home.yaml']);
});

test('-k of other commands takes the objects in the order of the files', async () => {
  const cwd = files({
    'k/kustomization.yaml': 'resources: [a.yaml]\nnamePrefix: p-',
    'k/a.yaml': `${configMap('b')}---\n${configMap('a')}`,
  });
  const io = testIO({ cwd });
  const manifests = await manifestsFrom({ filename: [], recursive: false, kustomize: 'k' }, io);
  expect(manifests.map(({ name, origin }) => [name, origin])).toEqual([
    ['p-b', 'k'],
    ['p-a', 'k'],
  ]);
  await expect(manifestsFrom({ filename: ['a'], recursive: false, kustomize: 'k' }, io)).rejects.toThrow('only one of -f or -k');
});

test.each([
  ['nginx', { name: 'nginx', newTag: '2' }, 'nginx:2'],
  ['nginx:1', { name: 'nginx', newName: 'other' }, 'other:1'],
  ['nginx:1@sha256:ab', { name: 'nginx', newTag: '2' }, 'nginx:2'],
  ['nginx:1', { name: 'nginx', digest: 'sha256:cd' }, 'nginx@sha256:cd'],
  ['nginx', { name: 'nginx', newTag: '2', digest: 'sha256:cd' }, 'nginx:2@sha256:cd'],
  ['a:5000/nginx:1', { name: 'a:5000/nginx', newTag: '2' }, 'a:5000/nginx:2'],
  ['my-nginx:1', { name: 'nginx', newTag: '2' }, 'my-nginx:1'],
])('the image %s by %j is %s', (image, change, result) => {
  expect(changedImage(image, change)).toBe(result);
});
