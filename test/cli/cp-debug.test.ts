/** Files to and from containers, and containers for debugging, with an agent of a node that the test plays. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { pack } from '../../packages/cli/src/cp/pack.ts';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { TarReader } from '../../packages/streams/src/tar/read.ts';
import { startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket, type Peer } from '../connect/websocket.ts';
import type { Loose } from '../support/server.ts';

let world: World;
let cwd: string;
beforeAll(async () => {
  world = await startWorld();
  await world.pod('web');
});
afterAll(() => world.close());
beforeEach(() => {
  cwd = temporaryDirectory('plat-cp');
  world.agent.seen.length = 0;
});

const say = (peer: Peer, channel: number, bytes: Buffer | string): void =>
  peer.send(Buffer.concat([Buffer.from([channel]), Buffer.from(bytes as Buffer)]));
const end = (peer: Peer, code = 0): void =>
  say(
    peer,
    3,
    JSON.stringify(
      code === 0 ? { status: 'Success' } : { status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: `${code}` }] } },
    ),
  );
/** Runs `program` for each command; it gets all of stdin if the command has any. */
function agent(program: (command: readonly string[], peer: Peer, input: Buffer) => void): void {
  world.agent.upgrade = (req, socket, head) => {
    const url = new URL(req.url ?? '', 'http://x');
    const command = url.searchParams.getAll('command');
    const peer = acceptWebSocket(req, socket, head, 'v5.channel.k8s.io');
    const parts: Buffer[] = [];
    peer.onFrame = (payload) => {
      if (payload[0] === 0) parts.push(Buffer.from(payload.subarray(1)));
      if (payload[0] === 255) program(command, peer, Buffer.concat(parts));
    };
    if (url.searchParams.get('input') === null) program(command, peer, Buffer.alloc(0));
  };
}
async function plat(...args: string[]) {
  const io = testIO({ cwd });
  const at = args.indexOf('--') === -1 ? args.length : args.indexOf('--');
  const connection = ['-n', world.ns, '--kubeconfig', world.server.running.adminConfigPath];
  const code = await run([...args.slice(0, at), ...connection, ...args.slice(at)], io);
  return { code, stdout: io.stdout, stderr: io.stderr };
}
async function archiveOf(path: string, name: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const bytes of pack(path, name)) parts.push(bytes);
  return Buffer.concat(parts);
}

test('a directory goes to a container', async () => {
  mkdirSync(join(cwd, 'src', 'deep'), { recursive: true });
  writeFileSync(join(cwd, 'src', 'a'), 'one');
  writeFileSync(join(cwd, 'src', 'deep', 'b'), 'x'.repeat(200_000));
  const commands: string[] = [];
  const files: Record<string, number> = {};
  agent((command, peer, input) => {
    commands.push(command.join(' '));
    if (command[0] === 'test') return end(peer, 0);
    new TarReader(({ name, size }) => {
      files[name] = size;
      return undefined;
    }).push(input);
    end(peer);
  });
  expect(await plat('cp', 'src', `${world.ns}/web:/tmp`)).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(commands).toEqual(['test -d /tmp', 'tar -xmf - -C /tmp']);
  expect(files).toEqual({ 'src/a': 3, 'src/deep/b': 200_000 });
  agent((command, peer) => {
    commands.push(command.join(' '));
    end(peer, command[0] === 'test' ? 1 : 2);
  });
  expect(await plat('cp', 'src/a', 'web:/tmp/new', '--no-preserve', '-c', 'main')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('exit code 2'),
  });
  expect(commands.at(-1)).toBe('tar --no-same-permissions --no-same-owner -xmf - -C /tmp');
  expect(await plat('cp', 'absent', 'web:/tmp')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("absent doesn't exist in local filesystem"),
  });
});

test('a directory comes from a container', async () => {
  mkdirSync(join(cwd, 'there', 'log'), { recursive: true });
  writeFileSync(join(cwd, 'there', 'log', 'a'), 'one');
  writeFileSync(join(cwd, 'there', 'log', 'b'), 'two');
  const archive = await archiveOf(join(cwd, 'there', 'log'), 'var/log');
  agent((command, peer) => {
    expect(command).toEqual(['tar', 'cf', '-', '/var/log']);
    say(peer, 2, "tar: removing leading '/'\n");
    for (let at = 0; at < archive.length; at += 1000) say(peer, 1, archive.subarray(at, at + 1000));
    end(peer);
  });
  expect(await plat('cp', 'web:/var/log', 'here')).toEqual({ code: 0, stdout: '', stderr: "tar: removing leading '/'\n" });
  expect([readFileSync(join(cwd, 'here', 'a'), 'utf8'), readFileSync(join(cwd, 'here', 'b'), 'utf8')]).toEqual(['one', 'two']);
});

