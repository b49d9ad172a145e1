/** What objects of others hold may be anything: markup, control characters, marks of direction, lines of a megabyte. It is only text. */
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { groupName } from '../../packages/meta/src/identity.ts';
import { chromiumPath, consoleTests } from './chromium.ts';

const evil = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>{{7*7}}javascript:globalThis.ran=1//';
const hidden = '\u202egnirts\u2066\u200b\u0007\u001b]8;;javascript:alert(1)\u0007\u001b[31m\u3164';
const megabyte = 'x'.repeat(1_000_000);
/** Names of roles may hold all of ASCII but slashes and percent signs. */
const evilName = '<img src=x onerror="globalThis.ran=1"> role';

describe.skipIf(chromiumPath === undefined)('contents of others', () => {
  const tests = consoleTests({ server: { workloads: ['controllers', 'scheduler', 'nodes'] } });
  let namespace: string;
  let roles: string;

  const post = (path: string, object: object) => tests.server.admin.ok('POST', path, object);
  beforeAll(async () => {
    const { server } = tests;
    namespace = await server.namespace();
    const { domain } = server.identity;
    roles = `${groupName(server.identity, 'rbac.authorization')}/v1`;
    await post(`/apis/${roles}/clusterroles`, {
      metadata: { name: evilName },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }],
    });
    await post(`/apis/${roles}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: `${evilName} binding` },
      roleRef: { apiGroup: groupName(server.identity, 'rbac.authorization'), kind: 'ClusterRole', name: evilName },
      subjects: [{ kind: 'User', apiGroup: groupName(server.identity, 'rbac.authorization'), name: evil }],
    });
    const columns = ['.text', '.long'].map((jsonPath, i) => ({
      name: `${evil}${hidden}${i}`,
      type: 'string',
      jsonPath,
      description: evil,
    }));
    const properties = { text: { type: 'string', description: evil }, long: { type: 'string' } };
    const schema = { openAPIV3Schema: { type: 'object', description: evil, properties } };
    await post(`/apis/${groupName(server.identity, 'apiextensions')}/v1/customresourcedefinitions`, {
      metadata: { name: 'boats.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { plural: 'boats', kind: 'Boat' },
        versions: [{ name: 'v1', served: true, storage: true, schema, additionalPrinterColumns: columns }],
      },
    });
    const boat = { apiVersion: 'example.org/v1', kind: 'Boat', text: evil + hidden, long: megabyte };
    await vi.waitUntil(async () => (await server.admin.send('GET', '/apis/example.org/v1/boats')).status === 200, { timeout: 60_000 });
    const { metadata } = await post(`/apis/example.org/v1/namespaces/${namespace}/boats`, {
      ...boat,
      metadata: { name: 'ketch', annotations: { note: evil + hidden } },
    });
    const { uid } = metadata;
    for (const [name, message] of [
      ['short', evil + hidden],
      ['long', megabyte],
    ])
      await post(`/api/v1/namespaces/${namespace}/events`, {
        metadata: { name },
        involvedObject: { apiVersion: 'example.org/v1', kind: 'Boat', namespace, name: 'ketch', uid },
        type: 'Warning',
        reason: evil,
        message,
        source: { component: evil },
        lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
      });
    await post(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: {
        name: 'talker',
        annotations: { [`simulation.${domain}/logs.main`]: `${evil}${hidden}\n${megabyte.slice(0, 200_000)}\nlast` },
      },
      spec: { containers: [{ name: 'main', image: evil, env: [{ name: 'EVIL', value: evil + hidden }] }] },
    });
  });

  /** Nothing ran and nothing became markup; the page has what it has of every object, and still answers at once. */
  const expectText = async (page: Page): Promise<void> => {
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await expect.poll(() => page.locator('.spinner').count()).toBe(0);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await page.locator('img[src], iframe, main script, a[href^="javascript:"]').count()).toBe(0);
    expect(await page.getByText('49').filter({ hasText: /^49/ }).count()).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are looked for.
    expect(await page.evaluate('document.body.innerText')).not.toMatch(/[\u0007\u001b\u202e\u2066\u200b\u3164]/);
    expect(await page.title()).not.toMatch(/[\u202e\u2066]/);
    const began = performance.now();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    expect(performance.now() - began).toBeLessThan(5000);
    expect(await page.evaluate('document.body.innerText.length + document.body.innerHTML.length')).toBeLessThan(1_500_000);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  };
  const inNamespace = (path: string): string => `/console/ns/${namespace}${path}`;

  test.each([
    '',
    '/example.org/v1/boats?wide=true',
    '/events?wide=true',
    '/example.org/v1/boats/ketch',
    '/example.org/v1/boats/ketch?tab=yaml',
    '/example.org/v1/boats/ketch?tab=events',
    '/example.org/v1/boats/ketch?tab=history',
    '/example.org/v1/boats/ketch?tab=owners',
    '/example.org/v1/boats/ketch?tab=tree',
    '/pods/talker',
    '/pods/talker?tab=yaml',
    '/pods/talker?tab=logs',
    '/graph',
    '/now',
    `/access?verb=delete&resource=pods&user=${encodeURIComponent(evil)}`,
    `/access?verb=${encodeURIComponent(evil)}&resource=${encodeURIComponent(evil)}&user=${encodeURIComponent(hidden)}`,
  ])('is only text: %s', async (path) => {
    await expectText(await tests.open(inNamespace(path)));
  });

  test.each([
    (role: string) => `/console/${roles}/clusterroles/${role}`,
    (role: string) => `/console/${roles}/clusterroles/${role}?tab=yaml`,
    (role: string) => `/console/${roles}/clusterroles/${role}?tab=history`,
    () => `/console/${roles}/clusterroles?q=%3Cimg`,
    (name: string) => `/console/ns/${name}/pods/${name}`,
    (name: string) => `/console/ns/${name}/graph`,
    (name: string) => `/console/ns/${name}`,
    (name: string) => `/console/${name}/v1/${name}`,
    (text: string) => `/console/ns/${namespace}/pods?sort=${text}&q=${text}&labels=${text}`,
    (text: string) => `/console/?error=${text}`,
  ])('is only text where it is a name, or comes from the address: %s', async (path) => {
    await expectText(await tests.open(path(encodeURIComponent(evilName))));
  });

  test('is only text in the search, in questions, and in what the page says at its edge', async () => {
    const page = await tests.open(`/console/${roles}/clusterroles?q=%3Cimg`);
    await page.getByRole('gridcell').getByRole('link').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('<img');
    await page.getByRole('option').filter({ hasText: 'role' }).first().waitFor();
    await expectText(page);
    await page.keyboard.press('Escape');
    await page.getByRole('grid').focus();
    await page.keyboard.press(' ');
    await page.keyboard.press('d');
    await page.getByRole('dialog').getByText('<img').first().waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.toast').first().waitFor();
    await expectText(page);
  });
});
