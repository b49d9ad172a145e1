import { jsonText } from '@plat-dev/lib/json-text';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { parseExact } from '../json/parse.ts';
import type { JsonValue } from '../types.ts';
import { editYaml } from './edit.ts';
import { parseYamlDocuments, stringifyYaml } from './index.ts';
import { MAX_MOVED, removedPlaces } from './moved-values.ts';
import { placedDocuments, type YamlNode } from './places.ts';

/** The text with its first document changed. */
function edited(text: string, change: (value: never) => void): string {
  const values = parseYamlDocuments(text);
  change(values[0] as never);
  const { text: out, rewritten } = editYaml(text, values);
  expect(rewritten).toEqual([]);
  expect(parseYamlDocuments(out)).toEqual(values);
  return out;
}
type Loose = Record<string, never>;

test('a scalar changes and keeps its quotes, comments and line', () => {
  const text = '# head\napiVersion: "a/v1" # old\nkind: \'X\'\n\n---\n# second\na: [1,  2]\n';
  expect(edited(text, (o: Loose) => Object.assign(o, { apiVersion: 'b/v1', kind: 'Y' }))).toBe(
    '# head\napiVersion: "b/v1" # old\nkind: \'Y\'\n\n---\n# second\na: [1,  2]\n',
  );
});

test('a key is renamed with what stands under it', () => {
  const text = 'spec:\n  backend: # the shop\n    # by name\n    serviceName: web # one\n    servicePort: 80\n  rules: []\n';
  const out = edited(text, (o: Loose) => {
    Object.assign(o, { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } }, rules: [] } });
  });
  expect(out).toBe(
    'spec:\n  defaultBackend: # the shop\n    # by name\n    # one\n    service:\n      name: web\n      port:\n        number: 80\n  rules: []\n',
  );
});

test('new keys come before the key that follows them, and comments stay with theirs', () => {
  const text = 'spec:\n  replicas: 1 # one\n  # what runs\n  template:\n    a: b # last\nstatus: {}\n';
  const out = edited(text, (o: Loose) => {
    Object.assign(o, { spec: { replicas: 1, selector: { x: ['z'] }, template: { a: 'b', c: 'd' }, more: 1 } });
  });
  expect(out).toBe(
    'spec:\n  replicas: 1 # one\n  selector:\n    x:\n    - z\n  # what runs\n  template:\n    a: b # last\n    c: d\n  more: 1\nstatus: {}\n',
  );
});

test('comments of what goes stay where it was', () => {
  const text = 'a:\n- b: 1 # first\n  c: # second\n    # third\n    d: 2 # fourth\n  # fifth\n  e: 3\nf: 4\n';
  expect(edited(text, (o: Loose) => Object.assign(o, { a: [{ e: 3 }] }))).toBe(
    'a:\n- # first\n  # second\n  # third\n  # fourth\n  # fifth\n  e: 3\nf: 4\n',
  );
});

test('what is moved takes its comments along', () => {
  const text = 'spec:\n  validation:\n    # the schema\n    schema:\n      type: object # always\n  versions:\n  - name: v1\n';
  const out = edited(text, (o: Loose) =>
    Object.assign(o, { spec: { versions: [{ name: 'v1', schema: { schema: { type: 'object' } } }] } }),
  );
  expect(out).toBe('spec:\n  # the schema\n  versions:\n  - name: v1\n    schema:\n      schema:\n        type: object # always\n');
});

test('of very many values that are moved some take their comments along, and all are right', () => {
  for (const count of [MAX_MOVED - 1, MAX_MOVED, 3 * MAX_MOVED]) {
    const names = Array.from({ length: count }, (_, i) => `k${i}`);
    const text = `old:\n${names.map((name) => `  ${name}:\n    v: ${name} # of ${name}\n`).join('')}`;
    const value = { list: names.map((name) => ({ v: name })) };
    const [document] = placedDocuments(text);
    // One of those that are looked at is the old map itself.
    expect(removedPlaces(document?.place as YamlNode, value)).toHaveLength(MAX_MOVED - 1);
    const { text: out } = editYaml(text, [value]);
    expect(parseYamlDocuments(out)).toEqual([value]);
    expect(out).toContain(`- v: k${MAX_MOVED - 2} # of k${MAX_MOVED - 2}\n`);
  }
});

