/**
 * Follows a collection until it is stopped: lists it, then watches from there. The states:
 *
 *   idle       not started
 *   listing    pages are fetched; objects that were not in them are deleted            → watching, or waiting after an error
 *   watching   a stream of changes is open; when it ends another resumes from there    → watching, waiting, or listing after 410
 *   waiting    something failed; the delay grows with each failure                     → listing or watching again
 *   stopped    final
 */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import { frozen } from '@plat-dev/lib/frozen';
import { own } from '@plat-dev/lib/own';
import { Slices, type Work } from '@plat-dev/lib/slices';
import { joined, type TextBytes } from '@plat-dev/lib/text-bytes';
import { ApiError } from '@plat-dev/meta/errors';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import { type Client, type ListChoice, pathOf, queryOf, type ResourceRef } from './dynamic.ts';
import { EventBacklog } from './event-backlog.ts';
import { type HttpStream, isStatus, type StreamEvent } from './http.ts';

export type FollowState = 'idle' | 'listing' | 'watching' | 'waiting' | 'stopped';
export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface Follower<T extends ApiObject> {
  /** A new list begins: the known state may be out of date. */
  begin(): void;
  listed(object: T): void;
  /** The list is complete. */
  complete(): void;
  changed(type: WatchEventType, object: T): void;
  /** Whether an event is needed; absent: every event is. `source` is JSON that holds at least the object. */
  wants?(type: WatchEventType, source: TextBytes): boolean;
}

export interface FollowOptions {
  readonly client: Client;
  readonly resource: ResourceRef;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  /** Objects are shared with other followers in the process of the server, and come without managedFields: nobody may change them. */
  readonly shared?: boolean;
  /**
   * The objects of changes may be those of their writers, in the process of the server, which spares the server their text: without
   * managedFields, keys in any order, and nobody may change them.
   */
  readonly takesWritersObjects?: boolean;
  /** Existing objects do not matter: nothing is listed, and `complete` is called when all further changes will be seen. */
  readonly changesOnly?: boolean;
  readonly clock: Clock;
  /** A number from 0 to below 1, to spread retries. */
  readonly spread: () => number;
  /** Called for every failure; the watch is retried. */
  readonly report: (error: unknown, state: FollowState) => void;
}

/** First and maximum delay after a failure. A watch that was open at least this long has not failed. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const SHORT_WATCH_MS = 1000;
/** Objects of the first page, and of others at most, which have about so many bytes. */
const FIRST_PAGE = 50;
const PAGE = 500;
const PAGE_BYTES = 1 << 20;
/** Maximum length of an event. */
const LINE_LIMIT = 64 * 1024 * 1024;
const NEWLINE = 0x0a;

interface WireEvent<T> {
  readonly type: WatchEventType | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** The revision has expired: the collection must be listed again. */
class Expired extends ApiError {
  constructor(message: string) {
    super(410, 'Expired', message);
  }
}

export class Following<T extends ApiObject> {
  state: FollowState = 'idle';
  private readonly options: FollowOptions;
  private readonly follower: Follower<T>;
  private version = '';
  private failures = 0;
  private expired = 0;
  private stream: HttpStream | undefined;
  private endWatch: () => void = () => {};
  private backlog: EventBacklog | undefined;
  private readonly stopping = new AbortController();

  constructor(options: FollowOptions, follower: Follower<T>) {
    this.options = options;
    this.follower = follower;
  }
  /** Objects or events have come that are not handled yet. */
  get isBehind(): boolean {
    return this.state === 'listing' || this.backlog?.isEmpty === false;
  }
  start(): void {
    if (this.state !== 'idle') return;
    void this.run();
  }
  stop(): void {
    if (this.state === 'stopped') return;
    this.state = 'stopped';
    this.stopping.abort();
    this.stream?.close();
    this.stream = undefined;
    this.endWatch();
  }

