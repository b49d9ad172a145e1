/** The selectors of an access review: checked, and read as those of a request are. */
import type { FieldSelectorAttributes, LabelSelectorAttributes, ResourceAttributes } from '@plat-dev/kinds/authorization/schema/v1';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { labelKey, labelValue } from '@plat-dev/meta/names';
import { fieldRequirements, labelRequirements, type SelectorRequirement, type Selectors } from '../selectors.ts';

type Attributes = Partial<FieldSelectorAttributes & LabelSelectorAttributes>;
type Requirement = { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] };

const resourcePath = Path.of('spec', 'resourceAttributes');
/** Maximum requirements of a selector: authorizers look at each of them. */
const MAX_REQUIREMENTS = 1_000;

export function checkSelectors(resource: Partial<ResourceAttributes> | undefined, errors: FieldErrors): void {
  if (resource?.fieldSelector !== undefined) checkOne(resource.fieldSelector, 'fieldSelector', checkField, errors);
  if (resource?.labelSelector !== undefined) checkOne(resource.labelSelector, 'labelSelector', checkLabel, errors);
}

function checkOne(
  selector: Attributes,
  name: string,
  checkKey: (requirement: Requirement, at: Path, errors: FieldErrors) => void,
  errors: FieldErrors,
): void {
  const at = resourcePath.child(name);
  const { rawSelector = '', requirements = [] } = selector;
  if (rawSelector !== '' && requirements.length > 0)
    errors.invalid(at.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements');
  if (rawSelector === '' && requirements.length === 0)
    errors.required(at.child('requirements'), `when ${at} is specified, requirements or rawSelector is required`);
  if (requirements.length > MAX_REQUIREMENTS) {
    errors.tooMany(at.child('requirements'), requirements.length, MAX_REQUIREMENTS);
    return;
  }
  for (const [index, requirement] of requirements.entries()) {
    const each = at.child('requirements').index(index);
    checkValues(requirement, each, errors);
    checkKey(requirement, each, errors);
  }
}

/** Operators of later releases are allowed, and left out. */
function checkValues({ operator, values = [] }: Requirement, at: Path, errors: FieldErrors): void {
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0)
    errors.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'");
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0)
    errors.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}
function checkField({ key = '' }: Requirement, at: Path, errors: FieldErrors): void {
  if (key === '') errors.required(at.child('key'), 'must be specified');
}
function checkLabel({ key = '', values = [] }: Requirement, at: Path, errors: FieldErrors): void {
  for (const problem of labelKey(key)) errors.invalid(at.child('key'), key, problem);
  for (const [index, value] of values.entries())
    for (const problem of labelValue(value)) errors.invalid(at.child('values').index(index), value, problem);
}

interface ReadSelectors {
  readonly selectors?: Selectors;
  /** What was left out. */
  readonly error?: string;
}

/** Those of a review that passed `checkSelectors`. */
export function readSelectors(resource: Partial<ResourceAttributes> | undefined): ReadSelectors {
  if (resource?.fieldSelector === undefined && resource?.labelSelector === undefined) return {};
  const fields = readOne(resource.fieldSelector, fieldRequirements, isReadableField, 'fieldSelector');
  const labels = readOne(resource.labelSelector, labelRequirements, isReadableLabel, 'labelSelector');
  const error = [fields.error, labels.error].filter((text) => text !== undefined).join(', ');
  return {
    selectors: { ...(fields.read.length > 0 && { fields: fields.read }), ...(labels.read.length > 0 && { labels: labels.read }) },
    ...(error !== '' && { error }),
  };
}

/** A field has one value. */
const isReadableField = ({ operator, values }: SelectorRequirement): boolean =>
  (operator === 'In' || operator === 'NotIn') && values.length === 1;
const isReadableLabel = ({ operator }: SelectorRequirement): boolean => ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(operator);

function readOne(
  selector: Attributes | undefined,
  parse: (text: string) => SelectorRequirement[],
  isReadable: (requirement: SelectorRequirement) => boolean,
  name: string,
): { readonly read: readonly SelectorRequirement[]; readonly error?: string } {
  if (selector === undefined) return { read: [] };
  const { rawSelector = '', requirements = [] } = selector;
  const ignored = `${resourcePath.child(name)} ignored due to parse error`;
  if (rawSelector !== '') {
    try {
      return { read: parse(rawSelector) };
    } catch {
      return { read: [], error: ignored };
    }
  }
  const all = requirements.map(({ key = '', operator = '', values = [] }: Requirement) => ({ key, operator, values }));
  const read = all.filter(isReadable);
  if (read.length === all.length) return { read };
  return { read, error: read.length === 0 ? ignored : ignored.replace(' ignored', ' partially ignored') };
}
