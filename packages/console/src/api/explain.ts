/** Questions that the server answers in their status and does not store: reviews, and those of the group `explain`. */

import { apiVersionOf } from '@plat-dev/meta/api-version';
import { groupName, identities } from '@plat-dev/meta/identity';
import type { Api } from './api.ts';
import type { Discovery } from './discovery.ts';
import { collectionPath, type Kind } from './kinds.ts';

/** A kind of a group of the API whose name depends on the identity of the server. */
export function builtInKind(discovery: Pick<Discovery, 'find'>, baseGroup: string, version: string, resource: string): Kind | undefined {
  for (const identity of Object.values(identities)) {
    const kind = discovery.find({ group: groupName(identity, baseGroup), version, resource });
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** The kind of a question; undefined where the server does not answer it. */
export const explainKind = (discovery: Pick<Discovery, 'find'>, resource: string): Kind | undefined =>
  builtInKind(discovery, 'explain', 'v1alpha1', resource);

/** The status of the answer. Throws ApiError. */
export async function explain<T>(api: Pick<Api, 'json'>, kind: Kind, spec: object, signal?: AbortSignal): Promise<T> {
  const answer = await api.json<{ readonly status: T }>(collectionPath(kind), {
    method: 'POST',
    body: { apiVersion: apiVersionOf(kind), kind: kind.kind, spec },
    ...(signal === undefined ? {} : { signal }),
  });
  return answer.status;
}

export interface ResourceAttributes {
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}
export interface NonResourceAttributes {
  readonly verb?: string;
  readonly path?: string;
}
