/** Evaluates a pod against a level of a release. */
import { baseline } from './baseline.ts';
import type { Check, Examined, Rule } from './checks.ts';
import type { Level, LevelVersion, Version } from './policy.ts';
import { restricted } from './restricted.ts';
import type { Violation } from './words.ts';

/** Checks of a level and release, in the order of their messages. Made when they are first needed. */
const rulesByKey = new Map<string, readonly Rule[]>();
/** Servers of releases before have the checks of this one. */
const OLDEST = 24;

/** A server has the checks of its own release, and of those before. */
function rulesOf(level: Level, version: Version, serverRelease: number): readonly Rule[] {
  if (level === 'privileged') return [];
  const newest = Math.max(serverRelease, OLDEST);
  const release = version === 'latest' ? newest : Math.min(version, newest);
  const key = `${level}/${release}`;
  let rules = rulesByKey.get(key);
  if (rules === undefined) {
    rules = level === 'baseline' ? select(baseline, release) : restrictedRules(release);
    rulesByKey.set(key, rules);
  }
  return rules;
}

function restrictedRules(release: number): Rule[] {
  const own = restricted.filter((check) => ruleAt(check, release) !== undefined);
  const replaced = new Set(own.flatMap(({ replaces }) => replaces ?? []));
  return [
    ...select(
      baseline.filter(({ id }) => !replaced.has(id)),
      release,
    ),
    ...select(own, release),
  ];
}

const select = (checks: readonly Check[], release: number): Rule[] => checks.flatMap((check) => ruleAt(check, release) ?? []);
const ruleAt = ({ since }: Check, release: number): Rule | undefined => since.findLast(([from]) => from <= release)?.[1];

export function violations({ level, version }: LevelVersion, pod: Examined): Violation[] {
  return rulesOf(level, version, pod.release).flatMap((rule) => rule(pod) ?? []);
}
export const reasonsText = (violations: readonly Violation[]): string => violations.map(({ reason }) => reason).join(', ');
export const detailsText = (violations: readonly Violation[]): string =>
  violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
