// What admission costs: node bench/admission.mjs [--seconds N] [--webhooks-only | --plugins-only] [--write]
//   1. create with the default plug-ins, and with all of them switched off that can be;
//   2. create without webhooks and with a mutating and a validating one on loopback, one after the other and many at once;
//      beside it what the same two calls add to a request to a bare node:https server that does nothing else.
// Both compare rounds that take turns, so that what else the machine does meets both sides alike.
import { execFileSync, fork } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configMap, pod } from './objects.mjs';
import { call, load, must, root, startPlat, writing } from './tools.mjs';

/** Of loads that are compared: single ones differ by a third on a machine that others use, too. */
const ROUNDS = { plugins: 25, webhooks: 9 };
let run = 0;

// The servers of this bench end with it, however it ends.
process.once('disconnect', () => process.exit(0));
if (process.argv[2] === '--webhook') await serveWebhook(...process.argv.slice(3));
else if (process.argv[2] === '--relay') await serveRelay(...process.argv.slice(3));
else {
  const at = process.argv.indexOf('--seconds');
  const seconds = at < 0 ? 5 : Number(process.argv[at + 1]);
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const only = (part) => process.argv.includes(`--${part}-only`);
  const lines = [...(only('webhooks') ? [] : await plugins(seconds)), ...(only('plugins') ? [] : await webhooks(seconds))];
  if (process.argv.includes('--write')) {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    const title = `\n## Admission, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${commit}\n`;
    appendFileSync(join(root, 'bench/RESULTS.md'), `${[title, ...lines.map((line) => `- ${line}`)].join('\n')}\n`);
  }
  process.exit(0);
}

/** Rounds in turn on two servers, each into a namespace of its own that is emptied after it. */
async function plugins(seconds) {
  const names = readFileSync(join(root, 'packages/server/src/admission/plugin-names.ts'), 'utf8').matchAll(/^ {2}on\('(\w+)'/gm);
  const optional = [...names].map(([, name]) => name).filter((name) => name !== 'NamespaceLifecycle');
  const all = await prepared([]);
  const few = await prepared([`--disable-admission-plugins=${optional.join(',')}`]);
  const lines = [];
  for (const [title, plural, object] of [
    ['config map', 'configmaps', configMap],
    ['pod', 'pods', pod],
  ]) {
    const rate = { all: [], few: [] };
    const cpu = { all: [], few: [] };
    // The first round of each is for warming up.
    for (let round = -1; round < ROUNDS.plugins; round++) {
      for (const [name, server] of round % 2 === 0 ? Object.entries({ all, few }) : Object.entries({ few, all })) {
        const result = creates(server, plural, object, seconds);
        await empty(server, plural);
        if (round < 0) continue;
        cpu[name].push(result.cpu.all);
        rate[name].push(result.rate);
      }
    }
    lines.push(
      `create ${title}: ${median(rate.all)}/s with the default plug-ins, ${median(rate.few)}/s without; ` +
        `${median(cpu.all)} and ${median(cpu.few)} µs of CPU: ${more(cpu.all, cpu.few)}`,
    );
    console.log(lines.at(-1));
  }
  await all.stop();
  await few.stop();
  return lines;
}

/** How much larger the figures of one side are than those of the other: round by round, and the quickest quarter of each. */
function more(figures, others) {
  const percent = (ratio) => `${((ratio - 1) * 100).toFixed(1)}%`;
  const ratios = figures.map((figure, i) => figure / others[i]);
  return `${percent(median(ratios))} more in the median of ${figures.length} rounds, ${percent(quarter(figures) / quarter(others))} in their quickest quarter`;
}

function creates(server, plural, object, seconds) {
  const path = `/api/v1/namespaces/bench/${plural}`;
  const script = writing('POST', path, 'application/json', object('@NAME@'), `"${plural}${run++}"..id.."-"..n`);
  const result = load(server.address, '/', { script, seconds, pid: server.pid });
  if (result.failed > 0) throw new Error(`${result.failed} creates failed`);
  return result;
}

async function empty(server, plural) {
  await must(server.address, 'DELETE', `/api/v1/namespaces/bench/${plural}?gracePeriodSeconds=0`);
  await new Promise((resolve) => setTimeout(resolve, 300));
}

async function prepared(flags) {
  const server = await startPlat(flags);
  await must(server.address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  while ((await call(server.address, 'GET', '/api/v1/namespaces/bench/serviceaccounts/default')).status !== 200);
  return server;
}

async function webhooks(seconds) {
  const server = await prepared([]);
  const { key, certificate } = selfSigned(server.dataDir);
  const begin = async (...args) => {
    const child = fork(fileURLToPath(import.meta.url), [...args.slice(0, 1), key, certificate, ...args.slice(1)]);
    const port = await new Promise((resolve) => child.once('message', resolve));
    return { pid: child.pid, address: `https://127.0.0.1:${port}`, kill: () => child.kill() };
  };
  const hook = await begin('--webhook');
  const relay = await begin('--relay', hook.address);
  const caBundle = readFileSync(certificate).toString('base64');
  const create = (name) => must(server.address, 'POST', '/api/v1/namespaces/bench/configmaps', configMap(name));
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const review = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'x', object: configMap('a'), pad: 'x'.repeat(1_000) },
  });
  const relayed = (path) => {
    const script = `wrk.method = "POST"\nwrk.body = '${review}'`;
    return load(relay.address, path, { script, seconds, pid: relay.pid }).cpu.all;
  };
  const millis = { without: [], with: [], bareWithout: [], bareWith: [] };
  const micros = { without: [], with: [], bareWithout: [], bareWith: [] };
  // The first round is for warming up.
  for (let round = -1; round < ROUNDS.webhooks; round++) {
    const keep = (figures, name, figure) => round >= 0 && figures[name].push(figure);
    keep(millis, 'without', await repeat(200, (i) => create(`without-${round}-${i}`)));
    keep(millis, 'bareWithout', await repeat(200, () => ask(`${relay.address}/plain`, review, agent)));
    keep(micros, 'without', creates(server, 'configmaps', configMap, seconds).cpu.all);
    keep(micros, 'bareWithout', relayed('/plain'));
    await configure(server.address, hook.address, caBundle);
    keep(millis, 'with', await repeat(200, (i) => create(`with-${round}-${i}`)));
    keep(millis, 'bareWith', await repeat(200, () => ask(`${relay.address}/calls`, review, agent)));
    keep(micros, 'with', creates(server, 'configmaps', configMap, seconds).cpu.all);
    keep(micros, 'bareWith', relayed('/calls'));
    for (const kind of ['mutating', 'validating'])
      await must(server.address, 'DELETE', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/bench`);
    await empty(server, 'configmaps');
  }
  hook.kill();
  relay.kill();
  await server.stop();
  const added = (figures, prefix, digits) => {
    const [before, after] = prefix === 'bare' ? ['bareWithout', 'bareWith'] : ['without', 'with'];
    return median(figures[after].map((figure, round) => figure - figures[before][round])).toFixed(digits);
  };
  const lines = [
    `one create after the other takes ${median(millis.without).toFixed(2)} ms without webhooks and ${median(millis.with).toFixed(2)} ms ` +
      `with a mutating and a validating one: ${added(millis, '', 2)} ms for two calls, which add ${added(millis, 'bare', 2)} ms ` +
      'to a request to a bare server',
    `many at once: the two webhooks take ${added(micros, '', 0)} µs of the server's CPU for each create, their bare calls ` +
      `${added(micros, 'bare', 0)} µs of a bare server's`,
  ];
  for (const line of lines) console.log(line);
  return lines;
}

