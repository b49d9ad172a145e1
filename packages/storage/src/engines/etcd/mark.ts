/**
 * The record `<prefix>.store` with the identity of the store. The first server creates it, in a transaction that
 * fails if it exists; every server that joins checks it.
 */
import { checkOwner, identityByTraces, makeMark, parseMark, type StoreMark, type StoreOwner } from '../../store-mark.ts';
import type { Connection } from './connection.ts';
import type { Keyspace } from './keyspace.ts';
import { encodeRange, type Method, type RangeAnswer } from './messages.ts';
import { encodePutAtVersion, transaction } from './transactions.ts';

/** Format of the stored data. A store of a later one is not opened. */
const FORMAT = 1;
type EtcdMark = StoreMark & { readonly format: number };

export interface MarkContext {
  readonly connection: Connection;
  readonly keyspace: Keyspace;
  readonly range: Method<RangeAnswer>;
  /** Undefined for tools, which open any store and write no mark. */
  readonly owner: StoreOwner | undefined;
  readonly newId: () => string;
  readonly now: () => number;
}

/** Returns the mark of the store. Throws an error that says what to do when the store is of another identity. */
export async function checkMark(context: MarkContext): Promise<StoreMark | undefined> {
  const { connection, keyspace, owner } = context;
  const place = `etcd below ${keyspace.root}`;
  for (;;) {
    const value = await read(context, keyspace.mark);
    if (value !== undefined) {
      const mark = parseMark(value.toString()) as EtcdMark | undefined;
      if (mark === undefined) throw new Error(`the store in ${place} is damaged: its record ${keyspace.mark} cannot be read`);
      if (mark.format > FORMAT) {
        throw new Error(
          `the store in ${place} has the format ${mark.format} of a newer version; this one knows formats up to ${FORMAT}. Use that version`,
        );
      }
      checkOwner(mark.identity, owner, place, '--etcd-prefix');
      return mark;
    }
    if (owner === undefined) return undefined;
    const traced = await identityByTraces(owner, async (key) => (await read(context, keyspace.root + key)) !== undefined);
    checkOwner(traced, owner, place, '--etcd-prefix');
    const mark: EtcdMark = { format: FORMAT, ...makeMark(owner, context.newId(), context.now()) };
    // If another server was faster, its mark counts.
    const answer = await connection.write(transaction, encodePutAtVersion(keyspace.mark, 0, Buffer.from(JSON.stringify(mark))));
    if (answer.succeeded) return mark;
  }
}

async function read({ connection, range }: MarkContext, key: string): Promise<Buffer | undefined> {
  return (await connection.read(range, encodeRange({ key }))).entries[0]?.value;
}
