import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import {
  ESTIMATED_SECONDS,
  type FairQueue,
  type Holder,
  Level,
  type LevelConfig,
  WAITING_LIMIT,
  type Waiter,
  type Width,
} from './level.ts';

const config = (changes: Partial<LevelConfig> = {}): LevelConfig => ({
  uid: 'u',
  exempt: false,
  limit: 2,
  queues: 4,
  handSize: 1,
  queueLengthLimit: 3,
  ...changes,
});
const wide = (seats: number, finalSeats = 0, finalMs = 0): Width => ({ seats, finalSeats, finalMs });
class Request implements Holder {
  seats = 0;
  runningSeats = 0;
  seatQueue: FairQueue | undefined;
  seatSince = 0;
  seatFinalMs = 0;
  seatOvertook = false;
  olderSeat: Holder | undefined;
  newerSeat: Holder | undefined;
  readonly name: string;
  waiter: Waiter | undefined;
  constructor(name: string) {
    this.name = name;
  }
}

/** A level whose starts are noted. */
function world(changes?: Partial<LevelConfig>) {
  const level = new Level('test', config(changes));
  const started: string[] = [];
  /** 'started', 'waits' or 'rejected'. */
  const arrive = (request: Request, queue: number, width: Width, now: number): string => {
    const hand = level.config.queues === 0 ? [] : [level.queue(queue)];
    if (level.enter(request, hand, width, now)) {
      started.push(request.name);
      return 'started';
    }
    if (hand.length === 0) return 'rejected';
    request.waiter = { holder: request, width, arrived: now, virtual: 0, queue: undefined, start: () => void started.push(request.name) };
    if (level.wait(request.waiter, hand, now) === 0) return 'rejected';
    return request.seats > 0 ? 'started' : 'waits';
  };
  return { level, started, arrive };
}

test('what finds no seat waits, and starts when one is free; a full queue rejects', () => {
  const { level, started, arrive } = world({ limit: 1, queueLengthLimit: 1 });
  const first = new Request('first');
  expect(arrive(first, 0, wide(1), 0)).toBe('started');
  expect(arrive(new Request('second'), 0, wide(1), 1)).toBe('waits');
  expect(arrive(new Request('third'), 0, wide(1), 2)).toBe('rejected');
  expect(arrive(new Request('elsewhere'), 1, wide(1), 2)).toBe('waits');
  level.finish(first, 10);
  expect([started, level.executing, level.waiting]).toEqual([['first', 'elsewhere'], 1, 1]);
});

test('a level without queues rejects; an exempt one never does', () => {
  const { level, arrive } = world({ queues: 0, limit: 1 });
  expect([arrive(new Request('a'), 0, wide(1), 0), arrive(new Request('b'), 0, wide(1), 0)]).toEqual(['started', 'rejected']);
  level.configure(config({ exempt: true, queues: 0 }), 1);
  const many = Array.from({ length: 1000 }, (_, i) => arrive(new Request(String(i)), 0, wide(10), 1));
  expect(new Set(many)).toEqual(new Set(['started']));
});

test('one that needs more seats than there are starts alone, and nothing overtakes it', () => {
  const { level, started, arrive } = world({ limit: 2 });
  const small = new Request('small');
  const giant = new Request('giant');
  const last = new Request('last');
  arrive(small, 0, wide(1), 0);
  expect(arrive(giant, 1, wide(10), 0)).toBe('waits');
  expect(arrive(last, 1, wide(1), 0)).toBe('waits');
  level.finish(small, 5);
  expect(started).toEqual(['small', 'giant']);
  level.finish(giant, 6);
  expect(started).toEqual(['small', 'giant', 'last']);
});

test('seats that are too few for a wide request are for others meanwhile', () => {
  const { level, started, arrive } = world({ limit: 9, queueLengthLimit: 20 });
  const lists = Array.from({ length: 3 }, (_, i) => new Request(`list${i}`));
  for (const list of lists) arrive(list, 0, wide(4), 0);
  // Two lists run, one seat is free, and the third list waits for four.
  expect([started, level.seatsInUse]).toEqual([['list0', 'list1'], 8]);
  for (let i = 0; i < 50; i++) {
    const small = new Request(`small${i}`);
    expect(arrive(small, 1, wide(1), i)).toBe('started');
    level.finish(small, i);
  }
  expect(level.overtaking).toBe(0);
  level.finish(lists[0] as Request, 60);
  expect(started.at(-1)).toBe('list2');
});

