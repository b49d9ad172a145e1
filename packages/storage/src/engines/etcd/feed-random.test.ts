/**
 * Random histories of two servers. Own commits are answered at any time and in any order, the watch cuts commits into fragments,
 * lookups of deletions take their time or fail, and watches break anywhere: each change is delivered once, in order, with what
 * is known of it.
 */

import { FakeClock } from '@plat-dev/lib/clock';
import { type Random, seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { expect, test } from 'vitest';
import type { ChangeRecord } from '../../engine.ts';
import { Feed, type FeedSource } from './feed.ts';
import { memberStatus } from './messages.ts';
import type { WatchAnswer } from './watch-messages.ts';
import { Reader } from './wire.ts';

const HISTORIES = 200;
const STEPS = 120;
const KEYS = ['a', 'b', 'c', 'd'];
const BASE = 10;

/** An etcd that does one thing at a time, as the test says. */
class Simulated {
  readonly random: Random;
  /** Every change, in order, and the newest revision. */
  readonly changes: ChangeRecord[] = [];
  revision = BASE;
  /** Revisions of this server's commits that are not answered yet. */
  unanswered: number[] = [];
  watch: Watch | undefined;
  /** Lookups of deletions that are not answered yet. */
  lookups: { resolve: () => void; reject: (error: Error) => void }[] = [];
  readonly #alive = new Map<string, number>();

  constructor(random: Random) {
    this.random = random;
  }

  commit(isOwn: boolean): void {
    const revision = ++this.revision;
    // A revision of another program, of which the watch says nothing.
    if (!isOwn && this.random.below(5) === 0) return;
    const keys = KEYS.filter(() => this.random.below(2) === 0);
    for (const key of keys.length > 0 ? keys : ['a']) {
      const created = this.#alive.get(key);
      if (created !== undefined && this.random.below(3) === 0) {
        this.#alive.delete(key);
        this.changes.push({ type: 'delete', key, value: undefined, revision, created });
      } else {
        this.#alive.set(key, created ?? revision);
        this.changes.push({ type: 'put', key, value: Buffer.from(`${key}${revision}`), revision, created: created ?? revision });
      }
    }
    if (isOwn) this.unanswered.push(revision);
  }
  at(revision: number): ChangeRecord[] {
    return this.changes.filter((change) => change.revision === revision);
  }
  source(): FeedSource {
    const connection = {
      ready: async () => ({}),
      deadline: () => 0,
      avoid: () => {},
      sleep: () => Promise.resolve(),
      pauseAfter: () => 0,
      callOn: (_: unknown, method: unknown, request: Buffer) =>
        method === memberStatus
          ? Promise.resolve({ version: '3.5.21' })
          : new Promise<object>((resolve, reject) => {
              const found = this.#lookedUp(request);
              this.lookups.push({ resolve: () => resolve({ reads: found }), reject });
            }),
      stream: (_: unknown, method: { delivered: () => number }) => {
        this.watch = new Watch(this, method.delivered);
        return this.watch;
      },
    };
    return {
      connection,
      clock: new FakeClock(),
      watch: (delivered: () => number) => ({ delivered }),
      root: '/',
      start: '/',
      end: '0',
      currentRevision: async () => this.revision,
      barrier: async () => {},
      own: () => {},
      notice: () => {},
    } as unknown as FeedSource;
  }
  /** The states of keys at the revisions before their deletion. */
  #lookedUp(request: Buffer): { created: number }[] {
    const reads: { created: number }[] = [];
    const operations = new Reader(request);
    while (operations.next() === 2) {
      const operation = operations.nested();
      operation.next();
      const range = operation.nested();
      let [key, at] = ['', 0];
      for (let field = range.next(); field !== 0; field = range.next()) {
        if (field === 1) key = range.text().slice(1);
        else if (field === 4) at = range.number();
        else range.skip();
      }
      const last = this.changes.findLast((change) => change.key === key && change.revision <= at);
      reads.push({ created: last?.created ?? 0 });
    }
    return reads;
  }
}

/** One watch: what was sent of the history, and the messages that the reader has not taken. */
class Watch implements AsyncIterableIterator<WatchAnswer> {
  isOver = false;
  readonly #etcd: Simulated;
  readonly #delivered: () => number;
  #sent = 0;
  #cursor = 0;
  #unread: WatchAnswer[] = [];
  #error: Error | undefined;
  #wake: () => void = () => {};

