// Several servers on one etcd, behind a TCP balancer: node bench/servers.mjs [options]. Needs etcd and wrk; loopback only.
//   --servers 1,2,3   numbers of servers            --seconds N    length of each load (3)
//   --rounds N        rounds of each load (3)       --only a,b     some loads (get, list500, create, merge patch)
//   --writes N        writes that are looked for at the other servers (3000), by --clients N at once (16)
//   --watchers N      watches at each server (100), of --events N writes (200)
//   --write           add the figures to bench/RESULTS.md   --no-build  use the build that is there
// Shows the processor time of a request in all servers and in etcd, that writes at one server are visible to consistent reads at
// the others at once, and that etcd does the same work however many watches the servers serve. Ends with 1 where they are not.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { etcdMetrics, startEtcd } from './etcd.mjs';
import { head, median, row } from './figures.mjs';
import { fill, loads, ns } from './loads.mjs';
import { fanOutAtServers } from './server-watches.mjs';
import { call, cpuOf, idleConnectionsClosed, load, must, root, startBalancer, startBare, startPlat } from './tools.mjs';
import { flag, importTyped, option } from './typed.mjs';

const seconds = Number(option('seconds', '3'));
const rounds = Number(option('rounds', '3'));
const chosen = option('only', 'get,list500,create,merge patch').split(',');
for (const name of chosen) if (loads[name] === undefined) throw new Error(`--only: there is no load ${name}`);
if (!flag('no-build')) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });

const clusters = [];
for (const count of option('servers', '1,2,3').split(',').map(Number)) clusters.push(await startCluster(count));
const [{ servers }] = clusters;
const sizeOf = async (path) => (await must(servers[0].address, 'GET', path)).body.length;
const bare = await startBare(servers[0].dataDir, await sizeOf(`${ns}/pods/p7`), await sizeOf(`${ns}/pods`));

const costs = await measureLoads();
await idleConnectionsClosed();
const visible = [];
for (const cluster of clusters.filter(({ count }) => count > 1)) visible.push(await checkVisible(cluster));
const fans = [];
for (const cluster of clusters) fans.push(...(await measureFanOut(cluster)));

const faults = [
  ...costs.filter(({ both }) => !Number.isFinite(both)).map(({ name }) => `${name}: a load without any answer; give it more --seconds`),
  ...costs.filter(({ failed }) => failed > 0).map(({ name, count, failed }) => `${name}, ${count} servers: ${failed} requests failed`),
  ...visible
    .filter(({ staleReads }) => staleReads > 0)
    .map(({ count, examples }) => `${count} servers, stale reads: ${examples.join('; ')}`),
  ...fans.filter(({ missing }) => missing !== 0).map(({ count, missing }) => `${count} servers: ${missing} deliveries missing`),
  ...fans
    .filter(({ count, etcdWatches }) => etcdWatches !== count)
    .map(({ count, etcdWatches }) => `${count} servers: ${etcdWatches} watches of etcd`),
];
const text = report();
console.log(text);
if (flag('write')) appendFileSync(join(root, 'bench/RESULTS.md'), text);
for (const { stop } of clusters) await stop();
await bare.stop();
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);

async function startCluster(count) {
  const etcd = await startEtcd();
  const servers = [];
  for (let i = 0; i < count; i++) servers.push(await startPlat(['--store', 'etcd', '--etcd-servers', etcd.endpoint]));
  const balancer = await startBalancer(servers.map(({ address }) => address));
  await fill(servers[0].address);
  console.error(`${count} servers are ready`);
  return {
    count,
    etcd,
    servers,
    pids: servers.map(({ pid }) => pid),
    address: balancer.address,
    async stop() {
      for (const part of [balancer, ...servers, etcd]) await part.stop();
    },
  };
}

/** All numbers of servers in turn, in changing order, with the bare server in each round. */
async function measureLoads() {
  const rows = [];
  for (const name of chosen) {
    const { path, script, bare: which } = loads[name];
    const found = clusters.map(({ count }) => ({ name, count, rate: [], servers: [], etcd: [], failed: 0 }));
    const bareMicros = [];
    // Each server compiles what it runs often: all get the same share of warming up.
    for (const { address, count } of clusters) load(address, path, { script, seconds: seconds * count });
    for (let round = 0; round < rounds; round++) {
      bareMicros.push(load(bare.address, `/${which}`, { seconds: 1, pid: bare.pid }).cpu.all);
      const order = clusters.map((cluster, at) => [cluster, found[at]]);
      for (const [{ address, pids, etcd }, figures] of round % 2 === 0 ? order : order.reverse()) {
        const before = cpuOf(etcd.pid).all;
        const { rate, cpu, failed, requests } = load(address, path, { script, seconds, pid: pids });
        figures.rate.push(rate);
        figures.servers.push(cpu.all);
        figures.etcd.push((cpuOf(etcd.pid).all - before) / requests);
        figures.failed += failed;
      }
    }
    for (const { servers, etcd, rate, ...rest } of found) {
      const both = servers.map((micros, at) => micros + etcd[at]);
      rows.push({
        ...rest,
        servers: median(servers),
        etcd: median(etcd),
        both: median(both),
        rate: median(rate),
        bare: median(bareMicros),
      });
      console.error(`${name}, ${rest.count} servers: ${Math.round(median(both))} µs of which etcd ${Math.round(median(etcd))}`);
    }
  }
  return rows;
}

