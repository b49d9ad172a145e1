/** Requests that the server tells of: those that it refused, and those that took long. */
import type { Api } from '../../api/api.ts';
import { asApiError } from '../../api/api-error.ts';
import { explain, type NonResourceAttributes, type ResourceAttributes } from '../../api/explain.ts';
import type { Kind } from '../../api/kinds.ts';
import { pageHref } from '../../app/routes.ts';
import type { NowRow } from './now.ts';

export interface Refusal {
  readonly auditID: string;
  readonly time: string;
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}
export interface SlowRequest {
  readonly auditID: string;
  readonly time: string;
  readonly user: string;
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly milliseconds: number;
}

/** The refusals that are told are those of the user who asks. */
export function refusalRow({ auditID, time, resourceAttributes, nonResourceAttributes }: Refusal, user: string): NowRow {
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = resourceAttributes ?? {};
  const { verb: pathVerb = '', path } = nonResourceAttributes ?? {};
  const question = path === undefined ? { verb, group, resource, subresource, name } : { verb: pathVerb, path };
  return {
    key: `refused ${auditID}`,
    at: Date.parse(time),
    what: 'refused',
    resource: path ?? `${resource}${subresource === '' ? '' : `/${subresource}`}`,
    namespace,
    name,
    user,
    text: `may not ${path === undefined ? verb : pathVerb}`,
    href: pageHref('access', namespace || undefined, question),
  };
}

function slowRow({ auditID, time, user, method, path, code, milliseconds }: SlowRequest): NowRow {
  return {
    key: `slow ${auditID}`,
    at: Date.parse(time),
    what: 'slow',
    resource: path,
    namespace: /\/namespaces\/([^/]+)/.exec(path)?.[1] ?? '',
    name: '',
    user,
    text: `${method} took ${Math.round(milliseconds)} ms, answered with ${code}`,
    href: undefined,
  };
}

export interface RequestKinds {
  readonly refusals: Kind | undefined;
  readonly slow: Kind | undefined;
}

const noRefusals: { readonly refusals?: readonly Refusal[] } = {};

/** Each call returns the requests that earlier ones did not. */
export function requestReader(api: Pick<Api, 'json'>, kinds: RequestKinds, user: string) {
  let lastKeys: ReadonlySet<string> = new Set();
  let isOfAll = true;
  const slowRequests = async (kind: Kind, signal: AbortSignal): Promise<readonly SlowRequest[]> => {
    try {
      const { requests = [] } = await explain<{ requests?: readonly SlowRequest[] }>(api, kind, { allUsers: isOfAll }, signal);
      return requests;
    } catch (error) {
      if (!isOfAll || asApiError(error).code !== 403) throw error;
      isOfAll = false;
      return slowRequests(kind, signal);
    }
  };
  return async (signal: AbortSignal): Promise<NowRow[]> => {
    const [refused, slow] = await Promise.all([
      kinds.refusals === undefined ? noRefusals : explain<typeof noRefusals>(api, kinds.refusals, {}, signal),
      kinds.slow === undefined ? [] : slowRequests(kinds.slow, signal),
    ]);
    const rows = [...(refused.refusals ?? []).map((refusal) => refusalRow(refusal, user)), ...slow.map(slowRow)];
    const newRows = rows.filter(({ key }) => !lastKeys.has(key));
    lastKeys = new Set(rows.map(({ key }) => key));
    return newRows;
  };
}
