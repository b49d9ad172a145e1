/** watch: a stream of events in the representation that was asked for. */

import { PartialObjectMetadata, Status } from '../../kinds/meta-kinds.ts';
import type { ApiError } from '../../meta/errors.ts';
import type { Resource } from '../../registry/catalog.ts';
import { watch as follow, type WatchSink, type WatchType } from '../../registry/watch.ts';
import { encodeEnvelope } from '../../schema/envelope.ts';
import { encode, toJson } from '../../schema/json.ts';
import { encodeProtobuf } from '../../schema/protobuf.ts';
import type { JsonObject } from '../../schema/types.ts';
import type { CollectionEvent } from '../../storage/collection.ts';
import type { Item } from '../../storage/item.ts';
import type { Context } from '../context.ts';
import type { Representation } from '../negotiate.ts';
import { readOptions, selectionOf } from '../options.ts';
import { binary, type IncludeObject, isPlain, objectOf, partial } from '../represent.ts';
import { head } from '../respond.ts';
import type { Services } from '../services.ts';
import { partialText, tableText } from '../table.ts';
import { includeObject, objectOffer } from './read.ts';

/** A bookmark comes about this long before the end of a watch, and once a minute before. */
const BOOKMARK_BEFORE_END_MS = 2000;
const BOOKMARK_EVERY_MS = 60_000;
/** A timer cannot wait longer. */
const LONGEST_MS = 2 ** 31 - 1;
/** The past is sent in pieces of about this size, each when the client has taken the one before. */
const FULL_BYTES = 256 * 1024;

export async function watchObjects(services: Services, ctx: Context, resource: Resource): Promise<void> {
  const { registry, limits } = services;
  const representation = services.negotiator.negotiate(ctx.header('accept'), objectOffer(resource), true);
  const options = readOptions(ctx, registry.catalog, true);
  const selection = selectionOf(ctx, resource, ctx.info.namespace, ctx.info.legacyWatch ? ctx.info.name : '');
  const include = includeObject(ctx);
  ctx.longRunning = true;
  // Zero is as good as none.
  const seconds = options.timeoutSeconds || limits.minRequestTimeoutSeconds * (1 + services.spread());
  const millis = Math.min(seconds * 1000, LONGEST_MS);
  const stream = new WatchStream(services, ctx, resource, representation, include);
  const stop = await follow(registry, resource, selection, options.resourceVersion, stream);
  stream.begin(stop);
  const timers: NodeJS.Timeout[] = [];
  if (options.bookmarks) {
    const mark = () => {
      // A server of several may be behind the one that the client came from.
      if (stream.upToDate) stream.bookmark(Math.max(registry.cache.revision, Number(options.resourceVersion)));
    };
    if (millis > BOOKMARK_BEFORE_END_MS) timers.push(setTimeout(mark, millis - BOOKMARK_BEFORE_END_MS));
    timers.push(setInterval(mark, BOOKMARK_EVERY_MS));
  }
  timers.push(setTimeout(() => stream.end(), millis));
  await stream.done;
  for (const timer of timers) clearTimeout(timer);
}

export class WatchStream implements WatchSink {
  private readonly services: Services;
  private readonly ctx: Context;
  private readonly resource: Resource;
  private readonly representation: Representation;
  private readonly include: IncludeObject;
  private readonly plain: boolean;
  /** Key under which encodings are shared with other watchers of the same representation. */
  private readonly frameKey: string;
  private readonly events: { inc(): void };
  private stop: (() => void) | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private scheduled = false;
  private ended = false;
  private failed = false;
  private firstTable = true;
  private finish: () => void = () => {};
  readonly done: Promise<void>;
  private start: () => void = () => {};
  private readonly begun: Promise<void>;
  /** Everything up to now was sent. */
  upToDate = false;
  readonly waitingLimit: number;

