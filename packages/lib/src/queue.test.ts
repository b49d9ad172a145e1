import { expect, test } from 'vitest';
import { BoundedQueue } from './queue.ts';
import fc from './testing/fast-check.testing.ts';

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
