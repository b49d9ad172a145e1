/** The logs of the chosen containers of a pod as one, live. */
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { type Signal, signal } from '@preact/signals';
import type { Api } from '../../api/api.ts';
import { ContainerLog, type NewLine } from './container-log.ts';
import { LineStore } from './line-store.ts';
import type { LogLine } from './log-line.ts';

export interface PodLogOptions {
  readonly api: Pick<Api, 'fetch'>;
  readonly clock: Pick<Clock, 'after' | 'now'>;
  readonly path: string;
  readonly containers: readonly string[];
  readonly isPrevious: boolean;
  readonly tailLines: number;
  readonly isRunning: (container: string) => boolean;
}

/** Lines come in bursts, and the page is drawn once for each. */
const GATHER_MILLIS = 50;

export class PodLog {
  readonly lines: Signal<readonly LogLine[]> = signal<readonly LogLine[]>([]);
  /** Older lines were there, but were dropped. */
  readonly isTruncated: Signal<boolean> = signal(false);
  readonly logs: readonly { readonly container: string; readonly log: ContainerLog }[];
  readonly #options: Omit<PodLogOptions, 'containers' | 'isRunning'>;
  readonly #store = new LineStore();
  #arrived: LogLine[] = [];
  #lastId = 0;
  #cancel: Cancel | undefined;

  /** Reads until `close`. */
  constructor({ containers, isRunning, ...options }: PodLogOptions) {
    this.#options = options;
    this.logs = containers.map((container) => ({
      container,
      log: new ContainerLog({
        ...options,
        container,
        isRunning: () => isRunning(container),
        onLines: (lines) => this.#add(container, lines),
      }),
    }));
  }

  close(): void {
    this.#cancel?.();
    for (const { log } of this.logs) log.close();
  }

  /** Containers that run again are read on. */
  resume(): void {
    for (const { log } of this.logs) log.resume();
  }

  /** Everything that the server still has of each log. */
  async downloads(): Promise<readonly { readonly container: string; readonly text: Blob }[]> {
    const { api, path, isPrevious } = this.#options;
    return Promise.all(
      this.logs.map(async ({ container }) => {
        const query = { container, timestamps: true, ...(isPrevious && { previous: true }) };
        return { container, text: await (await api.fetch(path, { query, accept: '*/*' })).blob() };
      }),
    );
  }

  #add(container: string, lines: readonly NewLine[]): void {
    for (const { time, text } of lines) {
      const at = time === '' ? this.#options.clock.now() : Date.parse(time);
      this.#arrived.push({ id: ++this.#lastId, container, time, at, text });
    }
    this.#cancel ??= this.#options.clock.after(GATHER_MILLIS, () => {
      this.#cancel = undefined;
      this.#store.add(this.#arrived.splice(0));
      this.lines.value = this.#store.lines;
      this.isTruncated.value = this.#store.isTruncated;
    });
  }
}
