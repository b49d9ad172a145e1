import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { groupName, kubernetes } from '@plat-dev/meta/identity';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { expect, test } from 'vitest';
import { startTestServer } from './server.ts';

const crd = (plural: string, kind: string) => ({
  apiVersion: `${groupName(kubernetes, 'apiextensions')}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind, plural },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});
const identity = 'kubernetes';

test('definitions and objects are there when the start is over: as values, text and files', async () => {
  const directory = temporaryDirectory('plat-install');
  mkdirSync(join(directory, 'crds'));
  writeFileSync(join(directory, 'crds', 'gadgets.yaml'), stringifyYaml(crd('gadgets', 'Gadget')));
  await using server = await startTestServer({
    identity,
    crds: [crd('widgets', 'Widget'), join(directory, 'crds')],
    objects: [
      { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'a' } },
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: g, namespace: a}\n',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}',
    ] as never,
  });
  const client = server.client();
  expect((await client.resource('widgets.example.com', 'a').list()).items).toHaveLength(1);
  expect((await client.resource('gadgets', 'a').list()).items).toHaveLength(1);
  expect(await client.core.v1.configmaps('default').find('m')).toBeDefined();
  const fork = await (await server.snapshot()).fork({ objects: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: b}' });
  expect(await fork.client().core.v1.namespaces().find('b')).toBeDefined();
  expect(await client.core.v1.namespaces().find('b')).toBeUndefined();
  await fork.close();
});

test.each([
  [{ objects: 'no-such-file.yaml' }, 'there is no file or directory no-such-file.yaml'],
  [{ objects: 'kind: A\nmetadata: {}' }, 'objects: the object has no apiVersion'],
  [{ objects: { apiVersion: 'v1', kind: 'Widget' } }, 'the server has no kind "Widget" in v1'],
  [{ objects: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'A' } } as never }, 'cannot create Namespace A: '],
  [{ crds: { apiVersion: 'v1', kind: 'Namespace' } }, 'a Namespace is not a CustomResourceDefinition'],
])('a start with objects that cannot be made says which: %j', async (options, message) => {
  await expect(startTestServer(options)).rejects.toThrow(message);
});

test('manifests of another identity are refused with the option that takes them', async () => {
  const apiVersion = `${groupName(kubernetes, 'apiextensions')}/v1`;
  const failed = startTestServer({ crds: { apiVersion, kind: 'CustomResourceDefinition' } });
  await expect(failed).rejects.toThrow(
    `crds: CustomResourceDefinition is of ${apiVersion}, and the server has the identity plat: start it with { identity: 'kubernetes' }`,
  );
});
