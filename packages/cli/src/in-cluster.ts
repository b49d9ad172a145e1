/** The client configuration of a program that runs in a pod: the service account that the cluster put into it. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientConfig } from '@plat-dev/client/config';
import { identities } from '@plat-dev/meta/identity';

/** Undefined outside of a pod. `root`: where the file system begins. */
export function inClusterConfig(env: Readonly<Record<string, string | undefined>>, root = '/'): ClientConfig | undefined {
  for (const { serviceName, domain } of Object.values(identities)) {
    const variable = serviceName.toUpperCase();
    const [host, port] = [env[`${variable}_SERVICE_HOST`], env[`${variable}_SERVICE_PORT`]];
    const directory = join(root, 'var/run/secrets', domain, 'serviceaccount');
    if (!host || !port || !existsSync(join(directory, 'token'))) continue;
    const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const name = 'in-cluster';
    return {
      clusters: new Map([[name, { server, 'certificate-authority': join(directory, 'ca.crt') }]]),
      users: new Map([[name, { tokenFile: join(directory, 'token') }]]),
      contexts: new Map([[name, { cluster: name, user: name, namespace: namespaceIn(directory) }]]),
      currentContext: name,
      userFiles: new Map(),
    };
  }
  return undefined;
}

function namespaceIn(directory: string): string {
  try {
    return readFileSync(join(directory, 'namespace'), 'utf8').trim() || 'default';
  } catch {
    return 'default';
  }
}
