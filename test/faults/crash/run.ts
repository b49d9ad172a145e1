/**
 * A server on the embedded store is killed again and again while it is written to, and each time it comes back everything is
 * held against what its clients were answered. With `powerLoss` a kill also takes away what was not synced.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Random, seededRandom } from '../../../packages/lib/src/random.ts';
import type { Loose } from '../../support/client.ts';
import { Api, sleep, Unanswered } from '../api.ts';
import { afterPowerLoss, type DirectoryImage, losses, readImage, writeImage } from '../disk/replay.ts';
import { shimEnvironment } from '../disk/shim.ts';
import { type Fault, Ledger, type SeenEvent } from './ledger.ts';
import { change, collections, EVENTS, EventLedger, load, seen } from './load.ts';

export interface CrashOptions {
  readonly seed: number;
  /** Runs until both are reached, or for `seconds`. */
  readonly kills: number;
  readonly writes: number;
  readonly seconds: number;
  readonly writers?: number;
  /** Longest time that a server is written to before it is killed. */
  readonly loadMs?: number;
  /** A server is killed when fewer writes than this were acknowledged, so that time does not decide how many; absent: by time alone. */
  readonly loadWrites?: number;
  readonly eventTtlMs?: number;
  readonly powerLoss?: boolean;
  /** The disk says that it has written what it has not: faults must be found. */
  readonly lying?: boolean;
  /** Path of the compiled shim; without it kills come at random times only. */
  readonly shim?: string | undefined;
  readonly directory: string;
  /** The program, `dist/plat.js`. */
  readonly program: string;
  progress?(figures: CrashFigures): void;
}
export interface CrashFigures {
  readonly seed: number;
  readonly powerLoss: boolean;
  kills: number;
  readonly killsBy: Record<KillMode, number>;
  acknowledgedWrites: number;
  unansweredWrites: number;
  /** Writes that a power loss took or tore, of all disk calls. */
  undurableWrites: number;
  diskCalls: number;
  checks: number;
  /** Of these, checks of histories that had been forgotten by then. */
  historiesForgotten: number;
  lost: number;
  resurrected: number;
  revisionFaults: number;
  watchFaults: number;
  otherFaults: number;
  seconds: number;
  faults: Fault[];
}
/** `disk`: at a chosen call to the store's files. */
type KillMode = 'start' | 'load' | 'disk';
const TOKEN = 'crash-token';
const EVENT_TTL_MS = 5_000;
const START_MS = 60_000;
const MOST_LOAD_MS = 1_000;
/** More faults than this end a run. */
const MOST_FAULTS = 20;
/** A kill during a start comes within this. */
const MOST_START_MS = 500;

interface Plan {
  readonly mode: KillMode;
  readonly afterMs: number;
  readonly afterWrites: number;
  readonly retention: string;
  readonly killAt?: { count: number; file: string; half: boolean };
}

export async function runCrashes(options: CrashOptions): Promise<CrashFigures> {
  const run = new CrashRun(options);
  try {
    return await run.all();
  } finally {
    run.end();
  }
}

class CrashRun {
  readonly #options: CrashOptions;
  readonly #random: Random;
  readonly #ledger = new Ledger();
  readonly #events: EventLedger;
  readonly #dataDir: string;
  readonly #tokens: string;
  readonly #log: string;
  readonly #figures: CrashFigures;
  /** Of each collection: the revision of the last check, from which its history is read. */
  readonly #checkedAt = new Map<string, number>();
  /** What watches saw before the server was killed; the history must begin with it. */
  readonly #live = new Map<string, SeenEvent[]>();
  #child: ChildProcess | undefined;
  #image: DirectoryImage = new Map();
  #marker = 0;

