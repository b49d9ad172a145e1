import { FakeClock } from '@plat-dev/lib/clock';
import type { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import {
  Bodies,
  BodyAccount,
  GRACE_MS,
  LEAST_RATE,
  LEVEL_BYTES,
  LEVEL_COUNT,
  type UnfinishedBody,
  USER_BYTES,
  USER_COUNT,
} from './bodies.ts';
import { Level } from './level.ts';

const level = () => new Level('l', { uid: '', exempt: false, limit: 1, queues: 0, handSize: 0, queueLengthLimit: 0 });
function world() {
  const clock = new FakeClock();
  const bodies = new Bodies(clock);
  const refused: string[] = [];
  const begin = (account: BodyAccount, name: string, unlimited = false): UnfinishedBody => {
    const body = bodies.begin(account, clock.monotonic(), unlimited);
    body.fail = (error: ApiError) => void refused.push(`${name} ${error.code}`);
    return body;
  };
  return { clock, bodies, refused, begin };
}

test('at the bound of a user the oldest body of that user is refused, not the new one and not those of others', () => {
  const { bodies, refused, begin } = world();
  const [alice, bob] = [new BodyAccount(level()), new BodyAccount(level())];
  begin(bob, 'bob');
  for (let i = 0; i < USER_COUNT; i++) begin(alice, `alice${i}`);
  expect(refused).toEqual([]);
  begin(alice, 'new');
  expect([refused, alice.count, bob.count]).toEqual([['alice0 429'], USER_COUNT, 1]);
  expect(bodies.count).toBe(USER_COUNT + 1);
});

test('at the bound of a level the user with the most loses one; other levels do not notice', () => {
  const { refused, begin } = world();
  const crowded = level();
  const users = Array.from({ length: LEVEL_COUNT / 100 }, () => new BodyAccount(crowded));
  for (const [u, user] of users.entries()) for (let i = 0; i < (u === 3 ? 101 : u === 4 ? 99 : 100); i++) begin(user, `u${u}b${i}`);
  begin(new BodyAccount(level()), 'elsewhere');
  expect(refused).toEqual([]);
  begin(new BodyAccount(crowded), 'late');
  expect(refused).toEqual(['u3b0 429']);
});

test('bytes are bounded by user and by level until the request has its seats; exempt ones are not', () => {
  const { bodies, begin } = world();
  const shared = level();
  const account = new BodyAccount(shared);
  const [first, second] = [begin(account, 'first'), begin(account, 'second')];
  expect(bodies.received(first, USER_BYTES)).toBe(true);
  expect(bodies.received(second, 1)).toBe(false);
  bodies.complete(first);
  expect(bodies.received(second, 1)).toBe(false);
  bodies.end(first);
  expect(bodies.received(second, 1)).toBe(true);
  for (let held = 1; held + USER_BYTES <= LEVEL_BYTES; held += USER_BYTES) bodies.received(begin(new BodyAccount(shared), 'x'), USER_BYTES);
  expect(bodies.received(begin(new BodyAccount(shared), 'x'), USER_BYTES)).toBe(false);
  expect(bodies.received(begin(new BodyAccount(shared), 'x', true), USER_BYTES)).toBe(true);
});

test('a body that stops coming is refused after a while, one that comes steadily is not', async () => {
  const { clock, bodies, refused, begin } = world();
  const account = new BodyAccount(level());
  begin(account, 'stalled');
  const steady = begin(account, 'steady');
  for (let second = 0; second <= GRACE_MS / 1000 + 5; second++) {
    bodies.received(steady, LEAST_RATE);
    await clock.advance(1000);
  }
  expect(refused).toEqual(['stalled 408']);
  bodies.end(steady);
  await clock.advance(1000);
  expect([bodies.count, bodies.bytes, clock.pending]).toEqual([0, 0, 0]);
});

test('one that nobody reads yet learns of its refusal when it is read', async () => {
  const { clock, bodies } = world();
  const body = bodies.begin(new BodyAccount(level()), 0, false);
  await clock.advance(GRACE_MS + 2000);
  expect(body.refused?.code).toBe(408);
});
