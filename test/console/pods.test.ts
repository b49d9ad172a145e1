/** Logs, terminal and graph in a browser, on simulated pods; and the way from a deployment that is not ready to one that is. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { axeInBothThemes, chromiumPath, consoleTests } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('pods in the console', () => {
  const tests = consoleTests({ server: { workloads: ['controllers', 'scheduler', 'nodes'] } });
  const { open } = tests;
  let namespace: string;
  const simulated = (name: string, value: string) => ({ [`simulation.${tests.server.identity.domain}/${name}`]: value });
  const create = (path: string, object: object) => tests.server.admin.ok('POST', path, object);
  beforeAll(async () => {
    namespace = await tests.server.namespace();
    await create(`/api/v1/namespaces/${namespace}/configmaps`, {
      metadata: { name: 'colours' },
      data: { text: '\u001b[31mred \u001b[38;2;1;2;3mown \u001b]0;title\u0007\u001b[0mend\n' },
    });
    const script = 'i=0; while true; do echo tick $i; i=$((i+1)); sleep 1; done';
    await create(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: 'talker', annotations: simulated('logs.proxy', 'GET /\nGET /cart\nERROR timeout\n') },
      spec: {
        containers: [
          { name: 'main', image: 'busybox', command: ['sh', '-c', script], volumeMounts: [{ name: 'colours', mountPath: '/colours' }] },
          { name: 'proxy', image: 'envoy' },
        ],
        volumes: [{ name: 'colours', configMap: { name: 'colours' } }],
      },
    });
  });

  const linesOf = (page: Page) => page.getByRole('region', { name: 'Lines of the log' });
  const logs = (more = ''): string => `/console/ns/${namespace}/pods/talker?tab=logs${more}`;

  test('a log grows while it is looked at, stands still when it is paused, and goes on', async () => {
    const page = await open(logs());
    await linesOf(page).getByText('tick 0').waitFor();
    await linesOf(page).getByText('tick 2').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    const count = await linesOf(page).getByRole('listitem').count();
    await page.getByText(/paused, \d+ more/).waitFor();
    expect(await linesOf(page).getByRole('listitem').count()).toBe(count);
    await page.getByRole('button', { name: 'Go on' }).click();
    await expect.poll(() => linesOf(page).getByRole('listitem').count()).toBeGreaterThan(count);
    expect(await axeInBothThemes(page)).toEqual([]);
  });

  test('several containers are one log, in which a text is found; the server has it as a file', async () => {
    const page = await open(logs('&container=proxy'));
    await linesOf(page).getByText('ERROR timeout').waitFor();
    expect(await linesOf(page).getByText('tick').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'main' }).check();
    await linesOf(page).getByText('tick 0').waitFor();
    await page.getByRole('searchbox', { name: 'Search the log' }).fill('error');
    await page.getByText('1 of 1').waitFor();
    expect(await linesOf(page).locator('mark').allTextContents()).toEqual(['ERROR']);
    await page.getByRole('checkbox', { name: 'Only matches' }).check();
    await expect.poll(() => linesOf(page).getByText('tick').count()).toBe(0);
    const query = new URL(page.url()).searchParams;
    expect([query.get('container'), query.get('q'), query.get('only')]).toEqual(['main,proxy', 'error', 'true']);
    await page.getByRole('checkbox', { name: 'main' }).uncheck();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download' }).click()]);
    expect(download.suggestedFilename()).toBe('talker-proxy.log');
    expect(readFileSync(await download.path(), 'utf8')).toMatch(/^\S+Z GET \/\n\S+Z GET \/cart\n\S+Z ERROR timeout\n$/);
  });

  test('markup, control characters and a line of a megabyte in a log are only text', async () => {
    const page = await open('/console/now?kinds=none');
    const time = '2024-05-01T10:00:00Z';
    const evil = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>\u202e\u0000\u001b]8;;javascript:alert(1)\u0007';
    const body = [evil, `${'x'.repeat(1_000_000)} end`, '\u001b[1;31mlast\u001b[0m'].map((text) => `${time} ${text}\n`).join('');
    await page.route('**/pods/talker/log?*', (route) => route.fulfill({ body, contentType: 'text/plain' }));
    await page.goto(logs());
    await linesOf(page).getByText('last', { exact: true }).waitFor();
    await linesOf(page).getByText('⟨U+202E⟩').waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await linesOf(page).locator('img, script, a').count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Wrap lines' }).check();
    await page.getByRole('button', { name: 'all 1,000,004 characters' }).click();
    await page.getByRole('dialog', { name: 'A line of 1,000,004 characters' }).getByText('end').waitFor();
  });

  const screenOf = (page: Page) => page.getByRole('region', { name: 'Terminal in main' });

  test('a terminal runs what is typed, shows colours, and says how a command ended', async () => {
    const page = await open(`/console/ns/${namespace}/pods/talker?tab=terminal`);
    await page.getByText('● connected').waitFor();
    await page.keyboard.type('echo one and $((1 + 1))\n');
    await screenOf(page).getByText('one and 2', { exact: true }).first().waitFor();
    await page.keyboard.type('cat /colours/text\n');
    await screenOf(page).locator('.xterm-rows span', { hasText: 'own' }).first().waitFor();
    // The size of the letters and their colour come by style sheets that the Content-Security-Policy allows.
    const own = 'getComputedStyle([...document.querySelectorAll(".xterm-rows span")].find((span) => span.textContent.startsWith("own")))';
    expect(await page.evaluate(`[${own}.display, ${own}.color !== getComputedStyle(document.querySelector(".xterm-rows")).color]`)).toEqual(
      ['inline-block', true],
    );
    expect(await page.title()).not.toContain('title');
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Control+Shift+E');
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Start again');
    await screenOf(page).click();
    await page.keyboard.type('exit 3\n');
    await page.getByText('The command has ended with exit code 3.').waitFor();
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('● connected').waitFor();
    await page.getByLabel('Command').fill('nothing-like-it');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText(/The command has ended/).waitFor();
  });

  test('whoever may only view reads logs, and is told why there is no terminal', async () => {
    const apiGroup = `rbac.authorization.${tests.server.identity.groupSuffix}`;
    await create(`/apis/${apiGroup}/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: 'viewers' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup, name: 'alice' }],
    });
    const page = await open(logs(), 'alice');
    await linesOf(page).getByText('tick').first().waitFor();
    await page.getByRole('tab', { name: 'Terminal' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('User "alice" cannot');
    // The browser itself reports the connection that was refused.
    tests.faultsOf(page).length = 0;
  });

  test('a graph has owners, services and groups that open, and is used with the keyboard', async () => {
    const shop = await tests.server.namespace();
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    const selector = { matchLabels: { app: 'web' } };
    await create(`/apis/apps/v1/namespaces/${shop}/deployments`, { metadata: { name: 'web' }, spec: { replicas: 5, selector, template } });
    await create(`/api/v1/namespaces/${shop}/services`, {
      metadata: { name: 'bweb' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    const page = await open(`/console/ns/${shop}/graph`);
    const group = page.getByRole('button', { name: /Pod group.*5 pods/ });
    await group.getByText('5 Running').waitFor();
    await page.getByRole('link', { name: /Deployment.*web.*5 of 5 ready/ }).focus();
    expect(await axeInBothThemes(page)).toEqual([]);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.locator(':focus').textContent()).toContain('5 pods');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('link', { name: /^Pod.*owned by ReplicaSet web-/ }).count()).toBe(5);
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('nothing');
    await page.getByText('Nothing fits the filter').waitFor();
    await page.getByRole('searchbox', { name: 'Filter by name' }).fill('web');
    await page.getByRole('link', { name: /^Service.*bweb/ }).press('Enter');
    await page.getByRole('heading', { level: 1, name: /bweb/ }).waitFor();
  });

  test('somebody finds why a deployment is not ready, repairs it in the editor, and takes that back', async () => {
    const nodes = await tests.server.admin.ok('GET', '/api/v1/nodes');
    const label = Object.keys(nodes.items[0].metadata.labels).find((key) => key.endsWith('/hostname')) as string;
    const spec = { containers: [{ name: 'shop', image: 'shop' }], nodeSelector: { [label]: 'gone' } };
    await create(`/apis/apps/v1/namespaces/${namespace}/deployments`, {
      metadata: { name: 'shop' },
      spec: { selector: { matchLabels: { app: 'shop' } }, template: { metadata: { labels: { app: 'shop' } }, spec } },
    });
    const page = await open(`/console/ns/${namespace}`);
    await page
      .getByRole('link', { name: /deployments$/ })
      .first()
      .click();
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByText('0 of 1 ready').waitFor();
    await page
      .getByRole('region', { name: 'Pods' })
      .getByText(/0\/3 nodes are available.*(selector|affinity)/)
      .waitFor();
    // So that all of the text is on the page.
    await page.setViewportSize({ width: 1280, height: 2400 });
    await page.keyboard.press('e');
    await page.locator('.yaml-editor .cm-content').getByText('gone', { exact: true }).dblclick();
    await page.keyboard.type(nodes.items[0].metadata.labels[label]);
    await page.keyboard.press('Control+s');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('tab', { name: 'Summary' }).click();
    await page.getByText('1 of 1 ready').waitFor({ timeout: 20_000 });
    await page.getByRole('tab', { name: 'History' }).click();
    await page
      .getByText(/changes of its status/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Undo this change' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click();
    await page.getByText(/is again as it was/).waitFor();
    const { spec: stored } = await tests.server.admin.ok('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/shop`);
    expect(stored.template.spec.nodeSelector).toEqual({ [label]: 'gone' });
  });
});
