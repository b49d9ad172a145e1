// What admission costs: node bench/admission.mjs [--seconds N] [--write]
//   1. create with the default plug-ins, and with all of them switched off that can be;
//   2. one create after the other, without webhooks and with a mutating and a validating one on loopback; beside it what
//      the same two calls add to a request to a bare node:https server that does nothing else.
import { execFileSync, fork } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { configMap, pod } from './objects.mjs';
import { call, load, must, root, startPlat, writing } from './tools.mjs';

if (process.argv[2] === '--webhook') await serveWebhook(...process.argv.slice(3));
else if (process.argv[2] === '--relay') await serveRelay(...process.argv.slice(3));
else {
  const at = process.argv.indexOf('--seconds');
  const seconds = at < 0 ? 5 : Number(process.argv[at + 1]);
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  const lines = [...(process.argv.includes('--webhooks-only') ? [] : await plugins(seconds)), await webhooks()];
  if (process.argv.includes('--write')) {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
    const title = `\n## Admission, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${commit}\n`;
    appendFileSync(join(root, 'bench/RESULTS.md'), `${[title, ...lines.map((line) => `- ${line}`)].join('\n')}\n`);
  }
  process.exit(0);
}

/** Rounds in turn on two servers; their medians are compared. */
async function plugins(seconds) {
  const names = readFileSync(join(root, 'src/admission/names.ts'), 'utf8').matchAll(/^ {2}on\('(\w+)'/gm);
  const optional = [...names].map(([, name]) => name).filter((name) => name !== 'NamespaceLifecycle');
  const all = await prepared([]);
  const few = await prepared([`--disable-admission-plugins=${optional.join(',')}`]);
  const lines = [];
  for (const [title, plural, object] of [
    ['config map', 'configmaps', configMap],
    ['pod', 'pods', pod],
  ]) {
    const cpu = { all: [], few: [] };
    const rate = { all: [], few: [] };
    for (let round = 0; round < 5; round++) {
      for (const [name, server] of round % 2 === 0 ? Object.entries({ all, few }) : Object.entries({ few, all })) {
        const script = writing(
          'POST',
          `/api/v1/namespaces/bench/${plural}`,
          'application/json',
          object('@NAME@'),
          `"${plural}${round}"..id.."-"..n`,
        );
        const result = load(server.address, '/', { script, seconds, pid: server.pid });
        if (result.failed > 0) throw new Error(`${result.failed} creates failed`);
        cpu[name].push(result.cpu.all);
        rate[name].push(result.rate);
      }
    }
    const more = (figures) => `${(((median(figures.all) - median(figures.few)) / median(figures.few)) * 100).toFixed(1)}%`;
    lines.push(
      `create ${title}: ${median(rate.all)}/s with the default plug-ins, ${median(rate.few)}/s without (${more(rate)}); ` +
        `${median(cpu.all)} and ${median(cpu.few)} µs of CPU (${more(cpu)})`,
    );
    console.log(lines.at(-1));
  }
  await all.stop();
  await few.stop();
  return lines;
}

async function prepared(flags) {
  const server = await startPlat(flags);
  await must(server.address, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } });
  while ((await call(server.address, 'GET', '/api/v1/namespaces/bench/serviceaccounts/default')).status !== 200);
  return server;
}

async function webhooks() {
  const server = await prepared([]);
  const pki = join(server.dataDir, 'pki');
  const hook = fork(fileURLToPath(import.meta.url), ['--webhook', join(pki, 'server.key'), join(pki, 'server.crt')]);
  const port = await new Promise((resolve) => hook.once('message', resolve));
  const url = `https://127.0.0.1:${port}/`;
  const relay = fork(fileURLToPath(import.meta.url), ['--relay', join(pki, 'server.key'), join(pki, 'server.crt'), url]);
  const relayUrl = `https://127.0.0.1:${await new Promise((resolve) => relay.once('message', resolve))}/`;
  const create = async (name) => {
    const began = performance.now();
    await must(server.address, 'POST', '/api/v1/namespaces/bench/configmaps', configMap(name));
    return performance.now() - began;
  };
  const rounds = { without: [], with: [], bareWithout: [], bareWith: [] };
  await repeat(1_000, (i) => create(`warm-${i}`));
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const review = JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'x', object: configMap('a'), pad: 'x'.repeat(1_000) },
  });
  for (let round = 0; round < 5; round++) {
    rounds.without.push(await repeat(300, (i) => create(`without-${round}-${i}`)));
    rounds.bareWithout.push(await repeat(300, () => ask(relayUrl, 'plain', review, agent)));
    rounds.bareWith.push(await repeat(300, () => ask(relayUrl, 'calls', review, agent)));
    await configure(server.address, url, readFileSync(join(pki, 'ca.crt')).toString('base64'));
    await repeat(50, (i) => create(`warm-${round}-${i}`));
    rounds.with.push(await repeat(300, (i) => create(`with-${round}-${i}`)));
    for (const kind of ['mutating', 'validating'])
      await must(server.address, 'DELETE', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/bench`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  hook.kill();
  relay.kill();
  await server.stop();
  const [without, between] = [median(rounds.without), median(rounds.with)];
  const bare = median(rounds.bareWith) - median(rounds.bareWithout);
  const line =
    `create without webhooks ${without.toFixed(2)} ms, with a mutating and a validating one ${between.toFixed(2)} ms: ` +
    `${(between - without).toFixed(2)} ms for two calls, which add ${bare.toFixed(2)} ms to a request to a bare server`;
  console.log(line);
  return line;
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
          clientConfig: { url: `${url}${name}`, caBundle },
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

function ask(url, path, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = https.request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
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

/** Answers every request; one to /calls after it has asked both webhooks in turn. */
async function serveRelay(key, cert, url) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      if (request.url === '/calls') for (const path of ['mutating', 'validating']) await ask(url, path, body, agent);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  await new Promise(() => {});
}

/** Allows everything; the mutating one adds a label. */
async function serveWebhook(key, cert) {
  const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels/seen', value: 'yes' }])).toString('base64');
  const server = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { uid } = JSON.parse(Buffer.concat(chunks)).request;
      const answer = { uid, allowed: true, ...(request.url === '/mutating' && { patch, patchType: 'JSONPatch' }) };
      const text = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
      response.end(text);
    });
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  await new Promise(() => {});
}
