/**
 * Selectors of a request as authorizers see them. A query of a list, a watch or a deletion of a collection has them as text; an access
 * review as text or as requirements:
 *
 *   fieldSelector=spec.nodeName%3Dn1   → { fields: [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }] }
 *
 * What cannot be read is left out: the request is then authorized as the broader one that it would be without it.
 */
import { parseFieldSelector } from '@plat-dev/meta/fields';
import { type LabelOperator, parseLabelSelector } from '@plat-dev/meta/labels';

export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}
/** Absent: none. */
export interface Selectors {
  readonly fields?: readonly SelectorRequirement[];
  readonly labels?: readonly SelectorRequirement[];
}

const labelOperators: Readonly<Partial<Record<LabelOperator, string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/** Throws BadRequest where the text is no selector. */
export const fieldRequirements = (text: string): SelectorRequirement[] =>
  parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));

/** Throws BadRequest where the text is no selector. Comparisons of numbers are left out. */
export const labelRequirements = (text: string): SelectorRequirement[] =>
  parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
    const name = labelOperators[operator];
    return name === undefined ? [] : [{ key, operator: name, values: [...values] }];
  });

/** A longer selector is left out: authorizers read each requirement, and webhooks get all of them. */
const LONGEST = 16 * 1024;

function readable(read: (text: string) => SelectorRequirement[], text: string | undefined): readonly SelectorRequirement[] | undefined {
  if (text === undefined || text === '' || text.length > LONGEST) return undefined;
  try {
    const requirements = read(text);
    return requirements.length === 0 ? undefined : requirements;
  } catch {
    // The handler refuses it.
    return undefined;
  }
}

/** The selectors of a query; undefined where it has none. */
export function selectorsIn(query: (name: string) => string | undefined): Selectors | undefined {
  const fields = readable(fieldRequirements, query('fieldSelector'));
  const labels = readable(labelRequirements, query('labelSelector'));
  if (fields === undefined && labels === undefined) return undefined;
  return { ...(fields && { fields }), ...(labels && { labels }) };
}

/** Whether the selectors require one value of a field. */
export const requiresField = (selectors: Selectors | undefined, field: string, value: string): boolean =>
  selectors?.fields?.some(
    ({ key, operator, values }) => key === field && operator === 'In' && values.length === 1 && values[0] === value,
  ) === true;
