/** Writes the objects of the first start, and brings those that the server keeps up to date on later ones. */

import { X509Certificate } from 'node:crypto';
import { dayOf, TRACKED_SINCE } from '@plat-dev/kinds/core/legacy-tokens';
import { releaseEnv } from '@plat-dev/kinds/kind';
import { own, setOwn } from '@plat-dev/lib/own';
import { type Identity, tokenTrackingConfigMap } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { PolicyChoice } from '../../auth/bootstrap/objects.ts';
import { servesHistory } from '../../history/access.ts';
import type { Catalog } from '../catalog.ts';
import type { NewObject, SystemWriter } from '../system.ts';
import { apiServices, servedVersions } from './api-services.ts';
import { flowSchemas, priorityLevels } from './flow-control.ts';
import { authenticationConfigMap, defaultServiceRange, type ProxyTrust, systemNamespaces, systemPriorityClasses } from './objects.ts';
import { reconcilePolicy } from './policy.ts';

/** Whose certificates the server takes for those of clients, and of proxies that speak for clients. */
export interface PublishedTrust {
  readonly clientCA?: string | undefined;
  readonly proxy?: ProxyTrust | undefined;
  /** Other servers on the same store may have authorities of their own, which are trusted in addition to those of this one. */
  readonly shared?: boolean;
}

/** What the first start is told besides. */
export interface FirstStart {
  readonly trust: PublishedTrust;
  /** The ranges of addresses for services. */
  readonly serviceRanges: readonly string[];
}

/** What the first start makes, part by part: each is done on its own. */
export const bootstrapParts = ['namespaces', 'service-ranges', 'roles', 'priority-classes', 'flows', 'api-services', 'trust'] as const;
export type BootstrapPart = (typeof bootstrapParts)[number];

/** Returns how many objects were new. All writes of a group go to the store together. */
export async function bootstrap(
  writer: SystemWriter,
  catalog: Catalog,
  identity: Identity,
  now: number,
  { trust, serviceRanges }: FirstStart,
  done: (part: BootstrapPart) => void = () => {},
): Promise<number> {
  const time = formatTime(now);
  const all = (group: string, plural: string, objects: readonly NewObject[]): Promise<number> =>
    writer.ensureAll(group, plural, objects, time);
  const part = async (name: BootstrapPart, ...writes: Promise<number>[]): Promise<number> => {
    const createdCounts = await Promise.all(writes);
    done(name);
    return createdCounts.reduce((a, b) => a + b, 0);
  };
  const counts = await Promise.all([
    part('namespaces', all('', 'namespaces', systemNamespaces(identity))),
    part(
      'service-ranges',
      ...(catalog.serves('networking', 'servicecidrs')
        ? [all('networking', 'servicecidrs', [defaultServiceRange(identity, serviceRanges, time)])]
        : []),
    ),
    catalog.feature('LegacyServiceAccountTokenTracking') ? all('', 'configmaps', [trackedSince(identity, now)]) : 0,
    part('roles', reconcilePolicy(writer, identity, choiceOf(catalog), time)),
    part('priority-classes', all('scheduling', 'priorityclasses', systemPriorityClasses())),
    part(
      'flows',
      all('flowcontrol.apiserver', 'prioritylevelconfigurations', priorityLevels(identity, releaseEnv(catalog.release))),
      all('flowcontrol.apiserver', 'flowschemas', flowSchemas(identity, time, releaseEnv(catalog.release))),
    ),
    part('api-services', all('apiregistration', 'apiservices', apiServices(identity, servedVersions(catalog), time, catalog.release))),
    part('trust', publishTrust(writer, identity, trust, now)),
  ]);
  return counts.reduce((a, b) => a + b, 0);
}

/** Since when the server notes which tokens in Secrets are used. */
const trackedSince = (identity: Identity, now: number): NewObject & { data: Record<string, string> } => ({
  metadata: { name: tokenTrackingConfigMap(identity), namespace: identity.namespaces.system },
  data: { [TRACKED_SINCE]: dayOf(now) },
});

const choiceOf = (catalog: Catalog): PolicyChoice => ({
  feature: catalog.feature,
  release: catalog.release,
  explains: servesHistory(catalog),
});

/** Certificates and flags may be others than at the last start. */
export async function publishTrust(writer: SystemWriter, identity: Identity, trust: PublishedTrust, now: number): Promise<number> {
  const desiredConfigMap = authenticationConfigMap(identity, trust.clientCA, trust.proxy);
  if (await writer.ensure('', 'configmaps', desiredConfigMap)) return 1;
  await writer.change('', 'configmaps', desiredConfigMap.metadata.namespace, desiredConfigMap.metadata.name, (object) => {
    const map = object as { data?: Record<string, string> };
    map.data = trust.shared ? withCertificatesOf(map.data ?? {}, desiredConfigMap.data, now) : desiredConfigMap.data;
  });
  return 0;
}

/** What is wanted, with the certificates that are there already and have not run out. */
function withCertificatesOf(present: Record<string, string>, desiredData: Record<string, string>, now: number): Record<string, string> {
  const data = { ...present, ...desiredData };
  for (const key of ['client-ca-file', 'requestheader-client-ca-file']) {
    const blocks =
      `${own(desiredData, key) ?? ''}\n${own(present, key) ?? ''}`.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ??
      [];
    const valid = [...new Set(blocks)].filter((block) => Date.parse(new X509Certificate(block).validTo) > now);
    if (valid.length > 0) setOwn(data, key, `${valid.join('\n')}\n`);
  }
  return data;
}