  constructor(etcd: Simulated, delivered: () => number) {
    this.#etcd = etcd;
    this.#delivered = delivered;
  }
  write(): void {
    if (this.#sent > 0) return;
    this.#sent = this.#delivered() - 1;
    while ((this.#etcd.changes[this.#cursor]?.revision ?? Number.POSITIVE_INFINITY) <= this.#sent) this.#cursor++;
    this.#push({ created: true });
  }
  /** Sends the next changes: whole commits, or a fragment that ends anywhere. */
  send(count: number, isFragment: boolean): void {
    if (this.isOver) return;
    const { changes } = this.#etcd;
    let end = Math.min(changes.length, this.#cursor + count);
    if (!isFragment) while (end > 0 && end < changes.length && changes[end]?.revision === changes[end - 1]?.revision) end++;
    const events = changes.slice(this.#cursor, end);
    if (events.length === 0) return;
    this.#cursor = end;
    this.#push({ events, fragment: isFragment && end < changes.length });
  }
  /** Says that everything was sent; not within fragments. */
  progress(): void {
    if (!this.isOver && this.#cursor === this.#etcd.changes.length) this.#push({ revision: this.#etcd.revision });
  }
  break(): void {
    this.#end(new Error('the connection was lost'));
  }
  cancel(): void {
    this.#end(new Error('cancelled'));
  }
  async next(): Promise<IteratorResult<WatchAnswer, undefined>> {
    while (this.#unread.length === 0 && this.#error === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const value = this.#unread.shift();
    if (value !== undefined) return { done: false, value };
    throw this.#error;
  }
  return(): Promise<IteratorResult<WatchAnswer, undefined>> {
    this.cancel();
    return Promise.resolve({ done: true, value: undefined });
  }
  [Symbol.asyncIterator](): this {
    return this;
  }
  #end(error: Error): void {
    this.isOver = true;
    this.#error ??= error;
    this.#wake();
  }
  /** As watch-messages.ts reads an answer: without what was delivered before it came. */
  #push({ events = [], ...rest }: Partial<WatchAnswer> & { events?: ChangeRecord[] }): void {
    const after = this.#delivered();
    const changes = events
      .filter(({ revision }) => revision > after)
      .map((change): ChangeRecord => (change.type === 'delete' ? { ...change, created: 0 } : change));
    const deletions = changes.filter(({ type }) => type === 'delete').length;
    this.#unread.push({
      revision: 0,
      watch: 0,
      created: false,
      canceled: false,
      compacted: 0,
      reason: '',
      fragment: false,
      own: [],
      newest: events.at(-1)?.revision ?? 0,
      ...rest,
      changes,
      deletions,
    });
    this.#wake();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const shown = ({ type, key, value, revision, created }: ChangeRecord): string =>
  `${revision} ${type} ${key} ${value?.toString() ?? ''} created ${created}`;

async function follow(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const etcd = new Simulated(random);
  const delivered: ChangeRecord[] = [];
  let reached = BASE;
  const wrong: string[] = [];
  const feed = new Feed(
    etcd.source(),
    BASE,
    (changes, revision) => {
      if (revision <= reached) wrong.push(`revision ${revision} after ${reached}`);
      for (const change of changes)
        if (change.revision <= reached || change.revision > revision) wrong.push(`${shown(change)} in (${reached}, ${revision}]`);
      delivered.push(...changes);
      reached = revision;
      const expected = etcd.changes.filter((change) => change.revision <= revision).length;
      if (delivered.length !== expected) wrong.push(`${delivered.length} of ${expected} changes at ${revision}`);
    },
    (error) => wrong.push(error.message),
  );
  const answer = (index: number): void => {
    const [revision] = etcd.unanswered.splice(index, 1);
    if (revision !== undefined) feed.committed(etcd.at(revision), revision);
  };
  const lookUp = (isFailing: boolean): void => {
    const lookup = etcd.lookups.shift();
    if (isFailing) lookup?.reject(new Error('no response'));
    else lookup?.resolve();
  };
  const steps: (() => void)[] = [
    () => etcd.commit(true),
    () => etcd.commit(true),
    () => etcd.commit(false),
    () => answer(random.below(etcd.unanswered.length + 1)),
    () => answer(0),
    () => etcd.watch?.send(1 + random.below(4), random.below(2) === 0),
    () => etcd.watch?.send(1 + random.below(9), false),
    () => etcd.watch?.progress(),
    () => lookUp(random.below(6) === 0),
    () => lookUp(false),
    () => random.below(4) === 0 && etcd.watch?.break(),
  ];
  for (let step = 0; step < STEPS; step++) {
    steps[random.below(steps.length)]?.();
    if (random.below(2) === 0) await turn();
  }
  // The end: everything is answered and sent.
  while (wrong.length === 0 && (reached < etcd.revision || etcd.unanswered.length > 0)) {
    answer(0);
    etcd.watch?.send(100, false);
    etcd.watch?.progress();
    lookUp(false);
    await turn();
  }
  feed.end();
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  expect({ seed, delivered: delivered.map(shown) }).toEqual({ seed, delivered: etcd.changes.map(shown) });
}

test('each change is delivered once, in order', async () => {
  for (let number = 0; number < HISTORIES; number++) await follow(testSeed + number);
});
