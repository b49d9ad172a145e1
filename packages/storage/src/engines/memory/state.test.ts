/** Stores that begin with what another one held, and stores that go back to it. */

import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import { put } from '../../engine.suite.tools.ts';
import { type ChangeRecord, Compacted, type Engine } from '../../engine.ts';
import { asMemoryEngine, type MemoryEngine, openMemoryEngine } from '../memory.ts';

const contents = async (engine: Engine, at?: number): Promise<string[]> =>
  (await engine.range({ prefix: '', ...(at !== undefined && { at }) })).entries.map(
    ({ key, value, revision, created }) => `${key}=${value} ${created}-${revision}`,
  );
const remove = (key: string) => ({ type: 'delete', key }) as const;

/** a=2 (created 1), b gone, c=1. */
async function written(clock = new FakeClock()): Promise<MemoryEngine> {
  const engine = openMemoryEngine({ clock });
  await engine.commit([put('a', '1'), put('b', '1')]);
  await engine.commit([put('a', '2')]);
  await engine.commit([remove('b'), put('c', '1')]);
  return engine;
}

test('a store begins with all that another one held: values, revisions and history', async () => {
  const parent = await written();
  const fork = openMemoryEngine({ clock: new FakeClock(), from: parent.state() });
  expect(fork.revision).toBe(3);
  expect(await contents(fork)).toEqual(['a=2 1-2', 'c=1 3-3']);
  expect(await contents(fork, 1)).toEqual(['a=1 1-1', 'b=1 1-1']);
  expect(await fork.changes({ after: 1, prefix: '' })).toEqual(await parent.changes({ after: 1, prefix: '' }));
  expect(await fork.commit([put('a', '3', 2)])).toEqual({ revision: 4 });
});

test('neither the store it came from nor other forks see what is written to one, nor what it forgets', async () => {
  const parent = await written();
  const state = parent.state();
  const [one, two] = [openMemoryEngine({ clock: new FakeClock(), from: state }), openMemoryEngine({ clock: new FakeClock(), from: state })];
  await one.commit([put('a', 'one'), put('d', 'one'), remove('c')]);
  await two.commit([put('a', 'two')]);
  await two.commit([put('a', 'two again')]);
  await two.compact(5);
  await parent.commit([remove('a')]);
  expect(await contents(one)).toEqual(['a=one 1-4', 'd=one 4-4']);
  expect(await contents(two)).toEqual(['a=two again 1-5', 'c=1 3-3']);
  expect(await contents(parent)).toEqual(['c=1 3-3']);
  expect(await contents(one, 3)).toEqual(['a=2 1-2', 'c=1 3-3']);
  await expect(two.get('a', 3)).rejects.toThrow(Compacted);
  const third = openMemoryEngine({ clock: new FakeClock(), from: state });
  expect(await contents(third)).toEqual(['a=2 1-2', 'c=1 3-3']);
  expect(await contents(third, 1)).toEqual(['a=1 1-1', 'b=1 1-1']);
});

test('what was to expire in the store it came from expires in each', async () => {
  const parent = await written();
  await parent.commit([put('late', '1', undefined, 60), put('soon', '1', undefined, 10)]);
  const clock = new FakeClock();
  const fork = openMemoryEngine({ clock, from: parent.state() });
  await clock.advance(10_000);
  expect(await contents(fork)).toEqual(['a=2 1-2', 'c=1 3-3', 'late=1 4-4']);
  await clock.advance(50_000);
  expect(await contents(fork)).toEqual(['a=2 1-2', 'c=1 3-3']);
  expect(await parent.get('soon')).toBeDefined();
});

test('a store goes back by one commit that says what came, changed and went', async () => {
  const engine = await written();
  const state = engine.state();
  await engine.commit([put('a', '3'), put('d', '1')]);
  await engine.commit([remove('c')]);
  const heard: ChangeRecord[] = [];
  engine.subscribe(
    5,
    (changes) => heard.push(...changes),
    () => {},
  );
  expect(await engine.restore(state)).toEqual({ revision: 6 });
  expect(heard.map(({ type, key, value, revision }) => [type, key, value?.toString(), revision])).toEqual([
    ['delete', 'd', undefined, 6],
    ['put', 'a', '2', 6],
    ['put', 'c', '1', 6],
  ]);
  expect(await contents(engine)).toEqual(['a=2 1-6', 'c=1 6-6']);
  // Nothing to do: no revision.
  expect(await engine.restore(engine.state())).toEqual({ revision: 6 });
});

test('a key that goes back to a value with a time to live has what is left of that time', async () => {
  const clock = new FakeClock();
  const engine = openMemoryEngine({ clock });
  await engine.commit([put('a', '1', undefined, 60)]);
  const state = engine.state();
  await clock.advance(20_000);
  await engine.commit([put('a', '2')]);
  await engine.restore(state);
  await clock.advance(39_999);
  expect(await engine.get('a')).toBeDefined();
  await clock.advance(1);
  expect(await engine.get('a')).toBeUndefined();
});

test('the value before a commit is known, also after the key went', async () => {
  const engine = await written();
  expect(engine.valueBefore('a', 2)?.toString()).toBe('1');
  expect(engine.valueBefore('b', 3)?.toString()).toBe('1');
  expect(engine.valueBefore('c', 3)).toBeUndefined();
});

test('a store that is not in memory cannot be copied, and the error says what to do', () => {
  expect(() => asMemoryEngine({ name: 'lmdb' } as Engine)).toThrow('start the server with the store "memory"');
});
