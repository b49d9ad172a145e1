/** Small rules that many kinds share. Each reports into `errors`; a path is made into text only when it is reported. */

import { equal } from '@plat-dev/lib/equal';
import type { Integer } from '@plat-dev/lib/integers';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import {
  dns1123Label,
  dns1123Subdomain,
  immutableProblem,
  negativeProblem,
  type Problems,
  percentage,
  portName,
  portNumber,
  qualifiedName,
} from '@plat-dev/meta/names';
import { intOrStringText, invalidText } from './go-text.ts';

/** Reports every error of a value. */
export function report(errors: FieldErrors, at: Path, value: unknown, problems: Problems): void {
  for (const text of problems) errors.invalid(at, value, text);
}

/** A number that may be left out but not be negative. `at` is the message around it. */
export function notNegative(value: Integer | undefined, at: Path, field: string, errors: FieldErrors): void {
  if (value !== undefined && value < 0) errors.invalid(at.child(field), value, negativeProblem);
}

/** A required text. */
export function required(value: string | undefined, at: Path, field: string, errors: FieldErrors): void {
  if (value === undefined || value === '') errors.required(at.child(field));
}

/** One of some words; an empty one is reported as required. */
export function word(value: string | undefined, allowed: readonly string[], at: Path, errors: FieldErrors): void {
  if (value === undefined || value === '') errors.required(at);
  else if (!allowed.includes(value)) errors.notSupported(at, value, allowed);
}

export function label(value: string, at: Path, errors: FieldErrors): void {
  report(errors, at, value, dns1123Label(value));
}
export function subdomain(value: string, at: Path, errors: FieldErrors): void {
  report(errors, at, value, dns1123Subdomain(value));
}
export function qualified(value: string, at: Path, errors: FieldErrors): void {
  report(errors, at, value, qualifiedName(value));
}

/** A field that keeps its first value. `valueText` prints the new value if a stock server does not print it as JSON. */
export function immutable(value: unknown, old: unknown, at: Path, errors: FieldErrors, valueText?: () => string): void {
  if (equal(value, old)) return;
  if (valueText === undefined) errors.invalid(at, value, immutableProblem);
  else invalidText(errors, at, valueText(), immutableProblem);
}

export function portOrName(value: number | string, at: Path, errors: FieldErrors): void {
  report(errors, at, value, typeof value === 'number' ? portNumber(value) : portName(value));
}

// ---- amounts that are a number or a percentage -------------------------------------------------------------------

/** `5` or `25%`. */
export function amountOrPercentage(value: number | string, at: Path, errors: FieldErrors): void {
  if (typeof value === 'number') {
    if (value < 0) errors.invalid(at, value, negativeProblem);
  } else for (const text of percentage(value)) invalidText(errors, at, intOrStringText(value), text);
}

const asPercentage = (value: number | string): number | undefined =>
  typeof value === 'string' && percentage(value).length === 0 ? Number(value.slice(0, -1)) : undefined;

export function atMostAll(value: number | string, at: Path, errors: FieldErrors): void {
  const percent = asPercentage(value);
  if (percent !== undefined && percent > 100) invalidText(errors, at, intOrStringText(value), 'must not be greater than 100%');
}

/** The number, or that of the percentage; a text that is neither counts as 0. */
export function amountOf(value: number | string): number {
  if (typeof value === 'number') return value;
  return asPercentage(value) ?? (/^[+-]?[0-9]+$/.test(value) ? Number(value) : 0);
}
