/** Debian's kubectl, which is of 1.20: it reads OpenAPI v2 only, and asks for things in ways that newer ones have left. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { oldKubectlMissing, writeConfig } from '../support/foreign-client.ts';
import { type Kubectl, kubectlFixture, kubectlFor } from '../support/kubectl.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { oldKubectl } from '../support/test-programs.ts';

const missing = oldKubectlMissing();

const deployment = (name: string, image = 'example.com/web:1') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image }] } },
  },
});
const configMap = (name: string, data: Record<string, string>, labels?: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(labels && { labels }) },
  data,
});

describe.skipIf(missing !== undefined)(`kubectl 1.20 (${missing ?? 'found'})`, { timeout: 120_000 }, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  let ns: string;
  const fixture = kubectlFixture(oldKubectl);
  beforeAll(() => {
    ({ server, kubectl, ns } = fixture);
  });
  const within = (...args: string[]): string[] => ['-n', ns, ...args];
  const path = (name: string): string => `/apis/apps/v1/namespaces/${ns}/deployments/${name}`;

  test('version, api-versions, api-resources', async () => {
    const { clientVersion, serverVersion } = await kubectl.json(['version']);
    expect([clientVersion.minor, serverVersion.minor]).toEqual(['20', expect.stringMatching(/^24/)]);
    expect((await kubectl.ok(['api-versions'])).split('\n')).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'storage.k8s.io/v1']));
    const resources = await kubectl.ok(['api-resources']);
    expect(resources).toMatch(/^pods +po +v1 +true +Pod$/m);
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect((await kubectl.ok(['api-resources', '--verbs=deletecollection', '--namespaced=false', '-o', 'name'])).split('\n')).toContain(
      'nodes',
    );
    expect(await kubectl.ok(['cluster-info'])).toContain(server.address);
  });

  test('explain reads OpenAPI v2', async () => {
    expect(await kubectl.ok(['explain', 'pod.spec.containers.image'])).toMatch(/FIELD: +image <string>\s+DESCRIPTION:\s+Container image/);
    expect(await kubectl.ok(['explain', 'deployments', '--recursive'])).toMatch(/matchLabels\t<map\[string\]string>/);
    expect(await kubectl.ok(['explain', 'cronjobs', '--api-version=batch/v1'])).toContain('VERSION:  batch/v1');
    expect((await kubectl.run(['explain', 'pods.spec.absent'])).stderr).toContain('field "absent" does not exist');
  });

  test('create, get in every form, replace, delete', async () => {
    expect(await kubectl.ok(within('create', '-f', '-'), deployment('web'))).toBe('deployment.apps/web created\n');
    expect(await kubectl.ok(within('get', 'deploy'))).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/1 +0 +0 +\d+s\n$/);
    expect(await kubectl.ok(within('get', 'deploy', 'web', '-o', 'wide'))).toMatch(/ web +example.com\/web:1 +app=web\n$/);
    expect(await kubectl.ok(within('get', 'deploy', '-o', 'custom-columns=N:.metadata.name,R:.spec.replicas'))).toMatch(/^N +R\nweb +1\n$/);
    expect(await kubectl.ok(within('get', 'deploy', 'web', '-o', 'go-template={{.spec.replicas}}'))).toBe('1');
    expect(await kubectl.ok(within('get', 'all', '-o', 'name'))).toContain('deployment.apps/web');
    expect(await kubectl.ok(within('describe', 'deploy', 'web'))).toMatch(/Replicas: +1 desired/);
    expect(await kubectl.ok(within('replace', '-f', '-'), deployment('web', 'example.com/web:2'))).toBe('deployment.apps/web replaced\n');
    expect(await kubectl.ok(within('delete', 'deploy', 'web'))).toBe('deployment.apps "web" deleted\n');
    expect(await kubectl.run(within('get', 'deploy', 'web'))).toMatchObject({
      code: 1,
      stderr: 'Error from server (NotFound): deployments.apps "web" not found\n',
    });
  });

  test('create by generators', async () => {
    await kubectl.ok(within('create', 'deployment', 'made', '--image=example.com/a', '--replicas=2', '--port=80'));
    await kubectl.ok(within('create', 'job', 'made', '--image=example.com/a', '--', 'true'));
    await kubectl.ok(within('create', 'cronjob', 'made', '--image=example.com/a', '--schedule=0 0 * * *'));
    await kubectl.ok(within('create', 'ingress', 'made', '--rule=example.com/*=made:80'));
    await kubectl.ok(within('create', 'poddisruptionbudget', 'made', '--selector=app=made', '--min-available=1'));
    await kubectl.ok(within('create', 'quota', 'made', '--hard=pods=9'));
    await kubectl.ok(within('create', 'secret', 'generic', 'made', '--from-literal=k=v'));
    await kubectl.ok(within('create', 'role', 'made', '--verb=get', '--resource=pods'));
    await kubectl.ok(within('expose', 'deploy', 'made', '--port=80'));
    await kubectl.ok(within('autoscale', 'deploy', 'made', '--max=3'));
    expect(await kubectl.ok(within('run', 'made', '--image=example.com/a', '--restart=Never'))).toBe('pod/made created\n');
    const all = await kubectl.ok(within('get', 'deploy,job,cj,ing,pdb,quota,secret,role,svc,hpa,po', '-o', 'name'));
    expect(all.split('\n').filter((name) => name.endsWith('/made')).length).toBe(11);
  });

  test('lists in chunks', async () => {
    for (let i = 0; i < 7; i++)
      await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: `c${i}`, labels: { chunk: '' } } });
    expect((await kubectl.ok(within('get', 'cm', '-l', 'chunk', '--chunk-size=3', '-o', 'name'))).trim().split('\n').length).toBe(7);
    expect(await kubectl.ok(within('delete', 'cm', '-l', 'chunk'))).toContain('configmap "c6" deleted');
    expect(await kubectl.ok(within('get', 'cm', '-l', 'chunk', '-o', 'name'))).toBe('');
  });

  test('apply: created, unchanged, configured, pruned', async () => {
    const apply = (object: object, ...flags: string[]) => kubectl.ok(within('apply', '-f', '-', ...flags), object);
    expect(await apply(configMap('applied', { a: '1', b: '2' }))).toBe('configmap/applied created\n');
    expect(await apply(configMap('applied', { a: '1', b: '2' }))).toBe('configmap/applied unchanged\n');
    expect(await apply(configMap('applied', { a: '3' }), '--dry-run=server')).toBe('configmap/applied configured (server dry run)\n');
    expect(await apply(configMap('applied', { a: '3' }))).toBe('configmap/applied configured\n');
    expect((await kubectl.json(within('get', 'cm', 'applied'))).data).toEqual({ a: '3' });
    expect(await apply(deployment('lists'))).toBe('deployment.apps/lists created\n');
    expect(await apply(deployment('lists', 'example.com/web:2'))).toBe('deployment.apps/lists configured\n');
    await apply(configMap('pruned', {}, { prune: '' }));
    const pruned = await apply(configMap('kept', {}, { prune: '' }), '--prune', '-l', 'prune', '--prune-whitelist=core/v1/ConfigMap');
    expect(pruned.trim().split('\n')).toEqual(['configmap/kept created', 'configmap/pruned pruned']);
  });

  test('apply on the server: ownership and conflicts', async () => {
    const apply = (object: object, ...flags: string[]) => kubectl.run(within('apply', '--server-side', '-f', '-', ...flags), object);
    expect((await apply(configMap('owned', { a: '1' }), '--field-manager=one')).stdout).toBe('configmap/owned serverside-applied\n');
    const refused = await apply(configMap('owned', { a: '2' }), '--field-manager=two');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Apply failed with 1 conflict: conflict with "one": .data.a');
    expect((await apply(configMap('owned', { a: '2' }), '--field-manager=two', '--force-conflicts')).code).toBe(0);
  });

  test('diff', async () => {
    await kubectl.ok(within('apply', '-f', '-'), configMap('compared', { a: '1' }));
    expect(await kubectl.run(within('diff', '-f', '-'), configMap('compared', { a: '1' }))).toMatchObject({ code: 0, stdout: '' });
    const changed = await kubectl.run(within('diff', '-f', '-'), configMap('compared', { a: '2' }));
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain('-  a: "1"\n+  a: "2"');
    expect((await kubectl.run(within('diff', '-f', '-'), configMap('not-there', { a: '2' }))).stdout).toContain('+  name: not-there');
  });

  test('patches of every type, label, annotate, scale, set', async () => {
    await server.admin.ok('POST', path('').slice(0, -1), deployment('patched'));
    const patch = (type: string, body: unknown) => kubectl.ok(within('patch', 'deploy', 'patched', `--type=${type}`, '-p', jsonText(body)));
    const containers = async () =>
      (await server.admin.ok('GET', path('patched'))).spec.template.spec.containers.map((one: Loose) => one.name);
    await patch('strategic', { spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } } });
    expect(await containers()).toEqual(['side', 'web']);
    await patch('json', [{ op: 'remove', path: '/spec/template/spec/containers/1' }]);
    expect(await containers()).toEqual(['side']);
    await patch('merge', { spec: { template: { spec: { containers: [{ name: 'web', image: 'o' }] } } } });
    expect(await containers()).toEqual(['web']);
    expect(await kubectl.ok(within('label', 'deploy', 'patched', 'tier=front'))).toBe('deployment.apps/patched labeled\n');
    expect((await kubectl.run(within('label', 'deploy', 'patched', 'tier=back'))).stderr).toContain('--overwrite is false');
    expect(await kubectl.ok(within('annotate', 'deploy', 'patched', 'note=hello'))).toBe('deployment.apps/patched annotated\n');
    expect(await kubectl.ok(within('scale', 'deploy', 'patched', '--replicas=4'))).toBe('deployment.apps/patched scaled\n');
    expect(await kubectl.ok(within('set', 'image', 'deploy/patched', 'web=example.com/web:9'))).toContain('image updated');
    expect(await server.admin.ok('GET', path('patched'))).toMatchObject({
      metadata: { annotations: { note: 'hello' }, labels: { tier: 'front' } },
      spec: { replicas: 4, template: { spec: { containers: [{ image: 'example.com/web:9' }] } } },
    });
  });

  test('watch, wait, rollout', async () => {
    await server.admin.ok('POST', path('').slice(0, -1), deployment('followed'));
    const watch = kubectl.start(within('get', 'deploy', 'followed', '-w', '--output-watch-events'));
    await watch.line(/^ADDED +followed +0\/1 /);
    const status = kubectl.start(within('rollout', 'status', 'deploy/followed', '--timeout=60s'));
    await status.line(/^Waiting for deployment/);
    const waiting = kubectl.run(within('wait', 'deploy/followed', '--for=condition=Available', '--timeout=60s'));
    const counts = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    const conditions = [{ type: 'Available', status: 'True', reason: 'r', message: 'm' }];
    expect((await server.admin.patch(`${path('followed')}/status`, { status: { ...counts, conditions } })).status).toBe(200);
    expect(await status.line(/rolled out$/)).toBe('deployment "followed" successfully rolled out');
    expect((await waiting).stdout).toBe('deployment.apps/followed condition met\n');
    await watch.line(/^MODIFIED +followed +1\/1 /);
    expect(await kubectl.ok(within('rollout', 'restart', 'deploy/followed'))).toBe('deployment.apps/followed restarted\n');
    const gone = kubectl.run(within('wait', 'deploy/followed', '--for=delete', '--timeout=60s'));
    await kubectl.ok(within('delete', 'deploy', 'followed', '--cascade=orphan', '--wait=false'));
    await watch.line(/^DELETED +followed /);
    watch.process.kill();
    // Whether it came before or after the deletion: it ends, and it is gone.
    const { stdout, stderr } = await gone;
    expect(stdout + stderr).toMatch(/condition met|not found|no matching resources found/);
  });

  test('what is wrong is reported, before and after it is sent', async () => {
    const unknownField = { ...configMap('wrong', {}), spec: { a: 1 } };
    expect((await kubectl.run(within('create', '-f', '-'), unknownField)).stderr).toContain(
      'unknown field "spec" in io.k8s.api.core.v1.ConfigMap',
    );
    expect((await kubectl.run(within('create', '-f', '-'), configMap('Wrong', {}))).stderr).toContain(
      'metadata.name: Invalid value: "Wrong"',
    );
    expect((await kubectl.run(['get', 'things'])).stderr).toContain('the server doesn\'t have a resource type "things"');
  });

  test('objects are checked by the schema before they are sent: unknown fields, wrong types, what is missing', async () => {
    const web = deployment('checked');
    const [container] = web.spec.template.spec.containers;
    const withSpec = (more: object): object => ({ ...web, spec: { ...web.spec, ...more } });
    const withContainers = (containers: unknown): object =>
      withSpec({ template: { ...web.spec.template, spec: { ...web.spec.template.spec, containers } } });
    const { selector: _selector, ...noSelector } = web.spec;
    const wrong: readonly (readonly [object, string])[] = [
      [withContainers([{ ...container, imagine: 'x' }]), 'unknown field "imagine" in io.k8s.api.core.v1.Container'],
      [withSpec({ replicas: 'many' }), 'invalid type for io.k8s.api.apps.v1.DeploymentSpec.replicas: got "string", expected "integer"'],
      [withContainers({ name: 'web' }), 'invalid type for io.k8s.api.core.v1.PodSpec.containers: got "map", expected "array"'],
      [withContainers([{ image: 'i' }]), 'missing required field "name" in io.k8s.api.core.v1.Container'],
      [{ ...web, spec: noSelector }, 'missing required field "selector" in io.k8s.api.apps.v1.DeploymentSpec'],
    ];
    // One file each, of one command: it refuses each, and goes on with the next.
    const files = wrong.map(([object], i) => {
      const file = join(server.dataDir, `wrong-${i}.json`);
      writeFileSync(file, jsonText(object));
      return file;
    });
    const { code, stdout, stderr } = await kubectl.run(within('create', '--dry-run=client', ...files.flatMap((file) => ['-f', file])));
    expect([code, stdout]).toEqual([1, '']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(wrong.length);
    for (const [i, [, text]] of wrong.entries()) {
      expect(lines[i]).toContain(`error validating "${files[i]}"`);
      expect(lines[i]).toContain(text);
    }
    const [unknown, text] = wrong[0] as (typeof wrong)[number];
    expect((await kubectl.run(within('create', '--dry-run=client', '--validate=false', '-f', '-'), unknown)).stderr).not.toContain(text);
    expect(await kubectl.ok(within('create', '--dry-run=client', '-o', 'name', '-f', '-'), web)).toBe('deployment.apps/checked\n');
  });

  test('auth, and tokens of an account', async () => {
    await kubectl.ok(within('create', 'sa', 'robot'));
    await kubectl.ok(within('create', 'rolebinding', 'robots', '--clusterrole=view', `--serviceaccount=${ns}:robot`));
    const robot = `--as=system:serviceaccount:${ns}:robot`;
    expect(await kubectl.ok(within('auth', 'can-i', 'list', 'configmaps', robot))).toBe('yes\n');
    expect((await kubectl.run(within('auth', 'can-i', 'create', 'configmaps', robot))).stdout).toBe('no\n');
    expect(await kubectl.ok(within('auth', 'can-i', '--list', robot))).toMatch(/^configmaps +\[\] +\[\] +\[get list watch\]/m);
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'reconciled' } };
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
    expect(await kubectl.ok(within('auth', 'reconcile', '-f', '-'), { ...role, rules })).toContain('reconciled');
    // This kubectl has no `create token`; it can post to any address.
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
    const made = await kubectl.ok(['create', '--raw', `/api/v1/namespaces/${ns}/serviceaccounts/robot/token`, '-f', '-'], request);
    const config = join(server.dataDir, 'token.conf');
    writeFileSync(config, readFileSync(server.running.adminConfigPath, 'utf8').replace(/client-certificate-data: .*\n.*\n/, 'token: x\n'));
    const token = `--token=${JSON.parse(made).status.token}`;
    expect(await kubectl.ok(within('get', 'cm', '-o', 'name', token, '--kubeconfig', config))).toContain('configmap/');
    expect((await kubectl.run(within('create', 'cm', 'x', token, '--kubeconfig', config))).stderr).toContain(`:${ns}:robot" cannot create`);
  });

  test('credential plug-ins, with a token and with a certificate', async () => {
    const config = await writeConfig(server, ns, 'client.authentication.k8s.io/v1beta1');
    const as = (context: string, ...args: string[]) => kubectl.run(within('--kubeconfig', config, '--context', context, ...args));
    expect((await as('plugin', 'create', 'cm', 'alices')).stdout).toBe('configmap/alices created\n');
    expect((await as('plugin', 'get', 'nodes')).stderr).toContain('User "alice" cannot list resource "nodes"');
    expect((await as('plugin-certificate', 'get', 'cm', 'alices', '-o', 'name')).stdout).toBe('configmap/alices\n');
    expect((await as('plugin-certificate', 'delete', 'cm', 'alices')).stderr).toContain('User "carol" cannot delete');
  });

  test('custom kinds', async () => {
    const group = `${ns}.example.com`;
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
    };
    await kubectl.ok(['create', '-f', '-'], {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await kubectl.ok(['wait', `crd/things.${group}`, '--for=condition=Established', '--timeout=60s']);
    const thing = (size: number) => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 't' }, spec: { size } });
    expect(await kubectl.ok(within('apply', '--validate=false', '-f', '-'), thing(1))).toBe(`thing.${group}/t created\n`);
    expect(await kubectl.ok(within('apply', '--validate=false', '-f', '-'), thing(2))).toBe(`thing.${group}/t configured\n`);
    expect((await kubectl.json(within('get', 'things', 't'))).spec).toEqual({ size: 2 });
    expect(await kubectl.ok(within('delete', 'things', '--all'))).toBe(`thing.${group} "t" deleted\n`);
  });

  test('a namespace goes with what is in it', async () => {
    await kubectl.ok(['create', 'ns', 'short-lived']);
    await kubectl.ok(['-n', 'short-lived', 'create', 'cm', 'a']);
    expect(await kubectl.ok(['delete', 'ns', 'short-lived', '--timeout=60s'])).toBe('namespace "short-lived" deleted\n');
  });
});

test.skipIf(missing !== undefined)(
  `kubectl 1.20 on a server with names of its own (${missing ?? 'found'})`,
  { timeout: 120_000 },
  async () => {
    const server = await startTestServer({ identity: 'plat' });
    const kubectl = kubectlFor(server, {}, oldKubectl);
    try {
      expect(await kubectl.ok(['get', 'ns'])).toMatch(/^NAME +STATUS +AGE\ndefault +Active/);
      expect(await kubectl.ok(['get', 'clusterroles.rbac.authorization.plat.dev', 'view', '-o', 'name'])).toBe(
        'clusterrole.rbac.authorization.plat.dev/view\n',
      );
      expect(await kubectl.ok(['apply', '-f', '-'], configMap('b', { k: 'v' }))).toBe('configmap/b created\n');
      expect(await kubectl.ok(['explain', 'pods.spec'])).toContain('KIND:     Pod');
      expect(await kubectl.ok(['delete', 'cm', 'b'])).toBe('configmap "b" deleted\n');
    } finally {
      await server.close();
    }
  },
);
