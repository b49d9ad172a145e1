/**
 * Credentials for webhooks. The configuration of a webhook plug-in names a kubeconfig
 * file whose users are named by host (`webhook.example.com`, `svc.ns.svc:8443`, `*.example.com`, `*`).
 *
 *   apiVersion: apiserver.config.<pd>/v1
 *   kind: WebhookAdmissionConfiguration
 *   kubeConfigFile: /etc/plat/webhooks.conf
 */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { own } from '@plat-dev/lib/own';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { checkType, object, readYamlFile, refuseUnknown } from '../configuration.ts';
import type { PluginConfiguration } from '../plugin.ts';

export interface Credentials {
  /** PEM texts. */
  readonly certificate?: string;
  readonly key?: string;
  /** Value of the Authorization header. */
  readonly authorization?: string;
}
/** Port 443 may be omitted. */
export type CredentialsFor = (host: string, port: number) => Credentials;

const nobody: Credentials = {};

export function readWebhookCredentials(configuration: PluginConfiguration | undefined, identity: Identity): CredentialsFor {
  if (configuration === undefined) return () => nobody;
  const value = object(configuration.value, 'the configuration');
  const kind = value.kind === 'WebhookAdmission' ? 'WebhookAdmission' : 'WebhookAdmissionConfiguration';
  const versions = [
    joinApiVersion(groupName(identity, 'apiserver.config'), 'v1'),
    joinApiVersion(groupName(identity, 'apiserver.config'), 'v1alpha1'),
  ];
  const { kubeConfigFile } = checkType(value, kind, versions);
  // A misspelt name would leave webhooks without credentials.
  refuseUnknown(value, ['apiVersion', 'kind', 'kubeConfigFile'], 'the configuration');
  if (kubeConfigFile === undefined || kubeConfigFile === null || kubeConfigFile === '') return () => nobody;
  if (typeof kubeConfigFile !== 'string') throw new Error('kubeConfigFile must be a path');
  const file = resolve(configuration.directory, kubeConfigFile);
  return credentialsByHost(readUsers(readYamlFile(file) as JsonObject, file), currentUser(readYamlFile(file) as JsonObject));
}

export function credentialsByHost(users: ReadonlyMap<string, Credentials>, current: string | undefined): CredentialsFor {
  return (host, port) => {
    const targets = port === 443 ? [`${host}:443`, host] : [`${host}:${port}`];
    for (const target of targets) {
      const exact = users.get(target);
      if (exact !== undefined) return exact;
      const parts = target.split('.');
      for (let i = 1; i < parts.length; i++) {
        const wide = users.get(`*.${parts.slice(i).join('.')}`);
        if (wide !== undefined) return wide;
      }
    }
    return users.get('*') ?? (current === undefined ? undefined : users.get(current)) ?? nobody;
  };
}

function readUsers(config: JsonObject, file: string): Map<string, Credentials> {
  const credentialsByUser = new Map<string, Credentials>();
  const base = resolve(file, '..');
  for (const entry of (Array.isArray(config.users) ? config.users : []) as unknown[]) {
    const { name, user } = object(entry, 'an entry of users');
    if (typeof name !== 'string') throw new Error(`${file}: a user has no name`);
    credentialsByUser.set(name, readUser(object(user ?? {}, `the user ${name}`), base, name));
  }
  return credentialsByUser;
}

function readUser(user: JsonObject, base: string, name: string): Credentials {
  const text = (key: string): string | undefined =>
    typeof own(user, key) === 'string' && own(user, key) !== '' ? (own(user, key) as string) : undefined;
  const pem = (key: string): string | undefined => {
    const data = text(`${key}-data`);
    if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
    const path = text(key);
    return path === undefined ? undefined : readFileSync(resolve(base, path), 'utf8');
  };
  const certificate = pem('client-certificate');
  const key = pem('client-key');
  if ((certificate === undefined) !== (key === undefined)) throw new Error(`the user ${name} needs both a certificate and its key`);
  const tokenFile = text('tokenFile');
  const token = tokenFile === undefined ? text('token') : readFileSync(resolve(base, tokenFile), 'utf8').trim();
  const basic = text('username') === undefined ? undefined : `${text('username')}:${text('password') ?? ''}`;
  const authorization =
    token !== undefined ? `Bearer ${token}` : basic !== undefined ? `Basic ${Buffer.from(basic).toString('base64')}` : undefined;
  return {
    ...(certificate !== undefined && { certificate, key: key as string }),
    ...(authorization !== undefined && { authorization }),
  };
}

function currentUser(config: JsonObject): string | undefined {
  const contexts = (Array.isArray(config.contexts) ? config.contexts : []) as JsonObject[];
  const current = contexts.find(({ name }) => name === config['current-context']);
  const user = (current?.context as JsonObject | undefined)?.user;
  return typeof user === 'string' ? user : undefined;
}
