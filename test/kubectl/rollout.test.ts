/**
 * What kubectl does to workloads step by step: editing, and rolling out. No controller runs that would make replica sets, so
 * the tests write what one would write.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Kubectl, kubectlBefore, kubectlFixture, kubectlFor, kubectlMissing, showManagedFields } from '../support/kubectl.ts';
import type { Loose, TestServer } from '../support/server.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const template = (name: string, image: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'web', image }] },
});
const deployment = (name: string, image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name }, annotations: { [REVISION]: '2' } },
  spec: { replicas: 1, selector: { matchLabels: { app: name } }, template: template(name, image) },
});

describe.skipIf(kubectlMissing !== undefined)(`kubectl, step by step (${kubectlMissing ?? 'found'})`, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  let ns: string;
  const fixture = kubectlFixture();
  beforeAll(() => {
    ({ server, kubectl, ns } = fixture);
  });
  const within = (...args: string[]): string[] => ['-n', ns, ...args];
  const path = (name: string): string => `/apis/apps/v1/namespaces/${ns}/deployments/${name}`;
  const edit = (script: string, ...args: string[]) =>
    kubectlFor(server, { KUBE_EDITOR: `sed -i '${script}'` }).run(within('edit', ...args));

  /** A deployment that went from one image to another, with the replica sets of both. */
  async function rolledOut(name: string): Promise<void> {
    await kubectl.ok(within('create', '-f', '-'), deployment(name, 'example.com/web:2'));
    const { metadata } = await server.admin.ok('GET', path(name));
    for (const revision of ['1', '2']) {
      const { spec, ...made } = template(name, `example.com/web:${revision}`);
      const labels = { app: name, 'pod-template-hash': `h${revision}` };
      await server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/replicasets`, {
        metadata: {
          name: `${name}-h${revision}`,
          labels,
          annotations: { [REVISION]: revision, 'kubernetes.io/change-cause': `image ${revision}` },
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid, controller: true, blockOwnerDeletion: true },
          ],
        },
        spec: { replicas: 0, selector: { matchLabels: labels }, template: { ...made, metadata: { labels }, spec } },
      });
    }
  }

  test('edit: what was changed is sent as a patch, and nothing is sent where nothing was', async () => {
    await kubectl.ok(within('create', '-f', '-'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'edited' },
      data: { a: 'one', b: 'x' },
    });
    expect(await edit('s/one/two/', 'cm', 'edited')).toMatchObject({ code: 0, stdout: 'configmap/edited edited\n' });
    expect((await kubectl.json(within('get', 'cm', 'edited'))).data).toEqual({ a: 'two', b: 'x' });
    expect((await edit('s/absent/x/', 'cm', 'edited')).stderr).toContain('Edit cancelled, no changes made.');
    expect(await edit('/  b: x/d', 'cm', 'edited')).toMatchObject({ stdout: 'configmap/edited edited\n' });
    expect((await kubectl.json(within('get', 'cm', 'edited'))).data).toEqual({ a: 'two' });
    const { metadata } = await kubectl.json(within('get', 'cm', 'edited', ...showManagedFields));
    expect(metadata.managedFields.map((entry: Loose) => entry.manager)).toContain('kubectl-edit');
  });

  test('edit of a workload, and of its status', async () => {
    await kubectl.ok(within('create', '-f', '-'), deployment('drafted', 'example.com/web:1'));
    expect((await edit('s/web:1/web:3/;s/replicas: 1/replicas: 2/', 'deploy', 'drafted')).stdout).toBe('deployment.apps/drafted edited\n');
    expect((await server.admin.ok('GET', path('drafted'))).spec).toMatchObject({
      replicas: 2,
      template: { spec: { containers: [{ image: 'example.com/web:3' }] } },
    });
    if (kubectlBefore(24)) return;
    expect((await edit('s/^status: {}/status: {observedGeneration: 2}/', 'deploy', 'drafted', '--subresource=status')).stdout).toBe(
      'deployment.apps/drafted edited\n',
    );
    expect((await server.admin.ok('GET', path('drafted'))).status).toEqual({ observedGeneration: 2 });
  });

  test('an edit that is refused is shown again and not stored', async () => {
    await kubectl.ok(within('create', '-f', '-'), deployment('kept', 'example.com/web:1'));
    const refused = await edit('s/replicas: 1/replicas: -1/', 'deploy', 'kept');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('deployments.apps "kept" is invalid');
    expect((await server.admin.ok('GET', path('kept'))).spec.replicas).toBe(1);
  });

  test('rollout history and undo', async () => {
    await rolledOut('undone');
    expect(await kubectl.ok(within('rollout', 'history', 'deploy/undone'))).toMatch(/REVISION +CHANGE-CAUSE\n1 +image 1\n2 +image 2\n/);
    expect(await kubectl.ok(within('rollout', 'history', 'deploy/undone', '--revision=1'))).toContain('example.com/web:1');
    expect(await kubectl.ok(within('rollout', 'undo', 'deploy/undone', '--dry-run=server'))).toContain('rolled back (server dry run)');
    expect((await server.admin.ok('GET', path('undone'))).spec.template.spec.containers[0].image).toBe('example.com/web:2');
    expect(await kubectl.ok(within('rollout', 'undo', 'deploy/undone', '--to-revision=1'))).toBe('deployment.apps/undone rolled back\n');
    const { spec, metadata } = await server.admin.ok('GET', path('undone'));
    expect(spec.template).toMatchObject({
      metadata: { labels: { app: 'undone' } },
      spec: { containers: [{ image: 'example.com/web:1' }] },
    });
    expect(metadata.generation).toBe(2);
    expect((await kubectl.run(within('rollout', 'undo', 'deploy/undone', '--to-revision=7'))).stderr).toContain(
      'unable to find specified revision 7',
    );
  });

  test('rollout pause, resume and restart', async () => {
    await kubectl.ok(within('create', '-f', '-'), deployment('held', 'example.com/web:1'));
    expect(await kubectl.ok(within('rollout', 'pause', 'deploy/held'))).toBe('deployment.apps/held paused\n');
    expect((await server.admin.ok('GET', path('held'))).spec.paused).toBe(true);
    expect((await kubectl.run(within('rollout', 'pause', 'deploy/held'))).stderr).toContain('is already paused');
    expect((await kubectl.run(within('rollout', 'restart', 'deploy/held'))).stderr).toContain("can't restart paused deployment");
    expect(await kubectl.ok(within('rollout', 'resume', 'deploy/held'))).toBe('deployment.apps/held resumed\n');
    expect((await server.admin.ok('GET', path('held'))).spec.paused).toBeUndefined();
    expect(await kubectl.ok(within('rollout', 'restart', 'deploy/held'))).toBe('deployment.apps/held restarted\n');
    const { annotations } = (await server.admin.ok('GET', path('held'))).spec.template.metadata;
    expect(annotations['kubectl.kubernetes.io/restartedAt']).toMatch(/^\d{4}-/);
  });

  test('rollout status follows the status until all is done', async () => {
    await kubectl.ok(within('create', '-f', '-'), deployment('followed', 'example.com/web:1'));
    const status = kubectl.start(within('rollout', 'status', 'deploy/followed', '--timeout=100s'));
    await status.line(/^Waiting for deployment/);
    const counts = { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
    expect((await server.admin.patch(`${path('followed')}/status`, { status: counts })).status).toBe(200);
    expect(await status.line(/successfully rolled out$/)).toBe('deployment "followed" successfully rolled out');
    expect((await kubectl.run(within('rollout', 'status', 'deploy/followed', '--watch=false'))).code).toBe(0);
  });
});
