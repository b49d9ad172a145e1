/** The API behind the console of `plat console`: another server, with the credentials of this command. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Backend, safetyHeaders } from '@plat-dev/console-gateway';
import { productVersion } from '@plat-dev/lib/version';
import { isConsoleCookie } from '@plat-dev/meta/console-cookie';
import { ApiError, serviceUnavailable } from '@plat-dev/meta/errors';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/meta/user';
import { userOf } from '../auth/whoami.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { ApiRelay, join } from '../pods/api-relay.ts';
import type { Work } from '../work.ts';

export type RelayBackend = Backend<IncomingMessage, ServerResponse, Socket>;

/** Asks the server who the caller is, and which names and release it has. */
export async function relayBackend(work: Work): Promise<{ readonly backend: RelayBackend; close(): void }> {
  const { connection, transport, timeout } = work.session;
  const version = await transport.json<{ gitVersion?: string; major?: string; minor?: string }>({ path: '/version', ...timeout });
  const group = await fullGroup(work, 'authentication');
  const { username, groups = [] } = await userOf(work, group);
  const user: User = { name: username, groups };
  const isStock = group.endsWith(kubernetes.groupSuffix);
  const relay = new ApiRelay(connection, { userAgent: `plat-console/${productVersion}`, clock: work.io.clock, impersonates: true });
  const backend: RelayBackend = {
    identity: (isStock ? kubernetes : plat).name,
    version: version.gitVersion ?? '',
    release: `${version.major ?? ''}.${(version.minor ?? '').replace(/\D+$/, '')}`,
    byCode: { way: 'proxy', caller: () => user },
    handle(request, response, upgrade, { url: path, headers }) {
      const fail = (error: unknown): void => sendFailure(response, error);
      if (upgrade === undefined) relay.pass(request, response, { path, headers }, protectedHeaders).catch(fail);
      else
        relay.upgrade(request, { path, headers }).then((far) => {
          const socket = upgrade.take();
          if (socket === undefined) far.socket.destroy();
          else join({ ...far, headers: harmless(far.headers) }, socket, upgrade.head);
        }, fail);
    },
    watch: ({ url, accept, signal }) => relay.stream(url, { accept }, signal),
  };
  return { backend, close: () => relay.close() };
}

const safety: ReadonlyMap<string, string> = new Map(
  safetyHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), safetyHeaders[i + 1] as string] as const] : [])),
);

/** Answers of the API as the browser gets them: no other server may loosen what protects the console. */
const protectedHeaders = (headers: IncomingHttpHeaders): IncomingHttpHeaders => ({ ...harmless(headers), ...Object.fromEntries(safety) });

/** Without cookies of the console, and without consent to requests of other origins. */
function harmless({ 'set-cookie': cookies, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  const otherCookies = cookies?.filter((cookie) => !isConsoleCookie(cookie)) ?? [];
  const others = Object.entries(headers).filter(([name]) => !name.startsWith('access-control-'));
  return { ...Object.fromEntries(others), ...(otherCookies.length > 0 && { 'set-cookie': otherCookies }) };
}

function sendFailure(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const failure = error instanceof ApiError ? error : serviceUnavailable((error as Error).message);
  response.writeHead(failure.code, { 'content-type': 'application/json', ...Object.fromEntries(safety) });
  response.end(JSON.stringify(failure.status()));
}
