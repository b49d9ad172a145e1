/**
 * Validation of custom resource definitions. Errors in parts that are the same in all versions name the top-level fields
 * that definitions had before there were versions, as in a stock server.
 */

import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import type { Work } from '@plat-dev/lib/slices';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label, dns1123Subdomain } from '@plat-dev/meta/names';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { each } from '../validation/each.ts';
import { immutable, word } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import { changedMetadataAgain } from '../validation/repeated-metadata.ts';
import { type Allowances, allowancesOf } from './allowances.ts';
import { validateApproval } from './approval.ts';
import { rulesOf } from './cel/rule-form.ts';
import { validateConversion } from './conversion-rules.ts';
import { extensionNames, type JSONSchemaProps } from './schema/json-schema.ts';
import { countParts, eachPart, MAX_COMBINED, MAX_PARTS, type PartCount } from './schema/parts.ts';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from './schema/v1.ts';
import { validateRootSchema } from './schema-rules.ts';
import { boundedWork } from './values/effort.ts';
import type { Extensions } from './values/node.ts';
import { hoist, validateColumns, validateDeprecation, validateSelectable, validateSubresources } from './version-rules.ts';

const root = Path.of('spec');
const storedVersionsPath = Path.of('status', 'storedVersions');

export function validateDefinition(
  definition: CustomResourceDefinition,
  errors: FieldErrors,
  env: KindEnv,
  request?: WriteRequest,
): void | Work<void> {
  const { metadata, spec } = definition;
  const expectedName = `${spec.names.plural}.${spec.group}`;
  for (const field of ['generateName', 'name'] as const) {
    const name = metadata[field] ?? '';
    if (name !== '' && name !== expectedName) errors.invalid(Path.of('metadata', field), name, 'must be spec.names.plural+"."+spec.group');
  }
  if (tooManyParts(spec, undefined, errors)) return;
  return createRules(definition, errors, env, allowancesOf(spec, undefined, env, request));
}
function* createRules(definition: CustomResourceDefinition, errors: FieldErrors, env: KindEnv, allowed: Allowances): Work<void> {
  yield* validateSpecWithin(definition.spec, undefined, errors, env, allowed);
  validateRest(definition, undefined, errors, env, allowed);
}

export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  errors: FieldErrors,
  env: KindEnv,
  request?: WriteRequest,
): void | Work<void> {
  changedMetadataAgain(definition, old, errors);
  if (tooManyParts(definition.spec, old.spec, errors)) return;
  return updateRules(definition, old, errors, env, allowancesOf(definition.spec, old.spec, env, request));
}
function* updateRules(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
  errors: FieldErrors,
  env: KindEnv,
  allowed: Allowances,
): Work<void> {
  const { spec } = definition;
  yield* validateSpecWithin(spec, old.spec, errors, env, allowed);
  if (old.status.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) {
    immutable(spec.scope, old.spec.scope, root.child('scope'), errors);
    immutable(spec.names.kind, old.spec.names.kind, root.child('names').child('kind'), errors);
  }
  immutable(spec.group, old.spec.group, root.child('group'), errors);
  immutable(spec.names.plural, old.spec.names.plural, root.child('names').child('plural'), errors);
  validateRest(definition, old, errors, env, allowed);
}

export function validateDefinitionStatus(definition: CustomResourceDefinition, old: CustomResourceDefinition, errors: FieldErrors): void {
  changedMetadataAgain(definition, old, errors);
  validateNames(definition.status.acceptedNames, Path.of('status', 'acceptedNames'), errors);
}

function validateRest(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  errors: FieldErrors,
  env: KindEnv,
  allowed: Allowances,
): void {
  const { spec, status } = definition;
  validateNames(status.acceptedNames, Path.of('status', 'acceptedNames'), errors);
  validateStoredVersions(status.storedVersions ?? [], spec, errors);
  if (allowed.beta) return;
  validateApproval(definition, old, errors, env.identity);
  if (spec.preserveUnknownFields && !old?.spec.preserveUnknownFields)
    errors.invalid(
      root.child('preserveUnknownFields'),
      true,
      'cannot set to true, set x-preserve-unknown-fields to true in spec.versions[*].schema instead',
    );
}

function validateSpecWithin(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  errors: FieldErrors,
  env: KindEnv,
  allowed: Allowances,
): Work<void> {
  return boundedWork(validateSpec(spec, old, errors, env, allowed), () =>
    errors.invalid(root.child('versions'), '', 'the patterns and defaults of the schemas take too much work to compile: make them smaller'),
  );
}

