/**
 * What a client knows of its objects: the state that was acknowledged last, and at most one write whose outcome it does not
 * know. After a restart the server must show the one or the other, and its history exactly the acknowledged writes.
 *
 *   create a → 201 (revision 5)     update a → no answer     ⚡
 *   then a has revision 5, or the update's value and a higher revision; it is neither gone nor anything else.
 *
 * One writer uses an object at a time, so that its writes have an order.
 */
import type { Loose } from '../../support/client.ts';

export type WriteKind = 'create' | 'update' | 'delete';
export interface Write {
  readonly kind: WriteKind;
  /** Written into the object; a delete has that of the object it removes. */
  readonly token: string;
  /** 0: not known, as for a delete. */
  readonly revision: number;
}
interface Known {
  readonly token: string;
  readonly revision: number;
  readonly uid: string;
}
export interface Tracked {
  readonly collection: string;
  readonly name: string;
  /** As last acknowledged or seen by a check; undefined: it does not exist. */
  known: Known | undefined;
  /** The whole object, for updates. */
  object: Loose;
  pending: Write | undefined;
  /** Acknowledged writes since the last check. */
  trail: Write[];
}
export interface SeenEvent {
  readonly type: string;
  readonly name: string;
  readonly token: string;
  readonly revision: number;
}
export type FaultKind = 'lost' | 'resurrected' | 'revision' | 'watch' | 'start' | 'refused';
export interface Fault {
  readonly kind: FaultKind;
  readonly text: string;
}

const TOKEN = 'token';
export const tokenOf = (object: Loose): string => object?.metadata?.annotations?.[TOKEN] ?? '';
const revisionOf = (object: Loose): number => Number(object?.metadata?.resourceVersion ?? 0);

export class Ledger {
  readonly faults: Fault[] = [];
  /** Acknowledged writes, and those whose outcome stayed unknown when it was asked for. */
  acknowledged = 0;
  unanswered = 0;
  /** The highest revision that any answer or event has shown. */
  highest = 0;
  readonly #objects = new Map<string, Tracked>();

