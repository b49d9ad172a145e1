/** Schemas of the built-in kinds under either identity: how lists of their objects are merged. */
import { builtinKinds } from '../kinds/index.ts';
import { withOlderVersions } from '../kinds/older-kinds.ts';
import { serve } from '../kinds/served.ts';
import { identities } from '../meta/identity.ts';
import type { MessageType } from '../schema/types.ts';

let known: ReadonlyMap<string, MessageType> | undefined;

/** Undefined for custom kinds. */
export function schemaOfKind(apiVersion: string, kind: string): MessageType | undefined {
  known ??= allSchemas();
  return known.get(`${apiVersion} ${kind}`);
}
function allSchemas(): ReadonlyMap<string, MessageType> {
  const schemas = new Map<string, MessageType>();
  for (const identity of Object.values(identities))
    for (const kind of withOlderVersions(builtinKinds(identity), identity))
      for (const { apiVersion, schema } of serve(kind, identity, { all: true })) schemas.set(`${apiVersion} ${kind.kind}`, schema);
  return schemas;
}
