import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Context } from './context.ts';
import { head, send } from './respond.ts';
import { SHORT } from './short-answer.ts';

const texts: Record<string, Buffer> = {
  '/text': Buffer.from('{"name":"Zoë 🙂 \u0080"}\n'),
  '/empty': Buffer.alloc(0),
  '/longest': Buffer.alloc(SHORT, 0xe9),
  '/longer': Buffer.alloc(SHORT + 1, 0xe9),
};
let server: Server;
/** Calls that handed bytes to the connection, of the last answer. */
let writes = 0;

/** `/usual/…` is answered as Node does it by itself, `/…` by `send`. */
beforeAll(async () => {
  server = createServer({ keepAliveTimeout: 120_000 }, (req, res) => {
    const ctx = new Context(req, res, 0);
    ctx.headers.push('Audit-Id', 'one', 'Cache-Control', 'no-cache, private');
    const usual = ctx.path.startsWith('/usual');
    const body = texts[usual ? ctx.path.slice('/usual'.length) : ctx.path] as Buffer;
    const status = req.method === 'POST' ? 201 : 200;
    if (usual) {
      head(ctx, status, ['Content-Type', 'application/json', 'Content-Length', String(body.length)]);
      res.end(req.method === 'HEAD' ? undefined : body);
      return;
    }
    writes = 0;
    const { socket } = req;
    const write = socket.write;
    socket.write = ((...args: Parameters<Socket['write']>) => {
      writes++;
      return write.apply(socket, args);
    }) as Socket['write'];
    send(ctx, status, 'application/json', body);
    socket.write = write;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** Everything that the server sends for these requests until it closes the connection, without what differs in time. */
function exchange(requests: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(requests));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      socket.end();
      resolve(
        Buffer.concat(chunks)
          .toString('latin1')
          .replace(/Date: [^\r]*/g, 'Date: now'),
      );
    });
    socket.on('error', reject);
  });
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
])('%s %s %s is answered with the same bytes as by Node itself', async (method, path, more) => {
  const usual = await exchange(request(method, `/usual${path}`, more) + last);
  const short = await exchange(request(method, path, more) + last);
  expect(usual).toContain('Content-Length: ');
  expect(parts(short)).toEqual(parts(usual));
});

test('a client of HTTP/1.0 gets the same answer, and its connection is closed', async () => {
  const ask = (path: string) => exchange(`GET ${path} HTTP/1.0\r\n\r\n`);
  expect(parts(await ask('/text'))).toEqual(parts(await ask('/usual/text')));
});

test('requests that wait on one connection are answered in their order, and the connection stays', async () => {
  const three = (prefix: string) =>
    `${request('GET', `${prefix}/text`)}\r\n${request('POST', `${prefix}/empty`)}\r\n${request('GET', `${prefix}/text`)}${last}`;
  const short = await exchange(three(''));
  expect(short.match(/HTTP\/1\.1 20[01] /g)).toEqual(['HTTP/1.1 200 ', 'HTTP/1.1 201 ', 'HTTP/1.1 200 ']);
  expect(short.match(/Connection: .*|Keep-Alive: .*/g)).toEqual((await exchange(three('/usual'))).match(/Connection: .*|Keep-Alive: .*/g));
  expect(short.match(/Keep-Alive: timeout=120/g)).toHaveLength(2);
});

test('head and body of a short answer are handed to the connection in one write', async () => {
  await exchange(request('GET', '/text') + last);
  expect(writes).toBe(1);
  await exchange(request('GET', '/longest') + last);
  expect(writes).toBe(1);
  await exchange(request('GET', '/longer') + last);
  expect(writes).toBeGreaterThan(1);
});
