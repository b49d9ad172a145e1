/**
 * The administrator's kubeconfig of a server: a cluster, a user and a context. Users add entries of their own to the file
 * (`plat config set-context`), which a start of the server keeps:
 *
 *   before     plat@127.0.0.1:6443 (namespace: team), mine        current-context: mine
 *   start      plat@127.0.0.1:7443
 *   after      plat@127.0.0.1:7443 (namespace: team), mine        current-context: mine
 */

import type { Identity } from '@plat-dev/meta/identity';
import type { JsonValue } from '@plat-dev/schema/types';

export interface AdminEntry {
  /** Of the cluster and the context; the user is `admin@NAME`. */
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly admin: { readonly key: string; readonly certificate: string };
}

/** Distinguishes this server from others in a merged kubeconfig: `plat@127.0.0.1:6443`. */
export const serverName = (identity: Identity, address: string): string => `${identity.word}@${new URL(address).host}`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const userName = (name: string): string => `admin@${name}`;

interface Others {
  /** Entries behind those of the server, as YAML. */
  readonly clusters: string;
  readonly users: string;
  readonly contexts: string;
  readonly currentContext: string;
  /** Namespace of the server's context. */
  readonly namespace: string;
}

export function printAdminConfig({ name, server, ca, admin }: AdminEntry, others?: Others): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(ca)}
${others?.clusters ?? ''}users:
- name: ${userName(name)}
  user:
    client-certificate-data: ${base64(admin.certificate)}
    client-key-data: ${base64(admin.key)}
${others?.users ?? ''}contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${userName(name)}
${others?.namespace ? `    namespace: ${JSON.stringify(others.namespace)}\n` : ''}${others?.contexts ?? ''}current-context: ${others?.currentContext ? JSON.stringify(others.currentContext) : name}
`;
}

interface Named {
  readonly name?: unknown;
  readonly cluster?: { readonly server?: unknown; readonly 'certificate-authority-data'?: unknown };
  readonly context?: { readonly cluster?: unknown; readonly namespace?: unknown };
}
interface Present {
  readonly clusters?: readonly Named[] | null;
  readonly users?: readonly Named[] | null;
  readonly contexts?: readonly Named[] | null;
  readonly 'current-context'?: unknown;
}

/** The text of the file with this entry in the place of earlier ones of the same server. A file that does not parse is replaced. */
export async function mergeAdminConfig(text: string, entry: AdminEntry): Promise<string> {
  const { parseYaml, stringifyYaml } = await import('@plat-dev/schema/yaml');
  let present: Present;
  try {
    present = (parseYaml(text) ?? {}) as Present;
  } catch {
    return printAdminConfig(entry);
  }
  if (typeof present !== 'object' || Array.isArray(present)) return printAdminConfig(entry);
  const ca = base64(entry.ca);
  const clusters = namedEntries(present.clusters);
  // Under another address the server had another name; its CA is the same.
  const ownClusters = new Set(
    clusters.filter(({ name, cluster }) => name === entry.name || cluster?.['certificate-authority-data'] === ca).map(({ name }) => name),
  );
  const contexts = namedEntries(present.contexts);
  const namespace = contexts.find(({ name, context }) => ownClusters.has(name) && typeof context?.namespace === 'string')?.context
    ?.namespace;
  const otherEntries = {
    clusters: clusters.filter(({ name }) => !ownClusters.has(name)),
    users: namedEntries(present.users).filter(({ name }) => ![...ownClusters].some((ownCluster) => name === userName(String(ownCluster)))),
    // Contexts that users made for this server lead to its new address.
    contexts: contexts.filter(({ name }) => !ownClusters.has(name)).map((context) => redirected(context, ownClusters, entry.name)),
  };
  const current = present['current-context'];
  const print = (list: readonly Named[]): string => (list.length === 0 ? '' : stringifyYaml(list as unknown as JsonValue));
  return printAdminConfig(entry, {
    clusters: print(otherEntries.clusters),
    users: print(otherEntries.users),
    contexts: print(otherEntries.contexts),
    currentContext: typeof current === 'string' && otherEntries.contexts.some(({ name }) => name === current) ? current : '',
    namespace: typeof namespace === 'string' ? namespace : '',
  });
}
/** The same for the text of the server's own configuration. */
export async function mergeAdminTexts(text: string, config: string): Promise<string> {
  const value = (pattern: RegExp): string => pattern.exec(config)?.[1] ?? '';
  const decodedField = (field: string): string => Buffer.from(value(new RegExp(`^ {4}${field}: (\\S+)$`, 'm')), 'base64').toString();
  return mergeAdminConfig(text, {
    name: value(/^current-context: (\S+)$/m),
    server: value(/^ {4}server: (\S+)$/m),
    ca: decodedField('certificate-authority-data'),
    admin: { certificate: decodedField('client-certificate-data'), key: decodedField('client-key-data') },
  });
}

const namedEntries = (list: readonly Named[] | null | undefined): readonly Named[] =>
  Array.isArray(list) ? list.filter((namedEntry) => typeof namedEntry?.name === 'string') : [];

function redirected(entry: Named, ownClusters: ReadonlySet<unknown>, name: string): Named {
  const { context } = entry;
  if (context === undefined || context === null || !ownClusters.has(context.cluster)) return entry;
  const { user } = context as { user?: unknown };
  const isAdmin = [...ownClusters].some((ownCluster) => user === userName(String(ownCluster)));
  return { ...entry, context: { ...context, cluster: name, ...(isAdmin && { user: userName(name) }) } as Named['context'] };
}