/** Limits of versions of a definition, columns of a version, short names and categories: each adds to every discovery. */
const MAX_VERSIONS = 100;
const MAX_COLUMNS = 100;
const MAX_NAMES = 100;

function tooLong({ versions = [], names }: CustomResourceDefinitionSpec, errors: FieldErrors): boolean {
  const errorsBefore = errors.list.length;
  const bounded = (list: readonly unknown[] | undefined, most: number, at: Path): void => {
    if ((list?.length ?? 0) > most) errors.tooMany(at, list?.length ?? 0, most);
  };
  bounded(versions, MAX_VERSIONS, root.child('versions'));
  each(versions, root.child('versions'), ({ additionalPrinterColumns }, at) => {
    bounded(additionalPrinterColumns, MAX_COLUMNS, at.child('additionalPrinterColumns'));
  });
  bounded(names.shortNames, MAX_NAMES, root.child('names').child('shortNames'));
  bounded(names.categories, MAX_NAMES, root.child('names').child('categories'));
  return errors.list.length > errorsBefore;
}

/** A definition that was stored with more parts stays writable, so that it can be deleted. */
function tooManyParts(spec: CustomResourceDefinitionSpec, old: CustomResourceDefinitionSpec | undefined, errors: FieldErrors): boolean {
  const { parts, combined } = partsOf(spec);
  if (parts <= MAX_PARTS && combined <= MAX_COMBINED) return false;
  const oldCount = old === undefined ? undefined : partsOf(old);
  if (oldCount !== undefined && parts <= Math.max(oldCount.parts, MAX_PARTS) && combined <= Math.max(oldCount.combined, MAX_COMBINED))
    return false;
  const fault =
    parts > MAX_PARTS
      ? `${parts} parts, at most ${MAX_PARTS} are allowed`
      : `${combined} parts within allOf, anyOf, oneOf and not, at most ${MAX_COMBINED} are allowed`;
  errors.forbidden(root.child('versions'), `the schemas of all versions have ${fault}: make them smaller`);
  return true;
}
function partsOf({ versions = [] }: CustomResourceDefinitionSpec): PartCount {
  const count = { parts: 0, combined: 0 };
  for (const { schema } of versions) if (schema?.openAPIV3Schema !== undefined) countParts(schema.openAPIV3Schema, count);
  return count;
}

function* validateSpec(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  errors: FieldErrors,
  env: KindEnv,
  allowed: Allowances,
): Work<void> {
  const { group, scope, names, versions = [], conversion, preserveUnknownFields = false } = spec;
  const x: Extensions = { ...extensionNames(env.identity.schemaExtensionPrefix), release: env.release };
  if (tooLong(spec, errors)) return;
  validateGroup(group, errors);
  word(scope, ['Cluster', 'Namespaced'], root.child('scope'), errors);
  each(versions, root.child('versions'), ({ schema, served }, at) => {
    if (schema?.openAPIV3Schema !== undefined) return;
    const place = at.child('schema').child('openAPIV3Schema');
    if (!allowed.noSchema) errors.required(place, 'schemas are required');
    else if (served && !preserveUnknownFields) errors.required(place, 'because otherwise all fields are pruned');
  });
  yield;
  const common = hoist(versions);
  yield;
  const isNew = ({ name, schema }: CustomResourceDefinitionVersion): boolean =>
    !equal(schema, old?.versions?.find((version) => version.name === name)?.schema);
  const rules = { release: env.release, storedTexts: ruleTextsOf(old?.versions, x) };
  const hasStatus = versions.some(({ subresources }) => subresources?.status !== undefined);
  for (const [i, version] of versions.entries()) {
    const at = root.child('versions').index(i);
    const problems = dns1035Label(version.name);
    if (problems.length > 0) errors.invalid(at.child('name'), version.name, problems.join());
    validateDeprecation(version, at.child('deprecationWarning'), errors);
    const schema = version.schema?.openAPIV3Schema;
    const place = at.child('schema').child('openAPIV3Schema');
    if (!common.schema && schema !== undefined)
      yield* validateRootSchema(
        schema,
        {
          hasStatus: version.subresources?.status !== undefined,
          isNew: isNew(version),
          isLoose: allowed.isLoose(version),
          noDefaults: allowed.noDefaults,
          rules,
        },
        place,
        x,
        errors,
      );
    if (!common.subresources) validateSubresources(version.subresources, at.child('subresources'), errors);
    if (!common.columns) validateColumns(version.additionalPrinterColumns, at.child('additionalPrinterColumns'), errors);
  }
  validateVersionList(spec, errors);
  validateRequiredNames(names, errors);
  validateNames(names, root.child('names'), errors);
  const [first] = versions;
  const schema = first?.schema?.openAPIV3Schema;
  if (common.schema && schema !== undefined)
    yield* validateRootSchema(
      schema,
      {
        hasStatus,
        isNew: versions.some(isNew),
        isLoose: versions.every((version) => allowed.isLoose(version)),
        noDefaults: allowed.noDefaults,
        rules,
      },
      root.child('validation').child('openAPIV3Schema'),
      x,
      errors,
    );
  if (common.subresources) validateSubresources(first?.subresources, root.child('subresources'), errors);
  if (common.columns) validateColumns(first?.additionalPrinterColumns, root.child('additionalPrinterColumns'), errors);
  validateSelectable(versions, old?.versions, common, root, errors);
  validateConversion(conversion, preserveUnknownFields, root.child('conversion'), errors);
}

