/** Events in the representation of a watch: lines of JSON, or protobuf messages with a length prefix. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import { listSchema } from '@plat-dev/kinds/lists';
import { PartialObjectMetadata, Status } from '@plat-dev/kinds/meta-kinds';
import { jsonText } from '@plat-dev/lib/json-text';
import { SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import { isAtLeast } from '@plat-dev/lib/version';
import type { ApiError } from '@plat-dev/meta/errors';
import { domainName, kubernetes } from '@plat-dev/meta/identity';
import { encode, encodeWithEmptyLists, toJson } from '@plat-dev/schema/json';
import { encodeProtobuf } from '@plat-dev/schema/protobuf';
import { encodeEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { varintSize, writeVarint } from '@plat-dev/schema/protobuf/varint';
import { schemaIn } from '@plat-dev/schema/releases';
import type { JsonObject, MessageType } from '@plat-dev/schema/types';
import type { Item } from '@plat-dev/storage/item';
import type { CollectionEvent } from '@plat-dev/storage/recent-events';
import type { Resource } from '../registry/catalog.ts';
import type { WatchType } from '../registry/watch.ts';
import type { Representation } from '../request/negotiate.ts';
import { binary, type IncludeObject, isPlain, needsCalls, partial, representItem } from '../response/represent.ts';
import { convertedInTurn } from '../response/shared-conversions.ts';
import { bookmarkTableText, largeRowText, partialText, rowTexts, tableOf } from '../response/table.ts';
import type { Services } from '../services.ts';
import { Frame } from './batch.ts';
import { conversionsOf } from './batched-conversions.ts';

/** Releases whose last bookmark of the beginning holds an empty list: from the first, before the second. */
const BLUEPRINT_SINCE = '1.32';
const BLUEPRINT_UNTIL = '1.34';

/** Releases that leave out a creation time that is missing, instead of saying so. */
const NO_TIME_SINCE = '1.34';

interface BookmarkMeta {
  readonly resourceVersion: string;
  readonly annotations?: Readonly<Record<string, string>>;
}
interface KeptFrame {
  /** The second in which it was made, if that matters. */
  readonly second: number;
  readonly frame: Frame;
}

export class Frames {
  private readonly services: Services;
  private readonly resource: Resource;
  private readonly representation: Representation;
  private readonly include: IncludeObject;
  private readonly plain: boolean;
  /** An object in this form is a part of its stored bytes. */
  private readonly isCopied: boolean;
  /** Objects are converted by calls, all of them or those of another version. */
  private readonly calls: 'all' | 'some' | 'none';
  /** The key by which an event caches its frames for other watchers of the same representation. */
  private readonly keys: Readonly<Record<WatchType, string>>;
  /** What parsing an event gives, if the object is known as it was written; absent for forms other than JSON. */
  private readonly writersObjectOf: ((item: Item) => unknown) | undefined;
  /** The first Table of a stream has the columns. */
  private firstTable = true;

  constructor(services: Services, resource: Resource, representation: Representation, include: IncludeObject) {
    this.services = services;
    this.resource = resource;
    this.representation = representation;
    this.include = include;
    this.plain = isPlain(resource, representation, false);
    this.isCopied = this.plain || (representation.media === 'json' && representation.transform === 'PartialObjectMetadata');
    this.calls = !needsCalls(resource, representation, include) ? 'none' : resource.versions.byCalls ? 'all' : 'some';
    const { media, transform = '', transformVersion } = representation;
    this.writersObjectOf = writersObjectIn(resource, representation, this.plain);
    const key = `${resource.apiVersion}|${media}|${transform}|${transformVersion}|${include}`;
    this.keys = { ADDED: `ADDED|${key}`, MODIFIED: `MODIFIED|${key}`, DELETED: `DELETED|${key}` };
  }

