/** Integers of 64 bits on the command line: none loses a digit. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ProgramName } from '../../packages/cli/src/command.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const MOST = 9223372036854775807n;
const ODD = 9007199254740993n;
const GROUP = 'integers.example.com';

describe.each(['plat', 'kubectl'] as const)('called as %s', (program: ProgramName) => {
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes' });
    const integer = { type: 'integer', format: 'int64' };
    const spec = {
      type: 'object',
      properties: { size: { ...integer, description: 'How large.', default: MOST, enum: [1, ODD, ODD + 1n, MOST] }, other: integer },
    };
    const schema = { type: 'object', properties: { spec, any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };
    const columns = [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }];
    await define(server, definitionOf(server, GROUP, 'Thing', [{ schema, additionalPrinterColumns: columns }]));
  });
  afterAll(() => server.close());
  beforeEach(async () => {
    plat = platFor(server, {}, undefined, program);
    ns = await server.namespace();
  });
  const thing = (name: string, rest: object) => ({ apiVersion: `${GROUP}/v1`, kind: 'Thing', metadata: { name, namespace: ns }, ...rest });
  const stored = async (name: string) => (await server.admin.get(`/apis/${GROUP}/v1/namespaces/${ns}/things/${name}`)).json;
  const make = (name: string, rest: object) => server.admin.ok('POST', `/apis/${GROUP}/v1/namespaces/${ns}/things`, thing(name, rest));
  const get = (...args: string[]) => plat.ok(['get', 'things', '-n', ns, ...args]);

  test('get shows it in every form', async () => {
    await make('b', { spec: { size: ODD + 1n } });
    await make('a', { spec: { size: ODD }, any: { list: [MOST, 1] } });
    await make('c', { spec: { size: 1 } });
    expect((await plat.json(['get', 'thing/a', '-n', ns])).spec.size).toBe(ODD);
    expect(await get('a', '-o', 'json')).toContain('"size": 9007199254740993');
    expect(await get('a', '-o', 'yaml')).toContain('size: 9007199254740993\n');
    expect(await get('a', '-o', 'jsonpath={.spec.size} {.any.list} {.any}')).toBe(
      '9007199254740993 [9223372036854775807,1] {"list":[9223372036854775807,1]}',
    );
    expect(await get('-o', 'jsonpath={.items[?(@.spec.size==9007199254740993)].metadata.name}')).toBe('a');
    expect(await get('-o', 'jsonpath={.items[?(@.spec.size>9007199254740993)].metadata.name}')).toBe('b');
    const template =
      '{{.spec.size}} {{printf "%d %x %T" .spec.size .spec.size .spec.size}} {{eq .spec.size 9007199254740993}} {{gt .spec.size 9007199254740992}}';
    expect(await get('a', '-o', `go-template=${template}`)).toBe('9007199254740993 9007199254740993 20000000000001 int64 true true');
    expect(await get('a', '-o', 'custom-columns=N:.spec.size,L:.any.list', '--no-headers')).toMatch(
      /^9007199254740993 +\[9223372036854775807 1\]\n$/,
    );
    expect(await get('a', '--no-headers')).toMatch(/^a +9007199254740993\n$/);
    const sorted = await get('--sort-by=.spec.size', '--no-headers', '-o', 'custom-columns=N:.metadata.name');
    expect(sorted.split('\n').filter(Boolean)).toEqual(['c', 'a', 'b']);
    expect(await plat.ok(['describe', 'thing', 'a', '-n', ns])).toContain('Size:  9007199254740993');
  });

  test.each([['--server-side'], ['--server-side=false']])('apply %s sends it, and says when nothing changed', async (how) => {
    const apply = (object: object) => plat.ok(['apply', how, '-f', '-'], object);
    const serverSide = how === '--server-side' && program === 'kubectl' ? 'serverside-applied' : undefined;
    const changed = (word: string) => `thing.${GROUP}/a ${serverSide ?? word}\n`;
    const first = thing('a', { spec: { size: ODD, other: MOST }, any: { n: MOST, gone: ODD } });
    expect(await apply(first)).toBe(changed('created'));
    const { resourceVersion } = (await stored('a')).metadata;
    expect(await apply(first)).toBe(changed('unchanged'));
    expect((await stored('a')).metadata.resourceVersion).toBe(resourceVersion);
    expect((await plat.run(['diff', '-f', '-', how], first)).stdout).toBe('');
    const second = thing('a', { spec: { size: ODD + 1n, other: MOST }, any: { n: MOST - 1n } });
    expect((await plat.run(['diff', '-f', '-', how], second)).stdout).toMatch(/^-.* 9007199254740993$[\s\S]*^\+.* 9007199254740994$/m);
    expect(await apply(second)).toBe(changed('configured'));
    expect(await stored('a')).toMatchObject({ spec: { size: ODD + 1n, other: MOST }, any: { n: MOST - 1n } });
    expect((await stored('a')).any).toEqual({ n: MOST - 1n });
  });

  test('create, replace, patch, wait and kustomize', async () => {
    expect(
      await plat.ok(
        ['create', '-f', '-', '-o', 'yaml'],
        `apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata: {name: a, namespace: ${ns}}\nspec: {size: 9223372036854775807}\n`,
      ),
    ).toContain('size: 9223372036854775807\n');
    await plat.ok(['replace', '-f', '-'], thing('a', { spec: { size: ODD } }));
    expect((await stored('a')).spec.size).toBe(ODD);
    await plat.ok(['patch', 'thing', 'a', '-n', ns, '--type=merge', '-p', '{"any":{"n":9223372036854775807}}']);
    await plat.ok([
      'patch',
      'thing',
      'a',
      '-n',
      ns,
      '--type=json',
      '-p',
      '[{"op":"test","path":"/any/n","value":9223372036854775807},{"op":"replace","path":"/spec/size","value":9007199254740994}]',
    ]);
    expect(await stored('a')).toMatchObject({ spec: { size: ODD + 1n }, any: { n: MOST } });
    await plat.ok(['wait', 'thing/a', '-n', ns, '--for=jsonpath={.any.n}=9223372036854775807']);
    plat.file(
      'k/kustomization.yaml',
      'resources: [thing.yaml]\npatches: [{target: {kind: Thing}, patch: "[{op: replace, path: /spec/other, value: 9007199254740993}]"}]\n',
    );
    plat.file('k/thing.yaml', `apiVersion: ${GROUP}/v1\nkind: Thing\nmetadata: {name: k}\nspec: {size: 9223372036854775807, other: 1}\n`);
    expect(await platFor(server, {}, [], program).ok(['kustomize', `${plat.cwd}/k`])).toContain(
      'spec:\n  other: 9007199254740993\n  size: 9223372036854775807\n',
    );
  });

  test('explain shows defaults and values of an enumeration', async () => {
    if (program === 'plat')
      expect(await plat.ok(['explain', 'things.spec.size'])).toMatch(
        /9007199254740993, 9007199254740994, 9223372036854775807[\s\S]*Default: 9223372036854775807/,
      );
  });

  test('edit keeps what the editor left alone', async () => {
    await make('a', { spec: { size: ODD, other: 1 }, any: { n: MOST } });
    const editing = platFor(
      server,
      { KUBE_EDITOR: `sed -i 's/other: 1$/other: 9007199254740995/'`, PLAT_EDITOR: `sed -i 's/other: 1$/other: 9007199254740995/'` },
      undefined,
      program,
    );
    await editing.ok(['edit', 'thing/a', '-n', ns]);
    expect(await stored('a')).toMatchObject({ spec: { size: ODD, other: 9007199254740995n }, any: { n: MOST } });
  });
});

test('convert keeps it', async () => {
  const server = await startTestServer({ identity: 'kubernetes' });
  const text =
    'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: {name: a}\nspec: {schedule: "* * * * *", startingDeadlineSeconds: 9223372036854775807, jobTemplate: {spec: {template: {spec: {containers: []}}}}}\n';
  for (const form of ['yaml', 'json'])
    expect(await platFor(server).ok(['convert', '-f', '-', '-o', form], text)).toMatch(/startingDeadlineSeconds"?: 9223372036854775807/);
  await server.close();
});
