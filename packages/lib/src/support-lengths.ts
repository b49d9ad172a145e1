/**
 * How long deprecated features are supported: the rules of the specification's chapter on versioning as data. If a rule has months
 * and releases, the longer time counts.
 *
 *   a beta version deprecated in 1.22    works in 1.22, 1.23 and 1.24, and may be removed in 1.25
 *   a STABLE metric deprecated in 1.22   is shown until 1.24, hidden in 1.25, and may be removed in 1.26
 */
export interface SupportLength {
  readonly months: number;
  readonly releases: number;
}
/** A release comes about every four months. */
const MONTHS_PER_RELEASE = 4;

const none: SupportLength = { months: 0, releases: 0 };
/** It is not removed within a major version. */
const FOREVER: SupportLength = { months: Number.POSITIVE_INFINITY, releases: Number.POSITIVE_INFINITY };

/** By what is deprecated, and its stage. */
export const supportLengths = {
  /** Rule 4a. */
  version: { stable: FOREVER, beta: { months: 9, releases: 3 }, alpha: none },
  /** Rule 5a: flags and commands of users. */
  userFlag: { stable: { months: 12, releases: 2 }, beta: { months: 3, releases: 1 }, alpha: none },
  /** Rule 5b: flags of administrators. */
  adminFlag: { stable: { months: 6, releases: 1 }, beta: { months: 3, releases: 1 }, alpha: none },
  /** Rule 7. */
  behaviour: { stable: { months: 12, releases: 0 } },
  /** Rule 8, by whether the feature became GA or was dropped. */
  gate: { 'beta to stable': { months: 6, releases: 2 }, 'beta to dropped': { months: 3, releases: 1 }, 'alpha to dropped': none },
  /** Rule 9b. */
  metric: { STABLE: { months: 9, releases: 3 }, ALPHA: none },
} as const satisfies Record<string, Record<string, SupportLength>>;

/** For how many releases something works, that of its deprecation included. */
export const releasesOf = ({ months, releases }: SupportLength): number => Math.max(releases, Math.ceil(months / MONTHS_PER_RELEASE));
