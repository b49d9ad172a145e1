import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { DiscoveryCache, MOST_SERVERS } from './discovery-cache.ts';

const HOUR = 3_600_000;
const server = 'https://127.0.0.1:6443';
const newDirectory = (): string => join(temporaryDirectory('plat-discovery'), 'cache');
const open = (directory: string, clock = new FakeClock(), ca = 'CA', at = server): DiscoveryCache =>
  new DiscoveryCache(directory, at, ca, clock);
function stored(directory: string, clock = new FakeClock()): string {
  const cache = open(directory, clock);
  cache.set('/api/v1', ['pods']);
  cache.save();
  return join(directory, readdirSync(directory)[0] as string);
}

test('documents count for six hours', async () => {
  const clock = new FakeClock();
  const directory = newDirectory();
  stored(directory, clock);
  await clock.advance(6 * HOUR - 1);
  expect(open(directory, clock).get('/api/v1')).toEqual(['pods']);
  await clock.advance(1);
  expect(open(directory, clock).get('/api/v1')).toBeUndefined();
});

test('the clock may have been set back: a document of the future is not used', () => {
  const directory = newDirectory();
  stored(directory, new FakeClock(10 * HOUR));
  expect(open(directory, new FakeClock(9 * HOUR)).get('/api/v1')).toBeUndefined();
});

test('the files are private, and one server has one', () => {
  const directory = newDirectory();
  const file = stored(directory);
  expect(file).toMatch(/127\.0\.0\.1_6443-[0-9a-f]{8}\.json$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(open(directory, new FakeClock(), 'ANOTHER CA').get('/api/v1')).toBeUndefined();
  expect(open(directory, new FakeClock(), 'CA', 'https://127.0.0.1:7443').get('/api/v1')).toBeUndefined();
});

test('a file that is damaged, of another form or writable by others is ignored', () => {
  const directory = newDirectory();
  const file = stored(directory);
  const good = readFileSync(file, 'utf8');
  const damaged = ['', good.slice(0, 20), '[]', '{}', good.replace('"format":1', '"format":0'), good.replace('6443', '6444'), 'null'];
  for (const text of [...damaged, good.replace(/"at":\d+/, '"at":"x"')]) {
    writeFileSync(file, text);
    expect(open(directory).get('/api/v1'), text).toBeUndefined();
  }
  writeFileSync(file, good);
  expect(open(directory).get('/api/v1')).toEqual(['pods']);
  chmodSync(file, 0o666);
  expect(open(directory).get('/api/v1')).toBeUndefined();
});

test('names that objects have by themselves are not in it', () => {
  const directory = newDirectory();
  stored(directory);
  expect(open(directory).get('constructor')).toBeUndefined();
  expect(open(directory).get('__proto__')).toBeUndefined();
});

test('nothing is written unless something was learned, and no failure stops a command', () => {
  const directory = newDirectory();
  open(directory).save();
  expect(() => readdirSync(directory)).toThrow();
  const blocked = temporaryDirectory('plat-discovery');
  writeFileSync(join(blocked, 'cache'), '');
  const cache = open(join(blocked, 'cache'));
  cache.set('/api/v1', ['pods']);
  expect(() => cache.save()).not.toThrow();
});

test('what is forgotten is forgotten on disk', () => {
  const directory = newDirectory();
  stored(directory);
  const cache = open(directory);
  cache.get('/api/v1');
  cache.clear();
  cache.save();
  expect(open(directory).get('/api/v1')).toBeUndefined();
});

test('the oldest of too many files are removed', () => {
  const directory = newDirectory();
  mkdirSync(directory, { recursive: true });
  for (let i = 0; i < MOST_SERVERS; i++) {
    writeFileSync(join(directory, `old-${i}.json`), '');
    utimesSync(join(directory, `old-${i}.json`), 1000 + i, 1000 + i);
  }
  stored(directory);
  const left = readdirSync(directory);
  expect(left).toHaveLength(MOST_SERVERS);
  expect(left).not.toContain('old-0.json');
  expect(left).toContain('old-1.json');
});
