/** The overview, access, now and nodes in a browser. */
import { describe, expect, test } from 'vitest';
import { axeInBothThemes, chromiumPath, consoleTests } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('pages of the whole control plane', () => {
  const tests = consoleTests({ server: { workloads: ['controllers', 'scheduler', 'nodes'] } });
  const { open } = tests;
  /** Alice may see what is in the namespace, and no more. */
  const namespaceOfAlice = async (): Promise<string> => {
    const namespace = await tests.server.namespace();
    const apiGroup = `rbac.authorization.${tests.server.identity.groupSuffix}`;
    await tests.server.admin.ok('POST', `/apis/${apiGroup}/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'readers' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup, name: 'alice' }],
    });
    return namespace;
  };

  test('the overview shows health, counts, load, changes that somebody made, and namespaces', async () => {
    const namespace = await tests.server.namespace();
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'recent-one' } });
    const page = await open('/console/');
    await page.getByRole('list', { name: 'Health' }).getByText('Ready').waitFor();
    await expect.poll(() => page.getByRole('list', { name: 'Objects by kind' }).getByRole('link').allTextContents()).toContain('3 nodes');
    await page
      .getByRole('img', { name: /Objects in the store over the last hour; now: objects \d+/ })
      .locator('canvas')
      .waitFor();
    await page.getByRole('link', { name: 'configmaps/recent-one' }).waitFor();
    await page.getByRole('link', { name: namespace, exact: true }).waitFor();
  });

  test('an overview that is left open asks rarely', async () => {
    const page = await tests.openAlone('/console/now', { user: 'admin' });
    await page.clock.install();
    await page.goto('/console/');
    await page
      .getByRole('link', { name: /nodes$/ })
      .first()
      .waitFor();
    await page
      .getByRole('img', { name: /Latency/ })
      .locator('canvas')
      .waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/console/api', '')));
    for (let second = 0; second < 60; second += 5) await page.clock.runFor(5000);
    const metrics = (): number => asked.filter((path) => path === '/metrics').length;
    await expect.poll(metrics).toBeGreaterThanOrEqual(5);
    expect(metrics()).toBeLessThanOrEqual(7);
    // In a minute also: health twice, and each usual kind once for its count and once for its history.
    expect(asked.length).toBeLessThanOrEqual(7 + 2 * 3 + 2 * 13);
  });

  test('what was denied is not asked for again', async () => {
    const page = await tests.openAlone('/console/now?kinds=none', { user: 'bob' });
    await page.clock.install();
    await page.goto('/console/');
    await expect.poll(() => page.getByText('no access').count()).toBeGreaterThan(5);
    await page.getByText('You may not read who changed what').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/console/api', '')));
    for (let second = 0; second < 60; second += 5) await page.clock.runFor(5000);
    await expect.poll(() => asked.filter((path) => path === '/livez').length).toBeGreaterThan(0);
    expect(asked.filter((path) => path !== '/livez' && path !== '/readyz')).toEqual([]);
  });

  test('a user with few rights sees what they may, and why the rest is not there', async () => {
    const namespace = await namespaceOfAlice();
    const page = await open('/console/', 'alice');
    await page.getByText('You may not read the metrics of the server').waitFor();
    await page.getByText('You may not list namespaces').waitFor();
    await expect.poll(() => page.getByText('no access').count()).toBeGreaterThan(5);
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.getByRole('link', { name: 'Why, and what would allow it' }).click();
    await page.getByText(/You may not$/).waitFor();
    await expect.poll(() => page.locator('pre').textContent()).toContain('/metrics');
    await page.goto(`/console/ns/${namespace}`);
    await expect
      .poll(() => page.getByRole('list', { name: 'Objects by kind' }).getByRole('link').allTextContents())
      .toContain('1 configmaps');
  });

  test('a refusal names the nearest binding and the role that allows it; created by another, it does', async () => {
    const namespace = await namespaceOfAlice();
    const path = `/console/ns/${namespace}/access`;
    const page = await open(path, 'alice');
    await page.getByRole('link', { name: 'list pods: yes' }).waitFor();
    await page.getByRole('link', { name: 'delete pods: no' }).click();
    await page.getByText(/You may not$/).waitFor();
    await page.locator('pre').getByText('verbs').waitFor();
    const admin = await open(`${path}?user=alice&verb=delete&resource=pods`);
    await admin.getByText(/alice may not$/).waitFor();
    await admin.getByText(`RoleBinding ${namespace}/readers`).waitFor();
    await admin.getByRole('link', { name: 'list pods: yes' }).waitFor();
    await admin.getByRole('button', { name: 'Create both' }).click();
    await admin.getByRole('button', { name: 'Created' }).waitFor();
    await page.reload();
    await page.getByText(/You may$/).waitFor();
    await page.getByRole('link', { name: 'delete pods: yes' }).waitFor();
    await admin.reload();
    await admin.getByRole('region', { name: 'Who can' }).getByText('User alice').waitFor();
  });

  test('a change appears in the stream with who made it, filtered and paused', async () => {
    const namespace = await tests.server.namespace();
    const create = (name: string) => tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } });
    const page = await open(`/console/ns/${namespace}/now?kinds=none`);
    const rows = page.getByRole('region', { name: 'What happened, newest first' }).getByRole('listitem');
    const listening = page.waitForResponse(/\/configmaps\?limit=1$/);
    await page.goto(`/console/ns/${namespace}/now?kinds=configmaps`);
    await listening;
    await create('first');
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringMatching(/created.*configmaps\/first.*admin.*create/)]);
    await page.getByRole('button', { name: 'Pause' }).click();
    await create('second');
    await page.getByText('paused, 1 more').waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('searchbox', { name: 'Text' }).fill('second');
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('text')).toBe('second');
    await page.getByRole('searchbox', { name: 'User' }).fill('nobody');
    await page.getByText('Nothing fits the filter').waitFor();
  });

  test('a refused request appears in the stream and leads to its explanation', async () => {
    const namespace = await namespaceOfAlice();
    await tests.server.alice.send('GET', `/api/v1/namespaces/${namespace}/secrets`);
    const page = await open(`/console/ns/${namespace}/now?kinds=none`, 'alice');
    await page.getByRole('link', { name: 'secrets', exact: true }).click();
    await page.getByRole('heading', { name: `You: list secrets in ${namespace}` }).waitFor();
    await page.getByText(/You may not$/).waitFor();
  });

  test('a node is cordoned, fails by a button, and comes back', async () => {
    const page = await open('/console/nodes');
    const node = async () => tests.server.admin.ok('GET', '/api/v1/nodes/node-1');
    const card = page.getByRole('listitem').filter({ hasText: 'node-1' });
    await card.getByText('Ready').waitFor();
    await card.getByText('of 110').waitFor();
    await page.getByText('Time passes as usual.').waitFor();
    await page.getByRole('button', { name: 'Cordon node-1' }).click();
    await card.getByText('Cordoned').waitFor();
    expect((await node()).spec.unschedulable).toBe(true);
    await page.getByRole('button', { name: 'Fail node-1' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Fail', exact: true }).click();
    await page.getByRole('button', { name: 'Bring node-1 back' }).waitFor();
    expect(Object.entries((await node()).metadata.annotations)).toContainEqual([expect.stringMatching(/^simulation\..*\/down$/), 'true']);
    await page.getByRole('button', { name: 'Bring node-1 back' }).click();
    await page.getByRole('button', { name: 'Fail node-1' }).waitFor();
  });

  test.each([
    '/console/',
    '/console/access?verb=delete&resource=pods&user=alice',
    '/console/now',
    '/console/nodes',
    '/console/graph',
    '/console/create',
    '/console/none/such/page',
  ])('axe finds nothing on %s', async (path) => {
    const page = await open(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.locator('.spinner').count()).toBe(0);
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeInBothThemes(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= 390')).toBe(true);
  });
});
