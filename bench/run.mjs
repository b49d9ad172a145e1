// npm run bench: loads of every kind against plat and a bare node:https server, in one run and in turn; ratios to
// bench/RESULTS.md with --write. Needs wrk (Debian package wrk), but for --requests. Loopback only.
//   --seconds N   length of each load (5)      --growth N   also fill a server with N pods (50000 with no number)
//   --only a,b    some loads, watch, restart   --write      add the figures to bench/RESULTS.md
//   --rounds N    rounds of each load (1 for one server, else 3); figures are medians
//   --stores a,b  plat on each of these stores: lmdb (default), memory, etcd; the processor time of etcd counts
//   --against URL,PID[,PID]  another server in the same rounds; PIDs: its process, and those of its store. Its credentials:
//                 --token TOKEN or --kubeconfig FILE; --name TEXT: its name in the tables. What it is filled with is removed.
//   --requests N  loads of N requests instead, by a client of Node     --connections N  connections of a load (32)
//   --pods N      pods in lists (500)           --no-build   use the build that is there
//   --profile DIR a CPU profile of each server   BENCH_NODE_FLAGS, BENCH_SERVER_FLAGS: flags for a comparison
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadByCount } from './count-load.mjs';
import { startEtcd } from './etcd.mjs';
import { fanOut, fanOutText } from './fan-out.mjs';
import { growth } from './growth.mjs';
import { fill, loadsIn, NAMESPACE } from './loads.mjs';
import { benchOptions } from './options.mjs';
import { report } from './report.mjs';
import { inRounds } from './rounds.mjs';
import { call, idleConnectionsClosed, load, must, residentMB, root, startBare, startPlat, TOKEN } from './tools.mjs';

const options = optionsOrExit();
if (options.against !== undefined) await checkReachable(options.against);
const { against, connections, only, pods, requests, rounds, seconds, stores } = options;
if (options.build) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
// In a server that has other uses, nothing of theirs is met.
const namespace = against === undefined ? NAMESPACE : `bench-${randomUUID().slice(0, 8)}`;
const loads = loadsIn(namespace);
const ns = `/api/v1/namespaces/${namespace}`;

const own = [];
for (const store of stores) own.push(await startOn(store));
const targets = [...own, ...(against === undefined ? [] : [against])];
const filled = [];
for (const { address, token } of targets) filled.push(await fill(address, { namespace, token, pods }));
const [first] = own;
const sizeOf = async (path) => (await must(first.address, 'GET', path)).body.length;
const sizes = { small: await sizeOf(`${ns}/pods/p7`), large: await sizeOf(`${ns}/pods`) };
const bare = await startBare(first.plat.dataDir, sizes.small, sizes.large);

const rows = [];
const fans = [];
try {
  for (const [name, { path, script, bare: which, request }] of Object.entries(loads)) {
    if (only !== undefined && !only.includes(name)) continue;
    const measure = ({ address, token, pids }) =>
      requests === undefined
        ? load(address, path, { script, seconds, connections, token, pid: pids })
        : loadByCount(address, request, { requests, connections, token, pid: pids });
    const bareGet = () => ({ method: 'GET', path: `/${which}`, headers: {} });
    const measureBare = () =>
      requests === undefined
        ? load(bare.address, `/${which}`, { seconds: Math.max(Math.min(2, seconds), Math.ceil(seconds / 2)), connections, pid: bare.pid })
        : loadByCount(bare.address, bareGet, { requests, connections, pid: bare.pid });
    const found = await inRounds(targets, { rounds, measure, measureBare });
    rows.push({ name, which, ...found });
    for (const [at, { name: server }] of targets.entries()) {
      const { rate, p50, p99, failed, cpu, ratio } = found.targets[at];
      console.log(
        `${name.padEnd(14)} ${server.padEnd(12)} ${String(rate).padStart(7)}/s  p50 ${p50} ms  p99 ${p99} ms  failed ${failed}  CPU ${cpu.all} µs (main thread ${cpu.main})  ${ratio.toFixed(2)} of bare`,
      );
    }
  }
  await idleConnectionsClosed();
  if (only === undefined || only.includes('watch'))
    for (const target of targets) {
      fans.push(await fanOut(target, ns));
      console.log(`watch          ${target.name.padEnd(12)} ${fanOutText(fans.at(-1))}`);
    }
} finally {
  // What is not ours is left as it was.
  if (against !== undefined) await filled.at(-1).remove();
}
await bare.stop();
const starts = [];
for (const { name, plat, idleMB, etcd, flags } of own) {
  const endMB = residentMB(plat.pid);
  await plat.stop();
  if (only !== undefined && !only.includes('restart')) {
    await etcd?.stop();
    continue;
  }
  const again = await startPlat(flags, plat.dataDir);
  starts.push({ name, idleMB, endMB, firstMs: plat.readyMs, secondMs: again.readyMs });
  console.log(
    `${name}: ready after ${plat.readyMs} ms on the first start, ${again.readyMs} ms on the second; ${idleMB} MB idle, ${endMB} MB at the end`,
  );
  await again.stop();
  await etcd?.stop();
}
const grown = options.growth === undefined ? undefined : await growth(options.growth);
if (grown) console.log(grown);
const text = report({ options, sizes, targets, rows, fans, starts, grown });
if (targets.length > 1) console.log(text);
if (options.write) appendFileSync(join(root, 'bench/RESULTS.md'), text);
process.exit(0);

/** Before anything is started: whether the other server answers, and its processes are there. */
async function checkReachable({ address, token, pids }) {
  const answer = await call(address, 'GET', '/api/v1/namespaces?limit=1', undefined, { token }).catch((error) => error);
  const gone = pids.find((pid) => !existsSync(`/proc/${pid}`));
  let problem;
  if (answer.status !== 200) problem = `${address}: ${answer.status ?? ''} ${answer.body ?? answer.message}`;
  else if (gone !== undefined) problem = `there is no process ${gone}`;
  if (problem === undefined) return;
  console.error(`--against: cannot measure this server: ${problem}`);
  process.exit(2);
}

function optionsOrExit() {
  try {
    return benchOptions(process.argv.slice(2), Object.keys(loadsIn(NAMESPACE)));
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

/** A server of this checkout on a store of its own; the processes that its requests take are its own and the store's. */
async function startOn(store) {
  const etcd = store === 'etcd' ? await startEtcd() : undefined;
  const on = ['--store', store, ...(etcd === undefined ? [] : ['--etcd-servers', etcd.endpoint])];
  const flags = [...(store === 'lmdb' ? [] : on), ...(process.env.BENCH_SERVER_FLAGS?.split(' ') ?? [])];
  const plat = await startPlat(flags);
  const pids = [plat.pid, ...(etcd === undefined ? [] : [etcd.pid])];
  const name = etcd === undefined ? `plat (${store})` : 'plat + etcd';
  return { name, address: plat.address, token: TOKEN, pids, plat, etcd, flags, idleMB: residentMB(plat.pid) };
}
