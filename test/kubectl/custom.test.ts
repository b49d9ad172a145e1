/** A stock kubectl with kinds that its user defines. */
import { beforeAll, describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Kubectl, kubectlBefore, kubectlFixture, kubectlFor, kubectlMissing } from '../support/kubectl.ts';
import { type Loose, startTestServer } from '../support/server.ts';

/** Whether the kubectl of this machine is of a later release than the API. */
const isLater = !kubectlBefore(25);

const group = 'garden.example.com';
const definition = (plural: string, kind: string, versions: Loose[], names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: { group, scope: 'Namespaced', names: { plural, kind, ...names }, versions },
});
const version = (name: string, properties: object, more: object = {}) => ({
  name,
  served: true,
  storage: false,
  schema: { openAPIV3Schema: { type: 'object', description: 'A bed of one crop.', properties } },
  ...more,
});

const bedFields = {
  spec: {
    type: 'object',
    description: 'What should grow.',
    required: ['crop'],
    properties: {
      crop: { type: 'string', description: 'What is sown.' },
      rows: { type: 'integer', minimum: 0, default: 1 },
      notes: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      tools: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, count: { type: 'integer' } } },
      },
    },
  },
  status: {
    type: 'object',
    properties: {
      rows: { type: 'integer' },
      selector: { type: 'string' },
      conditions: {
        type: 'array',
        items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
      },
    },
  },
};
const beds = definition(
  'beds',
  'Bed',
  [
    version('v1', bedFields, {
      storage: true,
      subresources: {
        status: {},
        scale: { specReplicasPath: '.spec.rows', statusReplicasPath: '.status.rows', labelSelectorPath: '.status.selector' },
      },
      additionalPrinterColumns: [
        { name: 'Crop', type: 'string', jsonPath: '.spec.crop' },
        { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
        { name: 'Rows', type: 'integer', jsonPath: '.spec.rows', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
    }),
    version('v1beta1', bedFields, {
      deprecated: true,
      additionalPrinterColumns: [{ name: 'Was', type: 'string', jsonPath: '.spec.crop' }],
    }),
  ],
  { shortNames: ['bd'], categories: ['garden'] },
);
const bed = (name: string, spec: object = { crop: 'oats' }) => ({ apiVersion: `${group}/v1`, kind: 'Bed', metadata: { name }, spec });

describe.skipIf(kubectlMissing !== undefined)(`kubectl and custom kinds (${kubectlMissing ?? 'found'})`, () => {
  let kubectl: Kubectl;
  let ns: string;
  const fixture = kubectlFixture();
  beforeAll(async () => {
    ({ kubectl, ns } = fixture);
    expect(await kubectl.ok(['apply', '-f', '-'], beds)).toBe(`customresourcedefinition.apiextensions.k8s.io/beds.${group} created\n`);
    expect(await kubectl.ok(['wait', '--for=condition=Established', `crd/beds.${group}`, '--timeout=100s'])).toContain('condition met');
  });
  const within = (...args: string[]): string[] => ['-n', ns, ...args];

  test('api-resources, api-versions, explain', async () => {
    expect(await kubectl.ok(['api-resources', `--api-group=${group}`])).toMatch(/^beds +bd +garden\.example\.com\/v1 +true +Bed$/m);
    if (isLater) expect(await kubectl.ok(['api-resources', '--categories=garden', '-o', 'name'])).toBe(`beds.${group}\n`);
    expect((await kubectl.ok(['api-versions'])).split('\n')).toEqual(expect.arrayContaining([`${group}/v1`, `${group}/v1beta1`]));
    const whole = await kubectl.ok(['explain', 'beds']);
    expect(whole).toMatch(
      isLater ? /^GROUP: +garden\.example\.com\nKIND: +Bed\nVERSION: +v1\n/ : /^KIND: +Bed\nVERSION: +garden\.example\.com\/v1\n/,
    );
    expect(whole).toContain('A bed of one crop.');
    expect(whole).toMatch(/metadata\t<Object(Meta)?>/);
    // Words that test suites of clients look for.
    expect(whole).toMatch(/apiVersion\t<string>\s+APIVersion defines /);
    expect(whole).toMatch(/kind\t<string>\s+Kind is a string value /);
    expect(await kubectl.ok(['explain', 'bd.spec.crop'])).toMatch(/FIELD: +crop <string>[\s\S]*What is sown\./);
    expect(await kubectl.ok(['explain', 'beds.spec', '--recursive'])).toMatch(/crop\t<string>( -required-)?[\s\S]*tools\t<\[\]Object>/);
    expect(await kubectl.ok(['explain', 'beds.metadata.labels'])).toMatch(/FIELD: +labels <map\[string\]string>/);
  });

  test('create, get in every form, delete', async () => {
    expect(await kubectl.ok(within('create', '-f', '-'), bed('first', { crop: 'rye', rows: 3 }))).toBe(`bed.${group}/first created\n`);
    expect(await kubectl.ok(within('get', 'beds'))).toMatch(/^NAME +CROP +READY +AGE\nfirst +rye +\d+s\n$/);
    expect(await kubectl.ok(within('get', 'bd', 'first', '-o', 'wide'))).toMatch(/^NAME +CROP +READY +ROWS +AGE\nfirst +rye +3 +\d+s\n$/);
    expect(await kubectl.ok(within('get', `beds.v1.${group}`, 'first', '-o', 'yaml'))).toMatch(
      /^apiVersion: garden\.example\.com\/v1\nkind: Bed\n[\s\S]*spec:\n {2}crop: rye\n {2}rows: 3\n$/,
    );
    expect(await kubectl.ok(within('get', 'garden', '-o', 'name'))).toBe(`bed.${group}/first\n`);
    expect(await kubectl.ok(within('get', 'bed', 'first', '-o', 'jsonpath={.spec.rows}'))).toBe('3');
    expect(await kubectl.ok(within('describe', 'bed', 'first'))).toMatch(/^Name: +first\n[\s\S]*Spec:\n +Crop: +rye\n +Rows: +3\n/);
    expect(await kubectl.ok(within('delete', 'bed', 'first'))).toMatch(/^bed\.garden\.example\.com "first" deleted/);
    expect(await kubectl.run(within('get', 'bed', 'first'))).toMatchObject({
      code: 1,
      stderr: `Error from server (NotFound): beds.${group} "first" not found\n`,
    });
  });

  test('every version has its own columns, and a deprecated one warns', async () => {
    await kubectl.ok(within('create', '-f', '-'), bed('old'));
    const { stdout, stderr } = await kubectl.run(within('get', `beds.v1beta1.${group}`, 'old'));
    expect(stdout).toMatch(/^NAME +WAS\nold +oats\n$/);
    expect(stderr).toContain(`Warning: ${group}/v1beta1 Bed is deprecated; use ${group}/v1 Bed`);
    expect(await kubectl.ok(within('get', `beds.v1beta1.${group}`, 'old', '-o', 'jsonpath={.apiVersion}'))).toBe(`${group}/v1beta1`);
  });

  test('apply, diff, edit by patch, label', async () => {
    const apply = (object: object, ...flags: string[]) => kubectl.run(within('apply', '-f', '-', ...flags), object);
    expect((await apply(bed('applied'))).stdout).toBe(`bed.${group}/applied created\n`);
    expect((await apply(bed('applied'))).stdout).toBe(`bed.${group}/applied unchanged\n`);
    const changed = await kubectl.run(within('diff', '-f', '-'), bed('applied', { crop: 'hay' }));
    expect([changed.code, changed.stdout]).toEqual([1, expect.stringContaining('-  crop: oats\n+  crop: hay')]);
    expect((await apply(bed('applied', { crop: 'hay', tools: [{ name: 'hoe', count: 1 }] }))).stdout).toContain('configured');
    expect((await apply(bed('applied', { crop: 'hay', notes: { free: [1] } }))).stdout).toContain('configured');
    expect((await kubectl.json(within('get', 'bed', 'applied'))).spec).toEqual({ crop: 'hay', rows: 1, notes: { free: [1] } });
    await kubectl.ok(within('patch', 'bed', 'applied', '--type=merge', '-p', '{"spec":{"rows":7}}'));
    await kubectl.ok(within('patch', 'bed', 'applied', '--type=json', '-p', '[{"op":"replace","path":"/spec/crop","value":"rye"}]'));
    expect((await kubectl.run(within('patch', 'bed', 'applied', '-p', '{"spec":{"rows":8}}'))).stderr).toMatch(
      /is not supported by|UnsupportedMediaType/,
    );
    expect(await kubectl.ok(within('label', 'bed', 'applied', 'sun=yes'))).toBe(`bed.${group}/applied labeled\n`);
    expect(await kubectl.ok(within('get', 'beds', '-l', 'sun=yes', '-o', 'name'))).toBe(`bed.${group}/applied\n`);
    expect((await kubectl.json(within('get', 'bed', 'applied'))).spec).toMatchObject({ crop: 'rye', rows: 7 });
  });

  test('apply on the server merges lists by their keys', async () => {
    const apply = (manager: string, spec: object) =>
      kubectl.run(within('apply', '--server-side', `--field-manager=${manager}`, '-f', '-'), bed('shared', spec));
    expect((await apply('one', { crop: 'oats', tools: [{ name: 'hoe', count: 1 }] })).stdout).toBe(
      `bed.${group}/shared serverside-applied\n`,
    );
    expect((await apply('two', { crop: 'oats', tools: [{ name: 'rake' }] })).code).toBe(0);
    expect((await kubectl.json(within('get', 'bed', 'shared'))).spec.tools).toEqual([{ name: 'hoe', count: 1 }, { name: 'rake' }]);
    expect((await apply('two', { crop: 'oats', tools: [{ name: 'hoe', count: 2 }] })).stderr).toContain(
      'conflict with "one": .spec.tools[name="hoe"].count',
    );
  });

  test.skipIf(kubectlBefore(24))('scale, wait for conditions and fields, status', async () => {
    await kubectl.ok(within('create', '-f', '-'), bed('scaled'));
    expect(await kubectl.ok(within('scale', 'bed', 'scaled', '--replicas=4'))).toBe(`bed.${group}/scaled scaled\n`);
    expect((await kubectl.json(within('get', 'bed', 'scaled'))).spec.rows).toBe(4);
    expect((await kubectl.run(within('scale', 'bed', 'scaled', '--replicas=5', '--current-replicas=1'))).stderr).toContain(
      'Expected replicas to be 1, was 4',
    );
    const met = `bed.${group}/scaled condition met\n`;
    const ready = kubectl.run(within('wait', 'bed/scaled', '--for=condition=Ready', '--timeout=100s'));
    const rows = kubectl.run(within('wait', 'bed/scaled', '--for=jsonpath={.status.rows}=4', '--timeout=100s'));
    // 1.24 gives up where the field is missing.
    if (!isLater) expect((await rows).stderr).toContain('status is not found');
    const status = { rows: 4, conditions: [{ type: 'Ready', status: 'True' }] };
    await kubectl.ok(within('patch', 'bed', 'scaled', '--subresource=status', '--type=merge', '-p', JSON.stringify({ status })));
    expect([(await ready).stdout, (await rows).stdout]).toEqual([met, isLater ? met : '']);
    expect(await kubectl.ok(within('get', 'bed', 'scaled'))).toMatch(/scaled +oats +True /);
    expect(await kubectl.ok(within('get', 'bed', 'scaled', '--subresource=scale'))).toMatch(
      /^NAME +DESIRED +AVAILABLE +AGE\nscaled +4 +4 /,
    );
  });

  test('mistakes are reported', async () => {
    expect((await kubectl.run(within('create', '-f', '-'), bed('bad', { crop: 'oats', wheels: 4 }))).stderr).toContain('unknown field');
    expect((await kubectl.run(within('create', '-f', '-', '--validate=false'), bed('bad', { crop: 'oats', rows: -1 }))).stderr).toContain(
      'spec.rows: Invalid value: -1: spec.rows in body should be greater than or equal to 0',
    );
    expect((await kubectl.run(within('create', '-f', '-', '--validate=false'), bed('bad', {}))).stderr).toContain(
      'spec.crop: Required value',
    );
  });

  test('watch', async () => {
    const watch = kubectl.start(within('get', 'beds', '-w', '-l', 'watched', '--request-timeout=60s'));
    await kubectl.ok(within('create', '-f', '-'), { ...bed('seen'), metadata: { name: 'seen', labels: { watched: '' } } });
    expect(await watch.line(/^seen +oats /)).toBeDefined();
    await kubectl.ok(within('patch', 'bed', 'seen', '--type=merge', '-p', '{"spec":{"crop":"rye"}}'));
    expect(await watch.line(/^seen +rye /)).toBeDefined();
    watch.process.kill();
  });

  test('a kind goes with its definition, and comes with other columns', async () => {
    const pots = (columns: object[]) =>
      definition('pots', 'Pot', [version('v1', { size: { type: 'string' } }, { storage: true, additionalPrinterColumns: columns })]);
    await kubectl.ok(['apply', '-f', '-'], pots([]));
    await kubectl.ok(['wait', '--for=condition=Established', `crd/pots.${group}`, '--timeout=100s']);
    await kubectl.ok(within('create', '-f', '-'), { apiVersion: `${group}/v1`, kind: 'Pot', metadata: { name: 'a' }, size: 'small' });
    expect(await kubectl.ok(within('get', 'pots'))).toMatch(/^NAME +AGE\na +\d+s\n$/);
    await kubectl.ok(['apply', '-f', '-'], pots([{ name: 'Size', type: 'string', jsonPath: '.size' }]));
    await expect.poll(() => kubectl.ok(within('get', 'pots'))).toMatch(/^NAME +SIZE\na +small\n$/);
    expect(await kubectl.ok(['delete', 'crd', `pots.${group}`, '--timeout=100s'])).toContain('deleted');
    expect((await kubectl.run(within('get', 'pots'))).stderr).toMatch(/doesn't have a resource type "pots"|could not find the requested/);
  });
});

test.skipIf(kubectlMissing !== undefined)(
  `kubectl and custom kinds on a server with names of its own (${kubectlMissing ?? 'found'})`,
  async () => {
    const server = await startTestServer({ identity: 'plat' });
    const kubectl = kubectlFor(server);
    try {
      const notes = { type: 'object', [`${server.identity.schemaExtensionPrefix}preserve-unknown-fields`]: true };
      const spec = { type: 'object', properties: { crop: { type: 'string' }, notes } };
      const columns = [{ name: 'Crop', type: 'string', jsonPath: '.spec.crop' }];
      await define(
        server,
        definitionOf(server, group, 'Bed', [{ schema: { type: 'object', properties: { spec } }, additionalPrinterColumns: columns }]),
      );
      expect(await kubectl.ok(['apply', '-f', '-'], bed('a', { crop: 'rye', notes: { free: 1 } }))).toBe(`bed.${group}/a created\n`);
      expect(await kubectl.ok(['get', 'beds'])).toMatch(/^NAME +CROP\na +rye\n$/);
      expect(await kubectl.ok(['explain', 'beds.spec.crop'])).toMatch(/FIELD: +crop <string>/);
      expect((await kubectl.run(['apply', '-f', '-'], bed('b', { wheels: 4 }))).stderr).toContain('unknown field');
    } finally {
      await server.close();
    }
  },
);
