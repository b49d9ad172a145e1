/** Response bodies as JSON text, whatever their encoding. */

import { listSchemaIn } from '@plat-dev/kinds/lists';
import { Status } from '@plat-dev/kinds/meta-kinds';
import { atOnce, inSlices, SLICED_FROM, Slices, type Work } from '@plat-dev/lib/slices';
import type { MaybePromise } from '@plat-dev/lib/when-ready';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { isProtobufMediaType } from '@plat-dev/meta/identity';
import { encodedBytes } from '@plat-dev/schema/json';
import { decodedProtobuf } from '@plat-dev/schema/protobuf';
import { decodedEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { type JsonValue, json, type MessageType } from '@plat-dev/schema/types';
import type { Catalog } from '../registry/catalog.ts';

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
    return import('@plat-dev/schema/yaml').then(({ parsedYaml }) => inSlices(plainText(parsedYaml(bytes)), new Slices()));
  const work = binaryText(bytes, catalog);
  return bytes.length <= SLICED_FROM ? atOnce(work) : inSlices(work, new Slices());
}

function* plainText(value: Work<JsonValue>): Work<string> {
  return (yield* encodedBytes(json, yield* value)).toString();
}
function* binaryText(bytes: Buffer, catalog: Catalog): Work<string | undefined> {
  const { kind, apiVersion, raw } = yield* decodedEnvelope(bytes);
  const schema = schemaOf(kind, apiVersion, catalog);
  if (schema === undefined) return undefined;
  const object = { ...(yield* decodedProtobuf(schema, raw)), kind, apiVersion };
  return (yield* encodedBytes(schema, object)).toString();
}

function schemaOf(kind: string, apiVersion: string, catalog: Catalog): MessageType | undefined {
  if (kind === 'Status') return Status;
  const { group, version } = splitApiVersion(apiVersion);
  const one = catalog.byKind(group, kind, version)?.schema;
  if (one !== undefined || !kind.endsWith('List')) return one;
  const item = catalog.byKind(group, kind.slice(0, -4), version)?.schema;
  return item === undefined ? undefined : listSchemaIn(catalog.release, item);
}
