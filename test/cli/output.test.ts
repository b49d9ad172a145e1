/** Output of `get` and of templates, compared with that of the machine's kubectl on the same objects. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { kubectlBefore, kubectlFixture, kubectlMissing } from '../support/kubectl.ts';
import { type Plat, platFor } from '../support/plat.ts';
import type { TestServer } from '../support/server.ts';

const group = 'output.example.com';
const version = {
  schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.n' },
    { name: 'Note', type: 'string', jsonPath: '.spec.note' },
    { name: 'Up', type: 'string', jsonPath: '.spec.yes', priority: 1 },
  ],
};
/** Values of every kind that JSON has. */
const spec = {
  name: 'web <b>&',
  note: 'first line\nsecond',
  n: 3,
  big: 1234567890123,
  half: 0.5,
  large: 1234567.25,
  small: 0.000001,
  negative: -7,
  yes: true,
  no: false,
  empty: '',
  unicode: 'é€😀',
  secret: 'aGVsbG8=',
  list: ['a', 'b', 'c'],
  numbers: [1, 2, 3],
  mixed: [1, 'a', true, 0.25, { k: 'v' }, ['x']],
  nested: { b: { c: 'deep' }, a: 1, 'with-dash': 'dashed', 'dotted.key': 'dot' },
  labels: { z: '26', a: '1', '10': 'ten', '9': 'nine' },
  items: [
    { name: 'one', n: 1, tags: ['x', 'y'], on: true },
    { name: 'two', n: 20, tags: ['z'], on: false },
    { name: 'three', n: 3, nested: { deep: { value: 'here' } } },
  ],
};
const sample = (name: string, changes: object, labels: Record<string, string> = {}) => ({
  apiVersion: `${group}/v1`,
  kind: 'Sample',
  metadata: { name, labels },
  spec: changes,
});
const configMap = (name: string, labels: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data: { a: '1' },
});
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: { ports: [{ port: 80 }], selector: { app: 'web' } },
};

/** Templates on `.spec` of the sample. */
const goTemplates = [
  '{{.name}}|{{.n}}|{{.big}}|{{.half}}|{{.large}}|{{.small}}|{{.negative}}|{{.yes}}|{{.empty}}|{{.unicode}}',
  '{{.}}',
  '{{.missing}} {{.missing.more}}',
  '{{.list}} {{.mixed}} {{.nested}}',
  '{{range .list}}[{{.}}]{{end}}{{range $i, $e := .items}}{{$i}}={{$e.name}} {{end}}',
  '{{range $k, $v := .labels}}{{$k}}={{$v}},{{end}}{{range .missing}}x{{else}}none{{end}}',
  '{{range .items}}{{if eq .name "two"}}{{continue}}{{end}}{{.name}}{{end}}{{range .items}}{{if .nested}}{{break}}{{end}}{{.n}}{{end}}',
  '{{if and .yes (not .no)}}a{{else if .n}}b{{else}}c{{end}}{{with .nested}}{{.a}}{{else}}none{{end}}',
  '{{$x := 1}}{{range .numbers}}{{$x = .}}{{end}}{{$x}}',
  '{{define "T"}}<{{.}}>{{end}}{{template "T" .name}}{{block "B" .n}}[{{.}}]{{end}}',
  '  {{- " trimmed " -}}  x {{/* gone */}} {{- /* gone */ -}} y',
  '{{len .list}} {{len .labels}} {{len .unicode}} {{len .empty}}',
  '{{index .list 1}} {{index .nested "b" "c"}} {{index .nested "with-dash"}} {{index .nested "none"}} {{index .unicode 0}}',
  '{{slice .list 1}} {{slice .list 1 2}} {{slice .name 0 3}} {{slice .unicode 0 2}}',
  '{{eq .n 3}} {{eq .name "a" "b"}} {{ne .n 4}} {{lt .n 4}} {{le .half 0.5}} {{gt "b" "a"}} {{ge 2 3}} {{eq .missing "x"}} {{eq .yes true}}',
  '{{and .n .name}} {{and .empty .name}} {{or .empty .name}} {{or .no .empty 0}} {{not .n}}',
  '{{print 1 2 "a" "b" 3 4 true}} {{println .name .n}} {{print .missing}} {{print .list .n}}',
  '{{html .name}} {{js .name}} {{js .note}} {{urlquery .name}} {{urlquery .unicode}} {{html .missing}}',
  '{{base64decode .secret}} {{exists . "nested" "b"}} {{exists .list 9}} {{exists . "none"}}',
  '{{.n | printf "%d-%s" | printf "%q"}}',
  '{{printf "%5d|%-5d|%05d|%+d|% d|%x|%X|%#x|%o|%O|%b|%c|%q|%U" .n .n .n .n .n .n .n .n .n .n .n 65 65 65}}',
  '{{printf "%s|%10s|%-6s|%.2s|%q|%x|% X|%#q|%+q" .list "hi" "hi" "hello" .name "hi" "hi" "raw" .unicode}}',
  '{{printf "%f|%.2f|%8.3f|%e|%g|%G|%6.1f|%v|%.3g|%.0f|%.1f" .half .large .half .large .small .large .half .large .large .half 0.25}}',
  '{{printf "%v %+v %#v %T %T %T %T" .nested .nested .mixed .nested .list .name .half}}',
  '{{printf "%d %s %t" .name .yes .name}} {{printf "%d"}} {{printf "%d" 1 "x" .half}} {{printf "%"}} {{printf "%z" .name}}',
  '{{printf "%[2]s %[1]s" "a" "b"}} {{printf "%*d|%-*d|" 4 7 4 7}} {{printf "%.*f" 1 .large}} {{printf "%[5]d" 1}}',
  '{{printf "%v %s %d" .missing .missing .missing}} {{printf "%6.2f%%" .half}} {{printf "%t" .yes}}',
  "{{'a'}} {{0x1F}} {{017}} {{1_000}} {{1.0}} {{1e3}} {{-2}} {{1e6}} {{1e21}} {{.5}} {{'\\n'}}",
  '{{"quoted \\t \\u00e9 \\x41 \\" "}}{{`raw \\t`}}',
  '{{(index .items 0).name}} {{(index .items 2).nested.deep.value}} {{$.n}}',
  '{{with $x := index .items 1}}{{$x.name}}{{end}} {{with .items}}{{len .}}{{end}}',
  '{{range $i, $t := (index .items 0).tags}}{{if $i}},{{end}}{{$t}}{{end}}',
];

