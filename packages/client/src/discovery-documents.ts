/** Documents of discovery, as servers write them. */
import type { GroupVersion } from '@plat-dev/meta/api-version';

export interface GroupList {
  readonly groups?: readonly Group[];
}
export interface Group {
  readonly name: string;
  readonly versions: readonly { readonly version: string }[];
  readonly preferredVersion?: { readonly version: string };
}

export interface ResourceList {
  readonly resources?: readonly ListedResource[] | null;
}
/** `name` is that of a resource, or `pods/log`. Aggregated servers write it themselves, and may leave anything out. */
export interface ListedResource {
  readonly name: string;
  readonly singularName?: string;
  readonly kind: string;
  readonly namespaced?: boolean;
  readonly verbs?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** Versions of a group, the preferred one first. */
export function versionsInOrder({ name, versions, preferredVersion }: Group): GroupVersion[] {
  const names = versions.map(({ version }) => version);
  const ordered = new Set(preferredVersion === undefined ? names : [preferredVersion.version, ...names]);
  return [...ordered].map((version) => ({ group: name, version }));
}
