/** Objects as files, taken to other servers and under other names. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type PlatResult, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';
import { provideSigningKey } from '../support/signing-key.ts';

const cwd = temporaryDirectory('plat-export');
async function plat(...args: string[]): Promise<PlatResult> {
  const io = testIO({ cwd });
  const code = await run(['store', ...args], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await plat(...args);
  if (code !== 0) throw new Error(`plat store ${args.join(' ')}: ${code}\n${stdout}${stderr}`);
  return stdout;
}
const filesIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));

/** A server with one object of many kinds; its suffix and domain are those of the identity. */
async function filled(identity: 'plat' | 'kubernetes', options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ store: 'lmdb', identity, ...options });
  const { admin } = server;
  const { groupSuffix: suffix, domain } = server.identity;
  const rbac = `rbac.authorization.${suffix}`;
  await admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'shop', labels: { [`team.${domain}/name`]: 'x' } } });
  await admin.ok('POST', '/api/v1/namespaces/shop/configmaps', { metadata: { name: 'c' }, data: { text: `${domain}/in-data` } });
  await admin.ok('POST', '/api/v1/namespaces/shop/secrets', {
    metadata: { name: 's' },
    type: `${domain}/basic-auth`,
    stringData: { username: 'u', password: 'p' },
  });
  await admin.ok('POST', '/apis/apps/v1/namespaces/shop/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { nodeSelector: { [`${domain}/os`]: 'linux' }, containers: [{ name: 'c', image: 'i', args: [`${domain}/arg`] }] },
      },
    },
  });
  await admin.ok('POST', `/apis/${rbac}/v1/namespaces/shop/roles`, {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [`networking.${suffix}`], resources: ['ingresses'], verbs: ['get'] }],
  });
  await admin.ok('POST', `/apis/${rbac}/v1/namespaces/shop/rolebindings`, {
    metadata: { name: 'b' },
    roleRef: { apiGroup: rbac, kind: 'Role', name: 'r' },
    subjects: [{ kind: 'ServiceAccount', name: 'x', namespace: server.identity.namespaces.system }],
  });
  await admin.ok('POST', `/apis/apiextensions.${suffix}/v1/customresourcedefinitions`, {
    metadata: { name: 'seeds.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'seeds', singular: 'seed', kind: 'Seed', listKind: 'SeedList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
          },
        },
      ],
    },
  });
  const seeds = '/apis/example.com/v1/namespaces/shop/seeds';
  for (let status = 404; status === 404; ) {
    ({ status } = await admin.post(seeds, { apiVersion: 'example.com/v1', kind: 'Seed', metadata: { name: 'one' }, spec: { size: 3 } }));
  }
  return server;
}

async function expectFilled(server: TestServer): Promise<void> {
  const { admin } = server;
  const { groupSuffix: suffix, domain } = server.identity;
  const rbac = `rbac.authorization.${suffix}`;
  const namespace = await admin.ok('GET', '/api/v1/namespaces/shop');
  expect(namespace.metadata.labels[`team.${domain}/name`]).toBe('x');
  expect((await admin.ok('GET', '/api/v1/namespaces/shop/secrets/s')).type).toBe(`${domain}/basic-auth`);
  expect((await admin.ok('GET', `/apis/${rbac}/v1/namespaces/shop/roles/r`)).rules[0].apiGroups).toEqual([`networking.${suffix}`]);
  const binding = await admin.ok('GET', `/apis/${rbac}/v1/namespaces/shop/rolebindings/b`);
  expect(binding.roleRef.apiGroup).toBe(rbac);
  expect(binding.subjects[0].namespace).toBe(server.identity.namespaces.system);
  const deployment = await admin.ok('GET', '/apis/apps/v1/namespaces/shop/deployments/web');
  expect(deployment.spec.template.spec.nodeSelector).toEqual({ [`${domain}/os`]: 'linux' });
  expect((await admin.ok('GET', '/apis/example.com/v1/namespaces/shop/seeds/one')).spec).toEqual({ size: 3 });
}