test('a copy from a container is resumed where the connection broke', async () => {
  writeFileSync(join(cwd, 'there'), 'x'.repeat(5000));
  const archive = await archiveOf(join(cwd, 'there'), 'data/big');
  const from: number[] = [];
  agent((command, peer) => {
    expect(command.slice(0, 2)).toEqual(['sh', '-c']);
    const start = Number(/^tar cf - '\/data\/big' \| tail -c\+(\d+)$/.exec(command[2] as string)?.[1]) - 1;
    from.push(start);
    say(peer, 1, archive.subarray(start, from.length < 3 ? start + 1500 : undefined));
    if (from.length < 3) peer.close();
    else end(peer);
  });
  const result = await plat('cp', 'web:/data/big', 'big', '--retries=5');
  expect(result).toMatchObject({ code: 0, stderr: '' });
  expect(result.stdout).toBe('Resuming copy at 1500 bytes, retry 1/5\nResuming copy at 3000 bytes, retry 2/5\n');
  expect(from).toEqual([0, 1500, 3000]);
  expect(readFileSync(join(cwd, 'big'), 'utf8')).toBe('x'.repeat(5000));
  agent((_command, peer) => peer.close());
  expect(await plat('cp', 'web:/data/big', 'other', '--retries=2')).toMatchObject({ code: 1 });
  expect(world.agent.seen).toHaveLength(3 + 3);
  expect(existsSync(join(cwd, 'other'))).toBe(false);
});

const podOf = async (name: string): Promise<Loose> => world.server.admin.ok('GET', `/api/v1/namespaces/${world.ns}/pods/${name}`);

test('a container is added to a running pod', async () => {
  const { code, stdout } = await plat('debug', 'web', '--image=busybox', '--target=main', '--env', 'A=b', '--', 'sleep', '1');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Targeting container "main"\..*\nDefaulting debug container name to debugger-[a-z0-9]{5}\.\n$/);
  const [added] = (await podOf('web')).spec.ephemeralContainers;
  expect(added).toMatchObject({ image: 'busybox', command: ['sleep', '1'], targetContainerName: 'main', env: [{ name: 'A', value: 'b' }] });
  expect(await plat('debug', 'absent', '--image=busybox')).toMatchObject({ code: 1, stderr: expect.stringContaining('NotFound') });
});

test('a copy of a pod, and a pod on a node', async () => {
  expect(await plat('debug', 'web', '--copy-to=web-debug', '--set-image=main=web:debug', '--share-processes', '--same-node', '-q')).toEqual(
    {
      code: 0,
      stdout: '',
      stderr: '',
    },
  );
  expect((await podOf('web-debug')).spec).toMatchObject({
    nodeName: 'n1',
    shareProcessNamespace: true,
    containers: [{ name: 'main', image: 'web:debug' }],
  });
  const { stdout } = await plat('debug', 'node/n1', '--image=busybox');
  const [, name = ''] = /^Creating debugging pod (node-debugger-n1-[a-z0-9]{5}) with container debugger on node n1\.\n$/.exec(stdout) ?? [];
  expect((await podOf(name)).spec).toMatchObject({ nodeName: 'n1', hostPID: true, containers: [{ name: 'debugger', image: 'busybox' }] });
  expect(await plat('debug', 'node/absent', '--image=busybox')).toMatchObject({ code: 1 });
  expect(await plat('debug', 'secret/x', '--image=busybox')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not supported by debug'),
  });
});

test('the log of a container that has ended is shown instead of attaching', async () => {
  await world.pod('short');
  world.agent.answer = (_req, res) => void res.end('its log\n');
  const io = testIO({ cwd });
  const code = run(
    ['debug', 'short', '--image=busybox', '-c', 'dbg', '--attach', '-n', world.ns, '--kubeconfig', world.server.running.adminConfigPath],
    io,
  );
  // The agent would report this once the container was added.
  const pods = `/api/v1/namespaces/${world.ns}/pods/short`;
  for (;;) if ((await world.server.admin.ok('GET', pods)).spec.ephemeralContainers !== undefined) break;
  const state = { terminated: { exitCode: 0 } };
  const ended = [{ name: 'dbg', state, image: 'busybox', imageID: '', ready: false, restartCount: 0 }];
  await world.server.admin.patch(`${pods}/status`, { status: { ephemeralContainerStatuses: ended } });
  expect(await code).toBe(0);
  expect(io.stdout).toBe('its log\n');
});

test.each([
  [['web'], 'you must specify --image when not using --copy-to'],
  [[], 'NAME is required for debug'],
  [['web', '--image=x', '--replace'], '--replace may only be used with --copy-to'],
  [['web', '--image=x', '--same-node'], '--same-node may only be used with --copy-to'],
  [['web', '--copy-to=y'], 'you must specify --image, --set-image or command arguments'],
  [['web', '--copy-to=y', '--image=x', '--target=z'], '--target is incompatible with --copy-to'],
  [['web', '--image=x', '-t'], '-i/--stdin is required for containers with -t/--tty=true'],
  [['web', '--image=Not An Image'], 'invalid image name'],
])('debug %j is refused', async (args, message) => {
  expect(await plat('debug', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
});
