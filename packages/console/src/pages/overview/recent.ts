/** The newest changes of several kinds: from the history of the server, or from its events where it keeps none. */

import type { Api } from '../../api/api.ts';
import { asApiError, isAborted } from '../../api/api-error.ts';
import { loadHistory, type ObjectVersion } from '../../api/history.ts';
import type { Kind } from '../../api/kinds.ts';
import { isOfServer } from '../../parts/users.ts';

export interface Change extends ObjectVersion {
  readonly kind: Kind;
}
export interface RecentChanges {
  readonly changes: readonly Change[];
  /** Kinds whose history the user may not read. */
  readonly denied: readonly Kind[];
  /** False: the server keeps no history of any of the kinds that could be read. */
  readonly hasHistory: boolean;
}

const SHOWN = 12;
/** Versions of a kind that are looked at: many are of the status, which controllers write. */
const READ_OF_KIND = 50;

const isOfSomebody = ({ subresource, user = '' }: ObjectVersion): boolean => subresource !== 'status' && !isOfServer(user);

export async function loadRecentChanges(
  api: Pick<Api, 'json'>,
  kinds: readonly Kind[],
  namespace: string | undefined,
  since: number,
  signal: AbortSignal,
): Promise<RecentChanges> {
  const denied: Kind[] = [];
  let hasHistory = false;
  const ofKind = async (kind: Kind): Promise<readonly Change[]> => {
    try {
      const versions = await loadHistory(api, { kind, namespace, since, limit: READ_OF_KIND, signal });
      hasHistory ||= versions !== undefined;
      return (versions ?? []).filter(isOfSomebody).map((version) => ({ ...version, kind }));
    } catch (error) {
      if (isAborted(error)) throw error;
      if (asApiError(error).code === 403) denied.push(kind);
      return [];
    }
  };
  const changes = (await Promise.all(kinds.map(ofKind))).flat();
  changes.sort((one, other) => (other.time ?? '').localeCompare(one.time ?? ''));
  return { changes: changes.slice(0, SHOWN), denied, hasHistory };
}