/** Templates on the sample. */
const jsonPaths = [
  '{.spec.name}|{.spec.n}|{.spec.big}|{.spec.half}|{.spec.large}|{.spec.small}|{.spec.yes}|{.spec.empty}|{.spec.unicode}',
  '{.spec.list}|{.spec.nested}|{.spec.mixed}',
  '{.spec.missing}|{.spec.missing.more}|{.missing[*].x}',
  '{.spec.list[0]}|{.spec.list[-1]}|{.spec.list[1:]}|{.spec.list[:2]}|{.spec.list[0:2]}|{.spec.list[*]}|{.spec.list[::2]}|{.spec.list[-2:]}',
  '{.spec.list[0,2]}|{.spec.items[0,1].name}',
  "{.spec['name','n']}|{.spec.nested['with-dash']}|{.spec.nested.with-dash}|{.spec.nested.dotted\\.key}|{['spec'].n}",
  '{.spec.items[*].name}|{.spec.items[*].tags[*]}|{.spec.items[*].n}',
  '{range .spec.items[*]}{.name}={.n}{"\\t"}{end}',
  '{range .spec.items[*]}{.name}:{range .tags[*]}{@},{end};{end}',
  '{range .spec.items[?(@.n>2)]}{.name} {end}',
  '{.spec.items[?(@.name=="two")].n}|{.spec.items[?(@.n>=3)].name}|{.spec.items[?(@.n!=3)].name}|{.spec.items[?(@.on==true)].name}',
  '{.spec.items[?(@.nested)].name}|{.spec.items[?(@.nested.deep.value=="here")].n}|{.spec.items[?(@.name=="none")]}',
  "{.spec.items[?(@.name=='one')].tags[0]}",
  '{..deep.value}|{.spec.items..tags}',
  'plain text {.spec.n} more',
  '{"text"} {\'single\'} {"\\u00e9\\n\\""}',
  '{.spec.numbers[0]}{.spec.numbers[1]}',
  '{$.spec.n}|{@.spec.n}|{ .spec.n }',
  '{.kind}{range .spec.none[*]}{.x}{end}-',
  '{.metadata.labels}',
  '{range .spec.items[*]}{.n}-',
];

const separator = '#=#';

