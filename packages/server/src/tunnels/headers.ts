/** Which headers are forwarded through a tunnel, and which are not. */
import type { TLSSocket } from 'node:tls';
import { isConsoleCookie, withoutConsoleCookies } from '@plat-dev/meta/console-cookie';
import type { Context } from '../context.ts';

/** Headers about one connection, not about the message (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);
/** CORS headers of a target would be taken for those of this server. */
const crossOrigin = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]);
/** Default headers of an authenticating proxy; configured ones are added. */
const vouching = ['x-remote-user', 'x-remote-group', 'x-remote-extra-'];

/** Whether a header contains a credential or an identity of the caller. Such headers are for this server alone. */
export function credentialHeaders(more: readonly string[] = []): (name: string) => boolean {
  const claims = [...vouching, ...more.map((name) => name.toLowerCase())];
  return (name) => name === 'authorization' || name.startsWith('impersonate-') || claims.some((claim) => name.startsWith(claim));
}

/** Names that the Connection header declares as hop-by-hop. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    if ((raw[i] as string).toLowerCase() !== 'connection') continue;
    names ??= new Set();
    for (const name of (raw[i + 1] as string).split(',')) names.add(name.trim().toLowerCase());
  }
  return names ?? none;
}
const none: ReadonlySet<string> = new Set();

/** Headers of a response that are forwarded to the client, alternating names and values. */
export function answerHeaders(raw: readonly string[], change: (name: string, value: string) => string = (_, value) => value): string[] {
  const own = namedByConnection(raw);
  const keptHeaders: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (hopByHop.has(name) || own.has(name) || crossOrigin.has(name)) continue;
    if (setsConsoleCookie(name, raw[i + 1] as string)) continue;
    keptHeaders.push(raw[i] as string, change(name, raw[i + 1] as string));
  }
  return keptHeaders;
}

/** Whether a header of a target would change the session of a browser. */
export const setsConsoleCookie = (name: string, value: string): boolean => name.toLowerCase() === 'set-cookie' && isConsoleCookie(value);

export interface RequestHeaderOptions {
  readonly isCredential: (name: string) => boolean;
  /** The path of the request to this server. Absent: the target need not know it (node agents). */
  readonly forwardedUri?: string | undefined;
}

/** Headers of a request that are forwarded to the target, alternating names and values. */
export function requestHeaders(ctx: Context, options: RequestHeaderOptions): string[] {
  const raw = ctx.req.rawHeaders;
  const own = namedByConnection(raw);
  const keptHeaders: string[] = [];
  let forwardedFor = '';
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    const value = name === 'cookie' ? withoutConsoleCookies(raw[i + 1] as string) : (raw[i + 1] as string);
    if (value === undefined) continue;
    if (name === 'x-forwarded-for') forwardedFor += `${value}, `;
    else if (!dropped(name, own, options.isCredential)) keptHeaders.push(raw[i] as string, value);
  }
  const authority = ctx.req.headers[':authority'];
  if (typeof authority === 'string' && ctx.req.headers.host === undefined) keptHeaders.push('Host', authority);
  keptHeaders.push('X-Forwarded-For', forwardedFor + (clientAddress(ctx) ?? 'unknown'));
  if (options.forwardedUri !== undefined) {
    keptHeaders.push(
      'X-Forwarded-Uri',
      options.forwardedUri,
      'X-Forwarded-Proto',
      (ctx.req.socket as TLSSocket).encrypted ? 'https' : 'http',
    );
    const host = ctx.req.headers.host ?? authority;
    if (typeof host === 'string') keptHeaders.push('X-Forwarded-Host', host);
  }
  return keptHeaders;
}

function dropped(name: string, own: ReadonlySet<string>, isCredential: (name: string) => boolean): boolean {
  if (name === 'host') return false;
  if (name.startsWith(':') || hopByHop.has(name) || own.has(name) || isCredential(name)) return true;
  // Lengths of bodies are set again, and forwarding headers of earlier hops are replaced.
  return name === 'content-length' || name === 'expect' || isForwarded(name);
}
const isForwarded = (name: string): boolean => name === 'x-forwarded-uri' || name === 'x-forwarded-host' || name === 'x-forwarded-proto';

/** The peer address of the connection, without the prefix of mapped IPv4 addresses. */
function clientAddress(ctx: Context): string | undefined {
  const address = ctx.req.socket?.remoteAddress;
  return address?.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}
