/**
 * What holds of every request: it is never answered with 500, takes no longer than its size explains, is refused with a
 * Status of the code that was sent, and a refused write or a dry run leaves every list byte for byte as it was.
 */
import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fc from '../../packages/lib/src/testing/fast-check.testing.ts';
import { testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { type Base, dials } from './bases.ts';
import { EDITS, type Edit, edited } from './edits.ts';
import { GO_ON, IS_LONG, RUNS } from './runs.ts';
import { World } from './world.ts';

const nat = fc.integer({ min: 0, max: 2 ** 31 - 1 });
const edit: fc.Arbitrary<Edit> = fc.record({ what: fc.nat({ max: EDITS - 1 }), seed: nat });
const run = fc.record({ base: nat, edits: fc.array(edit, { maxLength: 4 }), http2: fc.boolean() });

const WAIT_MS = 120_000 + RUNS * 100;

/** Each identity and each store; a long run tries each with each. */
const servers = [
  ['kubernetes', 'memory', 0],
  ['plat', 'lmdb', 1],
  ['kubernetes', 'lmdb', 2],
  ['plat', 'memory', 3],
] as const;

describe.each(servers.slice(0, IS_LONG ? undefined : 2))('as %s, on %s', { timeout: WAIT_MS }, (identity, store, nth) => {
  let world: World;
  let ended = false;
  beforeAll(async () => {
    world = await World.start(identity, store);
  }, 120_000);
  afterAll(async () => {
    if (!ended) await world?.server.close();
  });

  const holds = (bases: readonly Base[], numRuns: number, connects = false) =>
    fc.assert(
      fc.asyncProperty(run, async ({ base, edits, http2 }) => {
        const sent = edited(bases[base % bases.length] as Base, edits, world);
        if (!connects && dials.test(sent.path)) return;
        await world.check({ ...sent, http2 }).catch((error: unknown) => {
          if (GO_ON === undefined) throw error;
          appendFileSync(GO_ON, `${String(error)}\n\n`);
        });
      }),
      // Each server gets requests of its own.
      { seed: testSeed + nth, numRuns, endOnFailure: process.env.PROPERTY_SHRINK === undefined },
    );

  if (identity === 'kubernetes' && store === 'memory')
    test('every verb of every resource on every form of path', async () => {
      // That none is changed by a refused write follows from the revision; requests at random compare lists as well, and have connections.
      world.connected = false;
      for (const base of world.resourceBases) await world.check(edited(base, [], world), []);
      world.connected = true;
    });
  test('a refused write that left something would be noticed', async () => {
    const refused = { method: 'DELETE', path: '/api/v1/namespaces/shop/configmaps/nobody', headers: {} };
    await world.check(edited(refused, [], world));
    // Something that is put right again in the midst of the request.
    const body = { metadata: { name: 'passing' } };
    await world.check(edited({ method: 'POST', path: '/api/v1/namespaces/shop/configmaps', headers: {}, body }, [], world));
    const { send } = world;
    world.send = async (sent) => {
      await world.restore();
      return send.call(world, sent);
    };
    await expect(world.check(edited(refused, [], world))).rejects.toThrow('404, yet it changed core/configmaps/shop/passing');
    world.send = send;
  });

  // Before others: nothing has an address yet that could be dialled.
  test('requests that lead to other servers', () => holds(world.connectBases, RUNS / 20, true));
  test('requests for resources', () =>
    holds(
      world.resourceBases.filter(({ refused }) => !refused),
      (RUNS * 6) / 10,
    ));
  test('requests like those of recorded conversations', () => holds(world.recordedBases, (RUNS * 3) / 10));
  test('requests that lead to no resource', () => holds(world.otherBases, RUNS / 20));

  test('changes of definitions and of groups of other servers', () => {
    world.restless = true;
    const bases = world.resourceBases.filter(({ path }) => /customresourcedefinitions|apiservices|example\.com/.test(path));
    return holds(bases, RUNS / 10);
  });

  test('watches saw what accepted writes did, and nothing else', async () => {
    ended = true;
    const { events } = await world.end();
    // A server that refuses everything, or accepts everything, would pass otherwise.
    const count = (from: number, to: number) =>
      [...world.statuses].reduce((sum, [code, times]) => sum + (code >= from && code < to ? times : 0), 0);
    if (IS_LONG) console.log(identity, store, JSON.stringify([...world.statuses].sort()), events, world.refusedWrites);
    expect(events).toBeGreaterThan(RUNS / 50);
    expect(world.refusedWrites).toBeGreaterThan(RUNS / 10);
    expect(count(200, 300)).toBeGreaterThan(RUNS / 10);
  });
});
