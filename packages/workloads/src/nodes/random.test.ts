/** Whatever happens to pods and nodes in whatever order, each pod goes through its phases in order, and all settle. */

import { FakeApi, fakeKinds, type Loose, runControllers } from '@plat-dev/controllers/testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { expect, test } from 'vitest';
import { simulatedNodes } from './index.ts';

const { pods, namespaces, configMaps, secrets } = fakeKinds;
const nodes = { group: '', version: 'v1', name: 'nodes', kind: 'Node', namespaced: false } as const;
const claims = { group: '', version: 'v1', name: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim', namespaced: true } as const;
const leases = { group: 'coordination.k8s.io', version: 'v1', name: 'leases', kind: 'Lease', namespaced: true } as const;
const note = (name: string): string => `simulation.kubernetes.io/${name}`;

const lives: Record<string, string>[] = [
  {},
  { [note('slow-pull')]: '7s' },
  { [note('ready-after')]: '3s' },
  { [note('complete-after')]: '5s' },
  { [note('complete-after')]: '4s', [note('exit-code')]: '2' },
  { [note('crash-loop')]: 'true' },
  { [note('never-ready')]: 'true' },
  { [note('stop-after')]: '6s' },
];
const rank: Record<string, number> = { Pending: 0, Running: 1, Succeeded: 2, Failed: 2 };

/** Checks every state of every pod against the one before it. */
class Witness {
  private readonly last = new Map<string, Loose>();
  check(all: readonly Loose[]): void {
    const addresses = new Map<string, string>();
    for (const { metadata, status } of all) {
      const before = this.last.get(metadata.uid);
      this.last.set(metadata.uid, status);
      const isOver = status.phase === 'Succeeded' || status.phase === 'Failed';
      if (!isOver && status.podIP !== undefined) {
        expect(addresses.get(status.podIP), `${metadata.name} shares its address`).toBeUndefined();
        addresses.set(status.podIP, metadata.name);
      }
      if (before === undefined) continue;
      expect(rank[status.phase], metadata.name).toBeGreaterThanOrEqual(rank[before.phase] as number);
      if (rank[before.phase] === 2) expect(status.phase).toBe(before.phase);
      if (before.podIP !== undefined) expect(status.podIP).toBe(before.podIP);
      const count = (one: Loose): number => one.containerStatuses?.[0]?.restartCount ?? 0;
      expect(count(status)).toBeGreaterThanOrEqual(count(before));
      if (status.containerStatuses?.[0]?.ready) expect(status.containerStatuses[0].state.running).toBeDefined();
    }
  }
}

test('pods and nodes that come, go, fail and return', async () => {
  const random = seededRandom(testSeed);
  const api = new FakeApi([nodes, pods, namespaces, configMaps, secrets, claims, leases], new FakeClock());
  api.put(namespaces, { metadata: { name: 'ns' } });
  let run = runControllers(api, [simulatedNodes({ count: 3, kinds: false, metrics: false, events: false })]);
  await run.idle();
  const witness = new Witness();
  let made = 0;
  const pick = <T>(list: readonly T[]): T | undefined => (list.length === 0 ? undefined : list[random.below(list.length)]);
  const setDown = (name: string, down: boolean): void => {
    const node = api.get(nodes, '', name);
    const annotations = { ...node.metadata.annotations, [note('down')]: String(down) };
    api.put(nodes, { ...node, metadata: { ...node.metadata, annotations } });
  };
  const actions: (() => MaybePromise<void>)[] = [
    () => {
      const restartPolicy = pick(['Always', 'OnFailure', 'Never']);
      api.put(pods, {
        metadata: { name: `p${made++}`, namespace: 'ns', annotations: pick(lives) },
        spec: { nodeName: `node-${random.below(3)}`, restartPolicy, containers: [{ name: 'main', image: 'x' }] },
        status: { phase: 'Pending' },
      });
    },
    () => {
      const pod = pick(api.all(pods).filter(({ metadata }) => metadata.deletionTimestamp === undefined));
      if (pod === undefined) return;
      const metadata = { ...pod.metadata, deletionTimestamp: '2024-01-01T00:00:00Z', deletionGracePeriodSeconds: 10 };
      api.put(pods, { ...pod, metadata });
    },
    () => setDown(`node-${random.below(3)}`, random.below(2) === 0),
    () => run.pass(random.below(8000)),
    () => run.idle(),
    async () => {
      if (random.below(10) > 0) return;
      await run.stop();
      expect(run.failures).toEqual([]);
      run = runControllers(api, [simulatedNodes({ count: 3, kinds: false, metrics: false, events: false })]);
      await run.idle();
    },
  ];
  for (let i = 0; i < 250; i++) {
    // New pods are twice as likely as anything else.
    await actions[Math.max(random.below(actions.length + 1) - 1, 0)]?.();
    witness.check(api.all(pods));
  }
  for (const name of ['node-0', 'node-1', 'node-2']) setDown(name, false);
  await run.pass(60_000);
  witness.check(api.all(pods));
  expect(made).toBeGreaterThan(50);
  for (const { metadata, spec, status } of api.all(pods)) {
    expect(metadata.deletionTimestamp, `${metadata.name} is gone`).toBeUndefined();
    const { annotations } = metadata;
    const isLeft = ['ready-after', 'never-ready', 'stop-after'].every((name) => annotations[note(name)] === undefined);
    const isSaid = annotations[note('complete-after')] !== undefined || annotations[note('crash-loop')] !== undefined;
    const exit = isSaid || (isLeft && spec.restartPolicy !== 'Always');
    const fails = annotations[note('exit-code')] !== undefined || annotations[note('crash-loop')] !== undefined;
    const restarts = spec.restartPolicy === 'Always' || (fails && spec.restartPolicy === 'OnFailure');
    expect(status.phase, jsonText({ metadata, spec })).toBe(!exit || restarts ? 'Running' : fails ? 'Failed' : 'Succeeded');
    const isReady = annotations[note('never-ready')] === undefined && !exit;
    if (!exit) expect(status.containerStatuses[0].ready).toBe(isReady);
  }
  await run.stop();
  expect(run.failures.filter(({ error }) => (error as Loose).code !== 409)).toEqual([]);
});