for (const identity of ['plat', 'kubernetes'] as const) {
  describe(`from ${identity}`, () => {
    let source: TestServer;
    let manifests: string;
    beforeAll(async () => {
      source = await filled(identity);
      const cli = platFor(source);
      await cli.ok(['store', 'export', '--to', 'objects']);
      manifests = join(cli.cwd, 'objects');
    });
    afterAll(() => source.close());

    test('files are private, in the order of their making, and have nothing that the server set', () => {
      const files = filesIn(manifests);
      expect(files).toContain('0-namespaces/namespace/shop.yaml');
      expect(files).toContain('4-objects/shop/deployment.apps/web.yaml');
      expect(files.filter((name) => name.includes('clusterrole'))).toEqual([]);
      for (const name of files) {
        const text = readFileSync(join(manifests, name), 'utf8');
        expect(text).not.toMatch(/^ {2}(uid|resourceVersion|creationTimestamp|managedFields):/m);
        expect(statSync(join(manifests, name)).mode & 0o077).toBe(0);
      }
    });

    for (const other of ['plat', 'kubernetes'] as const) {
      test(`into a new directory under the identity ${other}${other === identity ? ', twice' : ''}`, async () => {
        const dataDir = temporaryDirectory('plat-import');
        provideSigningKey(dataDir);
        const said = JSON.parse(await ok('import', '--from', manifests, '--data-dir', dataDir, '--identity', other, '-o', 'json'));
        expect(said).toEqual({ made: filesIn(manifests).length, failed: 0 });
        // What is there already is found whatever the names.
        if (other === identity)
          expect(
            JSON.parse(await ok('import', '--from', manifests, '--data-dir', dataDir, '--identity', other, '-o', 'json')),
          ).toMatchObject({
            failed: 0,
          });
        const server = await startTestServer({ store: 'lmdb', dataDir, identity: other, direct: true });
        try {
          await expectFilled(server);
          // Content that is not the API's is left alone.
          const domain = source.identity.domain;
          expect((await server.admin.ok('GET', '/api/v1/namespaces/shop/configmaps/c')).data.text).toBe(`${domain}/in-data`);
          const web = await server.admin.ok('GET', '/apis/apps/v1/namespaces/shop/deployments/web');
          expect(web.spec.template.spec.containers[0].args).toEqual([`${domain}/arg`]);
          expect(server.errors).toEqual([]);
        } finally {
          await server.close();
        }
      });
    }

    if (identity === 'kubernetes')
      test.skipIf(kubectlMissing !== undefined)('kubectl applies the directory to an empty server', async () => {
        const target = await startTestServer({ identity: 'kubernetes' });
        try {
          const kubectl = kubectlFor(target);
          await kubectl.run([
            'apply',
            '--server-side',
            '--force-conflicts',
            '-R',
            '-f',
            join(manifests, '0-namespaces'),
            '-f',
            join(manifests, '1-definitions'),
          ]);
          await kubectl.ok(['wait', '--for=condition=Established', 'crd/seeds.example.com', '--timeout=100s']);
          await kubectl.ok(['apply', '--server-side', '--force-conflicts', '-R', '-f', manifests]);
          await expectFilled(target);
          expect(await kubectl.json(['get', 'deployment', 'web', '-n', 'shop'])).toMatchObject({ spec: { replicas: 2 } });
        } finally {
          await target.close();
        }
      });

    test('lines of a backup, with everything in them, are imported into a running server', async () => {
      const cli = platFor(source);
      await cli.ok(['store', 'backup', '--to', 'a.backup']);
      const lines = join(cwd, `${identity}.jsonl`);
      await ok('export', '--from', join(cli.cwd, 'a.backup'), '--to', lines, '--format', 'json-lines', '--all', '--keep-server-fields');
      const objects = readFileSync(lines, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'web').metadata.uid).toMatch(/-/);
      expect(objects.some(({ kind }) => kind === 'ClusterRole')).toBe(true);
      const few = join(cwd, `${identity}-few.jsonl`);
      await ok('export', '--from', join(cli.cwd, 'a.backup'), '--to', few, '--format', 'json-lines');
      const target = await startTestServer({ store: 'memory', identity });
      try {
        await platFor(target).ok(['store', 'import', '--from', few]);
        await expectFilled(target);
      } finally {
        await target.close();
      }
    });
  });
}

test('what is encrypted is exported with the keys, and named without them', async () => {
  const config = join(cwd, 'encryption.yaml');
  writeFileSync(
    config,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [secrets]\n  providers:\n  - aesgcm:\n      keys:\n      - name: k\n        secret: ${randomBytes(32).toString('base64')}\n  - identity: {}\n`,
    { mode: 0o600 },
  );
  const source = await filled('kubernetes', { encryptionProviderConfig: config });
  const cli = platFor(source);
  const said = JSON.parse(await cli.ok(['store', 'backup', '--to', 'sealed.backup', '-o', 'json']));
  expect(said.encrypted).toBeGreaterThan(0);
  const backup = join(cli.cwd, 'sealed.backup');
  expect(readFileSync(backup).includes(`${Buffer.from('p').toString('base64')}"`)).toBe(false);
  await source.close();
  const without = await plat('export', '--from', backup, '--to', 'without');
  expect([without.code, without.stderr]).toEqual([3, expect.stringContaining('core/secrets/shop/s')]);
  expect(existsSync(join(cwd, 'without/3-settings/shop/secret/s.yaml'))).toBe(false);
  await ok('export', '--from', backup, '--to', 'with', '--encryption-provider-config', config);
  expect(readFileSync(join(cwd, 'with/3-settings/shop/secret/s.yaml'), 'utf8')).toContain('password: cA==');
  // A restored store needs the same keys, and is read with them.
  const target = await startTestServer({ store: 'memory', identity: 'kubernetes', restoreFrom: backup, encryptionProviderConfig: config });
  try {
    expect((await target.admin.ok('GET', '/api/v1/namespaces/shop/secrets/s')).data.password).toBe('cA==');
  } finally {
    await target.close();
  }
});

test('an export that fails leaves nothing, and one that is there is kept', async () => {
  writeFileSync(join(cwd, 'broken.backup'), 'platbkup');
  expect((await plat('export', '--from', 'broken.backup', '--to', 'nothing')).code).toBe(1);
  expect(readdirSync(cwd).filter((name) => name.startsWith('nothing'))).toEqual([]);
  expect((await plat('export', '--from', 'broken.backup', '--to', 'broken.backup')).code).toBe(2);
  expect((await plat('import', '--from', 'nowhere')).code).toBe(2);
  expect((await plat('import', '--from', 'broken.backup', '--identity', 'plat')).code).toBe(2);
});
