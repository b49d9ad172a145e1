#!/usr/bin/env node
// One user floods the server while others read, write and renew a node's lease.
//
//   node bench/flood.mjs [--long] [--only bodies,lists,…] [--rounds N] [--checkout DIRECTORY] [--profile DIRECTORY]
//
// Phases with and without the flood alternate, so that a machine that is busy with other things is so in both. Prints, for
// each flood, p50 and p99 of the others' latency in ms without and with it over all rounds, the ratios of these, and who was
// rejected with 429. Each flood meets a new server. `server` is the processor time that the server's main thread took between a request and its
// answer: what was done before it, whoever else uses the machine. Ends with 1 where a p99 is more than three times the quiet
// one, or where leases or controllers were rejected. The flood runs in a process of its own; on a machine with few cores it
// takes processor time from everybody, which is part of the figures. Loopback only. `--checkout`: another build to measure, for a comparison.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { call, inParallel, must, residentMB, startPlat } from './tools.mjs';

const argument = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const long = process.argv.includes('--long');
const rounds = Number(argument('rounds') ?? (long ? 10 : 3));
/** One phase. */
const PHASE_MS = long ? 6000 : 2000;
const RAMP_MS = 1500;
const OPENING_MS = 30_000;
const WORKERS = 2;
const OBJECTS = 3000;
const ns = '/api/v1/namespaces/flood';
const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/bench';

// ---- the flood, in its own process -------------------------------------------------------------------------------

const codes = {};
const count = (code) => {
  codes[code] = (codes[code] ?? 0) + 1;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 256 });
const storm = new https.Agent({ rejectUnauthorized: false, maxSockets: 256 });
function ask(address, method, path, body, more) {
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer flood-token', 'content-type': 'application/json', ...more };
    const request = https.request(address + path, { method, agent, headers }, (response) => {
      count(response.statusCode);
      response.resume();
      response.on('close', () => resolve(response.statusCode));
    });
    request.on('error', () => {
      count('broken');
      resolve(0);
    });
    request.end(body && JSON.stringify(body));
  });
}
/** Whether it floods now. Each flood is told when that changes. */
let active = false;
const during = async (work) => {
  while (active) if ((await work()) === 429) await pause(20);
};
const times = (count, work) => {
  for (let i = 0; i < count; i++) void work(i);
};
/** A connection that sends something now and again and is followed by another when it ends. */
function dribbling(address, first, more) {
  const { port } = new URL(address);
  const open = () => {
    if (!active) return;
    const socket = connect({ host: '127.0.0.1', port: Number(port), ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
    socket.write(first);
    const dribble = setInterval(() => (active ? socket.write(more()) : socket.destroy()), 500);
    socket.once('data', (chunk) => count(chunk.toString('latin1', 9, 12)));
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(dribble);
      setTimeout(open, 50);
    });
  };
  open();
}
let serial = 0;
const created = `POST ${ns}/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer flood-token\r\n`;

