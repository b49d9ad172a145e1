/**
 * Mixed load on a server for a long time, with a steady number of objects: does its memory stay as it is?
 *
 *   node bench/soak.mjs [--minutes 30] [--rate 200] [--store lmdb] [--seed N] [--snapshots DIR]
 *
 * All verbs, kinds built in and custom (made and deleted all the time), watches that come and go, patches, apply, Tables, YAML,
 * the binary form, events that expire, and requests that are refused. Samples what the system says of the process every five
 * seconds, and what is in use after a full collection every twenty. Verdict: the medians of the first and last third after the
 * first five minutes (in a shorter run: the first two fifths) differ by no more than 5%. `--snapshots` writes a heap snapshot at
 * the beginning and the end of that time, for Chromium's developer tools. Ends with 1 when memory grew.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http2 from 'node:http2';
import { join } from 'node:path';
import { root, TOKEN, temporary } from './tools.mjs';
import { option, row } from './typed.mjs';

const minutes = Number(option('minutes', 30));
const rate = Number(option('rate', 200));
const seed = Number(option('seed', Date.now() % 1_000_000_000));
const store = option('store', 'lmdb');
const snapshots = option('snapshots');
const WORKERS = 12;
/** Names that each worker uses again and again; besides there are fresh ones. */
const NAMES = 12;
const WATCHES = 24;
/** Custom kinds at a time until the server is warm; one from then on. */
const KINDS = 6;
const NAMESPACES = ['soak-a', 'soak-b', 'soak-c'];
const WARM_UP_S = Math.min(300, minutes * 60 * 0.4);
const TOLERANCE = 0.05;

let state = seed >>> 0;
function random(limit) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}
const pick = (list) => list[random(list.length)];

