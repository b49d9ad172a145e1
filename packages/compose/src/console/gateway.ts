/** The gateway of the console before the API of this server: its requests run through the same steps as all others. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type Backend, Gateway, type OpenIdFlow, safetyHeaders, type WatchAnswer, type WatchCall } from '@plat-dev/console-gateway';
import type { OneTimeCode } from '@plat-dev/console-gateway/code';
import type { Clock } from '@plat-dev/lib/clock';
import { productVersion } from '@plat-dev/lib/version';
import { whenReady } from '@plat-dev/lib/when-ready';
import { unauthorized } from '@plat-dev/meta/errors';
import { authenticated } from '@plat-dev/server/auth/authn/users';
import { type Authenticator, type AuthRequest, type User, wellKnown } from '@plat-dev/server/auth/types';
import { certificateOn } from '@plat-dev/server/connections/connection-certificate';
import type { Incoming, Outgoing } from '@plat-dev/server/exchange';
import { Outbound } from '@plat-dev/server/http-client/outbound';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';
import { administrator } from '../credentials/credentials.ts';
import type { Access } from '../requests/access.ts';
import { SessionRequest, StreamedAnswer } from './session-exchange.ts';

export interface ServerGateway {
  readonly handle: Handle;
  close(): void;
}

export function consoleGateway(
  { options, identity, clock, random, log, consoleFiles }: Base,
  { auth }: Access,
  handlerForSessions: (headers: readonly string[]) => Handle,
  { code, publicHost }: { readonly code: OneTimeCode; readonly publicHost: string | undefined },
): ServerGateway {
  const handle = handlerForSessions(safetyHeaders);
  const admin = authenticated(administrator);
  const outbound = providerCalls(options, clock);
  const byToken = (token: string) => {
    const authorization = `Bearer ${token}`;
    // The key lets the authenticator remember what it found out of the token.
    return provenBy(auth.authenticator, { headers: { authorization }, rawHeaders: ['Authorization', authorization], socketKey: {} });
  };
  const backend: Backend<Incoming, Outgoing, Socket> = {
    identity: identity.name,
    version: productVersion,
    release: options.apiRelease,
    handle: (request, response, upgrade, call) => handle(new SessionRequest(request, call), response, upgrade),
    watch: (call) => watch(handle, call),
    byCode: { way: 'code', caller: () => admin },
    byToken,
    openId: outbound && openIdFlow(options, outbound, byToken),
    byCertificate({ stream, socket }) {
      const clientCertificate = certificateOn(stream?.session ?? socket);
      return clientCertificate && provenBy(auth.authenticator, { headers: {}, rawHeaders: [], clientCertificate });
    },
  };
  const gateway = new Gateway({ backend, assets: consoleFiles, code, publicHost, clock, random, log });
  return {
    handle: (request, response, upgrade) => gateway.handle(request, response, upgrade),
    close() {
      gateway.close();
      outbound?.close();
    },
  };
}

/** Calls to the OpenID provider, if there is one. */
function providerCalls({ oidcIssuerUrl, oidcCaFile }: ServerOptions, clock: Clock): Outbound | undefined {
  if (oidcIssuerUrl === '') return undefined;
  const ca = oidcCaFile === undefined ? undefined : readFileSync(oidcCaFile, 'utf8');
  return new Outbound({ server: oidcIssuerUrl, ca, authoritiesOnly: true }, clock, providerLimits);
}
const providerLimits = { timeoutMillis: 10_000, maxBytes: 1 << 20, maxCalls: 16 };

function openIdFlow(options: ServerOptions, outbound: Outbound, byToken: OpenIdFlow['byToken']): OpenIdFlow {
  const { oidcIssuerUrl, oidcClientId, consoleOidcClientSecretFile: file } = options;
  return {
    issuer: oidcIssuerUrl,
    clientId: oidcClientId,
    clientSecret: () => (file === undefined ? undefined : readFileSync(file, 'utf8').trim()),
    call: (url, form) => (form === undefined ? outbound.get(url) : outbound.postForm(form, url)),
    byToken,
  };
}

/** Whom a credential proves, again for each request: it may be revoked, or expire. */
function provenBy(authenticator: Authenticator, request: AuthRequest): () => User | Promise<User> {
  const known = (user: User | undefined): User => {
    if (user === undefined || user.groups.includes(wellKnown.unauthenticated)) throw unauthorized();
    return user;
  };
  return () => whenReady(authenticator.authenticate(request), known);
}

function watch(handle: Handle, { url, accept, caller, signal, opener }: WatchCall): Promise<WatchAnswer> {
  const { 'user-agent': agent = 'console' } = opener.headers;
  const headers = { accept, 'user-agent': agent };
  const rawHeaders = ['Accept', accept, 'User-Agent', agent];
  return new Promise((resolve, reject) => {
    const answer = new StreamedAnswer((status, contentType) => resolve({ status, contentType, body: answer }));
    answer.once('close', () => reject(new Error('the watch was broken off')));
    signal.addEventListener('abort', () => answer.destroy(), { once: true });
    handle(new SessionRequest(opener as Incoming, { url, headers, rawHeaders, caller }), answer);
  });
}
