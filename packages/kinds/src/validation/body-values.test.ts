import { jsonText } from '@plat-dev/lib/json-text';
import { FieldErrors } from '@plat-dev/meta/field';
import { expect, test } from 'vitest';
import { LimitRangeKind } from '../core/limit-range.ts';
import { PersistentVolumeKind } from '../core/persistent-volume.ts';
import type { Kind, Strategy, WriteRequest } from '../kind.ts';
import { bodyValueOf, spelling } from './body-values.ts';
import { readQuantityText, resourceListText } from './go-quantities.ts';
import { defaulted, type Loose, testEnv } from './kinds.testing.ts';

const requestOf = (sent: string): WriteRequest => ({
  user: { name: 'alice', groups: [] },
  resource: { version: 'v1' },
  sent: Buffer.from(sent),
});
/** What is wrong with a body, from which `admitted` is what admission has made of it. */
const problems = (kind: Kind, body: Loose, admitted = body): string[] => {
  const errors = new FieldErrors();
  const object = defaulted(kind, { metadata: { name: 'x' }, ...admitted }) as Loose;
  (kind.strategy as Strategy<Loose>).validate?.(object, errors, testEnv, requestOf(jsonText(body)));
  return errors.list.map((error) => error.message);
};
const shown = (value: number, scale: number, s: string): string =>
  `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"${s}", Format:"DecimalSI"}`;

test('the body is looked into by path', () => {
  const written = bodyValueOf(requestOf('{"spec":{"limits":[{"max":{"cpu":"0.5"}},{"max":{}}],"limits":[{"min":{}}]}}'));
  expect(written('spec', 'limits', 0)).toEqual({ min: {} });
  expect(written('spec', 'limits', 1)).toBeUndefined();
  expect(written('spec', 'toString')).toBeUndefined();
  expect(bodyValueOf(undefined)('spec')).toBeUndefined();
  expect(bodyValueOf({ ...requestOf(''), sent: undefined })('spec')).toBeUndefined();
});

test('an amount is quoted as it was spelled, as long as it is that amount', () => {
  expect(spelling('500m', '0.5')).toBe('0.5');
  expect(spelling('500m', 0.5)).toBe('0.5');
  expect(spelling('500m', ' 500m ')).toBe('500m');
  expect(spelling('500m', '0.7')).toBe('500m');
  expect(spelling('500m', 'much')).toBe('500m');
  expect(spelling('500m', undefined)).toBe('500m');
});

test('only a text that is given back stands beside the number', () => {
  expect(readQuantityText('0.5')).toBe(shown(5, -1, ''));
  expect(readQuantityText('500m')).toBe(shown(500, -3, '500m'));
  expect(readQuantityText('2000')).toBe(shown(2000, 0, ''));
  expect(readQuantityText('0')).toBe(shown(0, 0, '0'));
  expect(readQuantityText('-1')).toBe(shown(-1, 0, '-1'));
});

test('an empty map is not the same as none', () => {
  expect(resourceListText(undefined, undefined)).toBe('core.ResourceList(nil)');
  expect(resourceListText(undefined, null)).toBe('core.ResourceList(nil)');
  expect(resourceListText(undefined, {})).toBe('core.ResourceList{}');
  expect(resourceListText({ cpu: '500m' }, { cpu: '0.5' })).toBe(`core.ResourceList{"cpu":${shown(5, -1, '')}}`);
});

const limits = (item: object) => ({ spec: { limits: [{ type: 'Container', ...item }] } });
test.each([
  ['a fraction', { maxLimitRequestRatio: { cpu: '0.5' } }, [`Invalid value: ${shown(5, -1, '')}: ratio 500m is less than 1`]],
  ['thousandths', { maxLimitRequestRatio: { cpu: '500m' } }, [`Invalid value: ${shown(500, -3, '500m')}: ratio 500m is less than 1`]],
  [
    'what was filled in from another field',
    { max: { cpu: '1' }, default: { cpu: '1.5' } },
    [
      `Invalid value: ${shown(15, -1, '')}: default request value 1500m is greater than max value 1`,
      `Invalid value: ${shown(1, 0, '1')}: default value 1500m is greater than max value 1`,
    ],
  ],
])('limits: %s', (_name, item, messages) => {
  expect(problems(LimitRangeKind, limits(item))).toEqual(messages);
});

test('what admission has changed is shown as it is', () => {
  const ratio = (cpu: string) => limits({ maxLimitRequestRatio: { cpu } });
  expect(problems(LimitRangeKind, ratio('2.5'), ratio('0.5'))).toEqual([
    `Invalid value: ${shown(500, -3, '500m')}: ratio 500m is less than 1`,
  ]);
});

test('capacities: none, an empty one, a wrong one', () => {
  const volume = (capacity?: object) => ({ spec: { capacity, accessModes: ['ReadWriteOnce'], hostPath: { path: '/d' } } });
  const unsupported = (text: string): string => `Unsupported value: ${text}: supported values: "storage"`;
  expect(problems(PersistentVolumeKind, volume())).toEqual(['Required value', unsupported('core.ResourceList(nil)')]);
  expect(problems(PersistentVolumeKind, volume({}))).toEqual(['Required value', unsupported('core.ResourceList{}')]);
  expect(problems(PersistentVolumeKind, volume({ cpu: '1.5' }))).toEqual([unsupported(`core.ResourceList{"cpu":${shown(15, -1, '')}}`)]);
});