test('a wide request is not put off for ever: others go first only as far as they leave room for it in the end', () => {
  const { level, started, arrive } = world({ limit: 6, queueLengthLimit: 50 });
  const before = new Request('before');
  arrive(before, 0, wide(3), 0);
  const list = new Request('list');
  expect(arrive(list, 1, wide(4), 0)).toBe('waits');
  const states = Array.from({ length: 4 }, (_, i) => arrive(new Request(`small${i}`), 2, wide(1), 100));
  expect([states, level.overtaking]).toEqual([['started', 'started', 'waits', 'waits'], 2]);
  // Though its seats would be enough for the others, the list is first.
  level.finish(before, 200);
  expect(started).toEqual(['before', 'small0', 'small1', 'list']);
  level.finish(list, 300);
  expect(started.slice(4)).toEqual(['small2', 'small3']);
});

test('seats for the time after a request that went first count until they are free', () => {
  const { level, arrive } = world({ limit: 6 });
  arrive(new Request('before'), 0, wide(3), 0);
  arrive(new Request('list'), 1, wide(4), 0);
  const write = new Request('write');
  expect(arrive(write, 2, wide(1, 2, 20), 100)).toBe('started');
  const { seatQueue } = write;
  level.finish(write, 101, true);
  expect([level.overtaking, arrive(new Request('next'), 3, wide(1), 102)]).toEqual([2, 'waits']);
  level.release(seatQueue, 2, true, 121);
  expect([level.overtaking, level.waiting]).toEqual([1, 1]);
});

test('a queue that could not use its share has saved nothing up', () => {
  const { level, started, arrive } = world({ limit: 9, queueLengthLimit: 100 });
  const lists: Request[] = [];
  let now = 0;
  const list = (): void => {
    const one = new Request('list');
    lists.push(one);
    arrive(one, 0, wide(5), now);
  };
  // One list runs at a time and leaves four seats unused, for ten seconds; there are always three more.
  for (let i = 0; i < 4; i++) list();
  for (; now < 10_000; ) {
    now += 100;
    const running = lists.find(({ seats }) => seats > 0) as Request;
    lists.splice(lists.indexOf(running), 1);
    level.finish(running, now);
    list();
  }
  // Another list needs as many seats. Those that came before it are three; after them it is its turn.
  const other = new Request('other');
  arrive(other, 1, wide(5), now);
  const from = started.length;
  while (other.seats === 0) {
    now += 100;
    const running = lists.find(({ seats }) => seats > 0) as Request;
    lists.splice(lists.indexOf(running), 1);
    level.finish(running, now);
    list();
  }
  expect(started.length - from).toBeLessThanOrEqual(4);
});

test('seats of the time after a request are freed by themselves', () => {
  const { level, arrive } = world({ limit: 4 });
  const write = new Request('write');
  arrive(write, 0, wide(1, 4, 20), 0);
  const { seatQueue } = write;
  level.finish(write, 5, true);
  expect([level.executing, level.seatsInUse, arrive(new Request('next'), 1, wide(1), 6)]).toEqual([0, 4, 'waits']);
  level.release(seatQueue, 4, false, 25);
  expect([level.executing, level.seatsInUse, level.waiting]).toEqual([1, 1, 0]);
});

test('a smaller limit lets what runs go on; a larger one starts what waits', () => {
  const { level, started, arrive } = world({ limit: 1 });
  for (const name of ['a', 'b', 'c']) arrive(new Request(name), 0, wide(1), 0);
  level.configure(config({ limit: 3 }), 1);
  expect(started).toEqual(['a', 'b', 'c']);
  level.configure(config({ limit: 1 }), 2);
  expect([level.seatsInUse, arrive(new Request('d'), 0, wide(1), 2)]).toEqual([3, 'waits']);
});

