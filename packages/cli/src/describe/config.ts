/** Config maps, secrets and service accounts. */

import type { ConfigMap, Secret, ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import { own } from '@plat-dev/lib/own';
import { domainName } from '@plat-dev/meta/identity';
import { builtIns } from './cluster.ts';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import type { Described } from './values.ts';

const bytes = (base64: string): Buffer => Buffer.from(base64, 'base64');
const sorted = (values: Readonly<Record<string, string>> = {}): [string, string][] =>
  Object.entries(values).sort(([a], [b]) => inOrder(a, b));

export const describeConfigMap: Describer<ConfigMap> = {
  async write(page, { metadata, data, binaryData }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.write('\nData\n====\n');
    for (const [key, value] of sorted(data)) page.write(`${key}:\n----\n${value}\n`);
    page.write('\nBinaryData\n====\n');
    for (const [key, value] of sorted(binaryData)) page.line(`${key}: ${bytes(value).length} bytes`);
    page.line();
  },
};

export const describeSecret: Describer<Secret> = {
  events: false,
  async write(page, { metadata, type = '', data }, { identity }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.write('\n').field('Type', type).write('\nData\n====\n');
    const hasToken = type === domainName(identity, 'service-account-token');
    for (const [key, value] of sorted(data)) {
      const content = bytes(value);
      page.field(key, hasToken && key === 'token' ? content.toString() : `${content.length} bytes`);
    }
  },
};

export const describeServiceAccount: Describer<ServiceAccount> = {
  async write(page, account, cluster) {
    const { metadata, secrets = [], imagePullSecrets = [] } = account;
    // The page is good without them, too: then none is called missing.
    const all = await cluster.list<Secret>(builtIns.secrets, metadata.namespace ?? '').catch(() => undefined);
    const names = new Set(all?.map((secret) => secret.metadata.name));
    const tokens = all?.filter((secret) => isTokenOf(secret, account, (name) => domainName(cluster.identity, name))) ?? [];
    page.field('Name', metadata.name).field('Namespace', metadata.namespace);
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    const lists: readonly (readonly [string, readonly (string | undefined)[]])[] = [
      ['Image pull secrets:', imagePullSecrets.map(({ name }) => name)],
      ['Mountable secrets: ', secrets.map(({ name }) => name)],
      ['Tokens:            ', tokens.map((token) => token.metadata.name)],
    ];
    for (const [title, list] of lists) {
      if (list.length === 0) page.line(title, '<none>');
      list.forEach((name, i) => {
        const isListed = all === undefined || names.has(name);
        page.line(i === 0 ? title : ' '.repeat(title.length), isListed ? name : `${name} (not found)`);
      });
    }
  },
};
function isTokenOf(
  { metadata, type }: Described<Secret>,
  { metadata: account }: Described<ServiceAccount>,
  full: (name: string) => string,
): boolean {
  const { annotations = {} } = metadata;
  if (type !== full('service-account-token') || own(annotations, full('service-account.name')) !== account.name) return false;
  return own(annotations, full('service-account.uid')) === account.uid;
}
