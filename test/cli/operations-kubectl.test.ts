/** Operations by the stock kubectl and by plat called as kubectl: the same lines, exit codes and objects. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { type Kubectl, kubectlBefore, kubectlFor, kubectlMinor, kubectlMissing } from '../support/kubectl.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

describe.skipIf(kubectlMissing !== undefined)('operations', () => {
  let server: TestServer;
  let kubectl: Kubectl;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: [] });
    kubectl = kubectlFor(server);
    ns = await server.namespace();
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } });
  });
  afterAll(() => server.close());

  async function plat(args: readonly string[], input: string) {
    const io = testIO({ program: 'kubectl', home: server.dataDir, stdin: async () => input });
    const code = await run([...args, '--kubeconfig', server.running.adminConfigPath], io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  }
  const strip = (object: Loose): Loose => {
    const { uid, resourceVersion, creationTimestamp, generation, managedFields, ...metadata } = object.metadata;
    const managers = managedFields?.map(({ manager, operation, subresource }: Loose) => [manager, operation, subresource]).sort();
    return { ...object, metadata: { ...metadata, managers } };
  };
  /** Runs a line by both, each on a world that `begin` makes, and compares what they say and leave behind. */
  async function same(
    line: string,
    { begin = async () => {}, left = [], input = '' }: { begin?: () => Promise<void>; left?: readonly string[]; input?: string } = {},
  ): Promise<string> {
    const args = line.split(' ').map((word) => word.replace('NS', ns));
    const objects = (): Promise<Loose[]> =>
      Promise.all(
        left.map(async (path) => (await server.admin.get(path)).json).map(async (got) => ((await got).metadata ? strip(await got) : {})),
      );
    await begin();
    const theirs = await kubectl.run(args, input);
    const theirObjects = await objects();
    await begin();
    const ours = await plat(args, input);
    expect({ code: ours.code, stdout: ours.stdout }, `${line}\n${theirs.stderr}\n${ours.stderr}`).toEqual({
      code: theirs.code,
      // Pages of templates have these lines since release 1.30.
      stdout: theirs.stdout.replace(/^ {2}(Node-Selectors|Tolerations):.*\n/gm, ''),
    });
    expect(await objects(), line).toEqual(theirObjects);
    return ours.stdout;
  }
  const remove = (path: string): Promise<unknown> => server.admin.send('DELETE', `${path}?gracePeriodSeconds=0`);
  const node = async (): Promise<void> => {
    await remove('/api/v1/nodes/n1');
    await server.admin.ok('POST', '/api/v1/nodes', {
      metadata: { name: 'n1', labels: { zone: 'a' } },
      spec: { taints: [{ key: 'old', effect: 'NoSchedule' }] },
    });
  };
  const left = ['/api/v1/nodes/n1'];

  test('cordon, uncordon and taint', async () => {
    await same('cordon n1', { begin: node, left });
    await same('cordon n1', { left });
    await same('cordon -l zone=a --dry-run=client', { left });
    await same('uncordon n1 --dry-run=server', { left });
    await same('uncordon absent');
    await same('taint nodes n1 k=v:NoExecute', { begin: node, left });
    await same('taint nodes n1 k=v:NoSchedule old-', { begin: node, left });
    await same('taint nodes n1 old:NoExecute --overwrite -o name', { begin: node, left });
    await same('taint nodes --all old- --dry-run=client', { begin: node, left });
    await same('taint nodes n1 nothing-', { begin: node, left });
  });

  test.skipIf(kubectlBefore(24))('drain', async () => {
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const begin = async (): Promise<void> => {
      await node();
      for (const [name, ownerReferences] of [
        ['a', [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'o', uid: 'u', controller: true }]],
        ['b', []],
      ] as const) {
        await remove(`${pods}/${name}`);
        await server.admin.ok('POST', pods, {
          metadata: { name, ownerReferences },
          spec: { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
        });
      }
    };
    const all = [...left, `${pods}/a`, `${pods}/b`];
    await same('drain n1', { begin, left: all });
    await same('drain n1 --force --dry-run=client', { begin, left: all });
    await same('drain n1 --pod-selector=x=y', { begin, left: all });
    await same('drain n1 --disable-eviction --force --grace-period=0 --pod-selector=!nothing', {
      begin: async () => {
        await begin();
        await remove(`${pods}/b`);
      },
      left: all,
    });
  });

  const deployments = (): string => `/apis/apps/v1/namespaces/${ns}/deployments`;
  const deployment = async (): Promise<void> => {
    const sets = `/apis/apps/v1/namespaces/${ns}/replicasets`;
    await remove(`${deployments()}/web`);
    const template = (image: string, hash?: string): Loose => ({
      metadata: { labels: { app: 'web', ...(hash !== undefined && { 'pod-template-hash': hash }) } },
      spec: { containers: [{ name: 'main', image, ports: [{ containerPort: 80 }], env: [{ name: 'A', value: 'b' }] }] },
    });
    const selector = { matchLabels: { app: 'web' } };
    const annotation = 'deployment.kubernetes.io/revision';
    const made = await server.admin.ok('POST', deployments(), {
      metadata: { name: 'web', annotations: { [annotation]: '2' } },
      spec: { replicas: 1, selector, template: template('web:2') },
    });
    await server.admin.patch(`${deployments()}/web/status`, {
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    });
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: made.metadata.uid, controller: true }];
    for (const [i, image] of ['web:1', 'web:2'].entries()) {
      await remove(`${sets}/web-${i}`);
      const metadata = { name: `web-${i}`, labels: { app: 'web' }, annotations: { [annotation]: `${i + 1}` }, ownerReferences };
      await server.admin.ok('POST', sets, { metadata, spec: { selector, template: template(image, `h${i}`) } });
    }
  };

  test.skipIf(kubectlBefore(24))('rollout', async () => {
    const of = { begin: deployment, left: [`${deployments()}/web`] };
    await same('rollout status deployment/web -n NS', of);
    await same('rollout status deployment web -n NS --watch=false');
    await same('rollout history deployment/web -n NS', of);
    await same('rollout history deployment/web -n NS --revision=1');
    await same('rollout history deployment/web -n NS --revision=9');
    await same('rollout pause deployment/web -n NS', of);
    await same('rollout pause deployment/web -n NS');
    await same('rollout resume deployment/web -n NS', of);
    await same('rollout undo deployment/web -n NS', of);
    await same('rollout undo deployment/web -n NS --to-revision=2', of);
    await same('rollout undo deployment/web -n NS --dry-run=server', of);
    await same('rollout restart deployment/absent -n NS');
    await same('rollout restart');
    expect(await same('rollout restart deployment -l app=none -n NS')).toBe('');
  });

  test('auth reconcile and can-i', async () => {
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
    const input = (verbs: string): string =>
      `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: r, namespace: ${ns} }\nrules: [{ apiGroups: [""], resources: [pods], verbs: [${verbs}] }]\n`;
    const begin = async (): Promise<void> => {
      await remove(`${roles}/r`);
      await server.admin.ok('POST', roles, { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] });
    };
    const of = { begin, left: [`${roles}/r`] };
    await same('auth reconcile -f - -n NS', { ...of, input: input('list') });
    await same('auth reconcile -f - -n NS --remove-extra-permissions -o name', { ...of, input: input('list') });
    await same('auth reconcile -f - -n NS --dry-run=client', { ...of, input: input('list') });
    await same('auth can-i get pods -n NS');
    await same('auth can-i get pods -n NS --as nobody');
  });

  test.skipIf(kubectlBefore(24))('explain, in the layout of release 1.24', async () => {
    for (const line of ['pods', 'pod.spec.containers', 'pod.metadata.name', 'deployment.spec --recursive', 'pod.absent']) {
      const args = ['explain', ...line.split(' ')];
      const theirs = await kubectl.run(kubectlMinor === 24 ? args : [...args, '--output=plaintext-openapiv2']);
      const ours = await plat(args, '');
      expect([ours.code, ours.stdout], line).toEqual([theirs.code, theirs.stdout]);
    }
  });

  test.skipIf(kubectlBefore(24))('top without metrics, and other failures', async () => {
    await same('top pod');
    await same('top node');
    await same('drain');
    await same('cordon n1 -l a=b');
    await same('cp a b');
    await same('debug x');
    await same('wait --for=delete pod/absent -n NS');
  });
});
