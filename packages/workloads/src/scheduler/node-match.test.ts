import { describe, expect, test } from 'vitest';
import { namedNodes, nodeSelectorTest, requiredNodes, tolerates, untoleratedTaint, unwelcomeTaints } from './node-match.ts';

const node = { name: 'n1', labels: { disk: 'ssd', cores: '16', empty: '' } };
const expression = (key: string, operator: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] });

describe('terms of a node selector', () => {
  test.each([
    ['In', expression('disk', 'In', 'hdd', 'ssd'), true],
    ['In with others', expression('disk', 'In', 'hdd'), false],
    ['NotIn', expression('disk', 'NotIn', 'hdd'), true],
    ['NotIn of a label that is not there', expression('rack', 'NotIn', 'a'), true],
    ['Exists', expression('empty', 'Exists'), true],
    ['DoesNotExist', expression('disk', 'DoesNotExist'), false],
    ['Gt', expression('cores', 'Gt', '8'), true],
    ['Gt of the same', expression('cores', 'Gt', '16'), false],
    ['Lt', expression('cores', 'Lt', '17'), true],
    ['Gt with a bound that is no number', expression('cores', 'Gt', 'many'), false],
    ['Gt of a label that is no number', expression('disk', 'Gt', '1'), false],
    ['an operator that is not known', expression('disk', 'Like', 'ssd'), false],
    ['a name', { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }, true],
    ['not a name', { matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n1'] }] }, false],
    ['another field', { matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['n1'] }] }, false],
    ['an empty term', {}, false],
    ['a label of the language', expression('constructor', 'Exists'), false],
  ])('%s', (_name, term, matches) => {
    expect(nodeSelectorTest([term])(node)).toBe(matches);
  });
  test('are alternatives, and requirements of one hold together', () => {
    expect(nodeSelectorTest([expression('disk', 'In', 'hdd'), expression('disk', 'Exists')])(node)).toBe(true);
    const both = [...expression('disk', 'Exists').matchExpressions, ...expression('disk', 'In', 'hdd').matchExpressions];
    expect(nodeSelectorTest([{ matchExpressions: both }])(node)).toBe(false);
    expect(nodeSelectorTest([])(node)).toBe(false);
  });
});

describe('nodes that a pod requires', () => {
  const affinity = (...terms: object[]) =>
    ({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } }) as never;
  test('are those of its selector and of its affinity', () => {
    expect(requiredNodes({})).toBeUndefined();
    expect(requiredNodes({ nodeSelector: { disk: 'ssd' } })?.(node)).toBe(true);
    expect(requiredNodes({ nodeSelector: { disk: 'hdd' }, affinity: affinity(expression('disk', 'Exists')) })?.(node)).toBe(false);
    expect(requiredNodes({ nodeSelector: { disk: 'ssd' }, affinity: affinity(expression('cores', 'Lt', '2')) })?.(node)).toBe(false);
  });
  test('are named if every term names some', () => {
    const name = (...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator: 'In', values }] });
    expect(namedNodes({ affinity: affinity(name('a', 'b'), name('c')) })).toEqual(new Set(['a', 'b', 'c']));
    expect(namedNodes({ affinity: affinity(name('a'), expression('disk', 'Exists')) })).toBeUndefined();
    expect(namedNodes({})).toBeUndefined();
  });
});

describe('taints', () => {
  const taint = { key: 'dedicated', value: 'db', effect: 'NoSchedule' };
  test.each([
    ['the same key and value', { key: 'dedicated', value: 'db' }, true],
    ['Equal', { key: 'dedicated', operator: 'Equal', value: 'web' }, false],
    ['Exists', { key: 'dedicated', operator: 'Exists' }, true],
    ['Exists without a key', { operator: 'Exists' }, true],
    ['another effect', { key: 'dedicated', operator: 'Exists', effect: 'NoExecute' }, false],
    ['the same effect', { key: 'dedicated', value: 'db', effect: 'NoSchedule' }, true],
    ['another key', { key: 'special', operator: 'Exists' }, false],
  ])('are tolerated by %s: %#', (_name, toleration, expected) => {
    expect(tolerates(toleration, taint)).toBe(expected);
  });
  test('keep pods away, except those that only ask', () => {
    const soft = { key: 'busy', effect: 'PreferNoSchedule' };
    expect(untoleratedTaint([], [soft, taint])).toBe(taint);
    expect(untoleratedTaint([], [soft])).toBeUndefined();
    expect(unwelcomeTaints([], [soft, taint, { ...soft, key: 'hot' }])).toBe(2);
    expect(unwelcomeTaints([{ key: 'busy', operator: 'Exists' }], [soft])).toBe(0);
    expect(unwelcomeTaints([{ key: 'busy', operator: 'Exists', effect: 'NoSchedule' }], [soft])).toBe(1);
  });
});
