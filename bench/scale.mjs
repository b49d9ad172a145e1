// What a server costs by the number of its objects and watchers: node bench/scale.mjs [options]. Needs wrk; loopback only.
//   --pods 10000,100000    numbers of pods           --small 1000000   numbers of small config maps
//   --watchers 1000,10000  numbers of open watches   --events N        writes that all of them get (20)
//   --seconds N            length of each load (6)   --no-build        use the build that is there
// An empty list ('') leaves a part out. docs/scale.md explains the figures and holds those of one run. Processor time is that of
// the server alone; memory is what is resident, `file` being the pages of the store that the system may take back.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { loadavg } from 'node:os';
import { pod } from './objects.mjs';
import { fillStore, numbered } from './scale-fill.mjs';
import { call, cpuOf, load, must, root, startPlat, TOKEN, temporary, writing } from './tools.mjs';
import { flag, option } from './typed.mjs';

const numbers = (name, usual) => option(name, usual).split(',').filter(Boolean).map(Number);
const seconds = Number(option('seconds', '6'));
const events = Number(option('events', '20'));
if (!flag('no-build')) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });

const print = (title, figures) => console.log(`${title} ${JSON.stringify({ ...figures, machineLoad: +loadavg()[0].toFixed(1) })}`);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const cpuMs = (pid) => Math.round(cpuOf(pid).all / 1000);
function memoryOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024);
  return { ownMB: of('RssAnon'), fileMB: of('RssFile') };
}

const small = (name) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } });
const secret = (name) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { a: 'x'.repeat(400) } });
for (const count of numbers('pods', '10000,100000')) await atSize(count, 'pods', pod);
for (const count of numbers('small', '1000000')) await atSize(count, 'configmaps', small);
for (const count of numbers('watchers', '1000,10000')) await withWatchers(count);

async function atSize(count, resource, make) {
  const dataDir = temporary(`scale-${resource}-${count}`);
  const empty = await startPlat([], dataDir);
  for (let i = 0; i < 10; i++) {
    await must(empty.address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `scale${i}` } });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } };
    await call(empty.address, 'POST', `/api/v1/namespaces/scale${i}/serviceaccounts`, account);
  }
  await must(empty.address, 'POST', `/api/v1/namespaces/scale0/${resource}`, make(numbered(0)));
  print(`empty for ${count} ${resource}`, { readyMs: empty.readyMs, readyCpuMs: cpuMs(empty.pid), ...memoryOf(empty.pid) });
  await empty.stop();
  const began = performance.now();
  const { bytes } = await fillStore(dataDir, `core/${resource}/scale0/${numbered(0)}`, count);
  print(`filled with ${count} ${resource}`, { bytes, ms: Math.round(performance.now() - began) });

  let server = await restarted('clean shutdown', count, resource, dataDir);
  process.kill(server.pid, 'SIGKILL');
  await pause(200);
  server = await restarted('kill', count, resource, dataDir);
  await requests(server, count, resource);
  await server.stop();
}

/** A start, up to when all objects are in memory. */
async function restarted(after, count, resource, dataDir) {
  const began = performance.now();
  const server = await startPlat([], dataDir);
  const readyCpuMs = cpuMs(server.pid);
  const metric = new RegExp(`^apiserver_storage_objects\\{resource="${resource}"\\} (\\d+)`, 'm');
  let loaded = 0;
  for (const end = began + 300_000; loaded < count; await pause(100)) {
    if (performance.now() > end) throw new Error(`${loaded} of ${count} objects are loaded after five minutes`);
    loaded = Number(metric.exec((await must(server.address, 'GET', '/metrics')).body.toString())?.[1] ?? 0);
  }
  const figures = { readyMs: server.readyMs, readyCpuMs, loadedMs: Math.round(performance.now() - began), loadedCpuMs: cpuMs(server.pid) };
  print(`restart after a ${after}, ${count} ${resource}`, { ...figures, ...memoryOf(server.pid) });
  return server;
}

