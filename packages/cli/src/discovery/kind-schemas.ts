/** Schemas of the built-in kinds under either identity: how lists of their objects are merged. */
import { builtinKinds } from '@plat-dev/kinds';
import { withOlderVersions } from '@plat-dev/kinds/older-kinds';
import { groupOfApiVersion, joinApiVersion } from '@plat-dev/meta/api-version';
import { baseGroup, groupName, type Identity, identities } from '@plat-dev/meta/identity';
import type { MessageType } from '@plat-dev/schema/types';

const schemasByIdentity = new WeakMap<Identity, ReadonlyMap<string, MessageType>>();

/** Undefined for custom kinds. */
export function schemaOfKind(apiVersion: string, kind: string): MessageType | undefined {
  const group = groupOfApiVersion(apiVersion);
  const identity = Object.values(identities).find((one) => baseGroup(one, group) !== undefined);
  return identity === undefined ? undefined : schemasOf(identity).get(`${apiVersion} ${kind}`);
}
function schemasOf(identity: Identity): ReadonlyMap<string, MessageType> {
  let schemas = schemasByIdentity.get(identity);
  if (schemas === undefined) {
    const kinds = withOlderVersions(builtinKinds(identity, 'all'), identity);
    schemas = new Map(
      kinds.flatMap(({ group, kind, versions }) =>
        Object.entries(versions).map(([version, { schema }]) => [`${joinApiVersion(groupName(identity, group), version)} ${kind}`, schema]),
      ),
    );
    schemasByIdentity.set(identity, schemas);
  }
  return schemas;
}
