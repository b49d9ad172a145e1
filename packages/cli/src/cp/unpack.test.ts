import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import type { EntryKind } from '@plat-dev/streams/tar/entry';
import { expect, test } from 'vitest';
import { Unpacker } from './unpack.ts';

function unpacking(prefix: string, place = 'out') {
  const directory = temporaryDirectory('plat-unpack');
  const warnings: string[] = [];
  const target = join(directory, place);
  const unpacker = new Unpacker({ prefix, target, base: prefix, warn: (line) => warnings.push(line) });
  const put = (name: string, content = '', kind: EntryKind = 'file', to = ''): void => {
    const sink = unpacker.open({ kind, name, size: content.length, mode: 0o644, target: to });
    sink?.write(Buffer.from(content));
    sink?.end();
  };
  const read = (...path: string[]): string => readFileSync(join(directory, ...path), 'utf8');
  return { directory, target, warnings, unpacker, put, read };
}

test('a directory has its content below the target', () => {
  const { put, read, unpacker, warnings, target } = unpacking('var/log');
  put('var/log/', '', 'directory');
  put('var/log/a', 'one');
  put('var/log/deep/er/b', 'two');
  put('var/log/none/', '', 'directory');
  expect([read('out', 'a'), read('out', 'deep', 'er', 'b'), existsSync(join(target, 'none'))]).toEqual(['one', 'two', true]);
  expect(warnings).toEqual([]);
  expect(unpacker.count).toBe(4);
});

test('a file gets the name of the target, or its own in a directory', () => {
  const file = unpacking('etc/hosts', 'new/hosts');
  file.put('etc/hosts', 'one');
  expect(file.read('new', 'hosts')).toBe('one');
  const into = unpacking('etc/hosts');
  mkdirSync(into.target);
  into.put('etc/hosts', 'two');
  expect(into.read('out', 'hosts')).toBe('two');
});

test('nothing is written outside of the target', () => {
  const { put, warnings, directory, unpacker } = unpacking('a');
  for (const name of ['a/../../evil', 'a/x/../../../evil', 'a/..']) put(name, 'bad');
  expect(warnings).toHaveLength(3);
  expect(warnings[0]).toContain('outside target destination');
  expect(existsSync(join(directory, 'evil'))).toBe(false);
  expect(unpacker.count).toBe(0);
  for (const name of ['b/x', 'ab', '/etc/passwd']) expect(() => put(name, 'bad'), name).toThrow('corrupted');
});

test('links are skipped, those of the archive and those that are there', () => {
  const { put, warnings, directory, target } = unpacking('a');
  put('a/l', '', 'symlink', '/etc');
  put('a/h', '', 'link', 'a/x');
  put('a/device', '', 'other');
  mkdirSync(join(directory, 'elsewhere'));
  mkdirSync(target, { recursive: true });
  symlinkSync(join(directory, 'elsewhere'), join(target, 'way'));
  symlinkSync(join(directory, 'victim'), join(target, 'file'));
  put('a/way/x', 'bad');
  put('a/file', 'bad');
  expect(warnings.map((line) => line.split(' ')[0])).toEqual(Array(5).fill('skipping'));
  expect([existsSync(join(directory, 'elsewhere', 'x')), existsSync(join(directory, 'victim'))]).toEqual([false, false]);
});