  private async run(): Promise<void> {
    while (this.state !== 'stopped') {
      try {
        if (this.version === '') await this.list();
        await this.watch();
      } catch (error) {
        if (this.stopped()) return;
        if (error instanceof Expired) this.version = '';
        // One list again at once; if every list expires, the delay grows.
        if (!(error instanceof Expired) || ++this.expired > 1) await this.recover(error);
      }
    }
  }
  // A method of its own, because the state changes while others wait.
  private stopped(): boolean {
    return this.state === 'stopped';
  }

  private async recover(error: unknown): Promise<void> {
    this.options.report(error, this.state);
    this.state = 'waiting';
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this.failures, LONGEST_WAIT_MS);
    this.failures++;
    await this.options.clock.sleep(wait * (0.75 + this.options.spread() / 2), this.stopping.signal).catch(() => {});
  }

  private async list(): Promise<void> {
    this.state = 'listing';
    const { client, resource, namespace, labelSelector, fieldSelector, metadataOnly = false, changesOnly = false } = this.options;
    const slices = new Slices();
    let limit = changesOnly ? 1 : FIRST_PAGE;
    const choice: ListChoice = {
      metadataOnly,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(fieldSelector !== undefined && { fieldSelector }),
    };
    this.follower.begin();
    let next: string | undefined;
    let version = '';
    do {
      const page = await client
        .list<T>(resource, namespace, { ...choice, limit, ...(next !== undefined && { continue: next }) })
        .catch(asExpired);
      if (this.stopped()) return;
      version ||= page.metadata.resourceVersion ?? '';
      if (changesOnly) break;
      for (const object of page.items) {
        if (slices.due) await slices.pause();
        if (this.stopped()) return;
        this.follower.listed(object);
      }
      // Pages of large objects have fewer of them.
      limit = Math.max(1, Math.min(PAGE, Math.floor((PAGE_BYTES * page.items.length) / Math.max(page.bytes, 1))));
      next = page.metadata.continue;
    } while (next !== undefined && next !== '');
    this.version = version;
    this.failures = 0;
    this.follower.complete();
  }

  private async watch(): Promise<void> {
    if (this.stopped()) return;
    this.state = 'watching';
    const { client, resource, namespace, labelSelector, fieldSelector, metadataOnly = false, clock } = this.options;
    const query = queryOf({ watch: 1, allowWatchBookmarks: true, resourceVersion: this.version, labelSelector, fieldSelector });
    const began = clock.monotonic();
    await new Promise<void>((resolve, reject) => {
      this.endWatch = resolve;
      const fail = (error: unknown): void => {
        this.stream?.close();
        reject(error);
      };
      const guarded =
        <A>(take: (value: A) => void) =>
        (value: A): void => {
          try {
            if (!this.stopped()) take(value);
          } catch (error) {
            fail(error);
          }
        };
      const handOn = guarded((event: WireEvent<T>) => this.handOn(event));
      const backlog = new EventBacklog((arrived) => this.reading(arrived, handOn, fail));
      this.backlog = backlog;
      const lines = new Lines((line) => backlog.push({ type: typeOf(line), source: line, bytes: line }));
      client.http
        .stream(
          {
            path: `${pathOf(resource, namespace)}?${query}`,
            headers: client.accept(metadataOnly ? 'PartialObjectMetadata' : 'whole'),
            ...(this.options.takesWritersObjects === true && !metadataOnly && { keepsWritten: true }),
          },
          {
            data: guarded((chunk: TextBytes) => lines.push(chunk)),
            event: guarded((event: StreamEvent) => backlog.push(event)),
            end: (error) => (error === undefined ? resolve() : reject(error)),
          },
        )
        .then((stream) => {
          if (this.stopped()) stream.close();
          else this.stream = stream;
        }, reject);
    })
      .catch(asExpired)
      // What waits comes again: the next watch begins after the last event that was handled.
      .finally(() => this.backlog?.clear());
    this.stream = undefined;
    if (clock.monotonic() - began >= SHORT_WATCH_MS) this.failures = this.expired = 0;
    else if (!this.stopped()) throw new Error('the watch ended as soon as it had begun');
  }

