/** Logs, streams and proxies of a server, by its options. */
import type { X509Certificate } from 'node:crypto';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Identity } from '@plat-dev/meta/identity';
import { type Connections, connectActions } from '@plat-dev/server/actions/connect';
import type { RegistryDeps } from '@plat-dev/server/registry/context';
import type { SimulatedTargets } from '@plat-dev/server/tunnels/agents';
import type { Base } from './base.ts';
import type { ServerOptions } from './config/server-options.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { Trust } from './credentials/trust.ts';

/** Headers of an authenticating proxy, and their prefixes: none of them is forwarded by this server. */
export const identityHeadersOf = (options: ServerOptions): readonly string[] => [
  ...options.requestheaderUsernameHeaders,
  ...options.requestheaderGroupHeaders,
  ...options.requestheaderExtraHeadersPrefix,
];

export function composeConnections(
  { options, identity, clock }: Base,
  credentials: Credentials,
  registry: RegistryDeps,
  live: LiveSource,
  trust: Trust,
  simulated: SimulatedTargets | undefined,
): Connections {
  const { own } = trust;
  return connectActions({
    registry,
    live,
    agents: {
      addressTypes: options.kubeletPreferredAddressTypes,
      simulated,
      tls: {
        verify: !options.kubeletInsecureTls,
        // Read at each connection: the files may have changed.
        get ca() {
          return trust.nodeCA?.current.pem ?? credentials.authority.certificate.toString();
        },
        get certificate() {
          return trust.nodeClient?.current.certificate;
        },
        get key() {
          return trust.nodeClient?.current.key;
        },
      },
    },
    isOwn: (certificate) => own.has(certificate),
    isServer: (certificate) => own.has(certificate) || isServing(certificate, identity),
    identityHeaders: identityHeadersOf(options),
    allowLocal: options.proxyToLocalAddresses,
    limits: { clock, answerMs: options.requestTimeout },
  });
}

/** Serving certificates of API servers name the service; those of another server on this store do, too. */
function isServing({ subjectAltName = '' }: X509Certificate, { serviceName }: Identity): boolean {
  return subjectAltName.split(', ').includes(`DNS:${serviceName}.default.svc`);
}
