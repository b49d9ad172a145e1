/** The messages of etcd's v3 API that the engine uses. Field numbers are those of etcd's `rpc.proto` and `kv.proto`. */
import type { Entry, Operation } from '../../engine.ts';
import type { Keyspace } from './keyspace.ts';
import { Reader, Writer } from './wire.ts';

/** A method of etcd and how its response is decoded. */
export interface Method<Response> {
  readonly path: string;
  readonly decode: (bytes: Buffer) => Response;
}

export interface RangeQuery {
  readonly key: string;
  /** First key after the range; undefined: a single key. */
  readonly end?: string;
  readonly limit?: number;
  /** Revision to read at; 0: the newest. */
  readonly revision?: number;
  /** Whether the member may respond from its own state, without the others. */
  readonly serializable?: boolean;
  readonly countOnly?: boolean;
}
export interface RangeAnswer {
  readonly revision: number;
  readonly entries: Entry[];
  readonly more: boolean;
  readonly count: number;
  /** Size of the message. */
  readonly bytes: number;
}

/** Room for the tags, lengths and numbers of one operation and its precondition. */
const OPERATION_OVERHEAD = 64;

export function encodeRange(query: RangeQuery): Buffer {
  const writer = new Writer(query.key.length + (query.end?.length ?? 0) + 40);
  writeRange(writer, query);
  return writer.finish();
}

function writeRange(writer: Writer, query: RangeQuery): void {
  writer.flag(9, query.countOnly === true);
  writer.flag(7, query.serializable === true);
  if (query.revision) writer.number(4, query.revision);
  if (query.limit) writer.number(3, query.limit);
  if (query.end !== undefined) writer.text(2, query.end);
  writer.text(1, query.key);
}

/** An entry and its lease. */
export interface LeasedEntry extends Entry {
  readonly lease?: bigint;
}

/** `leases`: entries include theirs. */
export function rangeMethod(keyspace: Keyspace, leases = false): Method<RangeAnswer> {
  const read = leases ? readLeasedEntry : readEntry;
  return {
    path: '/etcdserverpb.KV/Range',
    decode(bytes) {
      const reader = new Reader(bytes);
      const entries: Entry[] = [];
      let revision = 0;
      let more = false;
      let count = 0;
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === 1) revision = readHeader(reader.nested());
        else if (field === 2) entries.push(read(reader.nested(), keyspace.root.length));
        else if (field === 3) more = reader.flag();
        else if (field === 4) count = reader.number();
        else reader.skip();
      }
      return { revision, entries, more, count, bytes: bytes.length };
    },
  };
}

/** The revision of a response's header. */
export function readHeader(reader: Reader): number {
  let revision = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) revision = reader.number();
    else reader.skip();
  }
  return revision;
}

const NOTHING = Buffer.alloc(0);

function readEntry(reader: Reader, rootLength: number): Entry {
  let key = '';
  let created = 0;
  let revision = 0;
  let value: Buffer = NOTHING;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = readKey(reader, rootLength);
    else if (field === 2) created = reader.number();
    else if (field === 3) revision = reader.number();
    else if (field === 5) value = reader.bytes();
    else reader.skip();
  }
  return { key, value, revision, created };
}

function readLeasedEntry(reader: Reader, rootLength: number): LeasedEntry {
  let key = '';
  let created = 0;
  let revision = 0;
  let value: Buffer = NOTHING;
  let lease = 0n;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) key = readKey(reader, rootLength);
    else if (field === 2) created = reader.number();
    else if (field === 3) revision = reader.number();
    else if (field === 5) value = reader.bytes();
    else if (field === 6) lease = reader.identifier();
    else reader.skip();
  }
  return lease === 0n ? { key, value, revision, created } : { key, value, revision, created, lease };
}

function readKey(reader: Reader, rootLength: number): string {
  const start = reader.span();
  return reader.buffer.toString('latin1', start + rootLength, reader.position);
}

