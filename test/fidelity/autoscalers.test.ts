/** Autoscalers between versions: what is stored is what version 1 and its annotations can say. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers, type Row } from './table.ts';

let server: TestServer;
let namespace: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', direct: true });
  namespace = await server.namespace();
});
afterAll(() => server.close());

let serial = 0;
const at = (version: string, name = ''): string =>
  `/apis/autoscaling/${version}/namespaces/${namespace}/horizontalpodautoscalers${name === '' ? '' : `/${name}`}`;
const body = (spec: Loose, annotations?: Loose): Loose => ({
  metadata: { name: `h${++serial}`, ...(annotations && { annotations }) },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 5, ...spec },
});
const note = (name: string): string => `autoscaling.alpha.kubernetes.io/${name}`;
const cpu = (averageUtilization: number): Loose => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const describedObject = { kind: 'Service', name: 's' };
const object = (target: Loose): Loose => ({ type: 'Object', object: { describedObject, metric: { name: 'm' }, target } });
const external = (target: Loose): Loose => ({ type: 'External', external: { metric: { name: 'm' }, target } });
const pods = (target: Loose): Loose => ({ type: 'Pods', pods: { metric: { name: 'm' }, target } });
const memory = (target: Loose): Loose => ({ type: 'Resource', resource: { name: 'memory', target } });

/** Metrics as they are sent, and as they are answered. */
const kept: readonly (readonly [string, Loose[], Loose[]])[] = [
  ['no metric is a metric of processors', [], [cpu(80)]],
  [
    'processors come last',
    [cpu(70), memory({ type: 'AverageValue', averageValue: '1Gi' })],
    [memory({ type: 'AverageValue', averageValue: '1Gi' }), cpu(70)],
  ],
  ['of several metrics of processors the first', [cpu(70), cpu(60)], [cpu(70)]],
  [
    'an average alone has a value of 0 beside it',
    [object({ type: 'AverageValue', averageValue: '10' })],
    [object({ type: 'AverageValue', averageValue: '10', value: '0' })],
  ],
  ['a value is enough', [object({ type: 'Value', value: '10' })], [object({ type: 'Value', value: '10' })]],
  [
    'the type follows from the values',
    [object({ type: 'Value', value: '1', averageValue: '2' })],
    [object({ type: 'AverageValue', value: '1', averageValue: '2' })],
  ],
  [
    'of external metrics too',
    [external({ type: 'Utilization', averageValue: '2' })],
    [external({ type: 'AverageValue', averageValue: '2' })],
  ],
  ['pods have an average', [pods({ type: 'Value', value: '9', averageValue: '2' })], [pods({ type: 'AverageValue', averageValue: '2' })]],
  ['an amount of memory', [memory({ type: 'Value', averageValue: '5Mi' })], [memory({ type: 'AverageValue', averageValue: '5Mi' })]],
];
test.each(kept)('version 2: %s', async (_name, metrics, wanted) => {
  const sent = body({ metrics });
  const made = await server.admin.ok('POST', at('v2'), sent);
  expect(made.spec.metrics).toEqual(wanted);
  for (const version of ['v2', 'v2beta2'])
    expect((await server.admin.get(at(version, sent.metadata.name))).json.spec.metrics, version).toEqual(wanted);
  expect((await server.admin.ok('POST', `${at('v2beta2')}?dryRun=All`, body({ metrics }))).spec.metrics).toEqual(wanted);
});

test('an amount of zero that was stored may not be sent again', async () => {
  const sent = body({ metrics: [object({ type: 'AverageValue', averageValue: '10' })] });
  const made = await server.admin.ok('POST', at('v2'), sent);
  await answers(server.admin, [
    ['PUT', at('v2', made.metadata.name), made, 422, ['spec.metrics[0].object.target.value Invalid']],
    ['PUT', at('v2', made.metadata.name), { ...made, spec: sent.spec }, 200],
    ['PATCH', at('v2', made.metadata.name), { spec: { maxReplicas: 7 } }, 422, ['spec.metrics[0].object.target.value Invalid']],
  ]);
});

const metric2beta1 = (fields: Loose): Loose =>
  body({ metrics: [{ type: 'Object', object: { target: describedObject, metricName: 'm', ...fields } }] });
