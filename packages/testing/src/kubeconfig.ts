/** Client configurations for programs that talk to a test server. */

import type { Credentials } from '@plat-dev/compose/credentials/credentials';
import type { Identity } from '@plat-dev/meta/identity';
import type { User } from '@plat-dev/server/auth/types';
import { wellKnown } from '@plat-dev/server/auth/types';
import { clientCertificate } from './keys.ts';

/** A client configuration, as files of `kubectl` hold it. */
export interface Kubeconfig {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly [
    { readonly name: string; readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [
    { readonly name: string; readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ];
  readonly contexts: readonly [{ readonly name: string; readonly context: { readonly cluster: string; readonly user: string } }];
  readonly 'current-context': string;
}

export interface ReachedServer {
  readonly identity: Identity;
  readonly url: string;
  readonly credentials: Pick<Credentials, 'authority' | 'rootCertificates'>;
}

export function kubeconfigOf({ identity, url, credentials }: ReachedServer, { name: user, groups }: User): Kubeconfig {
  const name = `${identity.word}@${new URL(url).host}`;
  const proved = clientCertificate(
    credentials.authority,
    user,
    // Servers add this group to every authenticated user.
    groups.filter((group) => group !== wellKnown.authenticated),
  );
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': base64(credentials.rootCertificates) } }],
    users: [
      {
        name: `${user}@${name}`,
        user: { 'client-certificate-data': base64(proved.certificate), 'client-key-data': base64(proved.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: `${user}@${name}` } }],
    'current-context': name,
  };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
