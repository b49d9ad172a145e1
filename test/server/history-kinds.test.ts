/** History of kinds that are defined anew, and tokens of pages that no server made. */
import { expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { define, definitionOf, definitionsPath } from '../support/custom.ts';
import type { Loose } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

onStores(['memory', 'lmdb', 'etcd'], { direct: true }, (server) => {
  const api = '/apis/scopes.example.com/v1';
  const definition = `seeds.scopes.example.com`;
  let ns: string;
  const seed = (name: string) => ({ apiVersion: 'scopes.example.com/v1', kind: 'Seed', metadata: { name } });
  const defined = (scope: string): Promise<void> =>
    define(server(), definitionOf(server(), 'scopes.example.com', 'Seed', [{ schema }], { scope }));
  async function removeDefinition(): Promise<void> {
    const path = definitionsPath(server());
    const watch = await server().admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3D${definition}`);
    await server().admin.ok('DELETE', `${path}/${definition}`);
    await watch.until(({ type }) => type === 'DELETED');
    watch.close();
  }
  const compactAll = async (): Promise<void> => server().engine.compact(await server().engine.currentRevision());
  const names = async (query: string): Promise<string[]> => {
    const { items } = await server().admin.ok('GET', `${api}/${query}`);
    return items.map((item: Loose) => [item.namespace ?? item.metadata?.namespace, item.name ?? item.metadata.name].join(' '));
  };

  test('a kind that is defined anew with another scope shows its own objects only, and the others once their scope is back', async () => {
    const { admin } = server();
    ns = await server().namespace();
    await defined('Namespaced');
    const inNamespace = await admin.ok('POST', `${api}/namespaces/${ns}/seeds`, seed('one'));
    await removeDefinition();
    await defined('Cluster');
    const inCluster = await admin.ok('POST', `${api}/seeds`, seed('all'));
    await compactAll();
    const exact = ({ metadata }: Loose): string => `seeds?resourceVersionMatch=Exact&resourceVersion=${metadata.resourceVersion}`;
    expect(await names('seeds?history=true')).toEqual([' all']);
    expect(await names('seeds?history=true&limit=1')).toEqual([' all']);
    expect(await names(exact(inCluster))).toEqual([' all']);
    expect(await names(exact(inNamespace))).toEqual([]);
    await removeDefinition();
    await defined('Namespaced');
    await compactAll();
    expect(await names('seeds?history=true')).toEqual([`${ns} one`, `${ns} one`]);
    expect(await names(exact(inCluster))).toEqual([]);
    expect(await names(exact(inNamespace))).toEqual([`${ns} one`]);
  });

  test('tokens of pages that no server made: a state that never was, or that is still to come, is not shown', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    await admin.ok('POST', path, { metadata: { name: 'a' } });
    const place = `core/configmaps/${ns}/`;
    const token = (fields: Loose): string => Buffer.from(jsonText({ history: place, ...fields })).toString('base64url');
    const answers: Loose = {};
    for (const at of [-5, 0, 1.5, '7', Number.MAX_SAFE_INTEGER])
      answers[at] = (await admin.get(`${path}?continue=${token({ at, from: place })}`)).status;
    expect(answers).toEqual({ '-5': 400, 0: 400, 1.5: 400, 7: 400, [Number.MAX_SAFE_INTEGER]: 504 });
    const elsewhere = token({ at: 1, from: 'core/secrets/' });
    expect((await admin.get(`${path}?continue=${elsewhere}`)).status).toBe(400);
  });
});
