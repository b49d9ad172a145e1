/** A label selector of a command line as the object that the API has for it. */

import { FlagError } from '@plat-dev/lib/flags';
import { setOwn } from '@plat-dev/lib/own';
import { type LabelSelector, type LabelSelectorObject, parseLabelSelector } from '@plat-dev/meta/labels';
import type { JsonObject } from '@plat-dev/schema/types';

/** `app=web,tier in (a,b)` → { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] } */
export function selectorObject(text: string): JsonObject & LabelSelectorObject {
  let selector: LabelSelector;
  try {
    selector = parseLabelSelector(text);
  } catch (error) {
    throw new FlagError(`${JSON.stringify(text)} is not a label selector: ${(error as Error).message}`);
  }
  const matchLabels: Record<string, string> = {};
  const matchExpressions: { key: string; operator: string; values?: string[] }[] = [];
  for (const { key, operator, values } of selector.requirements) {
    if (operator === '=' || operator === '==') setOwn(matchLabels, key, values[0] ?? '');
    else if (operator === 'gt' || operator === 'lt') throw new FlagError(`${JSON.stringify(text)}: the API has no selectors with < and >`);
    else matchExpressions.push({ key, operator: operators[operator], ...(values.length > 0 && { values: [...values] }) });
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}
const operators = { in: 'In', notin: 'NotIn', '!=': 'NotIn', exists: 'Exists', '!': 'DoesNotExist' } as const;
