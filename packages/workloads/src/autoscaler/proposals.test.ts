import type { Loose } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import type { Metric } from './autoscaler.ts';
import { Metrics } from './metrics-client.ts';
import { proposeAll, type Situation } from './proposals.ts';
import { tolerancesOf } from './replicas.ts';

/** A metrics API without any metric, and how often it is asked: in all, and at most at a time. */
function emptyApi(): { readonly situation: Situation; readonly asked: { all: number; most: number } } {
  const asked = { all: 0, most: 0 };
  let open = 0;
  const json = async (): Promise<Loose> => {
    asked.all++;
    asked.most = Math.max(asked.most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open--;
    return { items: [] };
  };
  const metrics = new Metrics({ client: { json }, identity: { groupSuffix: 'k8s.io' }, served: {} } as Loose);
  const situation: Situation = {
    namespace: 'a',
    specReplicas: 1,
    statusReplicas: 1,
    tolerances: tolerancesOf(undefined),
    selector: 'app=web',
    pods: [],
    now: 0,
    metrics,
  };
  return { situation, asked };
}
const COUNT = 100;
const many = (make: (i: number) => Loose): Metric[] => Array.from({ length: COUNT }, (_, i) => make(i));

test('the usage of pods is read once, however many resources an autoscaler names', async () => {
  const { situation, asked } = emptyApi();
  const target = { type: 'Utilization', averageUtilization: 50 };
  const { failed } = await proposeAll(
    many((i) => ({ type: 'Resource', resource: { name: `cpu${i}`, target } })),
    situation,
  );
  expect(failed.map(({ reason }) => reason)).toEqual(Array.from({ length: COUNT }, () => 'FailedGetResourceMetric'));
  expect(asked).toEqual({ all: 1, most: 1 });
});

test('other metrics are asked for one after another', async () => {
  const { situation, asked } = emptyApi();
  const target = { type: 'Value', value: '1' };
  const { failed } = await proposeAll(
    many((i) => ({ type: 'External', external: { metric: { name: `m${i}` }, target } })),
    situation,
  );
  expect(failed).toHaveLength(COUNT);
  expect(asked).toEqual({ all: COUNT, most: 1 });
});
