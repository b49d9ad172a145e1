/** Objects of several kinds, live, as one value that changes a moment after they do. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { effect, type Signal, signal } from '@preact/signals';
import type { CollectionOptions } from './collection.ts';
import type { Kind } from './kinds.ts';
import { type ApiObject, Objects, type ObjectsOptions } from './objects.ts';

export interface KindObjects {
  readonly kind: Kind;
  readonly objects: readonly ApiObject[];
  /** The user may not list the kind, or it did not answer. */
  readonly isUnread: boolean;
  /** There are more than are kept. */
  readonly isTruncated: boolean;
}

export type SetOfKind = Pick<ObjectsOptions, 'kind' | 'maximum' | 'isMetadataOnly'>;

export interface SeveralKindsOptions extends Pick<CollectionOptions, 'api' | 'watches' | 'namespace'> {
  readonly clock: Pick<Clock, 'after'>;
  readonly sets: readonly SetOfKind[];
}

/** Changes come in bursts: a deployment of hundreds of pods. */
const SETTLED_MILLIS = 100;

export class SeveralKinds {
  /** Undefined until all kinds were read or failed. */
  readonly content: Signal<readonly KindObjects[] | undefined> = signal<readonly KindObjects[] | undefined>(undefined);
  readonly #sets: readonly (readonly [Kind, Objects])[];
  readonly #clock: Pick<Clock, 'after'>;
  readonly #stop: () => void;
  #cancel: Cancel | undefined;

  /** Lists and watches until `close`. */
  constructor({ sets, clock, ...options }: SeveralKindsOptions) {
    this.#clock = clock;
    this.#sets = sets.map((set) => [set.kind, new Objects({ ...options, ...set, clock })]);
    this.#stop = effect(() => this.#follow());
  }

  close(): void {
    this.#stop();
    this.#cancel?.();
    for (const [, objects] of this.#sets) objects.close();
  }

  #follow(): void {
    // All of them are read, so that a change of any is noticed.
    const unfinished = this.#sets.filter(([, { items, phase }]) => items.value.size === 0 && phase.value === 'listing');
    if (unfinished.length > 0 && this.content.peek() === undefined) return;
    this.#cancel ??= this.#clock.after(SETTLED_MILLIS, () => this.#update());
  }

  #update(): void {
    this.#cancel = undefined;
    this.content.value = this.#sets.map(([kind, { items, phase, isTruncated }]) => ({
      kind,
      objects: [...items.peek().values()],
      isUnread: phase.peek() === 'failed',
      isTruncated: isTruncated.peek(),
    }));
  }
}
