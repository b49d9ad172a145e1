/** Whole objects of a kind, live: for pages that show a few of them with more than a table has. */
import { type Signal, signal } from '@preact/signals';
import { acceptAs } from './accept.ts';
import type { ApiError } from './api-error.ts';
import type { CollectionOptions, CollectionPhase } from './collection.ts';
import { collectionPath } from './kinds.ts';
import { type ListPage, listWatch } from './list-watch.ts';
import type { WatchEvent } from './watch-connection.ts';

/** What every object has; kinds add to it. */
export interface ApiObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly {
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly uid: string;
      readonly controller?: boolean;
    }[];
  };
}
interface List<T> extends ListPage {
  readonly items?: readonly T[] | null;
}

export interface ObjectsOptions extends CollectionOptions {
  /** More are not kept. */
  readonly maximum?: number;
  /** Spec, status and data are neither asked for nor sent. */
  readonly isMetadataOnly?: boolean;
}
const USUAL_MAXIMUM = 5000;
const metadataOnly = { accept: acceptAs('PartialObjectMetadataList'), watchAccept: acceptAs('PartialObjectMetadata') };

/** Objects by uid. A new map for each change, so that it can be used as a value. */
export class Objects<T extends ApiObject = ApiObject> {
  readonly phase: Signal<CollectionPhase> = signal<CollectionPhase>('listing');
  readonly error: Signal<ApiError | undefined> = signal<ApiError | undefined>(undefined);
  readonly items: Signal<ReadonlyMap<string, T>> = signal<ReadonlyMap<string, T>>(new Map());
  readonly isTruncated: Signal<boolean> = signal(false);
  readonly #stop: () => void;

  /** Lists and watches until `close`. */
  constructor(options: ObjectsOptions) {
    const { api, watches, clock, kind, namespace, labelSelector, fieldSelector, maximum = USUAL_MAXIMUM, isMetadataOnly } = options;
    let listed = new Map<string, T>();
    this.#stop = listWatch<List<T>>({
      api,
      watches,
      clock,
      path: collectionPath(kind, kind.isNamespaced ? namespace : undefined),
      query: { labelSelector: labelSelector || undefined, fieldSelector: fieldSelector || undefined },
      ...(isMetadataOnly === true ? metadataOnly : {}),
      canWatch: kind.verbs.includes('watch'),
      onStart: () => {
        listed = new Map();
        this.phase.value = 'listing';
      },
      onPage: ({ items, metadata }) => {
        for (const item of items ?? []) listed.set(item.metadata.uid, item);
        this.isTruncated.value = listed.size >= maximum && Boolean(metadata?.continue);
        return listed.size < maximum;
      },
      onListed: () => {
        this.items.value = listed;
        this.error.value = undefined;
        this.phase.value = 'live';
      },
      onEvents: (events) => this.#apply(events as readonly WatchEvent<T>[], maximum),
      onError: (error) => {
        this.error.value = error;
        this.phase.value = 'failed';
      },
    });
  }

  close(): void {
    this.#stop();
  }

  #apply(events: readonly WatchEvent<T>[], maximum: number): void {
    const items = new Map(this.items.peek());
    for (const { type, object } of events) {
      if (type === 'BOOKMARK') continue;
      if (type === 'DELETED') items.delete(object.metadata.uid);
      else if (items.size < maximum || items.has(object.metadata.uid)) items.set(object.metadata.uid, object);
      else this.isTruncated.value = true;
    }
    this.items.value = items;
  }
}