test('refusals name the fields of version 2', async () => {
  const rules = (scaleUp: Loose): Loose => body({ behavior: { scaleUp } });
  const policies = [{ type: 'Pods', value: 1, periodSeconds: 1 }];
  const place = 'spec.behavior.scaleUp';
  const rows: Row[] = [
    ['POST', at('v2beta1'), metric2beta1({ averageValue: '3' }), 422, ['spec.metrics[0].object.target.value Invalid']],
    ['POST', at('v2beta1'), metric2beta1({ targetValue: '3' }), 201],
    [
      'POST',
      at('v2'),
      body({ metrics: [pods({ type: 'AverageValue', averageValue: '0' })] }),
      422,
      ['spec.metrics[0].pods.target.averageValue Invalid'],
    ],
    ['POST', at('v2'), body({ metrics: [pods({ type: 'AverageValue' })] }), 422, ['spec.metrics[0].pods.target.averageValue Required']],
    [
      'POST',
      at('v2'),
      body({ metrics: [external({ type: 'Value', value: '0' })] }),
      422,
      ['spec.metrics[0].external.target.value Invalid'],
    ],
    ['POST', at('v1'), body({ targetCPUUtilizationPercentage: 0 }), 422, ['spec.metrics[0].resource.target.averageUtilization Invalid']],
    ['POST', at('v2'), rules({ policies: [] }), 422, [`${place}.policies Required`]],
    ['POST', at('v2'), rules({ policies, stabilizationWindowSeconds: 3601 }), 422, [`${place}.stabilizationWindowSeconds Invalid`]],
    ['POST', at('v2'), rules({ policies, stabilizationWindowSeconds: -1 }), 422, [`${place}.stabilizationWindowSeconds Invalid`]],
    ['POST', at('v2'), rules({ policies, selectPolicy: 'Most' }), 422, [`${place}.selectPolicy NotSupported`]],
    [
      'POST',
      at('v2'),
      rules({ policies: [{ type: 'Pods', value: 1, periodSeconds: 1801 }] }),
      422,
      [`${place}.policies[0].periodSeconds Invalid`],
    ],
    [
      'POST',
      at('v2'),
      rules({ policies: [{ type: 'Pods', value: 0, periodSeconds: 0 }] }),
      422,
      [`${place}.policies[0].value Invalid`, `${place}.policies[0].periodSeconds Invalid`],
    ],
    // What an annotation brings gets no defaults.
    ['POST', at('v1'), body({}, { [note('behavior')]: '{"ScaleUp":{"SelectPolicy":"Max"}}' }), 422, [`${place}.policies Required`]],
  ];
  await answers(server.admin, rows);
});

test('policies that are none are a mistake in patches, too; the binary form cannot say so', async () => {
  const { metadata } = await server.admin.ok('POST', at('v2'), body({ behavior: { scaleUp: { selectPolicy: 'Max' } } }));
  const one = `${at('v2', metadata.name)}?dryRun=All`;
  const none = { spec: { behavior: { scaleUp: { policies: [] } } } };
  const causes = ['spec.behavior.scaleUp.policies Required'];
  await answers(server.admin, [
    ['PATCH', one, none, 422, causes],
    ['STRATEGIC', one, none, 422, causes],
    ['JSONPATCH', one, [{ op: 'replace', path: '/spec/behavior/scaleUp/policies', value: [] }], 422, causes],
    ['PATCH', one.replace('/v2/', '/v2beta2/'), none, 422, causes],
    // Absent ones have defaults.
    [
      'PATCH',
      one,
      { spec: { behavior: { scaleUp: { policies: null } } } },
      200,
      { spec: { behavior: { scaleUp: { policies: [{}, {}] } } } },
    ],
  ]);
});

test('annotations of version 1 carry the rest, and only there', async () => {
  const flat = [{ type: 'Pods', pods: { metricName: 'm', targetAverageValue: '7' } }];
  const sent = body({}, { [note('metrics')]: JSON.stringify(flat), [note('behavior')]: '{}', mine: 'x' });
  const made = await server.admin.ok('POST', at('v1'), sent);
  expect(made.spec.targetCPUUtilizationPercentage).toBeUndefined();
  expect(made.metadata.annotations).toEqual({ mine: 'x', [note('metrics')]: JSON.stringify(flat) });
  const v2 = (await server.admin.get(at('v2', made.metadata.name))).json;
  expect(v2.metadata.annotations).toEqual({ mine: 'x' });
  expect(v2.spec).toMatchObject({ metrics: [pods({ type: 'AverageValue', averageValue: '7' })] });
  expect(v2.spec.behavior).toBeUndefined();
  for (const text of ['not json', '{}', '[{"type":7}]', '[{"type":"Pods","pods":{"targetAverageValue":"x"}}]']) {
    const other = await server.admin.ok('POST', at('v1'), body({}, { [note('metrics')]: text }));
    expect(other.spec.targetCPUUtilizationPercentage, text).toBe(80);
    expect(other.metadata.annotations, text).toBeUndefined();
  }
});

test('what was measured has an amount of zero where version 1 needs one', async () => {
  const { metadata } = await server.admin.ok('POST', at('v1'), body({}));
  const status = { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 40 };
  const old = await server.admin.ok('PUT', `${at('v1', metadata.name)}/status`, { metadata: { name: metadata.name }, status });
  const flat = [{ type: 'Resource', resource: { name: 'cpu', currentAverageUtilization: 40, currentAverageValue: '0' } }];
  expect(JSON.parse(old.metadata.annotations[note('current-metrics')])).toEqual(flat);
  expect((await server.admin.get(at('v2', metadata.name))).json.status).toEqual({
    currentReplicas: 1,
    desiredReplicas: 1,
    currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '0' } } }],
  });
  const measured = { type: 'Object', object: { describedObject, metric: { name: 'm' }, current: { averageValue: '3' } } };
  const given = { status: { currentReplicas: 1, desiredReplicas: 1, currentMetrics: [measured] } };
  const answer = await answers(server.admin, [['PATCH', `${at('v2', metadata.name)}/status`, given, 200]]);
  expect(answer.status.currentMetrics).toEqual([
    { ...measured, object: { ...measured.object, current: { value: '0', averageValue: '3' } } },
  ]);
});
