/** Schemas of the built-in kinds under either identity: how lists of their objects are merged. */
import { builtinKinds } from '../../kinds/index.ts';
import { withOlderVersions } from '../../kinds/older-kinds.ts';
import { groupOfApiVersion, joinApiVersion } from '../../meta/api-version.ts';
import { baseGroup, groupName, type Identity, identities } from '../../meta/identity.ts';
import type { MessageType } from '../../schema/types.ts';

const known = new WeakMap<Identity, ReadonlyMap<string, MessageType>>();

/** Undefined for custom kinds. */
export function schemaOfKind(apiVersion: string, kind: string): MessageType | undefined {
  const group = groupOfApiVersion(apiVersion);
  const identity = Object.values(identities).find((one) => baseGroup(one, group) !== undefined);
  return identity === undefined ? undefined : schemasOf(identity).get(`${apiVersion} ${kind}`);
}
function schemasOf(identity: Identity): ReadonlyMap<string, MessageType> {
  let schemas = known.get(identity);
  if (schemas === undefined) {
    const kinds = withOlderVersions(builtinKinds(identity), identity);
    schemas = new Map(
      kinds.flatMap(({ group, kind, versions }) =>
        Object.entries(versions).map(([version, { schema }]) => [`${joinApiVersion(groupName(identity, group), version)} ${kind}`, schema]),
      ),
    );
    known.set(identity, schemas);
  }
  return schemas;
}
