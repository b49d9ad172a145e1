/** `/console/session`: who is logged in, log-in by a code, a token or a certificate, and log-out. */
import type { Duplex } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import { badRequest, forbidden, methodRefused, unauthorized, unsupportedMediaType } from '@plat-dev/meta/errors';
import type { Backend } from './backend.ts';
import type { CodeCheck } from './code-check.ts';
import { cookieOf, setCookie } from './cookie.ts';
import { type BrowserRequest, type BrowserResponse, headerOf, readJson, sendError, sendJson } from './exchange.ts';
import { checkSite, isForwarded, isLoopback } from './origin.ts';
import type { Caller, Session, Sessions, Way } from './sessions.ts';

export interface SessionEndpointOptions<Request extends BrowserRequest, Response extends BrowserResponse, Socket extends Duplex> {
  readonly backend: Backend<Request, Response, Socket>;
  readonly sessions: Sessions;
  readonly codes: CodeCheck;
  readonly publicHost: string | undefined;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info'>;
}

/** The session of a browser. Throws 401 where it has none. */
export function sessionOf(sessions: Sessions, request: BrowserRequest, origin: URL): Session {
  const session = sessions.use(cookieOf(request, origin) ?? '', isLoopback(request));
  if (session === undefined) throw unauthorized('log in first');
  return session;
}

export class SessionEndpoint<Request extends BrowserRequest, Response extends BrowserResponse, Socket extends Duplex> {
  private readonly options: SessionEndpointOptions<Request, Response, Socket>;

  constructor(options: SessionEndpointOptions<Request, Response, Socket>) {
    this.options = options;
  }

  async serve(request: Request, response: Response, origin: URL): Promise<void> {
    checkSite(request, origin, this.options.publicHost);
    try {
      switch (request.method) {
        case 'GET':
        case 'HEAD':
          return await this.show(request, response, origin);
        case 'POST':
          return await this.logIn(request, response, origin);
        case 'DELETE':
          return this.logOut(request, response, origin);
        default:
          throw methodRefused();
      }
    } catch (error) {
      sendError(request, response, error, { ways: this.ways(request) });
    }
  }

  private ways(request: Request): readonly Way[] {
    const { byToken, byCertificate, openId } = this.options.backend;
    const ways: Way[] = [];
    if (byToken !== undefined) ways.push('token');
    if (byCertificate !== undefined && request.socket.encrypted === true) ways.push('certificate');
    if (openId !== undefined) ways.push('oidc');
    return ways;
  }

  private async show(request: Request, response: Response, origin: URL): Promise<void> {
    sendJson(request, response, 200, await this.viewOf(request, sessionOf(this.options.sessions, request, origin)));
  }

  private async logIn(request: Request, response: Response, origin: URL): Promise<void> {
    // A form of another site cannot send JSON.
    if (!/^application\/json\s*(;|$)/i.test(headerOf(request, 'content-type') ?? '')) throw unsupportedMediaType(['application/json']);
    const { way, caller } = this.credentialOf(request, await readJson(request, this.options.clock));
    const { session, headers } = await this.begin(request, origin, way, caller);
    sendJson(request, response, 200, await this.viewOf(request, session), headers);
  }

  /** Begins a session of a user who can prove who they are, and ends the one that the browser had. */
  async begin(request: BrowserRequest, origin: URL, way: Way, proof: Caller): Promise<{ session: Session; headers: readonly string[] }> {
    const { sessions, log } = this.options;
    const { name } = await proof();
    log.info('console log-in', { way, user: name, address: request.socket.remoteAddress });
    sessions.end(cookieOf(request, origin) ?? '');
    const { id, session } = sessions.begin(way, proof, { user: name, isLoopback: isLoopback(request) });
    return { session, headers: setCookie(origin, id) };
  }

  private credentialOf(
    request: Request,
    { code, token, certificate }: Readonly<Record<string, unknown>>,
  ): { readonly way: Way; readonly caller: Caller } {
    const { backend, codes, publicHost } = this.options;
    if (typeof code === 'string') {
      if (publicHost === undefined && (!isLoopback(request) || isForwarded(request)))
        throw forbidden(
          { group: '', resource: '' },
          '',
          'the code of the link is for browsers on the machine of the server; --console-address of the server allows others',
        );
      codes.use(code, request.socket.remoteAddress ?? '');
      return backend.byCode;
    }
    if (typeof token === 'string' && token !== '' && backend.byToken !== undefined) {
      if (!/^[\x21-\x7e]+$/.test(token)) throw unauthorized('a token has no spaces and no other special characters');
      return { way: 'token', caller: backend.byToken(token) };
    }
    if (certificate === true && backend.byCertificate !== undefined) {
      const caller = backend.byCertificate(request);
      if (caller === undefined) throw unauthorized('the browser sent no client certificate');
      return { way: 'certificate', caller };
    }
    throw badRequest('log in with one of: code, token, certificate');
  }

  private logOut(request: Request, response: Response, origin: URL): void {
    this.options.sessions.end(cookieOf(request, origin) ?? '');
    sendJson(request, response, 200, { ways: this.ways(request) }, setCookie(origin, undefined));
  }

  private async viewOf(request: Request, session: Session): Promise<object> {
    const { identity, version, release } = this.options.backend;
    const { name, groups } = await session.caller();
    return {
      user: { name, groups },
      way: session.way,
      expires: new Date(session.expires).toISOString().replace(/\.\d+Z$/, 'Z'),
      identity,
      server: { version, release },
      ways: this.ways(request),
    };
  }
}
