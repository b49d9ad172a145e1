/** Tables of the console in a browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';
import { axeViolations, chromiumPath, launch, logIn, type OpenPage, openConsole, openPage } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('tables', () => {
  let server: TestServer;
  let browser: Browser;
  const opened: OpenPage[] = [];
  const open = async (path: string, token?: string): Promise<OpenPage> => {
    const one = await openConsole(browser, server, path, token);
    opened.push(one);
    return one;
  };
  const configMap = (namespace: string, name: string, more: object = {}) =>
    server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, ...more } });

  beforeAll(async () => {
    server = await startTestServer();
    browser = await launch();
  });
  afterEach(async () => {
    for (const { context, faults } of opened.splice(0)) {
      expect(faults).toEqual([]);
      await context.close();
    }
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const names = async (page: Page): Promise<string[]> => page.getByRole('gridcell').getByRole('link').allTextContents();

  test('the page asks for a token, and says when it is wrong', async () => {
    const one = await openPage(browser, server, '/console/namespaces');
    opened.push(one);
    await one.page.getByLabel('Token').fill('wrong');
    await one.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await one.page.getByRole('alert').waitFor();
    expect(await axeViolations(one.page)).toEqual([]);
    await logIn(one.page, 'admin-token');
    await one.page.getByRole('link', { name: 'default', exact: true }).waitFor();
    expect(new URL(one.page.url()).pathname).toBe('/console/namespaces');
  });

  test('a table has the columns of the server, and shows what others do', async () => {
    const namespace = await server.namespace();
    await configMap(namespace, 'first');
    const { page } = await open(`/console/ns/${namespace}/configmaps`);
    await page.getByRole('link', { name: 'first', exact: true }).waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['', 'Name', 'Data', 'Age']);
    await configMap(namespace, 'second');
    await expect.poll(() => names(page)).toEqual(['first', 'second']);
    const second = `/api/v1/namespaces/${namespace}/configmaps/second`;
    await server.admin.ok('PUT', second, { metadata: { name: 'second' }, data: { a: '1', b: '2' } });
    await page.getByRole('row', { name: /second 2/ }).waitFor();
    await server.admin.ok('DELETE', `/api/v1/namespaces/${namespace}/configmaps/first`);
    await expect.poll(() => names(page)).toEqual(['second']);
  });

  test('filter, selectors and order stand in the URL', async () => {
    const namespace = await server.namespace();
    for (const name of ['web-10', 'web-9', 'db']) await configMap(namespace, name, { labels: { tier: name === 'db' ? 'data' : 'front' } });
    const { page } = await open(`/console/ns/${namespace}/configmaps`);
    await expect.poll(() => names(page)).toEqual(['db', 'web-10', 'web-9']);
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await expect.poll(() => names(page)).toEqual(['db', 'web-9', 'web-10']);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('web');
    await expect.poll(() => names(page)).toEqual(['web-9', 'web-10']);
    await page.reload();
    await expect.poll(() => names(page)).toEqual(['web-9', 'web-10']);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('');
    await page.getByRole('textbox', { name: 'Labels' }).fill('tier=data');
    await page.keyboard.press('Enter');
    await expect.poll(() => names(page)).toEqual(['db']);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ sort: 'Name', labels: 'tier=data' });
    await page.getByRole('textbox', { name: 'Labels' }).fill('tier in');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('unable to parse');
  });

  test('all namespaces have a column for them, and the picker chooses one', async () => {
    const namespace = await server.namespace();
    await configMap(namespace, 'only-here');
    const { page } = await open('/console/configmaps?q=only-here');
    await page.getByRole('row', { name: new RegExp(`${namespace} only-here`) }).waitFor();
    await page.getByRole('combobox', { name: 'Namespace' }).selectOption(namespace);
    await expect.poll(() => page.getByRole('columnheader').allTextContents()).toEqual(['', 'Name', 'Data', 'Age']);
    expect(new URL(page.url()).pathname).toBe(`/console/ns/${namespace}/configmaps`);
  });

  test('everything can be done with the keyboard', async () => {
    const namespace = await server.namespace();
    for (const name of ['a', 'b', 'c']) await configMap(namespace, name);
    const { page } = await open(`/console/ns/${namespace}/configmaps`);
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'b' }).first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Service', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/ns/${namespace}/services`);
    await page.keyboard.press('/');
    await page.keyboard.type('confi');
    await page.getByRole('option', { name: /^ConfigMap/ }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
  });

  test('selected objects are deleted after a question', async () => {
    const namespace = await server.namespace();
    for (const name of ['a', 'b', 'c', 'd']) await configMap(namespace, name);
    const { page } = await open(`/console/ns/${namespace}/configmaps`);
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c', 'd']);
    await page.keyboard.press(' ');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog', { name: 'Delete 3 configmaps?' });
    await dialog.waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => names(page)).toEqual(['d']);
    await page.getByText('Deleted 3 configmaps.').waitFor();
  });

  test('whoever may not list is told so in the words of the server', async () => {
    const { page } = await open('/console/secrets', 'bob-token');
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain('User "bob" cannot list resource "secrets"');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('markup and hidden characters of objects are text', async () => {
    const namespace = await server.namespace();
    const message = '<img src=x onerror="window.ran = true">\u202egnirts';
    const involvedObject = { kind: 'ConfigMap', name: 'a', namespace };
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: 'e' },
      involvedObject,
      message,
      reason: 'Test',
    });
    const { page } = await open(`/console/ns/${namespace}/events?wide=true`);
    await page.getByText('<img src=x onerror="window.ran = true">⟨U+202E⟩gnirts').first().waitFor();
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });

  test.each(['light', 'dark'] as const)('axe finds nothing wrong: %s', async (colorScheme) => {
    const { page } = await open('/console/serviceaccounts');
    await page.emulateMedia({ colorScheme });
    await page.getByRole('link', { name: 'default', exact: true }).first().waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });
});