  constructor(options: CrashOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#events = new EventLedger(options.eventTtlMs ?? EVENT_TTL_MS);
    this.#dataDir = join(options.directory, 'data');
    this.#log = join(options.directory, 'calls');
    this.#tokens = join(options.directory, 'tokens.csv');
    mkdirSync(this.#dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(this.#tokens, `${TOKEN},crash,crash-uid,"system:masters"\n`, { mode: 0o600 });
    this.#figures = {
      seed: options.seed,
      powerLoss: options.powerLoss === true,
      kills: 0,
      killsBy: { start: 0, load: 0, disk: 0 },
      acknowledgedWrites: 0,
      unansweredWrites: 0,
      undurableWrites: 0,
      diskCalls: 0,
      checks: 0,
      historiesForgotten: 0,
      lost: 0,
      resurrected: 0,
      revisionFaults: 0,
      watchFaults: 0,
      otherFaults: 0,
      seconds: 0,
      faults: [],
    };
  }

  async all(): Promise<CrashFigures> {
    const { kills, writes, seconds, progress } = this.#options;
    const began = performance.now();
    const elapsed = () => (performance.now() - began) / 1_000;
    while ((this.#figures.kills < kills || this.#ledger.acknowledged < writes) && elapsed() < seconds) {
      await this.#cycle(this.#plan());
      this.#count(elapsed());
      progress?.(this.#figures);
      const { faults } = this.#ledger;
      // Of a disk that lies one fault shows enough.
      if (faults.length > (this.#options.lying ? 0 : MOST_FAULTS) || faults.some(({ kind }) => kind === 'start')) break;
    }
    if (!this.#options.lying || this.#ledger.faults.length === 0) await this.#last();
    this.#count(elapsed());
    return this.#figures;
  }

  end(): void {
    this.#child?.kill('SIGKILL');
  }

  #plan(): Plan {
    const { shim, powerLoss, loadMs = MOST_LOAD_MS, loadWrites } = this.#options;
    const dice = this.#random.below(10);
    const retention = this.#random.below(3) === 0 ? '4s' : '10m';
    const mode = dice < 2 && this.#figures.kills > 0 ? 'start' : shim !== undefined && dice < 6 ? 'disk' : 'load';
    const afterWrites = loadWrites === undefined ? Number.POSITIVE_INFINITY : 1 + this.#random.below(loadWrites);
    if (mode === 'start') return { mode, afterMs: this.#random.below(MOST_START_MS), afterWrites, retention };
    const afterMs = loadWrites === undefined ? this.#random.below(loadMs) : loadMs;
    if (mode === 'load') return { mode, afterMs, afterWrites, retention };
    const file = ['store.mdb', 'store.journal', 'store.'][this.#random.below(3)] as string;
    // The first calls belong to the start and its recovery.
    const count = 1 + this.#random.below(this.#random.below(4) === 0 ? 10 : 300);
    return { mode, afterMs: loadMs, afterWrites, retention, killAt: { count, file, half: !powerLoss && this.#random.below(2) === 0 } };
  }

  async #cycle(plan: Plan): Promise<void> {
    if (this.#options.powerLoss) this.#image = readImage(this.#dataDir);
    rmSync(this.#log, { force: true });
    const child = this.#spawn(plan);
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (plan.mode === 'start') await Promise.race([sleep(plan.afterMs), ended]);
    else {
      const address = await this.#ready(child, plan);
      if (address !== undefined) await this.#use(new Api(address, TOKEN), plan, ended);
    }
    child.kill('SIGKILL');
    await ended;
    this.#figures.kills++;
    this.#figures.killsBy[plan.mode]++;
    if (this.#options.powerLoss) this.#losePower();
  }

  /** Checks what is there, then writes until the server is killed. */
  async #use(api: Api, plan: Plan, ended: Promise<void>): Promise<void> {
    const stop = new AbortController();
    try {
      await this.#check(api);
      const watches = collections.map(({ path }) => {
        const events: SeenEvent[] = [];
        this.#live.set(path, events);
        const query = `watch=1&resourceVersion=${this.#checkedAt.get(path)}`;
        return api.watch(`${path}?${query}`, (event) => {
          if (event.type !== 'ERROR' && event.type !== 'BOOKMARK') events.push(seen(event));
        });
      });
      const { random, ledger, events, writers } = { ...this.#parts(), writers: this.#options.writers ?? 32 };
      const loading = load({ api, ledger, events, random, writers, stop: stop.signal });
      await Promise.race([sleep(plan.afterMs), ended, loading, this.#acknowledged(plan.afterWrites, ended)]);
      this.#child?.kill('SIGKILL');
      await Promise.all([loading, ended, ...watches.map(({ done }) => done)]);
    } catch (error) {
      // Killed while it was checked: the next start is checked as well, and for the same.
      if (!(error instanceof Unanswered)) throw error;
    } finally {
      stop.abort();
      api.close();
    }
  }

  /** Resolves when so many more writes are acknowledged, or the server has ended. */
  async #acknowledged(count: number, ended: Promise<void>): Promise<void> {
    const enough = this.#ledger.acknowledged + count;
    let over = false;
    void ended.then(() => {
      over = true;
    });
    while (this.#ledger.acknowledged < enough && !over) await sleep(2);
  }

  #parts() {
    return { random: this.#random, ledger: this.#ledger, events: this.#events };
  }

  async #check(api: Api): Promise<void> {
    for (const namespace of ['crash-a', 'crash-b']) {
      const { status } = await api.send('GET', `/api/v1/namespaces/${namespace}`);
      if (status === 200) continue;
      if (this.#checkedAt.size > 0) this.#ledger.fault('lost', `namespace ${namespace}`);
      await api.ok('POST', '/api/v1/namespaces', { body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } } });
    }
    const found: { path: string; highest: number; list: Loose; history: SeenEvent[] | undefined }[] = [];
    for (const collection of collections) {
      // A write of our own: when its event has come, everything before it has.
      const marker = this.#ledger.tracked(collection.path, `marker-${this.#marker++}`);
      await change({ api, ...this.#parts(), writers: 0, stop: AbortSignal.abort() }, collection, marker);
      const highest = this.#ledger.highest;
      const list = await api.ok('GET', collection.path);
      found.push({ path: collection.path, highest, list, history: await this.#history(api, collection.path, marker.known?.revision ?? 0) });
    }
    const events = await api.ok('GET', EVENTS);
    // Nothing of a check that was cut short counts, so that all of it is asked before any of it is used.
    for (const { path, highest, list, history } of found) {
      this.#checkLive(path, history);
      this.#ledger.check(path, list, history, highest);
      this.#checkedAt.set(path, Number(list.metadata.resourceVersion));
      this.#live.delete(path);
      if (history === undefined) this.#figures.historiesForgotten++;
    }
    this.#events.check(this.#ledger, events, Date.now());
    this.#figures.checks++;
  }

  /** The events after the last check up to a revision; undefined when the server has forgotten them. */
  async #history(api: Api, path: string, until: number): Promise<SeenEvent[] | undefined> {
    const after = this.#checkedAt.get(path);
    if (after === undefined) return undefined;
    if (until > 0 && until <= after) {
      // No event after the last check would ever reach it.
      this.#ledger.fault('revision', `${path}: a write got the revision ${until}, and ${after} had been seen`);
      return undefined;
    }
    const events: SeenEvent[] = [];
    let code = 200;
    await new Promise<void>((resolve, reject) => {
      const finish = () => {
        watch.close();
        resolve();
      };
      const take = (event: Loose) => {
        if (event.type === 'BOOKMARK') return;
        if (event.type === 'ERROR') {
          code = event.object.code;
          return finish();
        }
        const one = seen(event);
        if (one.revision <= until) events.push(one);
        if (one.revision >= until) finish();
      };
      const watch = api.watch(`${path}?watch=1&resourceVersion=${after}`, take, (status) => {
        code = status;
        finish();
      });
      void watch.done.then(() => reject(new Unanswered('the watch ended')));
    });
    if (code !== 200 && code !== 410) this.#ledger.fault('watch', `${path} after ${after}: ${code}`);
    return code === 200 ? events : undefined;
  }

  /** What a watch saw before the kill was durable: the history begins with the same. */
  #checkLive(path: string, history: readonly SeenEvent[] | undefined): void {
    const live = this.#live.get(path);
    if (live === undefined || history === undefined) return;
    live.forEach((event, index) => {
      const now = history[index];
      if (now?.revision === event.revision && now.name === event.name && now.type === event.type && now.token === event.token) return;
      const said = `${event.type} ${event.name} at ${event.revision}`;
      this.#ledger.fault('watch', `${path}: a watch had seen ${said}; the history has ${now?.type} ${now?.name} at ${now?.revision}`);
    });
  }

  #losePower(): void {
    const random = this.#random;
    const loss = losses[random.below(losses.length)] as (typeof losses)[number];
    const log = existsSync(this.#log) ? readFileSync(this.#log) : Buffer.alloc(0);
    const result = afterPowerLoss(this.#image, log, { loss, random, ...(this.#options.lying && { lying: true }) });
    this.#figures.undurableWrites += result.undurable;
    this.#figures.diskCalls += result.calls;
    writeImage(this.#dataDir, result.files);
  }

  /** At the end everything is there once more, and events go when their time is over. */
  async #last(): Promise<void> {
    const child = this.#spawn({ mode: 'load', afterMs: 0, afterWrites: 0, retention: '10m' });
    const address = await this.#ready(child, undefined);
    if (address === undefined) return;
    const api = new Api(address, TOKEN);
    try {
      await this.#check(api);
      for (const deadline = Date.now() + this.#events.ttlMs + 20_000; ; await sleep(250)) {
        const { items } = await api.ok('GET', EVENTS);
        const left = items.filter((item: Loose) => this.#events.events.has(item.metadata.name));
        if (left.length === 0) break;
        if (Date.now() > deadline) {
          this.#ledger.fault('resurrected', `${left.length} events outlive their time`);
          break;
        }
      }
    } finally {
      api.close();
      child.kill('SIGKILL');
    }
  }

  #spawn({ retention, killAt }: Plan): ChildProcess {
    const { shim, program, powerLoss } = this.#options;
    const args = ['--store', 'lmdb', '--identity', 'kubernetes', '--secure-port', '0', '--data-dir', this.#dataDir];
    const more = ['--token-auth-file', this.#tokens, '--history-retention', retention, '--event-ttl', `${this.#events.ttlMs / 1_000}s`];
    const range = ['--service-cluster-ip-range', '10.0.0.0/16', '--runtime-config', 'explain.k8s.io/v1alpha1=true'];
    const plan = { directory: this.#dataDir, ...(powerLoss && { log: this.#log }), ...(killAt && { killAt }) };
    const env = { ...process.env, ...(shim !== undefined && shimEnvironment(shim, plan)) };
    this.#child = spawn(process.execPath, [program, 'server', ...args, ...more, ...range], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return this.#child;
  }

  /** The address; undefined when the plan killed it before. Anything else that keeps it from starting is a fault. */
  #ready(child: ChildProcess, plan: Plan | undefined): Promise<string | undefined> {
    return new Promise((resolve) => {
      let output = '';
      let ready = false;
      const timer = setTimeout(() => {
        this.#ledger.fault('start', `not ready after ${START_MS} ms: ${output.slice(-1_000)}`);
        child.kill('SIGKILL');
        resolve(undefined);
      }, START_MS);
      const read = (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
        const address = /ready at (https:\/\/\S+)/.exec(output)?.[1];
        if (address === undefined) return;
        clearTimeout(timer);
        ready = true;
        resolve(address);
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        if (ready) return;
        if (plan?.killAt === undefined || signal !== 'SIGKILL') {
          this.#ledger.fault('start', `ended with ${code ?? signal}: ${output.slice(-1_000)}`);
        }
        resolve(undefined);
      });
    });
  }

  #count(seconds: number): void {
    const { faults, acknowledged, unanswered } = this.#ledger;
    const of = (...kinds: string[]) => faults.filter(({ kind }) => kinds.includes(kind)).length;
    Object.assign(this.#figures, {
      acknowledgedWrites: acknowledged,
      unansweredWrites: unanswered,
      lost: of('lost'),
      resurrected: of('resurrected'),
      revisionFaults: of('revision'),
      watchFaults: of('watch'),
      otherFaults: of('start', 'refused'),
      seconds: Math.round(seconds),
      faults: [...faults],
    });
  }
}
