import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import { expect, test } from 'vitest';
import { partOf } from './spec.ts';

const documentOf = (definitions: number): Buffer => {
  const reference = (i: number) => ({ $ref: `#/definitions/D${i}` });
  const definition = (i: number) => ({ description: 'x'.repeat(200), properties: { next: reference(i + 1) } });
  return Buffer.from(
    jsonText({
      swagger: '2.0',
      paths: { '/apis/a/v1/things': { get: { schema: reference(0) } }, '/apis/b/v1/others': { get: { schema: reference(definitions) } } },
      definitions: {
        ...Object.fromEntries(Array.from({ length: definitions }, (_, i) => [`D${i}`, definition(i)])),
        [`D${definitions}`]: {},
        other: {},
      },
    }),
  );
};

test('the part of a group version of a large document is made in steps, and holds what its paths refer to', () => {
  const work = partOf(documentOf(3_000), 'a', 'v1');
  let steps = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) steps++;
  expect(steps).toBeGreaterThan(3_000);
  expect(Object.keys(step.value.paths)).toEqual(['/apis/a/v1/things']);
  expect(Object.keys(step.value.definitions)).toHaveLength(3_001);
});

test('the references of one large definition are found in steps', () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`p${i}`, { $ref: '#/definitions/D' }]));
  const paths = { '/apis/a/v1/things': { get: { schema: { properties } } } };
  const text = Buffer.from(jsonText({ swagger: '2.0', paths, definitions: { D: {} } }));
  const parsing = [...parsedExact(text)].length;
  expect([...partOf(text, 'a', 'v1')].length).toBeGreaterThanOrEqual(parsing + 20);
});

test('parameters that a document shares are put where they are used, as long as that does not make it large', () => {
  const parameter = { name: 'pretty', in: 'query', type: 'string', description: 'x'.repeat(1000) };
  const documentWith = (operations: number, name = 'pretty-1') =>
    Buffer.from(
      jsonText({
        swagger: '2.0',
        paths: Object.fromEntries(
          Array.from({ length: operations }, (_, i) => [`/apis/a/v1/p${i}`, { get: { parameters: [{ $ref: `#/parameters/${name}` }] } }]),
        ),
        parameters: { 'pretty-1': parameter },
      }),
    );
  const part = atOnce(partOf(documentWith(2), 'a', 'v1'));
  expect(part.paths).toEqual({
    '/apis/a/v1/p0': { get: { parameters: [parameter] } },
    '/apis/a/v1/p1': { get: { parameters: [parameter] } },
  });
  expect(() => atOnce(partOf(documentWith(2, 'other'), 'a', 'v1'))).toThrow('the parameter "other" is missing');
  expect(() => atOnce(partOf(documentWith(9_000), 'a', 'v1'))).toThrow('too large');
});
