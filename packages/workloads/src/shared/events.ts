/**
 * Events about objects, as `kubectl describe` shows them. They are sent in the background: nobody waits for one, and one that cannot
 * be sent is dropped. The same event again raises the count of the first.
 */
import type { Client } from '@plat-dev/client/dynamic';
import { core } from '@plat-dev/controllers/runtime/controller';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import { BoundedQueue } from '@plat-dev/lib/queue';
import { formatTime } from '@plat-dev/meta/time';

export type EventType = 'Normal' | 'Warning';

/** The object that an event is about. Lists leave out kind and version, so both are named. */
export interface About {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ApiObject['metadata'];
}

export interface RecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** The component that reports, such as `deployment-controller`. */
  readonly component: string;
  /** The node that reports. */
  readonly host?: string;
}

interface KnownEvent {
  readonly name: string;
  readonly first: number;
  count: number;
  at: number;
  /** Settled when the event is in the store, or was refused. */
  stored: Promise<void> | undefined;
}
interface Bucket {
  remaining: number;
  at: number;
}

/** Events whose count can be raised; others begin again at one. */
const KNOWN_EVENTS = 4096;
/** The same event counts as new after this time. */
const SAME_EVENT_MS = 10 * 60_000;
/** Events of one object: so many at once, then one in five minutes. */
const BURST = 25;
const REFILL_MS = 5 * 60_000;
/** Events that are sent at a time: what they report about goes first. */
const AT_ONCE = 4;
/** Events that wait to be sent; more are dropped. */
const MAX_WAITING = 2000;

const events = core('events');

export class EventRecorder {
  private readonly options: RecorderOptions;
  private readonly knownEvents = new BoundedCache<string, KnownEvent>(KNOWN_EVENTS);
  private readonly buckets = new BoundedCache<string, Bucket>(KNOWN_EVENTS);
  private sending = 0;
  private readonly waiting = new BoundedQueue<() => Promise<unknown>>(MAX_WAITING);
  private eventCount = 0;

  constructor(options: RecorderOptions) {
    this.options = options;
    // Components that report about the same object at the same time count from different numbers: their events have other names.
    for (const character of `${options.component} ${options.host ?? ''}`)
      this.eventCount = (this.eventCount * 31 + character.charCodeAt(0)) % 1000;
  }
  /** `host`: the node that reports, where that differs from event to event. */
  event(about: About, type: EventType, reason: string, message: string, fieldPath?: string, host?: string): void {
    const now = this.options.clock.now();
    if (this.waiting.full || !this.allowed(about.metadata.uid ?? '', now)) return;
    const id = [about.kind, about.metadata.uid, fieldPath, type, reason, message].join('\n');
    const knownEvent = this.knownEvents.get(id);
    if (knownEvent !== undefined && now - knownEvent.at < SAME_EVENT_MS) {
      knownEvent.count++;
      knownEvent.at = now;
      this.send(() => this.raise(about, knownEvent));
      return;
    }
    const { name = '', uid = '' } = about.metadata;
    const newEvent: KnownEvent = {
      name: `${name}.${uniqueHex(now, this.eventCount++, uid)}`,
      first: now,
      count: 1,
      at: now,
      stored: undefined,
    };
    this.knownEvents.set(id, newEvent);
    this.send(() => {
      const creation = this.make(about, newEvent, { type, reason, message, fieldPath, host });
      // The stored event itself is not kept.
      newEvent.stored = creation.then(
        () => {},
        () => {},
      );
      return creation;
    });
  }

  private allowed(uid: string, now: number): boolean {
    let bucket = this.buckets.get(uid);
    if (bucket === undefined) {
      bucket = { remaining: BURST, at: now };
      this.buckets.set(uid, bucket);
    }
    const gained = Math.floor((now - bucket.at) / REFILL_MS);
    if (gained > 0) {
      bucket.remaining = Math.min(BURST, bucket.remaining + gained);
      bucket.at += gained * REFILL_MS;
    }
    if (bucket.remaining === 0) return false;
    bucket.remaining--;
    return true;
  }
  private make(
    { apiVersion, kind, metadata }: About,
    { name, first }: KnownEvent,
    event: { type: EventType; reason: string; message: string; fieldPath: string | undefined; host: string | undefined },
  ): Promise<unknown> {
    const { client, component } = this.options;
    const namespace = namespaceOf(metadata);
    const time = formatTime(first);
    const { fieldPath, host = this.options.host, ...rest } = event;
    return client.createBriefly(events, namespace, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: {
        apiVersion,
        kind,
        name: metadata.name,
        uid: metadata.uid,
        ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
        ...(metadata.resourceVersion !== undefined && { resourceVersion: metadata.resourceVersion }),
        ...(fieldPath !== undefined && { fieldPath }),
      },
      ...rest,
      source: { component, ...(host !== undefined && { host }) },
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
      eventTime: null,
      reportingComponent: '',
      reportingInstance: '',
    });
  }
  private async raise({ metadata }: About, knownEvent: KnownEvent): Promise<void> {
    await knownEvent.stored;
    const { name, count, at } = knownEvent;
    await this.options.client.patch(events, namespaceOf(metadata), name, { count, lastTimestamp: formatTime(at) });
  }
  private send(request: () => Promise<unknown>): void {
    this.waiting.push(request);
    if (this.sending < AT_ONCE) void this.sendAll();
  }
  private async sendAll(): Promise<void> {
    this.sending++;
    for (let request = this.waiting.shift(); request !== undefined; request = this.waiting.shift()) {
      // An event that is lost is no failure: its namespace may be going, or the stored one may have expired.
      await request().catch(() => {});
    }
    this.sending--;
  }
}

const namespaceOf = ({ namespace = '' }: ApiObject['metadata']): string => (namespace === '' ? 'default' : namespace);

/** Sixteen digits that differ for every event of a process, and most likely of others. */
function uniqueHex(now: number, count: number, uid: string): string {
  const tail = uid.replaceAll(/[^0-9a-f]/g, '').slice(-4);
  return (now * 1000 + (count % 1000)).toString(16).padStart(14, '0').slice(-14) + tail.padStart(2, '0').slice(-4);
}
