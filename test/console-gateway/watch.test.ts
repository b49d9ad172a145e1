/** One connection for all watches of a page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer, unique } from '../support/server.ts';
import { Browser, consoleFiles, type PageSocket } from './browser.ts';

let server: TestServer;
const browsers: Browser[] = [];
const sockets: PageSocket[] = [];

beforeAll(async () => {
  server = await startTestServer({ consoleFiles: consoleFiles() });
  namespace = await server.namespace();
});
afterAll(async () => {
  for (const { socket } of sockets) socket.terminate();
  for (const one of browsers) one.close();
  await server.close();
});

async function loggedIn(token = 'admin-token'): Promise<Browser> {
  const browser = new Browser(server.address);
  browsers.push(browser);
  expect((await browser.logIn({ token })).status).toBe(200);
  return browser;
}
async function connected(browser: Browser): Promise<PageSocket> {
  const page = await browser.socket('/console/watch', 'console.v1');
  sockets.push(page);
  return page;
}
let namespace: string;
const watchOf = (plural: string, version?: string): string =>
  `/api/v1/namespaces/${namespace}/${plural}?watch=true${version === undefined ? '' : `&resourceVersion=${version}`}`;
const names = (page: PageSocket, id: number): string[] =>
  page.messages
    .filter((message) => message.id === id)
    .flatMap(({ events = [] }) =>
      events.map((event: { type: string; object: { metadata: { name: string } } }) => `${event.type} ${event.object.metadata.name}`),
    );

describe('a page', () => {
  test('has several watches on one connection, each with its own events, until it closes them', async () => {
    const page = await connected(await loggedIn());
    const { metadata } = await server.admin.ok('GET', '/api/v1/namespaces?limit=1');
    page.send({ id: 1, open: watchOf('endpoints', metadata.resourceVersion) });
    page.send({ id: 2, open: watchOf('secrets', metadata.resourceVersion), accept: 'application/json' });
    await page.next(({ id, status }) => id === 1 && status === 200);
    await page.next(({ id, status }) => id === 2 && status === 200);
    const [map, secret] = [unique('m'), unique('s')];
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/endpoints`, { metadata: { name: map } });
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: secret } });
    await page.next(({ id, events }) => id === 1 && events !== undefined);
    await page.next(({ id, events }) => id === 2 && events !== undefined);
    expect(names(page, 1)).toEqual([`ADDED ${map}`]);
    expect(names(page, 2)).toEqual([`ADDED ${secret}`]);
    page.send({ id: 1, close: true });
    // An id that is closed can be used again, from the version that the page has seen last.
    page.send({ id: 1, open: watchOf('endpoints', metadata.resourceVersion) });
    const seen = page.messages.length;
    await page.next(({ id, events }) => id === 1 && events !== undefined, seen);
    expect(names(page, 1)).toEqual([`ADDED ${map}`, `ADDED ${map}`]);
  });
  test('gets tables where it asks for them', async () => {
    const page = await connected(await loggedIn());
    const accept = `application/json;as=Table;v=v1;g=meta.${server.identity.groupSuffix}`;
    page.send({ id: 7, open: '/api/v1/namespaces?watch=true', accept });
    const { events } = await page.next(({ events: some }) => some !== undefined);
    expect(events[0]).toMatchObject({ type: 'ADDED', object: { kind: 'Table', columnDefinitions: expect.anything() } });
  });
  test('gets the Status of a watch that its user may not open, or that is too old', async () => {
    const page = await connected(await loggedIn('alice-token'));
    page.send({ id: 1, open: watchOf('secrets') });
    expect(await page.next(({ id, status }) => id === 1 && status !== undefined)).toEqual({ id: 1, status: 403 });
    expect(await page.next(({ end }) => end !== undefined)).toMatchObject({ id: 1, end: { kind: 'Status', reason: 'Forbidden' } });
  });
  test('loses a watch when its user loses the right to it, and can open it no more', async () => {
    const group = `rbac.authorization.${server.identity.groupSuffix}`;
    const name = unique('r');
    const bindings = `/apis/${group}/v1/clusterrolebindings`;
    await server.admin.ok('POST', `/apis/${group}/v1/clusterroles`, {
      metadata: { name },
      rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['watch'] }],
    });
    await server.admin.ok('POST', bindings, {
      metadata: { name },
      subjects: [{ kind: 'User', name: 'bob', apiGroup: group }],
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
    });
    const page = await connected(await loggedIn('bob-token'));
    page.send({ id: 1, open: '/api/v1/nodes?watch=true' });
    await page.next(({ status }) => status === 200);
    await server.admin.ok('DELETE', `${bindings}/${name}`);
    expect(await page.next(({ end }) => end !== undefined)).toEqual({ id: 1, end: null });
  });
  test('loses its connection with the session', async () => {
    const browser = await loggedIn();
    const page = await connected(browser);
    page.send({ id: 1, open: watchOf('configmaps') });
    await page.next(({ status }) => status === 200);
    await browser.send('DELETE', '/console/session');
    expect(await page.closed).toEqual({ code: 1008, reason: 'the session has ended' });
  });
  test('opens nothing but watches', async () => {
    const page = await connected(await loggedIn());
    const urls = [
      '/api/v1/secrets',
      '/api/v1/secrets?watch=false',
      '/console/session?watch=true',
      '//evil.example/api/?watch=true',
      '/api/v1/pods?watch=true#x',
      '/healthz?watch=true',
    ];
    for (const [id, open] of urls.entries()) page.send({ id, open });
    for (const id of urls.keys())
      expect(await page.next((message) => message.id === id && message.end !== undefined)).toMatchObject({ end: { code: 400 } });
  });
});

describe('bounds', () => {
  test('a connection has at most 64 watches', async () => {
    const page = await connected(await loggedIn());
    for (let id = 1; id <= 65; id++) page.send({ id, open: watchOf('configmaps') });
    expect(await page.next(({ end }) => end !== undefined)).toMatchObject({ id: 65, end: { code: 429 } });
    page.send({ id: 1, close: true });
    page.send({ id: 66, open: watchOf('configmaps') });
    expect(await page.next(({ id, status }) => id === 66 && status !== undefined)).toEqual({ id: 66, status: 200 });
  });
  test('a session has at most 16 connections', async () => {
    const browser = await loggedIn();
    const pages: PageSocket[] = [];
    for (let i = 0; i < 16; i++) pages.push(await connected(browser));
    await expect(connected(browser)).rejects.toThrow('answered 429');
    pages[0]?.socket.close();
    await pages[0]?.closed;
    // The server sees the end of the connection before it answers that of the browser.
    await connected(browser);
  });
  test.each([
    ['longer than 4 KiB', { id: 1, open: watchOf('configmaps'), accept: 'a'.repeat(4096) }, 1009],
    ['that are no JSON', 'watch pods', 1008],
    ['without an id', { open: watchOf('configmaps') }, 1008],
    ['that say nothing', { id: 1 }, 1008],
    ['null', 'null', 1008],
  ])('messages %s end the connection', async (_, message, code) => {
    const page = await connected(await loggedIn());
    page.send(message);
    expect(await page.closed).toMatchObject({ code });
  });
  test('messages of bytes, and ids that are in use, end the connection', async () => {
    const browser = await loggedIn();
    const [bytes, twice] = [await connected(browser), await connected(browser)];
    bytes.socket.send(Buffer.from('{}'));
    expect(await bytes.closed).toMatchObject({ code: 1003 });
    twice.send({ id: 1, open: watchOf('configmaps') });
    twice.send({ id: 1, open: watchOf('configmaps') });
    expect(await twice.closed).toEqual({ code: 1008, reason: 'the id is in use' });
  });
});

describe('a connection is refused', () => {
  test.each([
    ['of another origin', { origin: 'https://evil.example' }, 403],
    ['of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of a page without an origin', { origin: 'null' }, 403],
    ['without a session', { cookie: '' }, 401],
  ])('%s', async (_, headers: Record<string, string>, status) => {
    const browser = await loggedIn();
    await expect(browser.socket('/console/watch', 'console.v1', headers)).rejects.toThrow(`answered ${status}`);
    await expect(browser.socket('/console/api/api/v1/namespaces/default/pods/p/exec', 'v4.channel.x', headers)).rejects.toThrow(
      `answered ${status}`,
    );
  });
  test('without the subprotocol, and without a WebSocket', async () => {
    const browser = await loggedIn();
    await expect(browser.socket('/console/watch', 'other')).rejects.toThrow('answered 400');
    expect((await browser.send('GET', '/console/watch')).status).toBe(400);
  });
});
