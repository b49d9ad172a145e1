import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Context } from '../context.ts';
import { exchange as exchanged, listening, openPort, type Port, portOf } from '../http1/http1.testing.ts';
import { head, send } from './respond.ts';
import { SHORT } from './short-answer.ts';

const texts: Record<string, Buffer> = {
  '/text': Buffer.from('{"name":"Zoë 🙂 \u0080"}\n'),
  '/empty': Buffer.alloc(0),
  '/longest': Buffer.alloc(SHORT - 1024, 0xe9),
  '/longer': Buffer.alloc(SHORT + 1, 0xe9),
};
let node: Server;
let own: Port;
/** Calls that handed bytes to the connection, of the last answer. */
let writes = 0;

function contextOf(req: ConstructorParameters<typeof Context>[0], res: ConstructorParameters<typeof Context>[1]): Context {
  const ctx = new Context(req, res, 0);
  ctx.headers.push('Audit-Id', 'one', 'Cache-Control', 'no-cache, private');
  return ctx;
}
const statusOf = ({ method }: Context): number => (method === 'POST' ? 201 : 200);

beforeAll(async () => {
  node = createServer({ keepAliveTimeout: 120_000 }, (req: IncomingMessage, res: ServerResponse) => {
    const ctx = contextOf(req, res);
    const body = texts[ctx.path] as Buffer;
    head(ctx, statusOf(ctx), ['Content-Type', 'application/json', 'Content-Length', String(body.length)]);
    res.end(req.method === 'HEAD' ? undefined : body);
  });
  await listening(node);
  own = await openPort({
    handle: (req, res) => {
      const ctx = contextOf(req, res);
      writes = 0;
      const socket = req.socket as Socket;
      const write = socket.write;
      socket.write = ((...args: Parameters<Socket['write']>) => {
        writes++;
        return write.apply(socket, args);
      }) as Socket['write'];
      send(ctx, statusOf(ctx), 'application/json', texts[ctx.path] as Buffer);
      socket.write = write;
    },
  });
});
afterAll(async () => {
  await Promise.all([own.close(), new Promise((resolve) => node.close(resolve))]);
});

/** What both servers send until they close the connection, without what differs in time. */
async function exchange(requests: string): Promise<{ usual: string; short: string }> {
  const [usual, short] = await Promise.all([portOf(node), own.port].map((port) => exchanged(port, requests)));
  const undated = (text = ''): string => text.replace(/Date: [A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, 'Date: now');
  return { usual: undated(usual), short: undated(short) };
}
/** Headers in any order, and the body. */
function parts(answer: string): { head: string[]; body: string } {
  const end = answer.indexOf('\r\n\r\n');
  return { head: answer.slice(0, end).split('\r\n').sort(), body: answer.slice(end + 4) };
}
const request = (method: string, path: string, more = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${more}${method === 'POST' ? 'Content-Length: 0\r\n' : ''}`;
const last = 'Connection: close\r\n\r\n';

test.each([
  ['GET', '/text', ''],
  ['POST', '/text', ''],
  ['HEAD', '/text', ''],
  ['GET', '/text', 'Expect: 100-continue\r\n'],
  ['GET', '/empty', ''],
  ['GET', '/longest', ''],
  ['GET', '/longer', ''],
])('%s %s %s is answered with the same bytes as by Node', async (method, path, more) => {
  const { usual, short } = await exchange(request(method, path, more) + last);
  expect(usual).toContain('Date: now');
  expect(usual).toContain('Content-Length: ');
  expect(parts(short)).toEqual(parts(usual));
});

test.each(['', 'Connection: keep-alive\r\n'])('a client of HTTP/1.0 gets the same answer: %s', async (more) => {
  // A second request asks for the end of the connection, where it is still there.
  const { usual, short } = await exchange(`GET /text HTTP/1.0\r\n${more}\r\n${more === '' ? '' : 'GET /text HTTP/1.0\r\n\r\n'}`);
  expect(short.match(/HTTP\/1\.1 200 /g)).toHaveLength(more === '' ? 1 : 2);
  expect(parts(short).head).toEqual(parts(usual).head);
});

test('requests that wait on one connection are answered in their order, and the connection stays', async () => {
  const { usual, short } = await exchange(
    `${request('GET', '/text')}\r\n${request('POST', '/empty')}\r\n${request('GET', '/text')}${last}`,
  );
  expect(short.match(/HTTP\/1\.1 20[01] /g)).toEqual(['HTTP/1.1 200 ', 'HTTP/1.1 201 ', 'HTTP/1.1 200 ']);
  expect(short.match(/Connection: .*|Keep-Alive: .*/g)).toEqual(usual.match(/Connection: .*|Keep-Alive: .*/g));
  expect(short.match(/Keep-Alive: timeout=120/g)).toHaveLength(2);
});

test('head and body of a short answer are handed to the connection in one write', async () => {
  for (const [path, most] of [
    ['/text', 1],
    ['/longest', 1],
    ['/longer', 2],
  ] as const) {
    await exchanged(own.port, request('GET', path) + last);
    expect(writes, path).toBe(most);
  }
});