/** The expressions of all rules of a definition. */
function ruleTextsOf(versions: readonly CustomResourceDefinitionVersion[] | undefined, x: Extensions): ReadonlySet<string> {
  const texts = new Set<string>();
  const collect = (schema: JSONSchemaProps): void => {
    for (const { rule, messageExpression } of rulesOf(schema, x)) {
      texts.add(rule);
      if (messageExpression !== undefined) texts.add(messageExpression);
    }
    eachPart(schema, collect);
  };
  for (const { schema } of versions ?? []) if (schema?.openAPIV3Schema !== undefined) collect(schema.openAPIV3Schema);
  return texts;
}

function validateGroup(group: string, errors: FieldErrors): void {
  const at = root.child('group');
  const problems = dns1123Subdomain(group);
  if (group === '') errors.required(at);
  else if (problems.length > 0) errors.invalid(at, group, problems.join());
  else if (!group.includes('.')) errors.invalid(at, group, 'should be a domain with at least one dot');
}

function validateVersionList({ versions = [] }: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  const at = root.child('versions');
  const versionsText = (): string => (versions.length === 0 ? '[]apiextensions.CustomResourceDefinitionVersion(nil)' : jsonText(versions));
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    invalidText(errors, at, versionsText(), 'must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1)
    invalidText(errors, at, versionsText(), 'must have exactly one version marked as storage version');
  const [first] = versions;
  if (first === undefined || first.name === '') return;
  const problems = dns1035Label(first.name);
  if (problems.length > 0) errors.invalid(root.child('version'), first.name, problems.join());
}

function validateRequiredNames(names: CustomResourceDefinitionNames, errors: FieldErrors): void {
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const)
    if ((names[field] ?? '') === '') errors.required(root.child('names').child(field));
}

function validateNames(names: CustomResourceDefinitionNames, at: Path, errors: FieldErrors): void {
  const { plural, singular = '', kind, listKind = '', shortNames, categories } = names;
  const label = (value: string, text: string, here: Path, prefix = ''): void => {
    const problems = dns1035Label(text);
    if (problems.length > 0) errors.invalid(here, value, prefix + problems.join());
  };
  const mixed = 'may have mixed case, but should otherwise match: ';
  if (plural !== '') label(plural, plural, at.child('plural'));
  if (singular !== '') label(singular, singular, at.child('singular'));
  if (kind !== '') label(kind, kind.toLowerCase(), at.child('kind'), mixed);
  if (listKind !== '') label(listKind, listKind.toLowerCase(), at.child('listKind'), mixed);
  each(shortNames, at.child('shortNames'), (name, here) => label(name, name, here));
  if (kind !== '' && kind === listKind) errors.invalid(at.child('listKind'), listKind, 'kind and listKind may not be the same');
  each(categories, at.child('categories'), (name, here) => label(name, name, here));
}

/** Versions in which objects may still be stored must stay in the list. */
function validateStoredVersions(names: readonly string[], { versions = [] }: CustomResourceDefinitionSpec, errors: FieldErrors): void {
  if (names.length === 0) {
    invalidText(errors, storedVersionsPath, '[]string(nil)', 'must have at least one stored version');
    return;
  }
  for (const { name, storage } of versions)
    if (storage && !names.includes(name))
      invalidText(errors, storedVersionsPath, goList('string', names), `must have the storage version ${name}`);
  const versionNames = new Set(versions.map((version) => version.name));
  each(names, storedVersionsPath, (name, at, i) => {
    // A repeated one is reported once, at its last index.
    if (!versionNames.has(name) && names.lastIndexOf(name) === i) errors.invalid(at, name, 'must appear in spec.versions');
  });
}
