/**
 * Random histories: the same operations run against an engine and against the model, and every answer must agree. A
 * failure prints its seed and the shortest history that shows it; `TEST_SEED=<seed>` replays it and
 * `ENGINE_RUNS=<count>` runs more.
 */

import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect } from 'vitest';
import { check, type EngineFixture, put, type Recording, record, remove, type Scenario } from './engine.suite.tools.ts';
import { CommitConflict, type Engine, type Operation } from './engine.ts';
import { StoreModel } from './model.ts';

const KEYS = ['a', 'a/1', 'a/2', 'a/3', 'ab', 'b', 'b/1'];
/** Written once by each of several commits made at once. */
const OWN_KEYS = ['burst/0', 'burst/1', 'burst/2', 'burst/3', 'burst/4'];
const PREFIXES = ['', 'a', 'a/', 'b', 'c'];

/** The expectation on a key, relative to its revision when the commit is made. */
type Guess = 'none' | 'absent' | 'current' | 'stale';
interface Draft {
  readonly type: 'put' | 'delete' | 'check';
  readonly key: string;
  readonly guess: Guess;
  readonly size: number;
}
/** `back` counts revisions back from the newest; below zero it points to the future. */
type HistoryStep =
  | { readonly do: 'commit'; readonly drafts: readonly (readonly Draft[])[] }
  | { readonly do: 'get'; readonly key: string; readonly back: number }
  | { readonly do: 'range'; readonly prefix: string; readonly from: number; readonly limit: number; readonly back: number }
  | { readonly do: 'changes'; readonly prefix: string; readonly limit: number; readonly back: number }
  | { readonly do: 'subscribe'; readonly back: number }
  | { readonly do: 'compact'; readonly back: number }
  | { readonly do: 'reopen' };

const draft = fc.record<Draft>({
  type: fc.constantFrom('put', 'put', 'put', 'delete', 'check'),
  key: fc.constantFrom(...KEYS),
  guess: fc.constantFrom('none', 'none', 'current', 'current', 'absent', 'stale'),
  size: fc.constantFrom(0, 1, 20, 5_000),
});
const drafts = fc.uniqueArray(draft, { minLength: 1, maxLength: 4, selector: ({ key }) => key });
const back = fc.integer({ min: -1, max: 12 });
const limit = fc.integer({ min: 1, max: 6 });
const step: fc.Arbitrary<HistoryStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('commit' as const), drafts: fc.array(drafts, { minLength: 1, maxLength: OWN_KEYS.length }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('get' as const), key: fc.constantFrom(...KEYS), back }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('range' as const), prefix: fc.constantFrom(...PREFIXES), from: fc.nat(7), limit, back }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('changes' as const), prefix: fc.constantFrom(...PREFIXES), limit, back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('subscribe' as const), back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), back }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

export function randomHistories(scenario: Scenario): void {
  scenario('random histories agree with the model', async (fixture) => {
    const numRuns = Number(process.env.ENGINE_RUNS ?? 15);
    // All runs share one store: the model begins wherever the run before left it, with its keys deleted.
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => runHistory(fixture, steps)),
      { numRuns },
    );
  });
}

interface Run {
  readonly model: StoreModel;
  readonly fixture: EngineFixture;
  readonly subscribers: { seen: Recording; after: number }[];
}

async function runHistory(fixture: EngineFixture, steps: readonly HistoryStep[]): Promise<void> {
  await fixture.engine.commit([...KEYS, ...OWN_KEYS].map((key) => remove(key)));
  const base = fixture.engine.revision;
  await fixture.engine.compact(base);
  const run: Run = { model: new StoreModel(base, base), fixture, subscribers: [] };
  run.subscribers.push({ seen: record(fixture.engine, base), after: base });
  for (const each of steps) await runStep(run, each);
  await settleSubscribers(run);
}

