/** Authentication. No request proceeds without a user. */

import { type MaybePromise, orElse, whenReady } from '@plat-dev/lib/when-ready';
import { unauthorized } from '@plat-dev/meta/errors';
import { type Authenticator, type AuthRequest, type TokenNotes, type User, wellKnown } from '../auth/types.ts';
import type { ClientCertificate } from '../connections/client-certificates.ts';
import { certificateOn } from '../connections/connection-certificate.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';

/** `clientCAs`: those of the server now; `warnsOfSpaces`: anonymous callers are told why their token does not count. */
export function authenticate(
  authenticator: Authenticator,
  clientCAs?: () => ClientCertificate['authorities'],
  warnsOfSpaces = false,
): Step {
  const accept = (ctx: Context, user: User | undefined): void => {
    if (user === undefined) throw unauthorized();
    ctx.user = user;
    if (warnsOfSpaces && user.name === wellKnown.anonymous && /^bearer {2,}\S/i.test(ctx.header('authorization') ?? ''))
      ctx.warn('the provided Authorization header contains extra space before the bearer token, and is ignored');
  };
  const refuse = (ctx: Context, error: unknown): never => {
    const certificate = certificateOf(ctx);
    // It was verified with other CAs than those of now: in a new connection it is verified again.
    if (certificate !== undefined && certificate.authorities !== clientCAs?.()) endConnection(ctx);
    throw error;
  };
  const authenticated = (ctx: Context): MaybePromise<void> =>
    whenReady(authenticator.authenticate(new SocketRequest(ctx)), (user) => accept(ctx, user));
  return (ctx) =>
    orElse(
      () => authenticated(ctx),
      (error) => refuse(ctx, error),
    );
}

/** For requests of sessions, which say themselves who makes them. */
export const authenticateSession: Step = (ctx) => {
  const { caller } = ctx.req;
  if (caller === undefined) throw unauthorized();
  return whenReady(caller(), (user) => {
    ctx.user = user;
  });
};

/** Ends the connection when its requests in progress are answered. */
function endConnection(ctx: Context): void {
  if (ctx.http2) ctx.req.stream?.session?.close();
  else ctx.headers.push('Connection', 'close');
}

/** A request as authenticators see it; also later, while its connection is open. */
export class SocketRequest implements AuthRequest {
  private readonly ctx: Context;
  constructor(ctx: Context) {
    this.ctx = ctx;
  }
  get headers(): AuthRequest['headers'] {
    return this.ctx.req.headers;
  }
  get rawHeaders(): readonly string[] {
    return this.ctx.req.rawHeaders;
  }
  get path(): string {
    return this.ctx.path;
  }
  noteToken({ warning, annotation }: TokenNotes): void {
    if (warning !== undefined) this.ctx.warn(warning);
    this.ctx.annotate(...annotation);
  }
  get socketKey(): object {
    return socketOf(this.ctx);
  }
  get clientCertificate(): ClientCertificate | undefined {
    return certificateOf(this.ctx);
  }
}

const certificateOf = ({ req }: Context): ClientCertificate | undefined => certificateOn(req.stream?.session ?? req.socket);

/** The socket itself; the HTTP/2 wrapper around it refuses some calls. */
function socketOf(ctx: Context): object {
  const { req } = ctx;
  return req.stream?.session?.socket ?? req.socket;
}
