import type { Connection } from './connection.ts';
import { CallFailure } from './errors.ts';
import type { Keyspace } from './keyspace.ts';
import { encodeRange, type Method, type RangeAnswer } from './messages.ts';
import { encodeWatch, type WatchAnswer } from './watch-messages.ts';

/**
 * The revision that etcd is compacted to, 0 if it is not. Etcd reports it only in the refusal of a watch on a
 * revision before it, which takes up to a tenth of a second.
 */
export async function oldestRevision(
  connection: Connection,
  keyspace: Keyspace,
  range: Method<RangeAnswer>,
  watch: Method<WatchAnswer | undefined>,
): Promise<number> {
  try {
    await connection.read(range, encodeRange({ key: keyspace.barrier, revision: 1, serializable: true, countOnly: true }));
    return 0;
  } catch (error) {
    if (!(error instanceof CallFailure && error.reason === 'compacted')) throw error;
  }
  const stream = connection.stream(await connection.ready(connection.deadline()), watch);
  const cancel = connection.after(connection.timeoutMs, () => stream.cancel());
  try {
    stream.write(encodeWatch({ key: keyspace.barrier, from: 1 }));
    for await (const answer of stream) if (answer.canceled) return answer.compacted;
  } catch (error) {
    throw new CallFailure('unavailable', (error as Error).message, false, { cause: error });
  } finally {
    cancel();
    stream.cancel();
  }
  return 0;
}