async function runStep(run: Run, step: HistoryStep): Promise<void> {
  const { model, fixture } = run;
  const engine = fixture.engine;
  // Reading before the beginning of this history is no part of it.
  const at = 'back' in step ? Math.max(model.base, model.revision - step.back) : 0;
  switch (step.do) {
    case 'commit':
      return runCommits(engine, model, step.drafts);
    case 'get':
      return agree(
        () => engine.get(step.key, at),
        () => model.get(step.key, at),
      );
    case 'range': {
      const within = KEYS.filter((key) => key.startsWith(step.prefix));
      const request = { prefix: step.prefix, from: within[step.from] ?? step.prefix, limit: step.limit, at };
      return agree(
        () => engine.range(request),
        () => model.range(request),
      );
    }
    case 'changes': {
      const request = { after: at, prefix: step.prefix, limit: step.limit };
      return agree(
        () => engine.changes(request),
        () => model.changes(request),
      );
    }
    case 'subscribe':
      if (at >= model.compacted && at <= model.revision) run.subscribers.push({ seen: record(engine, at), after: at });
      return;
    case 'compact':
      // A subscriber that still catches up would rightly fail; here all shall see everything.
      for (const { seen } of run.subscribers) await seen.reached(model.revision);
      return agree(
        () => engine.compact(at),
        () => model.compact(at),
      );
    case 'reopen':
      await settleSubscribers(run);
      if (fixture.reopen !== undefined) await fixture.reopen();
      run.subscribers.push({ seen: record(fixture.engine, model.revision), after: model.revision });
      return;
  }
}

/** Runs commits at once; the revisions they get say in which order they happened, and the model must allow that order. */
async function runCommits(engine: Engine, model: StoreModel, commits: readonly (readonly Draft[])[]): Promise<void> {
  const operations = commits.map((drafts) => drafts.map((draft) => operationOf(model, draft)));
  // Commits that change nothing use no revision and so have no known order: of several, each writes a key of its own.
  if (operations.length > 1) for (const [index, list] of operations.entries()) list.push(put(OWN_KEYS[index] as string, ''));
  const outcomes = await Promise.allSettled(operations.map((list) => engine.commit(list)));
  const conflicts = new Set<number>();
  const wins: { index: number; revision: number }[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') wins.push({ index, revision: outcome.value.revision });
    else {
      expect(outcome.reason).toBeInstanceOf(CommitConflict);
      conflicts.add(index);
    }
  }
  const strikeExplained = (): void => {
    for (const index of conflicts) if (model.failing(operations[index] as Operation[]) !== undefined) conflicts.delete(index);
  };
  strikeExplained();
  wins.sort((one, other) => one.revision - other.revision);
  for (const { index, revision } of wins) {
    expect(revision).toBe(model.commit(operations[index] as Operation[]));
    strikeExplained();
  }
  expect([...conflicts], 'conflicts that no order of these commits explains').toEqual([]);
  expect(engine.revision).toBe(model.revision);
}

function operationOf(model: StoreModel, { type, key, guess, size }: Draft): Operation {
  const current = model.get(key)?.revision ?? 0;
  const expected = { none: undefined, absent: 0, current, stale: Math.max(1, current - 1) }[guess];
  if (type === 'put') return put(key, Buffer.alloc(size, `${key}@${model.revision}`), expected);
  if (type === 'delete') return remove(key, expected);
  return check(key, expected ?? current);
}

async function agree<T>(real: () => Promise<T>, ideal: () => T): Promise<void> {
  let wanted: T;
  try {
    wanted = ideal();
  } catch (error) {
    await expect(real()).rejects.toMatchObject({ ...(error as Error), name: (error as Error).name });
    return;
  }
  expect(await real()).toEqual(wanted);
}

async function settleSubscribers({ model, subscribers }: Run): Promise<void> {
  for (const { seen, after } of subscribers.splice(0)) {
    await seen.reached(model.revision);
    seen.stop();
    expect(seen.changes).toEqual(model.history(after));
  }
}
