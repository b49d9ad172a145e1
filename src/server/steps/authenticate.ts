/** Authentication. No request proceeds without a user. */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { Authenticator, AuthRequest, User } from '../../auth/types.ts';
import { unauthorized } from '../../meta/errors.ts';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';

export function authenticate(authenticator: Authenticator): Step {
  return (ctx) => {
    const answer = authenticator.authenticate(new SocketRequest(ctx));
    if (answer instanceof Promise) return answer.then((user) => accept(ctx, user));
    accept(ctx, answer);
  };
}

function accept(ctx: Context, user: User | undefined): void {
  if (user === undefined) throw unauthorized();
  ctx.user = user;
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
  get socketKey(): object {
    return socketOf(this.ctx);
  }
  peerCertificate(): readonly X509Certificate[] {
    const socket = socketOf(this.ctx) as TLSSocket;
    const certificate = socket.getPeerX509Certificate?.();
    if (certificate === undefined) return [];
    const chain: X509Certificate[] = [];
    for (let next: X509Certificate | undefined = certificate; next !== undefined && chain.length < 8; ) {
      chain.push(next);
      const issuer: X509Certificate | undefined = next.issuerCertificate;
      next = issuer === next ? undefined : issuer;
    }
    return chain;
  }
}

/** The socket itself; the HTTP/2 wrapper around it refuses some calls. */
function socketOf(ctx: Context): object {
  const { req } = ctx;
  return req.stream?.session?.socket ?? req.socket;
}
