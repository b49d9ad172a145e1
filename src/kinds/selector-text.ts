/** A label selector as text, in the form that clients may send back in a query: `app=web,tier in (a,b),!old`. */
import type { LabelSelector, LabelSelectorRequirement } from './meta.ts';

function requirementText({ key, operator, values }: LabelSelectorRequirement): string {
  const list = (): string => `(${[...(values ?? [])].sort().join(',')})`;
  switch (operator) {
    case 'In':
      return `${key} in ${list()}`;
    case 'NotIn':
      return `${key} notin ${list()}`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

/** Requirements are ordered by key. An absent or empty selector gives an empty text. */
export function selectorText(selector: LabelSelector | undefined): string {
  const parts: { key: string; text: string }[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {})) parts.push({ key, text: `${key}=${value}` });
  for (const requirement of selector?.matchExpressions ?? []) parts.push({ key: requirement.key, text: requirementText(requirement) });
  parts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return parts.map((part) => part.text).join(',');
}
