/**
 * The console on the ports of a server. Nothing of it is loaded before a browser asks for it, and requests of the API are told from
 * those of browsers by the beginning of their path.
 */
import { newCode } from '@plat-dev/console-gateway/code';
import { certificateOn } from '@plat-dev/server/connections/connection-certificate';
import type { Incoming } from '@plat-dev/server/exchange';
import { drainAfter } from '@plat-dev/server/handler';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { Base } from '../base.ts';
import type { Access } from '../requests/access.ts';
import type { Requests } from '../requests/requests.ts';
import type { ServerGateway } from './gateway.ts';

export interface WebConsole {
  /** All requests: those of browsers go to the console, others to the API. */
  readonly handle: Handle;
  /** Opens the console, logged in as the administrator. */
  link(address: string): string;
}

/** Undefined where the server has none. */
export function composeConsole(base: Base, access: Access, { handle, handlerForSessions }: Requests): WebConsole | undefined {
  const { options, random, clock, parts } = base;
  if (!options.console) return undefined;
  // As browsers write it: in lower case, without the port of HTTPS.
  const publicHost = options.consoleAddress === '' ? undefined : new URL(`https://${options.consoleAddress}`).host;
  const code = newCode(random, clock);
  let loading: Promise<ServerGateway> | undefined;
  const load = async () => (await import('./gateway.ts')).consoleGateway(base, access, handlerForSessions, { code, publicHost });
  parts.add('console', async () => (await loading)?.close());
  return {
    handle: forBrowsers(handle, (req, res, upgrade) => {
      loading ??= load();
      drainAfter(clock, req, res);
      loading.then(
        (gateway) => gateway.handle(req, res, upgrade),
        (error: unknown) => res.destroy(error as Error),
      );
    }),
    link: (address) => `${publicHost === undefined ? address : `https://${publicHost}`}/console/?code=${code.text}`,
  };
}

export function forBrowsers(api: Handle, browsers: Handle): Handle {
  return (req, res, upgrade) => {
    const url = req.url ?? '/';
    if (url.startsWith('/api') || !(isConsolePath(url) || isBrowserAtRoot(req, url))) api(req, res, upgrade);
    else browsers(req, res, upgrade);
  };
}

const isConsolePath = (url: string): boolean => url.startsWith('/console') && /^\/console(?:[/?]|$)/.test(url);

/** A browser that shows no credential of its own would see that it is forbidden to see the paths of the API. */
function isBrowserAtRoot({ method, headers, stream, socket }: Incoming, url: string): boolean {
  const isRootOfBrowser = method === 'GET' && /^\/(?:\?|$)/.test(url) && /^text\/html\s*(?:[,;]|$)/.test(headers.accept ?? '');
  return isRootOfBrowser && headers.authorization === undefined && certificateOn(stream?.session ?? socket) === undefined;
}
