/** `plat why not deleted`, `plat why pending` and `plat why not ready`, as people and programs read them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  DeletionExplanation,
  PendingExplanation,
  ReadinessExplanation,
} from '../../packages/kinds/src/explain/schema/object-explanations.ts';
import { decodeEnvelope, decodeObject, encodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import type { MessageType } from '../../packages/schema/src/types.ts';
import { type Plat, platFor, shellWords } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const explain = 'explain.plat.dev/v1alpha1';

describe.each(['memory', 'lmdb'] as const)('on %s', (store) => {
  let server: TestServer;
  let admin: Plat;
  let alice: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ store, disableAdmissionPlugins: ['ServiceAccount'] });
    admin = platFor(server);
    alice = platFor(server, {}, ['--kubeconfig', server.running.adminConfigPath, '--token', 'alice-token']);
    ns = await server.namespace();
    await admin.ok(['create', 'rolebinding', 'readers', '--clusterrole=view', '--user=alice', '-n', ns]);
  });
  afterAll(() => server.close());

  test('a namespace that stays Terminating is unblocked by the commands that are shown', async () => {
    const stuck = await server.namespace();
    await server.admin.ok('POST', `/api/v1/namespaces/${stuck}/configmaps`, {
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    });
    await admin.ok(['delete', 'namespace', stuck, '--wait=false']);
    const path = `/api/v1/namespaces/${stuck}/configmaps/held`;
    await expect.poll(async () => (await server.admin.ok('GET', path)).metadata.deletionTimestamp, { timeout: 30_000 }).toBeDefined();
    const { code, stdout } = await admin.run(['why', 'not', 'deleted', 'namespace', stuck]);
    expect([code, stdout.split('\n').slice(0, 4)]).toEqual([
      0,
      [
        `namespaces/${stuck} is being deleted.`,
        '',
        expect.stringMatching(
          `^1. namespaces/${stuck} → configmaps/held: 1 configmap \\(held\\) has the finalizer example.com/hold. It was set by the field manager \\S+; a controller of example.com has to remove it.$`,
        ),
        `   plat why not deleted configmaps/held -n ${stuck} --kubeconfig ${server.running.adminConfigPath}`,
      ],
    ]);
    const held = await admin.ok(['why', 'not', 'deleted', 'configmaps/held', '-n', stuck]);
    const [, patch = ''] = /-p '([^']*)'/.exec(held) ?? [];
    await admin.ok(['patch', 'configmaps/held', '-n', stuck, '--type=json', '-p', patch]);
    await admin.ok(['wait', '--for=delete', `namespace/${stuck}`, '--timeout=60s']);
  });

  test('the commands that remove several finalizers work in the order in which they are shown', async () => {
    const finalizers = ['example.com/a', 'example.com/b', 'example.com/c'];
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'thrice', finalizers } });
    await admin.ok(['delete', 'configmaps/thrice', '-n', ns, '--wait=false']);
    const answer = await admin.ok(['why', 'not', 'deleted', 'configmaps/thrice', '-n', ns]);
    const commands = [...answer.matchAll(/^ +plat (patch .*) --kubeconfig \S+$/gm)].map(([, line = '']) => shellWords(line));
    expect(commands).toHaveLength(finalizers.length);
    for (const command of commands) await admin.ok(command);
    expect((await admin.run(['get', 'configmaps/thrice', '-n', ns])).stderr).toContain('(NotFound)');
  });

  test('an object that nobody deleted: the exit code says so', async () => {
    await admin.ok(['create', 'configmap', 'settings', '-n', ns]);
    const { code, stdout } = await admin.run(['why', 'not', 'deleted', 'configmaps/settings', '-n', ns]);
    expect([code, stdout]).toEqual([
      1,
      `configmaps/settings is not being deleted.\n\n1. configmaps/settings is not being deleted: no request to delete it was accepted.\n   plat delete configmaps/settings -n ${ns} --kubeconfig ${server.running.adminConfigPath}\n`,
    ]);
  });

  test('what the caller may not read is said to be missing', async () => {
    const { code, stdout } = await alice.run(['why', 'not', 'deleted', 'configmaps/settings', '-n', ns]);
    expect(code).toBe(1);
    expect(stdout).toContain('\nNot looked at: you may not list validatingwebhookconfigurations; you may not list mutatingwebhook');
    expect((await alice.run(['why', 'not', 'deleted', `namespaces/${ns}-other`])).stderr).toContain('cannot get resource "namespaces"');
  });

  test('the answer as an object, in JSON, YAML and the binary form', async () => {
    const args = ['why', 'not', 'deleted', 'configmaps/settings', '-n', ns];
    const json = JSON.parse((await admin.run([...args, '-o', 'json'])).stdout);
    expect(json).toMatchObject({
      apiVersion: explain,
      kind: 'DeletionExplanation',
      status: { deleting: false, causes: [{ reason: 'NotDeleting' }] },
    });
    expect((await admin.run([...args, '-o', 'yaml'])).stdout).toContain('reason: NotDeleting\n');
    const mediaType = server.identity.protobufMediaType;
    const body = encodeObject(DeletionExplanation as MessageType, { kind: json.kind, apiVersion: explain, spec: json.spec } as object);
    const headers = { accept: mediaType, 'content-type': mediaType };
    const answer = await server.admin.send('POST', `/apis/${explain}/deletionexplanations`, { headers, body });
    expect([answer.status, answer.headers['content-type']]).toEqual([201, mediaType]);
    expect(decodeObject(DeletionExplanation, decodeEnvelope(answer.bytes)).status).toEqual(json.status);
  });

  test('a pod that nobody schedules, and a service without pods', async () => {
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/pods`, {
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'main', image: 'x' }] },
    });
    const pending = await admin.run(['why', 'pending', 'web', '-n', ns]);
    expect([pending.code, pending.stdout]).toEqual([
      0,
      `pods/web is pending.\n\n1. No scheduler has looked at it: this server runs none, and no other has reported. Start it with --workloads=scheduler.\n   plat get leases -A --kubeconfig ${server.running.adminConfigPath}\n`,
    ]);
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    const ready = await alice.run(['why', 'not', 'ready', 'services/web', '-n', ns]);
    expect([ready.code, ready.stdout]).toEqual([
      0,
      `services/web is not ready.\n\n1. No pods have the labels of its selector (app=web).\n   plat get pods -n ${ns} --show-labels --kubeconfig ${server.running.adminConfigPath}\n`,
    ]);
    expect(await admin.run(['why', 'not', 'ready', 'configmaps/settings', '-n', ns])).toMatchObject({
      code: 1,
      stdout: 'configmaps/settings is ready.\n',
    });
  });

  test.each([
    ['pendingexplanations', 'PendingExplanation', PendingExplanation],
    ['readinessexplanations', 'ReadinessExplanation', ReadinessExplanation],
  ] as const)('%s in the binary form', async (plural, kind, schema) => {
    const spec = { resource: 'pods', namespace: ns, name: 'web' };
    const path = `/apis/${explain}/${plural}`;
    const { status } = await server.admin.ok('POST', path, { spec });
    const mediaType = server.identity.protobufMediaType;
    const body = encodeObject(schema as MessageType, { kind, apiVersion: explain, spec } as object);
    const answer = await server.admin.send('POST', path, { headers: { accept: mediaType, 'content-type': mediaType }, body });
    expect(answer.status).toBe(201);
    expect(decodeObject(schema as MessageType, decodeEnvelope(answer.bytes))).toMatchObject({ status });
  });

  test('command lines that name no object', async () => {
    for (const args of [[], ['pods'], ['pods', 'a', 'b'], ['/a']])
      expect((await admin.run(['why', 'not', 'deleted', ...args])).code).toBe(2);
  });
});

test('a deployment that no node has room for, with the workloads of the server', async () => {
  const server = await startTestServer({ workloads: ['controllers', 'scheduler', 'nodes'], simulatedNodes: 1 });
  try {
    const plat = platFor(server);
    const ns = await server.namespace();
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '5000' } } }];
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
    await server.admin.ok('POST', `/apis/apps/v1/namespaces/${ns}/deployments`, {
      metadata: { name: 'web' },
      spec: { selector: { matchLabels: { app: 'web' } }, template },
    });
    const explained = async (): Promise<string> => (await plat.run(['why', 'not', 'ready', 'deployments/web', '-n', ns])).stdout;
    await expect
      .poll(explained, { timeout: 30_000 })
      .toMatch(
        /^1\. deployments\/web → replicasets\/web-\w+ → pods\/web-\w+-\w+: \S+: Insufficient cpu\.\n {3}plat describe nodes\/\S+ --kubeconfig \S+$/m,
      );
  } finally {
    await server.close();
  }
});
