/** Publishes `cluster-info` if bootstrap tokens are accepted, and again when the certificates of this server change. */

import { publishClusterInfo } from '@plat-dev/server/registry/bootstrap/cluster-info';
import type { SystemWriter } from '@plat-dev/server/registry/system';
import { advertisedAddress } from '../allocation.ts';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';
import type { Credentials } from './credentials.ts';
import type { Trust } from './trust.ts';

export interface ClusterInfoDeps {
  readonly credentials: Pick<Credentials, 'rootCertificates'>;
  readonly trust: Pick<Trust, 'tls'>;
  readonly writer: SystemWriter;
  readonly port: number;
}

/** Resolves when it is published. A failed write does not keep the server from serving. */
export async function composeClusterInfo({ options, identity, log }: Base, deps: ClusterInfoDeps): Promise<void> {
  const { credentials, trust, writer, port } = deps;
  if (!options.enableBootstrapTokenAuth) return;
  const { serving } = trust.tls;
  const publish = (): Promise<void> =>
    publishClusterInfo(writer, identity, {
      server: `https://${hostOf(options)}:${port}`,
      certificates: options.tlsCertFile === undefined ? credentials.rootCertificates : serving.current.certificate,
    }).catch((error: unknown) => log.error('cluster-info not published', { error: String(error) }));
  serving.onChange(() => void publish());
  await publish();
}

/** The address by which new nodes reach the server. */
function hostOf(options: ServerOptions): string {
  const { bindAddress } = options;
  const everywhere = bindAddress === '0.0.0.0' || bindAddress === '::';
  const address =
    options.advertiseAddress ?? (everywhere ? advertisedAddress(options) : undefined) ?? (everywhere ? '127.0.0.1' : bindAddress);
  return address.includes(':') ? `[${address}]` : address;
}