const floods = {
  /** 300 connections, each with a body that does not end; one that was refused is followed by another. */
  bodies: (address) =>
    times(300, () => dribbling(address, `${created}Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n{`, () => ' ')),
  /** 64 at a time ask for all objects. */
  lists: (address) => times(64, () => during(() => ask(address, 'GET', '/api/v1/configmaps'))),
  /** 16 at a time ask for all objects in forms that are made anew. */
  forms: (address) =>
    times(16, (i) =>
      during(() =>
        ask(address, 'GET', `/api/v1/configmaps?limit=${2900 + (serial++ % 100)}`, undefined, {
          accept: ['application/yaml', 'application/json;as=Table;v=v1;g=meta.k8s.io', 'application/vnd.kubernetes.protobuf'][i % 3],
        }),
      ),
    ),
  /** 10,000 watches on 20 connections, and a change a second that all of them see. */
  watches: async (address) => {
    const sessions = Array.from({ length: 20 }, () => http2.connect(address, { rejectUnauthorized: false }));
    for (const session of sessions) session.on('error', () => {});
    await inParallel(10_000, 200, async (i) => {
      for (let done = false; !done && active; ) {
        const stream = sessions[i % 20].request({ ':path': `${ns}/secrets?watch=1`, authorization: 'Bearer flood-token' });
        stream.on('error', () => {});
        stream.resume();
        const status = await new Promise((resolve) => {
          stream.once('response', (headers) => resolve(headers[':status']));
          stream.once('close', () => resolve('broken'));
        });
        count(status);
        done = status === 200;
        if (!done) await pause(20);
      }
    });
    console.log('open');
    await during(async () => {
      await pause(1000);
      return ask(address, 'POST', `${ns}/secrets`, { metadata: { generateName: 'w-' } });
    });
    for (const session of sessions) session.destroy();
  },
  /** 200 at a time begin a watch of all objects and end it. */
  'watch-storm': (address) =>
    times(200, () =>
      during(
        () =>
          new Promise((resolve) => {
            const headers = { authorization: 'Bearer flood-token' };
            const request = https.request(`${address}/api/v1/configmaps?watch=1`, { agent: storm, headers }, (response) => {
              count(response.statusCode);
              response.once('data', () => request.destroy());
              response.on('error', () => {});
              if (response.statusCode !== 200) response.resume();
            });
            request.on('error', () => {});
            request.on('close', () => resolve(0));
            request.end();
          }),
      ),
    ),
  /** 128 at a time create and delete. */
  writes: (address) =>
    times(128, () =>
      during(async () => {
        const name = `x${serial++}`;
        const status = await ask(address, 'POST', `${ns}/configmaps`, { metadata: { name }, data: { a: 'x'.repeat(2000) } });
        return status === 201 ? ask(address, 'DELETE', `${ns}/configmaps/${name}`) : status;
      }),
    ),
  /** 128 at a time read one object, each in another namespace. */
  gets: (address) => times(128, () => during(() => ask(address, 'GET', `/api/v1/namespaces/n${serial++ % 500}/configmaps/none`))),
  /** 1,000 connections whose heads do not end. */
  heads: (address) => times(1000, () => dribbling(address, created, () => `X-${serial++}: a\r\n`)),
  /** 50 at a time connect, say nothing and go: handshakes alone. */
  handshakes: (address) => {
    const { port } = new URL(address);
    times(50, () =>
      during(
        () =>
          new Promise((resolve) => {
            const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false }, () => {
              count('connected');
              socket.destroy();
            });
            socket.on('error', () => {});
            socket.once('close', () => resolve(0));
          }),
      ),
    );
  },
};

// ---- the others --------------------------------------------------------------------------------------------------

const percentile = (values, part) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? Number.NaN : +sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1);
};

/** Processor time that the main thread of a process has had, in ms. */
const processorMs = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** Latencies and codes of what the others do for a while. */
async function measure({ address, pid }, forMs) {
  const kinds = {
    get: { token: 'plain-token', work: () => ['GET', '/api/v1/namespaces/quiet/configmaps/one'] },
    list: { token: 'plain-token', work: () => ['GET', '/api/v1/namespaces/quiet/configmaps'] },
    write: {
      token: 'plain-token',
      work: (n) => ['PATCH', '/api/v1/namespaces/quiet/configmaps/one', { data: { n: String(n) } }, 'application/merge-patch+json'],
    },
    lease: {
      token: 'node-token',
      work: (n) => [
        'PATCH',
        lease,
        { spec: { renewTime: new Date(Date.now() + n).toISOString().replace('Z', '000Z') } },
        'application/merge-patch+json',
      ],
    },
    livez: { token: 'plain-token', work: () => ['GET', '/livez'] },
  };
  const results = {};
  const until = performance.now() + forMs;
  let n = 0;
  await Promise.all(
    Object.entries(kinds).flatMap(([kind, { token, work }]) => {
      results[kind] = { times: [], work: [], codes: {} };
      return Array.from({ length: WORKERS }, async () => {
        while (performance.now() < until) {
          const [method, path, body, type] = work(n++);
          const before = processorMs(pid);
          const began = performance.now();
          const { status } = await call(address, method, path, body, { token, headers: type && { 'content-type': type } }).catch(() => ({
            status: 'broken',
          }));
          results[kind].times.push(performance.now() - began);
          results[kind].work.push(processorMs(pid) - before);
          results[kind].codes[status] = (results[kind].codes[status] ?? 0) + 1;
          await pause(5);
        }
      });
    }),
  );
  return results;
}

