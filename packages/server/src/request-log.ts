/**
 * Requests in the log, at the verbosities that `--v` names:
 *
 *   6  one line for each request of a client when it is finished
 *   7  those of the server's own controllers, too
 *   8  with an outline of the request body: names of fields, types and lengths, never a value
 *
 *   request method=POST path=/api/v1/namespaces/a/secrets user=alice code=201 millis=1.2 audit=… sent=211 bytes=402
 *     body="{apiVersion:\"v1\",data:{password:string(8)},kind:\"Secret\",metadata:{name:string(1)}}"
 *
 * The query is omitted: it may contain tokens. Below 6 nothing of this is on the path of a request.
 */

import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import { cut } from '@plat-dev/lib/message-values';
import { own } from '@plat-dev/lib/own';
import type { Context } from './context.ts';
import type { Step } from './pipeline.ts';

const REQUESTS = 6;
const INNER_REQUESTS = 7;
const BODIES = 8;
const MAX_PATH = 1024;
/** Maximum length, depth and fields per object of an outline; the rest is an ellipsis. */
const MAX_OUTLINE = 2048;
const MAX_DEPTH = 6;
const MAX_FIELDS = 40;
/** Of a larger body only the size is logged. */
const MAX_BODY = 256 * 1024;

/** Called at the end of each request; `observe` itself if no request is logged. */
export function logRequests(log: Log, clock: Clock, observe: (ctx: Context) => void): (ctx: Context) => void {
  if (!log.enabled(REQUESTS)) return observe;
  const inner = log.enabled(INNER_REQUESTS);
  const bodies = log.enabled(BODIES);
  return (ctx) => {
    observe(ctx);
    if (ctx.inProcess && !inner) return;
    log.debug(ctx.inProcess ? INNER_REQUESTS : REQUESTS, 'request', {
      method: ctx.method,
      path: cut(ctx.path, MAX_PATH),
      user: ctx.user?.name,
      ...(ctx.impersonator !== undefined && { impersonator: ctx.impersonator.name }),
      code: ctx.status,
      millis: Math.round((clock.monotonic() - ctx.started) * 10) / 10,
      audit: ctx.auditId,
      sent: ctx.bodyBytes,
      bytes: ctx.responseBytes,
      ...(bodies && ctx.keptBody !== undefined && { body: bodyOutline(ctx.keptBody) }),
    });
  };
}

/** If bodies are outlined, the step that keeps them until the request is finished. */
export const keepBodies = (log: Log): readonly Step[] =>
  log.enabled(BODIES)
    ? [
        (ctx) => {
          ctx.keepBody = true;
        },
      ]
    : [];

/** The shape of a JSON body. Only the values of its kind and version are shown. */
export function bodyOutline(body: Buffer): string {
  if (body.length > MAX_BODY) return `${body.length} bytes`;
  try {
    return cut(outline(JSON.parse(body.toString('utf8')), 0), MAX_OUTLINE);
  } catch {
    return `${body.length} bytes that are not JSON`;
  }
}

function outline(value: unknown, depth: number): string {
  if (typeof value === 'string') return `string(${value.length})`;
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value;
  if (depth >= MAX_DEPTH) return '…';
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${outline(value[0], depth + 1)}×${value.length}]`;
  const names = Object.keys(value).sort();
  const fields = names.slice(0, MAX_FIELDS).map((name) => {
    const one = own(value as Record<string, unknown>, name);
    const plain = depth === 0 && (name === 'kind' || name === 'apiVersion') && typeof one === 'string' && one.length <= 100;
    return `${cut(name, 100)}:${plain ? JSON.stringify(one) : outline(one, depth + 1)}`;
  });
  if (names.length > MAX_FIELDS) fields.push('…');
  return `{${fields.join(',')}}`;
}
