import { expect, test } from 'vitest';
import { type ManagedFieldsEntry, managersAfterAdmission, readManagers, writeManagers } from './managers.ts';

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

test('entries stand by operation, then by the second of their last change, then by name, version and subresource', () => {
  const at = (second: number): { time: string } => ({ time: `2024-01-01T00:00:0${second}Z` });
  const stored = (...entries: ManagedFieldsEntry[]): string[] =>
    (writeManagers(readManagers(entries, true) ?? []) ?? []).map((one) => `${one.manager}/${one.subresource ?? ''}`);
  const status = entry({ subresource: 'status', ...at(1) });
  expect(stored(status, entry(at(1)))).toEqual(['m/', 'm/status']);
  // The same two writers, one of whom came back when the second was over.
  expect(stored(status, entry(at(2)))).toEqual(['m/status', 'm/']);
  expect(stored(entry(at(1)), entry({ manager: 'z', operation: 'Apply', ...at(3) }))).toEqual(['z/', 'm/']);
  expect(stored(entry({ manager: 'b', ...at(1) }), entry({ manager: 'a', apiVersion: 'v2', ...at(1) }))).toEqual(['a/', 'b/']);
});
