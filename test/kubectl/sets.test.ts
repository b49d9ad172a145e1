/** The stock kubectl reads the revisions that the controllers of sets keep, and rolls back to them. No pod is needed for it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../controllers/support.ts';
import { type Kubectl, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const labels = { app: 'x' };
const containers = [{ name: 'main', image: 'one' }];
const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
const sets = {
  statefulset: {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web' },
    spec: { ...spec, serviceName: 'web', replicas: 0 },
  },
  daemonset: { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'web' }, spec },
};

describe.skipIf(kubectlMissing !== undefined)(`kubectl rollout of sets (${kubectlMissing ?? 'found'})`, () => {
  let server: TestServer;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', controllers: ['*'], workloads: ['controllers'] });
    kubectl = kubectlFor(server);
  });
  afterAll(() => server.close());

  test.each(Object.keys(sets) as (keyof typeof sets)[])('%s', async (kind) => {
    const ns = await server.namespace();
    const within = (...args: string[]): string[] => ['-n', ns, ...args];
    const path = `/apis/apps/v1/namespaces/${ns}/${kind}s/web`;
    const observed = (generation: number): Promise<Loose> =>
      until('the controller has seen the set', async () => {
        const set = await server.admin.ok('GET', path);
        return set.status.observedGeneration === generation && set;
      });
    await server.admin.ok('POST', path.slice(0, -'/web'.length), sets[kind]);
    await observed(1);
    await server.admin.patch(path, { spec: { template: { spec: { containers: [{ ...containers[0], image: 'two' }] } } } });
    await observed(2);
    const history = await kubectl.ok(within('rollout', 'history', `${kind}/web`));
    expect(history.match(/^\d+/gm)).toEqual(['1', '2']);
    expect(await kubectl.ok(within('rollout', 'history', `${kind}/web`, '--revision=1'))).toContain('one');
    expect(await kubectl.ok(within('rollout', 'undo', `${kind}/web`))).toContain('rolled back');
    expect((await observed(3)).spec.template.spec.containers[0].image).toBe('one');
    // The first revision is used again as the third, and has the bytes that kubectl makes of the template itself.
    expect(await kubectl.ok(within('rollout', 'undo', `${kind}/web`, '--to-revision=3'))).toContain('skipped rollback');
  });
});
