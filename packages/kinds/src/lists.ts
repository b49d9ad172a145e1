/** List kinds are made from their items: all have the same two fields. */
import { own } from '@plat-dev/lib/own';
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import { schemaIn, wholeSchema } from '@plat-dev/schema/releases';
import { always, type Fields, type ListType, list, type MessageType, object, req } from '@plat-dev/schema/types';
import type { Kind, KindVersion } from './kind.ts';
import { ListMeta } from './meta.ts';

const listTypes = new WeakMap<MessageType, MessageType>();

const make = <F extends Fields>(item: MessageType<F>) =>
  object(`${item.name}List`, {
    metadata: always(1, ListMeta),
    items: req(2, list(item) as ListType<MessageType<F>>),
  });

/** The schema of a list of these objects, with what all releases have. The same value for the same type. */
export function listSchema<F extends Fields>(item: MessageType<F>): ReturnType<typeof make<F>> {
  const schema = (listTypes.get(item) as ReturnType<typeof make<F>> | undefined) ?? make(item);
  listTypes.set(item, schema as MessageType);
  return schema;
}

/** The same as a release has it. */
export const listSchemaIn = (release: ApiRelease, item: MessageType): MessageType =>
  schemaIn(release, listSchema(wholeSchema(item)) as MessageType);

/** The schema of a list of a kind in one of its versions. */
export function listOf(kind: Kind, version: string, release: ApiRelease = apiRelease): MessageType {
  return listSchemaIn(release, (own(kind.versions, version) as KindVersion).schema);
}
