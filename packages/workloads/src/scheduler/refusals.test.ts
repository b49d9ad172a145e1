/** What each node refuses is what the scheduler itself decides. */
import { atOnce } from '@plat-dev/lib/slices';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { messageOf } from './decide.ts';
import { nodeRefusals } from './refusals.ts';
import { type NodeOptions, type PodOptions, testNode, testPod, World, zone } from './world.testing.ts';

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const term = { labelSelector: { matchLabels: { app: 'a' } }, topologyKey: zone };
const nodeOptions: fc.Arbitrary<NodeOptions> = fc.record({
  cpu: oneOf('1', '2'),
  pods: oneOf('1', '10'),
  labels: oneOf({ [zone]: 'x' }, { [zone]: 'y' }),
  taints: oneOf([], [{ key: 'gpu', effect: 'NoSchedule' }]),
  unschedulable: fc.boolean(),
});
const podOptions: fc.Arbitrary<PodOptions> = fc.record({
  cpu: oneOf('100m', '900m', '1500m'),
  labels: oneOf({ app: 'a' }, { app: 'b' }),
  spec: oneOf(
    {},
    { nodeSelector: { [zone]: 'x' } },
    { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    { tolerations: [{ key: 'gpu', operator: 'Exists' }] },
    {
      topologySpreadConstraints: [{ maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: term.labelSelector }],
    },
  ),
});

test('refusals of all nodes make the message of the scheduler, whatever nodes and pods there are', () => {
  fc.assert(
    fc.property(
      fc.array(nodeOptions, { minLength: 1, maxLength: 5 }),
      fc.array(fc.tuple(podOptions, fc.nat(4)), { maxLength: 6 }),
      podOptions,
      (nodes, placed, options) => {
        const world = new World();
        nodes.forEach((node, i) => void world.node(`n${i}`, node));
        const placedPods = placed.map(([pod, at], i) => testPod(`p${i}`, { ...pod, node: `n${at % nodes.length}` }));
        for (const pod of placedPods) world.update(pod);
        const decision = world.place('web', { ...options, priority: 0 });
        const refusals = atOnce(
          nodeRefusals(kubernetes, testPod('web', options), {
            nodes: nodes.map((node, i) => testNode(`n${i}`, node)),
            pods: placedPods,
            namespaces: [],
            claims: [],
            volumes: [],
            classes: [],
            drivers: [],
          }),
        );
        const fitting = refusals.filter(({ reasons }) => reasons.length === 0).map(({ node }) => node);
        if (decision.startsWith('0/')) {
          expect(fitting).toEqual([]);
          expect(decision.startsWith(messageOf(nodes.length, refusals))).toBe(true);
        } else expect(fitting).toContain(decision);
      },
    ),
    { numRuns: rounds(200) },
  );
});