  constructor(services: Services, ctx: Context, resource: Resource, representation: Representation, include: IncludeObject) {
    this.services = services;
    this.ctx = ctx;
    this.resource = resource;
    this.representation = representation;
    this.include = include;
    this.plain = isPlain(resource, representation, false);
    this.frameKey = `${resource.apiVersion}|${representation.media}|${representation.transform ?? ''}|${representation.transformVersion}`;
    this.events = services.watchEvents(resource);
    this.waitingLimit = services.limits.watchBufferBytes;
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
    this.begun = new Promise((resolve) => {
      this.start = resolve;
    });
  }

  /** Sends the head; from here on errors are events. */
  begin(stop: () => void): void {
    this.stop = stop;
    this.start();
    const { ctx } = this;
    if (ctx.res.destroyed) {
      this.close();
      return;
    }
    this.services.watches.add(this);
    head(ctx, 200, ['Content-Type', this.representation.type]);
    (ctx.res as { flushHeaders?: () => void }).flushHeaders?.();
    ctx.res.once('close', () => this.close());
    this.flush();
    if (this.failed) this.end();
  }

  send(type: WatchType, item: Item, shared: CollectionEvent | undefined): void {
    if (this.ended) return;
    this.events.inc();
    this.push(this.frame(type, item, shared));
  }
  full(): boolean {
    return this.waitingBytes + (this.stop === undefined ? 0 : waitingBytes(this.ctx.res)) > FULL_BYTES;
  }
  async drained(): Promise<void> {
    await this.begun;
    this.flush();
    const { res } = this.ctx;
    if (this.ended || res.destroyed) return;
    // Even a client that takes everything at once lets others have their turn.
    if (waitingBytes(res) < res.writableHighWaterMark) return new Promise((resolve) => setImmediate(resolve));
    return new Promise((resolve) => {
      const go = (): void => {
        res.off('drain', go);
        res.off('close', go);
        resolve();
      };
      res.on('drain', go);
      res.on('close', go);
    });
  }
  current(): void {
    this.upToDate = true;
  }
  bookmark(revision: number): void {
    if (this.ended) return;
    const { kind, apiVersion } = this.resource;
    const metadata = { resourceVersion: String(revision), creationTimestamp: null };
    const transform = this.representation.transform;
    if (transform === 'Table') {
      const text = tableText(
        this.services.registry.env,
        this.resource,
        [],
        { resourceVersion: String(revision) },
        this.representation.transformVersion,
        this.include,
        false,
      );
      this.push(Buffer.from(`{"type":"BOOKMARK","object":${text}}\n`));
      return;
    }
    const object =
      transform === undefined
        ? (toJson(this.resource.schema, {
            kind: kind.kind,
            apiVersion,
            metadata: { resourceVersion: String(revision) },
          } as never) as JsonObject)
        : { kind: transform, apiVersion: this.representation.transformVersion, metadata };
    this.push(this.wrap('BOOKMARK', object, undefined));
  }
  fail(error: ApiError): void {
    if (this.ended) return;
    this.push(this.wrap('ERROR', error.status() as unknown as JsonObject, undefined));
    this.failed = true;
    // Before the head is sent the error waits with the other frames.
    if (this.stop !== undefined) this.end();
  }
  /** Sends what waits and ends the stream. */
  end(): void {
    if (this.ended) return;
    this.flush();
    this.close();
    this.ctx.res.end();
  }

  private close(): void {
    if (this.ended) return;
    this.ended = true;
    this.services.watches.delete(this);
    this.stop?.();
    this.waiting = [];
    this.finish();
  }

