/** The object of the page, live: every tab of it shows the same. */
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { effect, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type ApiError, asApiError } from '../api/api-error.ts';
import type { CollectionOptions } from '../api/collection.ts';
import { type ObjectReference, objectPath } from '../api/kinds.ts';
import { type ApiObject, Objects } from '../api/objects.ts';

export type LiveState =
  | { readonly phase: 'loading' }
  /** `isLive` is false where the user may read the object but not watch it. */
  | { readonly phase: 'ready'; readonly value: ApiObject; readonly isLive: boolean }
  /** It was there while the page was open; `value` is what it was last. */
  | { readonly phase: 'deleted'; readonly value: ApiObject }
  | { readonly phase: 'missing' }
  | { readonly phase: 'failed'; readonly error: ApiError };

export interface LiveObjectOptions extends Pick<CollectionOptions, 'api' | 'watches' | 'clock'> {
  readonly object: ObjectReference;
}

export class LiveObject {
  readonly reference: ObjectReference;
  readonly state: Signal<LiveState> = signal<LiveState>({ phase: 'loading' });
  readonly #options: LiveObjectOptions;
  readonly #objects: Objects;
  readonly #stop: () => void;

  /** Watches the object until `close`. */
  constructor(options: LiveObjectOptions) {
    const { object } = options;
    this.reference = object;
    this.#options = options;
    this.#objects = new Objects({
      ...options,
      kind: object.kind,
      namespace: object.namespace,
      fieldSelector: `metadata.name=${object.name}`,
    });
    this.#stop = effect(() => this.#follow());
  }

  /** The newest version, or the last one of a deleted object. */
  get value(): ApiObject | undefined {
    const state = this.state.value;
    return state.phase === 'ready' || state.phase === 'deleted' ? state.value : undefined;
  }

  close(): void {
    this.#stop();
    this.#objects.close();
  }

  #follow(): void {
    const { phase, items, error } = this.#objects;
    const [value] = items.value.values();
    if (phase.value === 'failed' && error.value !== undefined) void this.#readOnce(error.value);
    else if (value !== undefined) this.state.value = { phase: 'ready', value: this.#withType(value), isLive: true };
    else if (phase.value === 'live') this.state.value = withoutObject(this.state.peek());
  }

  /** Items of lists do not say what they are. */
  #withType(value: ApiObject): ApiObject {
    const { group, version, kind } = this.reference.kind;
    return { apiVersion: joinApiVersion(group, version), kind, ...value };
  }

  /** The right to read one object does not always come with that to list. */
  async #readOnce(listError: ApiError): Promise<void> {
    if (listError.code !== 403 && listError.code !== 405) {
      if (this.state.peek().phase !== 'ready') this.state.value = { phase: 'failed', error: listError };
      return;
    }
    try {
      this.state.value = { phase: 'ready', value: await this.#options.api.json<ApiObject>(objectPath(this.reference)), isLive: false };
    } catch (error) {
      const apiError = asApiError(error);
      this.state.value = apiError.code === 404 ? { phase: 'missing' } : { phase: 'failed', error: apiError };
    }
  }
}

function withoutObject(state: LiveState): LiveState {
  if (state.phase === 'ready' || state.phase === 'deleted') return { phase: 'deleted', value: state.value };
  return { phase: 'missing' };
}

export const LiveObjectContext = createContext<LiveObject | undefined>(undefined);

export function useLiveObject(): LiveObject {
  const live = useContext(LiveObjectContext);
  if (live === undefined) throw new Error('a tab is shown outside of the page of an object');
  return live;
}
