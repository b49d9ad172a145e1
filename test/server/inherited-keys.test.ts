/** Keys and names that every object of the language inherits (`constructor`, `__proto__`) are like any other, whatever a client writes. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { type Loose, startTestServer, type TestServer, unique } from '../support/server.ts';

let server: TestServer;
let plat: Plat;
let ns: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes' });
});
afterAll(() => server.close());
beforeEach(async () => {
  ns = await server.namespace();
  plat = platFor(server);
});
const core = (rest: string): string => `/api/v1/namespaces/${ns}/${rest}`;
/** An object by its JSON: a literal would set its prototype. */
const json = (text: string): Loose => JSON.parse(text);

// ---- custom objects -------------------------------------------------------------------------------------------------

const fields = json(`{
  "constructor": { "type": "string", "default": "built" },
  "__proto__": { "type": "object", "properties": { "toString": { "type": "string" }, "a": { "type": "string" } } },
  "valueOf": { "type": "object", "additionalProperties": { "type": "string" } }
}`);
const open = { 'x-kubernetes-preserve-unknown-fields': true };
const schema = {
  type: 'object',
  ...open,
  properties: { spec: { type: 'object', properties: fields }, status: { type: 'object', ...open } },
};

/** The path of a kind that has fields with inherited names, and room for others. */
async function defined(): Promise<{ path: string; head: string }> {
  const group = `${unique('g')}.example.com`;
  const versions = [
    { name: 'v1', schema, subresources: { status: {} } },
    { name: 'constructor', schema },
  ];
  await define(server, definitionOf(server, group, 'Thing', versions));
  return { path: `/apis/${group}/v1/namespaces/${ns}/things`, head: `"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"a"}` };
}
/** The fields of an object in the order of their names, without what every object has. */
const withoutMetadata = ({ apiVersion, kind, metadata, ...rest }: Loose): string => jsonText(sorted(rest));
const sorted = (value: Loose): Loose =>
  typeof value !== 'object'
    ? value
    : Object.fromEntries(
        Object.keys(value)
          .sort()
          .map((key) => [key, sorted(value[key])]),
      );

test('fields of custom objects with inherited names are pruned, defaulted and kept as any other', async () => {
  const { path, head } = await defined();
  const { json: made } = await server.admin.post(
    path,
    `{${head},"__proto__":{"x":1},"spec":{"__proto__":{"a":"1","b":"2"},"hasOwnProperty":"x","valueOf":{"__proto__":"y"}}}`,
  );
  const stored = '{"__proto__":{"x":1},"spec":{"__proto__":{"a":"1"},"constructor":"built","valueOf":{"__proto__":"y"}}}';
  expect(withoutMetadata(made)).toBe(stored);
  expect(withoutMetadata(await server.admin.ok('GET', `${path}/a`))).toBe(stored);
  const other = await server.admin.ok('GET', `${path.replace('/v1/', '/constructor/')}/a`);
  expect(withoutMetadata(other)).toBe(stored);
});

test('a write of the status keeps them', async () => {
  const { path, head } = await defined();
  const made = await server.admin.ok('POST', path, `{${head},"__proto__":{"x":1},"constructor":"c","spec":{"__proto__":{"a":"1"}}}`);
  const named = head.replace('"name":"a"', `"name":"a","resourceVersion":"${made.metadata.resourceVersion}"`);
  const { json: written } = await server.admin.put(`${path}/a/status`, `{${named},"status":{"__proto__":"s"}}`);
  expect(withoutMetadata(written)).toBe(
    '{"__proto__":{"x":1},"constructor":"c","spec":{"__proto__":{"a":"1"},"constructor":"built"},"status":{"__proto__":"s"}}',
  );
});

test('patches set and remove them', async () => {
  const { path, head } = await defined();
  await server.admin.ok('POST', path, `{${head},"spec":{}}`);
  const patched = async (type: string, patch: string): Promise<string> =>
    withoutMetadata((await server.admin.patch(`${path}/a`, patch, type)).json);
  expect(await patched('merge-patch', '{"spec":{"__proto__":{"a":"1"},"constructor":"c"}}')).toBe(
    '{"spec":{"__proto__":{"a":"1"},"constructor":"c"}}',
  );
  expect(await patched('json-patch', '[{"op":"add","path":"/spec/__proto__/toString","value":"t"}]')).toBe(
    '{"spec":{"__proto__":{"a":"1","toString":"t"},"constructor":"c"}}',
  );
  expect(await patched('merge-patch', '{"spec":{"__proto__":null}}')).toBe('{"spec":{"constructor":"c"}}');
});

