/** A stock kubectl against a server that goes by stock names. */

import { beforeAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { type Kubectl, kubectlBefore, kubectlFixture, kubectlFor, kubectlMissing, showManagedFields } from '../support/kubectl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deployment = (name: string, replicas = 1, image = 'example.com/web:1') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] } },
  },
});
const configMap = (name: string, data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

describe.skipIf(kubectlMissing !== undefined)(`kubectl (${kubectlMissing ?? 'found'})`, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  let ns: string;
  const fixture = kubectlFixture();
  beforeAll(() => {
    ({ server, kubectl, ns } = fixture);
  });
  const within = (...args: string[]): string[] => ['-n', ns, ...args];
  /** What a test begins with is made without kubectl, which takes a quarter of a second for it. */
  const deploymentMade = (...args: Parameters<typeof deployment>) =>
    server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, deployment(...args));

  test('version, api-versions, api-resources', async () => {
    expect(await kubectl.ok(['version'])).toMatch(/Server Version: .*v1\.24\./);
    expect((await kubectl.ok(['api-versions'])).split('\n')).toEqual(
      expect.arrayContaining(['v1', 'apps/v1', 'batch/v1', 'storage.k8s.io/v1']),
    );
    const resources = await kubectl.ok(['api-resources']);
    expect(resources).toMatch(/^pods +po +v1 +true +Pod$/m);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(resources).toMatch(/^namespaces +ns +v1 +false +Namespace$/m);
    if (kubectlBefore(25)) return;
    const all = await kubectl.ok(['api-resources', '--categories=all', '-o', 'name']);
    expect(all.split('\n')).toEqual(expect.arrayContaining(['pods', 'services', 'deployments.apps', 'jobs.batch']));
  });

  test('explain', async () => {
    const image = await kubectl.ok(['explain', 'pod.spec.containers.image']);
    expect(image).toMatch(/FIELD: +image <string>\s+DESCRIPTION:\s+Container image to run/);
    const recursive = await kubectl.ok(['explain', 'deployments', '--recursive']);
    expect(recursive).toMatch(/^KIND: +Deployment$/m);
    expect(recursive).toContain('matchLabels');
    for (const text of [image, recursive]) expect(text).not.toMatch(/<(empty|none|no description)>/i);
    expect(await kubectl.ok(['explain', 'cronjobs', '--api-version=batch/v1'])).toMatch(/^VERSION: +(batch\/)?v1$/m);
  });

  test('create, get in every form, replace, delete', async () => {
    expect(await kubectl.ok(within('create', '-f', '-'), deployment('web'))).toBe('deployment.apps/web created\n');
    expect(await kubectl.ok(within('get', 'deployments'))).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/1 +0 +0 +\d+s\n$/);
    expect(await kubectl.ok(within('get', 'deploy', 'web', '-o', 'wide'))).toMatch(
      /CONTAINERS +IMAGES +SELECTOR\n.* web +example.com\/web:1 +app=web\n$/,
    );
    expect(await kubectl.ok(within('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}'))).toBe(
      'example.com/web:1',
    );
    expect(await kubectl.ok(within('get', 'deploy', 'web', '-o', 'yaml'))).toMatch(/^apiVersion: apps\/v1\nkind: Deployment\n/);
    expect(await kubectl.ok(['get', 'deploy', '-A', '-l', 'app=web', '--no-headers'])).toMatch(new RegExp(`^${ns} +web +0/1`));
    expect(await kubectl.ok(within('get', 'deploy,cm', '-o', 'name'))).toContain('deployment.apps/web\n');
    expect(await kubectl.ok(within('get', 'all'))).toContain('deployment.apps/web');
    expect(await kubectl.ok(within('get', 'deploy', '--show-labels', '--sort-by=.metadata.name'))).toContain('app=web');
    expect(await kubectl.ok(within('replace', '-f', '-'), deployment('web', 3))).toBe('deployment.apps/web replaced\n');
    expect((await kubectl.json(within('get', 'deploy', 'web'))).spec.replicas).toBe(3);
    expect(await kubectl.ok(within('delete', 'deploy', 'web'))).toBe('deployment.apps "web" deleted\n');
    const gone = await kubectl.run(within('get', 'deploy', 'web'));
    expect(gone).toMatchObject({ code: 1, stderr: 'Error from server (NotFound): deployments.apps "web" not found\n' });
    expect((await kubectl.run(within('get', 'deploy'))).stderr).toBe(`No resources found in ${ns} namespace.\n`);
  });

  test('large collections come in chunks', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, i) => server.admin.ok('POST', `/api/v1/namespaces/${ns}/secrets`, { metadata: { name: `s${i}` } })),
    );
    expect((await kubectl.ok(within('get', 'secrets', '--chunk-size=5', '-o', 'name'))).trim().split('\n').length).toBe(12);
    await kubectl.ok(within('delete', 'secrets', '--all'));
    expect(await kubectl.ok(within('get', 'secrets', '-o', 'name'))).toBe('');
  });

  test('describe', async () => {
    await deploymentMade('seen', 2);
    expect(await kubectl.ok(within('describe', 'deploy', 'seen'))).toMatch(
      /^Name: +seen\n[\s\S]*Selector: +app=seen\nReplicas: +2 desired/,
    );
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, pod);
    expect(await kubectl.ok(within('describe', 'pod', 'p'))).toMatch(/^Name: +p\nNamespace: +\S+\n[\s\S]*Image: +i\n/);
    expect(await kubectl.ok(['describe', 'namespace', ns])).toMatch(/^Name: +\S+\n[\s\S]*Status: +Active\n/);
    expect(await kubectl.ok(['describe', 'clusterrole', 'view'])).toContain('configmaps');
    await kubectl.ok(within('create', 'service', 'clusterip', 's', '--tcp=80'));
    expect(await kubectl.ok(within('describe', 'service', 's'))).toMatch(/IP: +10\.0\.0\.\d+\n/);
  });

  test('apply: created, unchanged, configured, and fields that were dropped', async () => {
    const apply = (object: object) => kubectl.ok(within('apply', '-f', '-'), object);
    expect(await apply(configMap('applied', { a: '1', b: '2' }))).toBe('configmap/applied created\n');
    expect(await apply(configMap('applied', { a: '1', b: '2' }))).toBe('configmap/applied unchanged\n');
    await kubectl.ok(within('patch', 'cm', 'applied', '--type=merge', '-p', '{"data":{"other":"x"}}'));
    expect(await apply(configMap('applied', { a: '3' }))).toBe('configmap/applied configured\n');
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${ns}/configmaps/applied`)).data).toEqual({ a: '3', other: 'x' });
    expect(await apply(deployment('lists'))).toBe('deployment.apps/lists created\n');
    expect(await apply(deployment('lists', 1, 'example.com/web:2'))).toBe('deployment.apps/lists configured\n');
  });

  test('apply on the server: ownership and conflicts', async () => {
    const apply = (object: object, ...flags: string[]) => kubectl.run(within('apply', '--server-side', '-f', '-', ...flags), object);
    expect((await apply(configMap('owned', { a: '1' }), '--field-manager=one')).stdout).toBe('configmap/owned serverside-applied\n');
    const refused = await apply(configMap('owned', { a: '2' }), '--field-manager=two');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "one": .data.a');
    expect((await apply(configMap('owned', { a: '2' }), '--field-manager=two', '--force-conflicts')).code).toBe(0);
    const { metadata, data } = await kubectl.json(within('get', 'cm', 'owned', ...showManagedFields));
    expect(data).toEqual({ a: '2' });
    expect(metadata.managedFields.map((entry: { manager: string }) => entry.manager)).toEqual(['two']);
  });

  test('diff', async () => {
    await kubectl.ok(within('apply', '-f', '-'), configMap('compared', { a: '1' }));
    expect(await kubectl.run(within('diff', '-f', '-'), configMap('compared', { a: '1' }))).toMatchObject({ code: 0, stdout: '' });
    const changed = await kubectl.run(within('diff', '-f', '-'), configMap('compared', { a: '2' }));
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain('-  a: "1"\n+  a: "2"');
    expect((await kubectl.run(within('diff', '--server-side', '-f', '-'), configMap('compared', { b: '2' }))).stdout).toContain(
      '+  b: "2"',
    );
  });

  test('patches of every type', async () => {
    await deploymentMade('patched');
    const patch = (type: string, body: unknown) => kubectl.ok(within('patch', 'deploy', 'patched', `--type=${type}`, '-p', jsonText(body)));
    const containers = async () =>
      (await server.admin.ok('GET', `/apis/apps/v1/namespaces/${ns}/deployments/patched`)).spec.template.spec.containers.map(
        (c: { name: string }) => c.name,
      );
    await patch('strategic', { spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } } });
    expect(await containers()).toEqual(['side', 'web']);
    await patch('json', [{ op: 'remove', path: '/spec/template/spec/containers/0' }]);
    expect(await containers()).toEqual(['web']);
    await patch('merge', { spec: { template: { spec: { containers: [{ name: 'only', image: 'o' }] } } } });
    expect(await containers()).toEqual(['only']);
    const wrong = await kubectl.run(within('patch', 'deploy', 'patched', '--type=json', '-p', '[{"op":"remove","path":"/nowhere"}]'));
    expect(wrong.code).toBe(1);
  });

  test('label, annotate, scale, set', async () => {
    await deploymentMade('tuned');
    expect(await kubectl.ok(within('label', 'deploy', 'tuned', 'tier=front'))).toBe('deployment.apps/tuned labeled\n');
    expect((await kubectl.run(within('label', 'deploy', 'tuned', 'tier=back'))).stderr).toContain(
      "'tier' already has a value (front), and --overwrite is false",
    );
    expect(await kubectl.ok(within('label', 'deploy', 'tuned', 'tier-'))).toBe(
      `deployment.apps/tuned ${kubectlBefore(21) ? 'labeled' : 'unlabeled'}\n`,
    );
    expect(await kubectl.ok(within('annotate', 'deploy', 'tuned', 'note=hello'))).toBe('deployment.apps/tuned annotated\n');
    expect(await kubectl.ok(within('scale', 'deploy', 'tuned', '--replicas=4'))).toBe('deployment.apps/tuned scaled\n');
    expect((await kubectl.run(within('scale', 'deploy', 'tuned', '--replicas=5', '--current-replicas=1'))).stderr).toContain(
      'Expected replicas to be 1, was 4',
    );
    expect(await kubectl.ok(within('set', 'image', 'deploy/tuned', 'web=example.com/web:9'))).toBe('deployment.apps/tuned image updated\n');
    expect(await server.admin.ok('GET', `/apis/apps/v1/namespaces/${ns}/deployments/tuned`)).toMatchObject({
      metadata: { annotations: { note: 'hello' }, labels: { app: 'tuned' } },
      spec: { replicas: 4, template: { spec: { containers: [{ image: 'example.com/web:9' }] } } },
    });
  });

  test('watch', async () => {
    const watch = kubectl.start(within('get', 'cm', '-w', '-l', 'watched', '--request-timeout=60s'));
    const watched = { ...configMap('w', { a: '1' }), metadata: { name: 'w', labels: { watched: '' } } };
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, watched);
    expect(await watch.line(/^w +1 /)).toBeDefined();
    await kubectl.ok(within('patch', 'cm', 'w', '--type=merge', '-p', '{"data":{"b":"2"}}'));
    expect(await watch.line(/^w +2 /)).toBeDefined();
    watch.process.kill();
    const events = kubectl.start(within('get', 'cm', '-w', '-l', 'watched', '--output-watch-events'));
    await events.line(/^ADDED +w /);
    await kubectl.ok(within('delete', 'cm', 'w'));
    expect(await events.line(/^DELETED +w /)).toBeDefined();
    events.process.kill();
  });

  test.skipIf(kubectlBefore(23))('wait for a field', async () => {
    await deploymentMade('awaited');
    const waiting = kubectl.run(within('wait', 'deploy/awaited', '--for=jsonpath={.spec.replicas}=2', '--timeout=100s'));
    await kubectl.ok(within('scale', 'deploy', 'awaited', '--replicas=2'));
    expect((await waiting).stdout).toBe('deployment.apps/awaited condition met\n');
  });

  test('what is wrong is reported', async () => {
    const unknownField = { ...configMap('wrong', {}), spec: { a: 1 } };
    expect((await kubectl.run(within('create', '-f', '-'), unknownField)).stderr).toContain('unknown field "spec"');
    expect(await kubectl.ok(within('create', '-f', '-', '--validate=false'), unknownField)).toBe('configmap/wrong created\n');
    expect((await kubectl.run(within('create', '-f', '-'), configMap('Wrong', {}))).stderr).toContain(
      'metadata.name: Invalid value: "Wrong"',
    );
    expect((await kubectl.run(['get', 'things'])).stderr).toContain('the server doesn\'t have a resource type "things"');
    expect((await kubectl.run(['get', 'pods', '--token=wrong', '--as=nobody'])).code).toBe(1);
  });

  /** The command came with 1.24. */
  const tokenOf = async (account: string): Promise<string> =>
    kubectlBefore(24)
      ? (await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts/${account}/token`, { spec: {} })).status.token
      : (await kubectl.ok(within('create', 'token', account))).trim();

  test('accounts, tokens, permissions, dry runs', async () => {
    expect(await kubectl.ok(within('create', 'sa', 'robot'))).toBe('serviceaccount/robot created\n');
    const token = await tokenOf('robot');
    expect((await server.client({ token }).get(`/api/v1/namespaces/${ns}/configmaps`)).status).toBe(403);
    await kubectl.ok(within('create', 'rolebinding', 'robots', '--clusterrole=view', `--serviceaccount=${ns}:robot`));
    expect((await server.client({ token }).get(`/api/v1/namespaces/${ns}/configmaps`)).status).toBe(200);
    const robot = `--as=system:serviceaccount:${ns}:robot`;
    expect(await kubectl.ok(within('auth', 'can-i', 'list', 'configmaps', robot))).toBe('yes\n');
    expect((await kubectl.run(within('auth', 'can-i', 'create', 'configmaps', robot))).stdout).toBe('no\n');
    expect(await kubectl.ok(within('create', 'cm', 'dry', '--dry-run=server'))).toBe('configmap/dry created (server dry run)\n');
    expect((await kubectl.run(within('get', 'cm', 'dry'))).code).toBe(1);
  });

  test.skipIf(kubectlBefore(25))('without the gate kubectl validates fields itself, as with a stock server', async () => {
    const typo = { ...configMap('typo', { a: '1' }), dta: { b: 2 } };
    const created = await kubectl.run(within('create', '-f', '-', '--validate=strict'), typo);
    expect([created.code, created.stderr]).toEqual([1, expect.stringContaining('unknown field "dta" in')]);
  });

  test('a namespace goes with what is in it', async () => {
    await kubectl.ok(['create', 'ns', 'short-lived']);
    await kubectl.ok(['-n', 'short-lived', 'create', 'cm', 'a']);
    expect(await kubectl.ok(['delete', 'ns', 'short-lived', '--timeout=100s'])).toBe('namespace "short-lived" deleted\n');
    expect((await kubectl.run(['get', 'ns', 'short-lived'])).code).toBe(1);
  });
});

