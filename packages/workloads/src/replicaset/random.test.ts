/** Whatever happens to pods and their labels: every owner ends with its number of pods, all of which match, and no match is left alone. */

import { FakeApi, type Loose, runControllers } from '@plat-dev/controllers/testing';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import { controllerOf } from '../shared/pods.ts';
import { WorkloadApi, workloadKinds } from '../shared/workload-api.testing.ts';
import { replicaController } from './controller.ts';
import { replicaSets, replicationControllers } from './kinds.ts';

const { pods, replicaSets: setKind, replicationControllers: controllerKind } = workloadKinds;
const RUNS = 8;
const STEPS = 25;
const kinds = [setKind, controllerKind];
const apps = ['x', 'y', 'z'];
const templateOf = (app: string): Loose => ({ metadata: { labels: { app } }, spec: { containers: [{ name: 'c', image: 'i' }] } });

/** One thing that a client or a node does. */
async function act(api: WorkloadApi, random: Random): Promise<void> {
  const all = api.all(pods);
  const some = all[random.below(Math.max(all.length, 1))];
  const app = apps[random.below(apps.length)] as string;
  const what = random.below(7);
  if (what === 0)
    api.make(pods, { metadata: { name: `orphan${all.length}-${random.below(1e9)}`, labels: { app } }, spec: templateOf(app).spec });
  else if (what === 1) {
    api.edit(kinds[random.below(2)] as (typeof kinds)[0], 'web', ({ spec }) => {
      spec.replicas = random.below(6);
    });
  } else if (what === 2) await api.end();
  else if (some === undefined) return;
  else if (what === 3) {
    api.edit(pods, some.metadata.name, ({ metadata }) => {
      metadata.labels = { app };
    });
  } else if (what === 4) await api.remove(pods, 'a', some.metadata.name);
  else if (what === 5) api.fail(some);
  else api.run(some, random.below(3) > 0);
}

async function play(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const api = new WorkloadApi();
  api.isGraceful = random.below(2) === 0;
  api.make(setKind, {
    metadata: { name: 'web' },
    spec: { replicas: 3, selector: { matchLabels: { app: 'x' } }, template: templateOf('x') },
  });
  api.make(controllerKind, { metadata: { name: 'web' }, spec: { replicas: 2, selector: { app: 'y' }, template: templateOf('y') } });
  const settings = { deletionCost: true, logarithmic: true };
  const run = runControllers(api, [replicaController(replicaSets, settings), replicaController(replicationControllers, settings)]);
  let isFailing = false;
  api.before = async (method) => {
    for (let turns = random.below(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
    if (isFailing && method !== 'WATCH' && random.below(20) === 0) FakeApi.refuse(500, 'InternalError', 'out of order');
  };
  await run.idle();
  isFailing = true;
  for (let step = 0; step < STEPS; step++) {
    await act(api, random).catch(() => {});
    if (random.below(2) === 0) await run.idle();
    else await run.pass(100);
  }
  isFailing = false;
  for (let i = 0; i < 5; i++) await run.pass(10_000);
  const message = `seed ${seed}`;
  const active = api.activePods();
  for (const [kind, app] of [
    [setKind, 'x'],
    [controllerKind, 'y'],
  ] as const) {
    const { metadata, spec, status } = api.one(kind, 'web');
    const own = active.filter((pod) => controllerOf(pod)?.uid === metadata.uid);
    expect([own.length, status.replicas], message).toEqual([spec.replicas, spec.replicas]);
    expect(
      own.every((pod) => pod.metadata.labels.app === app),
      message,
    ).toBe(true);
  }
  expect(
    active.filter((pod) => controllerOf(pod) === undefined && pod.metadata.labels.app !== 'z'),
    message,
  ).toEqual([]);
  await run.stop();
}

test('every owner ends with its pods, whatever happens on the way', async () => {
  for (let i = 0; i < RUNS; i++) await play(testSeed + i);
});
