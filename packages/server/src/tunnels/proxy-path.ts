/** The path of a proxied request: the part for this server, the part for the target, and the rewriting of redirects. */
import { badRequest } from '@plat-dev/meta/errors';
import type { Context } from '../context.ts';

export interface ProxyPath {
  /** The prefix of the path on this server: `/api/v1/namespaces/shop/services/web/proxy`. */
  readonly prefix: string;
  /** The remaining path as received, without `..` segments; empty if there is not even a slash. */
  readonly path: string;
  /** The query with its question mark, or empty. */
  readonly query: string;
}

/** `segments` of the path, up to `proxy`, belong to this server. */
export function splitProxyPath(ctx: Context, segments: number): ProxyPath {
  const url = ctx.req.url ?? '/';
  const mark = url.indexOf('?');
  const parts = (mark < 0 ? url : url.slice(0, mark)).split('/');
  const own = parts.slice(0, segments + 1);
  const prefix = own.join('/');
  // The request was authorized by its decoded path. An encoded slash would make the two differ.
  if (own.length <= segments || own.some((part) => /%2f/i.test(part)) || !startsWith(ctx.path, prefix)) {
    throw badRequest('the path of the request is ambiguous');
  }
  const rest = parts.slice(segments + 1);
  return {
    prefix,
    path: rest.length === 0 ? '' : new URL(`http://target/${rest.join('/')}`).pathname,
    query: mark < 0 ? '' : url.slice(mark),
  };
}

function startsWith(path: string, prefix: string): boolean {
  try {
    const decoded = decodeURIComponent(prefix);
    return path === decoded || path.startsWith(`${decoded}/`);
  } catch {
    return false;
  }
}

const absolute = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#]*)(.*)$/is;

/**
 * The location of a redirect of the target, for the client. Locations on other hosts stay unchanged.
 *
 *   /login → <prefix>/login    login → login    http://10.0.0.7:80/a → <prefix>/a    https://example.com/ → https://example.com/
 */
export function rewriteLocation(location: string, prefix: string, hosts: readonly (string | undefined)[]): string {
  const match = absolute.exec(location);
  if (match !== null && !hosts.includes(match[1])) return location;
  const path = match === null ? location : match[2] === '' ? '/' : (match[2] as string);
  if (!path.startsWith('/') || path === prefix || path.startsWith(`${prefix}/`)) return path;
  return prefix + path;
}
