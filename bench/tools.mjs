// What the benches share: starting servers, calling them, and loading them with wrk.
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const TOKEN = 'bench-token';
const work = mkdtempSync(join(tmpdir(), 'plat-bench-'));
/** Whatever ends this process ends the servers it started, and removes what they wrote. */
const children = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
});
// Not once: a terminal and npm both pass an interrupt on, and the second must not cut this short.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
export const endWithBench = (child) => {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
};
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 64 });

/** `--profile DIR`: a CPU profile of each server there, for Chromium's developer tools. */
const profile = process.argv.indexOf('--profile');
const profiling = profile < 0 ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.argv[profile + 1]}`];
const nodeFlags = [...profiling, ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? [])];
/** Started as users do it, so that an older build gets the flags that its first line has for Node. */
const program = nodeFlags.length === 0 ? ['./dist/plat.js'] : [process.execPath, ...nodeFlags, 'dist/plat.js'];

export const temporary = (name) => join(work, name);

/** Starts `plat server` of the build in `checkout` with the `node` of a directory; answers when it is ready, with the time that took. */
export async function startPlat(
  flags = [],
  dataDir = temporary(`data-${randomUUID()}`),
  checkout = root,
  nodeDirectory = dirname(process.execPath),
) {
  const tokens = temporary('tokens.csv');
  writeFileSync(
    tokens,
    `${TOKEN},bench,bench-uid,"system:masters"\nplain-token,plain,plain-uid,"benchers"\nflood-token,flood,flood-uid,"benchers"\nnode-token,system:node:bench,node-uid,"system:nodes"\n`,
    { mode: 0o600 },
  );
  const began = performance.now();
  const [command, ...args] = [
    ...program,
    'server',
    '--identity',
    'kubernetes',
    '--secure-port',
    '0',
    '--data-dir',
    dataDir,
    '--token-auth-file',
    tokens,
    ...flags,
  ];
  // Node parses the certificates that this variable names before it runs anything: up to 75 ms of a start that are not the server's.
  const env = { ...process.env, PATH: `${nodeDirectory}${delimiter}${process.env.PATH}`, NODE_EXTRA_CA_CERTS: '' };
  const child = endWithBench(spawn(command, args, { cwd: checkout, env, stdio: ['ignore', 'pipe', 'pipe'] }));
  let output = '';
  const address = await new Promise((resolve, reject) => {
    const look = (chunk) => {
      output += chunk;
      const found = /ready at (https:\/\/\S+)/.exec(output);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.once('exit', () => reject(new Error(`the server ended: ${output}`)));
  });
  return {
    address,
    pid: child.pid,
    dataDir,
    readyMs: Math.round(performance.now() - began),
    stop: () => stop(child),
    output: () => output,
  };
}

export const startBare = (dataDir, small, large) =>
  startHelper('bare.mjs', [join(dataDir, 'pki/server.key'), join(dataDir, 'pki/server.crt'), String(small), String(large)]);

/** Distributes connections over servers, by their addresses. */
export const startBalancer = (addresses) =>
  startHelper(
    'balancer.mjs',
    addresses.map((address) => new URL(address).port),
  );

/** Starts a script of this directory that prints the port of its server. */
async function startHelper(script, args) {
  const child = endWithBench(spawn(process.execPath, [join(root, 'bench', script), ...args], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const port = await new Promise((resolve) => child.stdout.once('data', (chunk) => resolve(Number(chunk))));
  return { address: `https://127.0.0.1:${port}`, pid: child.pid, stop: () => stop(child) };
}

export function stop(child) {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });
}

export function call(address, method, path, body, { token = TOKEN, headers = {}, keep = true } = {}) {
  return new Promise((resolve, reject) => {
    const data = body === undefined ? undefined : JSON.stringify(body);
    const request = https.request(address + path, {
      method,
      agent,
      headers: {
        authorization: `Bearer ${token}`,
        ...(data !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(data) }),
        ...headers,
      },
    });
    request.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => keep && chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }));
    });
    request.on('error', reject);
    request.end(data);
  });
}
/** A load by wrk holds this process: connections that servers closed meanwhile are noticed after it, before they are used again. */
export const idleConnectionsClosed = () => new Promise((resolve) => setTimeout(resolve, 100));

export async function must(...args) {
  const answer = await call(...args);
  if (answer.status >= 300) throw new Error(`${args[1]} ${args[2]}: ${answer.status} ${answer.body.toString('utf8', 0, 300)}`);
  return answer;
}
/** Runs `count` calls, `width` at a time. */
export async function inParallel(count, width, run) {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await run(next++);
    }),
  );
}

export const residentMB = (pid) => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);

/** Processor time of a process, or of several, so far in µs: all of it, and that of their main threads. Counted in nanoseconds by
 * the scheduler; a thread that has ended is not counted any more, and the server's threads stay. */
export function cpuOf(pids) {
  const each = [pids].flat().map(cpuOfOne);
  return { all: each.reduce((sum, { all }) => sum + all, 0), main: each.reduce((sum, { main }) => sum + main, 0) };
}

function cpuOfOne(pid) {
  const of = (thread) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000;
    } catch {
      return 0;
    }
  };
  const threads = readdirSync(`/proc/${pid}/task`);
  return { all: threads.reduce((sum, thread) => sum + of(thread), 0), main: of(pid) };
}

const report = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %.0f %.0f %d\\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    e.status + e.connect + e.read + e.write + e.timeout))
end`;

/** One load: requests per second, latencies in ms, failures, and the processor time of one request in the processes `pid` (one or
 * several). `script` is Lua that may define `request`. */
export function load(address, path, { script = '', seconds = 5, connections = 32, token = TOKEN, pid = undefined } = {}) {
  const file = temporary('load.lua');
  writeFileSync(file, `wrk.headers["Authorization"] = "Bearer ${token}"\n${script}\n${report}`);
  const args = ['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '30s', '-s', file, address + path];
  const before = pid === undefined ? undefined : cpuOf(pid);
  const output = execFileSync('wrk', args, { encoding: 'utf8' });
  const [requests, micros, p50, p99, failed] = /RESULT (.*)/.exec(output)[1].split(' ').map(Number);
  const after = pid === undefined ? undefined : cpuOf(pid);
  const each = (which) => +((after[which] - before[which]) / requests).toFixed(1);
  const cpu = after && { all: each('all'), main: each('main') };
  const rate = Math.round(requests / (micros / 1e6));
  return { requests, rate, p50: +(p50 / 1000).toFixed(1), p99: +(p99 / 1000).toFixed(1), failed, cpu };
}

/** Lua that sends a body with `@NAME@` replaced by a fresh name, to a path that may hold it too. */
export function writing(method, path, type, body, name) {
  const text = JSON.stringify(body).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `
local n = 0
local id = tostring({}):gsub("table: 0x", "")
request = function()
  n = n + 1
  local name = ${name}
  local count = tostring(n)
  local body = (('${text}'):gsub("@NAME@", name):gsub("@N@", count))
  local path = (("${path}"):gsub("@NAME@", name))
  return wrk.format("${method}", path, {["Authorization"] = wrk.headers["Authorization"], ["Content-Type"] = "${type}"}, body)
end`;
}

/** A pod of usual size, without a service account. */
export const samplePod = (name, app) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app, index: name } },
  spec: {
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'main',
        image: 'registry.example/app:1.2.3',
        command: ['/app'],
        env: [
          { name: 'A', value: 'one' },
          { name: 'B', value: 'two' },
        ],
        ports: [{ containerPort: 8080 }],
        resources: { requests: { cpu: '100m', memory: '128Mi' } },
      },
    ],
  },
});
