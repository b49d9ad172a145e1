/// <reference lib="dom" />
// What the console costs, in Chromium: node bench/console.mjs [options]. Needs Chromium (of the PATH, or CHROMIUM).
//   --pods N       objects of the large table (50000)      --seconds N    how long idle consoles are looked at (40)
//   --no-build     use the build that is there
// First view: from a click on the link of the page at / to an overview with counts, in a browser that has nothing cached. Frames:
// those of a table that is scrolled by a page in each. Memory: what JavaScript holds after the garbage is gone. Idle: processor time
// of the server, less that of the same server without a console.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { median } from './figures.mjs';
import { pod } from './objects.mjs';
import { fillStore, numbered } from './scale-fill.mjs';
import { call, cpuOf, must, root, startPlat, TOKEN, temporary } from './tools.mjs';
import { flag, option } from './typed.mjs';

const pods = Number(option('pods', '50000'));
const seconds = Number(option('seconds', '40'));
if (!flag('no-build')) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });

const print = (title, figures) => console.log(`${title} ${JSON.stringify({ ...figures, machineLoad: +loadavg()[0].toFixed(1) })}`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const server = await filledServer();
const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] });
const warm = await logged('/console/');
await warm.context.close();
await firstViews();
await idle('server alone', undefined);
await idle('overview', '/console/');
await largeTable();
await browser.close();
await server.stop();

function chromiumPath() {
  const places = (process.env.PATH ?? '').split(delimiter).map((directory) => join(directory, 'chromium'));
  return process.env.CHROMIUM ?? places.find((file) => existsSync(file));
}

/** A server with all pods in memory. */
async function filledServer() {
  const dataDir = temporary('console');
  const empty = await startPlat([], dataDir);
  for (let i = 0; i < 10; i++) {
    await must(empty.address, 'POST', '/api/v1/namespaces', { metadata: { name: `scale${i}` } });
    await call(empty.address, 'POST', `/api/v1/namespaces/scale${i}/serviceaccounts`, { metadata: { name: 'default' } });
  }
  await must(empty.address, 'POST', '/api/v1/namespaces/scale0/pods', pod(numbered(0)));
  await empty.stop();
  await fillStore(dataDir, `core/pods/scale0/${numbered(0)}`, pods);
  const filled = await startPlat([], dataDir);
  await must(filled.address, 'GET', '/api/v1/pods?limit=1');
  return filled;
}

/** A page that is logged in, in a browser that has nothing of before. */
async function logged(path) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, baseURL: server.address, viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.goto(path);
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('navigation').waitFor();
  return { context, page };
}

async function firstViews() {
  const shells = [];
  const overviews = [];
  for (let round = 0; round < 5; round++) {
    const { context, page } = await logged('/console/pods?labels=none%3Dsuch');
    const devtools = await context.newCDPSession(page);
    await page.goto('/');
    await devtools.send('Network.clearBrowserCache');
    const began = performance.now();
    await page.getByRole('link', { name: 'Open the console' }).click({ noWaitAfter: true });
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    shells.push(Math.round(performance.now() - began));
    await page.getByRole('list', { name: 'Objects by kind' }).getByText('pods').waitFor();
    await page.getByRole('list', { name: 'Health' }).getByText('Ready').waitFor();
    overviews.push(Math.round(performance.now() - began));
    await context.close();
  }
  print('first view', { headingMs: median(shells), countsAndHealthMs: median(overviews), each: overviews });
}

async function idle(title, path) {
  const open = path === undefined ? undefined : await logged(path);
  if (path === '/console/pods') await allRows(open.page);
  // What the engine compiles and collects after the page was opened is not what an idle page costs.
  await pause(30_000);
  const before = cpuOf(server.pid).all;
  await pause(seconds * 1000);
  const percent = (cpuOf(server.pid).all - before) / (seconds * 1e6) / 0.01;
  print(`idle: ${title}`, { percentOfACore: +percent.toFixed(2) });
  await open?.context.close();
}

async function largeTable() {
  const { context, page } = await logged('/console/nodes');
  const began = performance.now();
  await page.goto('/console/pods');
  await allRows(page);
  print('large table', { rows: pods, readMs: Math.round(performance.now() - began), heapMB: await heapOf(context, page) });
  const frames = await page.evaluate(scrolled, 5000);
  print('scrolling', {
    frames: frames.length,
    medianFramesASecond: +(1000 / median(frames)).toFixed(1),
    worstMs: Math.round(Math.max(...frames)),
  });
  print('after scrolling', { heapMB: await heapOf(context, page) });
  await context.close();
  await idle(`table of ${pods} pods`, '/console/pods');
}

function allRows(page) {
  const hasAll = (count) => Number(document.querySelector('[role=grid]')?.getAttribute('aria-rowcount')) > count;
  return page.waitForFunction(hasAll, pods, { timeout: 120_000 });
}

async function heapOf(context, page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send('HeapProfiler.collectGarbage');
  return Math.round((await devtools.send('Runtime.getHeapUsage')).usedSize / 1e6);
}

/** Runs in the page: the milliseconds of each frame while the table is scrolled for so long. */
function scrolled(millis) {
  const grid = document.querySelector('[role=grid]');
  const times = [];
  return new Promise((resolve) => {
    let last = performance.now();
    const end = last + millis;
    const frame = (now) => {
      times.push(now - last);
      last = now;
      grid.scrollTop = grid.scrollTop + grid.clientHeight >= grid.scrollHeight ? 0 : grid.scrollTop + grid.clientHeight;
      if (now < end) requestAnimationFrame(frame);
      else resolve(times.slice(1));
    };
    requestAnimationFrame(frame);
  });
}
