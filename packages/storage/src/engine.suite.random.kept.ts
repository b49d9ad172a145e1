/**
 * Random histories with rules of history: every kept version is exactly what a subscriber saw, and what the rules keep is there. A
 * failure prints its seed; `TEST_SEED=<seed>` replays it and `ENGINE_RUNS=<count>` runs more.
 */
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect } from 'vitest';
import { bytes, type EngineFixture, put, type Recording, record, remove, type Scenario } from './engine.suite.tools.ts';
import type { ChangeRecord, Engine, Operation } from './engine.ts';
import type { HistoryPolicy, HistoryRule, KeptVersion } from './history.ts';

const HOUR_MS = 3_600_000;
const LONG: HistoryRule = { retentionMs: 24 * HOUR_MS, values: true, mostBytesPerKey: 1_000_000 };
/** By the first part of the key. Retentions are so different that steps of time fall between them. */
const RULES = new Map<string, HistoryRule | undefined>([
  ['long', LONG],
  ['hour', { ...LONG, retentionMs: HOUR_MS }],
  ['notes', { ...LONG, values: false }],
  ['few', { ...LONG, mostBytesPerKey: 4_000 }],
  ['never', undefined],
]);
const KEYS = [...RULES.keys()].flatMap((kind) => [`${kind}/a`, `${kind}/b`]);
const ruleOf = (key: string): HistoryRule | undefined => RULES.get(key.split('/')[0] as string);

type Step =
  | { readonly do: 'commit'; readonly writes: readonly { readonly key: string; readonly size: number }[] }
  | { readonly do: 'compact'; readonly back: number }
  | { readonly do: 'pass'; readonly milliseconds: number }
  | { readonly do: 'at'; readonly back: number }
  | { readonly do: 'reopen' };

const write = fc.record({ key: fc.constantFrom(...KEYS), size: fc.constantFrom(-1, 0, 20, 900) });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      writes: fc.uniqueArray(write, { minLength: 1, maxLength: 4, selector: ({ key }) => key }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('compact' as const), back: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), milliseconds: fc.constantFrom(1_000, HOUR_MS / 2, 2 * HOUR_MS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('at' as const), back: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

export function randomKeptVersions(scenario: Scenario): void {
  for (const [title, mostBytes] of [
    ['', 10_000_000],
    [', with few bytes', 8_000],
  ] as const) {
    const history: HistoryPolicy = { id: 'random', ruleOf, mostBytes };
    scenario(
      `every kept version is what a subscriber saw${title}`,
      async (fixture, { skip }) => {
        if (fixture.hasSeparateHistory === true) return skip('history of its own has no versions of keys without a rule');
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), (steps) => new Run(fixture, mostBytes).play(steps)),
          { numRuns: Number(process.env.ENGINE_RUNS ?? 8) },
        );
      },
      { history },
    );
  }
}

/** A change that a subscriber saw, with what the writer noted. */
interface Seen extends ChangeRecord {
  readonly note: string | undefined;
  /** When the test knew of it, on the clock that the test advances. */
  readonly time: number;
}

class Run {
  readonly #fixture: EngineFixture;
  readonly #mostBytes: number;
  readonly #notes = new Map<string, string>();
  readonly #seen: Seen[] = [];
  #subscriber: Recording;
  #base: number;
  #time = 0;

  constructor(fixture: EngineFixture, mostBytes: number) {
    this.#fixture = fixture;
    this.#mostBytes = mostBytes;
    this.#base = fixture.engine.revision;
    this.#subscriber = record(fixture.engine, this.#base);
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.#commit(KEYS.map((key) => remove(key)));
    this.#base = this.#fixture.engine.revision;
    this.#seen.length = 0;
    for (const each of steps) {
      await this.#step(each);
      if (each.do !== 'commit') await this.#check();
    }
    await this.#check();
    this.#subscriber.stop();
  }

  async #step(step: Step): Promise<void> {
    const { engine } = this.#fixture;
    switch (step.do) {
      case 'commit':
        return this.#commit(step.writes.map(({ key, size }) => (size < 0 ? remove(key) : put(key, Buffer.alloc(size, `${this.#time}x`)))));
      case 'compact':
        return engine.compact(Math.max(engine.compacted, engine.revision - step.back));
      case 'pass':
        this.#time += step.milliseconds;
        await this.#fixture.advance?.(step.milliseconds);
        // After long enough the engine compacts by itself, some time after the clock went on.
        return step.milliseconds < HOUR_MS / 2 ? undefined : engine.compact(engine.revision);
      case 'at':
        return this.#checkAt(Math.max(this.#base, engine.revision - step.back));
      case 'reopen':
        if (this.#fixture.reopen === undefined) return;
        this.#subscriber.stop();
        await this.#fixture.reopen();
        this.#subscriber = record(this.#fixture.engine, this.#fixture.engine.revision);
    }
  }

