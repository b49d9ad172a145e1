/** The APIService objects that stand for the groups this server serves itself. */
import { groupPriority, versionPriority } from '@plat-dev/kinds/priorities';
import { apiRelease } from '@plat-dev/lib/version';
import { domainName, groupName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import type { Catalog } from '../catalog.ts';

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
export const automanagedLabel = (identity: Identity): QualifiedName => domainName(identity, 'automanaged', 'kube-aggregator');

/** What the server serves now. A group version with a built-in kind is a built-in one, whatever else is in it. */
export function servedVersions(catalog: Catalog): ServedVersion[] {
  const versionsByName = new Map<string, ServedVersion>();
  for (const { kind, resources } of catalog.all()) {
    for (const { version, group, custom } of resources) {
      const name = `${version}.${group}`;
      if (versionsByName.get(name)?.custom ?? true) versionsByName.set(name, { group: kind.group, version, custom });
    }
  }
  return [...versionsByName.values()];
}

/** `now` is RFC 3339 text, `release` that of the API. The registration group itself has none. */
export function apiServices(identity: Identity, servedVersions: readonly ServedVersion[], now: string, release: string = apiRelease) {
  const fullName = ({ group, custom }: ServedVersion): string => (custom ? group : groupName(identity, group));
  const distinct = new Map(servedVersions.map((servedVersion) => [`${servedVersion.version}.${fullName(servedVersion)}`, servedVersion]));
  return [...distinct]
    .filter(([, servedVersion]) => servedVersion.group !== 'apiregistration')
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, servedVersion]) => ({
      metadata: { name, labels: { [automanagedLabel(identity)]: servedVersion.custom ? 'true' : 'onstart' } },
      spec: {
        ...(servedVersion.group !== '' && { group: fullName(servedVersion) }),
        version: servedVersion.version,
        ...prioritiesOf(servedVersion, release),
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

function prioritiesOf(
  { group, version, custom }: ServedVersion,
  release: string,
): { groupPriorityMinimum: number; versionPriority: number } {
  if (custom) return { groupPriorityMinimum: customPriority.group, versionPriority: customPriority.version };
  return { groupPriorityMinimum: groupPriority(group, release), versionPriority: versionPriority(group, version) };
}