test('managers own and give up fields with inherited names', async () => {
  const { path, head } = await defined();
  const applied = async (manager: string, rest: string): Promise<Loose> =>
    (await server.admin.patch(`${path}/a?fieldManager=${manager}`, `{${head},${rest}}`, 'apply-patch')).json;
  await applied('one', '"spec":{"__proto__":{"a":"1"},"constructor":"c"}');
  const both = await applied('two', '"spec":{"valueOf":{"__proto__":"v","toString":"t"}}');
  expect(both.metadata.managedFields.map(({ fieldsV1 }: Loose) => fieldsV1['f:spec'])).toEqual([
    { 'f:__proto__': { 'f:a': {} }, 'f:constructor': {} },
    { 'f:valueOf': { 'f:__proto__': {}, 'f:toString': {} } },
  ]);
  const conflict = await applied('two', '"spec":{"__proto__":{"a":"2"}}');
  expect([conflict.reason, conflict.message]).toEqual(['Conflict', 'Apply failed with 1 conflict: conflict with "one": .spec.__proto__.a']);
  expect(withoutMetadata(await applied('one', '"spec":{}'))).toBe(
    '{"spec":{"constructor":"built","valueOf":{"__proto__":"v","toString":"t"}}}',
  );
});

// ---- built-in kinds -------------------------------------------------------------------------------------------------

test('data, labels and annotations', async () => {
  const object = { metadata: { name: 'a', labels: { constructor: 'l' }, annotations: { toString: 'n' } }, data: { valueOf: 'd' } };
  await server.admin.ok('POST', core('configmaps'), object);
  await server.admin.ok('POST', core('configmaps'), { metadata: { name: 'b', labels: { app: 'x' } } });
  const listed = async (selector: string): Promise<string[]> =>
    (await server.admin.ok('GET', `${core('configmaps')}?labelSelector=${encodeURIComponent(selector)}`)).items.map(
      (one: Loose) => one.metadata.name,
    );
  expect(await listed('constructor')).toEqual(['a']);
  expect(await listed('constructor=l')).toEqual(['a']);
  expect(await listed('constructor in (l,m)')).toEqual(['a']);
  expect((await listed('!constructor,app')).concat(await listed('toString,app'))).toEqual(['b']);
  const odd = await server.admin.post(core('configmaps'), '{"metadata":{"name":"c","labels":{"__proto__":"x"}}}');
  expect([odd.status, odd.json.details.causes[0].field]).toEqual([422, 'metadata.labels']);
});

test('a pod with an inherited name is counted by its disruption budget and can be evicted', async () => {
  const budget = { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: { app: 'x' } } } };
  const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
  await server.admin.ok('POST', budgets, budget);
  for (const name of ['constructor', 'usual']) {
    await server.admin.ok('POST', core('pods'), {
      metadata: { name, labels: { app: 'x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await server.admin.patch(core(`pods/${name}/status`), { status });
  }
  const watch = await server.admin.watch(`${budgets}?watch=1`);
  await watch.until(({ object }) => object.status?.currentHealthy === 2 && object.status.disruptionsAllowed === 2);
  watch.close();
  const evicted = await server.admin.post(core('pods/constructor/eviction'), { metadata: { name: 'constructor' } });
  expect(evicted.status).toBe(201);
  expect((await server.admin.ok('GET', `${budgets}/b`)).status.disruptedPods ?? {}).not.toHaveProperty('usual');
});

// ---- the command line -----------------------------------------------------------------------------------------------

test('labels, columns and files of variables with inherited names', async () => {
  await plat.ok(['create', '-n', ns, 'configmap', 'a']);
  expect(await plat.ok(['label', '-n', ns, 'cm/a', 'constructor=1'])).toBe('configmap/a labeled\n');
  expect(await plat.ok(['label', '-n', ns, 'cm/a', 'toString-'])).toBe('label "toString" not found.\nconfigmap/a not labeled\n');
  expect(await plat.ok(['get', '-n', ns, 'cm', 'a', '-L', 'constructor,valueOf', '--no-headers'])).toMatch(/^a +0 +\S+ +1 *\n$/);
  plat.file('variables', 'toString\nconstructor=x\n');
  await plat.ok(['create', '-n', ns, 'configmap', 'b', '--from-env-file=variables']);
  expect((await server.admin.ok('GET', core('configmaps/b'))).data).toEqual({ toString: '', constructor: 'x' });
});
test('commands, fields and kinds that are only inherited do not exist', async () => {
  expect(await plat.run(['explain', 'pods.constructor'])).toMatchObject({ code: 1, stdout: '' });
  expect((await plat.run(['constructor'])).stderr).toContain('unknown command');
  expect((await plat.run(['get', 'constructor', '-n', ns])).stderr).toMatch(/have a resource type|unknown resource/);
});
