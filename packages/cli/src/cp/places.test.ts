import { expect, test } from 'vitest';
import { archivePrefix, readPlace, readPlaces } from './places.ts';

test('a place is local, or a path in a pod', () => {
  expect(readPlace('./a/b', 'linux')).toEqual({ pod: '', namespace: undefined, path: './a/b' });
  expect(readPlace('web:/tmp/x', 'linux')).toEqual({ pod: 'web', namespace: undefined, path: '/tmp/x' });
  expect(readPlace('team/web:x:y', 'linux')).toEqual({ pod: 'web', namespace: 'team', path: 'x:y' });
  for (const wrong of [':x', 'a/b/c:x', '/web:x', 'team/:x']) expect(() => readPlace(wrong, 'linux'), wrong).toThrow('canonical format');
});

test('exactly one end is in a pod', () => {
  expect(readPlaces(['a', 'web:b'], 'linux').to.pod).toBe('web');
  expect(() => readPlaces(['a', 'b'], 'linux')).toThrow(
    'must be a remote file specification. For example: plat cp notes.txt web:/tmp/notes.txt',
  );
  expect(() => readPlaces(['x:a', 'y:b'], 'linux')).toThrow('must be a local file specification. For example: plat cp');
  expect(() => readPlaces(['x:', 'b'], 'linux')).toThrow('can not be empty');
  expect(() => readPlaces(['a'], 'linux')).toThrow('source and destination');
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

test('the letter of a drive is no pod on Windows', () => {
  expect(readPlace('C:\\logs', 'win32')).toEqual({ pod: '', namespace: undefined, path: 'C:\\logs' });
  expect(readPlace('c:/logs', 'win32').pod).toBe('');
  expect([readPlace('c:/logs', 'linux').pod, readPlace('web:/logs', 'win32').pod]).toEqual(['c', 'web']);
});