// The server.
const tokens = temporary('soak-tokens.csv');
writeFileSync(tokens, `${TOKEN},soak,soak-uid,"system:masters"\nplain-token,plain,plain-uid,"nobody"\n`, { mode: 0o600 });
const heap = snapshots === undefined ? [] : ['--heapsnapshot-signal=SIGUSR2'];
if (snapshots !== undefined) mkdirSync(snapshots, { recursive: true });
const node = ['--expose-gc', ...heap, '--require', join(root, 'bench/soak-probe.cjs')];
const flags = ['--identity', 'kubernetes', '--secure-port', '0', '--store', store, '--data-dir', temporary('soak-data')];
// Room for as many services as the load can make.
const range = ['--service-cluster-ip-range', '10.0.0.0/16'];
const more = ['--token-auth-file', tokens, '--event-ttl', '30s', '--history-retention', option('retention', '1m')];
const child = spawn(process.execPath, [...node, join(root, 'dist/plat.js'), 'server', ...flags, ...more, ...range], {
  cwd: snapshots ?? root,
  stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
});
process.on('exit', () => child.kill('SIGKILL'));
let log = '';
const address = await new Promise((resolve, reject) => {
  const read = (chunk) => {
    log = (log + chunk).slice(-20_000);
    const found = /ready at (https:\/\/\S+)/.exec(log);
    if (found) resolve(found[1]);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  child.once('exit', () => reject(new Error(`the server ended: ${log}`)));
});

// Calls.
let session;
function open(headers, body) {
  if (session === undefined || session.closed || session.destroyed) {
    session = http2.connect(address, { rejectUnauthorized: false });
    session.on('error', () => {});
  }
  return session.request({ authorization: `Bearer ${TOKEN}`, ...headers }, { endStream: body === undefined });
}
const statuses = {};
let calls = 0;
let failuresShown = 0;
function call(method, path, body, headers = {}) {
  calls++;
  return new Promise((resolve) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const stream = open(
      { ':method': method, ':path': path, ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
      text,
    );
    let status = 0;
    const chunks = [];
    stream.on('response', (head) => {
      status = head[':status'];
    });
    stream.on('data', (chunk) => chunks.push(chunk));
    const done = () => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status >= 500 && failuresShown++ < 5)
        console.error(`${method} ${path}: ${status} ${Buffer.concat(chunks).toString('utf8', 0, 500)}`);
      resolve({ status, text: Buffer.concat(chunks).toString() });
    };
    stream.once('close', done);
    stream.on('error', () => {});
    stream.setTimeout(30_000, () => stream.close());
    if (text !== undefined) stream.end(text);
  });
}
const parsed = ({ text }) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// What is done to objects.
const labels = () => ({ app: `app${random(8)}`, tier: pick(['front', 'back']) });
const kinds = [
  {
    path: (ns) => `/api/v1/namespaces/${ns}/configmaps`,
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: labels() },
      data: { a: 'x'.repeat(random(2_000)), b: `${random(1e9)}` },
    }),
    change: { data: { a: 'y' } },
  },
  {
    path: (ns) => `/api/v1/namespaces/${ns}/secrets`,
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, labels: labels() },
      stringData: { password: `${random(1e9)}` },
    }),
    change: { metadata: { annotations: { seen: 'yes' } } },
  },
  {
    path: (ns) => `/api/v1/namespaces/${ns}/pods`,
    make: (name) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: labels() },
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'main', image: `registry.example/app:${random(1e6)}` }],
      },
    }),
    change: { metadata: { labels: { tier: 'other' } } },
  },
  {
    path: (ns) => `/api/v1/namespaces/${ns}/services`,
    make: (name) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name, labels: labels() }, spec: { ports: [{ port: 80 }] } }),
    change: { metadata: { annotations: { seen: 'yes' } } },
  },
  {
    path: (ns) => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`,
    make: (name) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
      spec: { holderIdentity: `h${random(1e6)}`, leaseDurationSeconds: 15 },
    }),
    change: { spec: { holderIdentity: 'other' } },
  },
];
const patchTypes = ['application/merge-patch+json', 'application/strategic-merge-patch+json'];
const accepts = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/json',
];
let serial = 0;

async function useObject(worker) {
  const kind = pick(kinds);
  const path = kind.path(pick(NAMESPACES));
  const name = `w${worker}-${random(NAMES)}`;
  const one = `${path}/${name}`;
  const dice = random(100);
  if (dice < 18) await call('POST', path, kind.make(name));
  else if (dice < 30) await call('GET', one, undefined, { accept: pick(accepts) });
  else if (dice < 45) {
    const found = await call('GET', one);
    const object = found.status === 200 ? parsed(found) : undefined;
    if (object !== undefined) await call('PUT', one, { ...object, metadata: { ...object.metadata, annotations: { turn: `${serial++}` } } });
  } else if (dice < 55) await call('PATCH', one, kind.change, { 'content-type': pick(patchTypes) });
  else if (dice < 59) {
    const patch = [{ op: 'add', path: '/metadata/annotations', value: { turn: `${serial++}` } }];
    await call('PATCH', one, patch, { 'content-type': 'application/json-patch+json' });
  } else if (dice < 67) {
    const query = `fieldManager=manager${random(6)}&force=true`;
    await call('PATCH', `${one}?${query}`, kind.make(name), { 'content-type': 'application/apply-patch+yaml' });
  } else if (dice < 80) await call('DELETE', one);
  else if (dice < 86) {
    // A name that nobody will use again.
    const fresh = `fresh-${serial++}`;
    await call('POST', path, kind.make(fresh));
    await call('DELETE', `${path}/${fresh}`);
  } else if (dice < 92)
    await call(
      'GET',
      `${path}?${pick(['', 'labelSelector=app%3Dapp1', `labelSelector=app+in+(app${random(8)},z${serial++})`, 'limit=5', `fieldSelector=metadata.name%3D${name}`])}`,
      undefined,
      { accept: pick(accepts) },
    );
  else if (dice < 94) {
    const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml-${random(20)}\ndata:\n  turn: "${serial++}"\n`;
    const made = await call('POST', `/api/v1/namespaces/soak-a/configmaps`, yaml, { 'content-type': 'application/yaml' });
    if (made.status === 409) await call('DELETE', `/api/v1/namespaces/soak-a/configmaps/yaml-${random(20)}`);
  } else if (dice < 97) {
    const involvedObject = { kind: 'Pod', namespace: 'soak-a', name };
    await call('POST', '/api/v1/namespaces/soak-a/events', {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `event-${serial++}` },
      involvedObject,
      reason: 'Soak',
      message: 'x'.repeat(random(500)),
    });
  } else await refused(path, one);
}

