/**
 * Takes pictures of every page of the console in both themes, at the size of a desktop and of a phone:
 *
 *   npm run console:screenshots -- DIRECTORY [pattern of NAME-SIZE-THEME]
 *
 * Runs the server of the build with the objects of console-demo.mjs. Chromium is that of the PATH, or of CHROMIUM.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { must, startPlat, TOKEN } from '../bench/tools.mjs';
import { demoObjects } from './console-demo.mjs';

const [directory = 'console-screenshots', pattern = ''] = process.argv.slice(2);
const wanted = new RegExp(pattern);
mkdirSync(directory, { recursive: true });

const server = await startPlat(['--identity', 'plat', '--store', 'memory', '--workloads']);
await fill();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const sizes = { desktop: { width: 1280, height: 720 }, phone: { width: 390, height: 844 } };
const pod = await podOf('web');
const shop = '/console/ns/shop';

/** Paths, and what is done on the page before the picture is taken. */
const pages = {
  overview: ['/console/'],
  'overview-namespace': [shop],
  table: [`${shop}/pods`],
  'table-empty': [`${shop}/v1/endpoints?labels=none%3Dsuch`],
  search: [`${shop}/pods`, (page) => keys(page, '/', 'web')],
  help: [`${shop}/pods`, (page) => keys(page, '?')],
  summary: [`${shop}/apps/v1/deployments/search`],
  pod: [`${shop}/pods/${await podOf('mail')}`],
  yaml: [`${shop}/apps/v1/deployments/web?tab=yaml`],
  'yaml-review': [`${shop}/configmaps/settings?tab=yaml`, reviewEdit],
  events: [`${shop}/pods/${await podOf('search')}?tab=events`],
  tree: [`${shop}/apps/v1/deployments/web?tab=tree`],
  owners: [`${shop}/apps/v1/deployments/web?tab=owners`],
  history: [`${shop}/configmaps/settings?tab=history`],
  delete: [`${shop}/apps/v1/deployments/web`, (page) => page.getByRole('button', { name: 'Delete' }).click()],
  logs: [`${shop}/pods/${pod}?tab=logs&container=web`],
  'logs-search': [`${shop}/pods/${pod}?tab=logs&container=web,proxy&q=error&only=true`],
  terminal: [`${shop}/pods/${pod}?tab=terminal`, useTerminal],
  create: [`${shop}/create`],
  graph: [`${shop}/graph`],
  'graph-choice': ['/console/graph'],
  access: [`${shop}/access?verb=delete&resource=pods&user=alice`],
  now: [`${shop}/now`, change],
  nodes: ['/console/nodes'],
  missing: [`${shop}/pods/none`],
  login: ['/console/pods', (page) => logOut(page)],
};

for (const colorScheme of ['light', 'dark'])
  for (const [size, viewport] of Object.entries(sizes)) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: server.address, viewport, colorScheme });
    const page = await context.newPage();
    for (const [name, [path, act]] of Object.entries(pages)) {
      if (!wanted.test(`${name}-${size}-${colorScheme}`)) continue;
      await page.goto(path);
      const token = page.getByLabel('Token');
      await page.locator('.top-bar').or(token).first().waitFor();
      if (await token.isVisible()) await logIn(page);
      await page.locator('.top-bar').waitFor();
      await settled(page);
      await act?.(page);
      await settled(page);
      await page.screenshot({ path: join(directory, `${name}-${size}-${colorScheme}.png`) });
    }
    await context.close();
  }
await browser.close();
await server.stop();

async function fill() {
  for (const [path, object] of demoObjects('plat.dev')) await must(server.address, 'POST', path, object);
  // An earlier version for history, a second user, and time for pods to start and to fail.
  const settings = '/api/v1/namespaces/shop/configmaps/settings';
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  await must(server.address, 'PATCH', settings, { data: { theme: 'summer', 'page.size': '50' } }, merge);
  await must(server.address, 'POST', '/apis/rbac.authorization.plat.dev/v1/namespaces/shop/rolebindings', {
    metadata: { name: 'readers' },
    roleRef: { apiGroup: 'rbac.authorization.plat.dev', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.plat.dev', name: 'alice' }],
  });
  await new Promise((resolve) => setTimeout(resolve, 20_000));
}

async function podOf(app) {
  const { body } = await must(server.address, 'GET', `/api/v1/namespaces/shop/pods?labelSelector=app%3D${app}`);
  return JSON.parse(body).items[0].metadata.name;
}

async function logIn(page) {
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
}

async function settled(page) {
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.waitForTimeout(700);
}

async function keys(page, ...all) {
  for (const key of all) await page.keyboard.type(key, { delay: 30 });
}

async function reviewEdit(page) {
  await page.locator('.yaml-editor .cm-content').getByText('summer', { exact: true }).dblclick();
  await page.keyboard.type('autumn');
  await page.getByRole('button', { name: 'Review and save' }).click();
}

async function useTerminal(page) {
  await page.getByText('● connected').waitFor();
  await keys(page, 'ls -l /etc\n', 'cat /etc/hostname\n');
}

async function change() {
  const scale = (replicas) => ({ spec: { replicas } });
  const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
  for (const replicas of [5, 4])
    await must(server.address, 'PATCH', '/apis/apps/v1/namespaces/shop/deployments/api/scale', scale(replicas), merge);
}

async function logOut(page) {
  await page.locator('.menu summary').last().click();
  await page.getByRole('button', { name: 'Log out' }).click();
}
