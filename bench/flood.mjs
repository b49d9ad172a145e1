#!/usr/bin/env node
// One user floods the server while others read, write and renew a node's lease.
//
//   node bench/flood.mjs [--long] [--only bodies,lists,watches,writes] [--checkout DIRECTORY]
//
// Prints, for each flood, the latency of the others in ms beside that of a quiet server, and who was rejected with 429. Ends
// with 1 where a p99 of the others is more than three times the quiet one, or where leases or controllers were rejected.
// The flood runs in a process of its own; on a machine with few cores it takes processor time from everybody, which is
// part of the figures. Loopback only. `--checkout`: another build to measure, for a comparison.
import { spawn } from 'node:child_process';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { call, inParallel, must, residentMB, startPlat } from './tools.mjs';

const argument = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const seconds = process.argv.includes('--long') ? 60 : 6;
const RAMP_MS = 2500;
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
function ask(address, method, path, body) {
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer flood-token', 'content-type': 'application/json' };
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
const forever = async (work) => {
  for (;;) if ((await work()) === 429) await pause(20);
};

const floods = {
  /** 300 connections, each with a body that does not end; one that was refused is followed by another. */
  bodies: (address) => {
    const { port } = new URL(address);
    const open = () => {
      const socket = connect({ host: '127.0.0.1', port, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
      socket.write(
        `POST ${ns}/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer flood-token\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{`,
      );
      const dribble = setInterval(() => socket.write(' '), 500);
      socket.once('data', (chunk) => count(chunk.toString('latin1', 9, 12)));
      socket.on('error', () => {});
      socket.once('close', () => {
        clearInterval(dribble);
        setTimeout(open, 50);
      });
    };
    for (let i = 0; i < 300; i++) open();
  },
  /** 64 at a time ask for all objects. */
  lists: (address) => {
    for (let i = 0; i < 64; i++) void forever(() => ask(address, 'GET', '/api/v1/configmaps'));
  },
  /** 10,000 watches on 20 connections, and a change a second that all of them see. */
  watches: async (address) => {
    const sessions = Array.from({ length: 20 }, () => http2.connect(address, { rejectUnauthorized: false }));
    for (const session of sessions) session.on('error', () => {});
    await inParallel(10_000, 200, async (i) => {
      for (let done = false; !done; ) {
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
    void forever(async () => {
      await pause(1000);
      return ask(address, 'POST', `${ns}/secrets`, { metadata: { generateName: 'w-' } });
    });
  },
  /** 128 at a time create and delete. */
  writes: (address) => {
    let serial = 0;
    for (let i = 0; i < 128; i++)
      void forever(async () => {
        const name = `x${serial++}`;
        const status = await ask(address, 'POST', `${ns}/configmaps`, { metadata: { name }, data: { a: 'x'.repeat(2000) } });
        return status === 201 ? ask(address, 'DELETE', `${ns}/configmaps/${name}`) : status;
      });
  },
};

// ---- the others --------------------------------------------------------------------------------------------------

const percentile = (values, part) => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted.length === 0 ? Number.NaN : +sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))].toFixed(1);
};

/** Latencies and codes of what the others do for a while. */
async function measure(address, forMs) {
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
      results[kind] = { times: [], codes: {} };
      return Array.from({ length: WORKERS }, async () => {
        while (performance.now() < until) {
          const [method, path, body, type] = work(n++);
          const began = performance.now();
          const { status } = await call(address, method, path, body, { token, headers: type && { 'content-type': type } }).catch(() => ({
            status: 'broken',
          }));
          results[kind].times.push(performance.now() - began);
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
  await measure(address, 1500);
  const quiet = await measure(address, seconds * 1000);
  const row = (name, results) =>
    console.log(
      name.padEnd(9),
      ...Object.entries(results).map(([kind, { times }]) => `${kind} ${percentile(times, 0.5)} / ${percentile(times, 0.99)}`.padEnd(24)),
    );
  console.log('p50 / p99 in ms of the others');
  row('quiet', quiet);
  let failed = false;
  for (const name of argument('only')?.split(',') ?? Object.keys(floods)) {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--flood', name, '--address', address], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    for (const end = performance.now() + 20_000; name === 'watches' && !said.includes('open') && performance.now() < end; )
      await pause(100);
    await pause(RAMP_MS);
    const results = await measure(address, seconds * 1000);
    row(name, results);
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.stdin.end();
    await ended;
    const rejected = await rejectedOfSystem(address);
    const slow = Object.entries(results).filter(([kind, { times }]) => percentile(times, 0.99) > 3 * percentile(quiet[kind].times, 0.99));
    const refused = Object.entries(results).map(([kind, { codes: seen }]) => `${kind} ${seen[429] ?? 0}`);
    console.log(
      `          flood was answered ${said.trim().split('\n').at(-1)}; 429 of others: ${refused.join(', ')}; of nodes and controllers: ${rejected}; server ${residentMB(server.pid)} MB`,
    );
    if (slow.length > 0) console.log(`          more than three times the quiet p99: ${slow.map(([kind]) => kind).join(', ')}`);
    failed ||= slow.length > 0 || rejected > 0 || (results.lease.codes[429] ?? 0) > 0 || (results.livez.codes[429] ?? 0) > 0;
    await pause(1000);
  }
  await server.stop();
  process.exitCode = failed ? 1 : 0;
}

if (argument('flood') === undefined) await main();
else {
  process.stdin.on('end', () => {
    console.log(JSON.stringify(codes));
    process.exit(0);
  });
  process.stdin.resume();
  await floods[argument('flood')](argument('address'));
}
