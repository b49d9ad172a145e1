/**
 * Whether a value matches a part: it has every field that the part names, at any depth. Lists must have the same length, and each
 * item must match. Matchers of a test runner (`expect.any(String)`) may stand anywhere in the part.
 *
 *   differences({ spec: { replicas: 2, paused: true } }, { spec: { replicas: 3 } }) → ['.spec.replicas is 2, not 3']
 */

import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';

/** Differences that are listed; a sentence counts the rest. */
const MOST_DIFFERENCES = 10;
/** Longest text of a value within a message. */
const LONGEST_VALUE = 200;

export function differences(value: unknown, part: unknown): string[] {
  const differenceTexts: string[] = [];
  compare(value, part, '', differenceTexts);
  const more = differenceTexts.length - MOST_DIFFERENCES;
  return more <= 0 ? differenceTexts : [...differenceTexts.slice(0, MOST_DIFFERENCES), `${more} more fields differ`];
}

function compare(value: unknown, part: unknown, path: string, differenceTexts: string[]): void {
  if (isAsymmetric(part)) {
    if (!part.asymmetricMatch(value)) differenceTexts.push(`${path || 'it'} is ${valueText(value)}, not ${String(part)}`);
  } else if (part instanceof RegExp && typeof value === 'string') {
    if (!new RegExp(part).test(value)) differenceTexts.push(`${path || 'it'} is ${valueText(value)}, which does not match ${part}`);
  } else if (Array.isArray(part)) {
    if (!Array.isArray(value)) differenceTexts.push(`${path || 'it'} is ${valueText(value)}, not a list`);
    else if (value.length !== part.length)
      differenceTexts.push(`${path || 'it'} has ${value.length} items, not ${part.length}: ${valueText(value)}`);
    else
      part.forEach((item, index) => {
        compare(value[index], item, `${path}[${index}]`, differenceTexts);
      });
  } else if (isRecord(part)) {
    if (!isRecord(value)) differenceTexts.push(`${path || 'it'} is ${valueText(value)}, not ${valueText(part)}`);
    else
      for (const [name, partValue] of Object.entries(part))
        compare(own(value, name), partValue, `${path}${pathStep(name)}`, differenceTexts);
  } else if (!Object.is(value, part)) differenceTexts.push(`${path || 'it'} is ${valueText(value)}, not ${valueText(part)}`);
}

interface Asymmetric {
  asymmetricMatch(value: unknown): boolean;
}
const isAsymmetric = (value: unknown): value is Asymmetric =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Asymmetric>).asymmetricMatch === 'function';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const pathStep = (name: string): string => (/^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`);

/** A value as a message prints it. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = typeof value === 'function' ? `the function ${value.name || '(without a name)'}` : (jsonText(value) ?? String(value));
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`;
}
