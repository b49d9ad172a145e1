/** The steps of docs/upgrading.md, with a stock kubectl: old manifests, warnings, the metric, a version switched off, the next release. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import type { ApiRelease } from '../../packages/lib/src/version.ts';
import { type Kubectl, kubectlFor, kubectlMinor, kubectlMissing } from '../support/kubectl.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
/** What a chart of long ago may hold: without selectors, in groups and versions that have gone. */
const manifests = {
  apiVersion: 'v1',
  kind: 'List',
  items: [
    { apiVersion: 'extensions/v1beta1', kind: 'Deployment', metadata: { name: 'web' }, spec: { template } },
    { apiVersion: 'apps/v1beta1', kind: 'StatefulSet', metadata: { name: 'db' }, spec: { serviceName: 'db', template } },
    {
      apiVersion: 'extensions/v1beta1',
      kind: 'Ingress',
      metadata: { name: 'web' },
      spec: { backend: { serviceName: 'web', servicePort: 80 } },
    },
    { apiVersion: 'rbac.authorization.k8s.io/v1beta1', kind: 'Role', metadata: { name: 'reader' }, rules: [] },
    {
      apiVersion: 'policy/v1beta1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    },
    {
      apiVersion: 'apiextensions.k8s.io/v1beta1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'lamps.example.com' },
      spec: {
        group: 'example.com',
        version: 'v1',
        scope: 'Namespaced',
        names: { plural: 'lamps', kind: 'Lamp' },
      },
    },
  ],
};

describe.skipIf(kubectlMissing !== undefined)(`an upgrade by kubectl ${kubectlMissing ?? ''}`, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  const open = async (apiRelease: ApiRelease, ...config: string[]): Promise<void> => {
    const changes = { apiRelease, runtimeConfig: readRuntimeConfig(config) };
    server =
      server === undefined
        ? await startTestServer({ identity: 'kubernetes', store: 'lmdb', controllers: ['-*'], ...changes })
        : await server.restart(changes);
    // It remembers what the release before served.
    rmSync(join(server.dataDir, 'kubectl-cache'), { recursive: true, force: true });
    kubectl = kubectlFor(server);
  };
  beforeAll(() => open('1.15'));
  afterAll(() => server.close());

  test('old manifests are applied to the release that they were written for, with warnings', async () => {
    // To validate objects, 1.24 reads definitions of a version that this release does not have.
    const { code, stdout, stderr } = await kubectl.run(['apply', '-f', '-', `--validate=${kubectlMinor !== 24}`], manifests);
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(manifests.items.length);
    expect(stderr).toContain(
      'Warning: extensions/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; use apps/v1 Deployment',
    );
    const deployment = await kubectl.json(['get', 'deployments.v1.apps', 'web']);
    expect(deployment.spec.selector).toEqual({ matchLabels: { app: 'web' } });
    expect((await kubectl.json(['get', 'deployments.v1beta1.extensions', 'web'])).metadata.uid).toBe(deployment.metadata.uid);
  });

  test('the metric names what was used, and the release that removes it', async () => {
    const metrics = await kubectl.ok(['get', '--raw', '/metrics']);
    expect(metrics).toMatch(
      /^apiserver_requested_deprecated_apis\{group="extensions",removed_release="1.16",resource="deployments",subresource="",version="v1beta1"\} 1$/m,
    );
  });

  test('a later release has the objects in the versions that it serves', async () => {
    await open('1.21');
    const versions = (await kubectl.ok(['api-versions'])).trim().split('\n');
    expect(versions).toEqual(expect.arrayContaining(['policy/v1', 'policy/v1beta1', 'rbac.authorization.k8s.io/v1beta1']));
    expect(versions).not.toContain('apps/v1beta1');
    const { stdout, stderr } = await kubectl.run(['get', 'poddisruptionbudgets.v1beta1.policy', '-o', 'name']);
    expect(stdout).toBe('poddisruptionbudget.policy/web\n');
    expect(stderr).toContain(
      'Warning: policy/v1beta1 PodDisruptionBudget is deprecated in v1.21+, unavailable in v1.25+; use policy/v1 PodDisruptionBudget',
    );
  });

  test('a version that is switched off is missed before it is removed', async () => {
    await open('1.21', 'policy/v1beta1=false');
    expect((await kubectl.run(['get', 'poddisruptionbudgets.v1beta1.policy'])).stderr).toContain(`the server doesn't have a resource type`);
    expect(await kubectl.ok(['get', 'pdb', '-o', 'name'])).toBe('poddisruptionbudget.policy/web\n');
  });

  test('the release without them has all objects, and says what to use', async () => {
    await open('1.25');
    expect(await kubectl.ok(['get', 'deploy,sts,ingress,role,pdb,crd', '-o', 'name'])).toBe(
      [
        'deployment.apps/web',
        'statefulset.apps/db',
        'ingress.networking.k8s.io/web',
        'role.rbac.authorization.k8s.io/reader',
        'poddisruptionbudget.policy/web',
        'customresourcedefinition.apiextensions.k8s.io/lamps.example.com',
        '',
      ].join('\n'),
    );
    expect((await kubectl.run(['apply', '-f', '-'], manifests)).stderr).toContain(
      'no matches for kind "Deployment" in version "extensions/v1beta1"',
    );
    const raw = await kubectl.run(['get', '--raw', '/apis/extensions/v1beta1/deployments']);
    expect(raw.stderr).toContain('it was removed in 1.16; use apps/v1, and `plat convert` to convert manifests');
  });

  test('manifests that are checked and converted are applied to the release without their versions', async () => {
    const plat = platFor(server, {}, []);
    expect(await plat.run(['check', '-f', '-', '--to-release', '1.25'], manifests)).toMatchObject({ code: 3 });
    const { code, stdout } = await plat.run(['convert', '-f', '-', '--to-release', '1.25'], manifests);
    expect(code).toBe(3);
    expect(await plat.run(['check', '-f', '-', '--to-release', '1.25'], stdout)).toMatchObject({ code: 0 });
    const before = await kubectl.json(['get', 'deploy', 'web']);
    expect((await kubectl.ok(['apply', '-f', '-'], stdout)).trim().split('\n')).toHaveLength(manifests.items.length);
    expect((await kubectl.json(['get', 'deploy', 'web'])).spec).toEqual(before.spec);
  });

  test('what is still needed is served by name, in an older release and in a newer one', async () => {
    await open('1.25', 'extensions/v1beta1/deployments=true');
    expect(await kubectl.ok(['get', 'deployments.v1beta1.extensions', '-o', 'name'])).toBe('deployment.extensions/web\n');
    await open('1.16');
    expect(await kubectl.ok(['get', 'ingresses.v1beta1.extensions', '-o', 'name'])).toBe('ingress.extensions/web\n');
  });
});