  /** `shared` is the change that other watchers see too. */
  event(type: WatchType, item: Item, shared: CollectionEvent | undefined): Frame {
    const isTable = this.representation.transform === 'Table';
    const withColumns = isTable && this.firstTable;
    this.firstTable = false;
    if (shared === undefined || withColumns) return this.make(type, item, withColumns);
    // A Table shows ages in seconds.
    const second = isTable ? Math.floor(this.services.registry.env.now() / 1000) : 0;
    shared.frames ??= new Map();
    const key = this.keys[type];
    let keptFrame = shared.frames.get(key) as KeptFrame | undefined;
    if (keptFrame === undefined || keptFrame.second !== second || keptFrame.frame.fault !== undefined) {
      keptFrame = { second, frame: this.make(type, item) };
      shared.frames.set(key, keptFrame);
    }
    return keptFrame.frame;
  }

  bookmark(revision: number): Frame {
    return this.marking({ resourceVersion: String(revision) });
  }
  /** The bookmark after the objects with which a watch begins. */
  initialEnd(revision: number): Frame {
    const { identity, registry } = this.services;
    const annotations: Record<string, string> = {};
    for (const { groupSuffix } of new Set([identity, kubernetes])) annotations[`${groupSuffix}/initial-events-end`] = 'true';
    const { release } = registry.catalog;
    if (this.representation.transform === undefined && isAtLeast(release, BLUEPRINT_SINCE) && !isAtLeast(release, BLUEPRINT_UNTIL))
      annotations[domainName(identity, 'initial-events-list-blueprint')] = this.emptyList().toString('base64');
    return this.marking({ resourceVersion: String(revision), annotations });
  }
  /** What the metadata of an object say that has no creation time. */
  private get noTime(): object {
    return isAtLeast(this.services.registry.catalog.release, NO_TIME_SINCE) ? {} : { creationTimestamp: null };
  }
  private marking(metadata: BookmarkMeta): Frame {
    const { kind, apiVersion, schema } = this.resource;
    const { transform, transformVersion } = this.representation;
    if (transform === undefined || transform === 'Table') {
      const object = toJson(schema, { kind: kind.kind, apiVersion, metadata } as never) as JsonObject;
      return this.ready('BOOKMARK', transform === undefined ? this.wrap('BOOKMARK', object) : this.bookmarkTable(object));
    }
    const object = { kind: transform, apiVersion: transformVersion, metadata: { ...metadata, ...this.noTime } };
    return this.ready('BOOKMARK', this.wrap('BOOKMARK', object));
  }
  /** A list without objects, in the encoding of the watch: clients take the form of their list from it. */
  private emptyList(): Buffer {
    const { resource } = this;
    const list = { kind: resource.kind.listKind, apiVersion: resource.apiVersion, metadata: { resourceVersion: '' }, items: [] };
    const schema = listSchema(resource.schema) as MessageType;
    if (this.representation.media === 'protobuf') return binary(schema, list as never);
    return Buffer.from(`${encodeWithEmptyLists(schema, list)}\n`);
  }
  /** The row of an object with nothing but a resourceVersion. Like any first event, a bookmark has the columns. */
  private bookmarkTable(object: JsonObject): Buffer {
    const { services, resource, include } = this;
    const withColumns = this.firstTable;
    this.firstTable = false;
    const text = bookmarkTableText(services.registry.env, resource, object, this.representation.transformVersion, include, withColumns);
    return jsonLine('BOOKMARK', text);
  }

  error(error: ApiError): Frame {
    return this.ready('ERROR', this.wrap('ERROR', error.status() as unknown as JsonObject));
  }

  private ready(type: string, bytes: Buffer): Frame {
    return new Frame(type, bytes, () => bytes);
  }

