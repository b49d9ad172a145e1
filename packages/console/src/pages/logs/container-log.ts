/**
 * The log of one container, followed: where its stream ends while the container runs, it is read on from the last line.
 *
 *   reading ──end──▶ waiting ──after a delay──▶ reading
 *      └──end, and the container does not run──▶ ended
 */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import type { Api, Query } from '../../api/api.ts';
import { type ApiError, asApiError, isAborted } from '../../api/api-error.ts';
import { splitLine } from './log-line.ts';

export type LogState =
  | { readonly phase: 'reading' | 'ended' }
  /** It is asked for again. */
  | { readonly phase: 'waiting'; readonly error: ApiError | undefined }
  | { readonly phase: 'failed'; readonly error: ApiError };

export interface NewLine {
  readonly time: string;
  readonly text: string;
}

export interface ContainerLogOptions {
  readonly api: Pick<Api, 'fetch'>;
  readonly clock: Pick<Clock, 'after'>;
  /** Of the subresource: `/api/v1/namespaces/default/pods/web/log`. */
  readonly path: string;
  readonly container: string;
  /** The run before the present one, which is not followed. */
  readonly isPrevious: boolean;
  /** Lines to begin with. */
  readonly tailLines: number;
  /** Whether the container runs now, so that more lines may come. */
  readonly isRunning: () => boolean;
  readonly onLines: (lines: readonly NewLine[]) => void;
}

const FIRST_RETRY_MILLIS = 1000;
const LONGEST_RETRY_MILLIS = 15_000;
/** A line without an end is shown in pieces of this size. */
export const LONGEST_LINE = 2 * 1024 * 1024;

export class ContainerLog {
  readonly state: Signal<LogState> = signal<LogState>({ phase: 'reading' });
  readonly #options: ContainerLogOptions;
  readonly #abort = new AbortController();
  #cancelRetry: Cancel | undefined;
  #failures = 0;
  /** The time of the newest line, and how many lines have it: what is read on begins with them. */
  #newest = { time: '', count: 0 };
  /** Lines of that time which came before. */
  #toSkip = { time: '', count: 0 };

  /** Reads until `close`. */
  constructor(options: ContainerLogOptions) {
    this.#options = options;
    void this.#read();
  }

  close(): void {
    this.#abort.abort();
    this.#cancelRetry?.();
  }

  /** The container may run again: a log that has ended goes on. */
  resume(): void {
    if (this.state.peek().phase === 'ended' && this.#options.isRunning() && !this.#options.isPrevious) void this.#read();
  }

  async #read(): Promise<void> {
    const { api, path, container, isPrevious, tailLines } = this.#options;
    const isContinued = this.#newest.time !== '';
    this.#toSkip = { ...this.#newest };
    this.state.value = { phase: 'reading' };
    const query: Query = {
      container,
      timestamps: true,
      ...(isPrevious ? { previous: true } : { follow: true }),
      ...(isContinued ? { sinceTime: new Date(secondOf(this.#newest.time) * 1000).toISOString().replace('.000Z', 'Z') } : { tailLines }),
    };
    const linesBefore = this.#newest;
    try {
      const response = await api.fetch(path, { query, accept: '*/*', signal: this.#abort.signal });
      await this.#readStream(response);
      if (this.#abort.signal.aborted) return;
      if (this.#newest !== linesBefore) this.#failures = 0;
      if (isPrevious || !this.#options.isRunning()) this.state.value = { phase: 'ended' };
      else this.#retry(undefined);
    } catch (failure) {
      if (this.#abort.signal.aborted || isAborted(failure)) return;
      // A stream that was cut off fails with an error of the browser.
      const error = asApiError(failure);
      // 400: the container waits to start. All else but 4xx may be over soon.
      const mayPass = error.code === 0 || error.code === 429 || error.code >= 500 || (error.code === 400 && !isPrevious);
      if (mayPass) this.#retry(error);
      else this.state.value = { phase: 'failed', error };
    }
  }

  #retry(error: ApiError | undefined): void {
    this.state.value = { phase: 'waiting', error };
    const delay = Math.min(FIRST_RETRY_MILLIS * 2 ** Math.min(this.#failures++, 10), LONGEST_RETRY_MILLIS);
    this.#cancelRetry = this.#options.clock.after(delay, () => void this.#read());
  }

  async #readStream(response: Response): Promise<void> {
    if (response.body === null) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const partial: string[] = [];
    let partialLength = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = decoder.decode(value, { stream: true }).split('\n');
      const rest = parts.pop() as string;
      if (parts.length > 0) {
        parts[0] = partial.splice(0).join('') + parts[0];
        partialLength = 0;
        this.#give(parts);
      }
      partial.push(rest);
      partialLength += rest.length;
      if (partialLength > LONGEST_LINE) {
        this.#give([partial.splice(0).join('')]);
        partialLength = 0;
      }
    }
    const end = partial.join('') + decoder.decode();
    if (end !== '') this.#give([end]);
  }

  #give(texts: readonly string[]): void {
    const lines = texts
      .map((text) => splitLine(text.endsWith('\r') ? text.slice(0, -1) : text))
      .filter(({ time }) => !this.#isRepeated(time));
    for (const { time } of lines) {
      if (time === '') continue;
      const isSame = time === this.#newest.time || compareTimes(time, this.#newest.time) === 0;
      this.#newest = isSame ? { time, count: this.#newest.count + 1 } : { time, count: 1 };
    }
    if (lines.length > 0 && !this.#abort.signal.aborted) this.#options.onLines(lines);
  }

  /** What is read on begins with the second of the newest line, of which lines are there already. */
  #isRepeated(time: string): boolean {
    const { time: newest, count } = this.#toSkip;
    if (newest === '' || time === '') return false;
    const order = compareTimes(time, newest);
    if (order < 0) return true;
    if (order > 0 || count === 0) {
      this.#toSkip = { time: '', count: 0 };
      return false;
    }
    this.#toSkip = { time: newest, count: count - 1 };
    return true;
  }
}

/** By fractions of a second as well, of which some servers leave zeros at the end out. */
function compareTimes(one: string, other: string): number {
  const order = secondOf(one) - secondOf(other);
  if (order !== 0) return order;
  const [a, b] = [fractionOf(one), fractionOf(other)];
  return a < b ? -1 : a > b ? 1 : 0;
}
const secondOf = (time: string): number => Math.floor(Date.parse(time) / 1000);
const fractionOf = (time: string): string => (/\.(\d+)/.exec(time)?.[1] ?? '').padEnd(9, '0');
