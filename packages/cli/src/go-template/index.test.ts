import { describe, expect, test } from 'vitest';
import { goTemplate, TemplateError } from './index.ts';

const data = {
  name: 'web',
  n: 3,
  zero: 0,
  half: 0.5,
  yes: true,
  no: false,
  none: null,
  empty: '',
  list: ['a', 'b', 'c'],
  numbers: [1, 2, 3],
  nested: { b: { c: 'deep' }, a: 1 },
  labels: { z: '26', a: '1' },
  items: [
    { name: 'one', tags: ['x'] },
    { name: 'two', tags: [] },
  ],
  secret: 'aGVsbG8=',
  html: `<a href="x">'&</a>`,
  'with-dash': 'dashed',
};
const run = (template: string, value: unknown = data): string => goTemplate(template)(value);

describe('values and fields', () => {
  test.each([
    ['plain text', 'plain text'],
    ['{{.name}}', 'web'],
    ['{{ .nested.b.c }}', 'deep'],
    ['{{$.name}}', 'web'],
    ['{{.missing}}', '<no value>'],
    ['{{.missing.more}}', '<no value>'],
    ['{{.none}}', '<no value>'],
    ['{{.n}} {{.half}} {{.yes}}', '3 0.5 true'],
    ['{{.list}}', '[a b c]'],
    ['{{.nested}}', 'map[a:1 b:map[c:deep]]'],
    ['{{.items}}', '[map[name:one tags:[x]] map[name:two tags:[]]]'],
    ['{{(index .items 0).name}}', 'one'],
    ['{{index . "with-dash"}}', 'dashed'],
    ['{{"quoted \\t\\u00e9\\x41"}}{{`raw \\t`}}', 'quoted \téAraw \\t'],
    ["{{'a'}} {{1_000}} {{0x1F}} {{017}} {{1.0}} {{-2}} {{1e3}} {{1e21}} {{.5}}", '97 1000 31 15 1 -2 1000 1e+21 0.5'],
    ['{{true}}', 'true'],
    ['{{/* a comment */}}x', 'x'],
  ])('%s', (template, expected) => {
    expect(run(template)).toBe(expected);
  });
});

describe('control', () => {
  test.each([
    ['{{if .yes}}a{{else}}b{{end}}', 'a'],
    ['{{if .zero}}a{{else if .name}}b{{else}}c{{end}}', 'b'],
    ['{{if .empty}}a{{else if .no}}b{{else}}c{{end}}', 'c'],
    ['{{if .missing}}a{{end}}', ''],
    ['{{with .nested}}{{.a}}{{end}}', '1'],
    ['{{with .missing}}a{{else}}{{.name}}{{end}}', 'web'],
    ['{{with $x := .nested.a}}{{$x}}{{end}}', '1'],
    ['{{range .list}}[{{.}}]{{end}}', '[a][b][c]'],
    ['{{range $i, $e := .list}}{{$i}}={{$e}} {{end}}', '0=a 1=b 2=c '],
    ['{{range $e := .list}}{{$e}}{{end}}', 'abc'],
    ['{{range $k, $v := .labels}}{{$k}}={{$v}},{{end}}', 'a=1,z=26,'],
    ['{{range .missing}}a{{else}}none{{end}}', 'none'],
    ['{{range .items}}{{.name}}:{{range .tags}}{{.}}{{else}}-{{end}} {{end}}', 'one:x two:- '],
    ['{{range .list}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{end}}', 'ac'],
    ['{{range .list}}{{if eq . "b"}}{{break}}{{end}}{{.}}{{end}}', 'a'],
    ['{{$x := 1}}{{range .list}}{{$x = .}}{{end}}{{$x}}', 'c'],
    ['{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}', '21'],
    ['{{range .items}}{{$.name}}{{end}}', 'webweb'],
    ['{{define "t"}}<{{.}}>{{end}}{{template "t" .name}}', '<web>'],
    ['{{define "t"}}<{{.}}>{{end}}{{template "t"}}', '<<no value>>'],
    ['{{block "b" .n}}[{{.}}]{{end}}', '[3]'],
    ['a {{- .name -}} b', 'awebb'],
    ['a\n{{- if .yes }}\n b\n{{- end }}\nc', 'a\n b\nc'],
    ['a {{- /* gone */ -}} b', 'ab'],
    ['{{3 -}} x', '3x'],
  ])('%s', (template, expected) => {
    expect(run(template)).toBe(expected);
  });
});

