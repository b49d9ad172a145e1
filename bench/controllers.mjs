// What the controllers cost, and how fast a full namespace goes: node bench/controllers.mjs [--objects N] [--write]
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { configMap } from './objects.mjs';
import { call, cpuOf, inParallel, must, residentMB, root, startPlat } from './tools.mjs';

const at = process.argv.indexOf('--objects');
const objects = at < 0 ? 10_000 : Number(process.argv[at + 1]);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
const lines = [await deletion(), await idle()];
if (process.argv.includes('--write')) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const title = `\n## Controllers, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${commit}\n`;
  appendFileSync(join(root, 'bench/RESULTS.md'), `${[title, ...lines.map((line) => `- ${line}`)].join('\n')}\n`);
}
process.exit(0);

async function deletion() {
  const server = await startPlat();
  const { address } = server;
  await must(address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'full' } });
  await inParallel(objects, 32, (i) => must(address, 'POST', '/api/v1/namespaces/full/configmaps', configMap(`c${i}`)));
  await pause(2_000);
  const began = performance.now();
  await must(address, 'DELETE', '/api/v1/namespaces/full');
  while ((await call(address, 'GET', '/api/v1/namespaces/full')).status !== 404) await pause(10);
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  const line = `a namespace with ${objects} config maps is gone ${seconds} s after its deletion (store lmdb)`;
  console.log(line);
  await server.stop();
  return line;
}

/** The same idle server with all controllers and with none. */
async function idle() {
  const measure = async (flags) => {
    const server = await startPlat(flags);
    await pause(5_000);
    const before = cpuOf(server.pid).all;
    await pause(20_000);
    const share = ((cpuOf(server.pid).all - before) / 20e6) * 100;
    const figures = { share, megabytes: residentMB(server.pid) };
    await server.stop();
    return figures;
  };
  const all = await measure([]);
  const none = await measure(['--controllers=-*']);
  const line =
    `idle: ${all.share.toFixed(2)}% of a core and ${all.megabytes} MB resident with the controllers, ` +
    `${none.share.toFixed(2)}% and ${none.megabytes} MB without`;
  console.log(line);
  return line;
}
