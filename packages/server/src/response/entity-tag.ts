/** Answers that a client has already, by the tag under which it got them. */
import type { Context } from '../context.ts';
import { head } from './respond.ts';

/** Answers 304 and returns true where the client names the tag. */
export function sentBefore(ctx: Context, etag: string, headers: readonly string[]): boolean {
  if (!knows(ctx.header('if-none-match'), etag)) return false;
  head(ctx, 304, headers);
  ctx.res.end();
  return true;
}

const knows = (header: string | undefined, etag: string): boolean =>
  header?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag) ?? false;
