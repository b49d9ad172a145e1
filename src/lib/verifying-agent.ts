/** HTTPS connections to servers whose certificates are verified by a bundle. */
import { Agent, type AgentOptions, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { type BundleTrust, refusalOf, trustIn } from './peer-trust.ts';

export interface AgentTrust {
  /** False: the certificate is not verified. */
  readonly verify: boolean;
  /** PEM; absent: the roots of the host. */
  readonly ca?: string | undefined;
}

export const agentFor = ({ verify, ca }: AgentTrust, options: AgentOptions = {}): Agent =>
  verify && ca !== undefined ? new VerifyingAgent(ca, options) : new Agent(options);

class VerifyingAgent extends Agent {
  private readonly trust: BundleTrust;

  constructor(ca: string, options: AgentOptions) {
    const trust = trustIn(ca);
    // No session is resumed, so that every connection shows its certificate.
    super({ ...options, ...trust.context, rejectUnauthorized: false, maxCachedSessions: 0 });
    this.trust = trust;
  }

  override createConnection(
    target: RequestOptions,
    made?: (error: Error | null, stream: Duplex) => void,
  ): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(target, made) as TLSSocket;
    const { authorities = [] } = this.trust;
    // Nothing has been sent when the handshake ends.
    socket.once('secureConnect', () => {
      const refusal = refusalOf(socket, target.servername || (target.host ?? ''), authorities);
      if (refusal !== undefined) socket.destroy(refusal);
    });
    return socket;
  }
}
