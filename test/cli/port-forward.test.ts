import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { parsePair } from '../../packages/cli/src/pods/port-forward.ts';
import type { TestIO } from '../../packages/cli/src/testing.ts';
import { eventually, startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket } from '../connect/websocket.ts';
import { type Plat, platFor } from '../support/plat.ts';

let world: World;
let plat: Plat;
beforeAll(async () => {
  world = await startWorld();
  plat = platFor(world.server);
  const containers = [{ name: 'main', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }];
  await world.pod('web', { nodeName: 'n1', containers }, { phase: 'Running' });
  await world.pod('done', { nodeName: 'n1' }, { phase: 'Succeeded' });
  await world.server.admin.patch(`/api/v1/namespaces/${world.ns}/pods/web`, { metadata: { labels: { app: 'web' } } });
  await world.server.admin.ok('POST', `/api/v1/namespaces/${world.ns}/services`, {
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ name: 'front', port: 80, targetPort: 'http' }] },
  });
});
afterAll(() => world.close());
let running: { io: TestIO; code: Promise<number> } | undefined;
afterEach(async () => {
  running?.io.send('SIGINT');
  expect(await running?.code).toBe(0);
  running = undefined;
  await eventually(() => world.agent.sockets.size === 0);
});

async function start(...args: string[]): Promise<number> {
  running = plat.start(['port-forward', '-n', world.ns, '--address=127.0.0.1', ...args]);
  await Promise.race([running.io.said('Forwarding from'), running.code]);
  return Number(/127.0.0.1:(\d+) ->/.exec(running.io.stdout)?.[1]);
}
/** The agent answers in capitals, on the channel for data, and says a word on that for errors where it is asked to. */
function agentShouts(): void {
  world.agent.upgrade = (req, socket, head) => {
    const port = Number(new URL(req.url ?? '', 'http://x').searchParams.get('port'));
    const peer = acceptWebSocket(req, socket, head, 'v4.channel.k8s.io');
    const begin = (channel: number): void => peer.send(Buffer.from([channel, port & 255, port >> 8]));
    begin(0);
    begin(1);
    peer.onFrame = (payload) => {
      const text = payload.subarray(1).toString();
      if (text === 'fail') peer.send(Buffer.concat([Buffer.from([1]), Buffer.from('it failed')]));
      else peer.send(Buffer.concat([Buffer.from([0]), Buffer.from(`${port}:${text.toUpperCase()}`)]));
      if (text === 'bye') peer.close();
    };
  };
}
function open(port: number) {
  const socket = connect(port, '127.0.0.1');
  const state = { socket, text: '', ended: false };
  socket.on('data', (chunk: Buffer) => {
    state.text += chunk.toString();
  });
  socket.on('close', () => {
    state.ended = true;
  });
  socket.on('error', () => {});
  return state;
}

test('bytes pass both ways; each connection has its own', async () => {
  agentShouts();
  const port = await start('web', ':9090');
  const [one, two] = [open(port), open(port)];
  one.socket.write('hello');
  two.socket.write('you');
  await eventually(() => one.text === '9090:HELLO' && two.text === '9090:YOU');
  // A connection that the pod ends ends here; the other one goes on.
  one.socket.write('bye');
  await eventually(() => one.ended);
  two.socket.write('again');
  await eventually(() => two.text.endsWith('9090:AGAIN'));
  two.socket.destroy();
});

test('a port of a service is that of the pod behind it', async () => {
  agentShouts();
  const port = await start('svc/web', ':front');
  expect(running?.io.stdout).toContain('-> 8080\n');
  const one = open(port);
  one.socket.write('x');
  await eventually(() => one.text === '8080:X');
});

test('what the node says of a failure is printed', async () => {
  agentShouts();
  const one = open(await start('web', ':http'));
  one.socket.write('fail');
  await eventually(() => running?.io.stderr.includes('port 8080: it failed') ?? false);
  world.agent.upgrade = (_req, socket) => void socket.end('HTTP/1.1 500 no\r\ncontent-length: 4\r\n\r\noops');
  const other = open(Number(/127.0.0.1:(\d+)/.exec(running?.io.stdout ?? '')?.[1]));
  await eventually(() => other.ended);
  expect(running?.io.stderr).toContain('500');
});

test('much at once arrives whole', async () => {
  world.agent.upgrade = (req, socket, head) => {
    const peer = acceptWebSocket(req, socket, head, 'v4.channel.k8s.io');
    peer.send(Buffer.from([0, 1, 0]));
    for (let i = 0; i < 200; i++) peer.send(Buffer.concat([Buffer.from([0]), Buffer.alloc(60_000, 65 + (i % 26))]));
    peer.close();
  };
  const one = open(await start('web', ':1'));
  await eventually(() => one.ended);
  expect(one.text.length).toBe(200 * 60_000);
  expect(one.text.at(-1)).toBe(String.fromCharCode(65 + (199 % 26)));
});

test('mistakes', async () => {
  const run = (...args: string[]) => plat.run(['port-forward', '-n', world.ns, ...args]);
  expect(await run('web')).toMatchObject({ code: 2 });
  expect(await run('web', '80:http:1')).toMatchObject({ code: 2 });
  expect(await run('web', ':nothing')).toMatchObject({ code: 2, stderr: expect.stringContaining('it has http') });
  expect(await run('svc/web', ':81')).toMatchObject({ code: 2, stderr: expect.stringContaining('it has front') });
  expect(await run('done', ':80')).toMatchObject({ code: 1, stderr: expect.stringContaining('is Succeeded') });
  expect(await run('absent', ':80')).toMatchObject({ code: 1 });
  expect(['80', '8080:80', ':80', '1:http'].map((word) => parsePair(word))).toEqual([
    { local: undefined, remote: '80' },
    { local: 8080, remote: '80' },
    { local: 0, remote: '80' },
    { local: 1, remote: 'http' },
  ]);
  running = plat.start(['port-forward', '-n', world.ns, 'web', ':80']);
  await running.io.said('Forwarding');
});
