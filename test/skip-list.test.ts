/** Which tests may be skipped: those of the list, with a reason, and no more of a file than it says. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestModule, Vitest } from 'vitest/node';
import { compareSkips, isStrictIn, listedSkips, SkipListReporter } from './support/skip-list.ts';

const listed = (tests: number) => [{ file: 'a.test.ts', tests, reason: 'there is none' }];

test('what is listed may be skipped, and less than that', () => {
  expect(compareSkips(new Map([['a.test.ts', 3]]), listed(3))).toEqual({ skipped: 3, unlisted: [] });
  expect(compareSkips(new Map([['a.test.ts', 1]]), listed(3))).toEqual({ skipped: 1, unlisted: [] });
  expect(compareSkips(new Map(), listed(3))).toEqual({ skipped: 0, unlisted: [] });
  expect(compareSkips(new Map([['a.test.ts', 3]]), [...listed(1), ...listed(2)])).toEqual({ skipped: 3, unlisted: [] });
});

test('more than what is listed is named', () => {
  const skips = new Map([
    ['a.test.ts', 4],
    ['b.test.ts', 1],
  ]);
  expect(compareSkips(skips, listed(3))).toEqual({
    skipped: 5,
    unlisted: ['a.test.ts: 4 tests are skipped, 3 are listed', 'b.test.ts: 1 tests are skipped, 0 are listed'],
  });
});

/** What a run prints that skips 4 tests of a file where 3 are listed, and whether it fails. */
function reportOf({ isStrict, testNamePattern }: { isStrict: boolean; testNamePattern?: RegExp }): { lines: string[]; failures: number } {
  const report = { lines: [] as string[], failures: 0 };
  const reporter = new SkipListReporter({
    list: listed(3),
    isStrict,
    print: (line) => report.lines.push(line),
    fail: () => report.failures++,
  });
  reporter.onInit({ config: { testNamePattern } } as Pick<Vitest, 'config'>);
  const skippedTests = function* (state?: string) {
    if (state === 'skipped') yield* [1, 2, 3, 4];
  };
  const module = { moduleId: join(import.meta.dirname, '..', 'a.test.ts'), children: { allTests: skippedTests } };
  reporter.onTestRunEnd([module, module] as unknown as TestModule[]);
  return report;
}

test('a run that skips more than is listed says so, and fails where it is strict', () => {
  const lines = ['4 tests skipped; not in test/skipped.json:', '  a.test.ts: 4 tests are skipped, 3 are listed'];
  expect(reportOf({ isStrict: true })).toEqual({ lines, failures: 1 });
  expect(reportOf({ isStrict: false })).toEqual({ lines, failures: 0 });
});

test('a run of tests by their name is not compared', () => {
  expect(reportOf({ isStrict: true, testNamePattern: /a/ })).toEqual({ lines: [], failures: 0 });
});

test('CI on Linux is strict', () => {
  expect([isStrictIn({ CI: 'true' }, 'linux'), isStrictIn({}, 'linux'), isStrictIn({ CI: 'true' }, 'win32')]).toEqual([true, false, false]);
});

test('the list names files that exist, and a reason for each', () => {
  for (const { file, tests, reason } of listedSkips()) {
    expect([file, existsSync(join(import.meta.dirname, '..', file))]).toEqual([file, true]);
    expect([file, tests > 0, reason.length > 10]).toEqual([file, true, true]);
  }
});
