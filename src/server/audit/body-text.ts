/** Response bodies as JSON text, whatever their encoding. */

import { listSchema } from '../../kinds/lists.ts';
import { Status } from '../../kinds/meta-kinds.ts';
import { atOnce, inSlices, SLICED_FROM, Slices, type Work } from '../../lib/slices.ts';
import type { MaybePromise } from '../../lib/when-ready.ts';
import { splitApiVersion } from '../../meta/api-version.ts';
import { isProtobufMediaType } from '../../meta/identity.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { decodeEnvelopeSteps } from '../../schema/envelope.ts';
import { encodeLarge } from '../../schema/json.ts';
import { decodeProtobufSteps } from '../../schema/protobuf.ts';
import { type JsonValue, json, type MessageType } from '../../schema/types.ts';

export type Media = 'json' | 'yaml' | 'protobuf';

/** Undefined: not an object of the API. */
export function mediaOf(contentType: string): Media | undefined {
  const cut = contentType.indexOf(';');
  const name = cut < 0 ? contentType : contentType.slice(0, cut);
  if (name === 'application/json') return 'json';
  if (name === 'application/yaml') return 'yaml';
  return isProtobufMediaType(name) ? 'protobuf' : undefined;
}

/** Undefined if the encoding is not known. A large body is decoded in slices. */
export function objectText(media: Media, bytes: Buffer, catalog: Catalog): MaybePromise<string | undefined> {
  if (media === 'json') return bytes.toString('utf8').trimEnd();
  if (media === 'yaml')
    return import('../../schema/yaml.ts').then(({ parseYamlSteps }) => inSlices(plainText(parseYamlSteps(bytes)), new Slices()));
  const work = binaryText(bytes, catalog);
  return bytes.length <= SLICED_FROM ? atOnce(work) : inSlices(work, new Slices());
}

function* plainText(value: Work<JsonValue>): Work<string> {
  return (yield* encodeLarge(json, yield* value)).toString();
}
function* binaryText(bytes: Buffer, catalog: Catalog): Work<string | undefined> {
  const { kind, apiVersion, raw } = yield* decodeEnvelopeSteps(bytes);
  const schema = schemaOf(kind, apiVersion, catalog);
  if (schema === undefined) return undefined;
  const object = { ...(yield* decodeProtobufSteps(schema, raw)), kind, apiVersion };
  return (yield* encodeLarge(schema, object)).toString();
}

function schemaOf(kind: string, apiVersion: string, catalog: Catalog): MessageType | undefined {
  if (kind === 'Status') return Status;
  const { group, version } = splitApiVersion(apiVersion);
  const one = catalog.byKind(group, kind, version)?.schema;
  if (one !== undefined || !kind.endsWith('List')) return one;
  const item = catalog.byKind(group, kind.slice(0, -4), version)?.schema;
  return item === undefined ? undefined : (listSchema(item) as MessageType);
}