describe('functions', () => {
  test.each([
    ['{{.name | printf "%s-%d" | print}}', 'web-%!d(MISSING)'],
    ['{{printf "%s-%d" .name .n}}', 'web-3'],
    ['{{.name | len}} {{len .list}} {{len .labels}} {{len "é"}}', '3 3 2 2'],
    ['{{and .yes .name}} {{and .zero .name}} {{or .empty .name}} {{or .no .zero}}', 'web 0 web 0'],
    ['{{not .missing}} {{not .name}}', 'true false'],
    ['{{eq .name "x" "web"}} {{ne .n 3}} {{lt .n 4}} {{le 3 3}} {{gt "b" "a"}} {{ge 1.5 2.5}}', 'true false true true true false'],
    ['{{eq .missing "x"}} {{eq .none nil}}', 'false true'],
    ['{{index .list 1}} {{index .nested "b" "c"}} {{index .labels "none"}}', 'b deep <no value>'],
    ['{{slice .list 1}} {{slice .list 1 2}} {{slice .name 0 2}}', '[b c] [b] we'],
    ['{{print 1 2 "a" "b" 3 4}}|{{println "a" 1}}', '1 2ab3 4|a 1\n'],
    ['{{print .missing}} {{printf "%v %s" .none .missing}}', '<nil> <nil> %!s(<nil>)'],
    ['{{html .html}}', '&lt;a href=&#34;x&#34;&gt;&#39;&amp;&lt;/a&gt;'],
    ['{{js .html}}', '\\u003Ca href\\u003D\\"x\\"\\u003E\\\'\\u0026\\u003C/a\\u003E'],
    ['{{urlquery "a b/é"}}', 'a+b%2F%C3%A9'],
    ['{{base64decode .secret}}', 'hello'],
    ['{{exists . "nested" "b"}} {{exists .list 5}} {{exists . "none"}} {{exists .n "x"}}', 'true false false false'],
    ['{{(and .yes .nested).a}}', '1'],
    ['{{index (slice .list 1) 0}}', 'b'],
    ['{{if and (eq .name "web") (gt .n 2)}}both{{end}}', 'both'],
    // `or` does not evaluate what it does not need.
    ['{{or .yes (index .list 99)}}', 'true'],
  ])('%s', (template, expected) => {
    expect(run(template)).toBe(expected);
  });

  test('bytes that are not UTF-8 stay what they are', () => {
    expect(goTemplate('{{base64decode .}}')('gIE=')).toBe('\udc80\udc81');
  });
});

