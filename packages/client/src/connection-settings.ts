import type { CredentialSource } from './credentials.ts';

/** Everything needed to talk to a server. */
export interface Connection {
  readonly server: string;
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Value of the Authorization header. */
  readonly authorization: string | undefined;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  /** Namespace of the context. */
  readonly namespace: string;
  /** A credential that changes over time: it is requested before each request, and overrides the ones above. */
  readonly credentials?: CredentialSource | undefined;
  /** Impersonation headers. */
  readonly impersonation?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** URL of the proxy to the server. */
  readonly proxy?: string | undefined;
}

/** The connection to the server, without the user. */
export type ServerEndpoint = Pick<Connection, 'server' | 'ca' | 'insecure' | 'serverName' | 'proxy'>;