test('other queues: what waits in the old ones is still served', () => {
  const { level, started, arrive } = world({ limit: 1 });
  const first = new Request('first');
  arrive(first, 3, wide(1), 0);
  arrive(new Request('second'), 3, wide(1), 0);
  level.configure(config({ limit: 1, queues: 2 }), 1);
  level.finish(first, 2);
  expect(started).toEqual(['first', 'second']);
});

test('the number of those who wait is bounded whatever the queues would hold', () => {
  const { level, arrive } = world({ limit: 1, queueLengthLimit: 10 * WAITING_LIMIT });
  arrive(new Request('runs'), 0, wide(1), 0);
  for (let i = 0; i < WAITING_LIMIT; i++) arrive(new Request('w'), i % 4, wide(1), 0);
  expect([level.waiting, arrive(new Request('more'), 0, wide(1), 0)]).toEqual([WAITING_LIMIT, 'rejected']);
});

test('requests that hold seats are known, oldest first', () => {
  const { level, arrive } = world({ limit: 3 });
  const [a, b, c] = ['a', 'b', 'c'].map((name) => new Request(name)) as [Request, Request, Request];
  for (const one of [a, b, c]) arrive(one, 0, wide(1), 0);
  const names = () => {
    const all: string[] = [];
    for (let next = level.oldest; next !== undefined; next = next.newerSeat) all.push((next as Request).name);
    return all.join('');
  };
  level.finish(b, 1);
  expect(names()).toBe('ac');
  level.finish(a, 1);
  expect(names()).toBe('c');
  level.finish(c, 1);
  expect([names(), level.idle, level.busy.length]).toEqual(['', true, 0]);
});

/** The same rules, written down plainly: every request in one array, everything else worked out from it each time. */
class Model {
  requests: { name: string; queue: number; width: Width; state: 'waits' | 'runs'; since: number; came: number; overtook: boolean }[] = [];
  next = new Map<number, number>();
  turns = new Map<number, number>();
  virtual = 0;
  time = 0;
  turn = 0;
  started: string[] = [];
  limit: number;
  readonly length: number;
  constructor(limit: number, length: number) {
    this.limit = limit;
    this.length = length;
  }
  private of(queue: number) {
    return this.requests.filter((r) => r.queue === queue);
  }
  private seats(overtook = false): number {
    return this.requests.filter((r) => r.state === 'runs' && (r.overtook || !overtook)).reduce((n, r) => n + r.width.seats, 0);
  }
  /** Nothing starts before it came. */
  private bound(): void {
    for (const queue of new Set(this.requests.map((r) => r.queue))) {
      const head = this.of(queue).find((r) => r.state === 'waits');
      if (head !== undefined) this.next.set(queue, Math.max(this.next.get(queue) ?? 0, head.came));
    }
  }
  pass(now: number): void {
    const busy = new Set(this.requests.map((r) => r.queue)).size;
    const demand = this.requests.reduce((n, r) => n + r.width.seats, 0);
    if (busy > 0) this.virtual += ((now - this.time) / 1000) * (Math.min(demand, this.limit) / busy);
    this.time = now;
  }
  arrive(name: string, queue: number, width: Width, now: number): void {
    this.pass(now);
    const crowded = this.requests.some((r) => r.state === 'waits') || (this.seats() > 0 && this.seats() + width.seats > this.limit);
    if (crowded && this.of(queue).filter((r) => r.state === 'waits').length >= this.length) return;
    if (this.of(queue).length === 0) this.next.set(queue, this.virtual);
    this.requests.push({ name, queue, width, state: 'waits', since: 0, came: this.virtual, overtook: false });
    this.dispatch(now);
  }
  finish(name: string, now: number): void {
    this.pass(now);
    const request = this.requests.find((r) => r.name === name);
    if (request === undefined) return;
    this.requests.splice(this.requests.indexOf(request), 1);
    if (request.state === 'runs') {
      const more = request.width.seats * ((now - request.since) / 1000 - ESTIMATED_SECONDS);
      this.next.set(request.queue, (this.next.get(request.queue) ?? 0) + more);
    }
    this.dispatch(now);
  }
  dispatch(now: number): void {
    for (;;) {
      this.bound();
      const heads = [...new Set(this.requests.filter((r) => r.state === 'waits').map((r) => r.queue))].map((queue) => {
        const head = this.of(queue).find((r) => r.state === 'waits') as Model['requests'][number];
        return { queue, head, end: (this.next.get(queue) ?? 0) + head.width.seats * ESTIMATED_SECONDS };
      });
      heads.sort((a, b) => a.end - b.end || (this.turns.get(a.queue) ?? 0) - (this.turns.get(b.queue) ?? 0) || a.queue - b.queue);
      const [first] = heads;
      if (first === undefined) return;
      const fits = this.seats() === 0 || this.seats() + first.head.width.seats <= this.limit;
      const best = fits
        ? first
        : heads.find(
            ({ head: { width } }) =>
              this.seats() + width.seats <= this.limit && this.seats(true) + first.head.width.seats + width.seats <= this.limit,
          );
      if (best === undefined) return;
      best.head.overtook = !fits;
      best.head.state = 'runs';
      best.head.since = now;
      this.next.set(best.queue, best.end);
      this.turns.set(best.queue, ++this.turn);
      this.started.push(best.head.name);
    }
  }
}

