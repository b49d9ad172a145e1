import { systemClock } from '@plat-dev/lib/clock';
import { Cache } from '@plat-dev/storage/cache';
import type { Engine } from '@plat-dev/storage/engine';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { expect, test } from 'vitest';
import { removeLeftovers } from './leftovers.ts';

const value = Buffer.from('x');
const put = (engine: Engine, key: string) => engine.commit([{ type: 'put', key, value }]);
const keys = async (engine: Engine) => (await engine.range({ prefix: '' })).entries.map(({ key }) => key);

test('what a definition left is removed, and nothing else', async () => {
  const engine = openMemoryEngine();
  for (let i = 0; i < 450; i++) await put(engine, `~a.com/seeds/ns/s${i}`);
  await put(engine, '~a.com/seedlings/ns/s');
  expect(await removeLeftovers(new Cache(engine, systemClock, () => {}), '~a.com/seeds/', 'definitions/seeds.a.com')).toBe(450);
  expect(await keys(engine)).toEqual(['~a.com/seedlings/ns/s']);
  await engine.close();
});

test('objects of a definition that is back are left alone, whenever it comes', async () => {
  const engine = openMemoryEngine();
  for (let i = 0; i < 250; i++) await put(engine, `~a.com/seeds/ns/s${i}`);
  // It comes back after the first part was removed.
  const slow = {
    range: (request) => engine.range(request),
    commit: async (...args) => {
      const done = await engine.commit(...args);
      await put(engine, 'definitions/seeds.a.com');
      return done;
    },
  } satisfies Partial<Engine> as Engine;
  expect(await removeLeftovers(new Cache(slow, systemClock, () => {}), '~a.com/seeds/', 'definitions/seeds.a.com')).toBe(200);
  expect((await keys(engine)).length).toBe(51);
  expect(await removeLeftovers(new Cache(engine, systemClock, () => {}), '~a.com/seeds/', 'definitions/seeds.a.com')).toBe(0);
  await engine.close();
});
