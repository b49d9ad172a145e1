/**
 * A custom resource definition as a kind. Each version has its own schema, columns and subresources; the one that is
 * stored is the hub.
 */

import { isTrue } from '@plat-dev/kinds/apiextensions/conditions';
import type { JSONSchemaProps } from '@plat-dev/kinds/apiextensions/schema/json-schema';
import type { CustomResourceDefinition, CustomResourceSubresources } from '@plat-dev/kinds/apiextensions/schema/v1';
import { selectableReader, selectorName } from '@plat-dev/kinds/apiextensions/selectable-fields';
import { CustomSchema } from '@plat-dev/kinds/apiextensions/values/custom-schema';
import { type ApiObject, type Kind, type KindEnv, type KindVersion, kind, type Strategy, type Subresource } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { status } from '@plat-dev/kinds/subresources';
import { isUnqualifiedFinalizer } from '@plat-dev/kinds/validation/metadata';
import { changedMetadataAgain } from '@plat-dev/kinds/validation/repeated-metadata';
import { jsonText } from '@plat-dev/lib/json-text';
import { own, setOwn } from '@plat-dev/lib/own';
import type { Work } from '@plat-dev/lib/slices';
import { type ApiRelease, apiRelease, isAtLeast } from '@plat-dev/lib/version';
import { joinApiVersion, versionOfApiVersion } from '@plat-dev/meta/api-version';
import type { FieldErrors } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { nameIsSubdomain, qualifiedName } from '@plat-dev/meta/names';
import { parseExact } from '@plat-dev/schema/json/parse';
import { schemaIn } from '@plat-dev/schema/releases';
import { type JsonObject, type MessageType, object, opt } from '@plat-dev/schema/types';
import { type ReadValue, storedText, storedValue } from '@plat-dev/storage/item';
import { customColumns } from './columns.ts';
import { type ConversionTools, type ConvertedVersion, type ConvertObjects, webhookConversion } from './conversion/webhook.ts';
import { scaleView, validateScaleSpec, validateScaleStatus } from './scale.ts';
import { byPriority } from './version-order.ts';

type DefinitionVersion = NonNullable<CustomResourceDefinition['spec']['versions']>[number];

/** Objects of a custom kind: metadata, and the fields of its schema. */
type CustomObject = ApiObject & { [field: string]: unknown };

export interface CustomKind {
  readonly kind: Kind;
  /** Reads a stored value: by the schema of the version in which it was stored, as an object of the current storage version. */
  readonly read: ReadValue;
}

/**
 * `tools` are for definitions whose objects are converted by a webhook; `byRules`: the rules of schemas are enforced. Large schemas
 * take a while to compile.
 */
export function* customKind(
  definition: CustomResourceDefinition,
  identity: Identity,
  tools: ConversionTools,
  byRules: boolean,
  release: ApiRelease = apiRelease,
): Work<CustomKind> {
  const { spec } = definition;
  const names = definition.status.acceptedNames;
  const schemas = new Map<string, CustomSchema>();
  const versions: Record<string, KindVersion> = {};
  const ordered = [...(spec.versions ?? [])].sort((a, b) => byPriority(a.name, b.name));
  const hub = ordered.find(({ storage }) => storage)?.name ?? '';
  const convert = conversionOf(definition, tools);
  for (const version of ordered) {
    const typeName = `${spec.group}.${version.name}.${names.kind}`;
    const schema = yield* CustomSchema.compile(
      version.schema?.openAPIV3Schema,
      spec.preserveUnknownFields === true,
      identity.schemaExtensionPrefix,
      typeName,
      byRules,
      release,
    );
    schemas.set(version.name, schema);
    setOwn(versions, version.name, customVersion(definition, version, schema, codec(typeName, schema.structure, release), release));
  }
  if (convert !== undefined) addCalls(convert, spec.group, hub, versions);
  const customResourceKind = kind<CustomObject>({
    group: spec.group,
    custom: true,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    short: names.shortNames ?? [],
    categories: names.categories ?? [],
    scope: spec.scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    versions,
    hub,
    generation: true,
    updateNeedsVersion: true,
    ...selectable(ordered),
    nameRule: nameIsSubdomain,
    anyFinalizer: true,
    createRefused: isTrue(definition, 'Terminating') ? 'create not allowed while custom resource definition is terminating' : undefined,
  });
  return { kind: customResourceKind, read: reader(joinApiVersion(spec.group, hub), schemas, convert !== undefined) };
}

