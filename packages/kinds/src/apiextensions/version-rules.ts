/** Validation of the versions of a custom kind, apart from their schemas. */
import { equal } from '@plat-dev/lib/equal';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { each } from '../validation/each.ts';
import type { CustomResourceColumnDefinition, CustomResourceDefinitionVersion, CustomResourceSubresources } from './schema/v1.ts';
import { validateSelectableFields } from './selectable-fields.ts';

/** Which parts are the same in all versions. */
export interface CommonParts {
  readonly schema: boolean;
  readonly subresources: boolean;
  readonly columns: boolean;
  readonly selectable: boolean;
}
export function hoist(versions: readonly CustomResourceDefinitionVersion[]): CommonParts {
  const [first] = versions;
  const same = (partOf: (version: CustomResourceDefinitionVersion) => unknown): boolean =>
    versions.every((version) => equal(partOf(version), first && partOf(first)));
  return {
    schema: same(({ schema }) => schema),
    subresources: same(({ subresources }) => subresources),
    columns: same(({ additionalPrinterColumns }) => additionalPrinterColumns),
    selectable: same(({ selectableFields }) => selectableFields),
  };
}

/**
 * Selectable fields of all versions. Those that are the same in all are validated by the schema that is, as in a stock server: where
 * one of both is the same and the other is not, there is none.
 */
export function validateSelectable(
  versions: readonly CustomResourceDefinitionVersion[],
  old: readonly CustomResourceDefinitionVersion[] | undefined,
  common: CommonParts,
  at: Path,
  errors: FieldErrors,
): void {
  versions.forEach((version, i) => {
    const fields = version.selectableFields ?? [];
    if (fields.length === 0 || (common.selectable && i > 0)) return;
    const place = common.selectable ? at.child('selectableFields') : at.child('versions').index(i).child('selectableFields');
    const schema = version.schema?.openAPIV3Schema;
    const storedVersion = old?.find(({ name }) => name === version.name);
    if (schema === undefined || common.schema !== common.selectable)
      errors.invalid(
        place,
        '',
        common.selectable
          ? 'may only be set when validations.schema is included'
          : 'may only be set when `version.schema.openAPIV3Schema` is not included',
      );
    else
      validateSelectableFields(fields, schema, place, errors, storedVersion !== undefined && equal(fields, storedVersion.selectableFields));
  });
}

const MAX_WARNING = 256;

export function validateDeprecation(version: CustomResourceDefinitionVersion, at: Path, errors: FieldErrors): void {
  const { deprecated = false, deprecationWarning: text } = version;
  if (text === undefined) return;
  if (!deprecated) {
    errors.invalid(at, text, 'can only be set for deprecated versions');
    return;
  }
  if (Buffer.byteLength(text) > MAX_WARNING) errors.invalid(at, text, `must be <= ${MAX_WARNING} characters long`);
  if (text === '') errors.invalid(at, text, 'must not be an empty string');
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text);
  if (odd !== null) {
    const index = Buffer.byteLength(text.slice(0, odd.index));
    errors.invalid(at, text, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export function validateColumns(columns: readonly CustomResourceColumnDefinition[] | undefined, at: Path, errors: FieldErrors): void {
  each(columns, at, ({ name, type, format = '', jsonPath }, here) => {
    if (name === '') errors.required(here.child('name'));
    if (type === '') errors.required(here.child('type'), `must be one of ${columnTypes}`);
    else if (!columnTypes.includes(type)) errors.invalid(here.child('type'), type, `must be one of ${columnTypes}`);
    if (format !== '' && !columnFormats.includes(format)) errors.invalid(here.child('format'), format, `must be one of ${columnFormats}`);
    const path = here.child('JSONPath');
    if (jsonPath === '') errors.required(path);
    else simplePath(jsonPath, path, errors);
  });
}

function simplePath(text: string, at: Path, errors: FieldErrors): boolean {
  if (text.startsWith('.')) return true;
  errors.invalid(at, text, 'must be a simple json path starting with .');
  return false;
}

export function validateSubresources(subresources: CustomResourceSubresources | undefined, at: Path, errors: FieldErrors): void {
  const scale = subresources?.scale;
  if (scale === undefined) return;
  const here = at.child('scale');
  const path = (field: string, text: string, places: readonly string[], problem: string): void => {
    if (simplePath(text, here.child(field), errors) && !places.some((place) => text.startsWith(`${place}.`)))
      errors.invalid(here.child(field), text, problem);
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath = '' } = scale;
  if (specReplicasPath === '') errors.required(here.child('specReplicasPath'));
  else path('specReplicasPath', specReplicasPath, ['.spec'], 'should be a json path under .spec');
  if (statusReplicasPath === '') errors.required(here.child('statusReplicasPath'));
  else path('statusReplicasPath', statusReplicasPath, ['.status'], 'should be a json path under .status');
  if (labelSelectorPath !== '')
    path('labelSelectorPath', labelSelectorPath, ['.spec', '.status'], 'should be a json path under either .spec or .status');
}
