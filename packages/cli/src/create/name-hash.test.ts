import { expect, test } from 'vitest';
import { configMapHash, escapedJson, secretHash } from './name-hash.ts';

// Values that the stock client's own tests expect.
test.each([
  [{ data: {} }, '42745tchd9'],
  [{ data: { one: '' } }, '9g67k2htb6'],
  [{ data: { two: '2', one: '', three: '3' } }, 'f5h7t85m9b'],
  [{ binaryData: {} }, 'dk855m5d49'],
  [{ binaryData: { one: '' } }, 'mk79584b8c'],
  [{ binaryData: { two: 'Mg==', one: '', three: 'Mw==' } }, 't458mc6db2'],
  [{ data: { one: '' }, binaryData: { two: '' } }, '698h7c7t9m'],
])('a ConfigMap with %j has hash %s', (content, hash) => {
  expect(configMapHash({ name: '', ...content })).toBe(hash);
});

test.each([
  [{}, 't75bgf6ctb'],
  [{ one: '' }, '74bd68bm66'],
  [{ two: 'Mg==', one: '', three: 'Mw==' }, 'dgcb6h9tmk'],
])('a Secret with %j has hash %s', (data, hash) => {
  expect(secretHash({ name: '', type: 'my-type', data })).toBe(hash);
});

// As kubectl create configmap x --from-literal=10=a --from-literal=9=b --append-hash prints it.
test('keys that look like numbers are in the order of text', () => {
  expect(configMapHash({ name: 'x', data: { 9: 'b', 10: 'a' } })).toBe('6d495t7t97');
});

test('characters that Go escapes', () => {
  expect(escapedJson({ a: '<&>\u2028\b\f\n\\b' })).toBe('{"a":"\\u003c\\u0026\\u003e\\u2028\\u0008\\u000c\\n\\\\b"}');
});
