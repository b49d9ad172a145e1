/** Agents, pods and servers that take a connection, or a request, and never answer: clients get an error after a time, and nothing stays open. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { CONNECT_MILLIS } from '../../packages/server/src/http-client/connect.ts';
import { UPGRADE_MS } from '../../packages/server/src/tunnels/dial.ts';
import { startWorld as startExtensions } from '../aggregation/support.ts';
import type { Answer } from '../support/client.ts';
import { addNode, type Backend, rawConnection, startBackend, startWorld, type World } from './support.ts';

const REQUEST_MS = 60_000;
const upgrade = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };

/** Takes connections, and neither reads nor answers. */
class Mute {
  readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer({ pauseOnConnect: true }, (socket) => {
    this.sockets.add(socket);
    socket.on('error', () => {});
  });
  async start(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }
  async connected(): Promise<Socket> {
    if (this.sockets.size === 0) await once(this.server, 'connection');
    return [...this.sockets].at(-1) as Socket;
  }
  /** The other end has closed every connection. */
  async left(): Promise<void> {
    await Promise.all([...this.sockets].map((socket) => (socket.closed ? undefined : once(socket.resume(), 'close'))));
    this.sockets.clear();
  }
  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

describe('pods and nodes', () => {
  let world: World;
  let pod: Backend;
  const clock = new FakeClock(Date.now());
  const mute = new Mute();
  let mutePort = 0;
  beforeAll(async () => {
    world = await startWorld(() => ({ clock, requestTimeout: REQUEST_MS }));
    pod = await startBackend();
    mutePort = await mute.start();
    await world.pod('p', { nodeName: 'n1' }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
    await addNode(world.server, 'mute', mutePort);
    await world.pod('q', { nodeName: 'mute' }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  });
  afterAll(async () => {
    await world.close();
    await pod.close();
    mute.close();
  });
  afterEach(() => expect(world.server.errors).toEqual([]));
  const at = (path: string): string =>
    `/api/v1/${path.replace('NS', `namespaces/${world.ns}`).replace('POD', String(pod.port)).replace('MUTE', String(mutePort))}`;

  test.each([
    ['exec', 'NS/pods/p/exec?command=x&stdout=1', UPGRADE_MS],
    ['attach', 'NS/pods/p/attach?stdout=1', UPGRADE_MS],
    ['portforward', 'NS/pods/p/portforward?ports=80', UPGRADE_MS],
    ['an upgrade to a node', 'nodes/n1/proxy/x', UPGRADE_MS],
    ['an upgrade to a pod', 'NS/pods/p:POD/proxy/x', UPGRADE_MS],
    ['log', 'NS/pods/p/log', REQUEST_MS],
    ['log, followed', 'NS/pods/p/log?follow=1', REQUEST_MS],
    ['a request to a node', 'nodes/n1/proxy/x', REQUEST_MS],
    ['a request to a pod', 'NS/pods/p:POD/proxy/x', REQUEST_MS],
  ])('%s: the target takes the request', async (_, path, millis) => {
    const backend = path.includes('POD') ? pod : world.agent;
    const taken = new Promise<Socket>((resolve) => {
      backend.answer = (req) => resolve(req.socket);
      backend.upgrade = (_req, socket) => resolve(socket.once('end', () => socket.end()));
    });
    const answering = world.server.admin.send('GET', at(path), millis === UPGRADE_MS ? { headers: upgrade } : {});
    const socket = await taken;
    let answered = false;
    void answering.then(() => {
      answered = true;
    });
    // The other side has sent all of it, too.
    await clock.advance(0);
    await clock.advance(millis - 1);
    expect([answered, socket.destroyed]).toEqual([false, false]);
    const closed = once(socket.resume(), 'close');
    await clock.advance(1);
    expectTimeout(await answering, millis);
    await closed;
  });

  test.each([
    ['exec', 'NS/pods/q/exec?command=x&stdout=1', upgrade, 500, 'error dialing backend: dial tcp 127.0.0.1:MUTE: i/o timeout'],
    ['log', 'NS/pods/q/log?follow=1', {}, 500, 'dial tcp 127.0.0.1:MUTE: i/o timeout'],
    ['a request to a node', 'nodes/mute/proxy/x', {}, 503, 'error trying to reach service: dial tcp 127.0.0.1:MUTE: i/o timeout'],
    ['a request to a pod', 'NS/pods/https:q:MUTE/proxy/x', {}, 503, 'error trying to reach service: dial tcp 127.0.0.1:MUTE: i/o timeout'],
  ])('%s: the target takes the connection, but no TLS', async (_, path, headers, status, message) => {
    const answering = world.server.admin.send('GET', at(path), { headers });
    await mute.connected();
    await clock.advance(CONNECT_MILLIS);
    const answer = await answering;
    expect([answer.status, answer.json.message]).toEqual([status, expect.stringContaining(message.replace('MUTE', String(mutePort)))]);
    await mute.left();
  });

  test('a body that the target does not read', async () => {
    const body = Buffer.alloc(16 * 1024 * 1024);
    let answer: Answer | undefined;
    void world.server.admin.send('POST', at('NS/pods/q:MUTE/proxy/x'), { body }).then((given) => {
      answer = given;
    });
    await mute.connected();
    // What the system takes off this server's hands counts as taken.
    while (answer === undefined) await clock.advance(REQUEST_MS);
    expectTimeout(answer, REQUEST_MS);
    await mute.left();
  });

  test('a body that the target goes on to read is no silence, nor an answer that takes its time once it has begun', async () => {
    let read = '';
    const pieces: ((text: string) => void)[] = [];
    pod.answer = (req, res) => {
      req.on('data', (chunk: Buffer) => {
        read += chunk;
        pieces.shift()?.(read);
      });
      req.once('end', () => void res.writeHead(200).write('begun'));
    };
    const piece = (): Promise<string> => new Promise((resolve) => pieces.push(resolve));
    const head = 'Host: x\r\nAuthorization: Bearer admin-token\r\nTransfer-Encoding: chunked';
    const connection = await rawConnection(world.server, `POST ${at('NS/pods/p:POD/proxy/x')} HTTP/1.1\r\n${head}\r\n\r\n`);
    for (const text of ['a', 'b', 'c']) {
      const arrived = piece();
      connection.socket.write(`1\r\n${text}\r\n`);
      await arrived;
      await clock.advance(REQUEST_MS - 1);
    }
    connection.socket.write('0\r\n\r\n');
    await connection.until(({ text }) => text.includes('begun'));
    expect([connection.text.slice(0, 12), read]).toEqual(['HTTP/1.1 200', 'abc']);
    await clock.advance(10 * REQUEST_MS);
    expect([connection.ended, connection.closed]).toEqual([false, false]);
    connection.socket.destroy();
  });
});

function expectTimeout({ status, json }: Answer, millis: number): void {
  expect([status, json.reason, json.message]).toEqual([504, 'Timeout', `the target did not answer within ${millis / 1000} seconds`]);
}

test('a watch of a server behind this one', async () => {
  const clock = new FakeClock(Date.now());
  const world = await startExtensions({ clock, requestTimeout: REQUEST_MS });
  const extension = await world.extend();
  for (const [path, headers, millis] of [
    ['things?watch=1', {}, REQUEST_MS],
    ['things', upgrade, UPGRADE_MS],
  ] as const) {
    const taken = new Promise<Socket>((resolve) => {
      // Descriptions of the API are fetched meanwhile, too.
      extension.answer = (req, res) => {
        if (req.url?.includes('/things')) resolve(req.socket);
        // It stays available when it is checked while time passes.
        else res.writeHead(req.url === extension.base ? 200 : 404).end();
      };
      extension.backend.upgrade = (_req, socket) => resolve(socket);
    });
    const send = (): Promise<Answer> => world.server.admin.send('GET', `${extension.base}/${path}`, { headers });
    let answering = send();
    // A check of the server that was in progress while time passed fails; the next one succeeds.
    while ((await Promise.race([taken, answering.then(() => undefined)])) === undefined) {
      await clock.advance(1000);
      answering = send();
    }
    const closed = once((await taken).resume(), 'close');
    let answer: Answer | undefined;
    void answering.then((given) => {
      answer = given;
    });
    // The timeout begins when this server has sent the request, which may be after the other one has it.
    while (answer === undefined) await clock.advance(millis);
    expectTimeout(answer, millis);
    await closed;
  }
  await world.close();
});