/** A certificate of the webhooks' own: a server does not call one that shows its own. */
function selfSigned(directory) {
  const [key, certificate] = ['webhook.key', 'webhook.crt'].map((name) => join(directory, name));
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=webhook', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  return { key, certificate };
}

async function configure(address, url, caBundle) {
  for (const [kind, name] of [
    ['MutatingWebhookConfiguration', 'mutating'],
    ['ValidatingWebhookConfiguration', 'validating'],
  ]) {
    await must(address, 'POST', `/apis/admissionregistration.k8s.io/v1/${kind.toLowerCase()}s`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'bench' },
      webhooks: [
        {
          name: `${name}.bench.example`,
          clientConfig: { url: `${url}/${name}`, caBundle },
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
}

/** The median time of `count` calls, one after the other. */
async function repeat(count, run) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await run(i);
    times.push(performance.now() - began);
  }
  return median(times);
}

function ask(url, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = https.request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', resolve);
    });
    request.once('error', reject);
    request.end(body);
  });
}

function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
function quarter(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 2];
}

/** Answers every request; one to /calls after it has asked both webhooks in turn. */
async function serveRelay(key, cert, url) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      if (request.url === '/calls') for (const path of ['mutating', 'validating']) await ask(`${url}/${path}`, body, agent);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
  await new Promise(() => {});
}

/** Allows everything; the mutating one adds a label. */
async function serveWebhook(key, cert) {
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels/seen', value: 'yes' }])).toString('base64');
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { uid } = JSON.parse(Buffer.concat(chunks).toString()).request;
      const answer = { uid, allowed: true, ...(request.url === '/mutating' && { patch, patchType: 'JSONPatch' }) };
      const text = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', () => process.send(/** @type {import('node:net').AddressInfo} */ (server.address()).port));
  await new Promise(() => {});
}
