/** Keys, certificates and the administrator's kubeconfig, made on first start: under the data directory, or in memory for a server without one. */

import { createPrivateKey, type KeyObject } from 'node:crypto';
import { chmodSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import type { Identity } from '@plat-dev/meta/identity';
import { firstAddress } from '@plat-dev/meta/ip';
import {
  type Authority,
  ensureAuthority,
  ensureClient,
  ensureServing,
  ensureSigningKey,
  type KeyFiles,
  keyDirectory,
  keysInMemory,
  readIfPresent,
  servingNames,
  writeSecretFile,
} from '@plat-dev/pki';
import { ownAddresses } from '@plat-dev/pki/own-addresses';
import { dataFiles } from '../config/data-files.ts';
import type { ServerOptions } from '../config/server-options.ts';
import { mergeAdminConfig, printAdminConfig, serverName } from './admin-config.ts';

interface FrontProxy {
  /** Client certificate for aggregated API servers. */
  readonly client: { readonly certificate: string; readonly key: string } | undefined;
  /** The CA that signed it, if this server made it. */
  readonly ownCA: string | undefined;
}
/** The common name of the client certificate that this server makes for them. */
export const frontProxyName = 'front-proxy-client';

/** The administrator, by the certificate of their kubeconfig. */
export const administrator = { name: 'admin', groups: ['system:masters'] } as const;

export interface Credentials {
  readonly authority: Authority;
  /** CA certificates (PEM) that clients should trust. */
  readonly rootCertificates: string;
  readonly serving: { readonly key: string; readonly certificate: string };
  /** Path of the administrator's kubeconfig; undefined for a server that keeps nothing on disk. */
  readonly adminConfigPath: string | undefined;
  /** The credential by which this server passes users on to aggregated API servers. */
  readonly frontProxy: FrontProxy;
  /** The key that signs service account tokens. The first call begins to make a new one, for which the start does not wait. */
  signingKey(): Promise<KeyObject>;
  /** The administrator's kubeconfig, once the address is known; it is written to disk if the server keeps anything there. */
  adminConfig(address: string): Promise<string>;
}

/** Paths of keys within the data directory. */
const pkiDirectory = (dataDir: string): string => join(dataDir, 'pki');

/** `keys`: those of a server that keeps nothing on disk, if any. */
export async function prepareCredentials(
  options: ServerOptions,
  identity: Identity,
  now: number,
  keys: KeyFiles = keysInMemory(),
): Promise<Credentials> {
  const pki = options.dataDir === '' ? keys : openKeyDirectory(options.dataDir);
  const signingFile = options.serviceAccountSigningKeyFile;
  const signingKey = signingFile === undefined ? ensureSigningKey(pki, 'sa') : givenKey(signingFile);
  const authority = await ensureAuthority(pki, 'ca', `${identity.word}-ca`, now);
  const caPem = authority.certificate.toString();
  const { tlsCertFile, tlsPrivateKeyFile } = options;
  const isSelfIssued = tlsCertFile === undefined || tlsPrivateKeyFile === undefined;
  const serviceAddress = firstAddress(options.serviceClusterIpRange[0] as string);
  const serving = isSelfIssued
    ? await ensureServing(
        pki,
        'server',
        authority,
        servingNames({
          serviceName: identity.serviceName,
          bindAddress: options.bindAddress,
          hostName: hostname(),
          serviceAddress,
          extra: ownAddresses(options),
        }),
        now,
      )
    : { key: readFile(tlsPrivateKeyFile), certificate: readFile(tlsCertFile) };
  const frontProxy = await prepareFrontProxy(options, pki, now);
  const adminConfigPath = options.dataDir === '' ? undefined : resolve(options.dataDir, dataFiles.adminConfig);
  return {
    authority,
    rootCertificates: isSelfIssued ? caPem : serving.certificate,
    serving,
    adminConfigPath,
    frontProxy,
    signingKey,
    async adminConfig(address) {
      const admin = await ensureClient(pki, 'admin', authority, administrator.name, administrator.groups, now);
      const entry = { name: serverName(identity, address), server: address, ca: isSelfIssued ? caPem : serving.certificate, admin };
      const config = printAdminConfig(entry);
      if (adminConfigPath === undefined) return config;
      const present = readIfPresent(adminConfigPath);
      const mergedConfig = present === undefined || present === config ? config : await mergeAdminConfig(present, entry);
      if (present === mergedConfig) chmodSync(adminConfigPath, 0o600);
      else await writeSecretFile(adminConfigPath, mergedConfig);
      return config;
    },
  };
}

function openKeyDirectory(dataDir: string): KeyFiles {
  const pki = pkiDirectory(dataDir);
  makeDirectory(pki, 0o700);
  chmodSync(dataDir, 0o700);
  chmodSync(pki, 0o700);
  return keyDirectory(pki);
}

/**
 * Another CA than that of clients: a holder of a certificate of this one may impersonate any user. If the
 * administrator names a CA for proxies, the certificates are up to the administrator, too.
 */
async function prepareFrontProxy(options: ServerOptions, pki: KeyFiles, now: number): Promise<FrontProxy> {
  const { proxyClientCertFile, proxyClientKeyFile, requestheaderClientCaFile } = options;
  if (proxyClientCertFile !== undefined && proxyClientKeyFile !== undefined)
    return { client: { certificate: readFile(proxyClientCertFile), key: readFile(proxyClientKeyFile) }, ownCA: undefined };
  if (requestheaderClientCaFile !== undefined) return { client: undefined, ownCA: undefined };
  const authority = await ensureAuthority(pki, 'front-proxy-ca', 'front-proxy-ca', now);
  const client = await ensureClient(pki, frontProxyName, authority, frontProxyName, [], now);
  return { client, ownCA: authority.certificate.toString() };
}

function givenKey(file: string): () => Promise<KeyObject> {
  const key = Promise.resolve(createPrivateKey(readFile(file)));
  return () => key;
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}
