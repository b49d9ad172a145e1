/** The API behind a gateway: in the same process, or that of another server. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { BrowserRequest, BrowserResponse, BrowserUpgrade } from './exchange.ts';
import type { OpenIdFlow } from './openid-flow.ts';
import type { Caller } from './sessions.ts';

/** A request of the page as the API gets it: without the prefix, and without credentials of the browser. */
export interface ApiCall {
  readonly url: string;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly rawHeaders: readonly string[];
  readonly caller: Caller;
}

export interface WatchCall {
  readonly url: string;
  readonly accept: string;
  readonly caller: Caller;
  /** Ends the watch. */
  readonly signal: AbortSignal;
  /** The request that opened the connection. */
  readonly opener: BrowserRequest;
}
export interface WatchAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Readable;
}

export interface Backend<Request extends BrowserRequest, Response extends BrowserResponse, Socket extends Duplex> {
  /** What the page is told of the server. */
  readonly identity: string;
  readonly version: string;
  readonly release: string;
  handle(request: Request, response: Response, upgrade: BrowserUpgrade<Socket> | undefined, call: ApiCall): void;
  watch(call: WatchCall): Promise<WatchAnswer>;
  /** Who comes by the one-time code. */
  readonly byCode: { readonly way: 'code' | 'proxy'; readonly caller: Caller };
  /** Who has a token. Absent: nobody comes by one. */
  readonly byToken?: ((token: string) => Caller) | undefined;
  /** Who has the certificate of the connection; undefined where it has none. */
  readonly byCertificate?: ((request: Request) => Caller | undefined) | undefined;
  readonly openId?: OpenIdFlow | undefined;
}
