/**
 * Skipped tests, compared with the list of those that may be (test/skipped.json). A program that is missing by mistake would
 * otherwise go unnoticed: with `CI=true` a skipped test that is not listed fails the run.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

export interface ListedSkip {
  readonly file: string;
  /** How many tests of the file may be skipped. */
  readonly tests: number;
  readonly reason: string;
}

export interface SkipReport {
  readonly skipped: number;
  /** Lines about files that skip more than is listed. */
  readonly unlisted: readonly string[];
}

/** `skips`: the number of skipped tests by file, where it is not 0. */
export function compareSkips(skips: ReadonlyMap<string, number>, list: readonly ListedSkip[]): SkipReport {
  const allowed = new Map<string, number>();
  for (const { file, tests } of list) allowed.set(file, (allowed.get(file) ?? 0) + tests);
  const unlisted = [...skips]
    .filter(([file, skipped]) => skipped > (allowed.get(file) ?? 0))
    .map(([file, skipped]) => `${file}: ${skipped} tests are skipped, ${allowed.get(file) ?? 0} are listed`);
  return { skipped: [...skips.values()].reduce((sum, count) => sum + count, 0), unlisted };
}

const root = join(import.meta.dirname, '../..');
const LIST = 'test/skipped.json';
export const listedSkips = (): readonly ListedSkip[] => JSON.parse(readFileSync(join(root, LIST), 'utf8')) as ListedSkip[];

export interface SkipListOptions {
  readonly list: readonly ListedSkip[];
  /** Whether a test that is skipped without being listed fails the run. */
  readonly isStrict: boolean;
  readonly print: (line: string) => void;
  readonly fail: () => void;
}

/** Strict in CI on Linux: the list is about what Debian has and lacks. */
export const isStrictIn = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean => env.CI === 'true' && platform === 'linux';

const ofThisRun = (): SkipListOptions => ({
  list: listedSkips(),
  isStrict: isStrictIn(process.env, process.platform),
  print: console.log,
  fail: () => {
    process.exitCode = 1;
  },
});

export class SkipListReporter implements Reporter {
  readonly #options: SkipListOptions;
  #vitest: Pick<Vitest, 'config'> | undefined;

  constructor(options: SkipListOptions = ofThisRun()) {
    this.#options = options;
  }

  onInit(vitest: Pick<Vitest, 'config'>): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Tests that are left out by their name are skipped, too.
    if (this.#vitest?.config.testNamePattern !== undefined) return;
    const { list, isStrict, print, fail } = this.#options;
    const { skipped, unlisted } = compareSkips(skipsOf(modules), list);
    print(`${skipped} tests skipped; ${unlisted.length === 0 ? `all stand in ${LIST}` : `not in ${LIST}:`}`);
    for (const line of unlisted) print(`  ${line}`);
    if (unlisted.length > 0 && isStrict) fail();
  }
}

function skipsOf(modules: readonly TestModule[]): Map<string, number> {
  const skips = new Map<string, number>();
  for (const { moduleId, children } of modules) {
    const file = relative(root, moduleId).replaceAll('\\', '/');
    const skipped = [...children.allTests('skipped')].length;
    // A file that runs in two projects counts once.
    if (skipped > 0) skips.set(file, Math.max(skipped, skips.get(file) ?? 0));
  }
  return skips;
}
