/** Workloads by the stock kubectl: create, roll out, undo, scale, drain, run, logs, exec, jobs and sets, with no container. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kubectl, kubectlBefore, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe.skipIf(kubectlMissing)('stock kubectl', () => {
  let server: TestServer;
  let kubectl: Kubectl;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', store: 'memory', workloads: ['controllers', 'scheduler', 'nodes'] });
    kubectl = kubectlFor(server);
  });
  afterAll(async () => {
    await server.close();
    expect(server.errors).toEqual([]);
  });
  const wait = '--timeout=90s';

  test('a deployment: create, rollout status, set image, undo, scale', async () => {
    const { ok, json } = kubectl;
    await ok(['create', 'deployment', 'web', '--image=web:1', '--replicas=3']);
    expect(await ok(['rollout', 'status', 'deployment/web', wait])).toContain('deployment "web" successfully rolled out');
    await ok(['set', 'image', 'deployment/web', 'web=web:2']);
    expect(await ok(['rollout', 'status', 'deployment/web', wait])).toContain('successfully rolled out');
    expect(await ok(['rollout', 'history', 'deployment/web'])).toMatch(/^1 .*\n2 /m);
    await ok(['rollout', 'undo', 'deployment/web']);
    await ok(['rollout', 'status', 'deployment/web', wait]);
    expect((await json(['get', 'deployment', 'web', '-o', 'json'])).spec.template.spec.containers[0].image).toBe('web:1');
    await ok(['scale', 'deployment/web', '--replicas=5']);
    await expect.poll(() => ok(['get', 'deployment/web', '-o', 'jsonpath={.status.availableReplicas}'])).toBe('5');
    await ok(['delete', 'deployment', 'web', '--cascade=foreground', wait]);
    await expect.poll(() => ok(['get', 'pods', '--selector=app=web', '-o', 'name'])).toBe('');
  });

  test('a pod: run, logs, exec, top', async () => {
    const { ok, run } = kubectl;
    await ok(['run', 'one', '--image=one', '--env=COLOUR=blue']);
    await ok(['wait', 'pod/one', '--for=condition=Ready', wait]);
    expect(await ok(['logs', 'one'])).not.toBe('');
    expect(await ok(['exec', 'one', '--', 'echo', 'hello'])).toBe('hello\n');
    expect(await ok(['exec', 'one', '--', 'env'])).toContain('COLOUR=blue\n');
    expect((await run(['exec', 'one', '--', 'false'])).code).toBe(1);
    expect(await ok(['top', 'pods'])).toMatch(/^one +\d+m +\d+Mi/m);
    expect(await ok(['top', 'nodes'])).toMatch(/^\S+ +\d+m +\d+%/m);
    await ok(['delete', 'pod', 'one', wait]);
  });

  test('a deployment is scaled by its usage, as top shows it', async () => {
    const { ok, run } = kubectl;
    await ok(['create', 'deployment', 'busy', '--image=busy']);
    await ok(['set', 'resources', 'deployment/busy', '--requests=cpu=100m']);
    await ok(['rollout', 'status', 'deployment/busy', wait]);
    await expect.poll(async () => (await run(['top', 'pods', '--selector=app=busy'])).stdout).toMatch(/^busy-\S+ +\d+m/m);
    // Less than any usage of a pod.
    await ok(['autoscale', 'deployment/busy', '--min=2', '--max=3', '--cpu-percent=1']);
    await expect.poll(() => ok(['get', 'deployment/busy', '-o', 'jsonpath={.spec.replicas}'])).toBe('3');
    await ok(['delete', 'hpa,deployment', 'busy', wait]);
  });

  test('a drain moves the pods of a node, and a budget holds it back', async () => {
    const { ok, run, json } = kubectl;
    await ok(['create', 'deployment', 'moved', '--image=moved', '--replicas=2']);
    await ok(['rollout', 'status', 'deployment/moved', wait]);
    await ok(['create', 'pdb', 'moved', '--selector=app=moved', '--min-available=2']);
    await expect.poll(() => ok(['get', 'pdb/moved', '-o', 'jsonpath={.status.expectedPods}'])).toBe('2');
    const pods = await json(['get', 'pods', '--selector=app=moved', '-o', 'json']);
    const node = pods.items[0].spec.nodeName;
    const blocked = await run(['drain', node, '--timeout=5s', '--ignore-daemonsets', '--force']);
    expect([blocked.code, blocked.stderr]).toEqual([1, expect.stringContaining("violate the pod's disruption budget")]);
    await ok(['delete', 'pdb', 'moved']);
    await ok(['drain', node, '--ignore-daemonsets', '--force', wait]);
    await ok(['rollout', 'status', 'deployment/moved', wait]);
    const after = await json(['get', 'pods', '--selector=app=moved', '-o', 'json']);
    const running = after.items.filter(
      ({ metadata }: { metadata: { deletionTimestamp?: string } }) => metadata.deletionTimestamp === undefined,
    );
    expect(running.map(({ spec }: { spec: { nodeName: string } }) => spec.nodeName)).not.toContain(node);
    expect((await json(['get', 'node', node, '-o', 'json'])).spec.unschedulable).toBe(true);
    await ok(['uncordon', node]);
    expect((await json(['get', 'node', node, '-o', 'json'])).spec.unschedulable).toBeUndefined();
    await ok(['delete', 'deployment', 'moved', wait]);
  });

  // Earlier releases know cron jobs of v1beta1 alone.
  test.skipIf(kubectlBefore(21))('a job of a cron job completes', async () => {
    const { ok } = kubectl;
    await ok(['create', 'cronjob', 'daily', '--image=job', '--schedule=0 0 1 1 *']);
    await ok(['create', 'job', 'now', '--from=cronjob/daily']);
    await ok(['wait', 'job/now', '--for=condition=Complete', wait]);
  });

  test('a job completes, and a stateful set is updated in order', async () => {
    const { ok } = kubectl;
    await ok(['create', 'job', 'once', '--image=job']);
    await ok(['wait', 'job/once', '--for=condition=Complete', wait]);
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        serviceName: 'db',
        replicas: 2,
        selector: { matchLabels: { app: 'db' } },
        template: { metadata: { labels: { app: 'db' } }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
      },
    };
    await ok(['apply', '-f', '-'], set);
    expect(await ok(['rollout', 'status', 'statefulset/db', wait])).toContain('partitioned roll out complete: 2 new pods');
    await ok(['set', 'image', 'statefulset/db', 'db=db:2']);
    await ok(['rollout', 'status', 'statefulset/db', wait]);
    await ok(['delete', 'statefulset', 'db', wait]);
  });
});
