/** The site is built as `npm run docs` does, looked at in Chromium, and every link on it leads to something. */
import { spawnSync } from 'node:child_process';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiReleases } from '../../packages/lib/src/version.ts';
import { axeViolations, chromiumPath, sharedBrowser } from '../console/chromium.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const site = join(root, 'site');
const pages = (): string[] => readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));

beforeAll(() => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/site.mjs'], { cwd: root, encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}, 600_000);

test('every page of docs is a page of the site', () => {
  const sources = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('.vitepress') && name !== 'README.md',
  );
  const expected = sources.map((name) => name.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'));
  expect(
    pages()
      .filter((name) => name !== '404.html')
      .sort(),
  ).toEqual(expected.sort());
});

test('every link leads to a page, a file and a heading that is there', () => {
  const idsOf = new Map<string, Set<string>>();
  const texts = new Map(pages().map((name) => [name, readFileSync(join(site, name), 'utf8')]));
  for (const [name, text] of texts) idsOf.set(name, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
  const dead: string[] = [];
  for (const [name, text] of texts)
    for (const [, link = ''] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      if (/^(https?:|mailto:|data:)/.test(link)) continue;
      const { pathname, hash } = new URL(link, `http://site/${name}`);
      const file = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname).slice(1);
      if (!existsSync(join(site, file))) dead.push(`${name}: ${link}`);
      else if (hash !== '' && file.endsWith('.html') && idsOf.get(file)?.has(decodeURIComponent(hash.slice(1))) !== true)
        dead.push(`${name}: ${link}`);
    }
  expect([...new Set(dead)]).toEqual([]);
});

test('each page says in its first lines what its reader can do afterwards', () => {
  const silent = readdirSync(join(root, 'docs'), { encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .filter(
      (name) =>
        !/^(---\n[\s\S]*?---\n)?# .+\n\n[^\n]*\b[Aa]fter (reading|opening|this)\b/.test(readFileSync(join(root, 'docs', name), 'utf8')),
    );
  expect(silent).toEqual([]);
});

describe.skipIf(chromiumPath === undefined)('in a browser', () => {
  let server: Server;
  let browser: Browser;
  let address: string;
  const types: Readonly<Record<string, string>> = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.json': 'application/json',
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://site');
      const file = join(site, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      if (!existsSync(file) || !statSync(file).isFile()) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
      createReadStream(file).pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await sharedBrowser();
  }, 60_000);
  afterAll(() => void server.close());

  async function open(path: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 720 } });
    await page.goto(`${address}/${path}`, { waitUntil: 'networkidle' });
    return page;
  }

  test.each(['light', 'dark'] as const)('axe finds nothing in the %s theme', { timeout: 300_000 }, async (theme) => {
    const samples = ['', 'start/chart.html', 'install.html', 'console.html', 'reference/errors.html', 'reference/flags.html', 'decisions/'];
    const found: string[] = [];
    for (const path of samples) {
      const page = await open(path, theme);
      found.push(...(await axeViolations(page)).map((violation) => `${path}: ${violation}`));
      await page.close();
    }
    expect(found).toEqual([]);
  });

  test('the API of each release can be searched, opened and compared', { timeout: 120_000 }, async () => {
    const page = await open('reference/api.html');
    const releases = await page.getByLabel('Release').locator('option').allTextContents();
    expect(releases).toEqual(apiReleases.slice(apiReleases.indexOf('1.24')));
    await page.getByLabel('Find').fill('core v1 Container');
    await page.getByRole('link', { name: 'Container', exact: true }).click();
    await page.getByLabel('Compare with').selectOption('1.24');
    const row = page.getByRole('row').filter({ hasText: 'restartPolicy' }).first();
    await row.getByText('not in 1.24').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    const shared = page.url();
    await page.goto('about:blank');
    await page.goto(shared, { waitUntil: 'networkidle' });
    await page.getByRole('heading', { name: 'Container', level: 2 }).waitFor();
  });

  test('a search works without a server behind it', { timeout: 60_000 }, async () => {
    const page = await open('');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('#localsearch-input').fill('envtest');
    await page.getByRole('option').first().waitFor();
    expect(await page.getByRole('option').allTextContents()).toEqual(expect.arrayContaining([expect.stringContaining('envtest')]));
  });
});
