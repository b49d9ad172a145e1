/**
 * The console in Chromium, as a user has it before them.
 *
 *   const tests = consoleTests({ workloads: ['nodes'] });
 *   test('…', async () => {
 *     const page = await tests.open('/console/nodes', 'alice');
 *   });
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { startTestServer, type TestServer, type TestServerOptions } from '../support/server.ts';

/** Undefined where there is none: tests that need it are skipped then. */
export const chromiumPath: string | undefined =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'chromium'))
    .find((file) => existsSync(file));

const launch = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: ['--no-sandbox', ...args] });

let shared: Browser | undefined;
/** The browser of the files that this process runs. Its files are not among those of a test file, which go before it does. */
export async function sharedBrowser(): Promise<Browser> {
  if (shared?.isConnected()) return shared;
  const before = process.env.TMPDIR;
  process.env.TMPDIR = process.env.PLAT_TEST_RUN_DIRECTORY ?? before;
  shared = await launch();
  process.env.TMPDIR = before;
  return shared;
}

const viewport = { width: 1280, height: 720 };

interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and what the browser refused. */
  readonly faults: string[];
}

/** An empty page of a browser that knows nothing of the server. */
async function emptyPage(browser: Browser, server: TestServer, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, baseURL: server.address, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && faults.push(message.text()));
  return { page, context, faults };
}

/** Logs in on the login page. */
export async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('navigation').waitFor();
}

type User = 'admin' | 'alice' | 'bob';

/** Logs in without the login page. */
export async function beginSession(context: BrowserContext, user: User): Promise<void> {
  const headers = { 'X-Plat-Console': '1' };
  const answer = await context.request.post('/console/session', { data: { token: `${user}-token` }, headers });
  expect(answer.status()).toBe(200);
}

interface AloneOptions extends BrowserContextOptions {
  /** Of another server than that of the file. */
  readonly server?: TestServer;
  /** Who is logged in; nobody where it is left out. */
  readonly user?: User;
  /** It stays open for the tests that follow. */
  readonly staysOpen?: boolean;
}

export interface ConsoleTests {
  readonly server: TestServer;
  /** The page of a user who is logged in, at a path. Tests of a file have the same one, one after another: that is a third of the time. */
  open(path: string, user?: User): Promise<Page>;
  /** A page of a browser of its own, for tests that change what the browser has, or what it is. */
  openAlone(path: string, options?: AloneOptions): Promise<Page>;
  /** Errors of scripts of this test, and what the browser refused. Those that stay there fail the test. */
  faultsOf(page: Page): string[];
}

interface ConsoleTestOptions {
  readonly server?: TestServerOptions | (() => Promise<TestServerOptions>);
  /** The file has a browser of its own, with these arguments. */
  readonly browserArguments?: (server: TestServer) => readonly string[];
}

/** A server and a browser for the tests of a file, each of which fails where a script does or where the browser refuses something. */
export function consoleTests({ server: serverOptions = {}, browserArguments }: ConsoleTestOptions = {}): ConsoleTests {
  let server: TestServer;
  let browser: Browser;
  const pages = new Map<User, OpenPage>();
  const kept = new Set<OpenPage>();
  const alone: OpenPage[] = [];
  beforeAll(async () => {
    server = await startTestServer(typeof serverOptions === 'function' ? await serverOptions() : serverOptions);
    browser = browserArguments === undefined ? await sharedBrowser() : await launch(browserArguments(server));
  });
  afterEach(async () => {
    const faults = [...kept, ...alone].flatMap((one) => one.faults.splice(0));
    await Promise.all(alone.splice(0).map(({ context }) => context.close()));
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await Promise.all([...kept].map(({ context }) => context.close()));
    if (browser !== shared) await browser?.close();
    await server?.close();
  });
  const pageOf = async (user: User): Promise<Page> => {
    const before = pages.get(user);
    if (before !== undefined) {
      await before.page.unrouteAll();
      await before.page.emulateMedia({ colorScheme: null });
      await before.page.setViewportSize(viewport);
      return before.page;
    }
    const open = await emptyPage(browser, server);
    pages.set(user, open);
    kept.add(open);
    await beginSession(open.context, user);
    return open.page;
  };
  return {
    get server() {
      return server;
    },
    async open(path, user = 'admin') {
      const page = await pageOf(user);
      await page.goto(path);
      return page;
    },
    async openAlone(path, { server: other = server, user, staysOpen = false, ...more } = {}) {
      const open = await emptyPage(browser, other, more);
      if (staysOpen) kept.add(open);
      else alone.push(open);
      if (user !== undefined) await beginSession(open.context, user);
      await open.page.goto(path);
      return open.page;
    },
    faultsOf: (page) => [...kept, ...alone].find((one) => one.page === page)?.faults ?? [],
  };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What axe finds wrong on a page, by its rules: `color-contrast: <span …>`. */
export async function axeViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate<AxeResult>('axe.run(document, { resultTypes: ["violations"] })');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** The same in both themes. */
export async function axeInBothThemes(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const violation of await axeViolations(page)) found.push(`${colorScheme}: ${violation}`);
  }
  return found;
}
