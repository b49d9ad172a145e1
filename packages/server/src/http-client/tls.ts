/** TLS settings of a service, as its configuration has them. */
import type { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { TlsSettings } from './connect.ts';
import { trustIn } from './peer-trust.ts';

/** PEM texts, not paths. */
export interface ServiceTls {
  /** Absent: the roots of the host. */
  readonly ca?: string | undefined;
  /** Only certificates of `ca` that have the CA flag are trusted. */
  readonly authoritiesOnly?: boolean | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** The required name of the certificate; absent: the host's. */
  readonly serverName?: string | undefined;
  /** The certificate of the service is not verified. */
  readonly insecure?: boolean | undefined;
  /** Whether a certificate is this server's own: it does not call itself. */
  readonly isOwn?: ((certificate: X509Certificate) => boolean) | undefined;
}

export function tlsSettings({ ca, authoritiesOnly, certificate, key, serverName, insecure, isOwn }: ServiceTls): TlsSettings {
  const { context, authorities } = trustIn(insecure ? undefined : ca, authoritiesOnly);
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...context,
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  });
  return { secureContext, serverName: serverName || undefined, insecure, authorities, isOwn };
}