const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('arrive' as const), queue: fc.nat(3), seats: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), millis: fc.integer({ min: 1, max: 64 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), limit: fc.integer({ min: 1, max: 6 }) }) },
);

test('any run of arrivals, ends and changes starts the same requests in the same order as the plain model', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 120 }), (operations) => {
      const { level, started, arrive } = world({ limit: 3, queueLengthLimit: 4 });
      const model = new Model(3, 4);
      const all: Request[] = [];
      let now = 0;
      for (const op of operations) {
        if (op.do === 'pass') now += op.millis;
        else if (op.do === 'limit') {
          level.configure(config({ limit: op.limit, queueLengthLimit: 4 }), now);
          model.pass(now);
          model.limit = op.limit;
          model.dispatch(now);
        } else if (op.do === 'arrive') {
          const request = new Request(String(all.length));
          const answer = arrive(request, op.queue, wide(op.seats), now);
          if (answer !== 'rejected') all.push(request);
          else all.push(new Request('rejected'));
          model.arrive(request.name, op.queue, wide(op.seats), now);
        } else {
          const those = all.filter((r) => (op.do === 'finish' ? r.seats > 0 : r.waiter?.queue !== undefined));
          const one = those[op.which % Math.max(those.length, 1)];
          if (one === undefined) continue;
          if (op.do === 'finish') level.finish(one, now);
          else level.leaveQueue(one.waiter as Waiter, now);
          model.finish(one.name, now);
        }
        expect(started).toEqual(model.started);
      }
      expect(level.seatsInUse).toBe(all.reduce((n, r) => n + r.seats, 0));
    }),
    { numRuns: rounds(300) },
  );
});

test('no flow starves: whatever others send, a request of a quiet queue starts after few of theirs', () => {
  const flood = fc.record({
    heavy: fc.integer({ min: 1, max: 8 }),
    limit: fc.integer({ min: 1, max: 5 }),
    seats: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(flood, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 250, maxLength: 250 }), ({ heavy, limit, seats }, times) => {
      const { level, started, arrive } = world({ limit, queues: 10, queueLengthLimit: 50 });
      const running: Request[] = [];
      let now = 0;
      const refill = () => {
        for (let q = 0; q < heavy; q++)
          while (level.queue(q).waiting.length < 50) {
            const one = new Request(`heavy${q}`);
            running.push(one);
            arrive(one, q, wide(seats), now);
          }
      };
      const step = (millis: number) => {
        now += millis;
        refill();
        const ended = running.find((r) => r.seats > 0) as Request;
        running.splice(running.indexOf(ended), 1);
        level.finish(ended, now);
      };
      refill();
      for (const millis of times.slice(0, 25)) step(millis);
      const before = started.length;
      arrive(new Request('quiet'), 9, wide(1), now);
      for (const millis of times.slice(25)) if (!started.includes('quiet')) step(millis);
      const overtaken = started.indexOf('quiet') - before;
      expect(started).toContain('quiet');
      // First come, first served would let all 50 of every queue go before it. Queues that had less than their share until
      // now, because their requests run longer than estimated, may go first; never many times.
      expect(overtaken).toBeLessThanOrEqual(25 * heavy);
    }),
    { numRuns: rounds(100) },
  );
});
