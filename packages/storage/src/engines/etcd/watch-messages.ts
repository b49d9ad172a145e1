/** The messages of etcd's watch stream. */
import type { ChangeRecord } from '../../engine.ts';
import type { Keyspace } from './keyspace.ts';
import { type Method, readHeader } from './messages.ts';
import { keepable, Reader, Writer } from './wire.ts';

/** A write of one of the engine's own records, which callers never see. */
export interface OwnRecord {
  /** The key without the prefix. */
  readonly name: string;
  readonly value: Buffer;
}
export interface WatchAnswer {
  /** The store's revision; every event up to it was sent only when there are no events in this answer. */
  readonly revision: number;
  /** -1: a response to `encodeProgressRequest`, which is for the whole stream. */
  readonly watch: number;
  readonly created: boolean;
  readonly canceled: boolean;
  /** More than 0: the watch was cancelled because this is now the oldest revision. */
  readonly compacted: number;
  readonly reason: string;
  /** Whether the next response continues the same list of events. */
  readonly fragment: boolean;
  /** Etcd does not report the creation revision of a deleted key; that is set afterwards. */
  readonly changes: ChangeRecord[];
  readonly deletions: number;
  readonly own: readonly OwnRecord[];
  /** Revision of the last event, of whichever kind; 0 when there is none. */
  readonly newest: number;
}

/** Finds the buffer that this process wrote, so that its own changes come back as the values it knows. */
export type OwnValue = (key: string, message: Buffer, start: number, end: number) => Buffer | undefined;

export interface WatchQuery {
  readonly key: string;
  readonly end?: string;
  readonly from: number;
}

export function encodeWatch({ key, end, from }: WatchQuery): Buffer {
  const writer = new Writer(key.length + (end?.length ?? 0) + 32);
  writer.flag(8, true); // Large answers come in fragments.
  writer.flag(4, true); // The server reports progress now and then.
  writer.number(3, from);
  if (end !== undefined) writer.text(2, end);
  writer.text(1, key);
  writer.nested(1, 0);
  return writer.finish();
}

export function encodeProgressRequest(): Buffer {
  const writer = new Writer(4);
  writer.nested(3, 0);
  return writer.finish();
}

/**
 * `delivered`: changes up to this revision are known already, and left out. A response with nothing else is skipped: most of them
 * repeat a commit of this process, and are not worth more than finding their revision.
 */
export function watchMethod(keyspace: Keyspace, ownValue: OwnValue, delivered: () => number = () => 0): Method<WatchAnswer | undefined> {
  const rootLength = keyspace.root.length;
  return {
    path: '/etcdserverpb.Watch/Watch',
    decode(bytes) {
      const reader = new Reader(bytes);
      const sink: EventSink = { rootLength, ownValue, delivered: delivered(), changes: undefined, own: undefined, deletions: 0 };
      let revision = 0;
      let watch = 0;
      let created = false;
      let canceled = false;
      let compacted = 0;
      let reason = '';
      let fragment = false;
      let newest = 0;
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === 1) revision = readHeader(reader.nested());
        else if (field === 11) newest = readEvent(reader.nested(), sink);
        else if (field === 2) watch = reader.number();
        else if (field === 3) created = reader.flag();
        else if (field === 4) canceled = reader.flag();
        else if (field === 5) compacted = reader.number();
        else if (field === 6) reason = reader.text();
        else if (field === 7) fragment = reader.flag();
        else reader.skip();
      }
      const { changes = [], own = [], deletions } = sink;
      const isDelivered = newest > 0 && newest <= sink.delivered && own.length === 0;
      if (isDelivered && !fragment && !created && !canceled) return undefined;
      return { revision, watch, created, canceled, compacted, reason, fragment, changes, deletions, own, newest };
    },
  };
}

interface EventSink {
  readonly rootLength: number;
  readonly ownValue: OwnValue;
  readonly delivered: number;
  changes: ChangeRecord[] | undefined;
  own: OwnRecord[] | undefined;
  deletions: number;
}

const NOTHING = Buffer.alloc(0);
const DELETE = 1;
const SLASH = 0x2f;

/** Reads one event into the sink; returns its revision. */
function readEvent(reader: Reader, sink: EventSink): number {
  let deleted = false;
  let eventRevision = 0;
  let start = 0;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) deleted = reader.number() === DELETE;
    else if (field === 2) {
      start = reader.span();
      eventRevision = reader.position;
    } else reader.skip();
  }
  if (eventRevision === 0) throw new RangeError('an event from etcd is about no key');
  return readStored(new Reader(reader.buffer, start, eventRevision), deleted, sink);
}

/** Nothing is made of a change that was delivered. */
function readStored(entry: Reader, deleted: boolean, sink: EventSink): number {
  const { buffer } = entry;
  let [keyStart, keyEnd, valueStart, valueEnd] = [0, 0, 0, 0];
  let revision = 0;
  let created = 0;
  for (let field = entry.next(); field !== 0; field = entry.next()) {
    if (field === 1) {
      keyStart = entry.span() + sink.rootLength;
      keyEnd = entry.position;
    } else if (field === 2) created = entry.number();
    else if (field === 3) revision = entry.number();
    else if (field === 5) {
      valueStart = entry.span();
      valueEnd = entry.position;
    } else entry.skip();
  }
  const own = buffer[keyStart - 1] !== SLASH;
  if (!own && revision <= sink.delivered) return revision;
  const key = buffer.toString('latin1', keyStart, keyEnd);
  if (own) {
    sink.own ??= [];
    sink.own.push({ name: key, value: keepable(buffer, valueStart, valueEnd) });
    return revision;
  }
  sink.changes ??= [];
  if (deleted) {
    sink.deletions++;
    sink.changes.push({ type: 'delete', key, value: undefined, revision, created: 0 });
    return revision;
  }
  const value = valueEnd === 0 ? NOTHING : (sink.ownValue(key, buffer, valueStart, valueEnd) ?? keepable(buffer, valueStart, valueEnd));
  sink.changes.push({ type: 'put', key, value, revision, created });
  return revision;
}
