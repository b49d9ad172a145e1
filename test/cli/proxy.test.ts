import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUrl } from '../../packages/cli/src/pods/proxy.ts';
import type { TestIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { eventually, startWorld, type World } from '../connect/support.ts';
import { type Plat, platFor } from '../support/plat.ts';

let world: World;
let plat: Plat;
const running: { io: TestIO; code: Promise<number> }[] = [];
beforeAll(async () => {
  world = await startWorld();
  plat = platFor(world.server);
  await world.pod('one');
});
afterAll(async () => {
  for (const { io } of running) io.send('SIGINT');
  expect(await Promise.all(running.map(({ code }) => code))).toEqual(running.map(() => 0));
  await world.close();
});
async function start(...args: string[]): Promise<number> {
  const one = plat.start(['proxy', '-p', '0', ...args]);
  running.push(one);
  await Promise.race([one.io.said('Starting to serve on'), one.code]);
  return Number(/:(\d+)\n/.exec(one.io.stdout)?.[1]);
}
interface Got {
  status: number | undefined;
  text: string;
  response: IncomingMessage;
}
function ask(
  port: number,
  path: string,
  more: { method?: string; host?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<Got> {
  const { method = 'GET', host = `127.0.0.1:${port}`, body, headers = {} } = more;
  return new Promise((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', path, method, headers: { host, ...headers }, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode, text, response }));
    });
    req.on('error', reject);
    req.end(body);
  });
}

test('requests go on as the person who runs it, whoever the caller says to be', async () => {
  const port = await start();
  expect(await ask(port, '/api/v1/namespaces/default')).toMatchObject({ status: 200, text: expect.stringContaining('"default"') });
  const body = JSON.stringify({ metadata: { name: 'made' } });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer wrong', 'impersonate-user': 'nobody' };
  expect(await ask(port, `/api/v1/namespaces/${world.ns}/configmaps`, { method: 'POST', body, headers })).toMatchObject({ status: 201 });
  expect(await ask(port, '/api/v1/absent')).toMatchObject({ status: 404 });
});

test('a watch arrives as it happens, and ends with the one who watches', async () => {
  const port = await start();
  const path = `/api/v1/namespaces/${world.ns}/configmaps?watch=1`;
  const seen = await new Promise<string>((resolve) => {
    const req = request({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.once('data', (chunk: Buffer) => {
        req.destroy();
        resolve(chunk.toString());
      });
    });
    req.on('error', () => {});
    req.end();
    void world.server.admin.ok('POST', `/api/v1/namespaces/${world.ns}/configmaps`, { metadata: { name: 'seen' } });
  });
  expect(seen).toContain('"ADDED"');
});

test('what is not allowed stays here', async () => {
  const port = await start('--reject-methods=^DELETE$,^PUT$', '--accept-paths=^/api/,^/version$');
  expect(await ask(port, '/version')).toMatchObject({ status: 200 });
  expect(await ask(port, '/apis')).toMatchObject({ status: 403 });
  expect(await ask(port, '/api/v1/namespaces/x', { method: 'DELETE' })).toMatchObject({ status: 403 });
  // A page of the web that has its name lead to this machine.
  expect(await ask(port, '/version', { host: 'evil.example' })).toMatchObject({ status: 403 });
  expect(await ask(port, '/version', { host: 'localhost:1' })).toMatchObject({ status: 200 });
  const exec = `/api/v1/namespaces/${world.ns}/pods/one/exec?command=ls`;
  expect(await ask(port, exec, { method: 'POST' })).toMatchObject({ status: 403 });
  expect(await ask(port, exec.replace('/exec', '/%65xec'), { method: 'POST' })).toMatchObject({ status: 403 });
  const open = await start('--disable-filter');
  expect(await ask(open, '/version', { host: 'any.example' })).toMatchObject({ status: 200 });
});

test('a prefix for the API, and files beside it that do not lead out of their directory', async () => {
  const directory = temporaryDirectory('plat-www');
  writeFileSync(join(directory, 'index.html'), '<p>here');
  const port = await start('--api-prefix=/k/', '--www', directory);
  expect(await ask(port, '/k/version')).toMatchObject({ status: 200 });
  expect(await ask(port, '/version')).toMatchObject({ status: 404 });
  expect(await ask(port, '/static/')).toMatchObject({ status: 200, text: '<p>here' });
  expect(await ask(port, '/static/..%2f..%2fetc/passwd')).toMatchObject({ status: 404 });
  mkdirSync(join(directory, 'below', 'deep'), { recursive: true });
  writeFileSync(join(directory, 'below', 'a<b.txt'), 'a');
  symlinkSync('/etc', join(directory, 'below', 'out'));
  expect(await ask(port, '/static/below')).toMatchObject({ status: 301 });
  expect(await ask(port, '/static/below/')).toMatchObject({
    status: 200,
    text: '<pre>\n<a href="./a%3Cb.txt">a&lt;b.txt</a>\n<a href="./deep/">deep/</a>\n<a href="./out">out</a>\n</pre>\n',
  });
  expect(await ask(port, '/static/below/out/')).toMatchObject({ status: 404 });
  expect(await ask(port, '/static/index.html/')).toMatchObject({ status: 404 });
  // The filters and the server would read these otherwise than each other.
  for (const path of ['//k/version', '/k//version', '/k/./version', '/k/x/../version'])
    expect(await ask(port, path), path).toMatchObject({ status: 301 });
  expect(cleanUrl('//k/./a//b/?x=//')).toBe('/k/a/b/?x=//');
  expect(cleanUrl('/')).toBe('/');
});

test('the path of the address of the server comes first only if asked', async () => {
  const address = `${world.server.address}/api`;
  const without = await start('--server', address, '--insecure-skip-tls-verify');
  expect(await ask(without, '/api/v1/namespaces/default')).toMatchObject({ status: 200 });
  const appended = await start('--server', address, '--append-server-path', '--insecure-skip-tls-verify');
  expect(await ask(appended, '/v1/namespaces/default')).toMatchObject({ status: 200 });
  expect(await ask(appended, '/api/v1/namespaces/default')).toMatchObject({ status: 404 });
});

test('connections that change their protocol', async () => {
  const port = await start('--reject-paths=');
  world.agent.upgrade = (_req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello ');
    socket.on('data', (chunk: Buffer) => void socket.write(`got ${chunk}`));
  };
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const head = `POST /api/v1/namespaces/${world.ns}/pods/one/exec?command=ls HTTP/1.1\r\nHost: localhost\r\n`;
  socket.write(`${head}Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`);
  await eventually(() => text.includes('hello '));
  socket.write('bytes');
  await eventually(() => text.endsWith('hello got bytes'));
  expect(text).toMatch(/^HTTP\/1.1 101 /);
  socket.destroy();
  await eventually(() => world.agent.sockets.size === 0);
});

test('a socket for its owner alone', async () => {
  const path = join(temporaryDirectory('plat-socket'), 's');
  await start('-u', path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('mistakes', async () => {
  const taken = await start();
  expect(await plat.run(['proxy', '-p', String(taken)])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('choose another with -p'),
  });
  expect(await plat.run(['proxy', '--accept-paths', '('])).toMatchObject({ code: 2 });
  expect(await plat.run(['proxy', '--api-prefix', 'x'])).toMatchObject({ code: 2 });
});
