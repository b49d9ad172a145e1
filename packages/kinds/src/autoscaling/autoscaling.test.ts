import { kubernetes, plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { fromHubNow, serve, toHubNow } from '../served-kind.ts';
import { create, defaulted, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { normalize } from '../validation/laws.testing.ts';
import { HorizontalPodAutoscalerKind } from './horizontal-pod-autoscaler.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const body = (spec: Loose = {}): Loose => ({ metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 5, ...spec } });
const noGates = { ...testEnv, feature: () => false };
const make = (spec: Loose) => create(HorizontalPodAutoscalerKind, body(spec), noGates);
const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } };

test('without metrics the processors decide', () => {
  const { object, errors } = make({});
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ minReplicas: 1, metrics: [cpu(80)] });
  expect(object.spec.behavior).toBeUndefined();
});

test('a behaviour that says little gets the usual policies', () => {
  const { scaleUp, scaleDown } = make({ behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } }).object.spec.behavior;
  expect(scaleUp).toEqual({
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  });
  expect(scaleDown).toEqual({
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  });
});

test.each<[string, Loose, string[]]>([
  ['numbers', { minReplicas: 6 }, ['spec.maxReplicas | Invalid | Invalid value: 5: must be greater than or equal to `minReplicas`']],
  ['nothing', { minReplicas: 0 }, ['spec.minReplicas | Invalid', 'spec.metrics | Forbidden']],
  ['targets', { scaleTargetRef: { kind: 'a/b', name: '' } }, ['spec.scaleTargetRef.kind | Invalid', 'spec.scaleTargetRef.name | Required']],
  ['types', { metrics: [{ type: 'Weather' }] }, ['spec.metrics[0].type | NotSupported', 'spec.metrics[0].type | NotSupported']],
  [
    'two sources',
    { metrics: [{ ...cpu(5), pods: { metric: { name: 'x' }, target: { type: 'AverageValue', averageValue: '1' } } }] },
    ['spec.metrics[0].pods | Forbidden'],
  ],
  ['no source', { metrics: [{ type: 'Pods' }] }, ['spec.metrics[0].pods | Required']],
  [
    'values',
    { metrics: [cpu(0), { type: 'Resource', resource: { name: '', target: { type: 'AverageValue', averageValue: '-1' } } }] },
    [
      'averageUtilization | Invalid',
      'resource.name | Required',
      'averageValue | Invalid | Invalid value: resource.Quantity{i:resource.int64Amount{value:-1, scale:0}',
    ],
  ],
  [
    'behaviour',
    {
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 3601, selectPolicy: 'Odd', policies: [{ type: 'Odd', value: 0, periodSeconds: 1801 }] },
      },
    },
    [
      'stabilizationWindowSeconds | Invalid',
      'selectPolicy | NotSupported',
      'policies[0].type | NotSupported',
      'policies[0].value | Invalid',
      'policies[0].periodSeconds | Invalid',
    ],
  ],
  [
    'metrics of containers while their feature is off',
    {
      metrics: [
        {
          type: 'ContainerResource',
          containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 6 } },
        },
      ],
    },
    ['containerResource | Required | Required value: must populate information for the given metric source (only allowed when'],
  ],
])('an autoscaler refuses %s', (_name, spec, texts) => {
  expect(make(spec).errors).toEqual(like(texts));
});

test('an autoscaler that scaled to nothing may go on', () => {
  const { object } = make({
    minReplicas: 1,
    metrics: [{ type: 'External', external: { metric: { name: 'q' }, target: { type: 'Value', value: '1' } } }],
  });
  object.spec.minReplicas = 0;
  expect(update(HorizontalPodAutoscalerKind, object, (o) => Object.assign(o.spec, { maxReplicas: 9 }), '', noGates).errors).toEqual([]);
});

test('the metric of processor time is stored last', () => {
  const { object } = make({ metrics: [cpu(70), memory] });
  normalize(HorizontalPodAutoscalerKind, object);
  expect(object.spec.metrics).toEqual([memory, cpu(70)]);
});