  private make(type: WatchType, item: Item, withColumns = false): Frame {
    if (this.calls === 'all' || (this.calls === 'some' && this.resource.versions.isUnconverted(item)))
      return Frame.later(type, item.bytes, conversionsOf(this.resource).of(item), (object) => this.encode(type, item, withColumns, object));
    if (this.isCopied || item.bytes.length <= SLICED_FROM) {
      const frame = new Frame(type, item.bytes, () => this.encode(type, item, withColumns, undefined));
      if (this.writersObjectOf !== undefined) frame.writersObject = () => this.writersObjectOf?.(item);
      return frame;
    }
    const pendingFrame = convertedInTurn(this.resource, item, () => this.encodeLarge(type, item, withColumns));
    return Frame.later(type, item.bytes, pendingFrame, (bytes) => bytes);
  }
  /** `converted` is the object if that took a call. */
  private encode(type: WatchType, item: Item, withColumns: boolean, converted: ApiObject | undefined): Buffer {
    if (this.plain && converted === undefined) return Buffer.concat([prefixes[type], item.bytes, SUFFIX]);
    const { transform, transformVersion, media } = this.representation;
    if (transform === 'Table') {
      const { services, resource, include } = this;
      const rows = rowTexts(services.registry.env, resource, [item], transformVersion, include, converted && [converted]);
      return this.tableLine(type, item, rows, withColumns);
    }
    if (transform !== undefined) {
      if (media !== 'protobuf') return jsonLine(type, partialText(item, transformVersion));
      return this.wrap(type, partial(item, transformVersion));
    }
    const object = converted ?? this.resource.versions.readNow(item);
    if (media === 'protobuf') return binaryFrame(type, binary(this.resource.schema, object));
    return jsonLine(type, encode(this.resource.schema, object));
  }
  /** The same for a large object. */
  private async encodeLarge(type: WatchType, item: Item, withColumns: boolean): Promise<Buffer> {
    const { services, resource, representation, include } = this;
    const { env } = services.registry;
    const slices = new Slices();
    if (representation.transform === 'Table') {
      const row = await largeRowText(env, resource, item, representation.transformVersion, include, slices);
      return this.tableLine(type, item, [row], withColumns);
    }
    // JSON ends with a line end, which is the end of the event here.
    const object = await representItem(env, resource, item, representation, false, include, slices);
    return representation.media === 'protobuf'
      ? binaryFrame(type, object)
      : Buffer.concat([prefixes[type], object.subarray(0, -1), SUFFIX]);
  }
  private tableLine(type: WatchType, { revision }: Item, rows: readonly string[], withColumns: boolean): Buffer {
    const { transformVersion } = this.representation;
    return jsonLine(type, tableOf(this.resource, rows, { resourceVersion: String(revision) }, transformVersion, withColumns));
  }

  /** An event with an object that is not of the collection. */
  private wrap(type: string, object: JsonObject): Buffer {
    if (this.representation.media !== 'protobuf') return jsonLine(type, jsonText(object));
    const { apiVersion, kind } = object as JsonObject & { kind: string; apiVersion: string };
    const whole =
      this.representation.transform === undefined ? this.resource.schema : schemaIn(this.resource.release, PartialObjectMetadata);
    const schema = type === 'ERROR' ? Status : whole;
    return binaryFrame(type, encodeEnvelope({ apiVersion, kind, raw: encodeProtobuf(schema, object as never) }));
  }
}

function writersObjectIn(
  resource: Resource,
  { media, transform, transformVersion }: Representation,
  plain: boolean,
): Frames['writersObjectOf'] {
  const { recent } = resource.versions;
  if (plain) return (item) => recent.responseForm(resource, item);
  if (media !== 'json' || transform !== 'PartialObjectMetadata') return undefined;
  return (item) => {
    const metadata = recent.responseForm(resource, item)?.metadata;
    return metadata && { kind: transform, apiVersion: transformVersion, metadata };
  };
}

const jsonLine = (type: string, object: string): Buffer => Buffer.from(`{"type":"${type}","object":${object}}\n`);

const prefixes: Readonly<Record<WatchType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const SUFFIX = Buffer.from('}\n');

/** Length in four bytes, then a WatchEvent: the type as field 1; as field 2 a raw extension, whose field 1 holds the object. */
function binaryFrame(type: string, object: Buffer): Buffer {
  const extension = 1 + varintSize(object.length) + object.length;
  const size = 2 + type.length + 1 + varintSize(extension) + extension;
  const frame = Buffer.allocUnsafe(4 + size);
  let at = frame.writeUInt32BE(size, 0);
  frame[at++] = FIELD_1;
  frame[at++] = type.length;
  at += frame.write(type, at, 'latin1');
  frame[at++] = FIELD_2;
  at = writeVarint(frame, at, extension);
  frame[at++] = FIELD_1;
  at = writeVarint(frame, at, object.length);
  object.copy(frame, at);
  return frame;
}
const FIELD_1 = 0x0a;
const FIELD_2 = 0x12;