function customVersion(
  definition: CustomResourceDefinition,
  version: DefinitionVersion,
  schema: CustomSchema,
  type: MessageType,
  release: ApiRelease,
): KindVersion {
  const { subresources, served } = version;
  const withStatus = subresources?.status !== undefined;
  const parts: Record<string, Subresource> = {};
  if (withStatus) parts.status = status(statusStrategy(schema, subresources, release)) as Subresource;
  if (subresources?.scale !== undefined) parts.scale = scaleView(subresources.scale) as Subresource;
  return {
    schema: type,
    served,
    unknownField: (field) => `field label not supported: ${field}`,
    selectable: new Set((version.selectableFields ?? []).map(selectorName)),
    defaults: ((custom: CustomObject, _env: unknown, origin?: 'applied') => {
      schema.prune(custom, { nulls: origin === 'applied' ? 'keep' : 'drop' });
      schema.fillDefaults(custom);
    }) as never,
    unknownFields: (value, faults) => schema.unknownFields(value, faults),
    prune: ((custom: CustomObject) => schema.prune(custom, { broken: 'drop' })) as never,
    fill: ((custom: CustomObject) => schema.fillDefaults(custom)) as never,
    ...(version.schema?.openAPIV3Schema !== undefined && { openapi: version.schema.openAPIV3Schema as JSONSchemaProps as JsonObject }),
    ...(version.deprecated && { warning: version.deprecationWarning ?? deprecationWarning(version.name, definition) }),
    own: {
      ...(customColumns(version.additionalPrinterColumns) as object),
      strategy: objectStrategy(schema, subresources) as Strategy,
      subresources: parts,
      generation: withStatus ? true : 'all',
    },
  };
}

/** The fields that selectors of any version may use, as the stored version has them. */
function selectable(
  versions: readonly DefinitionVersion[],
): { readonly fields: Readonly<Record<string, (object: unknown) => string>> } | undefined {
  const all = versions.flatMap(({ selectableFields = [] }) => selectableFields);
  if (all.length === 0) return undefined;
  return { fields: Object.fromEntries(all.map((field) => [selectorName(field), selectableReader(field)])) };
}

/** Undefined if only the apiVersion differs. */
function conversionOf({ metadata, spec }: CustomResourceDefinition, tools: ConversionTools): ConvertObjects | undefined {
  const { strategy, webhook } = spec.conversion ?? {};
  return strategy === 'Webhook' && webhook !== undefined ? webhookConversion(tools, metadata.name ?? '', webhook) : undefined;
}

/** Converts all versions but the stored one by webhook calls. */
function addCalls(convert: ConvertObjects, group: string, hub: string, versions: Record<string, KindVersion>): void {
  const convertedVersion = (name: string): ConvertedVersion => ({
    name,
    apiVersion: joinApiVersion(group, name),
    schema: (own(versions, name) as KindVersion).schema,
  });
  for (const name of Object.keys(versions)) {
    if (name === hub) continue;
    const calls: Pick<KindVersion<ApiObject, ApiObject>, 'toHubByCall' | 'fromHubByCall'> = {
      toHubByCall: (objects) => convert(objects, convertedVersion(name), convertedVersion(hub)),
      fromHubByCall: (hubs) => convert(hubs, convertedVersion(hub), convertedVersion(name)),
    };
    versions[name] = { ...(versions[name] as KindVersion), ...(calls as Pick<KindVersion, 'toHubByCall' | 'fromHubByCall'>) };
  }
}

/** Names the version to move to: the most preferred one that is served, not deprecated, and no less stable. */
function deprecationWarning(version: string, { spec }: CustomResourceDefinition): string {
  const use = (name: string): string => `${joinApiVersion(spec.group, name)} ${spec.names.kind}`;
  const better = (spec.versions ?? [])
    .filter(({ name, served, deprecated }) => served && !deprecated && byPriority(name, version) < 0)
    .map(({ name }) => name)
    .sort(byPriority)[0];
  return `${use(version)} is deprecated${better === undefined ? '' : `; use ${use(better)}`}`;
}

const codec = (name: string, structure: MessageType | undefined, release: ApiRelease): MessageType =>
  object(name, { metadata: opt(0, schemaIn(release, ObjectMeta)) }, { unknown: 'keep', structure });