/** Requests that a server must refuse, each with something that it has not seen before. */
function refused(path, one) {
  const unique = `${serial++}`;
  return pick([
    () => call('GET', `/api/v1/nothing-${unique}`),
    () => call('GET', `/apis/group-${unique}.example.dev/v1/things`),
    () => call('GET', path, undefined, { authorization: `Bearer wrong-${unique}` }),
    () => call('GET', path, undefined, { authorization: 'Bearer plain-token', 'user-agent': `agent-${unique}` }),
    () => call('POST', path, `{"metadata": {"name": "x-${unique}"`),
    () => call('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `Not_A_Name_${unique}` } }),
    () => call('PUT', one, { apiVersion: 'v1', kind: 'Wrong', metadata: { name: unique } }),
    () => call('POST', path, `a-${unique}`, { 'content-type': `application/x-${unique}` }),
    () => call('GET', `${path}?labelSelector=${encodeURIComponent(`${unique} in (`)}`),
    () =>
      call('PATCH', one, [{ op: 'test', path: `/metadata/none-${unique}`, value: 1 }], { 'content-type': 'application/json-patch+json' }),
    () => call('GET', path, undefined, { accept: `application/x-${unique}` }),
  ])();
}

let stopping = false;
const began = performance.now();
/** Until then the load comes as fast as it is answered, so that what has a bound comes to it. */
const warm = () => performance.now() - began > WARM_UP_S * 1_000;
async function work(worker) {
  const pause = (WORKERS * 1_000) / rate;
  while (!stopping) {
    const started = performance.now();
    await useObject(worker);
    if (warm()) await sleep(Math.max(0, pause * (0.5 + random(100) / 100) - (performance.now() - started)));
  }
}
let watchEvents = 0;
let kindsMade = 0;
async function watch() {
  while (!stopping) {
    const path = pick(kinds).path(pick(NAMESPACES));
    const query = pick(['', '&labelSelector=app%3Dapp1', '&allowWatchBookmarks=true', `&labelSelector=app%3Dz${serial++}`]);
    const stream = open({ ':method': 'GET', ':path': `${path}?watch=1${query}`, accept: pick(accepts.slice(0, 2).concat(accepts[3])) });
    stream.on('data', () => watchEvents++);
    stream.on('error', () => {});
    const closed = new Promise((resolve) => stream.once('close', resolve));
    await Promise.race([sleep(500 + random(15_000)), closed]);
    stream.close();
    await closed;
  }
}
/**
 * Kinds that are made, used and deleted; every one has a name of its own. Until the server is warm several are at a time: what
 * definitions leave behind (their recent events, compiled patterns, series of metrics) has bounds that one at a time does not
 * reach in half an hour.
 */
async function customKinds(worker) {
  while (!stopping && (worker === 0 || !warm())) {
    kindsMade++;
    const plural = `things${serial++}`;
    const group = 'soak.example.dev';
    const properties = {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer', minimum: 0 }, note: { type: 'string', pattern: `^[a-z${serial}]*$` } },
      },
    };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties } } };
    const names = { plural, singular: plural.slice(0, -1), kind: `Thing${serial}`, listKind: `Thing${serial}List` };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope: 'Namespaced', names, versions: [version] },
    };
    await call('POST', definitions, body);
    const path = `/apis/${group}/v1/namespaces/soak-b/${plural}`;
    for (let tries = 0; tries < 100 && (await call('GET', path)).status !== 200; tries++) await sleep(50);
    for (let i = 0; i < 5; i++)
      await call('POST', path, { apiVersion: `${group}/v1`, kind: names.kind, metadata: { name: `t${i}` }, spec: { size: i } });
    await call('POST', path, { apiVersion: `${group}/v1`, kind: names.kind, metadata: { name: 'bad' }, spec: { size: -1 } });
    await call('GET', path, undefined, { accept: accepts[0] });
    await call('GET', '/openapi/v2');
    await call('GET', `/apis/${group}/v1`);
    await call('DELETE', `${definitions}/${plural}.${group}`);
    for (let tries = 0; tries < 200 && (await call('GET', `${definitions}/${plural}.${group}`)).status !== 404; tries++) await sleep(50);
    if (warm()) await sleep(3_000);
  }
}