  async #commit(operations: readonly Operation[]): Promise<void> {
    const { engine } = this.#fixture;
    const noted = operations.map((operation, index) => {
      const note = `note ${this.#notes.size + index}`;
      return index % 3 === 2 ? { operation, note: undefined } : { operation: { ...operation, note: bytes(note) } as Operation, note };
    });
    const { revision } = await engine.commit(noted.map(({ operation }) => operation));
    for (const { operation, note } of noted) if (note !== undefined) this.#notes.set(`${revision} ${operation.key}`, note);
    await this.#subscriber.reached(revision);
    for (const change of this.#subscriber.changes.splice(0))
      this.#seen.push({ ...change, note: this.#notes.get(`${change.revision} ${change.key}`), time: this.#time });
  }

  async #check(): Promise<void> {
    const versions = await this.#versions();
    const byPlace = new Map(versions.map((version) => [`${version.revision} ${version.key}`, version]));
    expect(byPlace.size, 'no version comes twice').toBe(versions.length);
    for (const [index, seen] of this.#seen.entries()) {
      const version = byPlace.get(`${seen.revision} ${seen.key}`);
      byPlace.delete(`${seen.revision} ${seen.key}`);
      const next = this.#seen.slice(index + 1).find(({ key }) => key === seen.key);
      this.#checkVersion(seen, seen.type === 'delete' ? seen : next, version);
    }
    expect([...byPlace.keys()], 'versions that nobody saw').toEqual([]);
  }

  /** `end`: what superseded the version. */
  #checkVersion(seen: Seen, end: Seen | undefined, version: KeptVersion | undefined): void {
    const rule = ruleOf(seen.key);
    const { compacted } = this.#fixture.engine;
    const place = `${seen.type} ${seen.key} ${seen.revision}`;
    const isReadable = end === undefined || end.revision > compacted;
    if (version === undefined) {
      expect(isReadable, `${place} is not compacted and must be there`).toBe(false);
      const isSafe = this.#mostBytes > 1_000_000 && !seen.key.startsWith('few/');
      const hasTime = rule !== undefined && this.#time - (end as Seen).time < rule.retentionMs;
      expect(isSafe && hasTime, `${place} must be kept`).toBe(false);
      return;
    }
    expect(isReadable || rule !== undefined, `${place} must not be kept`).toBe(true);
    const { type, key, revision, created, note, value } = version;
    expect({ type, key, revision, created, note: note?.toString() }).toEqual({
      type: seen.type,
      key: seen.key,
      revision: seen.revision,
      created: seen.created,
      note: seen.note,
    });
    if (isReadable || rule?.values === true) expect(value, place).toEqual(seen.value);
    else expect(value, `${place} without its value`).toBeUndefined();
  }

  /** The state at a revision is the newest kept version of each key. */
  async #checkAt(at: number): Promise<void> {
    const newest = new Map<string, KeptVersion>();
    for (const version of (await this.#versions()).reverse()) if (version.revision <= at) newest.set(version.key, version);
    const expected = [...newest.values()].filter(({ type }) => type === 'put').sort((one, other) => (one.key < other.key ? -1 : 1));
    const found: KeptVersion[] = [];
    for (let from: string | undefined = ''; from !== undefined; ) {
      const page: Awaited<ReturnType<Engine['history']['at']>> = await this.#fixture.engine.history.at({ prefix: '', from, at, limit: 3 });
      found.push(...page.versions);
      from = page.next;
    }
    expect(found.filter(({ revision }) => revision > this.#base)).toEqual(expected);
  }

  /** All pages, without those of earlier runs. */
  async #versions(): Promise<KeptVersion[]> {
    const versions: KeptVersion[] = [];
    for (let before: number | undefined = Number.MAX_SAFE_INTEGER; before !== undefined && before > this.#base; ) {
      const page: Awaited<ReturnType<Engine['history']['versions']>> = await this.#fixture.engine.history.versions({
        prefix: '',
        before,
        limit: 50,
      });
      versions.push(...page.versions);
      before = page.next;
    }
    return versions.filter(({ revision }) => revision > this.#base);
  }
}
