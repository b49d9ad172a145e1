/** cdk8s: kinds are imported from the server, an app is synthesized, applied by kubectl, changed, and what is obsolete is pruned. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { namespace, run, step } from './support.mjs';

const command = promisify(execFile);
const cdk8s = (...args) => command('cdk8s', [...args, '--check-upgrade=false']);
const kubectl = async (...args) => (await command(process.env.KUBECTL, ['-n', namespace, ...args])).stdout;
const stored = async (...args) => JSON.parse(await kubectl('get', ...args, '-o', 'json'));
const synth = (version) =>
  command('cdk8s', ['synth', '--check-upgrade=false', '--app', 'tsx cdk8s-app.mjs'], { env: { ...process.env, APP_VERSION: version } });

const PRUNED = ['core/v1/ConfigMap', 'core/v1/Service', 'apps/v1/Deployment', 'cdk.example.com/v1/Thing'];
/** What kubectl did, as `deployment.apps configured` for each object; names have a hash of the app's tree in them. */
const apply = async (...flags) =>
  (await kubectl('apply', '-f', 'dist', ...flags))
    .trim()
    .split('\n')
    .map((line) => line.replace(/\/\S+/, ''))
    .sort();

step('kinds are imported from the server', async () => {
  const spec = {
    type: 'object',
    required: ['size'],
    properties: { size: { type: 'integer' }, mode: { type: 'string', enum: ['SMALL', 'LARGE'] } },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.cdk.example.com' },
    spec: {
      group: 'cdk.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
    },
  };
  writeFileSync('definition.json', JSON.stringify(definition));
  await kubectl('apply', '-f', 'definition.json');
  await kubectl('wait', '--for=condition=Established', 'crd/things.cdk.example.com', '--timeout=60s');
  const definitions = await stored('crds');
  // Newer kubectls leave them out themselves; cdk8s takes their field names for an attack.
  for (const { metadata } of definitions.items) delete metadata.managedFields;
  writeFileSync('definitions.json', JSON.stringify(definitions));
  await cdk8s('import', 'definitions.json', '--language', 'typescript');
  assert.match(readFileSync('imports/cdk.example.com.ts', 'utf8'), /export class Thing extends ApiObject/);
});

step('an app is synthesized and applied', async () => {
  await synth('1');
  const created = ['configmap created', 'configmap created', 'deployment.apps created', 'service created'];
  assert.deepEqual(await apply(), [...created, 'thing.cdk.example.com created', 'thing.cdk.example.com created']);
  await kubectl('wait', '--for=condition=Available', 'deployments', '-l', 'app=cdk', '--timeout=120s');
});

step('what has not changed is left alone', async () => {
  const generations = async () => (await stored('deployments,things', '-l', 'app=cdk')).items.map(({ metadata }) => metadata.generation);
  const [service] = (await stored('services', '-l', 'app=cdk')).items;
  const unchanged = ['configmap unchanged', 'configmap unchanged'];
  // This app writes defaults and empty lists that the server does not keep: kubectl sends them again each time.
  const sent = ['deployment.apps configured', 'service configured'];
  assert.deepEqual(await apply(), [...unchanged, ...sent, 'thing.cdk.example.com unchanged', 'thing.cdk.example.com unchanged']);
  assert.deepEqual(await generations(), [1, 1, 1]);
  assert.equal((await stored('services', '-l', 'app=cdk')).items[0].metadata.resourceVersion, service.metadata.resourceVersion);
});

step('a change is applied, and what is obsolete is pruned', async () => {
  await synth('2');
  const done = await apply('--prune', '-l', 'app=cdk', ...PRUNED.map((kind) => `--prune-whitelist=${kind}`));
  assert.deepEqual(done, [
    'configmap configured',
    'configmap pruned',
    'deployment.apps configured',
    'service configured',
    'thing.cdk.example.com configured',
    'thing.cdk.example.com pruned',
  ]);
  const { items } = await stored('things,configmaps', '-l', 'app=cdk');
  assert.deepEqual(
    items.map(({ kind, spec, data }) => [kind, spec ?? data]),
    [
      ['Thing', { size: 2, mode: 'LARGE' }],
      ['ConfigMap', { colour: 'green' }],
    ],
  );
});

await run();
