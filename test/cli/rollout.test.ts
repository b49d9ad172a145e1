/** Rollouts: no controller rolls anything out here, the test writes what one would. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let plat: Plat;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: [] });
  plat = platFor(server);
  ns = await server.namespace();
});
afterAll(() => server.close());

const template = (image: string, hash?: string): Loose => ({
  metadata: { labels: { app: 'web', ...(hash !== undefined && { 'pod-template-hash': hash }) } },
  spec: { containers: [{ name: 'main', image }] },
});
const path = (type: string, name = ''): string => `/apis/apps/v1/namespaces/${ns}/${type}${name === '' ? '' : `/${name}`}`;
const revisionAnnotation = 'deployment.kubernetes.io/revision';
const owner = (of: Loose, kind: string): Loose => [
  { apiVersion: 'apps/v1', kind, name: of.metadata.name, uid: of.metadata.uid, controller: true },
];

async function deployment(name: string, images: readonly string[]): Promise<Loose> {
  const made = await server.admin.ok('POST', path('deployments'), {
    metadata: { name, labels: { app: name }, annotations: { [revisionAnnotation]: `${images.length}` } },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: template(images.at(-1) as string) },
  });
  for (const [i, image] of images.entries()) {
    const annotations: Loose = { [revisionAnnotation]: `${i + 1}`, 'kubernetes.io/change-cause': i === 0 ? `made ${name}` : '' };
    if (i > 0) delete annotations['kubernetes.io/change-cause'];
    await server.admin.ok('POST', path('replicasets'), {
      metadata: { name: `${name}-${i}`, labels: { app: 'web' }, annotations, ownerReferences: owner(made, 'Deployment') },
      spec: { selector: { matchLabels: { app: 'web' } }, template: template(image, `h${i}`) },
    });
  }
  return made;
}
async function daemonSet(name: string, images: readonly string[]): Promise<Loose> {
  const made = await server.admin.ok('POST', path('daemonsets'), {
    metadata: { name },
    spec: { selector: { matchLabels: { app: 'web' } }, template: template(images.at(-1) as string) },
  });
  for (const [i, image] of images.entries())
    await server.admin.ok('POST', path('controllerrevisions'), {
      metadata: { name: `${name}-${i}`, labels: { app: 'web' }, ownerReferences: owner(made, 'DaemonSet') },
      data: { spec: { template: { ...(i === images.length - 1 ? made.spec.template : template(image)), $patch: 'replace' } } },
      revision: i + 1,
    });
  return made;
}
const rollout = (...args: string[]) => plat.run(['rollout', ...args, '-n', ns]);

test('pause, resume and restart', async () => {
  await deployment('one', ['a:1']);
  expect(await rollout('pause', 'deployment/one')).toEqual({ code: 0, stdout: 'deployment.apps/one paused\n', stderr: '' });
  expect((await rollout('pause', 'deployment/one')).stderr).toContain('is already paused');
  expect(await rollout('restart', 'deployment', 'one')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("can't restart paused deployment"),
  });
  expect(await rollout('undo', 'deployment/one')).toMatchObject({ code: 1 });
  expect((await rollout('resume', 'deployment/one')).stdout).toBe('deployment.apps/one resumed\n');
  expect((await rollout('resume', 'deployment/one')).stderr).toContain('is not paused');
  expect((await rollout('restart', 'deployment', '-l', 'app=one')).stdout).toBe('deployment.apps/one restarted\n');
  const { metadata, spec } = await server.admin.ok('GET', path('deployments', 'one'));
  expect(spec.paused).toBeUndefined();
  expect(spec.template.metadata.annotations['kubectl.kubernetes.io/restartedAt']).toMatch(/^\d{4}-\d\d-\d\dT[\d:]+Z$/);
  expect(metadata.managedFields.map((one: Loose) => one.manager)).toContain('plat');
  expect((await rollout('pause', 'daemonset/none')).stderr).toContain('NotFound');
  expect(await rollout('restart')).toMatchObject({ code: 2, stderr: expect.stringContaining('required resource not specified') });
  expect(await rollout('restart', 'deployment', '-l', 'app=nothing')).toMatchObject({
    code: 0,
    stderr: `No resources found in ${ns} namespace.\n`,
  });
});

test('a type without a name is all of them', async () => {
  await daemonSet('all-a', ['a:1']);
  await daemonSet('all-b', ['a:1']);
  expect((await rollout('restart', 'daemonset')).stdout).toBe('daemonset.apps/all-a restarted\ndaemonset.apps/all-b restarted\n');
});

test('the history of a deployment, and one of its revisions', async () => {
  await deployment('web', ['web:1', 'web:2']);
  expect(await rollout('history', 'deployment/web')).toEqual({
    code: 0,
    stdout: 'deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         made web\n2         <none>\n\n',
    stderr: '',
  });
  const { stdout } = await rollout('history', 'deployment/web', '--revision=1');
  expect(stdout).toMatch(/^deployment\.apps\/web with revision #1\nPod Template:\n {2}Labels:\tapp=web\n\tpod-template-hash=h0\n/);
  expect(stdout).toContain('    Image:\tweb:1\n');
  expect(stdout).toContain('kubernetes.io/change-cause: made web');
  expect(await rollout('history', 'deployment/web', '--revision=9')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('unable to find'),
  });
  await daemonSet('agent', ['agent:1', 'agent:2']);
  expect((await rollout('history', 'ds/agent')).stdout).toBe(
    'daemonset.apps/agent \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>\n\n',
  );
});

test('a rollback goes to the revision before, or to one by its number', async () => {
  await deployment('back', ['back:1', 'back:2', 'back:3']);
  const image = async (): Promise<string> =>
    (await server.admin.ok('GET', path('deployments', 'back'))).spec.template.spec.containers[0].image;
  expect((await rollout('undo', 'deployment/back', '--dry-run=client')).stdout).toMatch(
    /^deployment\.apps\/back Pod Template:\n[\s\S]*Image:\tback:2\n/,
  );
  expect((await rollout('undo', 'deployment/back', '--dry-run=server')).stdout).toBe('deployment.apps/back rolled back (server dry run)\n');
  expect(await image()).toBe('back:3');
  expect((await rollout('undo', 'deployment/back')).stdout).toBe('deployment.apps/back rolled back\n');
  expect(await image()).toBe('back:2');
  expect((await rollout('undo', 'deployment/back', '--to-revision=1')).stdout).toBe('deployment.apps/back rolled back\n');
  expect(await image()).toBe('back:1');
  expect((await rollout('undo', 'deployment/back', '--to-revision=1')).stdout).toBe(
    'deployment.apps/back skipped rollback (current template already matches revision 1)\n',
  );
  const { metadata, spec } = await server.admin.ok('GET', path('deployments', 'back'));
  expect(metadata.annotations).toEqual({ [revisionAnnotation]: '3', 'kubernetes.io/change-cause': 'made back' });
  expect(spec.template.metadata.labels).toEqual({ app: 'web' });
});

test('a daemon set is rolled back by the patch of its revision', async () => {
  await daemonSet('undone', ['undone:1', 'undone:2']);
  expect((await rollout('undo', 'ds/undone', '--to-revision=2')).stdout).toContain('skipped rollback');
  expect((await rollout('undo', 'ds/undone')).stdout).toBe('daemonset.apps/undone rolled back\n');
  expect((await server.admin.ok('GET', path('daemonsets', 'undone'))).spec.template.spec.containers[0].image).toBe('undone:1');
});

test('a timeout says whether any controller has observed the workload', async () => {
  await deployment('unseen', ['unseen:1']);
  const status = (): Promise<{ code: number; stderr: string }> => rollout('status', 'deployment/unseen', '--timeout=1ms');
  expect(await status()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not done; no controller of workloads has observed it/),
  });
  await server.admin.patch(`${path('deployments', 'unseen')}/status`, { status: { observedGeneration: 1 } });
  expect(await status()).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not done\n$/) });
});

test('the status is followed until the rollout is done', async () => {
  const { metadata } = await deployment('slow', ['slow:1']);
  const report = async (status: object): Promise<void> => {
    const answer = await server.admin.patch(`${path('deployments', 'slow')}/status`, {
      status: { observedGeneration: metadata.generation, ...status },
    });
    expect(answer.status, answer.text).toBe(200);
  };
  expect(await rollout('status', 'deployment/slow', '--watch=false')).toMatchObject({
    code: 0,
    stdout: 'Waiting for deployment spec update to be observed...\n',
  });
  await report({ updatedReplicas: 1, replicas: 1 });
  const { io, code } = plat.start(['rollout', 'status', 'deployment/slow', '-n', ns]);
  await io.said('1 out of 2');
  await report({ updatedReplicas: 2, replicas: 2, readyReplicas: 1, availableReplicas: 1 });
  await io.said('1 of 2 updated');
  await report({ updatedReplicas: 2, replicas: 2, readyReplicas: 2, availableReplicas: 2 });
  expect(await code).toBe(0);
  expect(io.stdout).toBe(
    'Waiting for deployment "slow" rollout to finish: 1 out of 2 new replicas have been updated...\n' +
      'Waiting for deployment "slow" rollout to finish: 1 of 2 updated replicas are available...\n' +
      'deployment "slow" successfully rolled out\n',
  );
  expect(await rollout('status', 'deployment/slow', '--revision=7')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('desired revision (7)'),
  });
  expect(await rollout('status', 'deployment/absent')).toMatchObject({ code: 1, stderr: expect.stringContaining('NotFound') });
  expect(await rollout('status', 'rs/slow-0')).toMatchObject({ code: 1, stderr: expect.stringContaining('ReplicaSet have no rollouts') });
});
