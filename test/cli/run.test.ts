/** `plat run`, `expose` and `autoscale` against a server; a node of its own answers what attaches to its pods. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket } from '../connect/websocket.ts';
import { type Plat, platFor } from '../support/plat.ts';

let world: World;
let plat: Plat;
beforeAll(async () => {
  world = await startWorld();
  plat = platFor(world.server, {}, ['-n', world.ns, '--kubeconfig', world.server.running.adminConfigPath], 'kubectl');
});
afterAll(() => world.close());
beforeEach(() => {
  world.agent.seen.length = 0;
});

const core = (path: string): string => `/api/v1/namespaces/${world.ns}/${path}`;
const read = (path: string) => world.server.admin.ok('GET', core(path));
const setStatus = (pod: string, status: object) => world.server.admin.patch(core(`pods/${pod}/status`), { status });
const onNode = '--overrides={"spec":{"nodeName":"n1"}}';
const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const ended = (exitCode: number) => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  containerStatuses: [
    { name: 'x', image: 'i', imageID: '', ready: false, restartCount: 0, state: { terminated: { exitCode, reason: 'Error' } } },
  ],
});

/** Follows a pod from its creation: it runs, prints when someone attaches, and ends with an exit code. */
async function lives(name: string, exitCode: number): Promise<void> {
  const attached = new Promise<void>((resolve) => {
    world.agent.upgrade = (req, socket, head) => {
      const peer = acceptWebSocket(req, socket, head, 'v5.channel.k8s.io');
      peer.send(Buffer.concat([Buffer.from([1]), Buffer.from('hello\n')]));
      peer.send(Buffer.concat([Buffer.from([3]), Buffer.from(JSON.stringify({ status: 'Success' }))]));
      resolve();
    };
  });
  const watch = await world.server.admin.watch(core(`pods?watch=1&fieldSelector=metadata.name%3D${name}`));
  await watch.next();
  watch.close();
  await setStatus(name, running);
  await attached;
  await setStatus(name, ended(exitCode));
}

test('a pod is created by its own manager', async () => {
  expect(await plat.ok(['run', 'p', '--image=i'])).toBe('pod/p created\n');
  expect((await read('pods/p')).metadata).toMatchObject({ labels: { run: 'p' }, managedFields: [{ manager: 'kubectl-run' }] });
  expect(await plat.run(['run', 'p', '--image=i'])).toMatchObject({ code: 1, stdout: '' });
  expect(await plat.ok(['run', 'q', '--image=i', '--port=80', '--expose'])).toBe('service/q created\npod/q created\n');
  expect((await read('services/q')).spec).toMatchObject({ selector: { run: 'q' }, ports: [{ port: 80 }] });
});

describe('attached', () => {
  test('the output of the container, its exit code, and the pod is removed', async () => {
    const life = lives('a', 3);
    const result = await plat.run(['run', 'a', '--image=i', '--attach', '--rm', '--restart=Never', onNode]);
    await life;
    expect(result).toEqual({ code: 3, stdout: 'hello\npod "a" deleted\n', stderr: `pod ${world.ns}/a terminated (Error)\n` });
    expect(world.agent.seen[0]?.url).toContain(`/attach/${world.ns}/a/a`);
    expect((await read('pods')).items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).not.toContain('a');
  });

  test('-i attaches; a pod that ends well', async () => {
    const life = lives('b', 0);
    const result = await plat.run(['run', 'b', '-i', '-q', '--rm', '--image=i', '--restart=OnFailure', onNode]);
    await life;
    expect(result).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
  });

  test('of a pod that has ended already the log is printed', async () => {
    world.agent.answer = (_req, res) => void res.end('logged\n');
    const { io, code } = plat.start(['run', 'c', '--attach', '--image=i', '--restart=Never', onNode]);
    const watch = await world.server.admin.watch(core('pods?watch=1&fieldSelector=metadata.name%3Dc'));
    await watch.next();
    watch.close();
    await setStatus('c', ended(0));
    expect(await code).toBe(0);
    expect(io.stdout).toBe('logged\n');
  });

  test('a pod that does not run in time', async () => {
    const { code, stdout, stderr } = await plat.run(['run', 'd', '--attach', '--rm', '--image=i', '--pod-running-timeout=1ms']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: 'pod "d" deleted\n' });
    expect(stderr).toContain('timed out waiting for the pod to run');
  });
});

test('expose: pods, deployments and services; several at once', async () => {
  await plat.ok(['create', 'deployment', 'web', '--image=i', '--port=8080']);
  expect(await plat.ok(['expose', 'deployment', 'web', '--port=80', '--target-port=8080'])).toBe('service/web exposed\n');
  const service = await read('services/web');
  expect(service.spec).toMatchObject({ selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }] });
  expect(service.metadata).toMatchObject({ labels: { app: 'web' }, managedFields: [{ manager: 'kubectl-expose' }] });
  expect(await plat.ok(['expose', 'service/web', '--name=again', '--type=NodePort', '--overrides={"metadata":{"labels":{"x":"y"}}}'])).toBe(
    'service/again exposed\n',
  );
  expect((await read('services/again')).metadata.labels).toEqual({ app: 'web', x: 'y' });
  expect(await plat.ok(['expose', 'deploy/web', '--name=dry', '--dry-run=client'])).toBe('service/dry exposed (dry run)\n');
  expect(await plat.run(['expose', 'serviceaccount/default', '--port=1'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot expose a ServiceAccount'),
  });
});

test('autoscale: workloads that can be scaled', async () => {
  await plat.ok(['create', 'deployment', 'scaled', '--image=i']);
  expect(await plat.ok(['autoscale', 'deploy/scaled', '--min=2', '--max=5', '--cpu-percent=80'])).toBe(
    'horizontalpodautoscaler.autoscaling/scaled autoscaled\n',
  );
  const scaler = await world.server.admin.ok('GET', `/apis/autoscaling/v1/namespaces/${world.ns}/horizontalpodautoscalers/scaled`);
  expect(scaler.spec).toEqual({
    minReplicas: 2,
    maxReplicas: 5,
    targetCPUUtilizationPercentage: 80,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
  });
  expect(await plat.ok(['autoscale', 'deploy/scaled', '--max=5', '--name=dry', '--dry-run=client'])).toBe(
    'horizontalpodautoscaler.autoscaling/dry created (dry run)\n',
  );
  const refused = async (...args: string[]) => (await plat.run(['autoscale', ...args])).stderr;
  expect(await refused('serviceaccount/default', '--max=2')).toContain('cannot autoscale a ServiceAccount');
  expect(await refused('deploy/none', '--max=2')).toContain('deployments.apps "none" not found');
  expect(await refused('deploy/scaled')).toContain('required flag(s) "max" not set');
  expect(await refused('deploy/scaled', '--min=3', '--max=2')).toContain('--max=2 is less than --min=3');
});
