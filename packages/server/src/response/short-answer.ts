/** Short responses over HTTP/1.1 in one write, with a head that needs no checks: it is made of values that are known to be valid. */
import type { Context } from '../context.ts';
import { JOINED, Response } from '../http1/response.ts';

/** Longer responses are sent the usual way. */
export const SHORT = JOINED;

/**
 * Sends a JSON response with no headers but those of the request context; false if it must be sent the usual way. Of the headers
 * of a request context, only those of errors affect the connection.
 */
export function sendShort(ctx: Context, status: number, bytes: Buffer): boolean {
  const { res } = ctx;
  if (!(res instanceof Response) || !isUsual(ctx, status) || bytes.length > SHORT || ctx.longRunning) return false;
  ctx.status = status;
  res.sendJson(status, ctx.headers, bytes);
  return true;
}

/** The answers of most requests: objects, and that there is none. */
const isUsual = ({ method }: Context, status: number): boolean => status === 200 || status === 201 || (status === 404 && method === 'GET');
