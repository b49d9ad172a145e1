/**
 * A kind in one of its served versions under an identity: what a path such as `/apis/apps/v1/deployments` leads to.
 * Conversions between the version a client speaks and the hub go through here.
 */
import { groupName, type Identity } from '../identity.ts';
import type { ResourceName } from '../meta/errors.ts';
import type { MessageType } from '../schema/types.ts';
import type { ApiObject, Kind, KindVersion } from './kind.ts';

export interface Served {
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
  readonly hub: { readonly version: string; readonly apiVersion: string; readonly schema: MessageType };
  /** The version is the hub itself: bytes are served as they are stored. */
  readonly isHub: boolean;
  readonly custom: boolean;
}

export const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`);

/** All served versions of a kind, most preferred first. `store` is the kind whose store it shares, if it shares one. */
export function serve(kind: Kind, identity: Identity, options: { custom?: boolean; store?: Kind } = {}): Served[] {
  const custom = options.custom ?? false;
  const full = (base: string): string => (custom ? base : groupName(identity, base));
  const group = full(kind.group);
  const shared = kind.sharesStoreOf;
  const owner = shared === undefined ? kind : (options.store ?? kind);
  const errorGroup = custom ? group : (identity.errorGroups?.[`${kind.group}/${kind.kind}`] ?? full(owner.group));
  const hubVersion = shared?.version ?? kind.hub;
  const hubSchema = (owner.versions[hubVersion] as KindVersion).schema;
  const hub = { version: hubVersion, apiVersion: apiVersionOf(full(owner.group), hubVersion), schema: hubSchema };
  return Object.entries(kind.versions)
    .filter(([, definition]) => definition.served !== false)
    .map(([version, definition]) => ({
      identity,
      kind: definition.own === undefined ? kind : { ...kind, ...definition.own },
      version,
      definition,
      group,
      apiVersion: apiVersionOf(group, version),
      schema: definition.schema,
      resource: { group, resource: kind.plural },
      groupKind: { group: errorGroup, resource: kind.kind },
      hub,
      isHub: apiVersionOf(group, version) === hub.apiVersion,
      custom,
    }));
}

/** An object in the stored form. The given object may be changed and must not be used afterwards. */
export function toHub(served: Served, object: ApiObject): ApiObject {
  const hub = served.definition.toHub === undefined ? object : (served.definition.toHub(object as never, served.identity) as ApiObject);
  hub.kind = served.kind.kind;
  hub.apiVersion = served.hub.apiVersion;
  return hub;
}

/** A stored object in the form of a served version. The given object may be changed and must not be used afterwards. */
export function fromHub(served: Served, hub: ApiObject): ApiObject {
  const object = served.definition.fromHub === undefined ? hub : (served.definition.fromHub(hub as never, served.identity) as ApiObject);
  object.kind = served.kind.kind;
  object.apiVersion = served.apiVersion;
  return object;
}
