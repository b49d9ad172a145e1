/** List kinds are made from their items: all have the same two fields. */
import { own } from '@plat-dev/lib/own';
import { always, type Fields, type ListType, list, type MessageType, object, req } from '@plat-dev/schema/types';
import type { Kind, KindVersion } from './kind.ts';
import { ListMeta } from './meta.ts';

const listTypes = new WeakMap<MessageType, MessageType>();

const make = <F extends Fields>(item: MessageType<F>) =>
  object(`${item.name}List`, {
    metadata: always(1, ListMeta),
    items: req(2, list(item) as ListType<MessageType<F>>),
  });

/** The schema of a list of these objects. The same value for the same type. */
export function listSchema<F extends Fields>(item: MessageType<F>): ReturnType<typeof make<F>> {
  const schema = (listTypes.get(item) as ReturnType<typeof make<F>> | undefined) ?? make(item);
  listTypes.set(item, schema as MessageType);
  return schema;
}

/** The schema of a list of a kind in one of its versions. */
export function listOf(kind: Kind, version: string): MessageType {
  return listSchema((own(kind.versions, version) as KindVersion).schema);
}
