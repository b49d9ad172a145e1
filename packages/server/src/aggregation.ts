/**
 * Requests for group versions that another server answers for. They were authenticated and authorized here like all
 * others, and go on as they came, with the name of the user in headers that this server alone may set.
 */

import { badRequest } from '@plat-dev/meta/errors';
import type { Context } from './context.ts';
import type { Backend } from './extension/aggregation/backends.ts';
import { identityHeaders } from './extension/aggregation/identity-headers.ts';
import { authorityOf } from './http-client/connect.ts';
import type { Answer } from './http-client/exchange.ts';
import { sendText } from './response/respond.ts';
import { type AnswerLimits, dial } from './tunnels/dial.ts';
import { answerOf, bodyOf, hasBody, lengthHeaders, type OpenConnections, sendAnswer } from './tunnels/forward.ts';
import { type Guard, guardedLookup } from './tunnels/guard.ts';
import { answerHeaders, requestHeaders } from './tunnels/headers.ts';
import type { Target } from './tunnels/target.ts';
import { openTunnel } from './tunnels/tunnel.ts';

export interface AggregationDeps {
  /** Who answers for a group version, where that is not this server. */
  readonly find: (group: string, version: string) => Backend | undefined;
  /** Headers that prove or claim who the caller is: they end here. */
  readonly isCredential: (name: string) => boolean;
  /** This server does not stand behind itself. */
  readonly guard: Guard;
  /** Redirects are refused: a client that follows them would do so with its trust in this server. */
  readonly rejectRedirects: boolean;
  readonly open: OpenConnections;
  readonly limits: AnswerLimits;
  readonly unreachable: (details: Readonly<Record<string, unknown>>) => void;
}

/** Clients wait for the documents of all groups: one slow server must not hold them up. */
export const DISCOVERY_MS = 5000;
const UNAVAILABLE = 'service unavailable';
const REDIRECTED = 'the backend attempted to redirect this request, which is not permitted';

/** Sent in plain text, as stock servers do. */
class Unreachable extends Error {
  /** The connection had been kept, and was closed at the other end before the request was read. */
  readonly stale: boolean;
  constructor(message: string, stale: boolean) {
    super(message);
    this.stale = stale;
  }
}

/** Returns undefined where the request is for this server itself. */
export function aggregated(deps: AggregationDeps): (ctx: Context) => Promise<void> | undefined {
  return (ctx) => {
    const backend = backendOf(deps, ctx);
    return backend === undefined ? undefined : pass(deps, ctx, backend);
  };
}

function backendOf({ find }: AggregationDeps, { info, path }: Context): Backend | undefined {
  if (info.resourceRequest) return info.group === '' ? undefined : find(info.group, info.version);
  const [, root, group = '', version = '', ...rest] = path.startsWith('/apis/') ? path.split('/') : [];
  return root === 'apis' && version !== '' && rest.every((part) => part === '') ? find(group, version) : undefined;
}

async function pass(deps: AggregationDeps, ctx: Context, backend: Backend): Promise<void> {
  if (!backend.available) return refuse(ctx, UNAVAILABLE);
  const path = pathOf(ctx);
  ctx.body?.passedOn(ctx);
  let target: Target;
  try {
    target = targetOf(deps, backend);
  } catch {
    // The service or its endpoints have just gone; the status will say so in a moment.
    return refuse(ctx, UNAVAILABLE);
  }
  try {
    if (upgradeOf(ctx) === undefined) await send(deps, ctx, backend, target, path);
    else await tunnel(deps, ctx, backend, target, path);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    // The client disconnected, or got a timeout error.
    if (ctx.res.destroyed || ctx.res.headersSent) return;
    deps.unreachable({
      apiService: backend.name,
      target: authorityOf(target),
      error: error.message,
    });
    refuse(ctx, error.message);
  }
}

/** Clients that would rather speak HTTP/2 in the clear say so on every request; that is not for the other server. */
function upgradeOf(ctx: Context): string | undefined {
  const protocol = ctx.upgrade?.protocol;
  return protocol?.toLowerCase() === 'h2c' || Number(ctx.header('content-length') ?? 0) > 0 ? undefined : protocol;
}

const refuse = (ctx: Context, text: string, status = 503): void => sendText(ctx, status, `${text}\n`);

