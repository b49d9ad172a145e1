/**
 * Whatever is created, changed, deleted, evicted and failed in whatever order: the limits of every workload hold at every event of a
 * watch, the system settles in the state that the specs ask for, and nothing is left over.
 *
 *   TEST_ROUNDS=10 npx vitest run test/workloads/random        more runs
 *   TEST_SEED=<number> …                                       another beginning; a failure prints the seed of its run
 */
import { test } from 'vitest';
import { readFeatureGates } from '../../../packages/kinds/src/feature-gates.ts';
import { seededRandom } from '../../../packages/lib/src/random.ts';
import { rounds, testSeed } from '../../../packages/lib/src/testing/seed.testing.ts';
import { startTestServer } from '../../../packages/testing/src/server.ts';
import { checkEmpty, checkEnd } from './ending.ts';
import { Recorder } from './recorder.ts';
import { rules } from './rules.ts';
import { NAMESPACE, World } from './world.ts';

const RUNS = 2;
const STEPS = 16;
const NODES = 4;
/** Steps and events that a failure shows. */
const SHOWN = 80;

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  await using server = await startTestServer({
    identity: 'kubernetes',
    clock: '2026-01-01T00:00:00Z',
    workloads: true,
    server: { simulatedNodes: NODES, features: readFeatureGates(new Map([['JobTrackingWithFinalizers', String(random.below(2) === 0)]])) },
    objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }] as never,
  });
  await server.settled();
  const nodes = Array.from({ length: NODES }, (_, n) => `node-${n}`);
  for (const [n, name] of nodes.entries()) {
    const labels = { side: n % 2 === 0 ? 'left' : 'right' };
    await server.client().core.v1.nodes().patch(name, { metadata: { labels } });
  }
  await server.settled();
  const recorder = new Recorder(server, rules());
  await recorder.start();
  const world = new World(server, random, nodes);
  const checked = async (): Promise<void> => {
    await server.settled();
    recorder.check();
  };
  try {
    await world.begin();
    await checked();
    for (let step = 0; step < STEPS; step++) {
      const acts = 1 + random.below(3);
      await Promise.all(Array.from({ length: acts }, () => world.act()));
      if (random.below(3) > 0) await checked();
      const time = world.pass();
      await server.clock.advance(time);
      world.steps.push(`${time} pass`);
      await checked();
    }
    await world.calm();
    await checked();
    await server.clock.advance('20m');
    await checked();
    checkEnd(recorder);
    await world.clear();
    await checked();
    await server.clock.advance('5m');
    await checked();
    await checkEmpty(server, recorder);
  } catch (error) {
    throw new Error(
      `TEST_SEED=${seed}: ${error}\nsteps:\n${world.steps.slice(-SHOWN).join('\n')}\nevents:\n${recorder.story(String(error), SHOWN)}`,
    );
  } finally {
    recorder.stop();
  }
}

test.each(Array.from({ length: rounds(RUNS) }, (_, n) => testSeed + n))('seed %i', (seed) => play(seed));
