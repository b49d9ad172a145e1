/** Deletes many objects, a few at a time. */
import type { Api } from '../../api/api.ts';
import { asApiError } from '../../api/api-error.ts';
import type { Row } from '../../api/collection.ts';
import { type Kind, objectPath } from '../../api/kinds.ts';

export interface DeleteResult {
  readonly deleted: number;
  readonly failures: readonly { readonly key: string; readonly message: string }[];
}

const REQUESTS_AT_ONCE = 6;

/** `onProgress` gets the number of answers so far. An aborted signal leaves the rest as it is. */
export async function deleteRows(
  api: Api,
  kind: Kind,
  rows: readonly Row[],
  onProgress: (done: number) => void,
  signal: AbortSignal,
): Promise<DeleteResult> {
  const waiting = [...rows];
  const failures: { key: string; message: string }[] = [];
  let deleted = 0;
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined && !signal.aborted; row = waiting.shift()) {
      try {
        await deleteRow(api, kind, row);
        deleted++;
      } catch (error) {
        failures.push({ key: row.key, message: asApiError(error).message });
      }
      onProgress(deleted + failures.length);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
  return { deleted, failures };
}

/** Only the object that was seen: not another one that has its name by now. One that is gone already is no failure. */
async function deleteRow(api: Api, kind: Kind, { namespace, name, uid }: Row): Promise<void> {
  try {
    await api.fetch(objectPath({ kind, namespace, name }), { method: 'DELETE', body: uid === '' ? {} : { preconditions: { uid } } });
  } catch (error) {
    if (asApiError(error).code !== 404) throw error;
  }
}
