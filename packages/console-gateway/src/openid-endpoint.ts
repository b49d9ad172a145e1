/** `/console/oidc/start` and `/console/oidc/callback`: log-in at an OpenID provider. */
import type { Log } from '@plat-dev/lib/log';
import { ApiError, methodRefused, pathNotFound } from '@plat-dev/meta/errors';
import { openIdCookie, setOpenIdCookie } from './cookie.ts';
import { type BrowserRequest, type BrowserResponse, send } from './exchange.ts';
import type { OpenIdLogIns } from './openid-flow.ts';
import { checkSite } from './origin.ts';
import type { Caller } from './sessions.ts';

export interface OpenIdEndpointOptions {
  readonly logIns: OpenIdLogIns | undefined;
  readonly publicHost: string | undefined;
  /** Begins a session; returns the headers that give it to the browser. */
  begin(request: BrowserRequest, origin: URL, proof: Caller): Promise<readonly string[]>;
  readonly log: Pick<Log, 'info'>;
}

/** `path`: what comes after `/console/oidc/`. */
export async function serveOpenId(
  { logIns, publicHost, begin, log }: OpenIdEndpointOptions,
  request: BrowserRequest,
  response: BrowserResponse,
  origin: URL,
  path: string,
  query: string,
): Promise<void> {
  if (logIns === undefined || (path !== 'start' && path !== 'callback')) throw pathNotFound();
  if (request.method !== 'GET') throw methodRefused();
  if (path === 'start') {
    checkSite(request, origin, publicHost);
    const ownOrigin = publicHost === undefined ? origin.origin : `https://${publicHost}`;
    const { address, state } = await logIns.begin(`${ownOrigin}/console/oidc/callback`);
    redirect(request, response, address, setOpenIdCookie(origin, state));
    return;
  }
  const removed = setOpenIdCookie(origin, undefined);
  try {
    const proof = await logIns.finish(new URLSearchParams(query), openIdCookie(request, origin));
    redirect(request, response, '/console/', [...removed, ...(await begin(request, origin, proof))]);
  } catch (error) {
    log.info('console log-in failed', { way: 'oidc', error: (error as Error).message, address: request.socket.remoteAddress });
    // The page has its own words for it: those of a link would be anyone's.
    const reason = error instanceof ApiError && error.code === 401 ? 'refused' : 'unavailable';
    redirect(request, response, `/console/?error=${reason}`, removed);
  }
}

const redirect = (request: BrowserRequest, response: BrowserResponse, to: string, headers: readonly string[]): void =>
  send(request, response, 302, ['Location', to, 'Cache-Control', 'no-store', ...headers]);
