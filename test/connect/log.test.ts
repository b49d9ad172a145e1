import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { addNode, eventually, rawConnection, servingFor, startBackend, startWorld, type World } from './support.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.pod('one');
  await world.pod('two', {
    nodeName: 'n1',
    containers: [
      { name: 'a', image: 'i' },
      { name: 'b', image: 'i' },
    ],
    initContainers: [{ name: 'i', image: 'i' }],
  });
  await world.pod('waiting', {});
});
afterAll(() => world.close());
afterEach(() => {
  world.agent.seen.length = 0;
  expect(world.server.errors).toEqual([]);
});

const log = (pod: string, query = '') => world.server.admin.get(`/api/v1/namespaces/${world.ns}/pods/${pod}/log${query}`);

test('the agent of the node is asked, in its own words and with the certificate of the server', async () => {
  world.agent.answer = (_req, res) => void res.end('line 1\nline 2\n');
  const answer = await log('one', '?tailLines=2&timestamps=true&previous&sinceTime=2024-01-02T03:04:05%2B01:00&limitBytes=9&follow=false');
  expect(answer).toMatchObject({ status: 200, text: 'line 1\nline 2\n' });
  expect(answer.headers['content-type']).toBe('text/plain');
  expect(world.agent.seen).toMatchObject([
    {
      method: 'GET',
      url: `/containerLogs/${world.ns}/one/main?limitBytes=9&previous=true&sinceTime=2024-01-02T02%3A04%3A05Z&tailLines=2&timestamps=true`,
      caller: 'the-server',
    },
  ]);
  expect(world.agent.seen[0]?.headers.authorization).toBeUndefined();
});

