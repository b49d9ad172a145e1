/** A client in the binary form: tests see the same objects, and the server other bytes. */

import type { HttpRequest } from '@plat-dev/client/http';
import { builtinKinds } from '@plat-dev/kinds';
import { jsonText } from '@plat-dev/lib/json-text';
import { kubernetes } from '@plat-dev/meta/identity';
import { isEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BinaryForm } from './binary.ts';
import { startTestServer } from './server.ts';
import type { TestServer } from './test-server.ts';

const group = 'shop.example.com';
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `orders.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'orders', kind: 'Order' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer' } } } },
      },
    ],
  },
};

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', crds: [crd] });
});
afterAll(() => server.close());
const clients = () => [server.client(), server.client(undefined, undefined, { binary: true })] as const;
test('objects are created, read, listed, updated and deleted, and are those that JSON shows', async () => {
  const [json, binary] = clients();
  const maps = binary.core.v1.configmaps('default');
  const made = await maps.create({ metadata: { name: 'a', labels: { n: 'one' } }, data: { text: 'grün' }, binaryData: { b: 'AAEC' } });
  const expected = await json.core.v1.configmaps('default').get('a');
  expect(made).toEqual(expected);
  expect(await maps.get('a')).toEqual(expected);
  expect(await maps.list({ labelSelector: 'n=one' })).toEqual(await json.core.v1.configmaps('default').list({ labelSelector: 'n=one' }));
  const updated = await maps.update({ ...made, data: { text: 'blau' } });
  expect(updated.data).toEqual({ text: 'blau' });
  expect((await maps.patch('a', { data: { more: 'x' } })).data).toEqual({ text: 'blau', more: 'x' });
  const deployments = binary.apps.v1.deployments('default');
  const template = {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1500m' } } }] },
  };
  await deployments.create({ metadata: { name: 'web' }, spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template } });
  await deployments.scale('web', 3);
  expect(await deployments.get('web')).toEqual(await json.apps.v1.deployments('default').get('web'));
  await maps.delete('a');
  expect(await maps.find('a')).toBeUndefined();
});

test('errors have their code, reason and details', async () => {
  const [, binary] = clients();
  const maps = binary.core.v1.configmaps('default');
  await expect(maps.get('none')).rejects.toMatchObject({ code: 404, reason: 'NotFound', details: { name: 'none', kind: 'configmaps' } });
  await expect(maps.create({ metadata: { name: 'Not_A_Name' } })).rejects.toMatchObject({ code: 422, reason: 'Invalid' });
  await expect(maps.create({ metadata: { name: 'x' }, data: { a: 7 as unknown as string } })).rejects.toMatchObject({ code: 400 });
  const bob = server.client('bob', [], { binary: true }).core.v1.configmaps('default');
  await expect(bob.list()).rejects.toMatchObject({ code: 403, reason: 'Forbidden' });
});

test('watches and informers see events', async () => {
  const [, binary] = clients();
  const secrets = binary.core.v1.secrets('default');
  const watch = secrets.watch();
  const seen: string[] = [];
  const done = (async () => {
    for await (const { type, object } of watch) {
      seen.push(`${type} ${object.metadata.name} ${object.data?.a ?? ''}`);
      if (type === 'DELETED') return;
    }
  })();
  await secrets.create({ metadata: { name: 's' }, data: { a: 'MQ==' } });
  await secrets.patch('s', { data: { a: 'Mg==' } });
  await secrets.delete('s');
  await done;
  expect(seen).toEqual(['ADDED s MQ==', 'MODIFIED s Mg==', 'DELETED s Mg==']);
});

test('custom kinds stay JSON', async () => {
  const [json, binary] = clients();
  const orders = binary.resource<{ apiVersion: string; kind: string; metadata: { name?: string }; size: number }>(
    `orders.${group}`,
    'default',
  );
  const watch = orders.watch();
  const first = (async () => {
    for await (const { type, object } of watch) return `${type} ${object.metadata.name}`;
    return undefined;
  })();
  await orders.create({ metadata: { name: 'o' }, size: 3 } as never);
  expect(await first).toBe('ADDED o');
  expect(await orders.get('o')).toEqual(await json.resource(`orders.${group}`, 'default').get('o'));
});

test('bodies are in the binary form on the way, unless they have none', async () => {
  const sent: HttpRequest[] = [];
  const echo = {
    request: async (request: HttpRequest) => {
      sent.push(request);
      return { status: 200, body: Buffer.from(request.body ?? '') };
    },
    stream: () => Promise.reject(new Error('unused')),
  };
  const http = new BinaryForm(kubernetes, builtinKinds(kubernetes)).over(echo);
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { b: 'c' } };
  const ask = async (path: string, type: string, body: unknown) => {
    const answer = await http.request({
      method: 'POST',
      path,
      headers: { accept: 'application/json', 'content-type': type },
      body: jsonText(body),
    });
    const { headers, body: bytes } = sent.at(-1) as HttpRequest;
    return { ...headers, isBinary: isEnvelope(Buffer.from(bytes ?? '')), shown: JSON.parse(answer.body.toString()) };
  };
  const both = 'application/vnd.kubernetes.protobuf,application/json';
  const maps = '/api/v1/namespaces/a/configmaps';
  const binary = { accept: both, 'content-type': 'application/vnd.kubernetes.protobuf', isBinary: true };
  expect(await ask(`${maps}?dryRun=All`, 'application/json', object)).toMatchObject({ ...binary, shown: object });
  const asJson = { accept: both, 'content-type': 'application/json', isBinary: false };
  const order = { apiVersion: `${group}/v1`, kind: 'Order', metadata: { name: 'o' } };
  expect(await ask(`/apis/${group}/v1/namespaces/a/orders`, 'application/json', order)).toEqual({ ...asJson, shown: order });
  const merge = 'application/merge-patch+json';
  expect(await ask(`${maps}/a`, merge, object)).toMatchObject({ ...asJson, 'content-type': merge });
  expect(await ask('/apis/apps/v1/namespaces/a/deployments/a/scale', 'application/json', object)).toMatchObject({
    accept: 'application/json',
    isBinary: false,
  });
});
