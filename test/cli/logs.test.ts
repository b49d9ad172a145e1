import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { WholeLines } from '../../packages/cli/src/pods/logs.ts';
import { eventually, startWorld, type World } from '../connect/support.ts';
import { type Plat, platFor } from '../support/plat.ts';

let world: World;
let plat: Plat;
beforeAll(async () => {
  world = await startWorld();
  plat = platFor(world.server);
  const two = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i' },
  ];
  await world.pod('one');
  await world.pod('two', { nodeName: 'n1', containers: two, initContainers: [{ name: 'i', image: 'i' }] });
  const labelled = async (name: string, phase: string): Promise<void> => {
    await world.pod(name, { nodeName: 'n1' }, { phase });
    await world.server.admin.patch(`/api/v1/namespaces/${world.ns}/pods/${name}`, { metadata: { labels: { app: 'web' } } });
  };
  await labelled('web-1', 'Pending');
  await labelled('web-2', 'Running');
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'i' }] } };
  await world.server.admin.ok('POST', `/apis/apps/v1/namespaces/${world.ns}/deployments`, {
    metadata: { name: 'web' },
    spec: { selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'x'] }] }, template },
  });
  await world.server.admin.ok('POST', `/api/v1/namespaces/${world.ns}/services`, {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
});
afterAll(() => world.close());
beforeEach(() => {
  world.agent.seen.length = 0;
  // A container prints where it is.
  world.agent.answer = (req, res) => void res.end(`${req.url?.split('/').slice(3).join('/')}\n`);
});
const run = (...args: string[]) => plat.run(['logs', '-n', world.ns, ...args]);

test('the log of a pod, of one of its containers, of all', async () => {
  expect(await run('one')).toEqual({ code: 0, stdout: 'one/main\n', stderr: '' });
  expect(await run('two')).toEqual({ code: 0, stdout: 'two/a\n', stderr: 'Defaulted container "a" out of: a, b, i (init)\n' });
  expect(await run('two', 'b')).toEqual({ code: 0, stdout: 'two/b\n', stderr: '' });
  expect(await run('pod/two', '-c', 'i')).toMatchObject({ stdout: 'two/i\n' });
  expect((await run('two', '--all-containers', '--prefix')).stdout).toBe('[pod/two/i] two/i\n[pod/two/a] two/a\n[pod/two/b] two/b\n');
  expect(await run('two', '-c', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('it has i, a, b') });
});

test('the pods of a workload, those that run first, and of labels', async () => {
  expect(await run('deployment/web')).toMatchObject({
    stdout: 'web-2/main\n',
    stderr: 'Found 2 pods, using pod/web-2; --all-pods shows all\n',
  });
  // kubectl of 1.24 has no such flag.
  const kubectl = platFor(world.server, {}, undefined, 'kubectl');
  expect((await kubectl.run(['logs', '-n', world.ns, 'deployment/web'])).stderr).toBe('Found 2 pods, using pod/web-2\n');
  expect((await run('svc/web', '--all-pods')).stdout).toBe('[pod/web-2/main] web-2/main\n[pod/web-1/main] web-1/main\n');
  expect((await run('-l', 'app=web')).stdout).toBe('web-2/main?tailLines=10\nweb-1/main?tailLines=10\n');
  expect(await run('-l', 'app=none')).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('no pod with these labels') });
  expect(await run('configmap/x')).toMatchObject({ code: 1 });
});

test('how much of it', async () => {
  await run('one', '--tail=5', '--since=90s', '--limit-bytes=7', '--timestamps', '-p');
  expect(world.agent.seen[0]?.url).toBe(
    `/containerLogs/${world.ns}/one/main?limitBytes=7&previous=true&sinceSeconds=90&tailLines=5&timestamps=true`,
  );
  await run('one', '--since-time=2024-01-02T03:04:05+01:00');
  expect(world.agent.seen[1]?.url).toContain('sinceTime=2024-01-02T02%3A04%3A05Z');
  for (const wrong of [
    ['--since=1s', '--since-time=2024-01-01T00:00:00Z'],
    ['-l', 'a=b'],
    ['c', '-c', 'd'],
    ['--all-containers', '-c', 'd'],
  ])
    expect(await run('one', ...wrong)).toMatchObject({ code: 2 });
  expect(await plat.run(['logs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('pod missing') });
});

test('followed, until the person has seen enough', async () => {
  let write: (text: string) => void = () => {};
  world.agent.answer = (_req, res) => {
    write = (text) => void res.write(text);
    write('begun\n');
  };
  const { io, code } = plat.start(['logs', '-f', 'one', '-n', world.ns]);
  await io.said('begun\n');
  write('more\n');
  await io.said('more\n');
  io.send('SIGINT');
  expect(await code).toBe(130);
  expect(await run('-f', '-l', 'app=web', '--max-log-requests=1')).toMatchObject({ code: 2 });
  await eventually(() => world.agent.sockets.size === 0);
});

test('a log that cannot be read', async () => {
  expect(await run('absent')).toMatchObject({ code: 1, stderr: expect.stringContaining('NotFound') });
  world.agent.answer = (req, res) => {
    if (req.url?.includes('web-2')) {
      res.writeHead(200, { 'content-length': '100' });
      res.write('half');
      setImmediate(() => res.socket?.destroy());
    } else res.end('whole\n');
  };
  expect(await run('web-2')).toMatchObject({ code: 1, stdout: 'half', stderr: expect.stringContaining('was interrupted') });
  expect(await run('-l', 'app=web', '--ignore-errors')).toMatchObject({ code: 1, stdout: 'halfwhole\n' });
});

test('lines of several logs are not mixed, characters not torn apart', () => {
  const out: string[] = [];
  const lines = new WholeLines('> ', (text) => void out.push(text));
  const [first, second] = [Buffer.from('a\n\nä').subarray(0, 4), Buffer.from('ä').subarray(1)];
  lines.push(first);
  lines.push(second);
  lines.push(Buffer.from('b\nrest'));
  lines.end();
  expect(out).toEqual(['> a\n> \n', '> äb\n', '> rest']);
});
