/** The history of objects: who changed what, and what they were before. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

/** `2 patch alice hand: replace /data/a`, newest first, with places instead of versions. */
function lines(history: Loose): string[] {
  return history.items.map((item: Loose) => {
    const patch = (item.patch ?? []).map((one: Loose) => ` ${one.op} ${one.path}`).join(',');
    return `${item.type} ${item.name} by ${item.user} (${item.fieldManager}) ${item.verb}${item.subresource ? `/${item.subresource}` : ''}${patch}`;
  });
}
const merge = async (client: Client, path: string, body: Loose): Promise<Loose> => {
  const answer = await client.patch(path, body);
  expect(answer.status).toBe(200);
  return answer.json;
};

onStores(['memory', 'lmdb', 'etcd'], { controllers: ['serviceaccount'] }, (server) => {
  let shop: Client;
  let path: string;
  let namespace: string;
  const versions: Loose[] = [];
  beforeAll(async () => {
    namespace = await server().namespace();
    path = `/api/v1/namespaces/${namespace}/configmaps`;
    shop = server().admin.clone({ headers: { 'user-agent': 'shop/1.0' } });
    versions.push(await shop.ok('POST', path, { metadata: { name: 'a' }, data: { x: '1' } }));
    versions.push(await merge(shop, `${path}/a?fieldManager=hand`, { data: { x: '2', y: '1' } }));
    await shop.ok('POST', path, { metadata: { name: 'b' } });
    versions.push(await merge(shop, `${path}/a`, { data: { y: null } }));
    await shop.ok('DELETE', `${path}/a`);
    await server().engine.compact(await server().engine.currentRevision());
  });

  test('of one object: who, when, by which program and request, and what changed; newest first', async () => {
    const history = await shop.ok('GET', `${path}/a?history=true`);
    expect(history).toMatchObject({ kind: 'ObjectHistory', apiVersion: 'explain.plat.dev/v1alpha1' });
    expect(lines(history)).toEqual([
      'deleted a by admin (shop) delete',
      'updated a by admin (shop) patch remove /data/y',
      'updated a by admin (hand) patch replace /data/x, add /data/y',
      'created a by admin (shop) create',
    ]);
    const [, last] = history.items;
    expect(last).toMatchObject({ namespace, uid: versions[2]?.metadata.uid, userAgent: 'shop/1.0', auditID: expect.any(String) });
    expect(last.resourceVersion).toBe(versions[2]?.metadata.resourceVersion);
    expect(Date.parse(last.time)).toBeGreaterThan(Date.now() - 600_000);
  });

  test('of a collection, deleted objects included', async () => {
    const history = await shop.ok('GET', `${path}?history=true`);
    expect(lines(history).slice(0, 3)).toEqual([
      'deleted a by admin (shop) delete',
      'updated a by admin (shop) patch remove /data/y',
      'created b by admin (shop) create',
    ]);
  });

  test('with each object as it was', async () => {
    const history = await shop.ok('GET', `${path}/a?history=full`);
    const objects = history.items.flatMap((item: Loose) => item.object ?? []);
    expect(objects.reverse()).toEqual(versions);
  });

  test('a change is the same whether objects are asked for or not, large or small; owners of fields are no part of it', async () => {
    await shop.ok('POST', path, { metadata: { name: 'c' }, data: { x: '1' } });
    await merge(shop, `${path}/c`, { metadata: { managedFields: [{}] } });
    await merge(shop, `${path}/c`, { data: { large: 'x'.repeat(20_000) } });
    await merge(shop, `${path}/c`, { data: { large: null } });
    const { items } = await shop.ok('GET', `${path}/c?history=true`);
    expect(items.map(({ change, patch }: Loose) => `${change} ${patch?.map(({ path: field }: Loose) => field)}`)).toEqual([
      'data.large removed /data/large',
      expect.stringMatching(/^data\.large = x+… \/data\/large$/),
      'no field ',
      'undefined undefined',
    ]);
    const full = await shop.ok('GET', `${path}/c?history=full`);
    expect(full.items.map(({ object: _, ...item }: Loose) => item)).toEqual(items);
    await shop.ok('DELETE', `${path}/c`);
  });

  test('in pages, which neither repeat nor miss a version', async () => {
    const whole = await shop.ok('GET', `${path}?history=true`);
    const paged: Loose[] = [];
    let token = '';
    do {
      const page = await shop.ok('GET', `${path}?history=true&limit=1&continue=${token}`);
      paged.push(...page.items);
      token = page.metadata.continue ?? '';
    } while (token !== '');
    expect(paged).toEqual(whole.items);
    const other = await shop.ok('GET', `${path}/a?history=true&limit=1`);
    expect(await shop.get(`${path}?history=true&continue=${other.metadata.continue}`)).toMatchObject({ status: 400 });
  });

  test('filtered by user, manager and time', async () => {
    const byManager = await shop.ok('GET', `${path}?history=true&manager=hand`);
    expect(lines(byManager)).toEqual(['updated a by admin (hand) patch replace /data/x, add /data/y']);
    expect((await shop.ok('GET', `${path}/a?history=true&user=nobody`)).items).toEqual([]);
    const all = (await shop.ok('GET', `${path}/a?history=true`)).items;
    const [newest] = all;
    expect((await shop.ok('GET', `${path}/a?history=true&since=${newest.time}`)).items[0]).toEqual(newest);
    expect((await shop.ok('GET', `${path}/a?history=true&since=2999-01-01T00:00:00Z`)).items).toEqual([]);
    expect((await shop.ok('GET', `${path}/a?history=true&until=2999-01-01T00:00:00Z`)).items).toEqual(all);
    expect((await shop.ok('GET', `${path}/a?history=true&until=2001-01-01T00:00:00Z`)).items).toEqual([]);
  });

  test('as a Table, as YAML and in the binary form', async () => {
    const table = (await shop.get(`${path}/a?history=true`, { accept: 'application/json;as=Table;g=meta.plat.dev;v=v1' })).json;
    expect(table.columnDefinitions.map(({ name }: Loose) => name)).toEqual(['Version', 'Name', 'Age', 'User', 'Manager', 'Verb', 'Change']);
    expect(table.rows.map(({ cells }: Loose) => cells.slice(3))).toEqual([
      ['admin', 'shop', 'delete', 'deleted'],
      ['admin', 'shop', 'patch', 'data.y removed'],
      ['admin', 'hand', 'patch', 'data.x 1 → 2, data.y = 1'],
      ['admin', 'shop', 'create', 'created'],
    ]);
    expect((await shop.get(`${path}/a?history=true`, { accept: 'application/yaml' })).text).toContain('kind: ObjectHistory');
    const bytes = await shop.get(`${path}/a?history=full`, { accept: 'application/vnd.plat.protobuf' });
    expect(bytes).toMatchObject({ status: 200, headers: { 'content-type': 'application/vnd.plat.protobuf' } });
  });

  test.each([
    ['history=maybe', 'query parameter "history" must be true, full or false, not "maybe"'],
    ['history=true&labelSelector=a', 'query parameter "labelSelector" cannot be used with history'],
    ['history=true&resourceVersion=1', 'query parameter "resourceVersion" cannot be used with history'],
    ['history=true&watch=true', 'history cannot be watched'],
    ['history=true&since=yesterday', 'query parameter "since" must be a time such as 2024-05-06T07:08:09Z, not "yesterday"'],
    ['history=true&continue=xyz', 'invalid continue token: it is not one of a list of history'],
  ])('%s is refused: %s', async (query, message) => {
    expect((await shop.get(`${path}?${query}`)).json).toMatchObject({ code: 400, message });
  });

  test('an object and a list at a version that watches no longer go back to', async () => {
    const exact = (at: string): string => `resourceVersion=${at}&resourceVersionMatch=Exact`;
    const dataAt = async (at: string): Promise<Loose> => (await shop.ok('GET', `${path}/a?${exact(at)}`)).data;
    const [created, changed, last] = versions.map(({ metadata }) => metadata.resourceVersion as string) as [string, string, string];
    expect([await dataAt(created), await dataAt(changed), await dataAt(last)]).toEqual([{ x: '1' }, { x: '2', y: '1' }, { x: '2' }]);
    expect(await shop.ok('GET', `${path}/a?${exact(changed)}`)).toEqual(versions[1]);
    const { resourceVersion: now } = (await shop.ok('GET', path)).metadata;
    expect((await shop.get(`${path}/a?${exact(now)}`)).status).toBe(404);
    expect((await shop.get(`${path}/a?${exact('0')}`)).status).toBe(400);
    const names = async (at: string): Promise<string[]> =>
      (await shop.ok('GET', `${path}?${exact(at)}`)).items.map((item: Loose) => item.metadata.name);
    expect([await names(created), await names(last), await names(now)]).toEqual([['a'], ['a', 'b'], ['b']]);
    const list = await shop.ok('GET', `${path}?${exact(changed)}&fieldSelector=metadata.name=a`);
    expect(list.items[0].data).toEqual({ x: '2', y: '1' });
    expect(list.metadata.resourceVersion).toBe(changed);
  });

  test('such a list has pages, each as large as is asked for', async () => {
    const ordered = `/api/v1/namespaces/${await server().namespace()}/configmaps`;
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) await shop.ok('POST', ordered, { metadata: { name, labels: { odd: String(names.indexOf(name) % 2) } } });
    const { resourceVersion } = (await shop.ok('GET', ordered)).metadata;
    for (const name of ['b', 'c']) await shop.ok('DELETE', `${ordered}/${name}`);
    await merge(shop, `${ordered}/d`, { data: { x: '1' } });
    await server().engine.compact(await server().engine.currentRevision());
    const pagesOf = async (query: string): Promise<string[][]> => {
      const pages: string[][] = [];
      let page = await shop.ok('GET', `${ordered}?${query}&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
      for (;;) {
        pages.push(page.items.map(({ metadata, data }: Loose) => `${metadata.name}${data === undefined ? '' : ' changed'}`));
        expect(page.metadata.resourceVersion).toBe(resourceVersion);
        if (!page.metadata.continue) return pages;
        page = await shop.ok('GET', `${ordered}?${query}&continue=${page.metadata.continue}`);
      }
    };
    expect(await pagesOf('limit=2')).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(await pagesOf('limit=5')).toEqual([names]);
    expect(await pagesOf('limit=0')).toEqual([names]);
    expect(await pagesOf('limit=1&labelSelector=odd%3D1')).toEqual([['b'], ['d']]);
    const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    const token = (await shop.ok('GET', `${ordered}?limit=2&${exact}`)).metadata.continue;
    expect((await shop.get(`${path}?continue=${token}`)).json).toMatchObject({
      code: 400,
      message: 'invalid continue token: it is one of another list',
    });
    expect((await shop.get(`${ordered}?continue=${token}&resourceVersion=${resourceVersion}`)).status).toBe(400);
    expect((await shop.get(`${ordered}?history=true&continue=${token}`)).status).toBe(400);
  });

  test('a program behind a proxy may have a parameter of that name', async () => {
    const answer = await shop.get(`/api/v1/namespaces/${namespace}/services/none/proxy/?history=any`);
    expect(answer.json).toMatchObject({ code: 404, message: expect.stringContaining('"none" not found') });
  });

  test('an object that there never was: 404; a subresource: 400', async () => {
    expect((await shop.get(`${path}/none?history=true`)).status).toBe(404);
    expect((await shop.get(`${path}/none?history=false`)).status).toBe(404);
    expect((await shop.get(`/api/v1/namespaces/${namespace}/status?history=true`)).status).toBe(400);
  });
});

describe('rights', () => {
  let server: TestServer;
  const path = '/api/v1/namespaces/shop/configmaps';
  const rbac = '/apis/rbac.authorization.plat.dev/v1/namespaces';
  beforeAll(async () => {
    server = await startTestServer({ direct: true });
    for (const name of ['shop', 'hidden']) await server.admin.ok('POST', '/api/v1/namespaces', { metadata: { name } });
    for (const namespace of ['shop', 'hidden'])
      await server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: `of-${namespace}` } });
  });
  afterAll(() => server.close());

  async function grant(user: string, verbs: string[], role = user): Promise<void> {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }];
    await server.admin.ok('POST', `${rbac}/shop/roles`, { metadata: { name: role }, rules });
    const roleRef = { apiGroup: 'rbac.authorization.plat.dev', kind: 'Role', name: role };
    const subjects = [{ apiGroup: 'rbac.authorization.plat.dev', kind: 'User', name: user }];
    await server.admin.ok('POST', `${rbac}/shop/rolebindings`, { metadata: { name: role }, roleRef, subjects });
  }
  const status = async (client: Client, query: string): Promise<number> => (await client.get(query)).status;

  test('get and list do not suffice, nor does history alone', async () => {
    await grant('alice', ['get', 'list']);
    await grant('bob', ['history']);
    const refused = await server.alice.get(`${path}/of-shop?history=true`);
    expect(refused.json).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "alice" cannot history resource "configmaps"'),
    });
    expect(await status(server.alice, `${path}?history=true`)).toBe(403);
    expect(await status(server.bob, `${path}/of-shop?history=true`)).toBe(403);
    expect(await status(server.bob, `${path}?history=true`)).toBe(403);
    const exact = 'resourceVersion=1&resourceVersionMatch=Exact';
    expect(await status(server.alice, `${path}/of-shop?${exact}`)).toBe(403);
    await server.engine.compact(await server.engine.currentRevision());
    expect(await status(server.alice, `${path}?${exact}`)).toBe(410);
    const older = `resourceVersion=${await server.engine.currentRevision()}&resourceVersionMatch=Exact`;
    await server.admin.ok('POST', path, { metadata: { name: 'second' } });
    const paged = `resourceVersion=${await server.engine.currentRevision()}&resourceVersionMatch=Exact`;
    await server.admin.ok('DELETE', `${path}/second`);
    await server.engine.compact(await server.engine.currentRevision());
    const token = (await server.admin.ok('GET', `${path}?limit=1&${paged}`)).metadata.continue;
    expect(await status(server.alice, `${path}?limit=1&continue=${token}`)).toBe(403);
    expect(await status(server.alice, `${path}?${older}`)).toBe(410);
    await grant('alice', ['history'], 'alice-history');
    await expect.poll(() => status(server.alice, `${path}/of-shop?history=true`)).toBe(200);
    expect(await status(server.alice, `${path}?history=true`)).toBe(200);
  });

  test('the roles admin and edit see history, and view does not', async () => {
    const mayIn = async (role: string, resource: string, group = ''): Promise<boolean> => {
      const { rules } = await server.admin.ok('GET', `/apis/rbac.authorization.plat.dev/v1/clusterroles/${role}`);
      return rules.some(
        (rule: Loose) => rule.verbs.includes('history') && rule.apiGroups.includes(group) && rule.resources.includes(resource),
      );
    };
    await expect.poll(() => mayIn('edit', 'deployments', 'apps')).toBe(true);
    expect([await mayIn('edit', 'secrets'), await mayIn('view', 'configmaps'), await mayIn('view', 'secrets')]).toEqual([
      true,
      false,
      false,
    ]);
    expect([await mayIn('admin', 'configmaps'), await mayIn('admin', 'roles', 'rbac.authorization.plat.dev')]).toEqual([true, true]);
    expect(await mayIn('edit', 'roles', 'rbac.authorization.plat.dev')).toBe(false);
  });

  test('nothing of other namespaces, and nothing of objects that there never were', async () => {
    const history = await server.alice.get(`${path}?history=full`);
    expect(history.text).not.toContain('hidden');
    expect(await status(server.alice, '/api/v1/configmaps?history=true')).toBe(403);
    expect(await status(server.alice, '/api/v1/namespaces/hidden/configmaps?history=true')).toBe(403);
    expect(await status(server.alice, '/api/v1/namespaces/hidden/configmaps/of-hidden?history=true')).toBe(403);
    await server.admin.ok('POST', '/api/v1/namespaces/hidden/configmaps', { metadata: { name: 'second-of-hidden' } });
    const token = (await server.admin.ok('GET', '/api/v1/namespaces/hidden/configmaps?history=true&limit=1')).metadata.continue;
    expect(token).toEqual(expect.any(String));
    expect(await status(server.alice, `${path}?history=true&continue=${token}`)).toBe(400);
  });
});

describe('custom kinds', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ direct: true });
  });
  afterAll(() => server.close());

  test('history is in the requested version, and outlasts the definition', async () => {
    const { admin } = server;
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
    };
    const version = (name: string, storage: boolean): Loose => ({ name, served: true, storage, schema });
    const names = { plural: 'seeds', singular: 'seed', kind: 'Seed', listKind: 'SeedList' };
    const spec = { group: 'example.com', scope: 'Namespaced', names, versions: [version('v1', true), version('v2', false)] };
    const definitions = '/apis/apiextensions.plat.dev/v1/customresourcedefinitions';
    const definition = { metadata: { name: 'seeds.example.com' }, spec };
    await admin.ok('POST', definitions, definition);
    const path = (served: string): string => `/apis/example.com/${served}/namespaces/default/seeds`;
    await expect.poll(async () => (await admin.get(path('v1'))).status).toBe(200);
    await admin.ok('POST', path('v1'), { apiVersion: 'example.com/v1', kind: 'Seed', metadata: { name: 'a' }, spec: { size: 1 } });
    await merge(admin, `${path('v1')}/a`, { spec: { size: 2 } });
    const { items } = await admin.ok('GET', `${path('v2')}/a?history=full`);
    expect(items.map((item: Loose) => [item.object.apiVersion, item.object.spec.size])).toEqual([
      ['example.com/v2', 2],
      ['example.com/v2', 1],
    ]);
    expect(items[0].patch).toContainEqual({ op: 'replace', path: '/spec/size', value: 2 });
    await admin.ok('DELETE', `${definitions}/seeds.example.com`);
    await expect.poll(async () => (await admin.get(`${path('v1')}/a?history=true`)).status, { timeout: 20_000 }).toBe(404);
    await expect.poll(async () => (await admin.post(definitions, definition)).status, { timeout: 20_000 }).toBe(201);
    await expect.poll(async () => (await admin.get(`${path('v1')}/a?history=true`)).status).toBe(200);
    const again = await admin.ok('GET', `${path('v1')}/a?history=true`);
    expect(again.items.map(({ type }: Loose) => type)).toEqual(['deleted', 'updated', 'created']);
  });
});

test('discovery and OpenAPI describe it', async () => {
  const server = await startTestServer({ direct: true });
  const { resources } = await server.admin.ok('GET', '/api/v1');
  const verbsOf = (name: string): string[] => resources.find((one: Loose) => one.name === name).verbs;
  expect([
    verbsOf('pods').includes('history'),
    verbsOf('bindings').includes('history'),
    verbsOf('pods/status').includes('history'),
  ]).toEqual([true, false, false]);
  const { paths } = await server.admin.ok('GET', '/openapi/v3/api/v1');
  const parameters = (path: string): string[] => (paths[path].get.parameters ?? []).map(({ name }: Loose) => name);
  expect(parameters('/api/v1/namespaces/{namespace}/pods')).toEqual(
    expect.arrayContaining(['history', 'since', 'until', 'user', 'manager']),
  );
  expect(parameters('/api/v1/namespaces/{namespace}/pods/{name}')).toEqual(expect.arrayContaining(['history', 'limit', 'continue']));
  const own = await server.admin.ok('GET', '/openapi/v3/apis/explain.plat.dev/v1alpha1');
  expect(Object.keys(own.components.schemas)).toEqual(expect.arrayContaining([expect.stringMatching(/\.ObjectHistory$/)]));
  await server.close();
});