/** With a status subresource, writes of the main resource do not change status. */
function objectStrategy(schema: CustomSchema, subresources: CustomResourceSubresources | undefined): Strategy<CustomObject> {
  const withStatus = subresources?.status !== undefined;
  const check = (custom: CustomObject, errors: FieldErrors): void => {
    validateScaleSpec(subresources?.scale, custom, errors);
    if (!withStatus) validateScaleStatus(subresources?.scale, custom, errors);
  };
  return {
    prepareForCreate(custom) {
      if (withStatus) delete custom.status;
    },
    prepareForUpdate(custom, old) {
      if (withStatus) copyField(custom, old, 'status');
    },
    validate(custom, errors) {
      return followedBy(schema.validate(custom, errors), () => check(custom, errors));
    },
    validateUpdate(custom, old, errors, _env, request) {
      changedMetadataAgain(custom, old, errors);
      return followedBy(
        schema.validateUpdate(custom, old, errors, (text) => request.warn?.(text)),
        () => check(custom, errors),
      );
    },
    warnings: finalizerWarnings,
    ...(withStatus && { resetFields: [['status']] }),
  };
}

/** Finalizers of custom objects need no domain, but those who add one are warned. */
function finalizerWarnings({ metadata }: CustomObject, old: CustomObject | undefined, env: KindEnv): string[] {
  if (!env.since('1.29')) return [];
  const present = new Set(old?.metadata.finalizers);
  const added = [...new Set(metadata.finalizers)].filter((finalizer) => !present.has(finalizer)).sort();
  return added.flatMap((finalizer) => {
    const texts = [...qualifiedName(finalizer)];
    if (isUnqualifiedFinalizer(finalizer, env)) {
      const path = finalizer.includes('.') && env.since('1.32') ? ' including a path (/)' : '';
      texts.push(`prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`);
    }
    return texts.map((text) => `metadata.finalizers: ${JSON.stringify(finalizer)}: ${text}`);
  });
}

/** Runs the work, if there is any, and then the rest. */
function followedBy(work: Work<void> | undefined, next: () => void): Work<void> | undefined {
  if (work !== undefined) return oneAfterAnother(work, next);
  next();
  return undefined;
}
function* oneAfterAnother(work: Work<void>, next: () => void): Work<void> {
  yield* work;
  next();
}

/** Writes status alone; all other fields keep their values. */
function statusStrategy(schema: CustomSchema, { scale }: CustomResourceSubresources, release: ApiRelease): Strategy<CustomObject> {
  return {
    prepareForUpdate(custom, old) {
      const { managedFields, resourceVersion } = custom.metadata;
      for (const field of Object.keys(custom)) if (field !== 'status' && field !== 'metadata') copyField(custom, old, field);
      for (const field of Object.keys(old)) if (field !== 'status' && field !== 'metadata') copyField(custom, old, field);
      custom.metadata = { ...structuredClone(old.metadata) };
      setOrDelete(custom.metadata, 'managedFields', managedFields);
      setOrDelete(custom.metadata, 'resourceVersion', resourceVersion);
    },
    validateUpdate(custom, old, errors, _env, request) {
      changedMetadataAgain(custom, old, errors);
      return followedBy(
        schema.validateUpdate(custom, old, errors, (text) => request.warn?.(text)),
        () => validateScaleStatus(scale, custom, errors),
      );
    },
    // Before 1.36 metadata is not changed, but its sender owns it, as in a stock server.
    resetFields: isAtLeast(release, '1.36') ? [['metadata'], ['spec']] : [['spec']],
  };
}

function copyField(to: CustomObject, from: CustomObject, field: string): void {
  const value = own(from, field);
  if (value === undefined) delete to[field];
  else setOwn(to, field, structuredClone(value));
}
function setOrDelete<K extends 'managedFields' | 'resourceVersion'>(to: ObjectMeta, field: K, value: ObjectMeta[K]): void {
  if (value === undefined) delete to[field];
  else to[field] = value;
}

/**
 * Stored values are read as clients see them: pruned and defaulted by the current schema. Those of another version keep it
 * if their conversion needs a webhook call.
 */
function reader(hubVersion: string, schemas: ReadonlyMap<string, CustomSchema>, byCalls: boolean): ReadValue {
  return (value) => {
    const text = storedText(value).toString();
    let custom = parseExact(text) as CustomObject;
    const version = versionOfApiVersion(custom.apiVersion ?? '');
    const schema = schemas.get(version);
    schema?.prune(custom, { broken: 'drop' });
    if (schema?.fillStored(custom) === false) {
      // Defaults that were added later make it too large: it is shown as it was stored.
      custom = parseExact(text) as CustomObject;
      schema.prune(custom, { broken: 'drop' });
    }
    if (!byCalls || schema === undefined) custom.apiVersion = hubVersion;
    const next = jsonText(custom);
    return next === text ? value : storedValue(next, custom.metadata.uid ?? '');
  };
}
