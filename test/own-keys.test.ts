/** The rule that `npm run check` holds: keys from outside are never looked up on plain objects (scripts/own-keys.mjs). */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are code
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { expect, test } from 'vitest';
import { dynamicKeys, offences } from '../scripts/own-keys.mjs';

const settings = JSON.stringify({ compilerOptions: { target: 'ES2023', lib: ['ES2023'], types: [], strict: true }, include: ['packages'] });
/** The code of each place that the rule finds in a function body. */
function found(...body: string[]): string[] {
  const source = [
    'type Data = Record<string, string>;',
    'declare const one: Data; declare const other: Data; declare const key: string; declare const list: string[];',
    'declare const field: "name" | "uid"; declare const label: `${string}/${string}`; declare const note: `x${string}`;',
    'export function use<K extends "a" | "b", T>(part: K, table: { [k in K]: T }, any: unknown): unknown {',
    ...body,
    '}',
  ].join('\n');
  const files = createVirtualFileSystem({ '/p/tsconfig.json': settings, '/p/packages/a.ts': source });
  return dynamicKeys('/p', files).map(({ code }) => code);
}

test('look-ups and assignments by a text that may be anything are found', () => {
  expect(found('return one[key];')).toEqual(['one[key]']);
  expect(found('return one?.[key + "x"];')).toEqual(['one?.[key + "x"]']);
  expect(found('one[key] = "1";')).toEqual(['one[key]']);
  expect(found('one[key] ??= "1";')).toEqual(['one[key]']);
  expect(found('return key in one;')).toEqual(['key in one']);
  expect(found('const { [key]: value } = one; return value;')).toEqual(['[key]: value']);
  expect(found('return Object.assign({}, one);')).toEqual(['Object.assign({}, one)']);
  expect(found('return (any as Data)[list[0] as string];')).toEqual(['(any as Data)[list[0] as string]']);
});
test('keys of one object are looked up in another', () => {
  expect(found('for (const name in one) other[name] = one[name] as string;')).toEqual(['other[name]']);
  expect(found('for (const name of Object.keys(one)) if (other[name]) return name;')).toEqual(['other[name]']);
  expect(found('return Object.entries(one).map(([name, value]) => other[value] ?? one[name]);')).toEqual(['other[value]']);
});
test('names that may be inherited are found in patterns of text', () => {
  expect(found('return one["constructor"];', 'return one[`to${key}` as const];')).toEqual([
    'one["constructor"]',
    'one[`to${key}` as const]',
  ]);
});
test('what cannot be an inherited name is fine', () => {
  expect(found('return [list[0], one.name, one["uid"], one[field], table[part], one[label], one[note]];')).toEqual([]);
  expect(
    found('return [one[`${key}/x` as const], new Map([[key, 1]]).get(key), { ...one, [key]: "1" }, Object.hasOwn(one, key)];'),
  ).toEqual([]);
  expect(found('delete one[key];', 'return Object.assign(new Error("x"), { code: "EPIPE" });')).toEqual([]);
});
test("an object's own keys are fine", () => {
  expect(found('for (const name in one) one[name] = `${one[name]}`;')).toEqual([]);
  expect(found('for (const name of Object.keys(one).sort()) if (one[name] === "") return name;')).toEqual([]);
  expect(found('return Object.keys(one).filter((name) => one[name] !== "").map((name) => (one as Data)[name]);')).toEqual([]);
});
test('a variable of the same name in between counts', () => {
  expect(found('for (const name in one) { const read = (name: string) => one[name]; return read(key); }')).toEqual(['one[name]']);
});

test('a place needs an exception, and an exception a place', () => {
  const places = [
    { file: 'src/a.ts', line: 3, code: 'one[key]' },
    { file: 'src/b.ts', line: 4, code: 'other[key]' },
  ];
  expect(offences(places, { 'src/a.ts': 'why', 'src/b.ts other[key]': 'why' })).toEqual([]);
  expect(offences(places, { 'src/a.ts one[key]': 'why' })).toEqual([expect.stringMatching(/^src\/b\.ts:4 other\[key\]: use own\(\)/)]);
  expect(offences([], { 'src/a.ts': 'why' })).toEqual([expect.stringContaining('that nothing needs any more')]);
});
