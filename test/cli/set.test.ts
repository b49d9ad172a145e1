import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

// These commands take the names of groups from the server, so that one identity shows what they do.
describe('set', () => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  const group = `${unique('g')}.example.com`;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath], 'kubectl');
    ns = await server.namespace();
    await server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, deployment('web'));
  });
  const template = (name: string) => ({
    metadata: { labels: { app: name } },
    spec: {
      containers: [
        {
          name: 'a',
          image: 'x',
          env: [
            { name: 'OLD', value: '1' },
            { name: 'KEEP', value: '2' },
          ],
        },
        { name: 'b', image: 'y' },
      ],
    },
  });
  const deployment = (name: string) => ({
    metadata: { name },
    spec: { selector: { matchLabels: { app: name } }, template: template(name) },
  });
  const read = async (name = 'web') => server.admin.ok('GET', `/apis/apps/v1/namespaces/${ns}/deployments/${name}`);
  const containers = async () => (await read()).spec.template.spec.containers;
  const set = (...args: string[]) => plat.ok(['set', ...args, '-n', ns]);

  test('image: only the named container changes, and the manager owns its image alone', async () => {
    expect(await set('image', 'deployment/web', 'b=z')).toBe('deployment.apps/web image updated\n');
    expect((await containers()).map(({ image }: { image: string }) => image)).toEqual(['x', 'z']);
    const { managedFields } = (await read()).metadata;
    const owned = managedFields.find(({ manager }: { manager: string }) => manager === 'kubectl-set').fieldsV1;
    expect(owned['f:spec']['f:template']['f:spec']['f:containers']).toEqual({ 'k:{"name":"b"}': { 'f:image': {} } });
    expect(await set('image', 'deployment/web', 'b=z')).toBe('');
    expect(await set('image', 'deployments', '--all', '*=w', '--dry-run=server')).toBe(
      'deployment.apps/web image updated (server dry run)\n',
    );
    expect(await plat.run(['set', 'image', 'deployment/web', 'c=z', '-n', ns])).toMatchObject({ code: 1, stdout: '' });
  });

  test('env: set, remove, import, list, resolve', async () => {
    await plat.ok(['create', 'configmap', 'conf', '--from-literal=log.level=debug', '--from-literal=x=1', '-n', ns]);
    await plat.ok(['create', 'secret', 'generic', 'login', '--from-literal=PASSWORD=p', '-n', ns]);
    expect(await set('env', 'deploy/web', 'NEW=3', 'OLD-', '-c', 'a')).toBe('deployment.apps/web env updated\n');
    expect(await containers()).toMatchObject([
      {
        env: [
          { name: 'KEEP', value: '2' },
          { name: 'NEW', value: '3' },
        ],
      },
      { name: 'b' },
    ]);
    const imported = await plat.run([
      'set',
      'env',
      'deploy/web',
      '--from=configmap/conf',
      '--keys=log.level',
      '--prefix=P_',
      '-c',
      'b',
      '-n',
      ns,
    ]);
    expect(imported).toEqual({
      code: 0,
      stdout: 'deployment.apps/web env updated\n',
      stderr: 'warning: key log.level transferred to LOG_LEVEL\n',
    });
    await set('env', 'deploy/web', '--from=secret/login', '-c', 'b');
    expect(await set('env', 'deploy/web', '--list', '-c', 'b')).toBe(
      '# Deployment web, container b\n# P_LOG_LEVEL from configmap conf, key log.level\n# PASSWORD from secret login, key PASSWORD\n',
    );
    expect(await set('env', 'deploy/web', '--list', '--resolve', '-c', 'b')).toBe(
      '# Deployment web, container b\nP_LOG_LEVEL=debug\nPASSWORD=p\n',
    );
    expect(await plat.run(['set', 'env', 'deploy/web', 'KEEP=9', '--overwrite=false', '-n', ns])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'KEEP' already has a value (2), and --overwrite is false"),
    });
    await server.admin.ok('DELETE', `/api/v1/namespaces/${ns}/secrets/login`);
    expect(await plat.run(['set', 'env', 'deploy/web', '--list', '--resolve', '-c', 'b', '-n', ns])).toMatchObject({
      code: 1,
      stdout: '# Deployment web, container b\nP_LOG_LEVEL=debug\n# PASSWORD from secret login, key PASSWORD\n',
    });
    await set('env', 'deploy/web', 'P_LOG_LEVEL-', 'PASSWORD-');
    expect((await containers())[1].env).toBeUndefined();
  });

  test('resources, serviceaccount', async () => {
    expect(await set('resources', 'deploy/web', '--limits=cpu=1,memory=1Gi', '--requests=cpu=100m')).toBe(
      'deployment.apps/web resource requirements updated\n',
    );
    await set('resources', 'deploy/web', '--limits=cpu=2', '-c', 'b');
    expect((await containers()).map(({ resources }: { resources: object }) => resources)).toEqual([
      { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m' } },
      { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '100m' } },
    ]);
    expect(await set('serviceaccount', 'deployment', 'web', 'robot')).toBe('deployment.apps/web serviceaccount updated\n');
    expect((await read()).spec.template.spec.serviceAccountName).toBe('robot');
  });

  test('selector, subject', async () => {
    await plat.ok(['create', 'service', 'clusterip', 's', '--tcp=80', '-n', ns]);
    expect(await set('selector', 'service', 's', 'a=b')).toBe('service/s selector updated\n');
    expect((await server.admin.ok('GET', `/api/v1/namespaces/${ns}/services/s`)).spec.selector).toEqual({ a: 'b' });
    expect(await plat.run(['set', 'selector', 'service', 's', 'a=c', '--resource-version=1', '-n', ns])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Conflict'),
    });
    await plat.ok(['create', 'rolebinding', 'b', '--clusterrole=view', '--user=ann', '-n', ns]);
    const rbac = `rbac.authorization.${server.identity.groupSuffix}`;
    expect(await set('subject', 'rolebinding', 'b', '--user=ann', '--group=dev', '--serviceaccount=:robot')).toBe(
      `rolebinding.${rbac}/b subjects updated\n`,
    );
    const { subjects } = await server.admin.ok('GET', `/apis/${rbac}/v1/namespaces/${ns}/rolebindings/b`);
    expect(subjects.map(({ kind, name, namespace }: Record<string, string>) => [kind, name, namespace])).toEqual([
      ['User', 'ann', undefined],
      ['Group', 'dev', undefined],
      ['ServiceAccount', 'robot', ns],
    ]);
    expect(await set('subject', 'rolebinding', 'b', '--user=ann')).toBe('');
  });

  test('custom kinds with a pod template, by a merge patch', async () => {
    const schema = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
    await define(server, definitionOf(server, group, 'Bed', [{ schema }]));
    const path = `/apis/${group}/v1/namespaces/${ns}/beds`;
    await server.admin.ok('POST', path, {
      apiVersion: `${group}/v1`,
      kind: 'Bed',
      metadata: { name: 'b' },
      spec: { template: template('b') },
    });
    expect(await set('image', 'bed/b', 'b=z')).toBe(`bed.${group}/b image updated\n`);
    expect((await server.admin.ok('GET', `${path}/b`)).spec.template.spec.containers[1].image).toBe('z');
  });

  test('--record keeps the command line', async () => {
    const { code, stderr } = await plat.run(['set', 'image', 'deploy/web', 'a=z', '--record', '-n', ns]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'Flag --record has been deprecated, --record will be removed in the future\n' });
    const { annotations } = (await read()).metadata;
    expect(annotations[`${server.identity.domain}/change-cause`]).toBe(`kubectl set image deploy/web a=z --record=true --namespace=${ns}`);
  });
});
