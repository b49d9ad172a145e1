/**
 * Field selectors: `metadata.name=a,status.phase!=Running`. Values may hold `,`, `=` and `\` after a backslash. Each kind
 * defines its fields; all have metadata.name and metadata.namespace.
 */
import { badRequest } from './errors.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Maximum requirements of one query; more are refused. */
export const MAX_FIELD_REQUIREMENTS = 5000;

/** All requirements on one field. */
export interface FieldTest {
  readonly field: string;
  /** The value that it must have. */
  readonly value: string | undefined;
  /** Values that it must not have. */
  readonly not: ReadonlySet<string>;
}

export class FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  private grouped: readonly FieldTest[] | 'none' | undefined;

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements;
  }
  /** The requirements by field, each of which is read once; `none`: no object can match. */
  get tests(): readonly FieldTest[] | 'none' {
    this.grouped ??= byField(this.requirements);
    return this.grouped;
  }
  get everything(): boolean {
    return this.requirements.length === 0;
  }
  /** The value that a field must have, if one is required: for an index or a direct lookup. */
  exact(field: string): string | undefined {
    for (const r of this.requirements) if (r.field === field && r.operator === '=') return r.value;
    return undefined;
  }
  /** `read` gives the value of a field of the object; an unset field is the empty text. */
  matches(read: (field: string) => string): boolean {
    const { tests } = this;
    if (tests === 'none') return false;
    for (const test of tests) if (!hasValue(test, read(test.field))) return false;
    return true;
  }
  /** These requirements and one more. */
  and(requirement: FieldRequirement): FieldSelector {
    return new FieldSelector([...this.requirements, requirement]);
  }
  /** The same requirements under other names, for a version with other field names. */
  rename(name: (field: string) => string): FieldSelector {
    return new FieldSelector(this.requirements.map((r) => ({ ...r, field: name(r.field) })));
  }
  toString(): string {
    return this.requirements.map((r) => `${r.field}${r.operator}${escapeFieldValue(r.value)}`).join(',');
  }
}
export const hasValue = ({ value, not }: FieldTest, actualValue: string): boolean =>
  (value === undefined || actualValue === value) && (not.size === 0 || !not.has(actualValue));

function byField(requirements: readonly FieldRequirement[]): readonly FieldTest[] | 'none' {
  const testsByField = new Map<string, { field: string; value: string | undefined; not: Set<string> }>();
  for (const { field, operator, value } of requirements) {
    const test = testsByField.get(field) ?? { field, value: undefined, not: new Set<string>() };
    testsByField.set(field, test);
    if (operator === '!=') test.not.add(value);
    else if (test.value !== undefined && test.value !== value) return 'none';
    else test.value = value;
  }
  return [...testsByField.values()];
}

export const everyField = new FieldSelector([]);

/** Escapes a value for a field selector. */
function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, (c) => `\\${c}`);
}

function unescapeFieldValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  const chars = [...text];
  for (let i = 0; i < chars.length; i++) {
    const c = chars[i] as string;
    if (c === ',' || c === '=') throw badRequest(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`);
    if (c !== '\\') {
      value += c;
      continue;
    }
    const escaped = chars[++i];
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped ?? ''}`);
    }
    value += escaped;
  }
  return value;
}

/** Splits at commas without a preceding backslash. */
const terms = (text: string): string[] => text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];

/** Compiles the text of a `fieldSelector` parameter. Empty terms are skipped. Throws BadRequest with the text of a stock server. */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === '') return everyField;
  const requirements: FieldRequirement[] = [];
  const selectorTerms = terms(text);
  if (selectorTerms.length > MAX_FIELD_REQUIREMENTS)
    throw badRequest(`the field selector has more than ${MAX_FIELD_REQUIREMENTS} requirements`);
  for (const term of selectorTerms.sort()) {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    requirements.push({
      field: match[1] as string,
      operator: match[2] === '!=' ? '!=' : '=',
      value: unescapeFieldValue(match[3] as string),
    });
  }
  return new FieldSelector(requirements);
}

/**
 * Refuses fields that the kind does not have. `selectableFields` are the kind's fields in addition to name and namespace; the error for a kind
 * without any differs, and some kinds have an error of their own (`problem`). Custom kinds without namespaces (`namespaced`) have
 * no namespace field either; built-in ones do, and theirs is empty.
 */
export function checkFieldSelector(
  selector: FieldSelector,
  selectableFields: Readonly<Record<string, unknown>> | undefined,
  problem = selectableFields === undefined ? onlyMetadata : notSupported,
  namespaced = true,
): void {
  for (const { field } of selector.requirements) {
    if (
      field === 'metadata.name' ||
      (namespaced && field === 'metadata.namespace') ||
      (selectableFields !== undefined && Object.hasOwn(selectableFields, field))
    )
      continue;
    throw badRequest(problem(field));
  }
}
const onlyMetadata = (field: string): string =>
  `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
const notSupported = (field: string): string => `field label not supported: ${field}`;