// ---- older versions ----------------------------------------------------------------------------------------------

const served = (version: string, identity = kubernetes) =>
  serve(HorizontalPodAutoscalerKind, identity).find((one) => one.version === version) as never;
const inVersion = (version: string, object: Loose, identity = kubernetes): Loose =>
  fromHubNow(served(version, identity), structuredClone(object));
const back = (version: string, object: Loose, identity = kubernetes): Loose => toHubNow(served(version, identity), structuredClone(object));

test.each([kubernetes, plat])('version 1 keeps in annotations what it has no fields for ($name)', (identity) => {
  const { object } = make({ metrics: [memory, cpu(70)], behavior: { scaleDown: { selectPolicy: 'Disabled' } } });
  object.status = {
    desiredReplicas: 2,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '4m' } } }],
    conditions: [{ type: 'ScalingActive', status: 'True', lastTransitionTime: '2022-01-02T03:04:05Z' }],
  };
  const old = inVersion('v1', object, identity);
  const note = (name: string) => JSON.parse(old.metadata.annotations[`autoscaling.alpha.${identity.domain}/${name}`]);
  expect(old.spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 70 });
  expect(old.status).toEqual({ currentReplicas: 0, desiredReplicas: 2, currentCPUUtilizationPercentage: 40 });
  expect(note('metrics')).toEqual([{ type: 'Resource', resource: { name: 'memory', targetAverageValue: '100Mi' } }]);
  expect(note('current-metrics')).toEqual([
    { type: 'Resource', resource: { name: 'cpu', currentAverageUtilization: 40, currentAverageValue: '4m' } },
  ]);
  expect(note('behavior').ScaleDown).toEqual({
    StabilizationWindowSeconds: null,
    SelectPolicy: 'Disabled',
    Policies: [{ Type: 'Percent', Value: 100, PeriodSeconds: 15 }],
  });
  expect(note('conditions')[0].type).toBe('ScalingActive');
  const again = back('v1', old, identity);
  expect({ ...again, kind: undefined, apiVersion: undefined }).toEqual({ ...object, kind: undefined, apiVersion: undefined });
});

test('a client of version 1 changes the part it knows and keeps the rest', () => {
  const old = inVersion('v1', make({ metrics: [memory, cpu(70)] }).object);
  old.spec.targetCPUUtilizationPercentage = 20;
  expect(back('v1', old).spec.metrics).toEqual([memory, cpu(20)]);
  delete old.metadata.annotations['autoscaling.alpha.kubernetes.io/metrics'];
  expect(back('v1', old).spec.metrics).toEqual([cpu(20)]);
});

test('an annotation that cannot be read says nothing, and version 2 has none', () => {
  const name = 'autoscaling.alpha.kubernetes.io/metrics';
  const old = { metadata: { name: 'h', annotations: { [name]: 'not json', mine: 'x' } }, spec: { scaleTargetRef, maxReplicas: 5 } };
  const { definition } = served('v1') as Loose;
  definition.defaults(old, testEnv);
  expect(old.metadata.annotations).toEqual({ mine: 'x' });
  expect(back('v1', old).spec.metrics).toEqual([cpu(80)]);
  const given = defaulted(HorizontalPodAutoscalerKind, { ...body(), metadata: { name: 'h', annotations: { [name]: '[]' } } });
  expect(given.metadata.annotations).toBeUndefined();
});

test('a row of an autoscaler', () => {
  const { object } = make({
    metrics: [
      memory,
      cpu(70),
      { type: 'External', external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '3' } } },
    ],
  });
  object.status.currentMetrics = [{ type: 'Resource', resource: { name: 'memory', current: { averageValue: '90Mi' } } }];
  expect(HorizontalPodAutoscalerKind.cells?.(object as never, testEnv)).toEqual([
    'h',
    'Deployment/web',
    '90Mi/100Mi, <unknown>/70% + 1 more...',
    '1',
    5,
    0,
    '27h',
  ]);
});
