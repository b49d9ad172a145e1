import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Terminal } from '../../packages/cli/src/command.ts';
import { run } from '../../packages/cli/src/index.ts';
import { type TestIO, testIO } from '../../packages/cli/src/testing.ts';
import { eventually, startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket, type Peer } from '../connect/websocket.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.pod('one');
  await world.pod('shell', { nodeName: 'n1', containers: [{ name: 'main', image: 'i', tty: true, stdin: true }] });
  await world.pod('done', { nodeName: 'n1' }, { phase: 'Failed' });
});
afterAll(() => world.close());
beforeEach(() => {
  world.agent.seen.length = 0;
});

const success = { status: 'Success' };
const exited = (code: number) => ({
  status: 'Failure',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: `${code}` }] },
});
const say = (peer: Peer, channel: number, text: string): void => peer.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
/** The node accepts, and does as it is told with what it receives. */
function agent(begin: (peer: Peer) => void, take: (peer: Peer, channel: number, text: string) => void = () => {}, protocol = 'v5'): void {
  world.agent.upgrade = (req, socket, head) => {
    const peer = acceptWebSocket(req, socket, head, `${protocol}.channel.k8s.io`);
    peer.onFrame = (payload) => take(peer, payload[0] ?? -1, payload.subarray(1).toString('latin1'));
    begin(peer);
  };
}
function start(args: readonly string[], terminal: Partial<Terminal> = {}): { io: TestIO; code: Promise<number> } {
  const plain = testIO();
  const io = testIO();
  Object.assign(io, {
    terminal: {
      ...plain.terminal,
      write: (b: Buffer) => io.out(b.toString()),
      writeError: (b: Buffer) => io.err(b.toString()),
      ...terminal,
    },
  });
  const at = args.indexOf('--');
  const connection = ['-n', world.ns, '--kubeconfig', world.server.running.adminConfigPath];
  const whole = at === -1 ? [...args, ...connection] : [...args.slice(0, at), ...connection, ...args.slice(at)];
  return { io, code: run(whole, io) };
}
async function finish(args: readonly string[], terminal: Partial<Terminal> = {}) {
  const { io, code } = start(args, terminal);
  return { code: await code, stdout: io.stdout, stderr: io.stderr };
}

test('output, errors and the exit code come back', async () => {
  agent((peer) => {
    say(peer, 1, 'out');
    say(peer, 2, 'err');
    say(peer, 3, JSON.stringify(success));
  });
  expect(await finish(['exec', 'one', '--', 'ls', '-l', 'a b'])).toEqual({ code: 0, stdout: 'out', stderr: 'err' });
  const asked = new URL(world.agent.seen[0]?.url ?? '', 'http://x');
  expect(asked.pathname).toBe(`/exec/${world.ns}/one/main`);
  expect(asked.searchParams.getAll('command')).toEqual(['ls', '-l', 'a b']);
  agent((peer) => say(peer, 3, JSON.stringify(exited(7))));
  expect(await finish(['exec', 'pod/one', '-c', 'main', '--', 'false', '--help'])).toMatchObject({ code: 7 });
});

test('input goes there, and its end', async () => {
  let received = '';
  agent(
    () => {},
    (peer, channel, text) => {
      if (channel === 0) received += text;
      if (channel === 255 && text === '\u0000') {
        say(peer, 1, received.toUpperCase());
        say(peer, 3, JSON.stringify(success));
      }
    },
  );
  let released = false;
  const release = (): void => {
    released = true;
  };
  const terminal = { input: Readable.from([Buffer.from('some '), Buffer.from('input')]), release };
  expect(await finish(['exec', '-i', 'one', '--', 'cat'], terminal)).toEqual({ code: 0, stdout: 'SOME INPUT', stderr: '' });
  expect(released).toBe(true);
});

test('a node of the older protocol cannot get the end of stdin: the user gets a hint', async () => {
  agent(
    () => {},
    (peer, channel, text) => {
      if (channel === 0) say(peer, 1, text);
    },
    'v4',
  );
  const { io, code } = start(['exec', '-i', 'one', '--', 'cat'], { input: Readable.from([Buffer.from('x')]) });
  await io.said('cannot signal the end of stdin');
  io.send('SIGINT');
  expect(await code).toBe(130);
});

test('a terminal: keys as they are, and the size of the window', async () => {
  const sizes: string[] = [];
  agent(
    () => {},
    (peer, channel, text) => {
      if (channel === 4) sizes.push(text);
      if (sizes.length === 2) say(peer, 3, JSON.stringify(success));
    },
  );
  const raw: boolean[] = [];
  let resized: () => void = () => {};
  const terminal: Partial<Terminal> = {
    input: new Readable({ read() {} }),
    interactive: true,
    raw: () => {
      raw.push(true);
      return () => raw.push(false);
    },
    size: () => ({ width: 80 + sizes.length, height: 24 }),
    onResize: (call) => {
      resized = call;
      return () => {};
    },
  };
  const { code } = start(['exec', '-it', 'one', '--', 'sh'], terminal);
  await eventually(() => sizes.length === 1);
  expect(raw).toEqual([true]);
  resized();
  expect(await code).toBe(0);
  expect(sizes.map((text) => JSON.parse(text))).toEqual([
    { Width: 80, Height: 24 },
    { Width: 81, Height: 24 },
  ]);
  expect(raw).toEqual([true, false]);
  const { searchParams } = new URL(world.agent.seen[0]?.url ?? '', 'http://x');
  expect([searchParams.get('tty'), searchParams.get('error')]).toEqual(['1', null]);
});

test('attach: a program that has a terminal is given one', async () => {
  agent((peer) => {
    say(peer, 1, 'prompt');
    say(peer, 3, JSON.stringify(success));
  });
  const result = await finish(['attach', '-it', 'shell'], { input: new Readable({ read() {} }) });
  expect(result).toEqual({ code: 0, stdout: 'prompt', stderr: "If you don't see a command prompt, try pressing enter.\n" });
  expect((await finish(['attach', '-t', 'one'])).stderr).toContain('has no terminal');
  expect(world.agent.seen[0]?.url).toContain(`/attach/${world.ns}/shell/main`);
});

test('failures are reported', async () => {
  agent((peer) => peer.close());
  expect(await finish(['exec', 'one', '--', 'x'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('lost before the command ended'),
  });
  agent((peer) => say(peer, 3, JSON.stringify({ status: 'Failure', message: 'no such file' })));
  expect(await finish(['exec', 'one', '--', 'x'])).toMatchObject({ code: 1, stderr: 'plat: no such file\n' });
  expect(await finish(['exec', 'absent', '--', 'x'])).toMatchObject({ code: 1, stderr: expect.stringContaining('NotFound') });
  expect(await finish(['exec', 'done', '--', 'x'])).toMatchObject({ code: 1, stderr: expect.stringContaining('is not running (Failed)') });
  expect(await finish(['exec', 'one', 'ls'])).toMatchObject({ code: 2, stderr: expect.stringContaining('plat exec one -- ls') });
  expect(await finish(['exec', 'one'])).toMatchObject({ code: 2 });
  expect(await finish(['attach'])).toMatchObject({ code: 2 });
});
