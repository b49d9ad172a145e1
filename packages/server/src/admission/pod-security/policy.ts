/**
 * Pod security standards by labels of a namespace: a level and the release whose checks apply, each for
 * denials, the audit log and warnings.
 *
 *   pod-security.<pd>/enforce: baseline        pod-security.<pd>/warn: restricted
 *   pod-security.<pd>/enforce-version: v1.23   (default: latest)
 */

import { own } from '@plat-dev/lib/own';
import type { FieldErrors } from '@plat-dev/meta/field';
import { Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import type { Labels } from '@plat-dev/meta/labels';

export const levels = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof levels)[number];
/** Minor release, or the latest. */
export type Version = number | 'latest';
export interface LevelVersion {
  readonly level: Level;
  readonly version: Version;
}
export const modes = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof modes)[number];
export type Policy = Readonly<Record<Mode, LevelVersion>>;

export const policyText = ({ level, version }: LevelVersion): string => `${level}:${version === 'latest' ? version : `v1.${version}`}`;
export const sameLevelVersion = (a: LevelVersion, b: LevelVersion): boolean => a.level === b.level && a.version === b.version;
export const stricter = (a: Level, b: Level): boolean => levels.indexOf(a) > levels.indexOf(b);
export const isPrivileged = (policy: Policy, ...of: Mode[]): boolean => of.every((mode) => policy[mode].level === 'privileged');

export const allPrivileged: Policy = {
  enforce: { level: 'privileged', version: 'latest' },
  audit: { level: 'privileged', version: 'latest' },
  warn: { level: 'privileged', version: 'latest' },
};

export const labelPrefix = (identity: Identity): string => `pod-security.${identity.domain}/`;

/** Undefined if the text is not a level. */
export const readLevel = (text: string): Level | undefined => levels.find((level) => level === text);
export function readVersion(text: string): Version | undefined {
  if (text === 'latest') return 'latest';
  const match = /^v1\.(0|[1-9][0-9]{0,3})$/.exec(text);
  return match === null ? undefined : Number(match[1]);
}

/**
 * The policy of a namespace. Missing labels take the defaults; an invalid label counts as
 * the strictest level for enforce, as privileged otherwise, and is an error.
 */
export function policyOf(labels: Labels | undefined, defaults: Policy, prefix: string, errors?: FieldErrors): Policy {
  if (labels === undefined) return defaults;
  let policy: Record<Mode, LevelVersion> | undefined;
  for (const { mode, levelLabel, versionLabel } of namesOf(prefix)) {
    const level = own(labels, levelLabel);
    const version = own(labels, versionLabel);
    if (level === undefined && version === undefined) continue;
    const defaultLevel = defaults[mode];
    const fallback = mode === 'enforce' ? 'restricted' : 'privileged';
    const readAs = level === undefined ? defaultLevel.level : readLevel(level);
    const releasedAs = version === undefined ? (level === undefined ? defaultLevel.version : 'latest') : readVersion(version);
    if (readAs === undefined) errors?.invalid(at(levelLabel), level, `must be one of ${levels.join(', ')}`);
    if (releasedAs === undefined) errors?.invalid(at(versionLabel), version, 'must be "latest" or "v1.x"');
    policy ??= { ...defaults };
    policy[mode] = { level: readAs ?? fallback, version: releasedAs ?? 'latest' };
  }
  return policy ?? defaults;
}
const at = (label: string): Path => Path.of('metadata', 'labels').key(label);

interface ModeLabels {
  readonly mode: Mode;
  readonly levelLabel: string;
  readonly versionLabel: string;
}
/** Names of the labels by their prefix, of which a process has one or two: every pod needs them. */
const labelNames = new Map<string, readonly ModeLabels[]>();

function namesOf(prefix: string): readonly ModeLabels[] {
  let names = labelNames.get(prefix);
  if (names === undefined) {
    names = modes.map((mode) => ({ mode, levelLabel: prefix + mode, versionLabel: `${prefix}${mode}-version` }));
    labelNames.set(prefix, names);
  }
  return names;
}
