/**
 * A Pepr module: initialised and built by Pepr's command, installed from the manifests that the build writes, and run from what these
 * hold, as its controller would in a pod. Pods are simulated: the service leads to this machine.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { AdmissionregistrationV1Api, CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { eventually, namespace, run, step } from './support.mjs';

const UUID = 'guard';
const NAME = `pepr-${UUID}`;
const SYSTEM = 'pepr-system';

const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

const command = promisify(execFile);
const pepr = (cwd, ...args) => command('pepr', args, { cwd, env: { ...process.env, PEPR_PRETTY_LOGS: 'false' } });
const kubectl = async (...args) => (await command(process.env.KUBECTL, args)).stdout;

step('init and build', async () => {
  await pepr('.', 'init', '--name', UUID, '--description', 'd', '--uuid', UUID, '--error-behavior', 'reject', '--skip-post-init', '--yes');
  symlinkSync('../node_modules', `${UUID}/node_modules`);
  copyFileSync('pepr-capability.mjs', `${UUID}/capabilities/guard.mjs`);
  // The types of its dependencies are not ours to check, and take most of the build's time.
  const settings = JSON.parse(readFileSync(`${UUID}/tsconfig.json`, 'utf8'));
  settings.compilerOptions.skipLibCheck = true;
  writeFileSync(`${UUID}/tsconfig.json`, JSON.stringify(settings));
  // As the template has it, but for the capability and the port.
  writeFileSync(
    `${UUID}/pepr.ts`,
    `import { PeprModule } from "pepr";
import cfg from "./package.json";
import { Guard } from "./capabilities/guard.mjs";

const guard = new PeprModule(cfg, [Guard], { deferStart: true });
if (process.env.PEPR_MODE !== "build") guard.start(Number(process.env.PORT));
`,
  );
  await pepr(UUID, 'build');
});

step('what was built is applied, and its deployments become available', async () => {
  const applied = await kubectl('apply', '-f', `${UUID}/dist/pepr-module-${UUID}.yaml`);
  for (const line of [`namespace/${SYSTEM} created`, `mutatingwebhookconfiguration.admissionregistration.k8s.io/${NAME} created`])
    assert(applied.split('\n').includes(line), applied);
  for (const deployment of [NAME, `${NAME}-watcher`])
    await kubectl('rollout', 'status', '-n', SYSTEM, `deployment/${deployment}`, '--timeout=120s');
});

const configMap = (name, data) => ({ namespace, body: { metadata: { name, labels: { guarded: 'true' } }, data } });

step('what the webhook is asked about is refused as long as it cannot be reached', async () => {
  await assert.rejects(core.createNamespacedConfigMap(configMap('early')), (error) => {
    assert.equal(error.code, 500);
    assert.match(JSON.parse(error.body).message, new RegExp(`failed calling webhook "${NAME}.pepr.dev"`));
    return true;
  });
});

step('the module starts with the rights of its account', async () => {
  const read = async (name) => (await core.readNamespacedSecret({ namespace: SYSTEM, name })).data;
  const file = (name, base64) => {
    writeFileSync(name, Buffer.from(base64, 'base64'), { mode: 0o600 });
    return `${process.cwd()}/${name}`;
  };
  const [moduleName, module] = Object.entries(await read(`${NAME}-module`)).find(([name]) => name.endsWith('.js.gz'));
  writeFileSync(`${UUID}/module.js`, gunzipSync(Buffer.from(module, 'base64')));
  const tls = await read(`${NAME}-tls`);
  const { status } = await core.createNamespacedServiceAccountToken({ namespace: SYSTEM, name: NAME, body: { spec: { audiences: [] } } });
  const account = new KubeConfig();
  account.loadFromClusterAndUser(config.getCurrentCluster(), { name: NAME, token: status.token });
  writeFileSync('module.conf', account.exportConfig(), { mode: 0o600 });
  const port = Number(process.env.FREE_PORT);
  const env = {
    ...process.env,
    KUBECONFIG: `${process.cwd()}/module.conf`,
    PORT: String(port),
    // Admission and watches in one process.
    PEPR_MODE: 'dev',
    PEPR_API_PATH: Buffer.from((await read(`${NAME}-api-path`)).value, 'base64').toString(),
    SSL_KEY_PATH: file('tls.key', tls['tls.key']),
    SSL_CERT_PATH: file('tls.crt', tls['tls.crt']),
    LOG_LEVEL: 'warn',
    PEPR_PRETTY_LOGS: 'false',
  };
  // The controller registers the kind of its store before it looks for the module, which is not where it would be in a pod.
  const hash = /module-(\w+)\.js\.gz/.exec(moduleName)[1];
  await assert.rejects(command(process.execPath, ['node_modules/pepr/dist/controller.js', hash], { env }));
  const child = spawn(process.execPath, ['module.js'], { cwd: UUID, env, stdio: ['ignore', 2, 2] });
  process.on('exit', () => child.kill());
  const here = { spec: { type: 'ExternalName', externalName: 'localhost', clusterIP: null, clusterIPs: null } };
  await core.patchNamespacedService({ namespace: SYSTEM, name: NAME, body: here }, merge);
  const webhooks = config.makeApiClient(AdmissionregistrationV1Api);
  const toPort = [{ op: 'add', path: '/webhooks/0/clientConfig/service/port', value: port }];
  await webhooks.patchMutatingWebhookConfiguration({ name: NAME, body: toPort });
  await webhooks.patchValidatingWebhookConfiguration({ name: NAME, body: toPort });
  await eventually(() => core.createNamespacedConfigMap(configMap('first')));
});

step('objects are changed by the module', async () => {
  const created = await core.createNamespacedConfigMap(configMap('changed', { secret: 'plain', other: '1' }));
  assert.deepEqual(created.data, { secret: 'hidden', other: '1' });
  assert.match(created.metadata.annotations['guard.example.com/by'], /^CREATE by /);
  const updated = await core.replaceNamespacedConfigMap({ name: 'changed', ...configMap('changed', { secret: 'again' }) });
  assert.deepEqual(updated.data, { secret: 'hidden' });
  assert.match(updated.metadata.annotations['guard.example.com/by'], /^UPDATE by /);
});

step('objects are refused by the module', async () => {
  const refusal = (error) => {
    const { code, message } = JSON.parse(error.body);
    assert.deepEqual([code, message.slice(-34)], [422, 'nobody may store what is forbidden']);
    return true;
  };
  await assert.rejects(core.createNamespacedConfigMap(configMap('refused', { forbidden: '' })), refusal);
  await assert.rejects(core.replaceNamespacedConfigMap({ name: 'changed', ...configMap('changed', { forbidden: '' }) }), refusal);
  assert.deepEqual((await core.readNamespacedConfigMap({ namespace, name: 'changed' })).data, { secret: 'hidden' });
});

step('objects are reconciled, and finalized', async () => {
  const secret = { metadata: { name: 'watched', labels: { copied: 'true' } }, stringData: { one: '1', two: '2' } };
  await core.createNamespacedSecret({ namespace, body: secret });
  const copy = () => core.readNamespacedConfigMap({ namespace, name: 'copy-of-watched' });
  assert.deepEqual((await eventually(() => copy())).data, { keys: 'one,two' });
  assert.deepEqual((await core.readNamespacedSecret({ namespace, name: 'watched' })).metadata.finalizers, ['pepr.dev/finalizer']);
  await core.patchNamespacedSecret({ namespace, name: 'watched', body: { data: { one: null } } }, merge);
  await eventually(async () => ((await copy()).data.keys === 'two' ? true : undefined));
  await core.deleteNamespacedSecret({ namespace, name: 'watched' });
  const gone = (read) =>
    eventually(() =>
      read().then(
        () => undefined,
        ({ code }) => (code === 404 ? true : undefined),
      ),
    );
  await gone(() => core.readNamespacedSecret({ namespace, name: 'watched' }));
  await gone(copy);
});

step('what was applied is removed', async () => {
  // Most of it goes with its namespace, which is the first in the file.
  await kubectl('delete', '--ignore-not-found', '-f', `${UUID}/dist/pepr-module-${UUID}.yaml`);
  await core.createNamespacedConfigMap(configMap('late', { forbidden: '' }));
});

await run();
