import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FakeClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { temporaryDirectory } from '../testing/temporary.testing.ts';
import { FileReloader } from './reload.ts';

const directory = temporaryDirectory('plat-reload');
const path = (name: string): string => join(directory, name);

test('a change counts when all files of a group fit together, and is reported once', async () => {
  const lines: string[] = [];
  const log = { ...silentLog, info: (text: string) => void lines.push(text), error: (text: string) => void lines.push(text) };
  const files = new FileReloader(new FakeClock(), log);
  writeFileSync(path('a'), '1');
  writeFileSync(path('b'), '1');
  const sum = files.follow([path('a'), path('b')], ([a, b]) => {
    if (a !== b) throw new Error(`${a} does not fit ${b}`);
    return Number(a);
  });
  const seen: number[] = [];
  sum.onChange((value) => seen.push(value));
  await files.look();
  writeFileSync(path('a'), '22');
  await files.look();
  await files.look();
  expect(sum.current).toBe(1);
  expect(lines).toEqual(['cannot reload files, keeping the previous content']);
  // Replaced by another file, as mounted secrets are.
  writeFileSync(path('b.new'), '22');
  renameSync(path('b.new'), path('b'));
  await files.look();
  expect([sum.current, seen]).toEqual([22, [22]]);
  rmSync(path('b'));
  await files.look();
  expect(sum.current).toBe(22);
  writeFileSync(path('b'), '22');
  await files.look();
  expect(seen).toEqual([22]);
  files.close();
});

test('files that cannot be read at the start are an error that names them', () => {
  const files = new FileReloader(new FakeClock(), silentLog);
  expect(() => files.follow([path('missing')], () => 0)).toThrow(/there is no file or directory .*missing/);
  files.close();
});

test('files are looked at once there are any, and an end leaves no timer', () => {
  const clock = new FakeClock();
  const files = new FileReloader(clock, silentLog);
  expect(clock.pending).toBe(0);
  writeFileSync(path('c'), '1');
  files.follow([path('c')], () => 1);
  files.follow([path('c')], () => 2);
  expect(clock.pending).toBe(1);
  files.close();
  expect(clock.pending).toBe(0);
});
