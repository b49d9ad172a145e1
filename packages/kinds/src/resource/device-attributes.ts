/** Validation of one attribute of a device: a single value, or a list of values of one type. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { each } from '../validation/each.ts';
import type { DeviceAttribute } from './schema/slices.ts';

const MAX_VALUE_BYTES = 64;
/** Versions as semver.org 2.0.0 has them. */
const number = '(0|[1-9]\\d*)';
const prerelease = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const build = '[0-9a-zA-Z-]+';
const semver = new RegExp(`^${number}\\.${number}\\.${number}(-${prerelease}(\\.${prerelease})*)?(\\+${build}(\\.${build})*)?$`);

/** The list of values, if the attribute has one. */
export const valuesIn = ({ bools, ints, strings, versions }: DeviceAttribute): readonly unknown[] | undefined =>
  bools ?? ints ?? strings ?? versions;

export function validateAttribute(attribute: DeviceAttribute, at: Path, errors: FieldErrors): void {
  if (attribute.string !== undefined) validateText(attribute.string, at.child('string'), errors);
  if (attribute.version !== undefined) validateVersion(attribute.version, at.child('version'), errors);
  each(attribute.strings, at.child('strings'), (text, here) => validateText(text, here, errors));
  each(attribute.versions, at.child('versions'), (text, here) => validateVersion(text, here, errors));
  const count = Object.values(attribute).filter((value) => value !== undefined).length;
  if (count !== 1) errors.invalid(at, count === 0 ? '' : shownAttribute(attribute), 'exactly one value must be specified');
}

function validateText(text: string, at: Path, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > MAX_VALUE_BYTES) errors.tooLong(at, MAX_VALUE_BYTES);
}
function validateVersion(text: string, at: Path, errors: FieldErrors): void {
  // A version that is much too long is not matched, which would take time.
  if (text.length > 10 * MAX_VALUE_BYTES || !semver.test(text))
    errors.invalid(at, text, 'must be a string compatible with semver.org spec 2.0.0');
  validateText(text, at, errors);
}

/** An attribute as errors show it. */
function shownAttribute({ int, bool, string, version, ints, bools, strings, versions }: DeviceAttribute): object {
  const or = <T>(value: T | undefined): T | null => value ?? null;
  return {
    IntValue: or(int),
    BoolValue: or(bool),
    StringValue: or(string),
    VersionValue: or(version),
    IntValues: or(ints),
    BoolValues: or(bools),
    StringValues: or(strings),
    VersionValues: or(versions),
  };
}
