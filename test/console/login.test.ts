/** The ways into the console in a browser, and pages of other origins that have a logged-in browser before them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { consoleHost, startProvider, type TestProvider } from '../../packages/server/src/auth/oidc/provider.testing.ts';
import { axeInBothThemes, beginSession, chromiumPath, consoleTests } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('log-in in a browser', () => {
  let provider: TestProvider;
  let other: Server;
  const tests = consoleTests({
    server: async () => {
      provider = await startProvider({ ann: { email: 'ann@example.org', email_verified: true } });
      const folder = temporaryDirectory('plat-console-login');
      writeFileSync(join(folder, 'ca.crt'), provider.ca);
      writeFileSync(join(folder, 'secret'), 'client-secret\n');
      return {
        consoleAddress: consoleHost,
        oidcIssuerUrl: provider.issuer,
        oidcClientId: 'plat',
        oidcUsernamePrefix: '-',
        oidcCaFile: join(folder, 'ca.crt'),
        consoleOidcClientSecretFile: join(folder, 'secret'),
      };
    },
    browserArguments: ({ port }) => [`--host-resolver-rules=MAP ${consoleHost}:443 127.0.0.1:${port}`],
  });
  const { openAlone } = tests;
  const userOf = (page: Page): Promise<string | null> => page.locator('.menu summary').last().textContent();

  beforeAll(async () => {
    other = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>other</title>'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    other?.close();
    provider?.close();
  });

  test('by the link of the ready message, once', async () => {
    const link = tests.server.running.consoleLink as string;
    const page = await openAlone(link);
    await page.getByRole('navigation').waitFor();
    expect(await userOf(page)).toBe('admin');
    expect(page.url()).toBe(`https://${consoleHost}/console/`);
    const second = await openAlone(link);
    await expect.poll(() => second.getByRole('alert').textContent()).toContain('the code of this link is wrong or was used before');
    expect(await axeInBothThemes(second)).toEqual([]);
  });

  test('by a client certificate, and out again while the overview is read', async () => {
    const config = readFileSync(tests.server.running.adminConfigPath, 'utf8');
    const field = (name: string): Buffer => Buffer.from(new RegExp(`"?${name}"?: "?([^"\\s]+)`).exec(config)?.[1] ?? '', 'base64');
    const certificate = { origin: tests.server.address, cert: field('client-certificate-data'), key: field('client-key-data') };
    const page = await openAlone('/console/', { clientCertificates: [certificate] });
    await page.getByRole('button', { name: "Use the browser's client certificate" }).click();
    await page.getByRole('navigation').waitFor();
    expect(await userOf(page)).toBe('admin');
    await page.locator('.menu summary').last().click();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
  });

  test('at an OpenID provider', async () => {
    const page = await openAlone(`https://${consoleHost}/console/`);
    await page.getByRole('link', { name: 'Log in with OpenID Connect' }).click();
    await page.getByRole('navigation').waitFor();
    expect(await userOf(page)).toBe('ann');
    await page.getByText('You may not list namespaces').waitFor();
  });

  test('whoever logs in as somebody else in the same browser sees nothing of what an older page had', async () => {
    const namespace = await tests.server.namespace();
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'of-the-admin' } });
    const page = await openAlone(`/console/ns/${namespace}/secrets`, { user: 'admin' });
    await page.getByRole('link', { name: 'of-the-admin' }).waitFor();
    await page.getByText('● live').waitFor();
    await beginSession(page.context(), 'bob');
    await expect.poll(() => page.getByText('of-the-admin').count()).toBe(0);
    // The page asks as soon as its connection ends, at times before the browser has the new session: then it shows the log-in.
    const loggedIn = page.getByRole('alert').getByText('User "bob" cannot list');
    const loggedOut = page.getByRole('heading', { name: 'Log in to the console' });
    await loggedIn.or(loggedOut).waitFor();
    if (await loggedOut.isVisible()) await page.reload();
    await loggedIn.waitFor();
    expect(await userOf(page)).toBe('bob');
    expect(await page.getByText('of-the-admin').count()).toBe(0);
    expect(
      tests
        .faultsOf(page)
        .splice(0)
        .filter((fault) => !fault.includes('WebSocket')),
    ).toEqual([]);
  });

  test('a session that ended elsewhere leaves nothing on the page, and its id is of no use', async () => {
    const namespace = await tests.server.namespace();
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name: 'of-the-admin' } });
    const page = await openAlone(`/console/ns/${namespace}/secrets`, { user: 'admin' });
    const cookies = await page.context().cookies();
    await page.getByRole('link', { name: 'of-the-admin' }).waitFor();
    const headers = { 'X-Plat-Console': '1' };
    await page.context().request.delete('/console/session', { headers });
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
    expect(await page.getByText('of-the-admin').count()).toBe(0);
    await page.context().addCookies(cookies);
    expect((await page.context().request.get(`/console/api/api/v1/namespaces/${namespace}/secrets`, { headers })).status()).toBe(401);
    expect(
      tests
        .faultsOf(page)
        .splice(0)
        .filter((fault) => !fault.includes('WebSocket')),
    ).toEqual([]);
  });

  test('a page of another origin can neither use the session nor show the console', async () => {
    const page = await openAlone('/console/namespaces', { user: 'admin' });
    // Another port of this machine: the same site, so that the browser sends the cookie along.
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const attempts = await page.evaluate(`(${otherOrigin})(${JSON.stringify(tests.server.address)})`);
    expect(attempts).toEqual({
      simple: 'refused',
      withHeader: 'refused',
      blind: expect.stringMatching(/opaque|refused/),
      socket: 'refused',
      script: 'refused',
      opened: 'unreachable',
    });
    await page.evaluate(`(${foreignForms})(${JSON.stringify(tests.server.address)})`);
    expect((await tests.server.admin.send('GET', '/api/v1/namespaces/made-by-another-origin')).status).toBe(404);
    // Neither did the forms log out, nor log in as somebody else, nor did a page of the API come to be in the origin of the console.
    const own = await page.context().newPage();
    await own.goto(`${tests.server.address}/console/namespaces`);
    expect(await userOf(own)).toBe('admin');
    expect((await own.goto(`${tests.server.address}/console/api/api/v1/namespaces`))?.status()).toBe(403);
    expect(page.frames().some((frame) => frame.url().startsWith('https:') && !frame.url().startsWith('chrome-error'))).toBe(false);
    // The browser reports what it refused.
    tests.faultsOf(page).length = 0;
  });
});

/** Runs in a page of another origin, whose browser has a session. */
const otherOrigin = `async (address) => {
  const api = address + '/console/api/api/v1/namespaces';
  const attempt = (init) =>
    fetch(api, { credentials: 'include', ...init }).then((response) => (response.type === 'opaque' ? 'opaque' : 'read'), () => 'refused');
  const socket = new Promise((resolve) => {
    const watch = new WebSocket(address.replace('https', 'wss') + '/console/watch', 'console.v1');
    watch.onopen = () => resolve('open');
    watch.onclose = () => resolve('refused');
  });
  const element = document.createElement('script');
  element.src = address + '/console/session';
  const script = new Promise((resolve) => {
    element.onload = () => resolve('read');
    element.onerror = () => resolve('refused');
  });
  document.head.append(element);
  const opened = window.open(address + '/console/');
  await new Promise((resolve) => setTimeout(resolve, 300));
  const readable = (other) => {
    try {
      return other.document.title;
    } catch {
      return 'unreachable';
    }
  };
  const frame = document.createElement('iframe');
  frame.src = address + '/console/';
  const framed = new Promise((resolve) => (frame.onload = resolve));
  document.body.append(frame);
  await framed;
  return {
    simple: await attempt(),
    withHeader: await attempt({ headers: { 'X-Plat-Console': '1' } }),
    blind: await attempt({ method: 'POST', mode: 'no-cors', body: '{"metadata":{"name":"made-by-another-origin"}}' }),
    socket: await socket,
    script: await script,
    opened: opened === null || opened.closed ? 'unreachable' : readable(opened),
  };
}`;

/** Runs there, too: forms need no consent, and what they send is refused by its type, its origin, or the header that it lacks. */
const foreignForms = `async (address) => {
  for (const [path, type, name] of [
    ['/console/session', 'text/plain', '{"token":"bob-token","a":"'],
    ['/console/session', 'application/x-www-form-urlencoded', 'token'],
    ['/console/api/api/v1/namespaces', 'text/plain', '{"metadata":{"name":"made-by-another-origin"},"a":"'],
  ]) {
    const frame = document.createElement('iframe');
    frame.name = 'target';
    const form = Object.assign(document.createElement('form'), { method: 'POST', action: address + path, enctype: type, target: 'target' });
    form.append(Object.assign(document.createElement('input'), { name, value: '"}' }));
    document.body.append(frame, form);
    const sent = new Promise((resolve) => (frame.onload = resolve));
    form.submit();
    await sent;
    frame.remove();
    form.remove();
  }
}`;
