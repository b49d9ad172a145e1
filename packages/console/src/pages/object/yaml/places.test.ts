import { expect, test } from 'vitest';
import { fieldsOfMessage, fieldText, parseField } from './field-path.ts';
import { parseText, rangeOf, withoutField } from './places.ts';

const text = `metadata:
  labels:
    a.b/c: "1"
  managedFields:
  - manager: x
    fieldsV1:
      f:spec: {}
  name: web
spec:
  containers:
  - name: web
    image: web:1
  - image: "b"
    name: other
`;
const marked = (field: string): string => {
  const { root } = parseText(text);
  const { from, to } = rangeOf(root!, parseField(field));
  return text.slice(from, to);
};

test.each([
  ['spec.containers[0].image', ['spec', 'containers', 0, 'image']],
  ['metadata.labels[a.b/c]', ['metadata', 'labels', 'a.b/c']],
  ['data["x"]', ['data', 'x']],
  ['spec', ['spec']],
  ['', []],
])('%s is a path', (field, path) => {
  expect(parseField(field)).toEqual(path);
});

test('a path is written as the server writes it', () => {
  expect(fieldText(['spec', 'containers', 0, 'image'])).toBe('spec.containers[0].image');
  expect(fieldText(['metadata', 'labels', 'a.b/c'])).toBe('metadata.labels[a.b/c]');
});

test('messages of strict decoding name fields', () => {
  expect(
    fieldsOfMessage('strict decoding error: unknown field "spec.foo", duplicate field "spec.containers[0].name"').map(({ path }) => path),
  ).toEqual([
    ['spec', 'foo'],
    ['spec', 'containers', 0, 'name'],
  ]);
});

test.each([
  ['spec.containers[1].image', 'image'],
  ['metadata.labels[a.b/c]', 'a.b/c'],
  ['spec.containers[0]', 'name'],
  ['spec.containers[7].image', 'containers'],
  ['spec.nothing.here', 'spec'],
])('%s is marked at %s', (field, key) => {
  expect(marked(field)).toBe(key);
});

test('a field is cut out with its lines', () => {
  const cut = withoutField(text, ['metadata', 'managedFields']);
  expect(cut).toBe(text.replace(/ {2}managedFields:\n(.*\n){3}/, ''));
  expect(parseText(cut).value).toMatchObject({ metadata: { name: 'web' }, spec: {} });
  expect(withoutField(text, ['spec', 'absent'])).toBe(text);
  expect(withoutField(text, ['spec'])).toBe(text.slice(0, text.indexOf('spec:\n  containers')));
  expect(withoutField('a: 1\nb: 2', ['b'])).toBe('a: 1\n');
});

test('a wrong text says where', () => {
  expect(parseText('a: [1\nb: 2\n').error?.message).toContain('yaml');
  expect(parseText('').root).toBeUndefined();
});
