/** `plat console` in a browser, for a server with stock names that has no console of its own. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestIO } from '../../packages/cli/src/testing.ts';
import { platFor } from '../support/plat.ts';
import { axeInBothThemes, chromiumPath, consoleTests } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('plat console', () => {
  const tests = consoleTests({
    server: { identity: 'kubernetes', console: false, workloads: ['controllers', 'scheduler', 'nodes'] },
  });
  let namespace: string;
  let page: Page;
  let origin: string;
  let command: { readonly io: TestIO; readonly code: Promise<number> };

  beforeAll(async () => {
    const { server } = tests;
    expect((await server.anonymous.send('GET', '/console/')).status).toBe(403);
    expect((await server.admin.send('GET', '/console/')).status).toBe(404);
    namespace = await server.namespace();
    const script = 'i=0; while true; do echo tick $i; i=$((i+1)); sleep 1; done';
    await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: 'talker' },
      spec: { containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', script] }] },
    });
    command = platFor(server).start(['console', '--no-browser']);
    await Promise.race([command.io.said('/console/?code='), command.code]);
    const link = /http:\S+code=\S+/.exec(command.io.stdout)?.[0] ?? '';
    origin = new URL(link).origin;
  });
  afterAll(async () => {
    command?.io.send('SIGINT');
    expect(await command?.code).toBe(0);
  });
  const go = async (path: string): Promise<void> => void (await page.goto(`${origin}/console/ns/${namespace}${path}`));

  test('the link logs in as the user of the client configuration, and what others change appears', async () => {
    page = await tests.openAlone(/http:\S+code=\S+/.exec(command.io.stdout)?.[0] ?? '', { staysOpen: true });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.locator('.menu summary').last().textContent()).toBe('admin');
    await go('/configmaps');
    await page.getByText('● live').waitFor();
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'made-by-another' } });
    await page.getByRole('link', { name: 'made-by-another' }).waitFor();
  });

  test('logs of a pod are followed', async () => {
    await go('/pods/talker?tab=logs');
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText('tick 0', { exact: true }).waitFor();
    const count = await lines.getByRole('listitem').count();
    await expect.poll(() => lines.getByRole('listitem').count()).toBeGreaterThan(count);
  });

  test('a terminal runs commands in a pod, and says how they ended', async () => {
    await go('/pods/talker?tab=terminal');
    await page.getByText('● connected').waitFor();
    await page.keyboard.type('echo one and $((1 + 1))\n');
    await page.getByRole('region', { name: 'Terminal in main' }).getByText('one and 2', { exact: true }).first().waitFor();
    await page.keyboard.type('exit 3\n');
    await page.getByText('The command has ended with exit code 3.').waitFor();
  });

  test.each([
    ['/pods/talker?tab=history', 'This server keeps no history'],
    ['/access?verb=delete&resource=pods&user=alice', 'As far as roles and bindings tell'],
  ])('what such a server does not tell is said, or found another way: %s', async (path, text) => {
    await go(path);
    await page.getByText(text).first().waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
  });
});
