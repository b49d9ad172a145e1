import { expect, test } from 'vitest';
import fc from './fast-check.testing.ts';
import { AsyncQueue, BoundedQueue, Gate } from './queue.ts';

test('a queue behaves as a list that refuses what is beyond its limit', () => {
  const operation = fc.oneof(fc.record({ push: fc.nat() }), fc.constant('shift' as const), fc.constant('clear' as const));
  fc.assert(
    fc.property(fc.nat({ max: 40 }), fc.array(operation, { maxLength: 200 }), (limit, operations) => {
      const queue = new BoundedQueue<number>(limit);
      const model: number[] = [];
      for (const op of operations) {
        if (op === 'shift') expect(queue.shift()).toBe(model.shift());
        else if (op === 'clear') {
          queue.clear();
          model.length = 0;
        } else {
          expect(queue.push(op.push)).toBe(model.length < limit);
          if (model.length < limit) model.push(op.push);
        }
        expect(queue.length).toBe(model.length);
        expect(queue.peek()).toBe(model[0]);
      }
      expect(queue.take(3)).toEqual(model.splice(0, 3));
      expect(queue.take()).toEqual(model);
    }),
  );
});

test('a reader gets what comes later, and ends when the queue is closed and empty', async () => {
  const queue = new AsyncQueue<number>(2);
  const read: number[] = [];
  const reader = (async () => {
    for await (const n of queue) read.push(n);
  })();
  expect(queue.push(1)).toBe(true);
  await Promise.resolve();
  await Promise.resolve();
  expect(queue.push(2)).toBe(true);
  queue.close();
  expect(queue.push(3)).toBe(false);
  await reader;
  expect(read).toEqual([1, 2]);
});

test('a full queue says so', () => {
  const queue = new AsyncQueue<number>(1);
  expect(queue.push(1)).toBe(true);
  expect(queue.push(2)).toBe(false);
  expect(queue.length).toBe(1);
});

test('a gate lets so many through, makes some wait and sends the others away', async () => {
  const gate = new Gate(1, 1);
  const first = await gate.enter();
  const second = gate.enter();
  expect(gate.waiting).toBe(1);
  expect(await gate.enter()).toBeUndefined();
  first?.();
  first?.();
  const leave = await second;
  expect(leave).toBeTypeOf('function');
  const third = gate.enter();
  leave?.();
  expect(await third).toBeTypeOf('function');
});
