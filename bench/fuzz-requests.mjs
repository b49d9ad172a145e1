// Whole requests, changed at random from valid ones, over HTTP/1.1 and HTTP/2, in JSON, YAML and the binary form.
//   node bench/fuzz-requests.mjs [--count 20000] [--seed N] [--store memory|lmdb] [--width 24]
//   --server URL --token T --other-token T2   against a server that runs already (loopback only)
// Prints what was answered, every 500 and every unexpected end of a connection with its request, and the latency of /livez
// meanwhile. Exit code 1 when the server ended, answered 500, or an error that nobody handled was logged.
import { writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import https from 'node:https';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { binaries, corpus, namespaces, widgets } from './fuzz/corpus.mjs';
import { mutate, randomSource } from './fuzz/mutate.mjs';
import { residentMB, startPlat, TOKEN } from './tools.mjs';

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const count = Number(option('count', '20000'));
const seed = Number(option('seed', String(Math.floor(Math.random() * 2 ** 31))));
const width = Number(option('width', '24'));
const shared = fileURLToPath(new URL('../../shared', import.meta.url));
const given = option('server');
const plat = given === undefined ? await startPlat(['--store', option('store', 'memory')]) : undefined;
const address = given ?? plat.address;
if (!['127.0.0.1', 'localhost', '[::1]'].includes(new URL(address).hostname)) throw new Error('loopback only');
const tokens = { admin: option('token', TOKEN), alice: option('other-token', 'plain-token') };

/** Requests that may take longer than this hang. */
const PATIENCE_MS = 30_000;
const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: width + 100 });
let session;
const sessionNow = () => {
  if (session === undefined || session.closed || session.destroyed) {
    session = http2.connect(address, { rejectUnauthorized: false });
    session.on('error', () => {});
  }
  return session;
};