/** Controllers list all objects when they are loaded: waits until the server uses less than a tenth of a core, a minute at most. */
async function settled(pid) {
  for (let i = 0, before = cpuMs(pid); i < 60; i++, before = cpuMs(pid)) {
    await pause(1000);
    if (cpuMs(pid) - before < 100) return;
  }
}

async function requests(server, count, resource) {
  const { address, pid } = server;
  await settled(pid);
  const path = `/api/v1/namespaces/scale1/${resource}`;
  const one = `${path}/${numbered(1)}`;
  const patch = writing(
    'PATCH',
    `${path}/@NAME@`,
    'application/merge-patch+json',
    { metadata: { annotations: { n: '@N@' } } },
    `"${numbered(1)}"`,
  );
  const body = resource === 'pods' ? pod('@NAME@') : small('@NAME@');
  const rows = {
    get: [one, ''],
    'page of 500': [`/api/v1/${resource}?limit=500`, ''],
    'list by label, none found': [`/api/v1/${resource}?labelSelector=app%3Dnone`, ''],
    create: ['/', writing('POST', path, 'application/json', body, '"c"..id.."-"..n')],
    'merge patch of one object': ['/', patch],
  };
  for (const [name, [at, script]] of Object.entries(rows)) {
    load(address, at, { script, seconds: 2, connections: 4 }); // until its code is compiled
    // One after the other: writes of one object by many at once would measure their conflicts.
    const { cpu, rate, failed } = load(address, at, { script, seconds, connections: name.startsWith('merge') ? 1 : 16, pid });
    print(`${name}, ${count} ${resource}`, { cpuUs: cpu.all, mainThreadUs: cpu.main, perSecond: rate, failed });
  }
  const before = cpuMs(pid);
  await must(address, 'GET', `/api/v1/${resource}`, undefined, { keep: false });
  print(`full list, ${count} ${resource}`, { cpuMs: cpuMs(pid) - before, ...memoryOf(pid) });
}

/** Watches of one namespace, each with a connection of its own, all read by this process. */
async function withWatchers(count) {
  const server = await startPlat();
  const { address, pid } = server;
  await must(address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'scale' } });
  const path = '/api/v1/namespaces/scale/secrets'; // controllers make none
  const { metadata } = JSON.parse((await must(address, 'GET', path)).body);
  const empty = { ...memoryOf(pid), cpu: cpuMs(pid) };
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: count, maxCachedSessions: 0 });
  let got = 0;
  const open = () =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const request = https.get(`${address}${path}?watch=1&resourceVersion=${metadata.resourceVersion}`, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a watch was answered with ${response.statusCode}`));
        response.on('data', (chunk) => {
          for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) got++;
        });
        resolve(request);
      });
      request.on('error', reject);
    });
  const watches = [];
  while (watches.length < count) watches.push(...(await Promise.all(Array.from({ length: Math.min(50, count - watches.length) }, open))));
  const opened = { ...memoryOf(pid), cpu: cpuMs(pid) };
  await pause(10_000);
  const idle = cpuMs(pid) - opened.cpu;
  const before = cpuOf(pid);
  const began = performance.now();
  for (let i = 0; i < events; i++) await must(address, 'POST', path, secret(`w${i}`));
  while (got < count * events && performance.now() - began < 120_000) await pause(20);
  const after = cpuOf(pid);
  print(`${count} watchers`, {
    openCpuUs: Math.round(((opened.cpu - empty.cpu) * 1000) / count),
    ownKBEach: Math.round(((opened.ownMB - empty.ownMB) * 1024) / count),
    idleCpuMsPerSecond: idle / 10,
    deliveryCpuUs: +((after.all - before.all) / (count * events)).toFixed(1),
    msPerEvent: Math.round((performance.now() - began) / events),
    missing: count * events - got,
    ...memoryOf(pid),
  });
  for (const watch of watches) watch.on('error', () => {}).destroy();
  await server.stop();
}
process.exit(0);
