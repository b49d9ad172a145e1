/** The transactions of the engine: commits, conditional writes of its own records, and many reads in one call. */
import type { Entry, Operation } from '../../engine.ts';
import { type HistoryRow, headerOf, indexKeyOf, rowKeyOf, sizeOfRow } from './history-rows.ts';
import { type Method, readEntry, readHeader, writeRange } from './messages.ts';
import { Reader, Writer } from './wire.ts';

/** Room for the tags, lengths and numbers of one operation and its precondition. */
const OPERATION_OVERHEAD = 64;

/**
 * One commit as a transaction: every expectation is a comparison; when one fails the compared keys are read instead. `rows` are those
 * of history, for each operation that has one.
 */
export function encodeCommit(
  root: string,
  operations: readonly Operation[],
  leaseOf: (ttlSeconds: number) => bigint,
  rows: readonly (HistoryRow | undefined)[] = [],
): Buffer {
  let capacity = 16;
  for (const operation of operations) {
    capacity += 3 * (root.length + operation.key.length) + OPERATION_OVERHEAD + (operation.type === 'put' ? operation.value.length : 0);
  }
  for (const row of rows) if (row !== undefined) capacity += sizeOfRow(row) + OPERATION_OVERHEAD;
  const writer = new Writer(capacity);
  for (let index = operations.length - 1; index >= 0; index--) {
    const { key, expect } = operations[index] as Operation;
    if (expect === undefined) continue;
    const end = writer.position;
    // Only the revision is needed, so the value is omitted.
    writer.flag(8, true);
    writer.joined(1, root, key);
    writer.nested(1, end);
    writer.nested(3, end);
  }
  for (let index = operations.length - 1; index >= 0; index--) {
    const operation = operations[index] as Operation;
    const row = rows[index];
    if (row === undefined) writeOperation(writer, root, operation, leaseOf);
    else if (operation.type === 'delete' && !operation.expect) writeDeleteIfPresent(writer, root, operation, row);
    else {
      writeRow(writer, row);
      writeOperation(writer, root, operation, leaseOf);
    }
  }
  for (let index = operations.length - 1; index >= 0; index--) {
    const { key, expect } = operations[index] as Operation;
    if (expect !== undefined) writeComparison(writer, root, key, COMPARE_REVISION, expect);
  }
  return writer.finish();
}

function writeOperation(writer: Writer, root: string, operation: Operation, leaseOf: (ttlSeconds: number) => bigint): void {
  const end = writer.position;
  if (operation.type === 'put') {
    if (operation.ttlSeconds !== undefined) writer.number(3, leaseOf(operation.ttlSeconds));
    writer.bytes(2, operation.value);
    writer.joined(1, root, operation.key);
    writer.nested(2, end);
  } else if (operation.type === 'delete') {
    writer.joined(1, root, operation.key);
    writer.nested(3, end);
  } else return;
  writer.nested(2, end);
}

/** The delete of an absent key must change nothing, so that it has a row only if the key is there. */
function writeDeleteIfPresent(writer: Writer, root: string, operation: Operation, row: HistoryRow): void {
  const end = writer.position;
  writeRow(writer, row);
  writeOperation(writer, root, operation, () => 0n);
  writeComparison(writer, root, operation.key, COMPARE_VERSION, 0, GREATER);
  writer.nested(4, end);
  writer.nested(2, end);
}

/** Two puts of a transaction: the row and its entry in the index. */
function writeRow(writer: Writer, row: HistoryRow): void {
  let end = writer.position;
  writer.text(1, indexKeyOf(row.root, row));
  writer.nested(2, end);
  writer.nested(2, end);
  end = writer.position;
  if (row.value !== undefined) writer.raw(row.value);
  if (row.note !== undefined) writer.raw(row.note);
  writer.ascii(headerOf(row));
  writer.nested(2, end);
  writer.text(1, rowKeyOf(row.root, row));
  writer.nested(2, end);
  writer.nested(2, end);
}

/** Writes rows and nothing else. */
export function encodeRows(rows: readonly HistoryRow[]): Buffer {
  const writer = new Writer(rows.reduce((size, row) => size + sizeOfRow(row) + OPERATION_OVERHEAD, 0));
  for (const row of rows) writeRow(writer, row);
  return writer.finish();
}

interface Comparison {
  readonly target: number;
  readonly field: number;
}
const COMPARE_VERSION: Comparison = { target: 0, field: 4 };
const COMPARE_REVISION: Comparison = { target: 2, field: 6 };

const EQUAL = 0;
const GREATER = 1;

/** Requires that a number of a key equals `value`, or is greater. An absent key has version and revision 0. */
function writeComparison(
  writer: Writer,
  root: string,
  key: string,
  { target, field }: Comparison,
  value: number,
  result: typeof EQUAL | typeof GREATER = EQUAL,
): void {
  const end = writer.position;
  writer.number(field, value);
  writer.joined(3, root, key);
  writer.number(2, target);
  writer.number(1, result);
  writer.nested(1, end);
}

