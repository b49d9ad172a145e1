/** Semantic versions: `semver('1.2.3-rc.1')`. */
import { MAX_INT64, toInteger } from '@plat-dev/lib/integers';
import type { Frame } from '../budget.ts';
import { compareVersions } from '../compare-versions.ts';
import { fail } from '../errors.ts';
import { reads } from '../prices.ts';
import { BOOL, INT, SEMVER, STRING } from '../types.ts';
import { SemverValue } from '../values.ts';
import { global, member, type Overload } from './signature.ts';

/** Units of reading a version, and of a part of one that is compared. */
const READ_UNITS = 60;
const PART_UNITS = 10;
/** Longer texts are no versions: so the work of reading one is bounded. */
const MAX_LENGTH = 1000;

const digits = /^\d+$/;
const identifier = /^[0-9A-Za-z-]+$/;
const MAX_UINT64 = 2n ** 64n - 1n;

/** A number without a zero in front. Throws Failure. */
function numberOf(text: string, name: string): bigint {
  if (!digits.test(text)) fail(text === '' ? `${name} number is empty` : `Invalid character(s) found in ${name} number "${text}"`);
  if (text.length > 1 && text.startsWith('0')) fail(`${name} number must not contain leading zeroes "${text}"`);
  const value = BigInt(text.slice(0, 21));
  return value > MAX_UINT64 ? fail(`${name} number "${text}" is out of range`) : value;
}
function identifiers(text: string | undefined, what: string): readonly string[] {
  if (text === undefined) return [];
  return text.split('.').map((part) => {
    if (part === '') fail(`${what} meta data is empty`);
    return identifier.test(part) ? part : fail(`Invalid character(s) found in ${what.toLowerCase()} "${part}"`);
  });
}
/** The text before and after the first of some characters. */
function cut(text: string, character: string): readonly [string, string | undefined] {
  const at = text.indexOf(character);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Throws Failure. */
function parse(text: string): SemverValue {
  if (text === '') fail('Version string empty');
  const [major = '', minor, rest] = splitInThree(text);
  if (minor === undefined || rest === undefined) return fail('No Major.Minor.Patch elements found');
  const [version, build] = cut(rest, '+');
  const [patch, prerelease] = cut(version, '-');
  const numbers = [numberOf(major, 'Major'), numberOf(minor, 'Minor'), numberOf(patch, 'Patch')] as const;
  const parts = identifiers(prerelease, 'Prerelease').map((part) =>
    digits.test(part) ? numberOf(part, 'Numeric PreRelease version') : part,
  );
  identifiers(build, 'Build');
  return new SemverValue(numbers, parts);
}
function splitInThree(text: string): readonly string[] {
  const [major = '', afterMajor] = cut(text, '.');
  if (afterMajor === undefined) return [major];
  const [minor, patch] = cut(afterMajor, '.');
  return patch === undefined ? [major, minor] : [major, minor, patch];
}
/** Without `v` and zeros in front, and with all three numbers. */
function normalized(text: string): string {
  const parts = splitInThree(text.startsWith('v') ? text.slice(1) : text).map((part) =>
    part.length > 1 ? part.replace(/^0+(?=\d)/, '').replace(/^0+$/, '0') : part,
  );
  if (parts.length < 3 && /[+-]/.test(parts[parts.length - 1] as string)) fail('short version cannot contain PreRelease/Build meta data');
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
}

function read(frame: Frame, text: string, normalize = false): SemverValue {
  frame.spend(READ_UNITS);
  if (text.length > MAX_LENGTH) fail('the text is no version: it is too long');
  frame.spendLength(10 * text.length);
  return parse(normalize ? normalized(text) : text);
}
function isSemver(frame: Frame, text: string, normalize = false): boolean {
  try {
    read(frame, text, normalize);
    return true;
  } catch (error) {
    if (error instanceof Error) throw error;
    return false;
  }
}

const comparing =
  <T>(result: (order: number) => T) =>
  (frame: Frame, a: SemverValue, b: SemverValue): T => {
    frame.spend(PART_UNITS * (3 + Math.min(a.prerelease.length, b.prerelease.length)));
    return result(compareVersions(a, b));
  };
const number = (at: 0 | 1 | 2) => (_: Frame, version: SemverValue) => {
  const value = version.numbers[at];
  // Beyond an int it is a negative number in a stock server.
  return toInteger(value > MAX_INT64 ? value - 2n ** 64n : value);
};

export const semverFunctions: readonly Overload[] = [
  global('semver', [STRING], SEMVER, read, reads(0)),
  global('semver', [STRING, BOOL], SEMVER, read, reads(0)),
  global('isSemver', [STRING], BOOL, isSemver, reads(0)),
  global('isSemver', [STRING, BOOL], BOOL, isSemver, reads(0)),
  member('major', [SEMVER], INT, number(0)),
  member('minor', [SEMVER], INT, number(1)),
  member('patch', [SEMVER], INT, number(2)),
  member(
    'isGreaterThan',
    [SEMVER, SEMVER],
    BOOL,
    comparing((order) => order > 0),
  ),
  member(
    'isLessThan',
    [SEMVER, SEMVER],
    BOOL,
    comparing((order) => order < 0),
  ),
  member(
    'compareTo',
    [SEMVER, SEMVER],
    INT,
    comparing((order) => order),
  ),
];
