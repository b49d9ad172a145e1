import { PassThrough } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { isTurnUsed, SLICE_MILLIS, SLICED_FROM } from '@plat-dev/lib/slices';
import { heldWorkTime } from '@plat-dev/lib/slices.testing';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import { Frame } from './batch.ts';
import { WatchStream, type WatchStreamOptions } from './stream.ts';
import { Watches } from './watches.ts';

const workTime = heldWorkTime();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A watch whose history is one object of this size, begun; and how many bytes its client got. */
function begin(size: number): () => number {
  const res = Object.assign(new PassThrough({ highWaterMark: 4 * SLICED_FROM }), { writeHead: () => {} });
  const options = {
    services: { watches: new Watches(new FakeClock()), limits: { watchBufferBytes: 2 ** 20 } },
    ctx: { res, headers: [] },
    frames: { event: (type: string, { bytes }: Item) => new Frame(type, bytes, () => bytes) },
    contentType: 'application/json',
    events: { inc: () => {} },
  } as unknown as WatchStreamOptions;
  const stream = new WatchStream(options);
  stream.send('ADDED', { bytes: Buffer.alloc(size) } as Item, undefined);
  stream.begin(() => {});
  return () => res.readableLength;
}

test('in a turn that others have used, a watch with a large object begins in a later one, and one with a small object at once', async () => {
  await turn();
  expect(isTurnUsed()).toBe(false);
  expect(begin(2 * SLICED_FROM)()).toBe(2 * SLICED_FROM);
  workTime.pass(SLICE_MILLIS);
  const [first, second, small] = [begin(2 * SLICED_FROM), begin(2 * SLICED_FROM), begin(10)];
  expect([first(), second(), small()]).toEqual([0, 0, 10]);
  // One in each turn.
  await turn();
  expect([first(), second()]).toEqual([2 * SLICED_FROM, 0]);
  await turn();
  expect(second()).toBe(2 * SLICED_FROM);
});
