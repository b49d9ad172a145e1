import { expect, test } from 'vitest';
import type { ManagedFieldsEntry } from './managers.ts';
import { ownedFields } from './owners.ts';
import { ownershipChanges, releaseFields, renameManager, takeFields } from './repair-owners.ts';

const entry = (manager: string, operation: string, fieldsV1: object, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation,
  apiVersion: 'v1',
  time: '2026-05-01T10:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: fieldsV1 as NonNullable<ManagedFieldsEntry['fieldsV1']>,
  ...more,
});
/** `alice Apply: .data.a .data.b`. */
const shown = (entries: readonly ManagedFieldsEntry[]): string[] =>
  ownershipChanges([], entries).map(({ manager, gains }) => `${manager.name} ${manager.operation}: ${gains.join(' ')}`);

const later = Date.UTC(2026, 5, 1);
const applier = { name: 'alice', operation: 'Apply', subresource: '' } as const;
const shared = [
  entry('alice', 'Apply', { 'f:data': { '.': {}, 'f:a': {} } }),
  entry('bob', 'Update', { 'f:data': { 'f:b.c/d': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } } }),
];

test('each field of an object has its owners: of maps, of lists with keys, of sets and of atomic lists', () => {
  const object = {
    data: { a: '1', free: '2' },
    ports: [
      { port: 80, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ],
    finalizers: ['x', 'y'],
    args: ['one'],
  };
  const entries = [
    entry('alice', 'Apply', { 'f:args': {}, 'f:data': { '.': {}, 'f:a': {} }, 'f:finalizers': { 'v:"y"': {} } }),
    entry('bob', 'Update', { 'f:data': { 'f:a': {} }, 'f:ports': { 'k:{"port":53,"protocol":"UDP"}': { '.': {}, 'f:port': {} } } }),
  ];
  expect(ownedFields(entries, object).map(({ field, pointer, owners }) => [field, pointer, owners.map(({ name }) => name).join()])).toEqual(
    [
      ['.data', '/data', 'alice'],
      ['.data.a', '/data/a', 'alice,bob'],
      ['.ports[port=53,protocol="UDP"]', '/ports/1', 'bob'],
      ['.ports[port=53,protocol="UDP"].port', '/ports/1/port', 'bob'],
      ['.finalizers[="y"]', '/finalizers/1', 'alice'],
      ['.args', '/args', 'alice'],
    ],
  );
});

test('names of fields that objects of JavaScript inherit are fields like any other', () => {
  const object = JSON.parse('{"data":{"__proto__":"1","constructor":"2"}}') as object;
  const entries = [entry('alice', 'Apply', { 'f:data': { 'f:__proto__': {}, 'f:constructor': {} } })];
  expect(ownedFields(entries, object as Record<string, unknown>).map(({ field }) => field)).toEqual([
    '.data.__proto__',
    '.data.constructor',
  ]);
});

test('a manager that takes a field is its only owner, and of all that is owned below it', () => {
  expect(shown(takeFields(shared, ['.data.b.c/d'], applier, later))).toEqual([
    'alice Apply: .data .data.a .data.b.c/d',
    'bob Update: .metadata.labels .metadata.labels.x',
  ]);
  expect(shown(takeFields(shared, ['metadata', 'data'], { ...applier, name: 'carol' }, later))).toEqual([
    'carol Apply: .data .data.a .data.b.c/d .metadata.labels .metadata.labels.x',
  ]);
  expect(takeFields(shared, ['.data.b.c/d'], applier, later)[0]?.time).toBe('2026-06-01T00:00:00Z');
});

test('items of lists are named with or without quotes', () => {
  const entries = [entry('bob', 'Update', { 'f:containers': { 'k:{"name":"main"}': { 'f:image': {} } } })];
  for (const field of ['.containers[name="main"].image', 'containers[name=main]'])
    expect(shown(takeFields(entries, [field], applier, later))).toEqual(['alice Apply: .containers[name="main"].image']);
});

test('a field that nobody owns, a manager that owns nothing, and sets of different versions are errors', () => {
  expect(() => takeFields(shared, ['.data.z'], applier, later)).toThrow('no manager owns the field .data.z');
  expect(() => releaseFields(shared, ['.data.a'], { name: 'bob' })).toThrow('no manager owns the field .data.a');
  expect(() => releaseFields(shared, [], { name: 'zoe' })).toThrow('"zoe" owns no fields; managers are "alice", "bob"');
  expect(() => releaseFields(shared, [], { name: 'bob', operation: 'Apply' })).toThrow('"bob" owns no fields by Apply');
  const versions = [...shared, entry('bob', 'Update', { 'f:data': { 'f:z': {} } }, { apiVersion: 'v2' })];
  expect(() => takeFields(versions, ['.data.z'], applier, later)).toThrow('different versions: v2, v1');
  expect(() => renameManager(versions, 'bob', 'bob', { asApply: true })).toThrow('different versions, v1 and v2, and cannot be joined');
});

test('a manager gives up one field, or everything; without any owner the list says so to the server', () => {
  expect(shown(releaseFields(shared, ['.metadata.labels.x'], { name: 'bob' }))).toEqual([
    'alice Apply: .data .data.a',
    'bob Update: .data.b.c/d .metadata.labels',
  ]);
  expect(shown(releaseFields(shared, [], { name: 'bob' }))).toEqual(['alice Apply: .data .data.a']);
  expect(releaseFields(releaseFields(shared, [], { name: 'bob' }), [], { name: 'alice' })).toEqual([{}]);
});

test('a renamed manager joins the entry that has its new name, and updates become applied fields', () => {
  expect(shown(renameManager(shared, 'bob', 'alice', { asApply: false }))).toEqual([
    'alice Apply: .data .data.a',
    'alice Update: .data.b.c/d .metadata.labels .metadata.labels.x',
  ]);
  const joined = renameManager(shared, 'bob', 'alice', { asApply: true });
  expect(shown(joined)).toEqual(['alice Apply: .data .data.a .data.b.c/d .metadata.labels .metadata.labels.x']);
  expect(ownershipChanges(shared, joined).map(({ manager, gains, loses }) => [manager.name, gains.length, loses.length])).toEqual([
    ['alice', 3, 0],
    ['bob', 0, 3],
  ]);
});
