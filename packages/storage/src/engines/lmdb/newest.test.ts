/** Newest versions before and after all keys of a file are read. */
import { expect, test } from 'vitest';
import type { PendingChange } from './change.ts';
import type { Version } from './format.ts';
import { NewestVersions } from './newest.ts';
import type { Reader } from './reader.ts';

const version = (revision: number, deleted = false): Version => ({ revision, index: 0, created: revision, deleted, expires: 0 });

/** A file with these keys, and the versions of a store on it. */
function fixture(keys: Record<string, Version>, atOnce = false) {
  const reads: string[] = [];
  const reader = {
    newestVersion(name: string) {
      reads.push(name);
      return keys[name];
    },
    *newestVersions(after = '') {
      for (const name of Object.keys(keys).sort()) if (name > after) yield [name, keys[name]];
    },
  } as unknown as Reader;
  const newest = new NewestVersions(reader, atOnce, (error) => new Error(`read failed: ${error}`));
  return { newest, reads, fill: () => newest.fill(() => false) };
}
const change = (key: string, previous: Version | undefined): PendingChange =>
  ({ change: { key }, previous, version: version(9) }) as unknown as PendingChange;

test('keys are looked up in the file until all are read', async () => {
  const { newest, reads, fill } = fixture({ a: version(1), b: version(2), gone: version(3, true) });
  expect(newest.isComplete).toBe(false);
  expect([newest.of('a'), newest.of('a'), newest.of('none'), newest.of('gone')]).toEqual([version(1), version(1), undefined, undefined]);
  expect(reads).toEqual(['a', 'none', 'gone']);
  await fill();
  expect(newest.isComplete).toBe(true);
  expect([newest.of('a'), newest.of('b'), newest.of('none'), newest.of('gone')]).toEqual([version(1), version(2), undefined, undefined]);
  expect(reads).toEqual(['a', 'none', 'gone']);
});

test('a store that was not closed cleanly has all keys from the start', () => {
  const { newest, reads } = fixture({ a: version(1) }, true);
  expect([newest.isComplete, newest.of('a'), newest.of('none'), reads]).toEqual([true, version(1), undefined, []]);
});

test('what was written meanwhile is newer than the file', async () => {
  const { newest, fill } = fixture({ a: version(1) });
  newest.set('a', version(5));
  await fill();
  expect(newest.of('a')).toEqual(version(5));
});

test('a key whose deletion is in the journal alone does not come back from the file', async () => {
  const { newest, fill } = fixture({ a: version(1), b: version(2), c: version(3) });
  const gone = version(5, true);
  for (const key of ['a', 'b']) {
    newest.set(key, gone);
    newest.durable(key, gone);
  }
  expect(newest.of('a')).toBe(gone);
  // It is created anew, and that fails.
  newest.set('b', version(6));
  newest.takeBack([change('b', undefined)]);
  expect(newest.of('b')?.deleted).toBe(true);
  // A failed change of a key that was there leaves it there.
  newest.set('c', version(7, true));
  newest.takeBack([change('c', version(3))]);
  await fill();
  expect([newest.of('a'), newest.of('b'), newest.of('c')]).toEqual([undefined, undefined, version(3)]);
});

test('a key that was deleted and created anew before all are read stays', async () => {
  const { newest, fill } = fixture({ a: version(1) });
  const gone = version(5, true);
  newest.set('a', gone);
  newest.durable('a', gone);
  newest.set('a', version(6));
  await fill();
  expect(newest.of('a')).toEqual(version(6));
});

test('reading ends with the store', async () => {
  const { newest } = fixture({ a: version(1) });
  await newest.fill(() => true);
  expect(newest.isComplete).toBe(false);
});

test('a read that fails has the error of its store', () => {
  const reader = {
    newestVersion() {
      throw new Error('damage');
    },
  } as unknown as Reader;
  expect(() => new NewestVersions(reader, false, (error) => new Error(`read failed: ${error}`)).of('a')).toThrow(
    'read failed: Error: damage',
  );
});