  /** Frames of one turn of the event loop go out in one write. */
  private push(frame: Buffer): void {
    this.waiting.push(frame);
    this.waitingBytes += frame.length;
    if (this.stop === undefined || this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }
  private flush(): void {
    if (this.ended || this.waiting.length === 0) return;
    const { res } = this.ctx;
    const bytes = this.waiting.length === 1 ? (this.waiting[0] as Buffer) : Buffer.concat(this.waiting, this.waitingBytes);
    this.waiting = [];
    this.waitingBytes = 0;
    (res as NodeJS.WritableStream).write(bytes);
    // A watcher that does not read is let go rather than remembered for; it may resume from where it was.
    if (waitingBytes(res) > this.services.limits.watchBufferBytes) {
      this.close();
      // With an error, so that no client takes the end for a good one.
      res.destroy(new Error('the client of a watch does not read'));
    }
  }

  private frame(type: WatchType, item: Item, shared: CollectionEvent | undefined): Buffer {
    const { transform } = this.representation;
    if (transform === 'Table') return this.tableFrame(type, item);
    if (shared === undefined) return this.make(type, item);
    shared.frames ??= new Map();
    const key = `${type}|${this.frameKey}`;
    let frame = shared.frames.get(key);
    if (frame === undefined) {
      frame = this.make(type, item);
      shared.frames.set(key, frame);
    }
    return frame;
  }

  private make(type: WatchType, item: Item): Buffer {
    if (this.plain) return Buffer.concat([prefixes[type], item.bytes, SUFFIX]);
    const { transform, transformVersion, media } = this.representation;
    if (transform !== undefined) {
      if (media !== 'protobuf') return Buffer.from(`{"type":"${type}","object":${partialText(item, transformVersion)}}\n`);
      return this.wrap(type, partial(item, transformVersion), undefined);
    }
    const object = objectOf(this.resource, item);
    if (media === 'protobuf') return this.wrap(type, undefined, binary(this.resource.schema, object));
    return Buffer.from(`{"type":"${type}","object":${encode(this.resource.schema, object)}}\n`);
  }

  private tableFrame(type: WatchType, item: Item): Buffer {
    const text = tableText(
      this.services.registry.env,
      this.resource,
      [item],
      { resourceVersion: String(item.revision) },
      this.representation.transformVersion,
      this.include,
      this.firstTable,
    );
    this.firstTable = false;
    return Buffer.from(`{"type":"${type}","object":${text}}\n`);
  }

  /** An event around an object: a line of JSON, or a binary message after its length. */
  private wrap(type: string, object: JsonObject | undefined, raw: Buffer | undefined): Buffer {
    if (this.representation.media !== 'protobuf') return Buffer.from(`{"type":"${type}","object":${JSON.stringify(object)}}\n`);
    let inner = raw;
    if (inner === undefined) {
      const o = object as JsonObject & { kind: string; apiVersion: string };
      const whole = this.representation.transform === undefined ? this.resource.schema : PartialObjectMetadata;
      const schema = type === 'ERROR' ? Status : whole;
      inner = encodeEnvelope({ apiVersion: o.apiVersion, kind: o.kind, raw: encodeProtobuf(schema, o as never) });
    }
    return binaryFrame(type, inner as Buffer);
  }
}

/** Bytes that the client has not taken yet. An HTTP/2 answer keeps them in its stream. */
function waitingBytes(res: Context['res']): number {
  return 'stream' in res ? (res.stream?.writableLength ?? 0) : res.writableLength;
}

const prefixes: Readonly<Record<WatchType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const SUFFIX = Buffer.from('}\n');

/** Length in four bytes, then a WatchEvent: the type as field 1; as field 2 a raw extension, whose field 1 holds the object. */
function binaryFrame(type: string, object: Buffer): Buffer {
  const text = Buffer.from(type);
  const rawLength = varint(object.length);
  const outerLength = varint(1 + rawLength.length + object.length);
  const size = 2 + text.length + 1 + outerLength.length + 1 + rawLength.length + object.length;
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(size, 0);
  return Buffer.concat([length, Buffer.from([0x0a, text.length]), text, TAG_2, outerLength, TAG_1, rawLength, object], 4 + size);
}
const TAG_1 = Buffer.from([0x0a]);
const TAG_2 = Buffer.from([0x12]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