export interface TransactionAnswer {
  readonly revision: number;
  readonly succeeded: boolean;
  /** For each read of the transaction, in order. */
  readonly reads: readonly KeyState[];
}
/** The metadata of a key without its value; all 0 when it is absent. */
interface KeyState {
  revision: number;
  created: number;
  /** How often it was written since it was created. */
  version: number;
}

export const transaction: Method<TransactionAnswer> = {
  path: '/etcdserverpb.KV/Txn',
  decode(bytes) {
    const reader = new Reader(bytes);
    const reads: KeyState[] = [];
    let revision = 0;
    let succeeded = false;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) revision = readHeader(reader.nested());
      else if (field === 2) succeeded = reader.flag();
      else if (field === 3) readOutcome(reader.nested(), reads);
      else reader.skip();
    }
    return { revision, succeeded, reads };
  },
};

function readOutcome(outcome: Reader, reads: KeyState[]): void {
  for (let field = outcome.next(); field !== 0; field = outcome.next()) {
    if (field !== 1) {
      outcome.skip();
      continue;
    }
    const range = outcome.nested();
    const keyState: KeyState = { revision: 0, created: 0, version: 0 };
    for (let part = range.next(); part !== 0; part = range.next()) {
      if (part !== 2) {
        range.skip();
        continue;
      }
      const entry = range.nested();
      for (let number = entry.next(); number !== 0; number = entry.next()) {
        if (number === 2) keyState.created = entry.number();
        else if (number === 3) keyState.revision = entry.number();
        else if (number === 4) keyState.version = entry.number();
        else entry.skip();
      }
    }
    reads.push(keyState);
  }
}

/** Reads the previous state of each key right before a revision; the member responds from its own state. */
export function encodeStatesBefore(root: string, list: readonly { readonly key: string; readonly revision: number }[]): Buffer {
  const writer = new Writer(list.length * (root.length + OPERATION_OVERHEAD));
  for (let index = list.length - 1; index >= 0; index--) {
    const { key, revision } = list[index] as { key: string; revision: number };
    const end = writer.position;
    writer.flag(8, true);
    writeRange(writer, { key: root + key, revision: revision - 1, serializable: true });
    writer.nested(1, end);
    writer.nested(2, end);
  }
  return writer.finish();
}

/** Writes a key if it has been written `version` times since it was created, and reads it otherwise. */
export function encodePutAtVersion(key: string, version: number, value: Buffer): Buffer {
  const writer = new Writer(3 * key.length + value.length + OPERATION_OVERHEAD);
  let end = writer.position;
  writer.text(1, key);
  writer.nested(1, end);
  writer.nested(3, end);
  end = writer.position;
  writer.bytes(2, value);
  writer.text(1, key);
  writer.nested(2, end);
  writer.nested(2, end);
  writeComparison(writer, '', key, COMPARE_VERSION, version);
  return writer.finish();
}

/** Reads many keys, each with its value. */
export function encodeGets(keys: readonly string[]): Buffer {
  const writer = new Writer(keys.reduce((size, key) => size + key.length + 16, 0));
  for (let index = keys.length - 1; index >= 0; index--) {
    const end = writer.position;
    writeRange(writer, { key: keys[index] as string });
    writer.nested(1, end);
    writer.nested(2, end);
  }
  return writer.finish();
}

/** The keys that are there, in the order in which they were requested. */
export function getsMethod(root: string): Method<Entry[]> {
  return {
    path: transaction.path,
    decode(bytes) {
      const reader = new Reader(bytes);
      const entries: Entry[] = [];
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field !== 3) {
          reader.skip();
          continue;
        }
        const outcome = reader.nested();
        for (let part = outcome.next(); part !== 0; part = outcome.next()) {
          if (part === 1) readEntries(outcome.nested(), root.length, entries);
          else outcome.skip();
        }
      }
      return entries;
    },
  };
}

function readEntries(range: Reader, rootLength: number, entries: Entry[]): void {
  for (let field = range.next(); field !== 0; field = range.next()) {
    if (field === 2) entries.push(readEntry(range.nested(), rootLength));
    else range.skip();
  }
}

/** Deletes keys if a record has a revision, and writes the record with them if there is a value for it. */
export function encodeDeletes(keys: readonly string[], record: string, expect: number, value: Buffer | undefined): Buffer {
  const writer = new Writer(
    keys.reduce((size, key) => size + key.length + 16, 2 * record.length + (value?.length ?? 0) + OPERATION_OVERHEAD),
  );
  for (const key of keys) {
    const end = writer.position;
    writer.text(1, key);
    writer.nested(3, end);
    writer.nested(2, end);
  }
  if (value !== undefined) {
    const end = writer.position;
    writer.bytes(2, value);
    writer.text(1, record);
    writer.nested(2, end);
    writer.nested(2, end);
  }
  writeComparison(writer, '', record, COMPARE_REVISION, expect);
  return writer.finish();
}