/** One commit as a transaction: every expectation is a comparison; when one fails the compared keys are read instead. */
export function encodeCommit(root: string, operations: readonly Operation[], leaseOf: (ttlSeconds: number) => bigint): Buffer {
  let capacity = 16;
  for (const operation of operations) {
    capacity += 3 * (root.length + operation.key.length) + OPERATION_OVERHEAD + (operation.type === 'put' ? operation.value.length : 0);
  }
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
  for (let index = operations.length - 1; index >= 0; index--) writeOperation(writer, root, operations[index] as Operation, leaseOf);
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

interface Comparison {
  readonly target: number;
  readonly field: number;
}
const COMPARE_VERSION: Comparison = { target: 0, field: 4 };
const COMPARE_REVISION: Comparison = { target: 2, field: 6 };

/** Requires that a number of a key equals `value`. An absent key has version and revision 0. */
function writeComparison(writer: Writer, root: string, key: string, { target, field }: Comparison, value: number): void {
  const end = writer.position;
  writer.number(field, value);
  writer.joined(3, root, key);
  writer.number(2, target);
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

/** Writes a key unconditionally, with a lease if one is given. */
export function encodePut(key: string, value: Buffer, lease?: bigint): Buffer {
  const writer = new Writer(key.length + value.length + 32);
  if (lease !== undefined) writer.number(3, lease);
  writer.bytes(2, value);
  writer.text(1, key);
  return writer.finish();
}
export const putMethod: Method<number> = {
  path: '/etcdserverpb.KV/Put',
  decode: (bytes) => readFirstHeader(bytes),
};

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

function readFirstHeader(bytes: Buffer): number {
  const reader = new Reader(bytes);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) return readHeader(reader.nested());
    reader.skip();
  }
  return 0;
}

export function encodeCompact(revision: number): Buffer {
  const writer = new Writer(16);
  writer.number(1, revision);
  return writer.finish();
}
export const compactMethod: Method<number> = { path: '/etcdserverpb.KV/Compact', decode: (bytes) => readFirstHeader(bytes) };

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  const writer = new Writer(16);
  writer.number(1, ttlSeconds);
  return writer.finish();
}
export const leaseGrant: Method<{ readonly id: bigint; readonly ttlSeconds: number }> = {
  path: '/etcdserverpb.Lease/LeaseGrant',
  decode(bytes) {
    const reader = new Reader(bytes);
    let id = 0n;
    let ttlSeconds = 0;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 2) id = reader.identifier();
      else if (field === 3) ttlSeconds = reader.number();
      else reader.skip();
    }
    return { id, ttlSeconds };
  },
};

/** A request with only a lease. */
export function encodeLease(id: bigint): Buffer {
  const writer = new Writer(16);
  writer.number(1, id);
  return writer.finish();
}
/** Revokes a lease, and deletes its keys. */
export const leaseRevoke: Method<number> = { path: '/etcdserverpb.Lease/LeaseRevoke', decode: (bytes) => readFirstHeader(bytes) };

/** Remaining seconds of a lease; 0 for an expired one. */
export const leaseTimeToLive: Method<number> = {
  path: '/etcdserverpb.Lease/LeaseTimeToLive',
  decode(bytes) {
    const reader = new Reader(bytes);
    let remainingSeconds = 0n;
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 3) remainingSeconds = BigInt.asIntN(64, reader.identifier());
      else reader.skip();
    }
    return remainingSeconds > 0n ? Number(remainingSeconds) : 0;
  },
};

export interface MemberStatus {
  readonly version: string;
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly raftTerm: number;
  /** Alarms and the like. */
  readonly errors: readonly string[];
}
export function encodeAuthenticate(name: string, password: string): Buffer {
  const writer = new Writer(3 * (name.length + password.length) + 16);
  writer.text(2, password);
  writer.text(1, name);
  return writer.finish();
}
/** The token of a user. */
export const authenticate: Method<string> = {
  path: '/etcdserverpb.Auth/Authenticate',
  decode(bytes) {
    const reader = new Reader(bytes);
    let token = '';
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 2) token = reader.text();
      else reader.skip();
    }
    return token;
  },
};

export const EMPTY_REQUEST = Buffer.alloc(0);
export const memberStatus: Method<MemberStatus> = {
  path: '/etcdserverpb.Maintenance/Status',
  decode(bytes) {
    const reader = new Reader(bytes);
    const numbers = new Array<number>(10).fill(0);
    const errors: string[] = [];
    let version = '';
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 2) version = reader.text();
      else if (field === 8) errors.push(reader.text());
      else if (field === 3 || field === 5 || field === 6 || field === 7 || field === 9) numbers[field] = reader.number();
      else reader.skip();
    }
    const [, , , databaseBytes = 0, , raftIndex = 0, raftTerm = 0, raftAppliedIndex = 0, , databaseBytesInUse = 0] = numbers;
    return { version, databaseBytes, databaseBytesInUse, raftIndex, raftAppliedIndex, raftTerm, errors };
  },
};