function targetOf({ guard }: AggregationDeps, { server, connect }: Backend): Target {
  if (connect !== undefined) return { host: server.serverName, port: server.port, guard, connect };
  const { verify, ca, certificate, key, serverName } = server;
  return { ...server.address(), guard, tls: { verify, ca, certificate, key, serverName } };
}

/**
 * The path as it was authorized, encoded again: what the other server reads must be what was allowed here, whatever the client
 * had put into escapes. Steps upwards are understood differently by different servers.
 */
function pathOf({ path, search }: Context): string {
  const parts = path.split('/');
  if (parts.some((part) => part === '.' || part === '..')) throw badRequest('the path of the request is ambiguous');
  const encodedPath = parts.map((part) => encodeURIComponent(part).replace(/%(3A|40|24|26|2B|2C|3B|3D)/g, decodeURIComponent)).join('/');
  return search === '' ? encodedPath : `${encodedPath}?${search}`;
}

function headersOf(deps: AggregationDeps, ctx: Context, { server }: Backend): string[] {
  // Some servers take an underscore for a hyphen.
  const isCredential = (name: string): boolean => deps.isCredential(name.includes('_') ? name.replaceAll('_', '-') : name);
  const passed = requestHeaders(ctx, { isCredential, forwardedUri: encodeURI(ctx.path) });
  const headers: string[] = ['Host', `${server.serverName}:${server.port}`, 'Audit-Id', ctx.auditId];
  for (let i = 0; i + 1 < passed.length; i += 2) {
    const name = (passed[i] as string).toLowerCase();
    if (name !== 'host' && name !== 'audit-id') headers.push(passed[i] as string, passed[i + 1] as string);
  }
  return headers.concat(identityHeaders(ctx.user));
}

async function send(deps: AggregationDeps, ctx: Context, backend: Backend, target: Target, path: string): Promise<void> {
  const headers = [...headersOf(deps, ctx, backend), ...lengthHeaders(ctx)];
  // A kept connection may be closed at the other end just now. What can be asked twice is; what cannot has one of its own.
  const repeatable = !hasBody(ctx) && (ctx.method === 'GET' || ctx.method === 'HEAD') && target.connect === undefined;
  const attempt = (to: Target): Promise<void> => request(deps, ctx, to, path, headers);
  if (!repeatable) return attempt(target);
  try {
    await attempt({ ...target, client: backend.server.connectionsFor(guardedLookup(deps.guard)) });
  } catch (error) {
    if (!(error instanceof Unreachable && error.stale) || ctx.res.destroyed) throw error;
    await attempt(target);
  }
}

async function request(deps: AggregationDeps, ctx: Context, target: Target, path: string, headers: string[]): Promise<void> {
  const { clock } = deps.limits;
  const exchange = await dial(target, { method: ctx.method, path, headers, body: bodyOf(ctx), ...deps.limits });
  const onTimeout = (): void => exchange.destroy(new Error('context deadline exceeded'));
  const cancel = ctx.info.resourceRequest ? undefined : clock.after(DISCOVERY_MS, onTimeout);
  try {
    const answer = await answerOf(ctx, exchange, target, (why) => new Unreachable(why, exchange.isStale));
    if (deps.rejectRedirects && leadsElsewhere(answer)) {
      answer.resume();
      return refuse(ctx, REDIRECTED, 502);
    }
    await sendAnswer({ open: deps.open, clock }, ctx, answer, unsaid(ctx, answerHeaders(answer.rawHeaders)));
  } finally {
    cancel?.();
  }
}

const leadsElsewhere = ({ status, rawHeaders }: Answer): boolean =>
  status >= 300 && status <= 399 && rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'location');

/** What this server says of every answer (its audit id, its flow) it says once. */
function unsaid({ headers: own }: Context, headers: readonly string[]): string[] {
  const ownNames = new Set(own.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase()));
  const otherHeaders: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2)
    if (!ownNames.has((headers[i] as string).toLowerCase())) otherHeaders.push(headers[i] as string, headers[i + 1] as string);
  return otherHeaders;
}

async function tunnel(deps: AggregationDeps, ctx: Context, backend: Backend, target: Target, path: string): Promise<void> {
  // The client may stay for as long as it likes.
  ctx.longRunning = true;
  const headers = headersOf(deps, ctx, backend);
  await openTunnel(deps.open, ctx, {
    target,
    path,
    headers,
    unreachable: (why) => new Unreachable(`error dialing backend: ${why}`, false),
    clock: deps.limits.clock,
  });
}
