/** The header `traceparent` of the W3C: `00-<trace>-<span>-<flags>`. */
import type { Context } from '../context.ts';

const form = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** The ids of trace and span in hex; undefined where the header is malformed or names none. */
export function readTraceparent(header: string | undefined): { readonly trace: string; readonly span: string } | undefined {
  const [, trace, span] = form.exec(header ?? '') ?? [];
  return trace === undefined || span === undefined || /^0+$/.test(trace) || /^0+$/.test(span) ? undefined : { trace, span };
}

/** What calls for a request carry: its own span if it is sampled, else the header of the client as it came. */
export function traceparentOf(ctx: Context): string | undefined {
  if (ctx.traceparent !== undefined) return ctx.traceparent;
  const header = ctx.header('traceparent');
  return header === undefined || readTraceparent(header) === undefined ? undefined : header;
}