// Samples.
const seconds = () => (performance.now() - began) / 1_000;
const samples = [];
function systemSample() {
  const text = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)[1]) / 1_024;
  return { rss: of('VmRSS'), anonymous: of('RssAnon'), mapped: of('RssFile') };
}
function heapSample() {
  return new Promise((resolve) => {
    child.once('message', (/** @type {NodeJS.MemoryUsage} */ { heapUsed, external }) => {
      const [objects, buffers] = [heapUsed / 2 ** 20, external / 2 ** 20];
      resolve({ heap: objects + buffers, objects, buffers });
    });
    child.send('sample');
  });
}
async function snapshot(name) {
  const before = new Set(readdirSync(snapshots));
  child.kill('SIGUSR2');
  for (;;) {
    await sleep(1_000);
    const made = readdirSync(snapshots).find((file) => !before.has(file) && file.endsWith('.heapsnapshot'));
    if (made === undefined) continue;
    await sleep(5_000);
    renameSync(join(snapshots, made), join(snapshots, `${name}.heapsnapshot`));
    return;
  }
}

console.error(`seed ${seed}`);
for (const name of NAMESPACES) await call('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const running = [
  ...Array.from({ length: WORKERS }, (_, worker) => work(worker)),
  ...Array.from({ length: WATCHES }, watch),
  ...Array.from({ length: KINDS }, (_, worker) => customKinds(worker)),
];
let first = snapshots !== undefined;
for (let turn = 0; seconds() < minutes * 60; turn++) {
  await sleep(5_000);
  if (child.exitCode !== null) throw new Error(`the server ended: ${log}`);
  const sample = { at: seconds(), ...systemSample(), ...(turn % 4 === 3 && (await heapSample())) };
  samples.push(sample);
  if (turn % 12 === 11) {
    const { rss, anonymous, mapped, heap: used, objects, buffers } = sample;
    const shown = [rss, anonymous, mapped, used, objects, buffers].map((value) => value?.toFixed(0) ?? '–');
    console.error(
      `${sample.at.toFixed(0)} s: rss ${shown[0]} MB (own ${shown[1]}, files ${shown[2]}), in use ${shown[3]} MB ` +
        `(objects ${shown[4]}, buffers ${shown[5]}), ${calls} calls, ${kindsMade} custom kinds`,
    );
  }
  if (first && seconds() > WARM_UP_S) {
    first = false;
    await heapSample();
    await snapshot('first');
  }
}
if (snapshots !== undefined) {
  await heapSample();
  await snapshot('last');
}
const objects = parsed(await call('GET', '/api/v1/namespaces/soak-a/configmaps'))?.items.length;
stopping = true;
// What the end itself cuts short is no failure.
const answered = { ...statuses };
session.destroy();
await Promise.race([Promise.all(running), sleep(2_000)]);

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
function compare(name) {
  const steady = samples.filter((sample) => sample.at > WARM_UP_S && sample[name] !== undefined).map((sample) => sample[name]);
  const third = Math.max(1, Math.floor(steady.length / 3));
  const [early, late] = [median(steady.slice(0, third)), median(steady.slice(-third))];
  const start = samples.find((sample) => sample[name] !== undefined)?.[name];
  return {
    startMB: +start.toFixed(1),
    earlyMB: +early.toFixed(1),
    lateMB: +late.toFixed(1),
    growthPercent: +((late / early - 1) * 100).toFixed(1),
  };
}
const figures = {
  seed,
  minutes,
  store,
  calls,
  watchEvents,
  statuses: answered,
  configMapsAtEnd: objects,
  rss: compare('rss'),
  anonymous: compare('anonymous'),
  mappedFiles: compare('mapped'),
  heapAndExternalAfterCollection: compare('heap'),
  objectsAfterCollection: compare('objects'),
  buffersAfterCollection: compare('buffers'),
  customKinds: kindsMade,
};
const flat = (name) => figures[name].growthPercent <= TOLERANCE * 100;
figures.flat = flat('rss') && flat('heapAndExternalAfterCollection');
console.log(JSON.stringify(figures, null, 2));
const cell = ({ startMB, earlyMB, lateMB, growthPercent }) => `${startMB} → ${earlyMB} → ${lateMB} MB (${growthPercent}%)`;
console.log('| minutes | calls | watch events | 5xx | resident | own | in use after a collection | flat | seed |');
const failures = Object.entries(answered).reduce((sum, [status, count]) => sum + (Number(status) >= 500 || status === '0' ? count : 0), 0);
console.log(
  row([
    minutes,
    calls,
    watchEvents,
    failures,
    cell(figures.rss),
    cell(figures.anonymous),
    cell(figures.heapAndExternalAfterCollection),
    figures.flat ? 'yes' : 'no',
    seed,
  ]),
);
process.exit(figures.flat ? 0 : 1);
