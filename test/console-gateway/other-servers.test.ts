/** What other servers, to which requests are passed on, see and do of a session of the console. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type Backend, startBackend, startWorld, type World } from '../connect/support.ts';
import { acceptWebSocket } from '../connect/websocket.ts';
import { Browser } from './browser.ts';

let world: World;
let web: Backend;
let browser: Browser;
beforeAll(async () => {
  world = await startWorld();
  web = await startBackend();
  const ports = [{ containerPort: web.port, name: 'http' }];
  await world.pod('p', { containers: [{ name: 'main', image: 'i', ports }] }, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] });
  browser = new Browser(world.server.address);
  await browser.logIn({ token: 'admin-token' });
});
afterAll(async () => {
  browser.close();
  await web.close();
  await world.close();
});
afterEach(() => {
  web.seen.length = 0;
});
const proxy = (): string => `/api/v1/namespaces/${world.ns}/pods/p/proxy/`;

test('no cookie reaches them by the console, and they set none of its cookies', async () => {
  const [cookie = ''] = browser.cookie.split('=');
  const cookies = [`${cookie}=stolen; Path=/`, `=${cookie}=nameless; Path=/`, 'own=1'];
  web.answer = (_, res) => void res.writeHead(200, { 'Set-Cookie': cookies }).end('<script>');
  const answer = await browser.send('GET', `/console/api${proxy()}`, { headers: { cookie: `${browser.cookie}; other=1` } });
  expect(answer).toMatchObject({ status: 200, text: '<script>' });
  expect(answer.headers['set-cookie']).toEqual(['own=1']);
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  expect(web.seen[0]?.headers).not.toHaveProperty('cookie');
  expect(web.seen[0]?.headers).not.toHaveProperty('authorization');
  expect(web.seen[0]?.headers).not.toHaveProperty('x-plat-console');
});

test('of requests to the API itself, they see cookies but those of the console, and their pages get an origin of their own', async () => {
  web.answer = (_, res) => void res.end('<script>');
  const [session] = browser.cookie.split('; ');
  const headers = { cookie: `a=1; ${session}; b=2` };
  const answer = await world.server.admin.send('GET', proxy(), { headers });
  expect(web.seen[0]?.headers.cookie).toBe('a=1; b=2');
  expect(answer.headers['content-security-policy']).toBe('sandbox');
  // A link of another site: the browser leaves the cookie out, but the page could use it.
  const linked = await world.server.admin.send('GET', proxy(), { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(linked.headers['content-security-policy']).toBe('sandbox');
  web.seen.length = 1;
  const other = await world.server.admin.send('GET', proxy(), { headers: { cookie: 'a=1', 'sec-fetch-site': 'same-origin' } });
  expect(web.seen[1]?.headers.cookie).toBe('a=1');
  expect(other.headers['content-security-policy']).toBeUndefined();
});

test('they cannot set its cookies by the answer to a WebSocket either', async () => {
  const [cookie = ''] = browser.cookie.split('=');
  web.upgrade = (request, socket, head) =>
    void acceptWebSocket(request, socket, head, `x\r\nSet-Cookie: ${cookie}=stolen; Secure; Path=/\r\nSet-Cookie: own=1`);
  let cookies: string[] | undefined;
  const page = await browser.socket(`/console/api${proxy()}`, 'x', {}, ({ headers }) => {
    cookies = headers['set-cookie'];
  });
  expect(cookies).toEqual(['own=1']);
  page.socket.terminate();
});

test('WebSockets reach them, and end with the session', async () => {
  web.upgrade = (request, socket, head) => void acceptWebSocket(request, socket, head);
  const second = new Browser(world.server.address);
  await second.logIn({ token: 'admin-token' });
  const page = await second.socket(`/console/api${proxy()}`, []);
  expect(page.socket.readyState).toBe(WebSocket.OPEN);
  expect(web.seen[0]?.headers).not.toHaveProperty('cookie');
  await second.send('DELETE', '/console/session');
  await page.closed;
  second.close();
});
