/**
 * A kind in one of its served versions under an identity: the resource of a path such as `/apis/apps/v1/deployments`.
 * Converts between the version of the request and the hub.
 */

import { own } from '@plat-dev/lib/own';
import { type ApiRelease, apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import type { ResourceName } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';
import type { ApiObject, Kind, KindVersion } from './kind.ts';
import { type Deprecation, deprecationOf } from './release-texts.ts';

interface Hub {
  readonly version: string;
  readonly apiVersion: string;
  readonly schema: MessageType;
  readonly definition: KindVersion;
  /** Some versions of the kind are converted by webhook calls: stored objects of those are converted when they are read. */
  readonly later: boolean;
}

export interface ServedKind {
  readonly identity: Identity;
  readonly kind: Kind;
  readonly version: string;
  readonly definition: KindVersion;
  /** Full group name. */
  readonly group: string;
  /** `v1` or `apps/v1`. */
  readonly apiVersion: string;
  readonly schema: MessageType;
  /** As errors name it: plural, and kind. Validation errors name the group that stock clients expect. */
  readonly resource: ResourceName;
  readonly groupKind: ResourceName;
  /** The form that is stored. */
  readonly hub: Hub;
  /** The version is the hub itself: bytes are served as they are stored. */
  readonly isHub: boolean;
  readonly custom: boolean;
  /** Of the API, which a server serves. */
  readonly release: ApiRelease;
  /** The deprecation warning of a built-in kind in the release of the server; undefined if the version is not deprecated. */
  readonly deprecation: Deprecation | undefined;
}

/**
 * All served versions of a kind, most preferred first; `all`: also those that are not. `store` is the kind whose store it
 * shares, if it shares one. `release` is that of the API, see `releases.ts`.
 */
export function serve(
  kind: Kind,
  identity: Identity,
  options: { custom?: boolean; store?: Kind; all?: boolean; release?: ApiRelease } = {},
): ServedKind[] {
  const { custom = false, release = apiRelease } = options;
  const full = (base: string): string => (custom ? base : groupName(identity, base));
  const group = full(kind.group);
  const shared = kind.sharesStoreOf;
  const owner = shared === undefined ? kind : (options.store ?? kind);
  const olderGroup = isAtLeast(release, '1.29') ? undefined : identity.errorGroups?.[`${kind.group}/${kind.kind}`];
  const errorGroup = custom ? group : (olderGroup ?? full(owner.group));
  const hubVersion = shared?.version ?? kind.hub;
  const definition = own(owner.versions, hubVersion) as KindVersion;
  const hub: Hub = {
    version: hubVersion,
    apiVersion: joinApiVersion(full(owner.group), hubVersion),
    schema: definition.schema,
    definition,
    later: Object.values(owner.versions).some((one) => one.toHubByCall !== undefined),
  };
  return Object.entries(kind.versions)
    .filter(([, definition]) => options.all || definition.served !== false)
    .map(([version, definition]) => ({
      identity,
      kind: definition.own === undefined ? kind : withOwn(kind, definition.own),
      version,
      definition,
      group,
      apiVersion: joinApiVersion(group, version),
      schema: definition.schema,
      resource: { group, resource: kind.plural },
      groupKind: { group: errorGroup, resource: kind.kind },
      hub,
      isHub: joinApiVersion(group, version) === hub.apiVersion,
      custom,
      release,
      deprecation: custom ? undefined : deprecationOf({ group: kind.group, version, plural: kind.plural }, identity, release),
    }));
}

// ---- conversion --------------------------------------------------------------------------------------------------
//
// An object is converted at once if the kind can do so (`…Now`), and by a promise if that may need a webhook call. The given objects
// may be changed and must not be used afterwards. Unknown fields of the target version are dropped.

/** Whether objects of this version are converted by webhook calls. */
export const convertsByCall = ({ isHub, definition }: ServedKind): boolean => !isHub && definition.fromHubByCall !== undefined;

/** Converts an object to the hub. */
export async function toHub(served: ServedKind, object: ApiObject): Promise<ApiObject> {
  if (!convertsByCall(served)) return toHubNow(served, object);
  const [hub] = await manyToHub(served, [object]);
  return hub as ApiObject;
}
/** Converts many objects, in as few calls as possible. */
export async function manyToHub(served: ServedKind, objects: readonly ApiObject[]): Promise<ApiObject[]> {
  if (!convertsByCall(served)) return objects.map((object) => toHubNow(served, object));
  return (await rawToHubByCall(served, objects)).map((hub) => knownToHub(served, hub));
}
/** The same where the kind converts at once. */
export function toHubNow(served: ServedKind, object: ApiObject): ApiObject {
  return knownToHub(served, rawToHub(served, object));
}

/** Converts a stored object to a served version. */
export async function fromHub(served: ServedKind, hub: ApiObject): Promise<ApiObject> {
  if (!convertsByCall(served)) return fromHubNow(served, hub);
  const [object] = await manyFromHub(served, [hub]);
  return object as ApiObject;
}
/** The same where the kind converts at once. */
export function fromHubNow(served: ServedKind, hub: ApiObject): ApiObject {
  return prunedObject(served, rawFromHub(served, hub));
}
/** Converts many stored objects, in as few calls as possible. */
export async function manyFromHub(served: ServedKind, hubs: readonly ApiObject[]): Promise<ApiObject[]> {
  if (!convertsByCall(served)) return hubs.map((hub) => fromHubNow(served, hub));
  return (await rawFromHubByCall(served, hubs)).map((object) => prunedObject(served, object));
}

function prunedObject(served: ServedKind, object: ApiObject): ApiObject {
  served.definition.prune?.(object as never);
  return object;
}
function knownToHub({ hub, isHub }: ServedKind, object: ApiObject): ApiObject {
  if (!isHub) hub.definition.prune?.(object as never);
  return object;
}

/** The result of the conversion alone, before unknown fields are dropped. */
export function rawToHub(served: ServedKind, object: ApiObject): ApiObject {
  const { toHub: convert } = served.definition;
  return named(served, served.hub.apiVersion, convert === undefined ? object : (convert(object as never, served.identity) as ApiObject));
}
export function rawFromHub(served: ServedKind, hub: ApiObject): ApiObject {
  const { fromHub: convert } = served.definition;
  return named(served, served.apiVersion, convert === undefined ? hub : (convert(hub as never, served.identity) as ApiObject));
}
export async function rawToHubByCall(served: ServedKind, objects: readonly ApiObject[]): Promise<ApiObject[]> {
  if (objects.length === 0) return [];
  const hubs = ((await served.definition.toHubByCall?.(objects as never)) ?? []) as ApiObject[];
  return hubs.map((hub) => named(served, served.hub.apiVersion, hub));
}
export async function rawFromHubByCall(served: ServedKind, hubs: readonly ApiObject[]): Promise<ApiObject[]> {
  if (hubs.length === 0) return [];
  const objects = ((await served.definition.fromHubByCall?.(hubs as never)) ?? []) as ApiObject[];
  return objects.map((object) => named(served, served.apiVersion, object));
}
function named({ kind }: ServedKind, apiVersion: string, object: ApiObject): ApiObject {
  object.kind = kind.kind;
  object.apiVersion = apiVersion;
  return object;
}

/** A version may override parts of the kind. */
const withOwn = (kind: Kind, own: NonNullable<KindVersion['own']>): Kind => ({
  ...kind,
  ...own,
});