async function checkVisible({ count, servers }) {
  const { checkVisibleWrites } = await importTyped('test/support/visible-writes.ts');
  const send = async (index, method, path, body) => {
    const headers = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {};
    const answer = await call(servers[index].address, method, path, body, { headers });
    return { status: answer.status, json: JSON.parse(answer.body) };
  };
  const check = async (name, writes, readQuery) => {
    await must(servers[0].address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const path = `/api/v1/namespaces/${name}/configmaps`;
    return checkVisibleWrites(send, { servers: count, path, writes, clients: Number(option('clients', '16')), readQuery });
  };
  const writes = Number(option('writes', '3000'));
  const consistent = await check('visible', writes);
  // Reads that may be old, for comparison: they show that the check would find it if consistent reads were.
  const fromCache = await check('visible-from-cache', Math.ceil(writes / 10), 'resourceVersion=0');
  console.error(`${count} servers: ${consistent.staleReads} of ${consistent.reads} consistent reads are stale`);
  return { count, ...consistent, fromCache };
}

/** The same writes with no watches of clients, with some and with ten times as many. */
async function measureFanOut({ count, servers, etcd, pids }) {
  const watchers = Number(option('watchers', '100'));
  const rows = [];
  for (const each of [0, Math.ceil(watchers / 10), watchers]) {
    const names = { etcdWatches: 'etcd_debugging_mvcc_watcher_total', sent: 'etcd_network_client_grpc_sent_bytes_total' };
    const events = Number(option('events', '200'));
    const before = { ...(await etcdMetrics(etcd, names)), etcd: cpuOf(etcd.pid).all, servers: cpuOf(pids).all };
    const during = async () => (await etcdMetrics(etcd, names)).etcdWatches;
    const { missing, counted } = await fanOutAtServers(servers, ns, { watchers: each, events, prefix: `f${each}x`, during });
    const after = { ...(await etcdMetrics(etcd, names)), etcd: cpuOf(etcd.pid).all, servers: cpuOf(pids).all };
    rows.push({
      count,
      watchers: each * count,
      missing,
      etcdWatches: counted,
      etcdBytes: (after.sent - before.sent) / events,
      etcdMicros: (after.etcd - before.etcd) / events,
      serverMicros: (after.servers - before.servers) / events,
    });
  }
  return rows;
}

function report() {
  const whole = (value) => String(Math.round(value));
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  const one = (name) => costs.find((cost) => cost.name === name).both;
  return [
    `\n## Several servers on one etcd, ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ${process.version}, ${commit}\n`,
    `\`node bench/servers.mjs\`: servers behind a TCP balancer that distributes 32 connections in turn, etcd with durable writes, ${rounds} rounds of ${seconds} s in turn after a warm-up, medians. Processor time of one request in µs, of all servers together and of etcd; the balancer's is not in it, and the load generator, the balancer, the servers and etcd share the cores, so that rates are those of this machine. Bare: a node:https server in the same rounds.\n`,
    ...head([
      'load',
      'servers',
      'servers µs',
      'etcd µs',
      'together µs',
      `of ${clusters[0].count} server`,
      'bare µs',
      'per second',
      'failed',
    ]),
    ...costs.map((c) =>
      row([
        c.name,
        c.count,
        whole(c.servers),
        whole(c.etcd),
        whole(c.both),
        (c.both / one(c.name)).toFixed(2),
        whole(c.bare),
        c.rate,
        c.failed,
      ]),
    ),
    '\nEach write (create, merge patch, delete) at one server, then a get of the object and a list at every other one. A read is stale if it is not the state after that write; `resourceVersion=0` may be.\n',
    ...head(['servers', 'writes', 'consistent reads', 'of which stale', 'reads with resourceVersion=0', 'of which stale']),
    ...visible.map((v) => row([v.count, v.writes, v.reads, v.staleReads, v.fromCache.reads, v.fromCache.staleReads])),
    '\nWatches of clients, and what a write costs in etcd and in all servers together.\n',
    ...head([
      'servers',
      'watches of clients',
      'watches of etcd',
      'bytes that etcd sends a write',
      'etcd µs a write',
      'servers µs a write',
      'deliveries missing',
    ]),
    ...fans.map((f) =>
      row([f.count, f.watchers, f.etcdWatches, whole(f.etcdBytes), whole(f.etcdMicros), whole(f.serverMicros), f.missing]),
    ),
    '',
  ].join('\n');
}
