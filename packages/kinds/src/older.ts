/**
 * Versions that are not served by default: those removed before release 1.24, and those added after it. Each group has a file
 * `older.ts` with its own; `older-kinds.ts` adds them to the kinds.
 *
 * The hub of a kind does not change. An object that is written in such a version is stored in the hub version like any other, and
 * can be read whether or not the version is served later.
 */
import { own } from '@plat-dev/lib/own';
import type { Kind, KindEnv, KindVersion, Strategy, Subresource } from './kind.ts';
import { inVersion } from './versions.ts';

/** More versions of a built-in kind. */
export interface OlderVersions {
  /** Base name. */
  readonly group: string;
  readonly plural: string;
  readonly versions: Readonly<Record<string, KindVersion>>;
  /** Versions whose default propagation policy is to orphan dependents. */
  readonly orphansByDefault?: readonly string[];
}

/** The same kind under the name of its former group. Its objects are those of `owner`. */
export function movedKind(
  owner: Kind,
  group: string,
  version: string,
  definition: KindVersion,
  overrides: Partial<Pick<Kind, 'orphansByDefault'>> = {},
): Kind {
  return {
    ...owner,
    ...overrides,
    group,
    versions: { [version]: definition },
    hub: version,
    sharesStoreOf: { group: owner.group, plural: owner.plural, version: owner.hub },
    fieldNames: Object.fromEntries(Object.keys(owner.fields ?? {}).map((name) => [name, name])),
  };
}

/** Overrides of a version. They apply to objects in the hub version. */
export function ownParts<T>(parts: {
  strategy?: Strategy<T>;
  subresources?: Readonly<Record<string, Subresource<T>>>;
}): KindVersion['own'] {
  return parts as unknown as KindVersion['own'];
}

type Defaults = (object: unknown, env: KindEnv, mode?: 'applied') => void;

/** The defaults of the hub, which a version with the same fields shares. */
export function hubDefaults({ versions, hub }: Kind): Defaults {
  const defaults = own(versions, hub)?.defaults as Defaults | undefined;
  return (object, env, mode) => defaults?.(object, env, mode);
}

/** A version with the fields and defaults of the hub. `name` is the prefix of the names of its messages: `rbac.v1beta1`. */
export function sameFields(kind: Kind, name: string): KindVersion {
  const { schema, defaults } = own(kind.versions, kind.hub) as KindVersion;
  return { schema: inVersion(schema, name), ...(defaults !== undefined && { defaults }) };
}