describe.skipIf(kubectlMissing !== undefined)(`as kubectl (${kubectlMissing ?? 'found'})`, () => {
  const fixture = kubectlFixture();
  let server: TestServer;
  let plat: Plat;
  let ns: string;
  beforeAll(async () => {
    ({ server, ns } = fixture);
    plat = platFor(server, {}, undefined, 'kubectl');
    await define(server, definitionOf(server, group, 'Sample', [version]));
    const path = `/apis/${group}/v1/namespaces/${ns}/samples`;
    await server.admin.ok('POST', path, sample('sx', spec, { app: 'web', 'example.com/tier': 'front' }));
    await server.admin.ok('POST', path, sample('sm', { n: 12, note: '' }, { app: 'db' }));
    await server.admin.ok('POST', path, sample('sa', { n: 4 }));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('one', { app: 'web' }));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/configmaps`, configMap('two'));
    await server.admin.ok('POST', `/api/v1/namespaces/${ns}/services`, service);
  });

  /** Ages differ from one moment to the next, and with them the width of their column. */
  const ageless = (text: string): string => text.replace(/\b(?:\d+[dhms])+(?: *(?=\n)| +)/g, 'AGE ').replace(/\bAGE +/g, 'AGE ');
  async function both(args: readonly string[], input?: unknown): Promise<void> {
    const [theirs, ours] = await Promise.all([fixture.kubectl.run(args, input), plat.run(args, input)]);
    expect(`${ours.code}\n${ageless(ours.stdout)}`, `${args.join(' ')}\n${theirs.stderr}${ours.stderr}`).toBe(
      `${theirs.code}\n${ageless(theirs.stdout)}`,
    );
  }

  test('templates of Go', async () => {
    const template = `{{with .spec}}${goTemplates.join(separator)}{{end}}`.replace(/\{\{define "T"\}\}<\{\{\.\}\}>\{\{end\}\}/, '');
    const args = ['get', `samples.${group}`, 'sx', '-n', ns, '-o', `go-template={{define "T"}}<{{.}}>{{end}}${template}`];
    const [theirs, ours] = await Promise.all([fixture.kubectl.ok(args), plat.ok(args)]);
    const [expected, found] = [theirs.split(separator), ours.split(separator)];
    expect(goTemplates.map((one, i) => [one, found[i]])).toEqual(goTemplates.map((one, i) => [one, expected[i]]));
  });

  test('paths', async () => {
    const args = [
      'get',
      'sample',
      'sx',
      '-n',
      ns,
      '-o',
      `jsonpath=${jsonPaths.slice(0, -1).join(separator)}${separator}${jsonPaths.at(-1)}`,
    ];
    const [theirs, ours] = await Promise.all([fixture.kubectl.ok(args), plat.ok(args)]);
    const [expected, found] = [theirs.split(separator), ours.split(separator)];
    expect(jsonPaths.map((one, i) => [one, found[i]])).toEqual(jsonPaths.map((one, i) => [one, expected[i]]));
  });

  test.each([
    ['get', 'samples'],
    ['get', 'samples', '-o', 'wide', '--show-labels'],
    ['get', 'samples', '-L', 'app,example.com/tier', '--no-headers'],
    ['get', 'samples', '--sort-by=.spec.n'],
    ['get', 'samples', '--sort-by={.metadata.name}', '-o', 'name'],
    ['get', 'samples,cm,services'],
    ['get', 'cm/one', 'svc/web', 'cm/two'],
    ['get', 'cm', 'one', 'missing'],
    ['get', 'cm/missing', '-o', 'json'],
    ['get', 'cm', 'missing', '--ignore-not-found'],
    ['get', 'cm', '--show-kind', '-l', 'app=web'],
    ['get', 'cm', '-l', 'app=none'],
    ['get', 'cm', '-l', 'app=none', '-o', 'name'],
    ['get', 'cm', '--server-print=false'],
    ['get', 'samples', '-o', 'custom-columns=Name:.metadata.name,N:spec.n,ALL:{.spec.nested},T:.spec.items[*].name,NONE:.spec.none'],
    ['get', 'samples', '-o', 'custom-columns=Name:.metadata.name', '--no-headers'],
    ['get', 'cm', '-l', 'app=none', '-o', 'custom-columns=Name:.metadata.name'],
    ['get', 'sample/sx', '-o', 'jsonpath-as-json={.spec.list[*]}{.spec.none}'],
    ['get', 'sample/sx', '-o', 'jsonpath={.spec.list[7]}'],
    ['get', 'sample/sx', '-o', 'jsonpath={.spec.none}', '--allow-missing-template-keys=false'],
    ['get', 'sample/sx', '--template={{.spec.n}}'],
    ['get', 'sample/sx', '-o', 'jsonpath=.spec.n'],
    ['get', 'nothing'],
    ['get', 'cm', '-o', 'nothing'],
    ['get', 'cm', '--show-labels', '-o', 'json'],
    ['get', '--raw', '/version', '-o', 'json'],
  ])('%s %s %s %s %s', async (...args) => {
    await both([...args.filter((arg) => arg !== undefined), '-n', ns]);
  });
  // Earlier releases show managed fields.
  test.skipIf(kubectlBefore(21)).each([
    ['get', 'cm/one', 'svc/missing', '-o', 'json'],
    ['get', 'cm', '-l', 'app=none', '-o', 'json'],
    ['get', 'sample/sx', '-o', 'json'],
    ['get', 'sample/sx', '-o', 'yaml'],
    ['get', 'samples', '-o', 'json'],
  ])('%s %s %s %s %s', (...args) => both([...args, '-n', ns]));

  test('a kustomization', async () => {
    plat.file('k/kustomization.yaml', { resources: ['cm.yaml'] });
    plat.file('k/cm.yaml', configMap('one'));
    await both(['get', '-n', ns, '-k', join(plat.cwd, 'k'), '-o', 'name']);
  });

  test('all namespaces, and files', async () => {
    await both(['get', 'cm,svc', '-A', '--field-selector', `metadata.namespace=${ns}`]);
    await both(['get', '-n', ns, '-f', '-'], { apiVersion: 'v1', kind: 'List', items: [configMap('one'), service] });
    await both(['get', '-n', ns, '-f', '-', '-o', 'name'], configMap('one'));
    await both(['get', '-n', ns, '-f', '-', '-o', 'name'], configMap('missing'));
  });
});
