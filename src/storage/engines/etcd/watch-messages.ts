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

/** `delivered`: changes up to this revision are known already, and left out of answers. */
export function watchMethod(keyspace: Keyspace, ownValue: OwnValue, delivered: () => number = () => 0): Method<WatchAnswer> {
  const rootLength = keyspace.root.length;
  return {
    path: '/etcdserverpb.Watch/Watch',
    decode(bytes) {
      const reader = new Reader(bytes);
      const answer = { revision: 0, watch: 0, created: false, canceled: false, compacted: 0, reason: '', fragment: false, newest: 0 };
      const changes: ChangeRecord[] = [];
      const own: OwnRecord[] = [];
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === 1) answer.revision = readHeader(reader.nested());
        else if (field === 2) answer.watch = reader.number();
        else if (field === 3) answer.created = reader.flag();
        else if (field === 4) answer.canceled = reader.flag();
        else if (field === 5) answer.compacted = reader.number();
        else if (field === 6) answer.reason = reader.text();
        else if (field === 7) answer.fragment = reader.flag();
        else if (field === 11) answer.newest = readEvent(reader.nested(), { rootLength, ownValue, delivered: delivered(), changes, own });
        else reader.skip();
      }
      let deletions = 0;
      for (const change of changes) if (change.type === 'delete') deletions++;
      return { ...answer, changes, deletions, own };
    },
  };
}

interface EventSink {
  readonly rootLength: number;
  readonly ownValue: OwnValue;
  readonly delivered: number;
  readonly changes: ChangeRecord[];
  readonly own: OwnRecord[];
}

const NOTHING = Buffer.alloc(0);
const DELETE = 1;
const SLASH = 0x2f;

/** Reads one event into the sink; returns its revision. */
function readEvent(reader: Reader, sink: EventSink): number {
  let deleted = false;
  let stored: Stored | undefined;
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) deleted = reader.number() === DELETE;
    else if (field === 2) stored = readStored(reader.nested(), sink);
    else reader.skip();
  }
  if (stored === undefined) throw new RangeError('an event from etcd is about no key');
  const { key, value, revision } = stored;
  if (stored.own) sink.own.push({ name: key, value });
  else if (revision <= sink.delivered) return revision;
  else if (deleted) sink.changes.push({ type: 'delete', key, value: undefined, revision, created: 0 });
  else sink.changes.push({ type: 'put', key, value, revision, created: stored.created });
  return revision;
}

interface Stored {
  key: string;
  own: boolean;
  value: Buffer;
  revision: number;
  created: number;
}

function readStored(entry: Reader, { rootLength, ownValue, delivered }: EventSink): Stored {
  const stored: Stored = { key: '', own: false, value: NOTHING, revision: 0, created: 0 };
  for (let field = entry.next(); field !== 0; field = entry.next()) {
    if (field === 1) {
      const start = entry.span();
      stored.own = entry.buffer[start + rootLength - 1] !== SLASH;
      stored.key = entry.buffer.toString('latin1', start + rootLength, entry.position);
    } else if (field === 2) stored.created = entry.number();
    else if (field === 3) stored.revision = entry.number();
    // Etcd writes fields in the order of their numbers: the revision is known.
    else if (field === 5 && (stored.own || stored.revision > delivered)) {
      const start = entry.span();
      stored.value = ownValue(stored.key, entry.buffer, start, entry.position) ?? keepable(entry.buffer, start, entry.position);
    } else entry.skip();
  }
  return stored;
}
