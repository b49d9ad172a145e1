/** `plat console`: the console of any server, on a port of this machine. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openerOf } from '../../packages/cli/src/console/browser.ts';
import type { TestIO } from '../../packages/cli/src/testing.ts';
import { type Backend, startBackend, startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket } from '../connect/websocket.ts';
import { Browser } from '../console-gateway/browser.ts';
import { platFor } from '../support/plat.ts';
import { startTestServer, unique } from '../support/server.ts';

let world: World;
let web: Backend;
const running: { io: TestIO; code: Promise<number> }[] = [];
const browsers: Browser[] = [];
beforeAll(async () => {
  world = await startWorld();
  web = await startBackend();
  const ports = [{ containerPort: web.port, name: 'http' }];
  await world.pod('p', { containers: [{ name: 'main', image: 'i', ports }] }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
});
afterAll(async () => {
  for (const one of browsers) one.close();
  for (const { io } of running) io.send('SIGINT');
  expect(await Promise.all(running.map(({ code }) => code))).toEqual(running.map(() => 0));
  await web.close();
  await world.close();
});

/** A browser, and the code of the link. */
async function start(server = world.server, ...args: string[]): Promise<{ browser: Browser; code: string }> {
  const one = platFor(server).start(['console', '--no-browser', ...args]);
  running.push(one);
  await Promise.race([one.io.said('/console/?code='), one.code]);
  const link = new URL(/ {2}(http:\S+)\n/.exec(one.io.stdout)?.[1] ?? `none: ${one.io.stderr}`);
  const browser = new Browser(link.origin);
  browsers.push(browser);
  return { browser, code: link.searchParams.get('code') as string };
}

test('the link logs in once, as the person who runs the command', async () => {
  const { browser, code } = await start();
  const answer = await browser.logIn({ code });
  expect(answer.json).toMatchObject({
    way: 'proxy',
    identity: 'kubernetes',
    ways: [],
    server: { release: '1.24' },
    user: { name: 'admin' },
  });
  expect(answer.headers['set-cookie']).toEqual([
    expect.stringMatching(/^plat-console-\d+=[\w-]{43}; Path=\/console\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect((await browser.logIn({ code })).status).toBe(401);
  expect((await browser.logIn({ token: 'admin-token' })).status).toBe(400);
  expect((await browser.client.get('/api/v1/namespaces')).status).not.toBe(200);
});
test('requests, watches and WebSockets reach the server, and other sites reach nothing', async () => {
  const { browser, code } = await start();
  await browser.logIn({ code });
  const name = unique('c');
  const created = await browser.api('POST', `/api/v1/namespaces/${world.ns}/configmaps`, { metadata: { name } });
  expect(created.status).toBe(201);
  expect(created.headers['content-security-policy']).toContain("default-src 'none'");
  expect((await browser.sendFrom({}, 'GET', '/console/api/api/v1/namespaces')).status).toBe(403);
  const page = await browser.socket('/console/watch', 'console.v1');
  page.send({ id: 1, open: `/api/v1/namespaces/${world.ns}/configmaps?watch=true&fieldSelector=metadata.name=${name}` });
  expect((await page.next(({ events }) => events !== undefined)).events[0]).toMatchObject({
    type: 'ADDED',
    object: { metadata: { name } },
  });
  page.send({ id: 2, open: '/api/v1/unknown?watch=true' });
  expect(await page.next(({ end }) => end !== undefined)).toMatchObject({ id: 2, end: { code: 404 } });
  web.upgrade = (req, socket, head) => {
    const peer = acceptWebSocket(req, socket, head);
    peer.onFrame = (payload) => peer.send(JSON.stringify({ echo: String(payload) }));
  };
  const echo = await browser.socket(`/console/api/api/v1/namespaces/${world.ns}/pods/p/proxy/`, []);
  echo.send('hi');
  expect(await echo.next(() => true)).toEqual({ echo: 'hi' });
  expect(web.seen.at(-1)?.headers).not.toHaveProperty('cookie');
  await expect(browser.socket('/console/watch', 'console.v1', { origin: 'http://evil.example' })).rejects.toThrow('answered 403');
  await browser.send('DELETE', '/console/session');
  await Promise.all([page.closed, echo.closed]);
});
test('other servers can neither set the cookie of the console nor let other origins in', async () => {
  const { browser, code } = await start();
  await browser.logIn({ code });
  const [cookie = ''] = browser.cookie.split('=');
  const consent = { 'Access-Control-Allow-Origin': 'https://evil.example', 'Access-Control-Allow-Credentials': 'true' };
  web.answer = (_, res) => void res.writeHead(200, { ...consent, 'Set-Cookie': [`${cookie}=stolen; Path=/console/`, 'own=1'] }).end('x');
  const path = `/console/api/api/v1/namespaces/${world.ns}/pods/p/proxy/`;
  const answer = await browser.send('GET', path);
  expect(answer.headers['set-cookie']).toEqual(['own=1']);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  web.upgrade = (req, socket, head) => void acceptWebSocket(req, socket, head, `x\r\nSet-Cookie: ${cookie}=stolen; Path=/console/`);
  let cookies: string[] | undefined = ['none was answered'];
  const page = await browser.socket(path, 'x', {}, ({ headers }) => {
    cookies = headers['set-cookie'];
  });
  expect(cookies).toBeUndefined();
  page.socket.terminate();
});
test('another name that leads to this machine leads to nothing', async () => {
  const { browser } = await start();
  const { port } = new URL(browser.origin);
  const status = await new Promise((resolve) => {
    request({ port, host: '127.0.0.1', path: '/console/', headers: { host: `evil.example:${port}` }, agent: false }, (response) =>
      resolve(response.resume().statusCode),
    ).end();
  });
  expect(status).toBe(403);
});
test('a server of other names, and one that is gone', async () => {
  const other = await startTestServer({ identity: 'plat' });
  const { browser, code } = await start(other);
  expect((await browser.logIn({ code })).json).toMatchObject({ identity: 'plat' });
  expect((await browser.api('GET', '/api/v1/namespaces/default')).status).toBe(200);
  await other.close();
  expect((await browser.api('GET', '/api/v1/namespaces/default')).json).toMatchObject({ kind: 'Status', code: 503 });
});
test('browsers are opened by the program of the system, where there is a desktop', () => {
  expect(openerOf('linux', {})).toBeUndefined();
  expect(openerOf('linux', { WAYLAND_DISPLAY: 'wayland-0' })).toEqual(['xdg-open']);
  expect(openerOf('darwin', {})).toEqual(['open']);
  expect(openerOf('win32', {})?.[0]).toBe('rundll32');
});
