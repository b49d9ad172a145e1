import { expect, test } from 'vitest';
import { keyspaceOf } from './keyspace.ts';
import { watchMethod } from './watch-messages.ts';
import { Writer } from './wire.ts';

const keyspace = keyspaceOf('/plat');

interface Event {
  readonly key: string;
  readonly revision: number;
  readonly value?: string;
  readonly deleted?: boolean;
}

/** The bytes of a response with these events. */
function response(events: readonly Event[], flags: readonly number[] = []): Buffer {
  const writer = new Writer(64);
  for (const { key, revision, value, deleted } of [...events].reverse()) {
    const end = writer.position;
    if (value !== undefined) writer.bytes(5, Buffer.from(value));
    writer.number(4, 1);
    writer.number(3, revision);
    writer.number(2, revision - 1);
    writer.text(1, key);
    writer.nested(2, end);
    if (deleted === true) writer.number(1, 1);
    writer.nested(11, end);
  }
  for (const flag of flags) writer.flag(flag, true);
  const end = writer.position;
  writer.number(3, 99);
  writer.nested(1, end);
  return writer.finish();
}

const [CREATED, CANCELED, FRAGMENT] = [3, 4, 7];
const key = `${keyspace.root}a`;

test('of changes that were delivered nothing is made, and a response with nothing else is skipped', () => {
  const looked: string[] = [];
  const { decode } = watchMethod(
    keyspace,
    (name) => {
      looked.push(name);
      return undefined;
    },
    () => 10,
  );
  expect(decode(response([{ key, revision: 10, value: 'x' }]))).toBeUndefined();
  expect(decode(response([{ key, revision: 9, deleted: true }]))).toBeUndefined();
  expect(looked).toEqual([]);
  const mixed = response([
    { key, revision: 10, value: 'x' },
    { key: `${keyspace.root}b`, revision: 11, value: 'y' },
    { key: `${keyspace.root}c`, revision: 12, value: '' },
    { key: `${keyspace.root}d`, revision: 12, deleted: true },
  ]);
  expect(decode(mixed)).toMatchObject({
    revision: 99,
    newest: 12,
    deletions: 1,
    changes: [
      { type: 'put', key: 'b', value: Buffer.from('y'), revision: 11, created: 10 },
      { type: 'put', key: 'c', value: Buffer.alloc(0), revision: 12, created: 11 },
      { type: 'delete', key: 'd', value: undefined, revision: 12, created: 0 },
    ],
  });
  expect(looked).toEqual(['b', 'c']);
});

test('what a response says besides its changes is not skipped', () => {
  const { decode } = watchMethod(
    keyspace,
    () => undefined,
    () => 10,
  );
  for (const flag of [CREATED, CANCELED, FRAGMENT])
    expect(decode(response([{ key, revision: 10, value: 'x' }], [flag]))).toMatchObject({ newest: 10 });
  expect(decode(response([]))).toMatchObject({ revision: 99, newest: 0 });
  expect(decode(response([{ key: keyspace.compaction, revision: 10, value: '7' }]))).toMatchObject({
    changes: [],
    own: [{ value: Buffer.from('7') }],
  });
});
