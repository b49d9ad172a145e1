import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { kubectlBefore, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { eventually, type RawConnection, rawConnection, startWorld, type World } from './support.ts';
import { acceptWebSocket } from './websocket.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.pod('one');
  await world.pod('waiting', {});
});
afterAll(() => world.close());
afterEach(async () => {
  world.agent.seen.length = 0;
  for (const socket of world.agent.sockets) socket.destroy();
  await eventually(() => world.agent.sockets.size === 0);
  expect(world.server.errors).toEqual([]);
});

const path = (rest: string): string => `/api/v1/namespaces/${world.ns}/pods/${rest}`;
/** Asks for a protocol that nobody here knows: what it says does not matter to the server. */
const request = (rest: string, { method = 'POST', token = 'admin-token', more = '' } = {}): string =>
  `${method} ${path(rest)} HTTP/1.1\r\nHost: api.example\r\nAuthorization: Bearer ${token}\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n${more}\r\n`;
const switched = (connection: RawConnection): boolean => connection.text.includes('\r\n\r\n');
const bodyOf = (connection: RawConnection): string => connection.text.slice(connection.text.indexOf('\r\n\r\n') + 4);

/** The agent switches protocols and hands the connection to the test. */
function agentAccepts(first = ''): Promise<{ socket: Socket; received: () => string }> {
  return new Promise((resolve) => {
    world.agent.upgrade = (_req, socket, head) => {
      let text = head.toString('latin1');
      socket.allowHalfOpen = true;
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\n${first}`,
      );
      resolve({ socket, received: () => text });
    };
  });
}

async function open(rest = 'one/exec?command=sh'): Promise<{ client: RawConnection; agent: Socket; received: () => string }> {
  const accepted = agentAccepts();
  const client = await rawConnection(world.server, request(rest));
  const { socket, received } = await accepted;
  await client.until(switched);
  return { client, agent: socket, received };
}

test('exec reaches the agent with its options, and bytes pass both ways, those sent early included', async () => {
  const accepted = agentAccepts('first from the agent|');
  const client = await rawConnection(
    world.server,
    `${request('one/exec?command=ls&command=-l%20a&stdin=1&stdout=true&tty=false&stderr')}first from the client|`,
  );
  const { socket, received } = await accepted;
  await client.until((c) => bodyOf(c) === 'first from the agent|');
  expect(client.text).toMatch(/^HTTP\/1.1 101 Switching Protocols\r\n/);
  expect(client.text).toContain('X-Stream-Protocol-Version: v4\r\n');
  client.socket.write('second');
  socket.write('third');
  await client.until((c) => bodyOf(c) === 'first from the agent|third');
  await eventually(() => received() === 'first from the client|second');
  const [seen] = world.agent.seen;
  expect(seen).toMatchObject({
    method: 'POST',
    url: `/exec/${world.ns}/one/main?command=ls&command=-l+a&error=1&input=1&output=1`,
    caller: 'the-server',
    headers: { upgrade: 'SPDY/3.1', connection: 'upgrade', 'x-stream-protocol-version': 'v4.channel.k8s.io', 'content-length': '0' },
  });
  expect(seen?.headers.authorization).toBeUndefined();
  expect(seen?.headers['x-forwarded-for']).toBe('127.0.0.1');
  client.socket.end();
});

test('attach and portforward have paths of their own', async () => {
  for (const [rest, url] of [
    ['one/attach?stdout=1&container=main', `/attach/${world.ns}/one/main?output=1`],
    ['one/portforward?ports=80&ports=443', `/portForward/${world.ns}/one?port=80%2C443`],
  ] as const) {
    const { client } = await open(rest);
    expect(world.agent.seen.at(-1)?.url).toBe(url);
    client.socket.destroy();
  }
});

test('either side may close its half first', async () => {
  const { client, agent, received } = await open();
  const ended = new Promise((resolve) => agent.once('end', resolve));
  client.socket.end('last words');
  await ended;
  expect(received()).toBe('last words');
  agent.end('and the answer');
  await client.until((c) => c.ended);
  expect(bodyOf(client)).toBe('and the answer');
  await eventually(() => world.agent.sockets.size === 0);
});

test('when the agent is gone, so is the connection of the client', async () => {
  const { client, agent } = await open();
  agent.destroy();
  await client.until((c) => c.ended || c.closed);
  client.socket.destroy();
});

test('when the client is gone, so is the connection to the agent', async () => {
  const { client, agent } = await open();
  const ended = new Promise((resolve) => agent.once('end', resolve));
  client.socket.destroy();
  await ended;
});

test('a client that does not read holds the agent back, and loses nothing', async () => {
  const { client, agent } = await open();
  client.socket.pause();
  const chunk = Buffer.alloc(1 << 20, 'x');
  let sent = 0;
  // The buffers of three sockets fill up; then the agent must wait.
  while (sent < 256 && agent.writableLength < 8 << 20) {
    agent.write(chunk);
    sent++;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(sent).toBeLessThan(256);
  agent.end();
  let size = 0;
  client.socket.removeAllListeners('data');
  client.socket.on('data', (bytes: Buffer) => {
    size += bytes.length;
  });
  const ended = new Promise((resolve) => client.socket.once('end', resolve));
  client.socket.resume();
  await ended;
  expect(size).toBe(sent << 20);
  client.socket.destroy();
});

test('a refusal of the agent is passed on, an answer that is neither is a fault', async () => {
  // An HTTP server that knows no upgrade answers as to any request.
  world.agent.upgrade = (_req, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
  const refused = await rawConnection(world.server, request('one/exec?command=x'));
  await refused.until((c) => c.ended);
  expect(refused.text).toMatch(/^HTTP\/1.1 403 Forbidden\r\n/);
  expect(refused.text).toContain('no');
  world.agent.upgrade = (_req, socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
  const odd = await rawConnection(world.server, request('one/exec?command=x'));
  await odd.until((c) => c.ended);
  expect(odd.text).toContain('invalid upgrade response: status code 200');
});

test.each([
  ['one/exec?command=x&container=y', 400, 'container y is not valid for pod one'],
  ['waiting/exec?command=x', 400, 'pod waiting does not have a host assigned'],
  ['nobody/attach', 404, 'pods \\"nobody\\" not found'],
  ['one/portforward?ports=http', 400, 'strconv.ParseInt: parsing \\"http\\": invalid syntax'],
])('refused: %s', async (rest, code, message) => {
  const connection = await rawConnection(world.server, request(rest));
  await connection.until((c) => c.ended);
  expect(connection.text).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
  expect(connection.text).toContain(message.replaceAll('\\"', '\\\\"').replaceAll('\\\\"', '\\"'));
  expect(connection.text).toMatch(/connection: close/i);
  connection.socket.end();
});

test('without an upgrade, without a right, without a name', async () => {
  expect((await world.server.admin.post(path('one/exec?command=x'), '')).json).toMatchObject({
    code: 400,
    message: 'Upgrade request required',
  });
  for (const [token, code] of [
    ['bob-token', 403],
    ['nobody', 401],
  ]) {
    const connection = await rawConnection(world.server, request('one/exec?command=x', { token: token as string }));
    await connection.until((c) => c.ended);
    expect(connection.text).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
    connection.socket.end();
  }
  expect(world.agent.seen).toEqual([]);
});

test('a request that asks for another protocol where there is none to be had is answered as usual', async () => {
  const body = JSON.stringify({ metadata: { name: 'made' } });
  const head = `POST /api/v1/namespaces/${world.ns}/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const connection = await rawConnection(world.server, head + body.slice(0, 5));
  connection.socket.write(body.slice(5));
  await connection.until((c) => c.ended);
  expect(connection.text).toMatch(/^HTTP\/1.1 201 Created/);
  connection.socket.end();
});

test('a tunnel counts as a lasting request, and ends with the server', async () => {
  const { client, agent } = await open();
  agent.once('end', () => agent.end());
  const metrics = async (): Promise<string> => (await world.server.admin.get('/metrics')).text;
  const gauge = /apiserver_longrunning_requests\{[^}]*subresource="exec",verb="CONNECT"[^}]*\} (\d+)/;
  let left = '';
  while (left !== '1') left = gauge.exec(await metrics())?.[1] ?? '';
  client.socket.destroy();
  while (left !== '0') left = gauge.exec(await metrics())?.[1] ?? '';
  expect(await metrics()).toMatch(/apiserver_request_total\{code="101",[^}]*subresource="exec",verb="CONNECT"/);
});

