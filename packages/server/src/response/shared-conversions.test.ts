/** Large objects are converted one after another, so that many clients do not take memory for each. */

import { RequestEnded } from '@plat-dev/lib/slices';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import { RecentObjects } from '../registry/recent.ts';
import { CONVERTED_AT_ONCE, convertedOnce } from './shared-conversions.ts';

const resource = { versions: { recent: new RecentObjects() } } as Resource;
const newItem = (bytes: number, revision: number): Item =>
  ({ key: `n/${revision}`, revision, bytes: { length: bytes } }) as unknown as Item;
const newClient = (destroyed = false): Context => ({ res: { destroyed } }) as unknown as Context;

test('of many large objects no more are converted at once than the budget allows', async () => {
  const size = CONVERTED_AT_ONCE / 4;
  let going = 0;
  let most = 0;
  const make = async (): Promise<Buffer> => {
    most = Math.max(most, ++going);
    await new Promise(setImmediate);
    going--;
    return Buffer.from('x');
  };
  await Promise.all(Array.from({ length: 40 }, (_, i) => convertedOnce(newClient(), resource, 'yaml', [newItem(size, i)], make)));
  expect(most).toBe(4);
  expect(going).toBe(0);
});

test('a conversion whose client has gone is not begun, and leaves room for others', async () => {
  let made = 0;
  const make = async (): Promise<Buffer> => {
    made++;
    return Buffer.from('x');
  };
  const large = (i: number): Item[] => [newItem(CONVERTED_AT_ONCE, 1000 + i)];
  await expect(convertedOnce(newClient(true), resource, 'yaml', large(0), make)).rejects.toBeInstanceOf(RequestEnded);
  expect(made).toBe(0);
  await Promise.all([1, 2, 3].map((i) => convertedOnce(newClient(), resource, 'yaml', large(i), make)));
  expect(made).toBe(3);
});

test('small objects do not wait for large ones', async () => {
  const order: string[] = [];
  let finish: () => void = () => {};
  const slow = convertedOnce(newClient(), resource, 'yaml', [newItem(CONVERTED_AT_ONCE, 2000)], async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    order.push('large');
    return Buffer.from('x');
  });
  await convertedOnce(newClient(), resource, 'yaml', [newItem(1000, 2001)], async () => {
    order.push('small');
    return Buffer.from('x');
  });
  finish();
  await slow;
  expect(order).toEqual(['small', 'large']);
});
