/**
 * Subscribers of an engine that is the only writer of its store. A subscriber is *behind* while it reads history, a slice
 * a turn of the event loop; in the turn in which it has read everything it becomes *live*, and from then on is called
 * with every commit as it becomes visible. Nothing is queued for it, so that no limit is needed.
 */

import { inNextTurn } from '@plat-dev/lib/next-turn';
import { type ChangeRecord, FutureRevision, type Subscriber } from '../engine.ts';

export interface ChangeSource {
  /** The newest visible revision. */
  currentRevision(): number;
  /** A bounded number of the changes after a revision, and the last of their revisions. Throws Compacted. */
  slice(after: number): { readonly changes: ChangeRecord[]; readonly revision: number };
}

interface Subscription {
  state: 'behind' | 'live' | 'ended';
  readonly deliver: Subscriber;
  readonly failed: (error: Error) => void;
}

export class Subscriptions {
  readonly #source: ChangeSource;
  /** In the order of subscription, which is the order in which they are called. */
  readonly #all = new Set<Subscription>();

  constructor(source: ChangeSource) {
    this.#source = source;
  }

  get count(): number {
    return this.#all.size;
  }

  subscribe(after: number, deliver: Subscriber, failed: (error: Error) => void): () => void {
    const subscription: Subscription = { state: 'behind', deliver, failed };
    this.#all.add(subscription);
    const newest = this.#source.currentRevision();
    if (after === newest) subscription.state = 'live';
    else if (after > newest) this.#fail(subscription, new FutureRevision(newest));
    else inNextTurn(() => this.#catchUp(subscription, after));
    return () => {
      subscription.state = 'ended';
      this.#all.delete(subscription);
    };
  }

  /** Calls the live subscribers with commits that have just become visible. */
  publish(changes: readonly ChangeRecord[], revision: number): void {
    for (const subscription of this.#all) if (subscription.state === 'live') this.#deliver(subscription, changes, revision);
  }

  /** Ends every subscription. */
  end(error: Error): void {
    for (const subscription of [...this.#all]) this.#fail(subscription, error);
  }

  #catchUp(subscription: Subscription, after: number): void {
    if (subscription.state !== 'behind') return;
    let reached: number;
    try {
      const { changes, revision } = this.#source.slice(after);
      reached = revision;
      this.#deliver(subscription, changes, revision);
    } catch (error) {
      this.#fail(subscription, error as Error);
      return;
    }
    if (subscription.state !== 'behind') return;
    if (reached === this.#source.currentRevision()) subscription.state = 'live';
    else inNextTurn(() => this.#catchUp(subscription, reached));
  }

  #deliver(subscription: Subscription, changes: readonly ChangeRecord[], revision: number): void {
    try {
      subscription.deliver(changes, revision);
    } catch (error) {
      this.#fail(subscription, error as Error);
    }
  }

  /** Fails one subscriber, in a turn of its own so that its reaction does not disturb others. */
  #fail(subscription: Subscription, error: Error): void {
    this.#all.delete(subscription);
    if (subscription.state === 'ended') return;
    subscription.state = 'behind';
    queueMicrotask(() => {
      if (subscription.state === 'ended') return;
      subscription.state = 'ended';
      subscription.failed(error);
    });
  }
}