test.skipIf(kubectlMissing !== undefined)(
  `kubectl is usable on a server with names of its own (${kubectlMissing ?? 'found'})`,
  async () => {
    const server = await startTestServer({ identity: 'plat' });
    const kubectl = kubectlFor(server);
    try {
      expect(await kubectl.ok(['get', 'ns'])).toMatch(/^NAME +STATUS +AGE\ndefault +Active/);
      expect(await kubectl.ok(['get', 'clusterroles.rbac.authorization.plat.dev', 'view', '-o', 'name'])).toBe(
        'clusterrole.rbac.authorization.plat.dev/view\n',
      );
      expect(await kubectl.ok(['create', 'cm', 'a', '--from-literal=k=v'])).toBe('configmap/a created\n');
      expect((await kubectl.json(['get', 'cm', 'a'])).data).toEqual({ k: 'v' });
      expect(await kubectl.ok(['apply', '-f', '-'], configMap('b', { k: 'v' }))).toBe('configmap/b created\n');
      expect(await kubectl.ok(['explain', 'pods.spec'])).toMatch(/^KIND: +Pod$/m);
      expect(await kubectl.ok(['delete', 'cm', 'a', 'b'])).toContain('configmap "b" deleted');
    } finally {
      await server.close();
    }
  },
);

