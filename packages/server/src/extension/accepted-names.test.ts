import type { CustomResourceDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import { expect, test } from 'vitest';
import { acceptNames, takenNames } from './accepted-names.ts';

type Names = CustomResourceDefinition['spec']['names'];
const definition = (names: Names, accepted: Partial<Names> = {}, group = 'example.com'): CustomResourceDefinition =>
  ({
    metadata: { name: `${names.plural}.${group}` },
    spec: { group, names, scope: 'Namespaced' },
    status: { acceptedNames: { plural: '', kind: '', ...accepted } },
  }) as CustomResourceDefinition;
const apples: Names = {
  plural: 'apples',
  singular: 'apple',
  kind: 'Apple',
  listKind: 'AppleList',
  shortNames: ['ap'],
  categories: ['fruit'],
};
const others = [definition(apples, apples), definition({ ...apples, plural: 'far' }, { kind: 'Far', plural: 'far' }, 'other.com')];

const judge = (one: CustomResourceDefinition) => {
  acceptNames(one, takenNames(others, 'example.com'), '2024-01-01T00:00:00Z');
  return one.status;
};
const pear: Names = { plural: 'pears', singular: 'pear', kind: 'Pear', listKind: 'PearList' };

test('names that nobody has are accepted, and the definition is on its way', () => {
  const { acceptedNames, conditions } = judge(definition({ ...pear, shortNames: ['pe'], kind: 'Far' }));
  expect(acceptedNames).toEqual({ ...pear, shortNames: ['pe'], kind: 'Far' });
  expect(conditions).toEqual([
    {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
      lastTransitionTime: '2024-01-01T00:00:00Z',
    },
    {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
      lastTransitionTime: '2024-01-01T00:00:00Z',
    },
  ]);
});

test.each([
  ['SingularConflict', { singular: 'apple' }, '"apple" is already in use'],
  ['SingularConflict', { singular: 'ap' }, '"ap" is already in use'],
  ['ShortNamesConflict', { shortNames: ['pe', 'ap'] }, '"ap" is already in use'],
  ['ShortNamesConflict', { shortNames: ['apples', 'ap'] }, '["apples" is already in use, "ap" is already in use]'],
  ['KindConflict', { kind: 'Apple' }, '"Apple" is already in use'],
  ['KindConflict', { kind: 'AppleList' }, '"AppleList" is already in use'],
  ['ListKindConflict', { listKind: 'Apple' }, '"Apple" is already in use'],
])('%s: %j', (reason, change, message) => {
  const { acceptedNames, conditions } = judge(definition({ ...pear, ...change }));
  expect(conditions?.map((one) => [one.type, one.status, one.reason, one.message])).toEqual([
    ['NamesAccepted', 'False', reason, message],
    ['Established', 'False', 'NotAccepted', 'not all names are accepted'],
  ]);
  // The others are its own already.
  const [field] = Object.keys(change) as (keyof Names)[];
  expect(acceptedNames).toEqual({ ...pear, [field as string]: field === 'kind' ? '' : undefined });
});

test('an established definition keeps its names where new ones are taken, and stays established', () => {
  const one = definition({ ...pear, kind: 'Apple' }, pear);
  one.status.conditions = [{ type: 'Established', status: 'True', lastTransitionTime: '2020-01-01T00:00:00Z', reason: 'x', message: 'y' }];
  const { acceptedNames, conditions } = judge(one);
  expect(acceptedNames.kind).toBe('Pear');
  expect(conditions?.map(({ type, status }) => [type, status])).toEqual([
    ['Established', 'True'],
    ['NamesAccepted', 'False'],
  ]);
});

test('what was judged before is judged the same, and its time stays', () => {
  const one = definition(pear);
  judge(one);
  const before = structuredClone(one.status);
  acceptNames(one, takenNames([...others, one], 'example.com'), '2030-01-01T00:00:00Z');
  expect(one.status).toEqual(before);
});
