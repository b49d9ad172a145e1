/** Tables of the console in a browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startTestServer } from '../support/server.ts';
import { axeInBothThemes, chromiumPath, consoleTests, logIn } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('tables', () => {
  const tests = consoleTests();
  const { open } = tests;
  const secret = (namespace: string, name: string, more: object = {}) =>
    tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/secrets`, { metadata: { name, ...more } });

  const names = async (page: Page): Promise<string[]> => page.getByRole('gridcell').getByRole('link').allTextContents();

  test('the page asks for a token, and says when it is wrong', async () => {
    const page = await tests.openAlone('/console/namespaces');
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await logIn(page, 'admin-token');
    await page.getByRole('link', { name: 'default', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/namespaces');
  });

  test('a table has the columns of the server, and shows what others do', async () => {
    const namespace = await tests.server.namespace();
    await secret(namespace, 'first');
    const page = await open(`/console/ns/${namespace}/secrets`);
    await page.getByRole('link', { name: 'first', exact: true }).waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['', 'Name', 'Type', 'Data', 'Age']);
    await secret(namespace, 'second');
    await expect.poll(() => names(page)).toEqual(['first', 'second']);
    const second = `/api/v1/namespaces/${namespace}/secrets/second`;
    await tests.server.admin.ok('PUT', second, { metadata: { name: 'second' }, data: { a: 'MQ==', b: 'Mg==' } });
    await page.getByRole('row', { name: /second Opaque 2/ }).waitFor();
    await tests.server.admin.ok('DELETE', `/api/v1/namespaces/${namespace}/secrets/first`);
    await expect.poll(() => names(page)).toEqual(['second']);
  });

  test('filter, selectors and order stand in the URL', async () => {
    const namespace = await tests.server.namespace();
    for (const name of ['web-10', 'web-9', 'db']) await secret(namespace, name, { labels: { tier: name === 'db' ? 'data' : 'front' } });
    const page = await open(`/console/ns/${namespace}/secrets`);
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
    const namespace = await tests.server.namespace();
    await secret(namespace, 'only-here');
    const page = await open('/console/secrets?q=only-here');
    await page.getByRole('row', { name: new RegExp(`${namespace} only-here`) }).waitFor();
    await page.getByRole('combobox', { name: 'Namespace' }).selectOption(namespace);
    await expect.poll(() => page.getByRole('columnheader').allTextContents()).toEqual(['', 'Name', 'Type', 'Data', 'Age']);
    expect(new URL(page.url()).pathname).toBe(`/console/ns/${namespace}/secrets`);
  });

  test('everything can be done with the keyboard', async () => {
    const namespace = await tests.server.namespace();
    for (const name of ['a', 'b', 'c']) await secret(namespace, name);
    const page = await open(`/console/ns/${namespace}/secrets`);
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'b' }).first().waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { name: 'Service', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console/ns/${namespace}/services`);
    await page.keyboard.press('/');
    await page.keyboard.type('secre');
    await page.getByRole('option', { name: /^Secret/ }).waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c']);
  });

  test('a kind that is defined while the page is open appears, with its own columns', async () => {
    const page = await open('/console/example.org/v1/boats');
    await page.getByRole('heading', { name: 'The server has no kind boats' }).waitFor();
    const column = { name: 'Sails', type: 'integer', jsonPath: '.sails' };
    const schema = { openAPIV3Schema: { type: 'object', properties: { sails: { type: 'integer' } } } };
    const version = { name: 'v1', served: true, storage: true, schema, additionalPrinterColumns: [column] };
    const names = { plural: 'boats', kind: 'Boat' };
    const path = `/apis/apiextensions.${tests.server.identity.groupSuffix}/v1/customresourcedefinitions`;
    const spec = { group: 'example.org', scope: 'Cluster', names, versions: [version] };
    await tests.server.admin.ok('POST', path, { metadata: { name: 'boats.example.org' }, spec });
    await page.getByRole('heading', { name: 'There are no boats' }).waitFor();
    const boat = { apiVersion: 'example.org/v1', kind: 'Boat', metadata: { name: 'ketch' }, sails: 5 };
    await tests.server.admin.ok('POST', '/apis/example.org/v1/boats', boat);
    await page.getByRole('row', { name: /ketch 5/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ketch');
    await page.getByRole('option', { name: 'ketch Boat' }).waitFor();
  });

  test('selected objects are deleted after a question', async () => {
    const namespace = await tests.server.namespace();
    for (const name of ['a', 'b', 'c', 'd']) await secret(namespace, name);
    const page = await open(`/console/ns/${namespace}/secrets`);
    await expect.poll(() => names(page)).toEqual(['a', 'b', 'c', 'd']);
    await page.keyboard.press(' ');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog', { name: 'Delete 3 secrets?' });
    await dialog.waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await expect.poll(() => names(page)).toEqual(['d']);
    await page.getByText('Deleted 3 secrets.').waitFor();
  });

  test('whoever may not list is told so in the words of the server', async () => {
    const page = await open('/console/secrets', 'bob');
    await expect.poll(() => page.getByRole('alert').first().textContent()).toContain('User "bob" cannot list resource "secrets"');
    expect(await axeInBothThemes(page)).toEqual([]);
  });

  test('50,000 rows are read in pages, drawn as far as they can be seen, and take less than 150 MB', async () => {
    const { metadata } = await tests.server.admin.ok('GET', '/api/v1/pods?limit=1');
    const count = 50_000;
    const page = await tests.openAlone('/console/now?kinds=none', { user: 'admin' });
    const limits: string[] = [];
    await page.route('**/console/api/api/v1/pods?*', async (route) => {
      const query = new URL(route.request().url()).searchParams;
      limits.push(query.get('limit') ?? 'none');
      await route.fulfill({ json: tablePage(Number(query.get('continue') ?? 0), count, metadata.resourceVersion) });
    });
    await page.goto('/console/pods');
    const grid = page.getByRole('grid');
    await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe(String(count + 1));
    expect(limits).toEqual(Array.from({ length: count / 500 }, () => '500'));
    expect(await page.getByRole('row').count()).toBeLessThan(80);
    await grid.focus();
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'pod-049999' }).waitFor();
    await page.keyboard.press('Home');
    await page.getByRole('link', { name: 'pod-000000' }).waitFor();
    await page.getByRole('columnheader', { name: 'Restarts' }).getByRole('button').click();
    await page.getByRole('columnheader', { name: 'Restarts' }).getByRole('button').click();
    await page.getByRole('link', { name: 'pod-000996' }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('pod-04321');
    await expect.poll(() => names(page)).toHaveLength(10);
    expect(await heapBytes(page)).toBeLessThan(150e6);
  });

  test('markup and hidden characters of objects are text', async () => {
    const namespace = await tests.server.namespace();
    const message = '<img src=x onerror="window.ran = true">\u202egnirts';
    const involvedObject = { kind: 'ConfigMap', name: 'a', namespace };
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: 'e' },
      involvedObject,
      message,
      reason: 'Test',
    });
    const page = await open(`/console/ns/${namespace}/events?wide=true`);
    await page.getByText('<img src=x onerror="window.ran = true">⟨U+202E⟩gnirts').first().waitFor();
    expect(await page.evaluate('window.ran')).toBeUndefined();
  });

  test('after a restart of the server the page asks to log in again, and goes on', async () => {
    const own = await startTestServer({ store: 'lmdb' });
    const page = await tests.openAlone('/console/namespaces', { server: own, user: 'admin' });
    await page.getByRole('link', { name: 'default', exact: true }).waitFor();
    const restarted = await own.restart();
    await logIn(page, 'admin-token');
    await restarted.admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'after-restart' } });
    await page.getByRole('link', { name: 'after-restart' }).waitFor();
    // The browser reports the connections that the restart ended or refused.
    expect(
      tests
        .faultsOf(page)
        .splice(0)
        .filter((fault) => !/net::ERR_|WebSocket/.test(fault)),
    ).toEqual([]);
    await page.context().close();
    await restarted.close();
  });

  test.each(['light', 'dark'] as const)('axe finds nothing wrong: %s', async (colorScheme) => {
    const page = await open('/console/serviceaccounts');
    await page.emulateMedia({ colorScheme });
    await page.getByRole('link', { name: 'default', exact: true }).first().waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
  });
});

/** A page of 500 pods as a server would have them, of which each has the metadata of a real one. */
function tablePage(from: number, count: number, resourceVersion: string): object {
  const columns = ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node'];
  const rowOf = (index: number) => {
    const name = `pod-${String(index).padStart(6, '0')}`;
    const creationTimestamp = '2024-01-01T00:00:00Z';
    const labels = { app: 'web', 'pod-template-hash': '5d8f9c7b6d' };
    const managedFields = [{ manager: 'controller', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } } } }];
    const metadata = { name, namespace: 'default', uid: `uid-${index}`, creationTimestamp, labels, managedFields };
    return { cells: [name, '1/1', 'Running', index % 997, '5d', `10.0.${index % 256}.7`, `node-${index % 100}`], object: { metadata } };
  };
  const next = from + 500;
  return {
    kind: 'Table',
    metadata: { resourceVersion, ...(next < count && { continue: String(next), remainingItemCount: count - next }) },
    columnDefinitions: columns.map((name, index) => ({ name, type: 'string', format: '', description: name, priority: index > 4 ? 1 : 0 })),
    rows: Array.from({ length: 500 }, (_, index) => rowOf(from + index)),
  };
}

/** What the page holds after the garbage is gone. */
async function heapBytes(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize;
}
