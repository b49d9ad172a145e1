/** A client that lists, watches, and goes on at whatever server there is when its watch ends. */
import type { Random } from '../../../packages/lib/src/random.ts';
import type { Loose } from '../../support/client.ts';
import { sleep } from '../api.ts';
import { COLLECTION, type Histories, isOurs, objectsOf, tokenOf } from './clients.ts';
import type { Server } from './cluster.ts';
import type { WatchEvent, WatchRecord } from './rules.ts';

/** A watch on which nothing comes for so long is begun anew elsewhere. */
const SILENCE_MS = 4_000;

export class Watcher {
  readonly #id: number;
  readonly #servers: readonly Server[];
  readonly #random: Random;
  readonly #histories: Histories;
  readonly #records: { record: WatchRecord; events: WatchEvent[] }[] = [];
  #reached = 0;
  resumes = 0;
  /** Resumes that the server refused because it had forgotten the revision. */
  expired = 0;

  constructor(id: number, servers: readonly Server[], random: Random, histories: Histories) {
    this.#id = id;
    this.#servers = servers;
    this.#random = random;
    this.#histories = histories;
  }

  get records(): WatchRecord[] {
    return this.#records.map(({ record }) => record);
  }
  /** The revision up to which it has everything. */
  get reached(): number {
    return this.#reached;
  }

  async run(stop: AbortSignal): Promise<void> {
    let listed = false;
    while (!stop.aborted) {
      const api = (this.#servers[this.#random.below(this.#servers.length)] as Server).api;
      if (api === undefined) {
        await sleep(50);
        continue;
      }
      if (!listed) {
        const answer = await api.send('GET', COLLECTION, { timeoutMs: 3_000 }).catch(() => undefined);
        listed = answer?.status === 200;
        if (listed) this.#begin(answer?.body);
        else await sleep(100);
        continue;
      }
      this.resumes++;
      listed = await this.#follow(api, stop);
      await sleep(this.#random.below(100));
    }
  }

  #begin(list: Loose): void {
    this.#reached = Number(list.metadata.resourceVersion);
    const events: WatchEvent[] = [];
    const id = `watch${this.#id}.${this.#records.length}`;
    this.#records.push({ record: { id, start: this.#reached, objects: objectsOf(list), events }, events });
  }

  /** Whether the watch can go on where it ended. */
  async #follow(api: NonNullable<Server['api']>, stop: AbortSignal): Promise<boolean> {
    const { events } = this.#records.at(-1) as { events: WatchEvent[] };
    let expired = false;
    let heard = performance.now();
    // Some are ended by the server, which sends a bookmark before it does; others by this client, long before anything fails.
    const seconds = this.#random.below(2) === 0 ? 3 + this.#random.below(6) : 600;
    const watch = api.watch(
      `${COLLECTION}?watch=1&allowWatchBookmarks=true&timeoutSeconds=${seconds}&resourceVersion=${this.#reached}`,
      ({ type, object }: Loose) => {
        heard = performance.now();
        if (type === 'ERROR') {
          expired ||= object.code === 410;
          return;
        }
        const event: WatchEvent = {
          type,
          name: object.metadata.name ?? '',
          token: tokenOf(object),
          revision: Number(object.metadata.resourceVersion),
        };
        this.#reached = Math.max(this.#reached, event.revision);
        if (type !== 'BOOKMARK' && !isOurs(event.name)) return;
        if (type === 'ADDED' || type === 'MODIFIED') this.#histories.revisions.set(event.token, event.revision);
        events.push(event);
      },
      (status) => {
        expired ||= status === 410;
      },
    );
    const silence = setInterval(() => {
      if (performance.now() - heard > SILENCE_MS) watch.close();
    }, 200);
    const ending = () => watch.close();
    stop.addEventListener('abort', ending);
    const early = setTimeout(ending, seconds < 600 ? 2 * seconds * 1_000 : 500 + this.#random.below(8_000));
    await watch.done;
    clearInterval(silence);
    clearTimeout(early);
    stop.removeEventListener('abort', ending);
    if (expired) this.expired++;
    return !expired;
  }
}
