// Workloads in one process: node bench/workloads.mjs [--nodes 1000] [--pods 10000] [--held 100000] [--only ready,three,held] [--write]
//
//   three   a deployment of three, from its create to the moment when its status reports three available replicas (goal: 150 ms)
//   ready   deployments of 100 pods each on many nodes, from the first create until every pod is ready (goal: 20 s for 10,000 pods)
//   held    as many pods as `--held` says: memory of the process, and its processor time while nothing changes (goal: 1.5 GB, 10 %).
//           What work that is left after a burst takes until the server is at rest is reported apart
//
// The store is in memory, and nothing else runs in the process of the server. What is watched is watched by this process.
import { appendFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { cpuOf, inParallel, must, residentMB, root, startPlat, TOKEN } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const nodes = Number(option('nodes', 1000));
const pods = Number(option('pods', 10_000));
const held = Number(option('held', 100_000));
const only = option('only', 'three,ready,held').split(',');
const NAMESPACE = 'bench';
const REPLICAS = 100;
const IDLE_SECONDS = 30;
/** At rest: so many intervals in a row with little to do, more than the collection waits for. */
const REST_INTERVAL_MS = 2000;
const REST_INTERVALS = 8;
const REST_SHARE = 0.02;
const LONGEST_UNREST_SECONDS = 180;
const lines = [];
const report = (line) => {
  lines.push(line);
  console.log(line);
};

const deployment = (name, replicas) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: 'example.com/app:1', resources: { requests: { cpu: '10m', memory: '16Mi' } } }] },
    },
  },
});

/** Watches a collection from now on; ends when `done` says so of an event. */
function watchUntil(address, path, done) {
  return new Promise((resolve, reject) => {
    const request = https.get(
      `${address}${path}${path.includes('?') ? '&' : '?'}watch=1`,
      { rejectUnauthorized: false, headers: { authorization: `Bearer ${TOKEN}` } },
      (response) => {
        let rest = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          const parts = (rest + chunk).split('\n');
          rest = parts.pop();
          for (const part of parts) {
            if (!done(JSON.parse(part))) continue;
            request.destroy();
            resolve(undefined);
            return;
          }
        });
        response.on('end', () => reject(new Error('the watch ended')));
      },
    );
    request.on('error', (error) => reject(error));
  });
}

/** Resolves when so many pods are ready in all. */
function podsReady(address, count) {
  const ready = new Set();
  return watchUntil(address, `/api/v1/namespaces/${NAMESPACE}/pods`, ({ type, object }) => {
    const isReady = type !== 'DELETED' && object.status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True');
    if (isReady) ready.add(object.metadata.name);
    else ready.delete(object.metadata.name);
    return ready.size >= count;
  });
}

async function start(count) {
  const server = await startPlat(['--store', 'memory', '--workloads', `--simulated-nodes=${count}`]);
  await must(server.address, 'POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  // The nodes are there when the last one is ready.
  for (;;) {
    const { body } = await must(server.address, 'GET', '/api/v1/nodes');
    const ready = JSON.parse(body).items.filter(({ status }) =>
      status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    );
    if (ready.length >= count) return server;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
const deploymentsPath = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;

if (only.includes('three')) {
  const server = await start(3);
  const times = [];
  for (let i = 0; i < 20; i++) {
    const name = `three-${i}`;
    const available = watchUntil(
      server.address,
      `${deploymentsPath}?fieldSelector=metadata.name%3D${name}`,
      ({ object }) => object.status?.availableReplicas === 3,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    const began = performance.now();
    await must(server.address, 'POST', deploymentsPath, deployment(name, 3));
    await available;
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  report(
    `deployment of 3 available: ${times[10].toFixed(0)} ms in the median of 20, ${times[18].toFixed(0)} ms the second longest (goal 150)`,
  );
  await server.stop();
}

async function fill(server, count) {
  const all = podsReady(server.address, count);
  const began = performance.now();
  const cpu = cpuOf(server.pid).all;
  await inParallel(Math.ceil(count / REPLICAS), 8, (i) =>
    must(server.address, 'POST', deploymentsPath, deployment(`d${i}`, Math.min(REPLICAS, count - i * REPLICAS))),
  );
  await all;
  return { seconds: (performance.now() - began) / 1000, cpu: (cpuOf(server.pid).all - cpu) / 1e6 };
}

if (only.includes('ready')) {
  const server = await start(nodes);
  const { seconds, cpu } = await fill(server, pods);
  report(
    `${pods} pods of deployments on ${nodes} nodes ready: ${seconds.toFixed(1)} s, ${(pods / seconds).toFixed(0)} pods/s, ${cpu.toFixed(1)} s of processor time, ${residentMB(server.pid)} MB (goal: 10000 in 20 s)`,
  );
  await server.stop();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when the server is at rest, with the processor time until then in seconds. */
async function rest(pid) {
  const began = cpuOf(pid).all;
  const until = performance.now() + LONGEST_UNREST_SECONDS * 1000;
  for (let quiet = 0; quiet < REST_INTERVALS; ) {
    const before = cpuOf(pid).all;
    await pause(REST_INTERVAL_MS);
    quiet = cpuOf(pid).all - before < REST_SHARE * REST_INTERVAL_MS * 1000 ? quiet + 1 : 0;
    if (performance.now() > until) throw new Error('the server does not come to rest');
  }
  return (cpuOf(pid).all - began) / 1e6;
}

if (only.includes('held')) {
  const server = await start(nodes);
  const { seconds } = await fill(server, held);
  const full = residentMB(server.pid);
  const settling = await rest(server.pid);
  const before = cpuOf(server.pid).all;
  await pause(IDLE_SECONDS * 1000);
  const share = (cpuOf(server.pid).all - before) / 1e4 / IDLE_SECONDS;
  report(
    `${held} pods on ${nodes} nodes: ready after ${seconds.toFixed(0)} s, ${full} MB then and ${residentMB(server.pid)} MB at rest, ${settling.toFixed(1)} s of processor time until it is at rest (garbage), then ${share.toFixed(1)} % of a core when nothing changes (goal: 1536 MB, 10 %)`,
  );
  await server.stop();
}

if (process.argv.includes('--write')) {
  appendFileSync(
    join(root, 'bench/RESULTS.md'),
    `\n## Workloads, ${new Date().toISOString().slice(0, 10)}\n\n${lines.map((line) => `- ${line}`).join('\n')}\n`,
  );
}
