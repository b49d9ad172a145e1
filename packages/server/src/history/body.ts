/** A page of history in the form that the client accepts. It may be long, and is made in slices. */
import { ObjectHistory, ObjectVersion } from '@plat-dev/kinds/explain/schema/v1alpha1';
import type { Column } from '@plat-dev/kinds/kind';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Slices } from '@plat-dev/lib/slices';
import { humanDuration } from '@plat-dev/meta/age';
import { encodeProtobuf } from '@plat-dev/schema/protobuf';
import { aroundRaw, lengthPrefix } from '@plat-dev/schema/protobuf/envelope';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Representation } from '../request/negotiate.ts';
import { representText } from '../response/represent.ts';

export interface ShownVersion {
  /** An `ObjectVersion` as JSON. */
  readonly version: JsonObject;
  /** Milliseconds since 1970; 0: it is not known. */
  readonly time: number;
  /** What the change did, in one line. */
  readonly change: string;
}
export interface ShownHistory {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: JsonObject;
  readonly versions: readonly ShownVersion[];
}

/** `now`: what ages in a Table are counted to. */
export async function historyBody(
  history: ShownHistory,
  now: number,
  representation: Representation,
  pretty: boolean,
  slices: Slices,
): Promise<Buffer> {
  if (representation.media === 'protobuf') return binaryHistory(history, slices);
  const { versions, ...head } = history;
  const isTable = representation.transform === 'Table';
  const texts: string[] = [];
  for (const one of versions) {
    texts.push(isTable ? rowText(one, now) : jsonText(one.version));
    if (slices.due) await slices.pause();
  }
  const text = isTable
    ? `{"kind":"Table","apiVersion":${jsonText(representation.transformVersion)},"metadata":${jsonText(head.metadata)},"columnDefinitions":${columnsText},"rows":[${texts.join()}]}`
    : `${jsonText(head).slice(0, -1)},"items":[${texts.join()}]}`;
  return representText(text, representation, pretty, slices);
}

/** Tag of the items: field 2, with a length. */
const ITEMS_TAG = 0x12;

async function binaryHistory({ kind, apiVersion, metadata, versions }: ShownHistory, slices: Slices): Promise<Buffer> {
  const parts: Buffer[] = [encodeProtobuf(ObjectHistory, { metadata, items: [] })];
  for (const { version } of versions) {
    const bytes = encodeProtobuf(ObjectVersion, version);
    parts.push(lengthPrefix(ITEMS_TAG, bytes.length), bytes);
    if (slices.due) await slices.pause();
  }
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const { before: opening, after: closing } = aroundRaw(kind, apiVersion, size);
  return Buffer.concat([opening, ...parts, closing]);
}

const columns: readonly Pick<Column, 'name' | 'type' | 'description' | 'format'>[] = [
  { name: 'Version', type: 'string', description: 'Version that the change made.' },
  { name: 'Name', type: 'string', format: 'name', description: 'Name of the object.' },
  { name: 'Age', type: 'string', description: 'How long ago the change was made.' },
  { name: 'User', type: 'string', description: 'Who made the change.' },
  { name: 'Manager', type: 'string', description: 'By which name the fields of the write are owned.' },
  { name: 'Verb', type: 'string', description: 'Verb of the request, with the subresource.' },
  { name: 'Change', type: 'string', description: 'What the change did.' },
];
const columnsText = jsonText(columns.map((column) => ({ format: '', ...column, priority: 0 })));

function rowText({ version, time, change }: ShownVersion, now: number): string {
  const { name, namespace, uid, resourceVersion, user = '', fieldManager = '', verb = '', subresource } = version as Partial<ObjectVersion>;
  const age = time > 0 ? humanDuration(now - time) : '<unknown>';
  const cells = [resourceVersion, name, age, user, fieldManager, subresource === undefined ? verb : `${verb} ${subresource}`, change];
  const object = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp: null },
  };
  return jsonText({ cells, object });
}
