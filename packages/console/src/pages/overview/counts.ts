/** How many objects of a kind there are: a list of one, whose answer says how many remain. */

import { metaGroups } from '@plat-dev/meta/identity';
import type { Api } from '../../api/api.ts';
import { asApiError, isAborted } from '../../api/api-error.ts';
import { collectionPath, type Kind } from '../../api/kinds.ts';
import type { ListPage } from '../../api/list-watch.ts';

export interface KindCount {
  readonly kind: Kind;
  /** Undefined: the user may not list them, or the server does not say it. */
  readonly count: number | undefined;
  readonly isDenied: boolean;
}

const metadataAccept = [
  ...metaGroups.map((group) => `application/json;as=PartialObjectMetadataList;v=v1;g=${group}`),
  'application/json',
].join(',');

export async function loadCount(
  api: Pick<Api, 'json'>,
  kind: Kind,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<KindCount> {
  try {
    const page = await api.json<ListPage & { readonly items?: readonly unknown[] | null }>(
      collectionPath(kind, kind.isNamespaced ? namespace : undefined),
      { query: { limit: 1 }, accept: metadataAccept, signal },
    );
    const { continue: more, remainingItemCount } = page.metadata ?? {};
    const listed = page.items?.length ?? 0;
    const count = more ? (remainingItemCount === undefined ? undefined : listed + remainingItemCount) : listed;
    return { kind, count, isDenied: false };
  } catch (error) {
    if (isAborted(error)) throw error;
    return { kind, count: undefined, isDenied: asApiError(error).code === 403 };
  }
}
