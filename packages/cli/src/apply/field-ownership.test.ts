import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { conflictWithOthers, takenOver, withoutFields } from './field-ownership.ts';

test('fields of one tree are taken out of another', () => {
  const tree = { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } };
  expect(withoutFields(tree, { 'f:data': { 'f:a': {} } })).toEqual({
    'f:data': { '.': {}, 'f:b': {} },
    'f:metadata': { 'f:labels': { 'f:x': {} } },
  });
  expect(withoutFields(tree, { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } })).toBeUndefined();
  expect(withoutFields(tree, {})).toEqual(tree);
});

test('an apply takes over what the same manager wrote by updates, and leaves the rest to it', () => {
  const applied = { manager: 'plat', operation: 'Apply', fieldsV1: { 'f:data': { 'f:a': {} } } };
  const created = { manager: 'plat', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } } };
  const other = { manager: 'else', operation: 'Update', fieldsV1: { 'f:data': { 'f:a': {} } } };
  expect(takenOver([applied, created, other], 'plat')).toEqual([
    applied,
    { ...created, fieldsV1: { 'f:data': { '.': {}, 'f:b': {} } } },
    other,
  ]);
  const scaled = { manager: 'plat', operation: 'Update', fieldsV1: { 'f:data': { 'f:a': {} } } };
  expect(takenOver([applied, scaled], 'plat')).toEqual([applied]);
  expect(takenOver([applied, other], 'plat')).toBeUndefined();
  expect(takenOver([created], 'plat')).toBeUndefined();
});

test('of a conflict only the part with others is left', () => {
  const cause = (manager: string) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with "${manager}" using v1`,
    field: `.data.${manager}`,
  });
  const conflict = (...managers: string[]) => new ApiError(409, 'Conflict', 'conflicts', { causes: managers.map(cause) });
  expect(conflictWithOthers(conflict('plat', 'plat'), 'plat')).toBeUndefined();
  expect(conflictWithOthers(conflict('plat', 'platform'), 'plat')?.details?.causes).toEqual([cause('platform')]);
});
