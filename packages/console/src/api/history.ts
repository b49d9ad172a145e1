/** Changes of a kind with who made them, where the server keeps history. */
import type { Api } from './api.ts';
import { collectionPath, type Kind } from './kinds.ts';

/** One version of an object, or its deletion. */
export interface ObjectVersion {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion: string;
  readonly time?: string;
  readonly type: 'created' | 'updated' | 'deleted';
  readonly user?: string;
  readonly userAgent?: string;
  readonly verb?: string;
  readonly subresource?: string;
  readonly fieldManager?: string;
  /** The change in a few words. */
  readonly change?: string;
}

export interface HistoryQuestion {
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/** Versions of all objects of a kind, newest first; undefined where the server keeps no history. Throws ApiError. */
export async function loadHistory(
  api: Pick<Api, 'json'>,
  { kind, namespace, since, limit, signal }: HistoryQuestion,
): Promise<readonly ObjectVersion[] | undefined> {
  const answer = await api.json<{ readonly kind?: string; readonly items?: readonly ObjectVersion[] | null }>(
    collectionPath(kind, kind.isNamespaced ? namespace : undefined),
    {
      query: { history: true, limit, since: since === undefined ? undefined : new Date(since).toISOString() },
      ...(signal === undefined ? {} : { signal }),
    },
  );
  return answer.kind === 'ObjectHistory' ? (answer.items ?? []) : undefined;
}
