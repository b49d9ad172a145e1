import { expect, test } from 'vitest';
import { LeaseKind } from '../coordination/lease.ts';
import { RuntimeClassKind } from '../node/runtime-class.ts';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { PriorityClassKind } from './priority-class.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const priority = (fields: Loose, name = 'p'): Loose => ({ metadata: { name }, ...fields });

test.each<[string, Loose, string[]]>([
  ['a name of the system', priority({ value: 1 }, 'system-mine'), ['metadata.name | Forbidden']],
  ['a value of the system', priority({ value: 1_000_000_001 }), ['value | Forbidden']],
  ['another value for the system', priority({ value: 1 }, 'system-node-critical'), ['must be 2000001000']],
  [
    'the default for the system',
    priority({ value: 2_000_001_000, globalDefault: true }, 'system-node-critical'),
    ['globalDefault of system-node-critical'],
  ],
  ['a policy', priority({ preemptionPolicy: 'Perhaps' }), ['preemptionPolicy | NotSupported']],
  ['nothing else', priority({ value: -7 }), []],
  ['nor the system', priority({ value: 2_000_000_000 }, 'system-cluster-critical'), []],
])('a priority class refuses %s', (_name, body, texts) => {
  expect(create(PriorityClassKind, body).errors).toEqual(like(texts));
});

test('a priority class has one generation and keeps its meaning', () => {
  const { object } = create(PriorityClassKind, priority({ value: 5 }));
  expect(object).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority', metadata: { generation: 1 } });
  expect(update(PriorityClassKind, object, (o) => Object.assign(o, { description: 'd' })).object.metadata.generation).toBe(1);
  expect(update(PriorityClassKind, object, (o) => Object.assign(o, { value: 6, preemptionPolicy: 'Never' })).errors).toEqual([
    'Value | Forbidden | Forbidden: may not be changed in an update.',
    'preemptionPolicy | Invalid | Invalid value: "Never": field is immutable',
  ]);
  expect(PriorityClassKind.cells?.(object as never, testEnv)).toEqual(['p', 5, false, '27h', 'PreemptLowerPriority']);
});

test('a lease has a duration', () => {
  const { object, errors } = create(LeaseKind, { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } });
  expect(errors).toEqual([]);
  expect(LeaseKind.cells?.(object as never, testEnv)).toEqual(['l', 'me', '27h']);
  expect(update(LeaseKind, object, (o) => Object.assign(o.spec, { leaseDurationSeconds: 0, leaseTransitions: -1 })).errors).toEqual(
    like(['spec.leaseDurationSeconds | Invalid', 'spec.leaseTransitions | Invalid']),
  );
});

test('a runtime class keeps its handler', () => {
  const body = { metadata: { name: 'r' }, handler: 'fast' };
  const { object } = create(RuntimeClassKind, body);
  expect(update(RuntimeClassKind, object, (o) => Object.assign(o, { handler: 'slow' })).errors).toEqual(like(['handler | Invalid']));
  const tolerations = [{ operator: 'Equal' }, { key: 'k', operator: 'Exists' }, { key: 'k', operator: 'Exists' }];
  const bad = {
    ...body,
    handler: 'Bad.Handler',
    overhead: { podFixed: { cpu: '-1' } },
    scheduling: { nodeSelector: { 'bad key!': 'v' }, tolerations },
  };
  expect(create(RuntimeClassKind, bad).errors).toEqual(
    like([
      'handler | Invalid',
      'overhead.limits[cpu] | Invalid',
      'scheduling.nodeSelector | Invalid',
      'scheduling.tolerations.tolerations[0].operator | Invalid',
      'scheduling.tolerations[2] | Duplicate | Duplicate value: core.Toleration{Key:"k"',
    ]),
  );
});
