/** The controllers in a process of their own. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Connection } from '@plat-dev/client/connection-settings';
import type { Http } from '@plat-dev/client/http';
import { httpOver } from '@plat-dev/client/http-over';
import { asServiceAccount } from '@plat-dev/client/service-account';
import { Transport } from '@plat-dev/client/transport';
import { allControllers } from '@plat-dev/controllers';
import { type SigningFiles, signingAuthorities } from '@plat-dev/controllers/certificates/authorities';
import { clientFor, managerName, type Running, startControllers } from '@plat-dev/controllers/runtime/manager';
import { selectControllers } from '@plat-dev/controllers/runtime/select';
import type { Clock } from '@plat-dev/lib/clock';
import type { Log } from '@plat-dev/lib/log';
import type { Random } from '@plat-dev/lib/random';
import { productVersion } from '@plat-dev/lib/version';
import { groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { signLegacy } from '@plat-dev/server/auth/service-account/claims';
import { type ElectionFlags, elect, electionTimes } from './election.ts';

export interface RemoteControllersOptions extends SigningFiles, ElectionFlags {
  readonly controllers: readonly string[];
  readonly leaderElect: boolean | undefined;
  readonly clusterSigningDuration: number;
  /** Key that signs the tokens in Secrets. */
  readonly serviceAccountPrivateKeyFile: string | undefined;
  /** Certificates to publish; those that the connection trusts where none are named. */
  readonly rootCaFile: string | undefined;
  /** Each controller as its own service account, instead of all as the user of the kubeconfig. */
  readonly useServiceAccountCredentials: boolean;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
}

/** Watches last, and each takes a connection. */
const MAX_SOCKETS = 256;
/** Servers that share a store hear of each other's writes a moment later; watches on connections of their own, too. */
export const NAMESPACE_DELAY_MS = 5000;
const ORPHAN_DELAY_MS = 500;

/** Detects the identity of a server. Throws if it is unknown. */
export async function identityOf(connection: Connection, clock: Clock): Promise<Identity> {
  const transport = new Transport(connection, `${managerName}/${productVersion}`, clock);
  try {
    const { groups = [] } = await transport.json<{ groups?: { name: string }[] }>({ path: '/apis', timeout: 30_000 });
    for (const identity of Object.values(identities)) {
      if (groups.some(({ name }) => name === groupName(identity, 'rbac.authorization'))) return identity;
    }
  } finally {
    transport.close();
  }
  throw new Error(`unknown identity: the server serves no known group; name its identity with --identity`);
}

/** What the controllers are given of the world around them. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function startRemoteControllers(
  connection: Connection,
  identity: Identity,
  options: RemoteControllersOptions,
  { clock, random, log }: Surroundings,
): Running {
  const times = electionTimes(options);
  const keyFile = options.serviceAccountPrivateKeyFile;
  const key = keyFile === undefined ? undefined : createPrivateKey(readFileSync(keyFile, 'utf8'));
  const all = allControllers({
    rootCertificates: options.rootCaFile === undefined ? (connection.ca ?? '') : readFileSync(options.rootCaFile, 'utf8'),
    ...(key !== undefined && { signToken: (claims) => signLegacy(identity, key, claims) }),
    signing: { authorityOf: signingAuthorities(options, identity, undefined), durationMs: options.clusterSigningDuration },
    namespaceDelayMs: NAMESPACE_DELAY_MS,
    orphanDelayMs: ORPHAN_DELAY_MS,
    // Its server may have none: those who run controllers apart name the one that signs.
    bootstrapTokens: false,
    storageVersions: options.feature('StorageVersionAPI') && options.feature('APIServerIdentity'),
    feature: options.feature,
  });
  const controllers = selectControllers(all, options.controllers);
  const agent = `${managerName}/${productVersion}`;
  const transport = new Transport(connection, agent, clock, { maxSockets: MAX_SOCKETS });
  // Without what the configuration proves who it is by: a certificate would win over the token of an account.
  const nobody = { certificate: undefined, key: undefined, authorization: undefined, credentials: undefined, impersonation: undefined };
  const bare = new Transport({ ...connection, ...nobody }, agent, clock, { maxSockets: MAX_SOCKETS });
  const http = httpOver(transport);
  const client = clientFor(identity, http);
  const connect = (account: string | undefined): Http => {
    if (account === undefined || !options.useServiceAccountCredentials) return http;
    const namespace = identity.namespaces.system;
    const authenticationGroup = groupName(identity, 'authentication');
    return asServiceAccount({ client, http: httpOver(bare), namespace, account, authenticationGroup, clock });
  };
  const start = (): Running => startControllers({ controllers, identity, connect, clock, random, log });
  const running = (options.leaderElect ?? true) ? elect({ times, identity, client, start, clock, random, log }) : start();
  return {
    async stop() {
      await running.stop();
      transport.close();
      bare.close();
    },
  };
}
