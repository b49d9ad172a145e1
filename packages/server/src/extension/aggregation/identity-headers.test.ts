import { expect, test } from 'vitest';
import { identityHeaders } from './identity-headers.ts';

test('a user, the groups and extra facts, one header each', () => {
  expect(identityHeaders({ name: 'ann', groups: ['a', 'b'], extra: { scope: ['x', 'y'], none: [] } })).toEqual([
    'X-Remote-User',
    'ann',
    'X-Remote-Group',
    'a',
    'X-Remote-Group',
    'b',
    'X-Remote-Extra-scope',
    'x',
    'X-Remote-Extra-scope',
    'y',
  ]);
});

test('keys that are no names of headers are escaped, texts go as UTF-8', () => {
  const headers = identityHeaders({ name: 'ü', groups: [], extra: { 'example.com/a b%': ['é'] } });
  expect(headers.map((text) => Buffer.from(text, 'latin1').toString())).toEqual([
    'X-Remote-User',
    'ü',
    'X-Remote-Extra-example.com%2Fa%20b%25',
    'é',
  ]);
});

test.each(['a\r\nX-Remote-Group: system:masters', 'a\0', 'a\nb'])('a name that would be more than a name is refused: %j', (name) => {
  expect(() => identityHeaders({ name, groups: [] })).toThrow('control characters');
  expect(() => identityHeaders({ name: 'a', groups: [name] })).toThrow('control characters');
  expect(() => identityHeaders({ name: 'a', groups: [], extra: { key: [name] } })).toThrow('control characters');
});
