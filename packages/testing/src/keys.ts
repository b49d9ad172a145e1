/**
 * Keys and certificates of test servers. Servers of one identity in a process share them, because making them takes longer
 * than the rest of a start; they are never written to a file. They are valid at any time that a test may set its clock to.
 */

import { hostname } from 'node:os';
import { frontProxyName } from '@plat-dev/compose/credentials/credentials';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Identity } from '@plat-dev/meta/identity';
import {
  type Authority,
  type Issued,
  issueClient,
  issueServing,
  type KeyFiles,
  keysInMemory,
  newAuthority,
  newKeyPair,
  privateKeyPem,
  readAuthority,
  servingNames,
} from '@plat-dev/pki';

const VALID_FROM = Date.UTC(2000, 0, 1);
const VALID_DAYS = 36_500;
/** Limit of identities whose keys are cached; further ones make their keys again. */
const MAX_IDENTITIES = 8;
/** Bind address of the shared serving certificates. */
const COMMON_BIND_ADDRESS = '127.0.0.1';

const keysByIdentity = new BoundedCache<string, Promise<KeyFiles>>(MAX_IDENTITIES);

/** Addresses that a serving certificate must have. */
export interface ServedAt {
  readonly bindAddress: string;
  readonly serviceAddress: string;
}

/** Keys of a server: the shared ones, and those that it writes itself. */
export async function testKeys(identity: Identity, at: ServedAt): Promise<KeyFiles> {
  const shared = await sharedKeys(identity, at.serviceAddress);
  return at.bindAddress === COMMON_BIND_ADDRESS ? viewOf(shared) : keysAt(shared, identity, at);
}

/** The same keys with another serving certificate, of the same authority. */
export async function keysAt(keys: KeyFiles, identity: Identity, at: ServedAt): Promise<KeyFiles> {
  const view = viewOf(keys);
  const authority = readAuthority({ certificate: keys.read('ca.crt') as string, key: keys.read('ca.key') as string });
  const names = servingNames({ serviceName: identity.serviceName, hostName: hostname(), ...at });
  const { certificate, key } = issueServing(authority, names, VALID_FROM, VALID_DAYS);
  await view.write('server.crt', certificate);
  await view.write('server.key', key);
  return view;
}

/** Reads shared files; writes stay within this object. */
function viewOf(keys: KeyFiles): KeyFiles {
  const own = keysInMemory();
  return { ...own, read: (name) => own.read(name) ?? keys.read(name) };
}

function sharedKeys(identity: Identity, serviceAddress: string): Promise<KeyFiles> {
  const name = `${identity.name} ${serviceAddress}`;
  let keys = keysByIdentity.get(name);
  if (keys === undefined) {
    keys = makeKeys(identity, serviceAddress);
    keysByIdentity.set(name, keys);
  }
  return keys;
}

/** The client certificate of a user. */
export const clientCertificate = (authority: Authority, user: string, groups: readonly string[]): Issued =>
  issueClient(authority, user, groups, VALID_FROM, VALID_DAYS);

async function makeKeys(identity: Identity, serviceAddress: string): Promise<KeyFiles> {
  const keys = keysInMemory();
  const pair = async (name: string, { certificate, key }: Issued): Promise<Issued> => {
    await keys.write(`${name}.crt`, certificate);
    await keys.write(`${name}.key`, key);
    return { certificate, key };
  };
  const authority = readAuthority(await pair('ca', newAuthority(`${identity.word}-ca`, VALID_FROM, VALID_DAYS)));
  const names = servingNames({ serviceName: identity.serviceName, bindAddress: COMMON_BIND_ADDRESS, hostName: hostname(), serviceAddress });
  await pair('server', issueServing(authority, names, VALID_FROM, VALID_DAYS));
  const proxies = readAuthority(await pair('front-proxy-ca', newAuthority('front-proxy-ca', VALID_FROM, VALID_DAYS)));
  await pair(frontProxyName, clientCertificate(proxies, frontProxyName, []));
  // Not RSA as usual, which would take up to a second.
  await keys.write('sa.key', privateKeyPem(newKeyPair().privateKey));
  return keys;
}
