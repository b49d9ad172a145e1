/** The vocabulary of the behaviour suite of the engines. */
import type { TestContext } from 'vitest';
import type { ChangeRecord, Engine, Entry, Operation, RangeResult } from './engine.ts';
import type { HistoryPolicy } from './history.ts';

/** An engine over an empty store, and what the suite may do with it. */
export interface EngineFixture {
  /** The engine now open; `reopen` replaces it. */
  engine: Engine;
  /** For an engine that keeps its data: closes it, opens the same data again and puts the new one into `engine`. */
  readonly reopen?: () => Promise<Engine>;
  /** Lets time pass for the engine; without this the suite waits until enough real time has passed. */
  readonly advance?: (milliseconds: number) => Promise<void>;
  /** History is written apart from the versions of the store: there is none of keys without a rule, nor of those that expire. */
  readonly hasSeparateHistory?: boolean;
  /** Called after the test, when the engine is closed. */
  readonly dispose?: () => Promise<void> | void;
}
export type ScenarioTest = (fixture: EngineFixture, context: TestContext) => Promise<void>;
export type Scenario = (title: string, run: ScenarioTest, options?: SuiteOptions) => void;
/** Options of the engine under test. */
export interface SuiteOptions {
  readonly history?: HistoryPolicy;
}

export const bytes = (value: string | Buffer): Buffer => (typeof value === 'string' ? Buffer.from(value) : value);
export const text = (entry: Entry | ChangeRecord | undefined): string | undefined => entry?.value?.toString('latin1');

export function put(key: string, value: string | Buffer, expect?: number, ttlSeconds?: number): Operation {
  return {
    type: 'put',
    key,
    value: bytes(value),
    ...(expect === undefined ? {} : { expect }),
    ...(ttlSeconds === undefined ? {} : { ttlSeconds }),
  };
}
export function remove(key: string, expect?: number): Operation {
  return expect === undefined ? { type: 'delete', key } : { type: 'delete', key, expect };
}
export function check(key: string, expect: number): Operation {
  return { type: 'check', key, expect };
}

export const keysOf = (result: RangeResult): string[] => result.entries.map((entry) => entry.key);
export const pairsOf = (changes: readonly ChangeRecord[]): [string, string, number][] =>
  changes.map((change) => [change.type, change.key, change.revision]);

/** The changes that a subscriber got, and a wait for a revision. */
export interface Recording {
  readonly changes: ChangeRecord[];
  /** One element a delivery: the changes and the revision that came with it. */
  readonly deliveries: { changes: readonly ChangeRecord[]; revision: number }[];
  readonly failures: Error[];
  readonly revision: number;
  /** Resolves when everything up to the revision was delivered; rejects when the subscription failed. */
  reached(revision: number): Promise<void>;
  failed(): Promise<Error>;
  stop(): void;
}

export function record(engine: Engine, after: number): Recording {
  const changes: ChangeRecord[] = [];
  const deliveries: { changes: readonly ChangeRecord[]; revision: number }[] = [];
  const failures: Error[] = [];
  const waiting = new Set<() => void>();
  let known = after;
  const wake = () => {
    for (const call of waiting) call();
  };
  const stop = engine.subscribe(
    after,
    (delivered, revision) => {
      changes.push(...delivered);
      deliveries.push({ changes: delivered, revision });
      known = Math.max(known, revision);
      wake();
    },
    (error) => {
      failures.push(error);
      wake();
    },
  );
  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = () => {
        try {
          const found = find();
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        } catch (error) {
          reject(error);
        }
      };
      waiting.add(look);
      look();
    });
  return {
    changes,
    deliveries,
    failures,
    get revision() {
      return known;
    },
    async reached(revision) {
      await until(() => {
        if (failures[0] !== undefined) throw failures[0];
        return known >= revision ? true : undefined;
      });
    },
    failed: () => until(() => failures[0]),
    stop,
  };
}
