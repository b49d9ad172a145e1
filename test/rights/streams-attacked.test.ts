/** Servers behind this one, agents and clients that do not keep to their protocol: nobody is led elsewhere, and nothing stays behind. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Extension, startWorld as startExtensions } from '../aggregation/support.ts';
import { rawConnection, startWorld, type World } from '../connect/support.ts';

type Extensions = Awaited<ReturnType<typeof startExtensions>>;

describe('a server behind this one', () => {
  let world: Extensions;
  let extension: Extension;
  beforeAll(async () => {
    world = await startExtensions();
    extension = await world.extend();
  });
  afterAll(() => world.close());
  afterEach(() => expect(world.server.errors).toEqual([]));
  const path = (): string => `${extension.base}/namespaces/a/things`;

  test.each([300, 301, 302, 303, 307, 308, 399])('%d leads nobody elsewhere', async (status) => {
    for (const location of [
      'http://169.254.169.254/latest/meta-data/',
      `${world.server.address}/api/v1/secrets`,
      '/api/v1/secrets',
      '//evil.example',
      '',
    ]) {
      extension.answer = (_req, res) => void res.writeHead(status, { Location: location, 'Set-Cookie': 'a=b' }).end('go away');
      const before = extension.seen().length;
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await world.server.admin.send(method, path(), { ...(method === 'POST' && { body: {} }) });
        expect([answer.status, answer.headers.location, answer.headers['set-cookie']], `${method} ${location}`).toEqual([
          502,
          undefined,
          undefined,
        ]);
        expect(answer.text).not.toContain('169.254');
      }
      // It was asked once each, and nobody else was.
      expect(extension.seen().length - before).toBe(3);
    }
  });

  test('an upgraded connection is not led elsewhere either', async () => {
    extension.backend.upgrade = (_req, socket) =>
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n');
    const head = `GET ${path()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const connection = await rawConnection(world.server, head);
    await connection.until(({ ended }) => ended);
    expect(connection.text).toMatch(/^HTTP\/1\.1 5\d\d /);
    expect(connection.text).not.toContain('169.254');
  });

  test.each([
    [
      'an answer that nobody asked to switch',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET / HTTP/1.1\r\n\r\n',
    ],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.0\r\n'],
    ['a version that there is not', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a head without end', `HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(300_000)}`],
    ['headers without end', `HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(50_000)}`],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['nothing', ''],
  ])('%s: an error for this client, and the next request is served', async (_, bytes) => {
    extension.answer = (req) => void req.socket.end(bytes);
    const answer = await world.server.admin.get(path());
    expect(answer.status).toBe(503);
    extension.answer = (_req, res) => void res.end('fine');
    expect((await world.server.admin.get(path())).text).toBe('fine');
  });

  test('a body that never ends is held back by a client that does not read, and ends with it', async () => {
    // More than this server and the system may hold between the two: it is sent whole only if it is held somewhere.
    const TOO_MUCH = 256 * 1024 * 1024;
    let sent = 0;
    let closed: Promise<unknown> | undefined;
    extension.answer = (_req, res) => {
      closed = once(res, 'close').then(() => sent < TOO_MUCH);
      const chunk = Buffer.alloc(64 * 1024);
      const more = (): void => {
        while (!res.destroyed && sent < TOO_MUCH) {
          sent += chunk.length;
          if (!res.write(chunk)) {
            res.once('drain', more);
            return;
          }
        }
        if (!res.destroyed) res.end();
      };
      more();
    };
    const answer = await world.server.admin.open('GET', path());
    answer.body.pause();
    // Whatever would come passes while other requests do: what is held back stays where it is.
    for (let last = -1; last !== sent; ) {
      last = sent;
      for (let i = 0; i < 20; i++) await world.server.admin.get('/version');
    }
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    answer.destroy();
    expect(await closed).toBe(true);
  });
});

describe('exec and port-forward', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.pod('p');
  });
  afterAll(() => world.close());
  afterEach(() => expect(world.server.errors).toEqual([]));
  const pod = (): string => `/api/v1/namespaces/${world.ns}/pods/p`;
  const request = (path: string, more = ''): string =>
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n${more}\r\n`;
  const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
  const agents = new Set<Socket>();
  const accept = (then: (socket: Socket) => void = () => {}): void => {
    world.agent.upgrade = (_req, socket) => {
      agents.add(socket);
      socket.once('close', () => agents.delete(socket));
      socket.on('error', () => {});
      // Who does not read does not see the end.
      socket.on('end', () => socket.end()).resume();
      socket.write(SWITCH);
      then(socket);
    };
  };
  /** Both sides of every tunnel are gone. */
  const quiet = async (): Promise<void> => {
    for (const socket of world.agent.sockets) if (!socket.closed) await once(socket, 'close');
  };

  test.each([
    ['no HTTP', 'SSH-2.0\r\n'],
    ['a head without end', `HTTP/1.1 101 Switching Protocols\r\nX: ${'a'.repeat(300_000)}`],
    ['another status', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a redirect', 'HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n'],
    ['nothing', ''],
  ])('an agent that answers %s', async (_, bytes) => {
    world.agent.upgrade = (_req, socket) => socket.end(bytes);
    for (const path of [`${pod()}/exec?command=x&stdout=1`, `${pod()}/portforward?ports=80`]) {
      const connection = await rawConnection(world.server, request(path));
      await connection.until(({ ended }) => ended);
      expect(connection.text).toMatch(/^HTTP\/1\.1 5\d\d /);
      expect(connection.text).not.toContain('169.254');
      connection.socket.destroy();
    }
    await quiet();
  });

  test('garbage passes both ways as it is, and closes with whoever closes first', async () => {
    const noise = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 256));
    let received = Buffer.alloc(0);
    accept((socket) => {
      socket.write(noise);
      socket.on('data', (chunk: Buffer) => {
        received = Buffer.concat([received, chunk]);
        if (received.length >= noise.length) socket.destroy();
      });
    });
    const connection = await rawConnection(world.server, request(`${pod()}/exec?command=x&stdout=1`));
    await connection.until(({ text }) => text.length >= noise.length);
    connection.socket.on('error', () => {});
    connection.socket.write(noise);
    await connection.until(({ ended, closed }) => ended || closed);
    expect(received.equals(noise)).toBe(true);
    expect(connection.text.endsWith(noise.toString('latin1').slice(-1000))).toBe(true);
    connection.socket.destroy();
    await quiet();
  });

  test('a flood of tunnels, cut at every stage, leaves nothing behind', async () => {
    accept();
    const all = await Promise.all(Array.from({ length: 60 }, () => rawConnection(world.server, request(`${pod()}/portforward?ports=80`))));
    for (const [i, connection] of all.entries()) {
      connection.socket.on('error', () => {});
      if (i % 3 === 0) connection.socket.destroy();
      else if (i % 3 === 1) await connection.until(({ text }) => text.includes('101')).then(() => connection.socket.end('bye'));
      else await connection.until(({ text }) => text.includes('101')).then(() => connection.socket.destroy());
    }
    for (const socket of agents) socket.end();
    for (const { socket } of all) socket.destroy();
    await quiet();
    // It still works.
    accept((socket) => socket.write('hello'));
    const connection = await rawConnection(world.server, request(`${pod()}/exec?command=x&stdout=1`));
    await connection.until(({ text }) => text.endsWith('hello'));
    connection.socket.destroy();
    await quiet();
  });

  test.each([
    ['a body beside the upgrade, in chunks', 'Transfer-Encoding: chunked\r\n', 400],
    ['a length that is none', 'Content-Length: -1\r\n', 400],
    ['two protocols', 'Upgrade: websocket\r\n', 101],
    ['a thousand channels', `Sec-WebSocket-Protocol: ${Array.from({ length: 1000 }, (_, i) => `v${i}`).join(',')}\r\n`, 101],
    ['a head that is too long', `X-Long: ${'a'.repeat(100_000)}\r\n`, 431],
  ])('a client with %s', async (_, more, status) => {
    accept((socket) => socket.end());
    const connection = await rawConnection(world.server, request(`${pod()}/exec?command=x&stdout=1`, more));
    connection.socket.on('error', () => {});
    await connection.until(({ ended, closed }) => ended || closed);
    expect(connection.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    connection.socket.destroy();
    await quiet();
  });
});
