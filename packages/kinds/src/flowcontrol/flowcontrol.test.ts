import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { create, inRelease, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { FlowSchemaKind } from './flow-schema.ts';
import { mandatoryLevels, mandatorySchemas } from './mandatory-objects.ts';
import { PriorityLevelConfigurationKind } from './priority-level-configuration.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const schema = (spec: Loose, name = 'f'): Loose => ({ metadata: { name }, spec: { priorityLevelConfiguration: { name: 'p' }, ...spec } });
const rules = (...list: Loose[]): Loose => schema({ rules: list });
const user = { kind: 'User', user: { name: 'u' } };
const path = { verbs: ['get'], nonResourceURLs: ['/x'] };

test.each<[string, Loose, string[]]>([
  ['no level', schema({ priorityLevelConfiguration: {} }), ['spec.priorityLevelConfiguration.name | Required']],
  ['precedence', schema({ matchingPrecedence: 10_001 }), ['spec.matchingPrecedence | Invalid']],
  ['the first place', schema({ matchingPrecedence: 1 }), ["only the schema named 'exempt'"]],
  [
    'methods',
    schema({ distinguisherMethod: { type: 'ByMood' } }),
    ['flowcontrol.FlowDistinguisherMethod{Type:"ByMood"}: supported values: "ByNamespace", "ByUser"'],
  ],
  ['empty rules', rules({}), ['spec.rules[0].subjects | Required', 'spec.rules[0] | Required']],
  [
    'subjects',
    rules({
      subjects: [
        { kind: 'User' },
        { kind: 'Robot' },
        { ...user, group: { name: 'g' } },
        { kind: 'ServiceAccount', serviceAccount: { name: '*' } },
      ],
      nonResourceRules: [path],
    }),
    [
      'subjects[0].user | Required',
      'subjects[1].kind | NotSupported',
      'subjects[2].group | Forbidden',
      'serviceAccount.namespace | Required',
    ],
  ],
  [
    'resources',
    rules({
      subjects: [user],
      resourceRules: [{}, { verbs: ['*', 'get'], apiGroups: ['*', 'a'], resources: ['*', 'b'], namespaces: ['*', 'c'] }],
    }),
    [
      '[0].verbs | Required',
      '[0].apiGroups | Required',
      '[0].resources | Required',
      '[0].namespaces | Required',
      '[1].verbs | Invalid',
      '[1].apiGroups | Invalid',
      '[1].resources | Invalid',
      '[1].namespaces | Invalid',
    ],
  ],
  [
    'paths',
    rules({ subjects: [user], nonResourceRules: [{ verbs: ['fly'], nonResourceURLs: ['', '/', 'x', '/a b', '/a//b', '/a*', '/a/*'] }] }),
    [
      'verbs | NotSupported',
      '[0] | Invalid',
      'must start with slash',
      'must not contain white-space',
      'must not contain double slash',
      'wildcard can only do suffix matching',
    ],
  ],
])('a flow schema refuses %s', (_name, body, texts) => {
  expect(create(FlowSchemaKind, body).errors).toEqual(like(texts));
});

test('what the server cannot do without keeps its meaning', () => {
  for (const [name, spec] of mandatorySchemas) {
    expect(create(FlowSchemaKind, { metadata: { name }, spec }).errors).toEqual([]);
    expect(create(FlowSchemaKind, { metadata: { name }, spec: { ...spec, matchingPrecedence: 7 } }).errors).toEqual(
      like([`spec of '${name}' must equal the fixed value`]),
    );
  }
  for (const [name, spec] of mandatoryLevels)
    expect(create(PriorityLevelConfigurationKind, { metadata: { name }, spec }).errors).toEqual([]);
});

test('only conditions change in a status', () => {
  const { object } = create(FlowSchemaKind, schema({}));
  expect(object.spec.matchingPrecedence).toBe(1000);
  const change = {
    status: { conditions: [{ type: 'Dangling', status: 'True' }] },
    spec: {},
    metadata: { ...object.metadata, labels: { a: 'b' } },
  };
  const told = update(FlowSchemaKind, object, (o) => Object.assign(o, change), 'status');
  expect(told.errors).toEqual([]);
  expect(told.object.spec).toEqual(object.spec);
  expect(told.object.metadata.labels).toBeUndefined();
  expect(FlowSchemaKind.cells?.(told.object as never, testEnv)).toEqual(['f', 'p', 1000, '<none>', '27h', 'True']);
  const twice = { status: { conditions: [{ type: 'A' }, { type: 'A' }, {}] } };
  expect(update(FlowSchemaKind, object, (o) => Object.assign(o, twice), 'status').errors).toEqual(
    like(['conditions[1].type | Duplicate', 'conditions[2].type | Required']),
  );
});

const level = (spec: Loose, name = 'l'): Loose => ({ metadata: { name }, spec });
const limited = (limitResponse: Loose, more: Loose = {}): Loose => level({ type: 'Limited', limited: { limitResponse, ...more } });

test.each<[string, Loose, string[]]>([
  ['types', level({}), ['spec.type | NotSupported']],
  ['exemption', level({ type: 'Exempt', limited: {} }), ['spec.type | Invalid', 'spec.limited | Forbidden']],
  ['no limits', level({ type: 'Limited' }), ['spec.limited | Required']],
  ['queues while rejecting', limited({ type: 'Reject', queuing: {} }), ['queuing | Forbidden']],
  ['no queues while queuing', limited({ type: 'Queue' }), ['queuing | Required']],
  [
    'negative numbers',
    limited({ type: 'Queue', queuing: { queues: -1, handSize: -1, queueLengthLimit: -1 } }, { assuredConcurrencyShares: -1 }),
    ['nominalConcurrencyShares', 'queueLengthLimit', 'queues', 'handSize'],
  ],
  ['hands that are too large', limited({ type: 'Queue', queuing: { queues: 4, handSize: 5 } }), ['should not be greater than queues (4)']],
  [
    'hands that the hash cannot deal',
    limited({ type: 'Queue', queuing: { queues: 100_000, handSize: 50 } }),
    ['required entropy bits of deckSize 100000 and handSize 50'],
  ],
])('a priority level refuses %s', (_name, body, texts) => {
  expect(create(PriorityLevelConfigurationKind, body).errors).toEqual(like(texts));
});

test('limits have usual values', () => {
  const { object, errors } = create(PriorityLevelConfigurationKind, limited({ type: 'Queue', queuing: {} }));
  expect(errors).toEqual([]);
  expect(PriorityLevelConfigurationKind.cells?.(object as never, testEnv)).toEqual(['l', 'Limited', 30, 30, 64, 8, 50, '27h']);
});

test('mandatory levels have shares and lend seats in later releases', () => {
  const mandatory = (name: string, spec: Loose, release: ApiRelease): string[] =>
    create(PriorityLevelConfigurationKind, { metadata: { name }, spec }, inRelease(release)).errors;
  const catchAll = { type: 'Limited', limited: { assuredConcurrencyShares: 5, limitResponse: { type: 'Reject' } } };
  expect(mandatory('catch-all', catchAll, '1.36')).toEqual([]);
  expect(mandatory('catch-all', { ...catchAll, limited: { ...catchAll.limited, lendablePercent: 5 } }, '1.36')).toHaveLength(1);
  expect(mandatory('exempt', { type: 'Exempt', exempt: { nominalConcurrencyShares: 9 } }, '1.36')).toEqual([]);
  expect(mandatory('exempt', { type: 'Exempt', exempt: { lendablePercent: 101 } }, '1.36')).toHaveLength(1);
});
test('a level may have no shares since 1.30, but not fewer', () => {
  const none = (release: ApiRelease): string[] =>
    create(PriorityLevelConfigurationKind, limited({ type: 'Reject' }, { assuredConcurrencyShares: -1 }), inRelease(release)).errors;
  expect(none('1.29')).toEqual(like(['must be positive']));
  expect(none('1.30')).toEqual(like(['must be a non-negative integer']));
});