test('a collection takes the place of nothing, and nothing that of a collection', () => {
  expect(edited('a:\nb: 1\n', (o: Loose) => Object.assign(o, { a: { c: [1] } }))).toBe('a:\n  c:\n  - 1\nb: 1\n');
  expect(edited('a: x\n', (o: Loose) => Object.assign(o, { a: [1] }))).toContain('\n  - 1');
  expect(edited('a:\n  c: 1\nb: 1\n', (o: Loose) => Object.assign(o, { a: {} }))).toBe('a:\n  {}\nb: 1\n');
});

test('JSON stays JSON with its indentation', () => {
  const text = `${JSON.stringify({ kind: 'X', spec: { backend: { a: 1 }, keep: [1, 2] } }, undefined, 4)}\n`;
  const out = edited(text, (o: Loose) => {
    Object.assign(o, { spec: { defaultBackend: { b: { c: 1 } }, keep: [1, 2], last: true } });
  });
  expect(out).toBe(`${JSON.stringify({ kind: 'X', spec: { defaultBackend: { b: { c: 1 } }, keep: [1, 2], last: true } }, undefined, 4)}\n`);
  expect(edited('{"a": {}, "b": 1}', (o: Loose) => Object.assign(o, { a: { x: 'y' } }))).toBe('{"a": {"x":"y"}, "b": 1}');
  expect(edited('a: {b: 1, c: 2}\n', (o: Loose) => Object.assign(o, { a: { c: 2, d: 3 } }))).toBe('a: {c: 2, d: 3}\n');
});

test('CRLF line ends and a byte order mark stay', () => {
  const text = '\ufeffa: 1\r\nb:\r\n  c: 2 # two\r\n';
  expect(edited(text, (o: Loose) => Object.assign(o, { b: { c: 3, d: 4 } }))).toBe('\ufeffa: 1\r\nb:\r\n  c: 3 # two\r\n  d: 4\r\n');
});

test('a document whose aliases would change is written anew, and the others stay', () => {
  const text = 'a: &x\n  b: 1\nc: *x\n---\n# kept\nd: 1\n';
  const { text: out, rewritten } = editYaml(text, [{ a: { b: 2 }, c: { b: 1 } }, { d: 1 }]);
  expect(rewritten).toEqual([0]);
  expect(parseYamlDocuments(out)).toEqual([{ a: { b: 2 }, c: { b: 1 } }, { d: 1 }]);
  expect(out).toContain('# kept\nd: 1\n');
});

test('keys of a merge stay in the merge', () => {
  const text = 'base: &x {a: 1}\nuse:\n  <<: *x\n  b: 2\n';
  expect(edited(text, (o: Loose) => Object.assign(o, { use: { a: 1, b: 3 } }))).toBe('base: &x {a: 1}\nuse:\n  <<: *x\n  b: 3\n');
});

test('empty documents and markers stay', () => {
  const text = '---\n# nothing\n---\na: 1\n...\n---\nb: 2\n';
  const values = parseYamlDocuments(text);
  expect(editYaml(text, values).text).toBe(text);
  const changed = values.map((value) => (value !== null && (value as Loose).b === 2 ? { b: 3 } : value)) as JsonValue[];
  expect(editYaml(text, changed).text).toBe('---\n# nothing\n---\na: 1\n...\n---\nb: 3\n');
});

test('whatever a text becomes, it has the new values', () => {
  const values = fc.jsonValue({ maxDepth: 2 }).map((value) => parseExact(jsonText(value)) as JsonValue);
  const maps = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e f'), values, { minKeys: 1 }).map((map) => ({ ...map }));
  fc.assert(
    fc.property(maps, maps, fc.boolean(), (before, after, isJson) => {
      const text = isJson ? `${jsonText(before, 2)}\n` : `# head\n${stringifyYaml(before)}# tail\n`;
      const { text: out } = editYaml(text, [after]);
      expect(parseYamlDocuments(out)).toEqual([after]);
      if (!isJson) expect(out.startsWith('# head\n')).toBe(true);
    }),
    { numRuns: rounds(100) },
  );
});
