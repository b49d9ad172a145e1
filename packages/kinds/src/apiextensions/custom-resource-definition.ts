/** Custom resource definitions. Their schema names its extensions after the identity. */
import { isAtLeast } from '@plat-dev/lib/version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { type Kind, type KindEnv, kind, version } from '../kind.ts';
import { status } from '../subresources.ts';
import { setCondition } from './conditions.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './definition-rules.ts';
import { extensionNames, type JSONSchemaProps } from './schema/json-schema.ts';
import { eachPart } from './schema/parts.ts';
import { type CustomResourceDefinition, customResourceDefinition } from './schema/v1.ts';
import { unrecognizedFormat } from './values/formats.ts';

/** Default names follow from the kind; the default conversion strategy is None. */
function defaults({ spec }: CustomResourceDefinition): void {
  const { names } = spec;
  if ((names.singular ?? '') === '' && names.kind !== '') names.singular = names.kind.toLowerCase();
  if ((names.listKind ?? '') === '' && names.kind !== '') names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

/** Adds the storage version to `status.storedVersions`. */
function rememberStored({ spec, status }: CustomResourceDefinition): void {
  const storage = spec.versions?.find(({ storage }) => storage)?.name;
  if (storage !== undefined && !status.storedVersions?.includes(storage))
    status.storedVersions = [...(status.storedVersions ?? []), storage];
}

/** While their feature is off, rules are dropped from a definition that had none before. */
function dropRules({ spec }: CustomResourceDefinition, old: CustomResourceDefinition | undefined, env: KindEnv): void {
  if (env.feature('CustomResourceValidationExpressions')) return;
  const { validations } = extensionNames(env.identity.schemaExtensionPrefix);
  if (old !== undefined && schemasOf(old).some((schema) => isIn(schema, validations))) return;
  for (const schema of schemasOf({ spec })) dropFrom(schema, validations);
}
function schemasOf({ spec }: Pick<CustomResourceDefinition, 'spec'>): JSONSchemaProps[] {
  return (spec.versions ?? []).flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);
}
function isIn(schema: JSONSchemaProps, field: `x-${string}`): boolean {
  let isThere = schema[field] !== undefined;
  eachPart(schema, (part) => {
    isThere ||= isIn(part, field);
  });
  return isThere;
}
function dropFrom(schema: JSONSchemaProps, field: `x-${string}`): void {
  // Deleting an absent key would turn a schema into a slower kind of object.
  if (field in schema) delete schema[field];
  eachPart(schema, (part) => dropFrom(part, field));
}

const FORMAT_WARNINGS_SINCE = '1.34';
/** Formats that are not checked, if the definition had none of them before. */
function unrecognizedFormats({ spec }: Pick<CustomResourceDefinition, 'spec'>, env: KindEnv): ReadonlySet<string> {
  const formats = new Set<string>();
  const collect = (schema: JSONSchemaProps): void => {
    const format = unrecognizedFormat(schema, env.release);
    if (format !== undefined) formats.add(format);
    eachPart(schema, collect);
  };
  for (const schema of schemasOf({ spec })) collect(schema);
  return formats;
}
function formatWarnings(definition: CustomResourceDefinition, old: CustomResourceDefinition | undefined, env: KindEnv): string[] {
  if (!isAtLeast(env.release, FORMAT_WARNINGS_SINCE)) return [];
  const oldFormats = old === undefined ? undefined : unrecognizedFormats(old, env);
  const newFormats = [...unrecognizedFormats(definition, env)].filter((format) => oldFormats?.has(format) !== true);
  return newFormats.map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

/** Finalizer that keeps a definition until its objects are deleted. */
export const cleanupFinalizer = (identity: Identity): string => `customresourcecleanup.${groupName(identity, 'apiextensions')}`;

/** A deleted definition waits for its objects, with a Terminating condition. */
function deletionBegins(definition: CustomResourceDefinition, finalizer: string): void {
  const { metadata, status } = definition;
  delete metadata.deletionGracePeriodSeconds;
  if (status.conditions?.some(({ type }) => type === 'Terminating')) return;
  metadata.finalizers = [...(metadata.finalizers ?? []).filter((one) => one !== finalizer), finalizer];
  setCondition(status, {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: metadata.deletionTimestamp ?? '',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  });
}

export const customResourceDefinitionKind = (identity: Identity): Kind =>
  kind<CustomResourceDefinition>({
    group: 'apiextensions',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    short: ['crd', 'crds'],
    categories: ['api-extensions'],
    scope: 'Cluster',
    versions: { v1: version({ schema: customResourceDefinition(identity.schemaExtensionPrefix), defaults }) },
    hub: 'v1',
    generation: true,
    updateNeedsVersion: true,
    anyFinalizer: true,
    // The first delete request only sets the condition.
    holdsDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
    deletionBegins: (definition) => deletionBegins(definition, cleanupFinalizer(identity)),
    strategy: {
      prepareForCreate(definition, env) {
        definition.status = { acceptedNames: { plural: '', kind: '' } };
        rememberStored(definition);
        dropRules(definition, undefined, env);
      },
      prepareForUpdate(definition, old, env) {
        definition.status = { ...old.status };
        rememberStored(definition);
        dropRules(definition, old, env);
      },
      validate: validateDefinition,
      validateUpdate: validateDefinitionUpdate,
      warnings: formatWarnings,
      resetFields: [['status']],
    },
    subresources: {
      status: status({
        prepareForUpdate: (definition, old) => {
          definition.spec = old.spec;
        },
        validateUpdate: validateDefinitionStatus,
        resetFields: [['metadata'], ['spec']],
      }),
    },
  });
