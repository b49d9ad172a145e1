/** Bodies that are large, or stand for much, are worked on in slices: whatever they are written in, and whichever request takes them. */

import { afterEach, expect, test, vi } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { Slices } from '../../packages/lib/src/slices.ts';
import { encodeEnvelope } from '../../packages/schema/src/protobuf/envelope.ts';
import { type Loose, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const COUNT = 15_000;
const keyed = (count: number): Loose => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${(i * 7919) % count}`, 'v']));
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `  "k${i}": v\n`).join('');
const configMap = (name: string, more: Loose): Loose => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
const jsonInEnvelope = (value: Loose): Buffer =>
  encodeEnvelope({
    kind: value.kind,
    apiVersion: value.apiVersion,
    raw: Buffer.from(jsonText(value)),
    contentType: 'application/json',
  });

onStores(['memory'], { identity: 'kubernetes', controllers: [] }, (server) => {
  /** How often the work of a request pauses if each slice is over at once, and what it answers. */
  async function pausesOf(method: string, path: string, body: string | Buffer, type: string): Promise<{ pauses: number; status: number }> {
    let pauses = 0;
    const { pause } = Slices.prototype;
    vi.spyOn(Slices.prototype, 'due', 'get').mockReturnValue(true);
    vi.spyOn(Slices.prototype, 'pause').mockImplementation(function (this: Slices) {
      pauses++;
      return pause.call(this);
    });
    const { status } = await server().admin.send(method, path, { body, headers: { 'content-type': type } });
    vi.restoreAllMocks();
    return { pauses, status };
  }
  const deployment = async (): Promise<string> => {
    const path = `/apis/apps/v1/namespaces/${await server().namespace()}/deployments`;
    const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'b' } }, spec: {} as Loose } };
    spec.template.spec.containers = [{ name: 'a', image: 'b' }];
    await server().admin.ok('POST', path, { metadata: { name: 'd' }, spec });
    return `${path}/d`;
  };
  const configMaps = async (): Promise<string> => `/api/v1/namespaces/${await server().namespace()}/configmaps`;

  test.each<[string, string, (name: string) => string | Buffer]>([
    ['JSON', 'application/json', (name) => jsonText(configMap(name, { data: keyed(COUNT) }))],
    ['YAML', 'application/yaml', (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n${lines(COUNT)}`],
    ['JSON in the binary form', 'application/vnd.kubernetes.protobuf', (name) => jsonInEnvelope(configMap(name, { data: keyed(COUNT) }))],
  ])('an object in %s', async (_, type, body) => {
    const path = await configMaps();
    const { pauses, status } = await pausesOf('POST', path, body('a'), type);
    expect(status).toBe(201);
    // The parser alone pauses after each 256 values.
    expect(pauses).toBeGreaterThan(COUNT / 256);
    expect((await pausesOf('PUT', `${path}/a`, body('a'), type)).pauses).toBeGreaterThan(COUNT / 256);
    const stored = await server().admin.ok('GET', `${path}/a`);
    expect(Object.keys(stored.data)).toHaveLength(COUNT);
  });

  test('a small body whose aliases stand for much', async () => {
    const path = await configMaps();
    const base = `base: &base\n${lines(1_000)}`;
    const body = (name: string, aliases: number): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${base}more:\n${'- *base\n'.repeat(aliases)}`;
    const small = await pausesOf('POST', path, body('a', 0), 'application/yaml');
    const large = await pausesOf('POST', path, body('b', 40), 'application/yaml');
    expect([small.status, large.status]).toEqual([201, 201]);
    expect(large.pauses - small.pauses).toBeGreaterThan((40 * 1_000) / 256);
    const applied = await pausesOf('PATCH', `${path}/c?fieldManager=m`, body('c', 40), 'application/apply-patch+yaml');
    expect(applied.pauses).toBeGreaterThan((40 * 1_000) / 256);
  });

  test('a small patch whose copies stand for much', async () => {
    const path = await configMaps();
    await server().admin.ok('POST', path, configMap('a', { data: { a: 'x'.repeat(1_000) } }));
    const patch = (op: string): string => JSON.stringify([{ op, from: '/data/a', path: '/data/b', value: 'x' }]);
    const type = 'application/json-patch+json';
    const added = await pausesOf('PATCH', `${path}/a`, patch('add'), type);
    const copied = await pausesOf('PATCH', `${path}/a`, patch('copy'), type);
    expect([added.status, copied.status]).toEqual([200, 200]);
    expect(copied.pauses).toBeGreaterThan(added.pauses + 5);
  });

  test.each([
    ['application/merge-patch+json', { data: keyed(COUNT) }],
    ['application/strategic-merge-patch+json', { data: keyed(COUNT) }],
    ['application/json-patch+json', [{ op: 'add', path: '/data', value: keyed(COUNT) }]],
  ])('a patch of type %s', async (type, patch) => {
    const path = await configMaps();
    await server().admin.ok('POST', path, configMap('a', {}));
    const { pauses, status } = await pausesOf('PATCH', `${path}/a`, jsonText(patch), type);
    expect(status).toBe(200);
    expect(pauses).toBeGreaterThan(COUNT / 256);
  });

  test('options of a deletion', async () => {
    const path = await configMaps();
    await server().admin.ok('POST', path, configMap('a', {}));
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', unknown: keyed(COUNT) };
    const one = await pausesOf('DELETE', `${path}/a`, jsonText(options), 'application/json');
    expect([one.status, one.pauses > COUNT / 256]).toEqual([200, true]);
    const all = await pausesOf('DELETE', path, jsonText(options), 'application/json');
    expect([all.status, all.pauses > COUNT / 256]).toEqual([200, true]);
  });

  test('a scale, and its patches', async () => {
    const path = `${await deployment()}/scale`;
    const labels = keyed(COUNT);
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'd', labels }, spec: { replicas: 0 } };
    const requests: [string, string, Loose][] = [
      ['PUT', 'application/json', scale],
      ['PATCH', 'application/merge-patch+json', { metadata: { labels } }],
      ['PATCH', 'application/apply-patch+yaml', scale],
    ];
    for (const [method, type, body] of requests) {
      const { pauses, status } = await pausesOf(
        method,
        `${path}?fieldManager=m${type.includes('apply') ? '&force=true' : ''}`,
        jsonText(body),
        type,
      );
      expect([type, status]).toEqual([type, 200]);
      expect(pauses).toBeGreaterThan(COUNT / 256);
    }
  });

  test('what a subresource takes', async () => {
    const path = `/api/v1/namespaces/${await server().namespace()}/pods/${unique()}/eviction`;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', labels: keyed(COUNT) } };
    const { pauses } = await pausesOf('POST', path, jsonText(eviction), 'application/json');
    expect(pauses).toBeGreaterThan(COUNT / 256);
  });

  test('lists and objects with more entries than one may have are refused before they are read by their type', async () => {
    const path = await configMaps();
    await server().admin.ok('POST', path, configMap('a', {}));
    const wide = keyed(20_100);
    const json = { headers: { 'content-type': 'application/json' } };
    const replaced = await server().admin.send('PUT', `${path}/a`, { ...json, body: JSON.stringify(configMap('a', { data: wide })) });
    expect([replaced.status, replaced.json.details.causes[0].message]).toEqual([422, 'Too many: 20100: must have at most 20000 items']);
    const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
    const patched = await server().admin.send('PATCH', `${path}/a`, { ...merge, body: JSON.stringify({ data: wide }) });
    expect([patched.status, patched.json.message]).toEqual([
      413,
      'Request entity too large: a list or an object of the body has more than 20000 entries',
    ]);
    const deleted = await server().admin.send('DELETE', `${path}/a`, { ...json, body: JSON.stringify(wide) });
    expect(deleted.status).toBe(413);
  });
});