describe('printf', () => {
  test.each([
    ['%5d|%-5d|%05d|%+d|% d', [42, 42, 42, 42, 42], '   42|42   |00042|+42| 42'],
    ['%x %X %#x %o %O %b %c %q %U', [255, 255, 255, 8, 8, 5, 65, 65, 65], "ff FF 0xff 10 0o10 101 A 'A' U+0041"],
    ['%s|%10s|%-6s|%.2s|%q|%x|% X', ['hi', 'hi', 'hi', 'hello', 'a"b\n', 'hi', 'hi'], 'hi|        hi|hi    |he|"a\\"b\\n"|6869|68 69'],
    [
      '%f|%.2f|%8.3f|%e|%g|%G|%6.1f|%-8.1f|',
      [1.5, 2.345, 3.14123, 123456.789, 1e-7, 1e21, -0.5, 0.5],
      '1.500000|2.35|   3.141|1.234568e+05|1e-07|1E+21|  -0.5|0.5     |',
    ],
    ['%t %v %T', [true, [1, 'a'], { a: 1 }], 'true [1 a] map[string]interface {}'],
    ['%#v', [{ a: [1, 'x', null], b: true }], 'map[string]interface {}{"a":[]interface {}{1, "x", interface {}(nil)}, "b":true}'],
    ['%d%%', [5], '5%'],
    ['%d', ['x'], '%!d(string=x)'],
    ['%s', [3], '%!s(int64=3)'],
    ['%d %d', [1], '1 %!d(MISSING)'],
    ['%d', [1, 'more', null], '1%!(EXTRA string=more, <nil>)'],
    ['%[2]d %[1]d', [1, 2], '2 1'],
    ['%[3]d', [1], '%!d(BADINDEX)'],
    ['%*d|%-*d|', [4, 7, 4, 7], '   7|7   |'],
    ['%.*f %.0f %.0f', [1, 2.25, 0.5, 1.5], '2.2 0 2'],
    ['%v %v %v', [1e6, 1e20, 1234567.5], '1000000 1e+20 1.2345675e+06'],
    [
      '%d %s',
      [
        [1, 2],
        ['a', 1],
      ],
      '[1 2] [a %!s(int64=1)]',
    ],
    ['%2000000d', [1], '%!(BADWIDTH)1'],
    ['%', [], '%!(NOVERB)'],
  ])('%s %j', (format, args, expected) => {
    const names = args.map((_, i) => `(index .args ${i})`).join(' ');
    expect(goTemplate(`{{printf .format ${names}}}`)({ format, args })).toBe(expected);
  });
});
describe('errors name their line', () => {
  test.each([
    ['{{.name', 'line 1: an action is not closed'],
    ['a\n{{if .x}}b', 'line 2: {{if}} has no {{end}}'],
    ['{{end}}', 'line 1: there is an {{end}} without its beginning'],
    ['{{range .x}}{{else}}{{else}}{{end}}', 'a second {{else}}'],
    ['{{foo .x}}', 'there is no function "foo"; a field is written .foo'],
    ['{{.a-b}}', 'is not a name of letters, digits and _; write (index . "a-b")'],
    ['{{$x}}', 'there is no variable $x'],
    ['{{"abc}}', 'a quoted text does not end'],
    ['{{(.a}}', 'a parenthesis is not closed'],
    ['{{.a)}}', 'there is a ) without its ('],
    ['{{}}', 'a value is missing'],
    ['{{.a | }}', 'a function is missing after |'],
    ['{{.a | .b | 3}}', 'part 3 of the pipeline is a value'],
    ['{{break}}', '{{break}} stands outside of {{range}}'],
    ['{{1+2i}}', 'complex numbers are not supported'],
    ['{{2i}}', 'complex numbers are not supported'],
    ['{{/* x }}', 'a comment is not closed'],
    ['{{define "a"}}1{{end}}{{define "a"}}2{{end}}', 'the template "a" is defined twice'],
    ['{{if .a}}{{define "a"}}1{{end}}{{end}}', '{{define}} must not stand within another block'],
    ['{{call .a}}', 'there is no function "call"'],
  ])('%s is not a template', (template, message) => {
    expect(() => goTemplate(template)).toThrow(TemplateError);
    expect(() => goTemplate(template)).toThrow(message);
  });

  test.each([
    ['\n{{.name.more}}', 'line 2: a value of type string has no field .more'],
    ['{{.none.more}}', '.more is a field of nil'],
    ['{{index .list 9}}', 'index: index out of range: 9'],
    ['{{index .missing 1}}', 'index: nil has no parts'],
    ['{{len 3}}', 'len: a value of type int64 has no length'],
    ['{{eq 1 "a"}}', 'eq: int64 cannot be compared with string'],
    ['{{eq .list .list}}', 'cannot be compared'],
    ['{{lt .none 1}}', 'lt: nil has no order'],
    ['{{range .n}}{{end}}', 'range needs a list or a map, not 3'],
    ['{{template "x"}}', 'there is no template "x"'],
    ['{{base64decode "$$"}}', 'base64decode: the text is not base64'],
    ['{{.name "x"}}', '.name is not a function and takes no arguments'],
    ['{{1 | .name}}', '.name is not a function and takes no arguments'],
    ['{{len}}', 'len needs 1 argument, not 0'],
    ['{{slice .list 2 1}}', 'slice: invalid slice index: 2 > 1'],
    ['{{nil}}', 'nil alone is not a value'],
  ])('%s fails', (template, message) => {
    expect(() => run(template)).toThrow(message);
  });

  test('a missing key may be an error', () => {
    const strict = (template: string): string => goTemplate(template, { allowMissingKeys: false })(data);
    expect(strict('{{.name}}')).toBe('web');
    expect(() => strict('{{.missing}}')).toThrow('line 1: map has no entry for key "missing"');
  });
});

describe('bounds', () => {
  const limited = (template: string, limits: object, value: unknown = data): string =>
    goTemplate(template, { allowMissingKeys: true, limits })(value);
  test('of the output', () => {
    expect(limited('{{.name}}{{.name}}', { output: 6 })).toBe('webweb');
    expect(() => limited('{{.name}}{{.name}}', { output: 5 })).toThrow('the output is longer than 5 characters');
  });
  test('of the turns of loops', () => {
    const nested = '{{range $.list}}{{range $.list}}x{{end}}{{end}}';
    expect(limited(nested, { turns: 12 })).toBe('x'.repeat(9));
    expect(() => limited(nested, { turns: 11 })).toThrow('loops have more than 11 turns');
  });
  test('of templates that call each other', () => {
    const countdown = '{{define "t"}}{{with .}}x{{template "t" .next}}{{end}}{{end}}{{template "t" .}}';
    const chain = { next: { next: {} } };
    expect(limited(countdown, { depth: 3 }, chain)).toBe('xx');
    expect(() => limited(countdown, { depth: 2 }, chain)).toThrow('more than 2 templates call each other');
    expect(() => goTemplate('{{define "t"}}{{template "t" .}}{{end}}{{template "t" .}}')(data)).toThrow('templates call each other');
  });
  test('of what stands within each other', () => {
    const ifs = (n: number): string => `${'{{if true}}'.repeat(n)}x${'{{end}}'.repeat(n)}`;
    expect(run(ifs(200))).toBe('x');
    expect(() => run(ifs(201))).toThrow('more than 200 blocks');
    const parentheses = (n: number): string => `{{${'('.repeat(n)}1${')'.repeat(n)}}}`;
    expect(run(parentheses(200))).toBe('1');
    expect(() => run(parentheses(201))).toThrow('more than 200 parentheses');
  });
});