  tracked(collection: string, name: string): Tracked {
    const id = `${collection}/${name}`;
    let found = this.#objects.get(id);
    if (found === undefined) {
      found = { collection, name, known: undefined, object: undefined, pending: undefined, trail: [] };
      this.#objects.set(id, found);
    }
    return found;
  }
  of(collection: string): Tracked[] {
    return [...this.#objects.values()].filter((tracked) => tracked.collection === collection);
  }

  fault(kind: FaultKind, text: string): void {
    this.faults.push({ kind, text });
  }

  begin(tracked: Tracked, kind: WriteKind, token: string): number {
    tracked.pending = { kind, token, revision: 0 };
    return this.highest;
  }

  /** The write was answered. `before`: the highest revision that was known when it began. */
  acknowledge(tracked: Tracked, object: Loose, before: number): void {
    const { kind, token } = tracked.pending as Write;
    const revision = kind === 'delete' ? 0 : revisionOf(object);
    tracked.pending = undefined;
    tracked.trail.push({ kind, token, revision });
    this.acknowledged++;
    if (kind === 'delete') {
      tracked.known = undefined;
      tracked.object = undefined;
      return;
    }
    if (revision <= before) this.fault('revision', `${tracked.name} was given revision ${revision} after ${before} had been seen`);
    if (tokenOf(object) !== token) this.fault('lost', `${tracked.name} was answered with ${tokenOf(object)}, not ${token}`);
    this.highest = Math.max(this.highest, revision);
    tracked.known = { token, revision, uid: object.metadata.uid };
    tracked.object = object;
  }

  /** The write was answered with a refusal, and had no effect. */
  withdraw(tracked: Tracked): void {
    tracked.pending = undefined;
  }

  /**
   * Holds a collection against a list and, where the server still has it, the history since the last check.
   * `history`: the events in the order they came; undefined: forgotten. `before`: the highest revision known when the list
   * was asked for.
   */
  check(collection: string, list: Loose, history: readonly SeenEvent[] | undefined, before: number): void {
    const listed = revisionOf(list);
    if (listed < before) this.fault('revision', `${collection} is listed at ${listed}, after ${before} had been seen`);
    this.highest = Math.max(this.highest, listed);
    const items = new Map<string, Loose>(list.items.map((item: Loose) => [item.metadata.name, item]));
    const events = new Map<string, SeenEvent[]>();
    let last = 0;
    for (const event of history ?? []) {
      if (event.revision < last) this.fault('watch', `${collection}: revision ${event.revision} came after ${last}`);
      last = event.revision;
      const known = events.get(event.name);
      if (known === undefined) events.set(event.name, [event]);
      else known.push(event);
    }
    for (const tracked of this.of(collection)) {
      this.#checkOne(tracked, items.get(tracked.name), history === undefined ? undefined : (events.get(tracked.name) ?? []));
      items.delete(tracked.name);
      events.delete(tracked.name);
    }
    for (const name of items.keys())
      if (name.startsWith('w')) this.fault('resurrected', `${collection}/${name}, of which nothing is known`);
  }

  #checkOne(tracked: Tracked, item: Loose, events: readonly SeenEvent[] | undefined): void {
    const { pending } = tracked;
    const id = `${tracked.collection}/${tracked.name}`;
    const happened = pending !== undefined && this.#shows(tracked, pending, item);
    if (!happened && !same(tracked.known, item)) {
      const text = `${id}: expected ${words(tracked.known)}${pending ? ` or after ${pending.kind} ${pending.token}` : ''}, found ${itemWords(item)}`;
      const gone = item === undefined || (tracked.known !== undefined && revisionOf(item) <= tracked.known.revision);
      this.fault(gone ? 'lost' : 'resurrected', text);
    }
    if (events !== undefined) this.#checkTrail(id, happened ? [...tracked.trail, pending] : tracked.trail, events);
    if (pending !== undefined) this.unanswered++;
    tracked.pending = undefined;
    tracked.trail = [];
    tracked.object = item;
    tracked.known = item === undefined ? undefined : { token: tokenOf(item), revision: revisionOf(item), uid: item.metadata.uid };
    this.highest = Math.max(this.highest, revisionOf(item));
  }

  /** Whether the object is as the unanswered write would have made it. */
  #shows({ known }: Tracked, { kind, token }: Write, item: Loose): boolean {
    if (kind === 'delete') return item === undefined;
    if (item === undefined || tokenOf(item) !== token) return false;
    return kind === 'create' ? known === undefined : item.metadata.uid === known?.uid && revisionOf(item) > (known?.revision ?? 0);
  }

  #checkTrail(id: string, expected: readonly Write[], events: readonly SeenEvent[]): void {
    const types = { create: 'ADDED', update: 'MODIFIED', delete: 'DELETED' } as const;
    const wrong = (at: number): boolean => {
      const [write, event] = [expected[at], events[at]];
      if (write === undefined || event === undefined) return true;
      return types[write.kind] !== event.type || write.token !== event.token || (write.revision !== 0 && write.revision !== event.revision);
    };
    for (let at = 0; at < Math.max(expected.length, events.length); at++) {
      if (!wrong(at)) continue;
      const [write, event] = [expected[at], events[at]];
      const said = event === undefined ? 'nothing' : `${event.type} ${event.token} at ${event.revision}`;
      this.fault(
        'watch',
        `${id}: event ${at} is ${said}, expected ${write ? `${write.kind} ${write.token} at ${write.revision}` : 'none'}`,
      );
      return;
    }
  }
}

const same = (known: Known | undefined, item: Loose): boolean =>
  known === undefined
    ? item === undefined
    : item !== undefined && tokenOf(item) === known.token && revisionOf(item) === known.revision && item.metadata.uid === known.uid;
const words = (known: Known | undefined): string => (known === undefined ? 'nothing' : `${known.token} at ${known.revision}`);
const itemWords = (item: Loose): string => (item === undefined ? 'nothing' : `${tokenOf(item)} at ${revisionOf(item)}`);
