/** The catalogue seen by groups and versions, as discovery and OpenAPI show it. Computed again when kinds come or go. */

import { versionPriority } from '@plat-dev/kinds/priorities';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { ListedGroup } from '../extension/aggregation/order.ts';
import { byPriority } from '../extension/version-order.ts';
import type { Catalog, Resource } from '../registry/catalog.ts';

export interface ServedVersion {
  readonly group: string;
  readonly version: string;
  /** `v1` or `apps/v1`. */
  readonly apiVersion: string;
  /** Path of its document: `/api/v1`, `/apis/apps/v1`. */
  readonly path: string;
  /** By plural. */
  readonly resources: readonly Resource[];
}
interface ServedGroup {
  readonly name: string;
  /** A group of the server's own, as opposed to one of custom kinds alone. */
  readonly builtin: boolean;
  /** Most preferred first. */
  readonly versions: readonly ServedVersion[];
}
export interface Groups {
  /** The core group first, then built-in ones in the order of their priority, then custom ones by name. */
  readonly all: readonly ServedGroup[];
  readonly byName: ReadonlyMap<string, ServedGroup>;
}

/** The groups as discovery lists them, where there is no other order than that of the catalogue. */
export const listedOf = ({ all }: Groups): ListedGroup[] =>
  all.filter(({ name }) => name !== '').map(({ name, versions }) => ({ name, versions: versions.map(({ version }) => version) }));

/** Remembers what `make` made until the catalogue changes. */
export function perGeneration<T>(catalog: Catalog, make: () => T): () => T {
  let generation = -1;
  let value: T;
  return () => {
    if (generation !== catalog.generation) {
      // The number is read first: a change while the value is made makes it old.
      generation = catalog.generation;
      value = make();
    }
    return value;
  };
}

export function groupsOf(catalog: Catalog): Groups {
  const groupsByName = new Map<string, { builtin: boolean; versions: Map<string, Resource[]> }>();
  for (const { resources } of catalog.all()) {
    for (const resource of resources) {
      const group = groupsByName.get(resource.group) ?? { builtin: false, versions: new Map<string, Resource[]>() };
      groupsByName.set(resource.group, group);
      if (!resource.custom) group.builtin = true;
      const existing = group.versions.get(resource.version);
      if (existing === undefined) group.versions.set(resource.version, [resource]);
      else existing.push(resource);
    }
  }
  const all = [...groupsByName].map(([name, { builtin, versions }]) => ({ name, builtin, versions: versionsOf(name, builtin, versions) }));
  const builtin = all.filter((group) => group.builtin);
  const custom = all.filter((group) => !group.builtin).sort((a, b) => compareText(a.name, b.name));
  const ordered = [...builtin, ...custom];
  return { all: ordered, byName: new Map(ordered.map((group) => [group.name, group])) };
}

function versionsOf(group: string, builtin: boolean, versions: ReadonlyMap<string, Resource[]>): ServedVersion[] {
  const names = [...versions.keys()];
  // Versions of built-in kinds have their priorities, and come before those of custom kinds, whose order follows from their names.
  if (builtin) names.sort((a, b) => priorityOf(versions.get(b)) - priorityOf(versions.get(a)));
  else names.sort(byPriority);
  return names.map((version) => ({
    group,
    version,
    apiVersion: joinApiVersion(group, version),
    path: group === '' ? `/api/${version}` : `/apis/${group}/${version}`,
    resources: (versions.get(version) as Resource[]).sort((a, b) => compareText(a.kind.plural, b.kind.plural)),
  }));
}

function priorityOf(resources: readonly Resource[] = []): number {
  const own = resources.find(({ custom }) => !custom);
  return own === undefined ? 0 : versionPriority(own.kind.group, own.version);
}

export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
