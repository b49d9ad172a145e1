/** The console in Chromium, as a user has it before them. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { TestServer } from '../support/server.ts';

/** Undefined where there is none: tests that need it are skipped then. */
export const chromiumPath: string | undefined =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'chromium'))
    .find((file) => existsSync(file));

export const launch = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, args: ['--no-sandbox', ...args] });

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and what the browser refused. */
  readonly faults: readonly string[];
}

/** A page of the console that is not logged in. */
export async function openPage(
  browser: Browser,
  server: TestServer,
  path = '/console/',
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1280, height: 720 },
    baseURL: server.address,
    ...options,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && !/status of 4\d\d/.test(message.text()) && faults.push(message.text()));
  await page.goto(path);
  return { page, context, faults };
}

/** Logs in on the login page. */
export async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('navigation').waitFor();
}

export async function openConsole(browser: Browser, server: TestServer, path: string, token = 'admin-token'): Promise<OpenPage> {
  const open = await openPage(browser, server, path);
  await logIn(open.page, token);
  return open;
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