test.skipIf(kubectlMissing !== undefined || kubectlBefore(25))(
  'a server whose gate is on validates fields: create, replace and apply',
  async () => {
    const server = await startTestServer({
      identity: 'kubernetes',
      features: readFeatureGates(new Map([['ServerSideFieldValidation', 'true']])),
    });
    const kubectl = kubectlFor(server);
    try {
      const ns = await server.namespace();
      const typo = { ...configMap('typo', { a: '1' }), dta: { b: 2 } };
      const run = (verb: string[], mode: string) => kubectl.run(['-n', ns, ...verb, '-f', '-', `--validate=${mode}`], typo);
      const refusal = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dta"';
      const created = await run(['create'], 'strict');
      expect([created.code, created.stderr]).toEqual([1, expect.stringContaining(refusal)]);
      expect(await run(['create'], 'warn')).toMatchObject({ code: 0, stderr: 'Warning: unknown field "dta"\n' });
      expect((await run(['replace'], 'strict')).stderr).toContain(refusal);
      // The object is there: apply sends a strategic patch.
      expect((await run(['apply'], 'strict')).stderr).toContain('strict decoding error: unknown field "dta"');
      expect((await run(['apply'], 'warn')).stderr).toContain('Warning: unknown field "dta"\n');
      expect((await run(['apply', '--server-side', '--force-conflicts'], 'ignore')).stderr).toContain('.dta: field not declared in schema');
    } finally {
      await server.close();
    }
  },
);
