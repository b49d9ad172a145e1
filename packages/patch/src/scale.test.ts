import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from './managers.ts';
import { objectManagers, viewManagers } from './scale.ts';

const path = (version: string): readonly string[] | undefined => (version === 'apps/v1' ? ['spec', 'replicas'] : undefined);
const entry = (manager: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Apply',
  apiVersion: 'apps/v1',
  time: '2024-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as NonNullable<ManagedFieldsEntry['fieldsV1']>,
  ...more,
});
const replicas = { 'f:spec': { 'f:replicas': {} } };
const alpha = entry('alpha', { 'f:spec': { 'f:replicas': {}, 'f:selector': {} } });
const other = entry('other', { 'f:spec': { 'f:template': {} } }, { operation: 'Update' });
const scaler = entry('hpa', replicas, { operation: 'Update', apiVersion: 'autoscaling/v1', subresource: 'scale' });

test('the view shows the owners of the number, in its own version', () => {
  expect(viewManagers([alpha, other, entry('gone', replicas, { apiVersion: 'apps/v0' })], path, 'autoscaling/v1')).toEqual([
    { ...alpha, apiVersion: 'autoscaling/v1', fieldsV1: replicas },
  ]);
  expect(viewManagers(undefined, path, 'autoscaling/v1')).toBeUndefined();
});

test('who took the number through the view takes the field; its entry has no time', () => {
  expect(objectManagers([alpha, other], [scaler], path, 'apps/v1')).toEqual([
    { ...alpha, fieldsV1: { 'f:spec': { 'f:selector': {} } } },
    { manager: 'hpa', operation: 'Update', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1: replicas, subresource: 'scale' },
    other,
  ]);
});

test('who keeps the number keeps its entry as it was', () => {
  const view = viewManagers([alpha, other], path, 'autoscaling/v1');
  expect(objectManagers([alpha, other], view, path, 'apps/v1')).toEqual([alpha, other]);
  const { time: _, ...timeless } = { ...scaler, apiVersion: 'apps/v1' };
  expect(objectManagers([timeless], [scaler], path, 'apps/v1')).toEqual([timeless]);
});

test('a version that does not scale has nothing to lose', () => {
  const plain = (version: string): readonly string[] => (version === 'apps/v1' ? ['spec', 'replicas'] : []);
  const elsewhere = entry('old', replicas, { apiVersion: 'apps/v1beta1' });
  expect(viewManagers([elsewhere], plain, 'autoscaling/v1')).toBeUndefined();
  expect(objectManagers([elsewhere], undefined, plain, 'apps/v1')).toEqual([elsewhere]);
});
