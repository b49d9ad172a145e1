/**
 * The server's own keys and certificates, in a directory or in memory only, made if missing, renewed before they expire or when the
 * names of the server change. Valid ones are kept.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { promisify } from 'node:util';
import {
  type Authority,
  type Issued,
  issueClient,
  issueServing,
  newAuthority,
  privateKeyPem,
  readAuthority,
  type ServingRequest,
} from './certificate.ts';
import type { KeyFiles } from './files.ts';

const renewBefore = 30 * 24 * 3600 * 1000;

function readPair(files: KeyFiles, name: string): Issued | undefined {
  const certificate = files.read(`${name}.crt`);
  const key = files.read(`${name}.key`);
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/** The certificate last: if it exists, its key exists too. */
async function writePair(files: KeyFiles, name: string, pair: Issued): Promise<Issued> {
  await files.write(`${name}.key`, pair.key);
  await files.write(`${name}.crt`, pair.certificate);
  return pair;
}

/** Whether certificate and key match, and the certificate was signed by the CA and stays valid for a while. */
function usable(pair: Issued, authority: Authority, now: number): boolean {
  const certificate = new X509Certificate(pair.certificate);
  return (
    certificate.checkPrivateKey(createPrivateKey(pair.key)) &&
    certificate.verify(authority.certificate.publicKey) &&
    Date.parse(certificate.validTo) - now > renewBefore
  );
}

function covers(pair: Issued, request: ServingRequest): boolean {
  const certificate = new X509Certificate(pair.certificate);
  return (
    request.dns.every((name) => certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined) &&
    request.addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
}

/** `ca` → `ca.crt`, `ca.key`. An existing CA is never replaced: everything it signed depends on it. */
export async function ensureAuthority(files: KeyFiles, name: string, commonName: string, now: number): Promise<Authority> {
  const pair = readPair(files, name) ?? (await writePair(files, name, newAuthority(commonName, now)));
  const authority = readAuthority(pair);
  if (!authority.certificate.checkPrivateKey(authority.key)) {
    throw new Error(`${files.pathOf(`${name}.crt`)} and ${name}.key do not belong together`);
  }
  return authority;
}

export async function ensureServing(
  files: KeyFiles,
  name: string,
  authority: Authority,
  request: ServingRequest,
  now: number,
): Promise<Issued> {
  const pair = readPair(files, name);
  if (pair !== undefined && usable(pair, authority, now) && covers(pair, request)) return pair;
  return writePair(files, name, issueServing(authority, request, now));
}

export async function ensureClient(
  files: KeyFiles,
  name: string,
  authority: Authority,
  user: string,
  groups: readonly string[],
  now: number,
): Promise<Issued> {
  const pair = readPair(files, name);
  if (pair !== undefined && usable(pair, authority, now)) return pair;
  return writePair(files, name, issueClient(authority, user, groups, now));
}

/**
 * The key that signs service account tokens: `sa.key`. RSA, because that is what other verifiers of such tokens expect. A new one
 * takes up to a second to make, off the event loop, and is made at the first call of the returned function. It is
 * stored before it is returned.
 */
export function ensureSigningKey(files: KeyFiles, name: string): () => Promise<KeyObject> {
  const file = `${name}.key`;
  const existingKey = files.read(file);
  let key = existingKey === undefined ? undefined : Promise.resolve(createPrivateKey(existingKey));
  return () => {
    key ??= newSigningKey(files, file);
    return key;
  };
}

async function newSigningKey(files: KeyFiles, file: string): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  await files.write(file, privateKeyPem(privateKey));
  return privateKey;
}

/** Public keys of a PEM text with one or more keys, private ones, public ones or certificates. */
export function readPublicKeys(pem: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[^-]*-----END [A-Z ]+-----/g) ?? [];
  const keys = blocks.filter((block) => !block.includes('EC PARAMETERS')).map((block) => createPublicKey(block));
  if (keys.length === 0) throw new Error('no key found');
  return keys;
}

export interface ServerNames {
  /** Name of the service of the API server. */
  readonly serviceName: string;
  readonly bindAddress: string;
  readonly hostName: string;
  /** The first address of the service range, if any. */
  readonly serviceAddress?: string;
  readonly clusterDomain?: string;
  /** Further names or addresses. */
  readonly extra?: readonly string[];
}

/** The pattern of IPv6 takes the engine 7 ms to compile, which most starts can do without. */
const isAddress = (name: string): boolean => name === LOOPBACK_6 || isIPv4(name) || (name.includes(':') && isIPv6(name));
const LOOPBACK_6 = '::1';

/** The names and addresses of a server. */
export function servingNames(names: ServerNames): ServingRequest {
  const service = `${names.serviceName}.default.svc`;
  const all = [
    'localhost',
    names.serviceName,
    `${names.serviceName}.default`,
    service,
    `${service}.${names.clusterDomain ?? 'cluster.local'}`,
    names.hostName,
    '127.0.0.1',
    LOOPBACK_6,
    names.bindAddress,
    names.serviceAddress ?? '',
    ...(names.extra ?? []),
  ];
  const unspecified = new Set(['', '0.0.0.0', '::']);
  const useful = [...new Set(all)].filter((name) => !unspecified.has(name));
  return {
    commonName: names.serviceName,
    dns: useful.filter((name) => !isAddress(name) && /^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/.test(name)),
    addresses: useful.filter(isAddress),
  };
}