test('a log is read over a WebSocket, as bytes or as base64', async () => {
  world.agent.answer = (_req, res) => void res.end('line 1\nline ä\n');
  const read = async (protocol: string): Promise<{ readonly head: string; readonly frames: Buffer[] }> => {
    const path = `/api/v1/namespaces/${world.ns}/pods/one/log`;
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const offer = `Sec-WebSocket-Protocol: ${protocol}`;
    const credential = 'Authorization: Bearer admin-token';
    const client = await rawConnection(
      world.server,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${credential}\r\n${key}\r\n${offer}\r\n\r\n`,
    );
    await client.until(({ ended }) => ended);
    client.socket.destroy();
    const answer = Buffer.from(client.text, 'latin1');
    const at = answer.indexOf('\r\n\r\n') + 4;
    const frames: Buffer[] = [];
    for (let rest = answer.subarray(at); rest.length >= 2; ) {
      const end = 2 + (rest[1] as number);
      frames.push(rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    return { head: answer.toString('utf8', 0, at), frames };
  };
  const suffix = 'k8s.io';
  const binary = await read(`other, binary.${suffix}`);
  expect(binary.head).toContain('101 Switching Protocols');
  expect(binary.head).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  expect(binary.head).toContain(`Sec-WebSocket-Protocol: binary.${suffix}`);
  expect(binary.frames.map((frame) => frame[0])).toEqual([0x82, 0x82, 0x88]);
  expect(binary.frames[1]?.toString('utf8', 2)).toBe('line 1\nline ä\n');
  const text = await read(`base64.binary.${suffix}`);
  expect(text.frames.map((frame) => frame[0])).toEqual([0x81, 0x81, 0x88]);
  expect(Buffer.from(text.frames[1]?.toString('utf8', 2) ?? '', 'base64').toString()).toBe('line 1\nline ä\n');
  expect((await read('other')).head).toContain('400 Bad Request');
});

test('a followed log arrives while it is written, and a listener who leaves ends it', async () => {
  let write: (text: string) => void = () => {};
  let left = false;
  world.agent.answer = (req, res) => {
    write = (text) => void res.write(text);
    res.once('close', () => {
      left = true;
    });
    res.write(`${req.url?.includes('follow=true')}\n`);
  };
  const open = await world.server.admin.open('GET', `/api/v1/namespaces/${world.ns}/pods/one/log?follow=1`);
  const text = async (): Promise<string> => String(await new Promise((resolve) => open.body.once('data', resolve)));
  expect(await text()).toBe('true\n');
  write('more\n');
  expect(await text()).toBe('more\n');
  open.destroy();
  await eventually(() => left);
});

test('a log that breaks off at the agent breaks off for the client', async () => {
  world.agent.answer = (_req, res) => {
    res.writeHead(200, { 'content-length': '100' });
    res.write('half');
    setImmediate(() => res.socket?.destroy());
  };
  const open = await world.server.admin.open('GET', `/api/v1/namespaces/${world.ns}/pods/one/log`);
  const failed = new Promise((resolve) => open.body.once('error', resolve));
  open.body.resume();
  await failed;
});

test('containers are named where there is a choice', async () => {
  world.agent.answer = (req, res) => void res.end(req.url);
  expect((await log('two')).json).toMatchObject({
    code: 400,
    message: 'a container name must be specified for pod two, choose one of: [i a b]',
  });
  expect((await log('two', '?container=c')).json).toMatchObject({ code: 400, message: 'container c is not valid for pod two' });
  expect((await log('two', '?container=i')).text).toBe(`/containerLogs/${world.ns}/two/i`);
});

test('a pod without a node has written nothing', async () => {
  expect(await log('waiting')).toMatchObject({ status: 204, text: '' });
});

test.each([
  ['?tailLines=x', 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ['?sinceTime=yesterday', 400, 'parsing time "yesterday"'],
  ['?tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
  [
    '?sinceSeconds=0&limitBytes=0',
    422,
    '[limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
  ],
])('bad options: %s', async (query, code, message) => {
  const { json } = await log('one', query);
  expect(json.code).toBe(code);
  expect(json.message).toContain(message);
});

test.each([
  [400, { code: 400, reason: 'BadRequest', message: 'no' }],
  [404, { code: 404, reason: 'NotFound', message: 'the server could not find the requested resource ( pods/log one)' }],
  [500, { code: 500, reason: 'InternalError', message: 'Internal error occurred: no' }],
  [418, { code: 418, message: 'no ( pods/log one)' }],
])('a problem of the agent with code %s is passed on', async (code, expected) => {
  world.agent.answer = (_req, res) => void res.writeHead(code).end('no');
  expect((await log('one')).json).toMatchObject(expected);
});

test('an agent that is missing, or is someone else, is reported', async () => {
  const stranger = await startBackend(servingFor(world.authority, ['127.0.0.9']));
  await addNode(world.server, 'n2', stranger.port);
  await world.pod('elsewhere', { nodeName: 'n2' });
  expect((await log('elsewhere')).json).toMatchObject({
    code: 500,
    message: `Get "https://127.0.0.1:${stranger.port}/containerLogs/${world.ns}/elsewhere/main": x509: certificate is valid for 127.0.0.9, not 127.0.0.1`,
  });
  // The client may say that it does not care.
  expect((await log('elsewhere', '?insecureSkipTLSVerifyBackend=true')).text).toBe('hello');
  await stranger.close();
  expect((await log('elsewhere')).json.message).toContain(`dial tcp 127.0.0.1:${stranger.port}: connect: connection refused`);
  await world.pod('lost', { nodeName: 'n3' });
  expect((await log('lost')).json).toMatchObject({ code: 404, message: 'nodes "n3" not found' });
});

test('only get, and only with the right to', async () => {
  const path = `/api/v1/namespaces/${world.ns}/pods/one/log`;
  expect((await world.server.admin.post(path, {})).status).toBe(405);
  expect((await world.server.admin.send('HEAD', path)).status).toBe(405);
  expect((await world.server.admin.get(`${path}/more`)).status).toBe(404);
  expect((await world.server.bob.get(path)).json.message).toContain('cannot get resource "pods/log"');
});

test('over HTTP/2', async () => {
  world.agent.answer = (_req, res) => void res.end('second');
  const client = world.server.client({ token: 'admin-token', http2: true });
  expect((await client.get(`/api/v1/namespaces/${world.ns}/pods/one/log`)).text).toBe('second');
});

test.skipIf(kubectlMissing !== undefined)('kubectl logs', async () => {
  world.agent.answer = (_req, res) => void res.end('from afar\n');
  expect(await kubectlFor(world.server).ok(['-n', world.ns, 'logs', 'one', '--tail=3'])).toBe('from afar\n');
  expect(world.agent.seen[0]?.url).toContain('tailLines=3');
});

test('a graceful end of the server does not wait for those who follow a log', async () => {
  const other = await startWorld();
  await other.pod('one');
  other.agent.answer = (_req, res) => void res.write('first');
  const open = await other.server.admin.open('GET', `/api/v1/namespaces/${other.ns}/pods/one/log?follow=true`);
  await new Promise((resolve) => open.body.once('data', resolve));
  const broken = new Promise((resolve) => open.body.once('error', resolve));
  open.body.resume();
  await other.server.running.close();
  await broken;
  await other.agent.close();
});
