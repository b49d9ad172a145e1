/**
 * Three servers on three members of etcd, used by clients and watches while everything fails that can; then what they saw is
 * held against the rules (`checker.ts`, `rules.ts`).
 */
import { type Random, seededRandom } from '../../../packages/lib/src/random.ts';
import { sleep } from '../api.ts';
import { checkObject } from './checker.ts';
import { COLLECTION, Histories, NAMESPACE, type ObjectHistory, runClient } from './clients.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { injectFaults } from './faults.ts';
import { checkRules, type Violation } from './rules.ts';
import { Watcher } from './watcher.ts';

export interface HistoriesOptions extends ClusterOptions {
  readonly seed: number;
  /** The longest that it takes. */
  readonly seconds: number;
  /** How many faults end it; without this time alone does. */
  readonly faults?: number;
  readonly clients?: number;
  readonly watches?: number;
  /** Mean pause of a client between two operations. */
  readonly pauseMs?: number;
  progress?(figures: HistoriesFigures): void;
}
export interface HistoriesFigures {
  readonly seed: number;
  seconds: number;
  operations: number;
  unknownOutcomes: number;
  acknowledgedWrites: number;
  objects: number;
  lists: number;
  watches: number;
  watchEvents: number;
  bookmarks: number;
  resumes: number;
  expiredWatches: number;
  faults: Record<string, number>;
  violations: Violation[];
}

/** How long everything has to come back at the end. */
const RECOVERY_MS = 60_000;

export async function runHistories(options: HistoriesOptions): Promise<HistoriesFigures> {
  const cluster = await startCluster(options);
  try {
    return await new HistoriesRun(cluster, options).all();
  } finally {
    await cluster.stop();
  }
}

class HistoriesRun {
  readonly #cluster: Cluster;
  readonly #options: HistoriesOptions;
  readonly #random: Random;
  readonly #histories = new Histories();
  readonly #watchers: Watcher[];
  readonly #violations: Violation[] = [];
  #objects = 0;

  constructor(cluster: Cluster, options: HistoriesOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const { watches = 3 } = options;
    this.#watchers = Array.from({ length: watches }, (_, id) => new Watcher(id, cluster.servers, this.#random, this.#histories));
  }

  async all(): Promise<HistoriesFigures> {
    const { clients = 6, pauseMs = 20, seconds } = this.#options;
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await this.#cluster.servers[0]?.api?.ok('POST', '/api/v1/namespaces', { body });
    const [load, watching] = [new AbortController(), new AbortController()];
    const watches = this.#watchers.map((watcher) => watcher.run(watching.signal));
    const using = Array.from({ length: clients }, () =>
      runClient({ histories: this.#histories, servers: this.#cluster.servers, random: this.#random, stop: load.signal, pauseMs }),
    );
    const breaking = injectFaults(this.#cluster, this.#random, load.signal, this.#options.faults);
    const began = performance.now();
    const elapsed = () => Math.round((performance.now() - began) / 1_000);
    const failed = Promise.race([breaking, ...using]).then(() => 'ended' as const);
    while (elapsed() < seconds && this.#violations.length === 0) {
      if ((await Promise.race([sleep(1_000), failed])) === 'ended') break;
      this.#checkClosed();
      this.#options.progress?.(this.#figures(elapsed(), {}));
    }
    load.abort();
    const counts = await breaking;
    await Promise.all(using);
    await this.#settle();
    watching.abort();
    await Promise.all(watches);
    for (const history of this.#histories.active) this.#checkOne(history);
    this.#checkClosed();
    const records = this.#watchers.flatMap((watcher) => watcher.records);
    this.#violations.push(...checkRules(records, this.#histories.lists, this.#histories.writes));
    return this.#figures(elapsed(), counts);
  }

  /** Objects that nobody uses any more. */
  #checkClosed(): void {
    for (const history of this.#histories.closing) {
      if (history.pending > 0) continue;
      this.#histories.closing.delete(history);
      this.#checkOne(history);
    }
  }

  #checkOne({ name, operations }: ObjectHistory): void {
    this.#objects++;
    const verdict = checkObject(operations, this.#histories.revisions);
    if (verdict.result === 'violation') this.#violations.push({ rule: 'object', text: `${name}: ${verdict.text}`, operations });
    if (verdict.result === 'undecided') this.#violations.push({ rule: 'undecided', text: `${name}: ${operations.length} operations` });
  }

  /** When nothing fails any more, every server answers and every watch comes up to the newest revision. */
  async #settle(): Promise<void> {
    const deadline = performance.now() + RECOVERY_MS;
    let newest = 0;
    for (const server of this.#cluster.servers) {
      for (;;) {
        const name = `k-last-${server.index}`;
        const start = performance.now();
        const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { token: name } };
        const answer = await server.api?.send('POST', COLLECTION, { body, timeoutMs: 5_000 }).catch(() => undefined);
        if (answer?.status === 201) {
          const revision = Number(answer.body.metadata.resourceVersion);
          newest = Math.max(newest, revision);
          this.#histories.writes.push({ name, token: name, revision, start, end: performance.now() });
        }
        if (answer?.status === 201 || answer?.status === 409) break;
        if (performance.now() > deadline) {
          this.#violations.push({ rule: 'behind', text: `${server.name} does not answer: ${answer?.status} ${server.crashed ?? ''}` });
          return;
        }
        await sleep(100);
      }
    }
    while (this.#watchers.some(({ reached }) => reached < newest)) {
      if (performance.now() > deadline) {
        const behind = this.#watchers.map(({ reached }) => reached).join(', ');
        this.#violations.push({ rule: 'behind', text: `watches reached ${behind} of ${newest}` });
        return;
      }
      await sleep(50);
    }
  }

  #figures(seconds: number, faults: Record<string, number>): HistoriesFigures {
    const records = this.#watchers.flatMap((watcher) => watcher.records);
    const events = records.reduce((sum, record) => sum + record.events.length, 0);
    const sum = (of: (watcher: Watcher) => number) => this.#watchers.reduce((all, watcher) => all + of(watcher), 0);
    return {
      seed: this.#options.seed,
      seconds,
      operations: this.#histories.operations,
      unknownOutcomes: this.#histories.unknown,
      acknowledgedWrites: this.#histories.writes.length,
      objects: this.#objects,
      lists: this.#histories.lists.length,
      watches: records.length,
      watchEvents: events,
      bookmarks: records.reduce((all, record) => all + record.events.filter(({ type }) => type === 'BOOKMARK').length, 0),
      resumes: sum(({ resumes }) => resumes),
      expiredWatches: sum(({ expired }) => expired),
      faults,
      violations: this.#violations,
    };
  }
}
