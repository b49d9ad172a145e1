/** `plat convert` and `plat check` beside a server: one that has stored an object in its old version shows what convert writes. */

import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Catalogue } from '../../packages/cli/src/convert/catalogue.ts';
import { type Row, removalTable, withNames } from '../../packages/cli/src/convert/removal-table.testing.ts';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { clientSideApply, type Identity, identities } from '../../packages/meta/src/identity.ts';
import { parseYamlDocuments } from '../../packages/schema/src/yaml/index.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { python } from '../support/test-programs.ts';

const textOf = (row: Row, identity: Identity): string => withNames(`apiVersion: ${row.from}\nkind: ${row.kind}\n${row.manifest}`, identity);
const hasYaml = spawnSync(python, ['-c', 'import yaml']).status === 0;

describe.each(Object.values(identities))('with identity $name', (identity) => {
  let server: TestServer;
  let plat: Plat;
  const catalogue = new Catalogue(identity);
  beforeAll(async () => {
    const versions = new Set(removalTable.flatMap(({ from, to }) => [from, to]));
    const runtimeConfig = readRuntimeConfig([...versions].map((one) => `${withNames(one, identity)}=true`));
    server = await startTestServer({ identity: identity.name, runtimeConfig, controllers: ['-*'] });
    plat = platFor(server);
  });
  afterAll(() => server.close());

  const convert = async (text: string, ...flags: string[]): Promise<string> =>
    (await platFor(server, {}, []).run(['convert', '-f', '-', '--identity', identity.name, ...flags], text)).stdout;

  test('groups are named as those of the server where no object says how', async () => {
    const old = 'apiVersion: extensions/v1beta1\nkind: NetworkPolicy\nmetadata: {name: a}\nspec: {podSelector: {}}\n';
    const named = `networking.${identity.groupSuffix}/v1`;
    const converted = await plat.run(['convert', '-f', '-'], old);
    expect(converted.stdout).toContain(`apiVersion: ${named}\n`);
    expect(converted.stderr).not.toContain('--identity');
    const { stdout } = await plat.run(['check', '-f', '-', '--to-release', '1.25'], old);
    expect(stdout).toContain(named);
    // What the files or the command line say goes before.
    for (const other of Object.values(identities)) {
      const version = `networking.${other.groupSuffix}/v1`;
      const list = `apiVersion: v1\nkind: List\nitems: [{apiVersion: rbac.authorization.${other.groupSuffix}/v1, kind: Role, metadata: {name: r}}]\n`;
      expect((await plat.run(['convert', '-f', '-'], `${old}---\n${list}`)).stdout).toContain(`apiVersion: ${version}\n`);
      expect((await plat.run(['convert', '-f', '-', '--output-version', version], old)).stdout).toContain(`apiVersion: ${version}\n`);
      expect((await plat.run(['convert', '-f', '-', '--identity', other.name], old)).stdout).toContain(`apiVersion: ${version}\n`);
    }
    const kubectl = platFor(server, {}, undefined, 'kubectl');
    expect((await kubectl.run(['convert', '-f', '-'], old)).stdout).toContain('apiVersion: networking.k8s.io/v1\n');
  });

  /** Creates an object in its own version, reads it in another, and deletes it. */
  async function stored(object: Loose, apiVersion: string): Promise<Loose> {
    const pathIn = (version: string): string => {
      const { kind } = catalogue.find(version, object.kind) as NonNullable<ReturnType<Catalogue['find']>>;
      return `/apis/${version}/${kind.namespaced ? 'namespaces/default/' : ''}${kind.plural}`;
    };
    await server.admin.ok('POST', pathIn(object.apiVersion), object);
    const { metadata, ...rest } = await server.admin.ok('GET', `${pathIn(apiVersion)}/${object.metadata.name}`);
    await server.admin.ok('DELETE', `${pathIn(apiVersion)}/${object.metadata.name}`);
    const { uid: _uid, resourceVersion: _version, creationTimestamp: _time, managedFields: _fields, ...kept } = metadata;
    // Controllers of definitions write their status when they come to it.
    return { ...rest, metadata: kept, status: undefined };
  }

  const compared = removalTable.filter(({ notCompared }) => notCompared === undefined);
  test.each(compared.map((row): [string, string, Row] => [row.from, row.kind, row]))(
    '%s %s is what the server makes of it',
    async (_from, _kind, row) => {
      const text = textOf(row, identity);
      const release = row.removed === '1.16' ? '1.24' : (row.release ?? row.removed);
      // A definition is deleted when its objects are: the next one has another name.
      const [old] = parseYamlDocuments(text.replaceAll('lamp', 'torch')) as [Loose];
      const [converted] = parseYamlDocuments(await convert(text, '--to-release', release)) as [Loose];
      expect(await stored(converted, converted.apiVersion)).toEqual(
        JSON.parse(jsonText(await stored(old, converted.apiVersion)).replaceAll('torch', 'lamp')),
      );
    },
  );

  test.skipIf(!hasYaml)('another reader of YAML reads the same (needs Python with yaml)', async () => {
    const text = await convert(removalTable.map((row) => textOf(row, identity)).join('---\n'));
    const script = 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin)), default=str))';
    const { stdout } = spawnSync(python, ['-c', script], { input: text, encoding: 'utf8' });
    expect(JSON.parse(stdout)).toEqual(parseYamlDocuments(text));
  });

  describe('check', () => {
    const findings = async (...flags: string[]): Promise<Loose> => {
      const { code, stdout, stderr } = await plat.run(['check', ...flags, '-o', 'json']);
      return { code, stderr, ...JSON.parse(stdout) };
    };
    const budget = { apiVersion: 'policy/v1beta1', kind: 'PodDisruptionBudget', metadata: { name: 'web' } };

    test('finds managers, requests, objects and pods that use what a release removes', async () => {
      const group = withNames('networking.GROUP', identity);
      await server.admin.ok('POST', '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets?fieldManager=deployer', {
        ...budget,
        spec: { minAvailable: 1 },
      });
      const applied = JSON.stringify({ apiVersion: `${group}/v1beta1`, kind: 'Ingress' });
      await server.admin.ok('POST', `/apis/${group}/v1/namespaces/default/ingresses?fieldManager=new`, {
        metadata: { name: 'web', annotations: { [clientSideApply.annotation]: applied } },
        spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } },
      });
      const rule = { rule: 'RunAsAny' };
      await server.admin.ok('POST', '/apis/policy/v1beta1/podsecuritypolicies', {
        metadata: { name: 'all' },
        spec: { seLinux: rule, supplementalGroups: rule, runAsUser: rule, fsGroup: rule },
      });
      await server.admin.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
      await server.admin.ok('POST', '/api/v1/namespaces/default/pods', {
        metadata: { name: 'p', annotations: { [withNames('DOMAIN/psp', identity)]: 'all' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      });
      const old = { apiGroups: ['policy'], resources: ['poddisruptionbudgets'] };
      await server.admin.ok('POST', `/apis/${withNames('rbac.authorization.GROUP', identity)}/v1/clusterroles`, {
        metadata: { name: 'policies' },
        rules: [{ apiGroups: ['policy'], resources: ['podsecuritypolicies'], verbs: ['use'] }],
      });
      await server.admin.ok('POST', `/apis/${withNames('admissionregistration.GROUP', identity)}/v1/validatingwebhookconfigurations`, {
        metadata: { name: 'budgets' },
        webhooks: [
          {
            name: 'budgets.example.com',
            rules: [{ ...old, apiVersions: ['v1beta1'], operations: ['DELETE'] }],
            clientConfig: { url: 'https://127.0.0.1:1/' },
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      });
      const found = await findings('--server', '--to-release', '1.25');
      // The roles of the server itself are none.
      expect(found.findings.filter(({ type }: Loose) => type === 'role' || type === 'webhook')).toMatchObject([
        { level: 'removed', type: 'role', kind: 'PodSecurityPolicy', where: 'ClusterRole policies' },
        { type: 'webhook', apiVersion: 'policy/v1beta1', where: 'ValidatingWebhookConfiguration budgets, webhook budgets.example.com' },
      ]);
      expect(found).toMatchObject({ code: 3, mustChange: true, toRelease: '1.25' });
      expect(found.findings).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            level: 'removed',
            type: 'manager',
            manager: 'deployer',
            apiVersion: 'policy/v1beta1',
            where: 'default/web',
            use: 'policy/v1',
          }),
          expect.objectContaining({
            level: 'removed',
            type: 'manager',
            manager: 'kubectl apply',
            apiVersion: `${group}/v1beta1`,
            use: `${group}/v1`,
          }),
          expect.objectContaining({
            level: 'removed',
            type: 'request',
            apiVersion: 'policy/v1beta1',
            where: 'poddisruptionbudgets',
            removedIn: '1.25',
          }),
          expect.objectContaining({ level: 'removed', type: 'object', kind: 'PodSecurityPolicy', where: 'all' }),
          expect.objectContaining({ level: 'removed', type: 'admission', where: 'pod default/p, policy all' }),
        ]),
      );
      expect(found.notSeen.join()).toContain('before the server started');
      const earlier = await findings('--server', '--to-release', '1.20');
      expect(earlier.findings.filter(({ kind }: Loose) => kind === 'PodDisruptionBudget')).toEqual([]);
    });

    test('says what it may not see', async () => {
      const { code, stderr, stdout } = await plat.run(['check', '--server', '--to-release', '1.25', '--as', 'nobody']);
      expect(code).toBe(1);
      expect(stdout).toContain('nothing uses what release 1.25 removes');
      expect(stderr).toContain('not seen: poddisruptionbudgets.policy: ');
      expect(stderr).toContain('not seen: requests in deprecated versions (GET /metrics): ');
    });

    test('manifests: a table, an exit code, and what a person must decide', async () => {
      plat.file('m/web.yaml', `${jsonText({ ...budget, spec: { selector: {} } })}\n---\napiVersion: example.com/v1\nkind: Lamp\n`);
      const { code, stdout, stderr } = await platFor(server, {}, []).run(['check', '-f', `${plat.cwd}/m`, '--to-release', '1.25']);
      expect(code).toBe(3);
      expect(stdout).toMatch(
        /^LEVEL +VERSION +KIND +USED BY +WHERE +REMOVED IN +USE\nremoved +policy\/v1beta1 +PodDisruptionBudget +manifest .*1\.25 +policy\/v1\n$/,
      );
      expect(stderr).toContain('spec.selector: an empty selector selected no pods');
      expect(stderr).toContain('Lamp, example.com/v1: custom kind');
      expect(await findings('-f', 'm', '--to-release', '1.21')).toMatchObject({
        code: 0,
        mustChange: false,
        findings: [{ level: 'deprecated' }],
      });
      expect(await findings('-f', 'm', '--to-release', '1.20')).toMatchObject({ code: 0, findings: [] });
      const rule = { apiGroups: ['extensions'], resources: ['ingresses'], verbs: ['get'] };
      const role = { apiVersion: `${withNames('rbac.authorization.GROUP', identity)}/v1`, kind: 'ClusterRole', metadata: { name: 'r' } };
      plat.file('roles/a.yaml', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [{ ...role, rules: [rule] }] }));
      expect(await findings('-f', 'roles', '--to-release', '1.22')).toMatchObject({
        code: 3,
        findings: [{ type: 'role', kind: 'Ingress', where: expect.stringMatching(/a\.yaml, ClusterRole r$/) }],
      });
      plat.file('bad/a.yaml', 'a: [');
      expect(await findings('-f', 'bad', '--to-release', '1.25')).toMatchObject({ code: 1, findings: [] });
    });

    test.each([
      [['--to-release', '1.25'], 'check what?'],
      [['-f', 'm'], 'which release?'],
      [['-f', 'm', '--to-release', '1.3'], 'is not one of'],
      [['a', '-f', 'm', '--to-release', '1.25'], 'takes no arguments'],
    ])('%j is refused', async (args, words) => {
      expect(await plat.run(['check', ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    });
  });
});
