// How long a restart takes: `node bench/restart.mjs [--pods 50000] [--objects 10000] [--rounds 5] [--data-dir DIR] [--checkout DIR]`.
//
// Fills a store with pods and custom objects once (with --data-dir it is kept for further runs), then starts a server on it
// several times, after clean shutdowns, kills of servers that had checked their file, and kills of servers that had not, in turn. Of
// each start, in ms since the process was started:
//   ready     the server has reported that it is ready
//   get       a pod was read; `page`: a page of 500 pods, `list`: the pods of one label; all were requested as soon as it was ready
//   loaded    all pods and custom objects are in memory, and the processor time of the process up to then
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, cpuOf, inParallel, must, residentMB, samplePod, startPlat, temporary } from './tools.mjs';

const argument = (name, usual) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? usual : process.argv[at + 1];
};
const pods = Number(argument('pods', 50_000));
const objects = Number(argument('objects', 10_000));
const rounds = Number(argument('rounds', 5));
const dataDir = argument('data-dir', temporary('restart'));
const checkout = argument('checkout', undefined);
const namespaces = Array.from({ length: 10 }, (_, i) => `restart${i}`);
const filled = join(dataDir, `filled-${pods}-${objects}`);

const pod = (name) => samplePod(name, 'restart');
const GROUP = 'bench.example.com';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer' }, colour: { type: 'string' }, parts: { type: 'array', items: { type: 'string' } } },
              },
            },
          },
        },
      },
    ],
  },
};
const widget = (name) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Widget',
  metadata: { name, labels: { app: 'restart' } },
  spec: { size: 3, colour: 'green', parts: ['one', 'two', 'three'] },
});

async function fill() {
  const server = await startPlat([], dataDir, checkout);
  const { address } = server;
  for (const name of namespaces) {
    await must(address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await call(address, 'POST', `/api/v1/namespaces/${name}/serviceaccounts`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    });
  }
  await must(address, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  while ((await call(address, 'GET', `/apis/${GROUP}/v1/widgets`)).status !== 200);
  await inParallel(pods, 32, (i) => must(address, 'POST', `/api/v1/namespaces/${namespaces[i % 10]}/pods`, pod(`p${i}`)));
  await inParallel(objects, 32, (i) =>
    must(address, 'POST', `/apis/${GROUP}/v1/namespaces/${namespaces[i % 10]}/widgets`, widget(`w${i}`)),
  );
  await server.stop();
  writeFileSync(filled, '');
}

/** Objects of a kind in memory; undefined while they are loaded. */
const counted = (metrics, resource) =>
  Number(new RegExp(`^apiserver_storage_objects\\{resource="${resource}"\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? Number.NaN);

async function restart(end) {
  const began = performance.now();
  const since = () => Math.round(performance.now() - began);
  const server = await startPlat([], dataDir, checkout);
  const { address, pid, readyMs: ready } = server;
  const readyCpuMs = Math.round(cpuOf(pid).all / 1000);
  const timed = async (path) => {
    await must(address, 'GET', path);
    return since();
  };
  const [get, page, list, health] = await Promise.all([
    timed('/api/v1/namespaces/restart1/pods/p1'),
    timed('/api/v1/pods?limit=500'),
    timed('/api/v1/pods?labelSelector=index%3Dp77'),
    timed('/readyz'),
  ]);
  for (;;) {
    const metrics = (await must(address, 'GET', '/metrics')).body.toString();
    if (counted(metrics, 'pods') === pods && counted(metrics, `widgets.${GROUP}`) === objects) break;
    if (since() > 60_000) throw new Error('the objects are not loaded after a minute');
  }
  const round = {
    after: end,
    ready,
    readyCpuMs,
    health,
    get,
    page,
    list,
    loaded: since(),
    loadedCpuMs: Math.round(cpuOf(pid).all / 1000),
    MB: residentMB(pid),
  };
  return { server, round };
}

if (!existsSync(filled)) await fill();
// How the server of an earlier run ended is not known.
else await (await startPlat([], dataDir, checkout)).stop();
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Resolves when the server has checked all pages of its file. */
async function checked({ address }) {
  for (let tries = 0; tries < 600; tries++) {
    const metrics = (await must(address, 'GET', '/metrics')).body.toString();
    if (/^apiserver_storage_engine\{.*"unchecked_starts".*\} 0$/m.test(metrics)) return pause(100);
    await pause(100);
  }
  throw new Error('the pages of the file are not checked after a minute');
}
const ends = ['clean shutdown', 'kill', 'early kill'];
let end = ends[0];
const results = [];
for (let i = 0; i < rounds * ends.length; i++) {
  const { server, round } = await restart(end);
  console.log(JSON.stringify(round));
  results.push(round);
  end = ends[i % ends.length];
  if (end === 'clean shutdown') {
    await server.stop();
    continue;
  }
  if (end === 'kill') await checked(server);
  process.kill(server.pid, 'SIGKILL');
  await pause(100);
}
const median = (after, what) =>
  results
    .filter((round) => round.after === after)
    .map((round) => round[what])
    .sort((a, b) => a - b)[Math.floor(results.filter((round) => round.after === after).length / 2)];
for (const after of new Set(results.map((round) => round.after))) {
  const row = ['ready', 'health', 'get', 'page', 'list', 'loaded', 'readyCpuMs', 'loadedCpuMs', 'MB'].map(
    (what) => `${what} ${median(after, what)}`,
  );
  console.log(`median after a ${after}: ${row.join(', ')}`);
}
