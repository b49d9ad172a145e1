/** Non-resource paths: an endpoint answers a path of its own. */
import { ApiError } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';
import { parseAccept, unacceptable } from '../request/negotiate.ts';

export type Endpoint = (ctx: Context) => Promise<void>;

/** The path exists, the method does not. */
export const noSuchMethod = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** An endpoint that only reads. */
export function readOnly(endpoint: Endpoint): Endpoint {
  return async (ctx) => {
    if (ctx.method !== 'GET') throw noSuchMethod();
    return endpoint(ctx);
  };
}

/** Throws 406 if the client does not accept JSON. */
export function demandJson(ctx: Context): void {
  const clauses = parseAccept(ctx.header('accept') ?? '');
  const fits = (name: string): boolean => name === '*/*' || name === 'application/*' || name === 'application/json';
  if (clauses.length > 0 && !clauses.some(({ type, subtype }) => fits(`${type}/${subtype}`))) throw unacceptable();
}