function first({ method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = https.request(address + path, { method, agent, headers, timeout: PATIENCE_MS });
    request.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.length < 50 && chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, body: Buffer.alloc(0) });
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', reject);
    request.end(body);
  });
}
function second({ method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const fit = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'connection' && name !== 'expect'));
    const stream = sessionNow().request({ ':method': method, ':path': path, ...fit }, { endStream: body === undefined });
    const chunks = [];
    let status = 0;
    stream.setTimeout(PATIENCE_MS, () => stream.destroy(new Error('no answer in time')));
    stream.on('response', (head) => {
      status = head[':status'];
    });
    stream.on('data', (chunk) => chunks.length < 50 && chunks.push(chunk));
    stream.on('end', () => resolve({ status, body: Buffer.concat(chunks) }));
    stream.on('error', reject);
    if (body !== undefined) stream.end(body);
  });
}
const send = (request, protocol) => {
  const token = tokens[request.user];
  const headers = { ...request.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  if (request.body !== undefined) headers['content-length'] = String(Buffer.byteLength(request.body));
  return (protocol === 2 ? second : first)({ ...request, headers });
};
const admin = (method, path, object) =>
  send({ method, path, user: 'admin', headers: { 'content-type': 'application/json' }, body: object && JSON.stringify(object) }, 1).catch(
    () => {},
  );

/** Makes the namespaces and the custom kind again: the requests delete them, too. */
async function prepare() {
  for (const name of namespaces) await admin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await admin('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets('widgets', 'Widget'));
}
/** Objects of a long run would otherwise fill the server. */
async function clear() {
  for (const name of namespaces)
    for (const resource of [
      'pods',
      'configmaps',
      'secrets',
      'services',
      'events',
      'endpoints',
      'serviceaccounts',
      'persistentvolumeclaims',
      'podtemplates',
      'replicationcontrollers',
      'resourcequotas',
      'limitranges',
    ])
      await admin('DELETE', `/api/v1/namespaces/${name}/${resource}?gracePeriodSeconds=0`);
  for (const [group, resource] of [
    ['apps/v1', 'deployments'],
    ['apps/v1', 'replicasets'],
    ['apps/v1', 'statefulsets'],
    ['apps/v1', 'daemonsets'],
    ['batch/v1', 'jobs'],
    ['batch/v1', 'cronjobs'],
    ['coordination.k8s.io/v1', 'leases'],
    ['discovery.k8s.io/v1', 'endpointslices'],
    ['events.k8s.io/v1', 'events'],
    ['networking.k8s.io/v1', 'ingresses'],
  ])
    for (const name of namespaces) await admin('DELETE', `/apis/${group}/namespaces/${name}/${resource}`);
  for (const path of [
    '/api/v1/nodes',
    '/api/v1/persistentvolumes',
    '/apis/storage.k8s.io/v1/storageclasses',
    '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  ])
    await admin('DELETE', path);
}

/** What a server may say when something that is not there was asked for on purpose. */
const unreachable =
  /error dialing backend|no preferred addresses found|connect ECONNREFUSED|connection refused|EHOSTUNREACH|ENETUNREACH|getaddrinfo|i\/o timeout|failed calling webhook|conversion webhook/;
const statuses = {};
const problems = [];
const note = (what, request, text) => {
  if (problems.length >= 60) return;
  problems.push({
    what,
    text,
    method: request.method,
    path: request.path,
    headers: request.headers,
    body: request.body === undefined ? undefined : Buffer.from(request.body).toString('base64'),
  });
};
let fiveHundreds = 0;
let unreached = 0;
let broken = 0;
async function one(request, protocol) {
  try {
    const { status, body } = await send(request, protocol);
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status !== 500) return;
    const text = body.toString('utf8', 0, 600);
    if (unreachable.test(text)) unreached++;
    else {
      fiveHundreds++;
      note('500', request, text);
    }
  } catch (error) {
    // A request line or header that cannot be sent is no request.
    if (
      /ERR_(INVALID|HTTP_INVALID|UNESCAPED|HTTP2_(INVALID|CONNECTION_HEADERS|HEADER))|unescaped|Invalid character/.test(
        `${error.code} ${error.message}`,
      )
    )
      return;
    broken++;
    note('broken', request, `${error.code ?? ''} ${error.message}`);
  }
}

const probe = new Worker(new URL('./fuzz/livez.mjs', import.meta.url), { workerData: { address, token: tokens.admin } });
await prepare();
const source = randomSource(seed);
const bases = [...corpus(shared), ...binaries(shared)];
const began = performance.now();
const startMB = plat && residentMB(plat.pid);
/** Watches last a second: they are not waited for, up to a number. */
const MOST_WATCHES = 100;
const watching = new Set();
let next = 0;
let cleared = Promise.resolve();
await Promise.all(
  Array.from({ length: width }, async (_, lane) => {
    while (next < count) {
      const index = next++;
      if (index > 0 && index % 1_000 === 0) cleared = prepare();
      if (index > 0 && index % 10_000 === 0) {
        cleared = clear().then(prepare);
        process.stderr.write(
          `${index} requests, ${Math.round(index / ((performance.now() - began) / 1000))}/s, ${fiveHundreds} × 500${plat ? `, ${residentMB(plat.pid)} MB` : ''}\n`,
        );
      }
      await cleared;
      const request = mutate(source, source.pick(bases));
      const asked = one(request, lane % 3 === 0 ? 2 : 1);
      if (!/watch/.test(request.path)) await asked;
      else if (watching.size < MOST_WATCHES) {
        watching.add(asked);
        asked.finally(() => watching.delete(asked));
      } else await Promise.race(watching);
    }
  }),
);
await Promise.all(watching);
const alive = await send({ method: 'GET', path: '/livez', headers: {}, user: 'admin' }, 1).then(
  ({ status }) => status === 200,
  () => false,
);
const livez = await new Promise((resolve) => {
  probe.once('message', resolve);
  probe.postMessage('end');
});
const seconds = (performance.now() - began) / 1000;
const result = {
  seed,
  requests: count,
  perSecond: Math.round(count / seconds),
  statuses,
  fiveHundreds,
  unreached,
  broken,
  alive,
  livez,
  ...(plat && { startMB, endMB: residentMB(plat.pid), unhandled: plat.output?.().match(/unhandled|Uncaught/gi)?.length ?? 0 }),
};
console.log(JSON.stringify(result));
for (const problem of problems.slice(0, 20)) console.log(JSON.stringify(problem).slice(0, 1500));
const keep = option('problems');
if (keep !== undefined) writeFileSync(keep, JSON.stringify(problems, null, 1));
if (plat) await plat.stop();
process.exit(alive && fiveHundreds === 0 && (result.unhandled ?? 0) === 0 ? 0 : 1);
