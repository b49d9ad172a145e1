/**
 * The recent events of a collection, oldest first, for watches that resume. They are complete after one revision; what was before
 * it is read from the store's history.
 *
 *   remember 5, 6, 7      since(5) → 6, 7      since(3) → undefined where 4 may have been dropped
 */
import type { Item } from './item.ts';

/** A change as watchers see it. For a deletion `item` is the last state, carrying the deletion's revision. */
export interface CollectionEvent {
  readonly type: 'put' | 'delete';
  readonly item: Item;
  readonly previous: Item | undefined;
  readonly revision: number;
  /** The previous state with this event's revision: for watchers whose selection the object has left. Made on first use. */
  departedItem?: Item;
  /** Encodings made for one watcher and shared by all: representation → frame, as the server makes them. */
  frames: Map<string, unknown> | undefined;
}

/** Maximum bytes of objects in recent events; beyond it older ones are read from the store's history. */
const EVENT_BYTES = 16 * 2 ** 20;
/**
 * The newest events that cache the encodings made for watchers. All followers have read theirs by then; a watcher that resumes
 * further back has them made again, and shares them with others that resume at the same time.
 */
export const FRAMED_EVENTS = 256;

export class RecentEvents {
  private events: CollectionEvent[] = [];
  /** All events after this revision are here. */
  private after = 0;
  private bytes = 0;

  /** Events follow after a revision; those before it were not seen. */
  begin(revision: number): void {
    this.after = revision;
  }
  /** Drops all. Later events are complete after a revision, or after the one that was so before if that is later. */
  clear(revision: number): void {
    this.events = [];
    this.bytes = 0;
    this.after = Math.max(this.after, revision);
  }

  /** Events after a revision, or undefined when some are no longer here. */
  since(revision: number): CollectionEvent[] | undefined {
    if (revision < this.after) return undefined;
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.events[middle] as CollectionEvent).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return this.events.slice(low);
  }
  /** Drops events up to a revision (the store has compacted them too). */
  forget(upTo: number): void {
    if (upTo <= this.after) return;
    const remainingEvents = this.since(upTo) ?? [];
    this.drop(this.events.length - remainingEvents.length);
    this.after = upTo;
  }

  /** Adds an event, and drops the oldest where there are more than `limit` or too many bytes. */
  remember(event: CollectionEvent, limit: number): void {
    this.events.push(event);
    this.bytes += event.item.bytes.length;
    const { events } = this;
    const framed = events[events.length - 1 - FRAMED_EVENTS];
    if (framed !== undefined) framed.frames = undefined;
    if (events.length <= limit && this.bytes <= EVENT_BYTES) return;
    // Trimming by half keeps the cost of an event constant.
    let { bytes } = this;
    let dropped = 0;
    while (dropped < events.length && (events.length - dropped > limit / 2 || bytes > EVENT_BYTES / 2))
      bytes -= (events[dropped++] as CollectionEvent).item.bytes.length;
    this.after = (events[dropped - 1] as CollectionEvent).revision;
    // A commit may change several keys of a collection at one revision: it is complete or dropped.
    while (events[dropped]?.revision === this.after) dropped++;
    this.drop(dropped);
  }
  private drop(count: number): void {
    for (const { item } of this.events.splice(0, count)) this.bytes -= item.bytes.length;
  }
}
