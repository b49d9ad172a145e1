/** The APIService objects that stand for the groups this server serves itself. */
import { domainName, groupName, type Identity } from '../../identity.ts';

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

export interface ServedVersion {
  /** Base name of the group. */
  readonly group: string;
  readonly version: string;
}

/** `served`: all group versions of the built-in kinds; `now` is RFC 3339 text. The registration group itself has none. */
export function apiServices(identity: Identity, served: readonly ServedVersion[], now: string) {
  const distinct = new Map(served.map((one) => [`${one.version}.${groupName(identity, one.group)}`, one]));
  return [...distinct]
    .filter(([, one]) => one.group !== 'apiregistration')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { group, version }]) => ({
      metadata: { name, labels: { [domainName(identity, 'automanaged', 'kube-aggregator')]: 'onstart' } },
      spec: {
        ...(group !== '' && { group: groupName(identity, group) }),
        version,
        groupPriorityMinimum: groupPriority[group] ?? 15000,
        versionPriority: versionPriority[`${group}/${version}`] ?? usualPriority(version),
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
