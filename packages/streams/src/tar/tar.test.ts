import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { BLOCK, type Entry, paddingOf, RECORD } from './entry.ts';
import { MAX_EXTENDED, TarError, TarReader } from './read.ts';
import { endingOf, headerOf } from './write.ts';

type Found = Pick<Entry, 'kind' | 'name' | 'target'> & { content: string; ended: boolean };
function readAll(archive: Buffer, piece = archive.length): Found[] {
  const found: Found[] = [];
  const reader = new TarReader(({ kind, name, target }) => {
    const one: Found = { kind, name, target, content: '', ended: false };
    found.push(one);
    return {
      write: (bytes) => {
        one.content += bytes.toString('latin1');
      },
      end: () => {
        one.ended = true;
      },
    };
  });
  for (let at = 0; at < archive.length; at += piece) reader.push(archive.subarray(at, at + piece));
  reader.end();
  return found;
}
const owner = { uid: 0, gid: 0, mtime: 1_700_000_000 };
function archiveOf(
  ...entries: readonly { name: string; content?: string; kind?: Entry['kind']; target?: string; mode?: number }[]
): Buffer {
  const parts = entries.map(({ name, content = '', kind = 'file', target = '', mode = 0o644 }) => {
    const bytes = Buffer.from(content);
    const header = headerOf({ ...owner, name, kind, target, mode, size: bytes.length });
    return Buffer.concat([header, bytes, Buffer.alloc(paddingOf(bytes.length))]);
  });
  const whole = Buffer.concat(parts);
  return Buffer.concat([whole, endingOf(whole.length)]);
}
const long = `${'deep/'.repeat(40)}with-ünïcode.txt`;

test('what is written is read, in pieces of any size', () => {
  const archive = archiveOf(
    { name: 'a.txt', content: 'hello' },
    { name: long, content: 'x'.repeat(1500) },
    { name: 'empty', kind: 'directory' },
    { name: 'link', kind: 'symlink', target: `../${long}` },
  );
  expect(archive.length % RECORD).toBe(0);
  const whole = readAll(archive);
  expect(whole).toEqual([
    { kind: 'file', name: 'a.txt', target: '', content: 'hello', ended: true },
    { kind: 'file', name: long, target: '', content: 'x'.repeat(1500), ended: true },
    { kind: 'directory', name: 'empty/', target: '', content: '', ended: true },
    { kind: 'symlink', name: 'link', target: `../${long}`, content: '', ended: true },
  ]);
  for (const piece of [1, 7, 511, 512, 513]) expect(readAll(archive, piece)).toEqual(whole);
});

test('archives of the tar program are read, and it reads ours', () => {
  const directory = temporaryDirectory('plat-tar');
  const from = join(directory, 'from');
  mkdirSync(join(from, 'deep/'.repeat(30)), { recursive: true });
  writeFileSync(join(from, 'a'), 'one');
  writeFileSync(join(from, 'deep/'.repeat(30), 'n'.repeat(120)), 'two');
  symlinkSync('a', join(from, 'l'));
  for (const format of ['gnu', 'pax', 'ustar']) {
    // Names that do not fit into the oldest form are left out there.
    const names = format === 'ustar' ? ['from/a', 'from/l'] : ['from'];
    const archive = execFileSync('tar', ['-C', directory, `--format=${format}`, '-cf', '-', ...names]);
    const files = readAll(archive).filter(({ kind }) => kind !== 'directory');
    expect(files.find(({ name }) => name === 'from/a')).toMatchObject({ kind: 'file', content: 'one' });
    expect(files.find(({ name }) => name === 'from/l')).toMatchObject({ kind: 'symlink', target: 'a' });
    if (format !== 'ustar') expect(files.find(({ content }) => content === 'two')?.name).toMatch(/^from\/(deep\/){30}n{120}$/);
  }
  const ours = archiveOf(
    { name: 'a', content: 'three', mode: 0o755 },
    { name: long, content: 'four' },
    { name: 'l', kind: 'symlink', target: 'a' },
  );
  const to = join(directory, 'to');
  mkdirSync(to);
  execFileSync('tar', ['-C', to, '-xmf', '-'], { input: ours });
  expect(readFileSync(join(to, 'a'), 'utf8')).toBe('three');
  expect(readFileSync(join(to, long), 'utf8')).toBe('four');
  expect(readlinkSync(join(to, 'l'))).toBe('a');
});

test('sizes and owners that do not fit into octal digits are kept', () => {
  const header = headerOf({ name: 'big', kind: 'file', size: 8 ** 11, mode: 0o600, target: '', uid: 8 ** 7, gid: 3, mtime: 0 });
  let size = 0;
  new TarReader((entry) => {
    size = entry.size;
    return undefined;
  }).push(header);
  expect(size).toBe(8 ** 11);
});

test('damaged and incomplete archives are refused', () => {
  const archive = archiveOf({ name: 'a', content: 'x'.repeat(600) });
  const damaged = Buffer.from(archive);
  damaged[3] = 1;
  expect(() => readAll(damaged)).toThrow(TarError);
  expect(() => readAll(archive.subarray(0, BLOCK + 600))).toThrow('ends within an entry');
  expect(() => readAll(archive.subarray(0, BLOCK / 2))).toThrow('ends within an entry');
  expect(readAll(archive.subarray(0, 3 * BLOCK))).toHaveLength(1);
});

test('an extended header is at most so long', () => {
  const header = (size: number): Buffer => {
    const made = headerOf({ ...owner, name: 'h', kind: 'file', size, mode: 0o644, target: '' });
    // The type of an extended header, and the sum of the bytes with it.
    made[156] = 'x'.charCodeAt(0);
    const sum = made.reduce((all, byte, i) => all + (i >= 148 && i < 156 ? 32 : byte), 0);
    made.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return made;
  };
  const reader = (): TarReader => new TarReader(() => undefined);
  expect(() => reader().push(header(MAX_EXTENDED))).not.toThrow();
  expect(() => reader().push(header(MAX_EXTENDED + 1))).toThrow('more than');
});
