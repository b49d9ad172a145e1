/** What becomes of the tables when the database library finds no room, with a library of the test. */
import { expect, test } from 'vitest';
import { StoreUnavailable } from '../../engine.ts';
import { isFullWrite } from './errors.ts';
import { reopenable } from './reopen.ts';
import type { Tables } from './table.ts';

const error = (code: number | string): Error => Object.assign(new Error(`code ${code}`), { code });

function setUp(free = 0) {
  const calls: string[] = [];
  let opened = 0;
  const next: { write?: Error; open?: Error } = {};
  const make = (): Tables => {
    const id = opened++;
    const table = { get: (key: string) => `${key} of ${id}` };
    return {
      meta: table,
      isReadable: true,
      write: async (fill: () => void) => {
        calls.push(`write ${id}`);
        if (next.write !== undefined) throw next.write;
        fill();
      },
      hold: () => {
        calls.push(`hold ${id}`);
        return () => {
          calls.push(`end ${id}`);
          return true;
        };
      },
      close: async () => void calls.push(`close ${id}`),
    } as unknown as Tables;
  };
  const tables = reopenable(
    make(),
    async () => {
      if (next.open !== undefined) throw next.open;
      return make();
    },
    (failure) => isFullWrite(failure, () => free),
  );
  return { tables, calls, next };
}

test.each([28, 122, 5, 'ENOSPC'])('after the error %s reads go on, and the next write opens the file again', async (code) => {
  const { tables, calls, next } = setUp();
  next.write = error(code);
  await expect(tables.write(() => {})).rejects.toThrow(`code ${code}`);
  expect([tables.isReadable, tables.meta.get('a')]).toEqual([true, 'a of 0']);
  delete next.write;
  let filled = '';
  await tables.write(() => {
    filled = tables.meta.get('a') ?? '';
  });
  expect([filled, tables.meta.get('a')]).toEqual(['a of 1', 'a of 1']);
  await tables.write(() => {});
  expect(calls).toEqual(['write 0', 'close 0', 'write 1', 'write 1']);
});

test('another failure, or one of the disk where there is room, opens nothing', async () => {
  const { tables, calls, next } = setUp(2 ** 30);
  for (const code of [5, -30_792, 'EIO']) {
    next.write = error(code);
    await expect(tables.write(() => {})).rejects.toThrow(`code ${code}`);
  }
  expect(calls).toEqual(['write 0', 'write 0', 'write 0']);
});

test('a file that cannot be opened again is tried by every write until it can, and is not closed twice', async () => {
  const { tables, calls, next } = setUp();
  next.write = error(28);
  await expect(tables.write(() => {})).rejects.toThrow('code 28');
  delete next.write;
  next.open = error('EMFILE');
  for (let i = 0; i < 2; i++) await expect(tables.write(() => {})).rejects.toThrow('code EMFILE');
  expect(tables.isReadable).toBe(false);
  expect(() => tables.meta.get('a')).toThrow(StoreUnavailable);
  expect(() => tables.stats()).toThrow(StoreUnavailable);
  delete next.open;
  await tables.write(() => {});
  expect([tables.isReadable, tables.meta.get('a')]).toEqual([true, 'a of 1']);
  expect(calls).toEqual(['write 0', 'close 0', 'write 1']);
});

test('what is held ends before the file is closed, and whoever held it learns of that', async () => {
  const { tables, calls, next } = setUp();
  const [lost, kept] = [tables.hold(), tables.hold()];
  expect(kept()).toBe(true);
  next.write = error(28);
  await expect(tables.write(() => {})).rejects.toThrow('code 28');
  delete next.write;
  await tables.write(() => {});
  expect(lost()).toBe(false);
  expect(calls).toEqual(['hold 0', 'hold 0', 'end 0', 'write 0', 'end 0', 'close 0', 'write 1']);
});
