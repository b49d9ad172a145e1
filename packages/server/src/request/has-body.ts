/** Whether a request has a body, by its head. */
import type { Context } from '../context.ts';

/** Bodies of read requests have no meaning, and are never read. */
export function hasBody(ctx: Context): boolean {
  const { method, req } = ctx;
  if (method === 'GET' || method === 'HEAD') return false;
  if (ctx.http2) return req.stream?.endAfterHeaders !== true;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  return (length !== undefined && length !== '0') || coding !== undefined;
}
