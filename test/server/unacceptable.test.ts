/** A write whose answer cannot look as the client wants it is refused before it is done. */
import { expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';

const isAction = (path: string): boolean => /(binding|bindings|eviction|token)$/.test(path);

onStores(['memory', 'lmdb'], { identity: 'kubernetes', controllers: [] }, (given) => {
  /** Sends a request with an Accept header that nothing fits, or for a Table of no known kind; it is refused and leaves no revision behind. */
  const refused = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const { admin, engine } = given();
    const before = engine.revision;
    const send = (at: string, accept: string) =>
      admin.send(method, at, { headers: { accept, 'content-type': type }, ...(body !== undefined && { body }) });
    const { status, json } = await send(path, 'image/png');
    expect([method, path, status, json.code, engine.revision]).toEqual([method, path, 406, 406, before]);
    const asTable = (await send(`${path}${path.includes('?') ? '&' : '?'}includeObject=x`, table)).status;
    // Actions have no Table: there is nothing that could be included.
    expect([method, path, asTable, engine.revision]).toEqual([method, path, isAction(path) ? 406 : 400, before]);
  };

  test('bindings and evictions', async () => {
    const at = `/api/v1/namespaces/${await given().namespace()}`;
    const spec = { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'app:1' }] };
    await given().admin.ok('POST', `${at}/serviceaccounts`, { metadata: { name: 'default' } });
    await given().admin.ok('POST', `${at}/pods`, { metadata: { name: 'p' }, spec });
    const binding = { metadata: { name: 'p' }, target: { name: 'n' } };
    await refused('POST', `${at}/pods/p/binding`, binding);
    await refused('POST', `${at}/bindings`, binding);
    await refused('POST', `${at}/pods/p/eviction`, { metadata: { name: 'p' } });
    await refused('POST', `${at}/serviceaccounts/default/token`, { spec: { audiences: [] } });
  });

  test('every way to write an object and its scale', async () => {
    const { admin } = given();
    const ns = await given().namespace();
    const group = `${unique('g')}.example.com`;
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    await define(given(), definitionOf(given(), group, 'Thing', [{ schema, subresources: { status: {}, scale } }]));
    const things = `/apis/${group}/v1/namespaces/${ns}/things`;
    await admin.ok('POST', things, { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'a' }, spec: { replicas: 1 } });
    const sets = `/apis/apps/v1/namespaces/${ns}/replicasets`;
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'app:1' }] } };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
    };
    await admin.ok('POST', sets, set);
    for (const path of [things, sets]) {
      const one = `${path}/a`;
      const body = { ...(await admin.ok('GET', one)), spec: { ...set.spec, replicas: 2 } };
      const scaled = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a', namespace: ns }, spec: { replicas: 2 } };
      const operations = [{ op: 'replace', path: '/spec/replicas', value: 2 }];
      for (const [at, sent] of [
        [one, body],
        [`${one}/status`, { ...body, status: { replicas: 7 } }],
        [`${one}/scale`, scaled],
      ] as const) {
        await refused('PUT', at, sent);
        await refused('PATCH', at, { spec: { replicas: 2 }, status: { replicas: 7 } }, 'application/merge-patch+json');
        await refused('PATCH', at, operations, 'application/json-patch+json');
        const { managedFields: _, ...metadata } = sent.metadata;
        await refused('PATCH', `${at}?fieldManager=m&force=true`, { ...sent, metadata }, 'application/apply-patch+yaml');
      }
      await refused('POST', path, { ...body, metadata: { name: 'b' } });
      await refused('DELETE', one);
      await refused('DELETE', path);
      // The parameter says nothing of other forms.
      expect((await admin.get(`${one}?includeObject=x`, { accept: 'application/yaml' })).status).toBe(200);
      expect((await admin.get(`${path}?includeObject=x`)).status).toBe(200);
      expect((await admin.get(`${path}?includeObject=x`, { accept: table })).status).toBe(400);
    }
  });
});