test.skipIf(kubectlMissing !== undefined || kubectlBefore(29))('kubectl exec, over WebSocket', async () => {
  world.agent.upgrade = (req, socket, head) => {
    const peer = acceptWebSocket(req, socket, head, 'v5.channel.k8s.io');
    const send = (channel: number, text: string): void => peer.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
    peer.onFrame = (payload) => {
      if (payload[0] !== 0 || payload.length === 1) return;
      send(1, `got ${payload.subarray(1)}`);
      send(3, jsonText({ metadata: {}, status: 'Success' }));
      peer.close();
    };
  };
  const kubectl = kubectlFor(world.server, { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'true' });
  expect(await kubectl.ok(['-n', world.ns, 'exec', '-i', 'one', '--', 'cat', '-n'], 'hello')).toBe('got hello');
  expect(world.agent.seen[0]?.url).toBe(`/exec/${world.ns}/one/main?command=cat&command=-n&error=1&input=1&output=1`);
});

test('a browser names its token as a subprotocol, and the agent does not see it', async () => {
  const accepted = agentAccepts();
  const secret = Buffer.from('admin-token').toString('base64url');
  const offered = `base64url.bearer.authorization.k8s.io.${secret}, v4.channel.k8s.io`;
  const client = await rawConnection(
    world.server,
    `GET ${path('one/exec?command=x')} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Protocol: ${offered}\r\n\r\n`,
  );
  await accepted;
  await client.until(switched);
  expect(world.agent.seen[0]?.headers['sec-websocket-protocol']).toBe('v4.channel.k8s.io');
  expect(JSON.stringify(world.agent.seen)).not.toContain(secret);
  client.socket.destroy();
});

test('a graceful end of the server ends its tunnels', async () => {
  const { client, agent } = await open();
  const ended = new Promise((resolve) => agent.once('end', resolve));
  const closing = world.server.running.close();
  await client.until((c) => c.ended || c.closed);
  await ended;
  client.socket.end();
  await closing;
});
