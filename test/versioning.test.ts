/** The promises of docs/versioning.md: its tables agree with the data, and each promise has the test that it names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allLifetimes } from '../packages/kinds/src/releases.ts';
import { releasesOf, type SupportLength, supportLengths } from '../packages/lib/src/support-lengths.ts';
import { minorOf } from '../packages/lib/src/version.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/versioning.md'), 'utf8');

/** Rows of the table whose head begins with these cells. */
function rowsOf(...head: string[]): string[][] {
  const lines = page.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const at = lines.findIndex((cells) => head.every((text, i) => cells[i] === text));
  expect(at, head.join(' | ')).toBeGreaterThan(-1);
  const end = lines.findIndex((cells, i) => i > at && cells.length === 0);
  return lines.slice(at + 2, end < 0 ? undefined : end);
}

const shown = ({ months, releases }: SupportLength): string => {
  if (months === Number.POSITIVE_INFINITY) return 'never within a major';
  if (months === 0) return '0';
  return releases === 0 ? `${months} months` : `${months} months, ${releases} release${releases === 1 ? '' : 's'}`;
};

test('the page and the table of support lengths agree', () => {
  const { version, userFlag, adminFlag, behaviour, gate, metric } = supportLengths;
  expect(rowsOf('what', 'stable', 'beta', 'alpha')).toEqual([
    ['version of an API', shown(version.stable), shown(version.beta), shown(version.alpha)],
    ['flag or command for users', shown(userFlag.stable), shown(userFlag.beta), shown(userFlag.alpha)],
    ['flag for administrators', shown(adminFlag.stable), shown(adminFlag.beta), shown(adminFlag.alpha)],
    ['behaviour', shown(behaviour.stable), '', ''],
    ['gate of a feature that became GA', '', shown(gate['beta to stable']), ''],
    ['gate of a feature that was dropped', '', shown(gate['beta to dropped']), shown(gate['alpha to dropped'])],
    ['metric', shown(metric.STABLE), '', shown(metric.ALPHA)],
  ]);
});

test('of months and releases the longer time counts', () => {
  expect(releasesOf({ months: 9, releases: 3 })).toBe(3);
  expect(releasesOf({ months: 12, releases: 2 })).toBe(3);
  expect(releasesOf({ months: 3, releases: 1 })).toBe(1);
  expect(releasesOf({ months: 0, releases: 0 })).toBe(0);
});

test('no version is removed before its time, or in favour of a less stable one', () => {
  const levels = ['alpha', 'beta', 'stable'] as const;
  const levelOf = (version: string): (typeof levels)[number] =>
    version.includes('alpha') ? 'alpha' : version.includes('beta') ? 'beta' : 'stable';
  const rank = (apiVersion: string): number => levels.indexOf(levelOf(apiVersion));
  const walked = new Set<string>();
  for (const [key, { deprecated, removed, replacement }] of allLifetimes()) {
    const level = levelOf(key);
    walked.add(level);
    if (replacement !== undefined) expect(rank(replacement), `${key} → ${replacement}`).toBeGreaterThanOrEqual(rank(key));
    if (removed === undefined) continue;
    const least = releasesOf(supportLengths.version[level]);
    // What was never deprecated worked until it was removed, which is for alpha versions alone.
    const releases = deprecated === undefined ? 0 : minorOf(removed) - minorOf(deprecated);
    expect(releases, `${key} was deprecated in ${deprecated} and removed in ${removed}`).toBeGreaterThanOrEqual(least);
  }
  expect([...walked].sort()).toEqual([...levels].sort());
});

test.each(rowsOf('promise', 'test'))('%s', (_, cell = '') => {
  const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(cell) ?? [];
  expect(readFileSync(join(root, file), 'utf8')).toContain(title);
});