/** Requests that were rejected at the levels of nodes, leases and controllers. */
async function rejectedOfSystem(address) {
  const { body } = await call(address, 'GET', '/metrics');
  const lines = body.toString().match(/^apiserver_flowcontrol_rejected_requests_total\{.*$/gm) ?? [];
  return lines.filter(
    (line) => /priority_level="(system|node-high|leader-election|workload-high|exempt)"/.test(line) && !line.includes('"cancelled"'),
  ).length;
}

async function main() {
  let failed = false;
  for (const name of argument('only')?.split(',') ?? Object.keys(floods)) {
    const server = await prepared();
    failed = (await tried(server, name)) || failed;
    await server.stop();
  }
  process.exitCode = failed ? 1 : 0;
}

/** A server with objects to flood and objects of the others, its code compiled. */
async function prepared() {
  const server = await startPlat(['--store', 'memory'], undefined, argument('checkout'));
  const { address } = server;
  for (const name of ['quiet', 'flood']) await must(address, 'POST', '/api/v1/namespaces', { metadata: { name } });
  await must(address, 'POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'benchers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'benchers' }],
  });
  await must(address, 'POST', '/api/v1/namespaces/quiet/configmaps', { metadata: { name: 'one' }, data: { a: 'x'.repeat(400) } });
  await must(address, 'POST', lease.slice(0, lease.lastIndexOf('/')), { metadata: { name: 'bench' }, spec: { holderIdentity: 'bench' } });
  const data = { a: 'x'.repeat(1000) };
  await inParallel(OBJECTS, 32, (i) => must(address, 'POST', `${ns}/configmaps`, { metadata: { name: `o${i}` }, data }));
  await measure(server, 1500);
  return server;
}

/** Measures one flood; answers whether it did what it must not do. */
async function tried(server, name) {
  const { address } = server;
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--flood', name, '--address', address], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const phases = [];
  for (let round = 0; round < rounds; round++) {
    const quiet = await measure(server, PHASE_MS);
    said = '';
    child.stdin.write('on\n');
    for (const end = performance.now() + OPENING_MS; name === 'watches' && !said.includes('open') && performance.now() < end; )
      await pause(100);
    await pause(RAMP_MS);
    const flooded = await measure(server, PHASE_MS);
    child.stdin.write('off\n');
    phases.push({ quiet, flooded });
    await pause(RAMP_MS);
  }
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.end();
  await ended;
  const kinds = Object.keys(phases[0].quiet);
  const rows = kinds.map((kind) => {
    const all = (phase, what = 'times') => phases.flatMap((both) => both[phase][kind][what]);
    const ratio = (part) => Math.round((percentile(all('flooded'), part) / percentile(all('quiet'), part)) * 10) / 10;
    const refused = phases.reduce((sum, { flooded }) => sum + (flooded[kind].codes[429] ?? 0), 0);
    const work = { quiet: all('quiet', 'work'), flooded: all('flooded', 'work') };
    return { kind, quiet: all('quiet'), flooded: all('flooded'), work, half: ratio(0.5), most: ratio(0.99), refused };
  });
  console.log(`${name}: p50 / p99 in ms of the others`);
  for (const { kind, quiet, flooded, work, half, most, refused } of rows) {
    const both = (times) => `${percentile(times, 0.5)} / ${percentile(times, 0.99)}`;
    const figures = `quiet ${both(quiet).padEnd(14)} flooded ${both(flooded).padEnd(14)} ratio ${half} / ${most}`.padEnd(68);
    console.log(`  ${kind.padEnd(6)} ${figures} server ${both(work.quiet)} → ${both(work.flooded)}`.padEnd(110), `429: ${refused}`);
  }
  const rejected = await rejectedOfSystem(address);
  const answered = said.trim().split('\n').at(-1);
  console.log(`  flood was answered ${answered}; 429 of nodes and controllers: ${rejected}; server ${residentMB(server.pid)} MB`);
  const slow = rows.filter(({ most }) => most > 3).map(({ kind }) => kind);
  if (slow.length > 0) console.log(`  more than three times the quiet p99: ${slow.join(', ')}`);
  const wrong = rows.some(({ kind, refused }) => refused > 0 && (kind === 'lease' || kind === 'livez'));
  return slow.length > 0 || rejected > 0 || wrong;
}

if (argument('flood') === undefined) await main();
else {
  const flood = floods[argument('flood')];
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (text) => {
    const on = String(text).trim().split('\n').at(-1) === 'on';
    if (on && !active) setImmediate(flood, argument('address'));
    active = on;
  });
  process.stdin.on('end', () => {
    console.log(JSON.stringify(codes));
    process.exit(0);
  });
}
