import { expect, test } from 'vitest';
import { type ManagedFieldsEntry, managersAfterAdmission } from './managers.ts';

const entry = (more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:a': {} },
  ...more,
});

test('admission may edit the list of managers', () => {
  const after = [entry({ manager: 'hook' })];
  expect(managersAfterAdmission([entry()], after)).toEqual({ managedFields: after });
  expect(managersAfterAdmission([entry()], undefined)).toEqual({ managedFields: undefined });
});

test('a list that admission broke is as it was, and the client is warned', () => {
  const before = [entry()];
  for (const [bad, fault] of [
    [{ operation: 'Nonsense' }, 'operation must be `Apply` or `Update`'],
    [{ apiVersion: '' }, 'apiVersion must not be empty'],
    [{ fieldsType: 'FieldsV2' }, 'invalid fieldsType "FieldsV2"'],
    [{ fieldsV1: { a: {} } }, 'fieldsV1 cannot be read'],
  ] as const) {
    const { managedFields, warning } = managersAfterAdmission(before, [entry(bad as Partial<ManagedFieldsEntry>)]);
    expect(managedFields).toBe(before);
    expect(warning).toContain(`invalid state after admission`);
    expect(warning?.endsWith(fault)).toBe(true);
  }
});
