import { expect, test } from 'vitest';
import { requestHead } from './head.ts';

test('a head is the line of the request and its headers', () => {
  expect(requestHead('POST', '/a?b=c', { host: 'x:1', accept: 'y' })).toBe('POST /a?b=c HTTP/1.1\r\nhost: x:1\r\naccept: y\r\n');
});

test.each([
  ['/a b', {}],
  ['a', {}],
  ['/a\r\nx: y', {}],
  ['/ü', {}],
  ['/a', { authorization: 'Bearer a\r\nx: y' }],
  ['/a', { authorization: 'Bearer a\0' }],
  ['/a', { authorization: 'Bearer ✓' }],
])('nothing leaves its place: %j %j', (path, headers) => {
  expect(() => requestHead('POST', path, headers)).toThrow('characters that cannot be sent');
});
