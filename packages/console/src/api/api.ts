/** Requests to the API through the gateway of the console, with the rights of the session's user. */
import { ApiError, isAborted, type Status } from './api-error.ts';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  readonly accept?: string;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
  /** Reads the Status of an error that came in the form which `accept` asks for, where that is not JSON. */
  readonly readStatus?: (text: string) => Status;
}

export interface Api {
  /** The answer, with a code of 2xx. Throws ApiError, or what an aborted signal throws. */
  fetch(path: string, options?: RequestOptions): Promise<Response>;
  /** The answer's JSON. Numbers beyond 2^53 are rounded: read `text` where every digit counts. */
  json<T>(path: string, options?: RequestOptions): Promise<T>;
  text(path: string, options?: RequestOptions): Promise<string>;
}

/** The header that other sites cannot send: the gateway asks for it. */
export const OWN_HEADER = 'X-Plat-Console';
export const API_BASE = '/console/api';

/** What a request needs to know of the session. */
export interface ApiSession {
  /** Aborts its requests. */
  readonly signal: AbortSignal;
  /** A request was answered with 401. */
  expire(): void;
}

export function createApi(fetchFunction: typeof fetch, session: ApiSession): Api {
  const request = async (path: string, options: RequestOptions = {}): Promise<Response> => {
    const { method = 'GET', query, accept = 'application/json', body, contentType = 'application/json', signal, readStatus } = options;
    const response = await answered(
      fetchFunction(`${API_BASE}${withQuery(path, query)}`, {
        method,
        headers: { accept, [OWN_HEADER]: '1', ...(body === undefined ? {} : { 'content-type': contentType }) },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        signal: signal === undefined ? session.signal : AbortSignal.any([signal, session.signal]),
        credentials: 'same-origin',
        cache: 'no-store',
        // One of an aggregated server could lead the request, with the user's rights, to any other object.
        redirect: 'error',
      }),
    );
    if (response.ok) return response;
    if (response.status === 401) session.expire();
    throw await errorOf(response, readStatus);
  };
  return {
    fetch: request,
    json: async <T>(path: string, options?: RequestOptions) => (await (await request(path, options)).json()) as T,
    text: async (path, options) => (await request(path, options)).text(),
  };
}

/** Adds parameters that are defined: `/api/v1/pods?limit=500`. */
export function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`;
}

/** A request without an answer fails with code 0. */
export async function answered(pending: Promise<Response>): Promise<Response> {
  try {
    return await pending;
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError({}, 0);
  }
}

/** Longest text of an answer that is no Status. */
const LONGEST_MESSAGE = 1000;

export async function errorOf(response: Response, readStatus?: (text: string) => Status): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const contentType = response.headers.get('content-type') ?? '';
  const isJson = contentType.includes('json');
  if (readStatus !== undefined && contentType.includes('yaml')) return new ApiError(readStatus(text), response.status);
  return new ApiError(isJson ? statusOf(text) : { message: text.trim().slice(0, LONGEST_MESSAGE) }, response.status);
}
function statusOf(text: string): Status {
  try {
    return (JSON.parse(text) as Status | null) ?? {};
  } catch {
    return {};
  }
}
