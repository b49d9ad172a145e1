import { expect, test } from 'vitest';
import { archivePrefix, readPlace, readPlaces } from './places.ts';

test('a place is local, or a path in a pod', () => {
  expect(readPlace('./a/b')).toEqual({ pod: '', namespace: undefined, path: './a/b' });
  expect(readPlace('web:/tmp/x')).toEqual({ pod: 'web', namespace: undefined, path: '/tmp/x' });
  expect(readPlace('team/web:x:y')).toEqual({ pod: 'web', namespace: 'team', path: 'x:y' });
  for (const wrong of [':x', 'a/b/c:x', '/web:x', 'team/:x']) expect(() => readPlace(wrong), wrong).toThrow('canonical format');
});

test('exactly one end is in a pod', () => {
  expect(readPlaces(['a', 'web:b']).to.pod).toBe('web');
  expect(() => readPlaces(['a', 'b'])).toThrow('must be a remote file specification. For example: plat cp notes.txt web:/tmp/notes.txt');
  expect(() => readPlaces(['x:a', 'y:b'])).toThrow('must be a local file specification. For example: plat cp');
  expect(() => readPlaces(['x:', 'b'])).toThrow('can not be empty');
  expect(() => readPlaces(['a'])).toThrow('source and destination');
});

test('names in an archive begin without roots and steps', () => {
  expect(['/tmp/a', 'tmp/a/', '/a/../b/c', '../../x', '.', '/', './a'].map(archivePrefix)).toEqual([
    'tmp/a',
    'tmp/a',
    'b/c',
    'x',
    '',
    '',
    'a',
  ]);
});
