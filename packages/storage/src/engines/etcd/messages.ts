/** The messages of etcd's v3 API that the engine uses. Field numbers are those of etcd's `rpc.proto` and `kv.proto`. */
import type { Entry } from '../../engine.ts';
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
  /** Values are left empty. */
  readonly keysOnly?: boolean;
}
export interface RangeAnswer {
  readonly revision: number;
  readonly entries: Entry[];
  readonly more: boolean;
  readonly count: number;
  /** Size of the message. */
  readonly bytes: number;
}

export function encodeRange(query: RangeQuery): Buffer {
  const writer = new Writer(query.key.length + (query.end?.length ?? 0) + 40);
  writeRange(writer, query);
  return writer.finish();
}

export function writeRange(writer: Writer, query: RangeQuery): void {
  writer.flag(9, query.countOnly === true);
  writer.flag(8, query.keysOnly === true);
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
export function rangeMethod(keyspace: Pick<Keyspace, 'root'>, leases = false): Method<RangeAnswer> {
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

export function readEntry(reader: Reader, rootLength: number): Entry {
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
