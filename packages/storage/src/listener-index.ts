/**
 * The listeners of a collection's changes. Most watchers of a large cluster want one object, or the objects of one node: they
 * register that interest, and a change finds them by its key and its fields instead of calling every one.
 */
import type { EventListener } from './event-listener.ts';
import type { Item } from './item.ts';
import type { CollectionEvent } from './recent-events.ts';

/** The interest of a listener: an object of this key, or objects one of whose selectable fields has this value. */
export type Interest = { readonly key: string } | { readonly field: number; readonly value: string };

type Listeners = Map<string, Set<EventListener>>;

export class ListenerIndex {
  private readonly everybody = new Set<EventListener>();
  private readonly byKey: Listeners = new Map();
  private readonly byField = new Map<number, Listeners>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Without an interest it gets every change; with one, at least all changes from or to what it is interested in. */
  add(listener: EventListener, interest?: Interest): () => void {
    const leave = this.enter(listener, interest);
    this.count++;
    let there = true;
    return () => {
      if (!there) return;
      there = false;
      this.count--;
      leave();
    };
  }

  notify(event: CollectionEvent): void {
    for (const listener of this.everybody) listener(event);
    if (this.byKey.size > 0) notifyAll(this.byKey.get(event.item.key), event);
    for (const [field, listeners] of this.byField) {
      const now = fieldOf(event.item, field);
      notifyAll(listeners.get(now), event);
      const previousValue = event.previous === undefined ? now : fieldOf(event.previous, field);
      if (previousValue !== now) notifyAll(listeners.get(previousValue), event);
    }
  }

  private enter(listener: EventListener, interest: Interest | undefined): () => void {
    if (interest === undefined) {
      this.everybody.add(listener);
      return () => this.everybody.delete(listener);
    }
    if ('key' in interest) return enterUnder(this.byKey, interest.key, listener);
    const { field, value } = interest;
    const listeners: Listeners = this.byField.get(field) ?? new Map();
    this.byField.set(field, listeners);
    const leave = enterUnder(listeners, value, listener);
    return () => {
      leave();
      if (listeners.size === 0 && this.byField.get(field) === listeners) this.byField.delete(field);
    };
  }
}

/** A field that an object does not have is empty. */
const fieldOf = (item: Item, field: number): string => item.fields?.[field] ?? '';

function notifyAll(listeners: ReadonlySet<EventListener> | undefined, event: CollectionEvent): void {
  if (listeners !== undefined) for (const listener of listeners) listener(event);
}

function enterUnder(groups: Listeners, name: string, listener: EventListener): () => void {
  const group = groups.get(name) ?? new Set();
  groups.set(name, group);
  group.add(listener);
  return () => {
    group.delete(listener);
    if (group.size === 0 && groups.get(name) === group) groups.delete(name);
  };
}