  /** Reads an event, and returns what hands it on; undefined if it is not needed. */
  private *reading(
    arrived: StreamEvent,
    handOn: (event: WireEvent<T>) => void,
    fail: (error: unknown) => void,
  ): Work<(() => void) | undefined> {
    const { type, source } = arrived;
    try {
      if (this.stopped() || (isChange(type) && this.follower.wants?.(type, source) === false)) return undefined;
      const event = (this.options.takesWritersObjects === true ? writtenEvent<T>(arrived) : undefined) ?? (yield* this.parsed(arrived));
      return () => handOn(event);
    } catch (error) {
      fail(error);
      return undefined;
    }
  }
  private handOn(event: WireEvent<T>): void {
    if (event.type === 'ERROR') throw failureOf(event.object);
    this.version = event.object.metadata.resourceVersion ?? this.version;
    if (event.type !== 'BOOKMARK') this.follower.changed(event.type, event.object);
  }
  private *parsed(arrived: StreamEvent): Work<WireEvent<T>> {
    if (this.options.shared === true) return yield* sharedEvent<T>(arrived);
    return (yield* parsedExact(arrived.bytes)) as WireEvent<T>;
  }
}

/** The event with the object of its writer, if that is known. */
function writtenEvent<T extends ApiObject>({ type, writersObject }: StreamEvent): WireEvent<T> | undefined {
  const object = isChange(type) ? writersObject?.() : undefined;
  return object === undefined ? undefined : { type: type as WatchEventType, object: object as T };
}

/** Several informers of the same objects parse an event once: whoever has time for it goes on with the work. */
function* sharedEvent<T extends ApiObject>(arrived: StreamEvent): Work<WireEvent<T>> {
  arrived.parsing ??= parseShared(arrived);
  while (arrived.parsed === undefined && !arrived.parsing.next().done) yield;
  if (arrived.parsed === undefined) throw new Error('an event of the stream cannot be read');
  return arrived.parsed as WireEvent<T>;
}
function* parseShared(arrived: StreamEvent): Work<void> {
  const event = (yield* parsedExact(arrived.bytes)) as WireEvent<ApiObject>;
  if (isChange(event.type)) delete event.object.metadata.managedFields;
  arrived.parsed = frozen(event);
}

/** Bookmarks and errors are handled here. */
const isChange = (type: string): type is WatchEventType => type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED';

/** The type of an event by its first letter: `{"type":"B…`. */
const typeOf = (line: TextBytes): string => own(typesByLetter, String.fromCharCode(line[9] ?? 0)) ?? '';
const typesByLetter: Readonly<Record<string, string>> = Object.fromEntries(
  ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'].map((type) => [type[0], type]),
);

function failureOf(object: unknown): Error {
  const status = object as { code?: number; reason?: string; message?: string };
  if (status.code === 410) return new Expired(status.message ?? 'the revision has expired');
  return new ApiError(status.code ?? 500, status.reason ?? '', status.message ?? 'the watch failed');
}
function asExpired(error: unknown): never {
  throw isStatus(error, 410) ? new Expired(error.message) : error;
}

/** Cuts a stream of bytes into lines. */
export class Lines {
  private rest: TextBytes | undefined;
  private readonly take: (line: TextBytes) => void;

  constructor(take: (line: TextBytes) => void) {
    this.take = take;
  }
  push(chunk: TextBytes): void {
    let bytes = chunk;
    if (this.rest !== undefined) {
      bytes = joined([this.rest, chunk]);
      this.rest = undefined;
    }
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      if (end > start) this.take(bytes.subarray(start, end));
      start = end + 1;
    }
    if (start === bytes.length) return;
    if (bytes.length - start > LINE_LIMIT) throw new Error('an event of the stream is too large');
    this.rest = bytes.subarray(start);
  }
}
