/** Logs, streams and proxies of a server, as its options ask for them. */
import { readFileSync } from 'node:fs';
import type { Credentials } from '../credentials.ts';
import type { ServerOptions } from '../flags.ts';
import type { LiveSource } from '../kinds/live.ts';
import type { RegistryDeps } from '../registry/context.ts';
import { type Connections, connectActions } from '../server/actions/connect.ts';

/** Headers in which an authenticating proxy names users, and their prefixes: none of them passes this server. */
export const identityHeadersOf = (options: ServerOptions): readonly string[] => [
  ...options.requestheaderUsernameHeaders,
  ...options.requestheaderGroupHeaders,
  ...options.requestheaderExtraHeadersPrefix,
];

export function composeConnections(
  options: ServerOptions,
  credentials: Credentials,
  registry: RegistryDeps,
  live: LiveSource,
): Connections {
  const read = (file: string | undefined): string | undefined => (file === undefined ? undefined : readFileSync(file, 'utf8'));
  return connectActions({
    registry,
    live,
    agents: {
      addressTypes: options.kubeletPreferredAddressTypes,
      tls: {
        verify: !options.kubeletInsecureTls,
        ca: read(options.kubeletCertificateAuthority) ?? credentials.authority.certificate.toString(),
        certificate: read(options.kubeletClientCertificate),
        key: read(options.kubeletClientKey),
      },
    },
    identityHeaders: identityHeadersOf(options),
    allowLocal: options.proxyToLocalAddresses,
  });
}
