/** Asks for the metrics every ten seconds while the page is visible, and keeps the points of the last hour in the browser's session. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import type { Api } from '../../api/api.ts';
import { type ApiError, asApiError, isAborted } from '../../api/api-error.ts';
import { LONGEST_GAP_MILLIS, type Point, pointOf, readTotals, type Totals } from './metrics.ts';

export const SAMPLE_MILLIS = 10_000;
export const KEPT_MILLIS = 3600_000;
/** An hour of samples, and the gaps between them. */
const MAX_POINTS = (KEPT_MILLIS / SAMPLE_MILLIS) * 2;
const STORAGE_KEY = 'plat-console-metrics';

export interface SamplerOptions {
  readonly api: Pick<Api, 'text'>;
  readonly clock: Clock;
  readonly storage: Pick<Storage, 'getItem' | 'setItem'>;
  readonly isVisible: () => boolean;
  /** Points of another user are not shown. */
  readonly user: string;
}

export class Sampler {
  readonly points: Signal<readonly Point[]>;
  /** Why there are no new points. */
  readonly error: Signal<ApiError | undefined> = signal<ApiError | undefined>(undefined);
  readonly #options: SamplerOptions;
  readonly #abort = new AbortController();
  readonly #cancel: Cancel;
  #newest: Totals | undefined;
  #isBusy = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
    const { clock, user } = options;
    this.points = signal(recentPoints(storedPoints(options.storage, user), clock.now()));
    this.#cancel = clock.every(SAMPLE_MILLIS, () => void this.sample());
    void this.sample();
  }

  close(): void {
    this.#cancel();
    this.#abort.abort();
  }

  /** One sample, unless nobody would see it or the user may not have it. */
  async sample(): Promise<void> {
    const { api, clock, isVisible } = this.#options;
    if (this.#isBusy || !isVisible() || isFinal(this.error.peek())) return;
    this.#isBusy = true;
    try {
      const text = await api.text('/metrics', { accept: 'text/plain', signal: this.#abort.signal });
      this.#add(readTotals(text, clock.now()));
      this.error.value = undefined;
    } catch (error) {
      if (!isAborted(error)) this.error.value = asApiError(error);
    } finally {
      this.#isBusy = false;
    }
  }

  #add(totals: Totals): void {
    const { clock, storage, user } = this.#options;
    const point = pointOf(this.#newest, totals);
    this.#newest = totals;
    const earlier = this.points.peek();
    const newest = earlier.at(-1);
    const gap = newest !== undefined && point.at - newest.at > LONGEST_GAP_MILLIS ? [emptyPoint(newest.at + SAMPLE_MILLIS)] : [];
    this.points.value = recentPoints([...earlier, ...gap, point], clock.now());
    try {
      storage.setItem(STORAGE_KEY, JSON.stringify({ user, points: this.points.peek() }));
    } catch {
      // A full storage loses the points at the next load of the page, and nothing else.
    }
  }
}

/** The user has no right to the metrics, or the server has none. */
const isFinal = (error: ApiError | undefined): boolean => error !== undefined && [401, 403, 404].includes(error.code);

function storedPoints(storage: Pick<Storage, 'getItem'>, user: string): readonly Point[] {
  try {
    const stored = JSON.parse(storage.getItem(STORAGE_KEY) ?? 'null') as { user?: string; points?: readonly Point[] } | null;
    return stored?.user === user && Array.isArray(stored.points) ? stored.points : [];
  } catch {
    return [];
  }
}

function recentPoints(points: readonly Point[], now: number): readonly Point[] {
  return points.filter(({ at }) => at > now - KEPT_MILLIS && at <= now).slice(-MAX_POINTS);
}

function emptyPoint(at: number): Point {
  return {
    at,
    requestRate: null,
    failureRate: null,
    median: null,
    slowest: null,
    waiting: null,
    queued: null,
    objects: null,
    memoryBytes: null,
    processor: null,
  };
}
