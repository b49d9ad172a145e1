/**
 * What stands between a browser and an API:
 *
 *   /console/…            the files of the page
 *   /console/session      who is logged in, log-in, log-out
 *   /console/oidc/…       log-in at an OpenID provider
 *   /console/api/…        the API, as the user of the session
 *   /console/watch        one connection for all watches of a page
 */
import type { Duplex } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import { badRequest, forbidden, methodRefused, tooManyRequests } from '@plat-dev/meta/errors';
import { acceptWebSocket } from '@plat-dev/streams/accept-websocket';
import { callOf } from './api-call.ts';
import { builtFiles, filesOf, sendAsset, sendWelcome } from './assets.ts';
import type { Backend } from './backend.ts';
import type { OneTimeCode } from './code.ts';
import { CodeCheck } from './code-check.ts';
import { type BrowserRequest, type BrowserResponse, type BrowserUpgrade, headerOf, send, sendError } from './exchange.ts';
import { type OpenIdEndpointOptions, serveOpenId } from './openid-endpoint.ts';
import { OpenIdLogIns } from './openid-flow.ts';
import { checkHost, checkSite, checkSocketSite, originOf, PAGE_HEADER } from './origin.ts';
import { SessionEndpoint, sessionOf } from './session-endpoint.ts';
import { type Session, Sessions } from './sessions.ts';
import { PAGE_MESSAGE_BYTES, WATCH_PROTOCOL, WatchConnection } from './watch-connection.ts';

const CONSOLE_PATH = '/console/';
/** Connections for watches of one session, which has one for each open page. */
const MAX_CONNECTIONS = 16;

export interface GatewayOptions<Request extends BrowserRequest, Response extends BrowserResponse, Socket extends Duplex> {
  readonly backend: Backend<Request, Response, Socket>;
  /** The folder with the files of the page, where it is not that of the build. */
  readonly assets?: string | undefined;
  readonly code: OneTimeCode | undefined;
  /** Host and port by which browsers reach the server, where that is not its own address. */
  readonly publicHost?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Pick<Log, 'info'>;
}

export class Gateway<Request extends BrowserRequest, Response extends BrowserResponse, Socket extends Duplex> {
  private readonly options: GatewayOptions<Request, Response, Socket>;
  readonly sessions: Sessions;
  private readonly endpoint: SessionEndpoint<Request, Response, Socket>;
  private readonly openId: OpenIdEndpointOptions;
  private readonly connections = new Map<Session, number>();

  constructor(options: GatewayOptions<Request, Response, Socket>) {
    this.options = options;
    const { backend, code, clock, random, log, publicHost } = options;
    this.sessions = new Sessions(clock, random);
    this.endpoint = new SessionEndpoint({ backend, sessions: this.sessions, codes: new CodeCheck(code, clock), publicHost, clock, log });
    this.openId = {
      logIns: backend.openId && new OpenIdLogIns(backend.openId, clock, random),
      publicHost,
      begin: async (request, origin, proof) => (await this.endpoint.begin(request, origin, 'oidc', proof)).headers,
      log,
    };
  }

  /** Answers a request below `/console`, or of a browser for `/`. */
  handle(request: Request, response: Response, upgrade?: BrowserUpgrade<Socket>): void {
    this.serve(request, response, upgrade).catch((error: unknown) => sendError(request, response, error));
  }
  /** Ends all sessions, and what is open for them. */
  close(): void {
    this.sessions.close();
  }

  private async serve(request: Request, response: Response, upgrade: BrowserUpgrade<Socket> | undefined): Promise<void> {
    const { publicHost } = this.options;
    const [path = '', ...query] = (request.url ?? '/').split('?');
    const origin = originOf(request, publicHost);
    checkHost(request, origin, publicHost);
    if (path === '/') return sendWelcome(request, response);
    if (path.startsWith(`${CONSOLE_PATH}api/`)) return this.passOn(request, response, upgrade, origin);
    if (path === `${CONSOLE_PATH}watch`) return this.openConnection(request, upgrade, origin);
    if (path === `${CONSOLE_PATH}session`) return this.endpoint.serve(request, response, origin);
    const openId = `${CONSOLE_PATH}oidc/`;
    if (path.startsWith(openId)) return serveOpenId(this.openId, request, response, origin, path.slice(openId.length), query.join('?'));
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodRefused();
    if (!path.startsWith(CONSOLE_PATH)) return send(request, response, 308, ['Location', CONSOLE_PATH]);
    const { assets } = this.options;
    const files = assets === undefined ? builtFiles() : filesOf(assets);
    return sendAsset(files, path.slice(CONSOLE_PATH.length), request, response);
  }

  private async passOn(request: Request, response: Response, upgrade: BrowserUpgrade<Socket> | undefined, origin: URL): Promise<void> {
    const { backend, publicHost } = this.options;
    if (upgrade !== undefined) checkSocketSite(request, origin, publicHost);
    else {
      checkSite(request, origin, publicHost);
      if (headerOf(request, PAGE_HEADER.toLowerCase()) !== '1')
        throw forbidden({ group: '', resource: '' }, '', `requests of the console have the header ${PAGE_HEADER}: 1`);
    }
    const session = sessionOf(this.sessions, request, origin);
    const forget = session.onEnd(() => response.destroy());
    response.once('close', forget);
    backend.handle(request, response, upgrade && endedWith(session, upgrade), callOf(request, `${CONSOLE_PATH}api`, session.caller));
  }

  private async openConnection(request: Request, upgrade: BrowserUpgrade<Socket> | undefined, origin: URL): Promise<void> {
    const { backend, clock, publicHost } = this.options;
    const offered = (headerOf(request, 'sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
    if (upgrade?.protocol.toLowerCase() !== 'websocket' || !offered.includes(WATCH_PROTOCOL))
      throw badRequest(`connect by a WebSocket with the subprotocol ${WATCH_PROTOCOL}`);
    checkSocketSite(request, origin, publicHost);
    const session = sessionOf(this.sessions, request, origin);
    await session.caller();
    const count = this.connections.get(session) ?? 0;
    if (count >= MAX_CONNECTIONS) throw tooManyRequests(`a session has at most ${MAX_CONNECTIONS} connections for watches`, 1);
    const { head } = upgrade;
    const socket = upgrade.take();
    const webSocket = socket && acceptWebSocket(request, socket, head, { protocol: WATCH_PROTOCOL, maxPayload: PAGE_MESSAGE_BYTES });
    if (webSocket === undefined) return;
    this.connections.set(session, count + 1);
    const connection = new WatchConnection(webSocket, clock, (call) => backend.watch({ ...call, caller: session.caller, opener: request }));
    const forget = session.onEnd(() => connection.end());
    webSocket.on('close', () => {
      forget();
      const left = (this.connections.get(session) ?? 1) - 1;
      if (left > 0) this.connections.set(session, left);
      else this.connections.delete(session);
      session.lastUse = clock.now();
    });
  }
}

/** An upgrade whose connection ends with the session. */
function endedWith<Socket extends Duplex>(session: Session, upgrade: BrowserUpgrade<Socket>): BrowserUpgrade<Socket> {
  return {
    protocol: upgrade.protocol,
    get head() {
      return upgrade.head;
    },
    take() {
      const socket = upgrade.take();
      if (socket !== undefined)
        socket.once(
          'close',
          session.onEnd(() => socket.destroy()),
        );
      return socket;
    },
  };
}
