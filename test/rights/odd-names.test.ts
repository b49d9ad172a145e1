/** Names that mean something to the language, to paths or to the store mean nothing here: 404, 400 or 422, never 500. */
import { expect, test } from 'vitest';
import { onStores } from '../support/stores.ts';

const odd = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'é',
  '日本',
  '%00',
  'a%0Ab',
  '\u{1F600}',
];
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** Forms of paths of which the store learns; the others are refused before, whatever it is. */
const reachesStore = (path: string): boolean => /\/(namespaces|configmaps|pods)\/[^/]+(\/[^/]+)?$/.test(path);

onStores(['memory', 'lmdb', 'etcd'], { identity: 'kubernetes', controllers: [] }, (server) => {
  test.each(odd)('%j as group, version, resource, name, subresource and parameter', async (word) => {
    const { admin } = server();
    const part = word.startsWith('%') || word.includes('%') ? word : encodeURIComponent(word);
    for (const path of [
      `/apis/${part}`,
      `/apis/${part}/v1`,
      `/apis/${part}/v1/${part}`,
      `/apis/apps/${part}`,
      `/apis/apps/${part}/deployments`,
      `/api/v1/${part}`,
      `/api/v1/${part}/${part}`,
      `/api/v1/namespaces/${part}`,
      `/api/v1/namespaces/${part}/${part}`,
      `/api/v1/namespaces/default/configmaps/${part}`,
      `/api/v1/namespaces/${part}/configmaps/${part}`,
      `/api/v1/namespaces/default/configmaps/x/${part}`,
      `/api/v1/namespaces/default/pods/x/${part}`,
      `/api/v1/namespaces/default/${part}`,
      `/${part}`,
      `/openapi/v3/${part}`,
      `/openapi/v3/apis/${part}/v1`,
      `/healthz/${part}`,
    ]) {
      if (server().engine.name !== 'memory' && !reachesStore(path)) continue;
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const { status, text } = await admin.send(method, path, {
          ...(method !== 'GET' && { body: {}, headers: { 'content-type': 'application/json' } }),
        });
        expect([400, 404, 405, 415, 422].includes(status), `${method} ${path}: ${status} ${text.slice(0, 300)}`).toBe(true);
      }
    }
    for (const query of [
      `${part}=1`,
      `fieldSelector=${part}%3D1`,
      `labelSelector=${part}`,
      `limit=${part}`,
      `continue=${part}`,
      `includeObject=${part}`,
    ]) {
      const { status, text } = await admin.get(`/api/v1/namespaces?${query}`);
      expect(status, `${query}: ${text.slice(0, 300)}`).toBeLessThan(500);
    }
    expect(server().errors).toEqual([]);
  });

  test.each([
    ['é', 1],
    ['日本語', 1],
    ['\u{1F600}', 1],
    ['ünïcode', 1],
    ['a', 1024],
    ['a', 100_000],
    ['é', 300],
  ])('%j, %d times, as a name that kinds allow and the store does not', async (text, times) => {
    const name = text.repeat(times);
    const { admin } = server();
    const written = async (path: string): Promise<string[]> =>
      (await admin.get(path)).json.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    for (const [path, object] of [
      [`${RBAC}/clusterroles`, { rules: [] }],
      [`${RBAC}/namespaces/default/roles`, { rules: [] }],
    ] as const) {
      const before = await written(path);
      const answer = await admin.post(path, { ...object, metadata: { name } });
      expect([answer.status, answer.json.reason], answer.text.slice(0, 300)).toEqual([422, 'Invalid']);
      const generated = await admin.post(path, { ...object, metadata: { generateName: name } });
      // What is generated is cut to a length that every store can hold.
      expect(generated.status, generated.text.slice(0, 300)).toBe(/^a+$/.test(name) ? 201 : 422);
      if (generated.status === 201) await admin.ok('DELETE', `${path}/${generated.json.metadata.name}`);
      // Only names count: the server itself may write meanwhile.
      if (!/^a+$/.test(name)) expect(await written(path)).toEqual(before);
      if (name.length > 2000) continue;
      const one = `${path}/${encodeURIComponent(name)}`;
      expect((await admin.get(one)).status).toBe(404);
      expect((await admin.delete(one)).status).toBe(404);
      expect((await admin.patch(one, { metadata: { labels: { a: 'b' } } })).status).toBe(404);
      expect((await admin.put(one, { ...object, metadata: { name } })).status).toBe(422);
      const applied = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: path.endsWith('clusterroles') ? 'ClusterRole' : 'Role',
        metadata: { name },
      };
      expect((await admin.patch(`${one}?fieldManager=m`, applied, 'apply-patch')).status).toBe(422);
      expect(await written(path)).toEqual(before);
    }
    expect(server().errors).toEqual([]);
  });

  test('keys of maps that mean something to the language are kept as they are', async () => {
    const { admin } = server();
    const text =
      '{"metadata":{"name":"odd","annotations":{"__proto__":"a","constructor":"b"},"labels":{"__proto__":"c"}},"data":{"__proto__":"d","toString":"e"}}';
    const made = await admin.post('/api/v1/namespaces/default/configmaps', text);
    // An underscore begins no label key.
    expect([201, 422]).toContain(made.status);
    const plain = await admin.post(
      '/api/v1/namespaces/default/configmaps',
      '{"metadata":{"name":"odd2"},"data":{"constructor":"d","toString":"e"}}',
    );
    expect([plain.status, plain.text.includes('"constructor":"d"')]).toEqual([201, true]);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    expect(server().errors).toEqual([]);
  });
});
