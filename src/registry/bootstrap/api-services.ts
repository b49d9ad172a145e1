/** The APIService objects that stand for the groups this server serves itself. */
import { domainName, groupName, type Identity } from '../../meta/identity.ts';
import type { Catalog } from '../catalog.ts';

/** Higher comes first in discovery. Groups by their base names; a group without an entry comes last. */
const groupPriority: Readonly<Record<string, number>> = {
  '': 18000,
  apps: 17800,
  events: 17750,
  authentication: 17700,
  authorization: 17600,
  autoscaling: 17500,
  batch: 17400,
  certificates: 17300,
  networking: 17200,
  policy: 17100,
  'rbac.authorization': 17000,
  storage: 16800,
  admissionregistration: 16700,
  apiextensions: 16700,
  scheduling: 16600,
  coordination: 16500,
  node: 16300,
  discovery: 16200,
  'flowcontrol.apiserver': 16100,
  'internal.apiserver': 16000,
};
/** Where the version's own kind (stable, beta, alpha) does not give the priority. */
const versionPriority: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'autoscaling/v2beta2': 1,
  'discovery/v1beta1': 12,
  'events/v1beta1': 5,
  'flowcontrol.apiserver/v1beta1': 12,
  'flowcontrol.apiserver/v1beta2': 15,
};
const usualPriority = (version: string): number => (version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15);

/** Groups of custom kinds come after all others, in the order of their names. */
const customPriority = { group: 1000, version: 100 };

export interface ServedVersion {
  /** Base name of the group; the whole one for custom kinds. */
  readonly group: string;
  readonly version: string;
  /** There are only custom kinds in it. */
  readonly custom?: boolean;
}

/** Says of an APIService that the server keeps it: `onstart` for groups that are there as long as the server is, else `true`. */
export const automanagedLabel = (identity: Identity): string => domainName(identity, 'automanaged', 'kube-aggregator');

/** What the server serves now. A group version with a built-in kind is a built-in one, whatever else is in it. */
export function servedVersions(catalog: Catalog): ServedVersion[] {
  const found = new Map<string, ServedVersion>();
  for (const { kind, resources } of catalog.all()) {
    for (const { version, group, custom } of resources) {
      const name = `${version}.${group}`;
      if (found.get(name)?.custom ?? true) found.set(name, { group: kind.group, version, custom });
    }
  }
  return [...found.values()];
}

/** `now` is RFC 3339 text. The registration group itself has none. */
export function apiServices(identity: Identity, served: readonly ServedVersion[], now: string) {
  const fullName = ({ group, custom }: ServedVersion): string => (custom ? group : groupName(identity, group));
  const distinct = new Map(served.map((one) => [`${one.version}.${fullName(one)}`, one]));
  return [...distinct]
    .filter(([, one]) => one.group !== 'apiregistration')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, one]) => ({
      metadata: { name, labels: { [automanagedLabel(identity)]: one.custom ? 'true' : 'onstart' } },
      spec: {
        ...(one.group !== '' && { group: fullName(one) }),
        version: one.version,
        ...prioritiesOf(one),
      },
      status: {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastTransitionTime: now,
            reason: 'Local',
            message: 'Local APIServices are always available',
          },
        ],
      },
    }));
}

function prioritiesOf({ group, version, custom }: ServedVersion): { groupPriorityMinimum: number; versionPriority: number } {
  if (custom) return { groupPriorityMinimum: customPriority.group, versionPriority: customPriority.version };
  return {
    groupPriorityMinimum: groupPriority[group] ?? 15000,
    versionPriority: versionPriority[`${group}/${version}`] ?? usualPriority(version),
  };
}
