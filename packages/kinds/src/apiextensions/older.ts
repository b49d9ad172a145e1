/**
 * apiextensions/v1beta1. Parts that are the same in all versions of a definition are top-level fields of its spec there, and part of
 * every version in the hub:
 *
 *   v1beta1  version: v1, validation: …, additionalPrinterColumns: [{ JSONPath: .spec.x }]
 *   v1       versions: [{ name: v1, served: true, storage: true, schema: …, additionalPrinterColumns: [{ jsonPath: .spec.x }] }]
 */

import { invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { compact } from '../compact.ts';
import { version } from '../kind.ts';
import type { OlderVersions } from '../older.ts';
import type * as v1 from './schema/v1.ts';
import { type CustomResourceColumnDefinition, type CustomResourceDefinitionBeta, customResourceDefinitionBeta } from './schema/v1beta1.ts';
import { hoist } from './version-rules.ts';

type BetaSpec = CustomResourceDefinitionBeta['spec'];
type BetaVersion = NonNullable<BetaSpec['versions']>[number];

function defaults({ spec, status }: CustomResourceDefinitionBeta): void {
  const { names } = spec;
  if (spec.scope === '') spec.scope = 'Namespaced';
  if ((names.singular ?? '') === '' && names.kind !== '') names.singular = names.kind.toLowerCase();
  if ((names.listKind ?? '') === '' && names.kind !== '') names.listKind = `${names.kind}List`;
  const versionName = spec.version ?? '';
  if ((spec.versions ?? []).length === 0 && versionName !== '') spec.versions = [{ name: versionName, served: true, storage: true }];
  const [first] = spec.versions ?? [];
  if (versionName === '' && first !== undefined && first.name !== '') spec.version = first.name;
  spec.conversion ??= { strategy: 'None' };
  const { conversion } = spec;
  if (conversion.strategy === 'Webhook' && (conversion.conversionReviewVersions ?? []).length === 0)
    conversion.conversionReviewVersions = ['v1beta1'];
  spec.preserveUnknownFields ??= true;
  const storageVersion = spec.versions?.find(({ storage }) => storage)?.name;
  if ((status.storedVersions ?? []).length === 0 && storageVersion !== undefined) status.storedVersions = [storageVersion];
}

// ---- to the hub --------------------------------------------------------------------------------------------------

const columnToHub = ({ JSONPath, ...column }: CustomResourceColumnDefinition): v1.CustomResourceColumnDefinition => ({
  ...column,
  jsonPath: JSONPath,
});

function conversionToHub(conversion: NonNullable<BetaSpec['conversion']>): v1.CustomResourceConversion {
  const { strategy, webhookClientConfig: clientConfig, conversionReviewVersions } = conversion;
  const webhook =
    clientConfig === undefined && conversionReviewVersions === undefined ? undefined : { clientConfig, conversionReviewVersions };
  return compact({ strategy, webhook: webhook && compact(webhook) }) as v1.CustomResourceConversion;
}

/** Throws 422 if the spec and its versions contradict each other: the hub has one place for both. */
function toHub(definition: CustomResourceDefinitionBeta, identity: Identity): v1.CustomResourceDefinition {
  if (definition.spec === undefined) return definition;
  const {
    version: named,
    validation,
    subresources,
    additionalPrinterColumns,
    versions,
    conversion,
    preserveUnknownFields,
    ...spec
  } = definition.spec;
  checkPlaces(definition, identity);
  const converted = versions?.map(({ schema, subresources: own, additionalPrinterColumns: columns, ...rest }: BetaVersion) =>
    compact({
      ...rest,
      schema: validation ?? schema,
      subresources: subresources ?? own,
      additionalPrinterColumns: (additionalPrinterColumns ?? columns)?.map(columnToHub),
    }),
  );
  return {
    ...definition,
    spec: compact({
      ...spec,
      versions: converted,
      conversion: conversion && conversionToHub(conversion),
      preserveUnknownFields: preserveUnknownFields === true ? true : undefined,
    }) as v1.CustomResourceDefinitionSpec,
  };
}

const specAt = Path.of('spec');

function checkPlaces({ metadata, spec }: CustomResourceDefinitionBeta, identity: Identity): void {
  const errors = new FieldErrors();
  const { version: named = '', versions = [] } = spec;
  const [first] = versions;
  if (first !== undefined && named !== '' && named !== first.name)
    errors.invalid(specAt.child('version'), named, 'must match the first version in spec.versions');
  const parts = [
    ['schema', 'validation', 'schemas'],
    ['subresources', 'subresources', 'subresources'],
    ['additionalPrinterColumns', 'additionalPrinterColumns', 'additionalPrinterColumns'],
  ] as const;
  for (const [own, common, text] of parts)
    if (spec[common] !== undefined && versions.some((one) => one[own] !== undefined))
      errors.forbidden(specAt.child(common), `top-level and per-version ${text} are mutually exclusive`);
  if (errors.empty) return;
  const kind = { group: groupName(identity, 'apiextensions'), resource: 'CustomResourceDefinition' };
  throw invalid(kind, metadata?.name ?? '', errors.list);
}

// ---- from the hub ------------------------------------------------------------------------------------------------

const columnFromHub = ({ jsonPath, ...column }: v1.CustomResourceColumnDefinition): CustomResourceColumnDefinition => ({
  ...column,
  JSONPath: jsonPath,
});

function fromHub(definition: v1.CustomResourceDefinition): CustomResourceDefinitionBeta {
  const { versions = [], conversion, preserveUnknownFields = false, ...spec } = definition.spec;
  const [first] = versions;
  const common = hoist(versions);
  const own = versions.map(({ schema, subresources, additionalPrinterColumns, ...rest }) =>
    compact({
      ...rest,
      schema: common.schema ? undefined : schema,
      subresources: common.subresources ? undefined : subresources,
      additionalPrinterColumns: common.columns ? undefined : additionalPrinterColumns?.map(columnFromHub),
    }),
  );
  const { clientConfig, conversionReviewVersions } = conversion?.webhook ?? {};
  return {
    ...definition,
    spec: compact({
      ...spec,
      version: first?.name || undefined,
      validation: common.schema ? first?.schema : undefined,
      subresources: common.subresources ? first?.subresources : undefined,
      versions: versions.length === 0 ? undefined : own,
      additionalPrinterColumns: common.columns ? first?.additionalPrinterColumns?.map(columnFromHub) : undefined,
      conversion: conversion && compact({ strategy: conversion.strategy, webhookClientConfig: clientConfig, conversionReviewVersions }),
      preserveUnknownFields,
    }) as BetaSpec,
  };
}

export const olderAPIExtensions = (identity: Identity): readonly OlderVersions[] => [
  {
    group: 'apiextensions',
    plural: 'customresourcedefinitions',
    versions: {
      v1beta1: version<CustomResourceDefinitionBeta, v1.CustomResourceDefinition>({
        schema: customResourceDefinitionBeta(identity.schemaExtensionPrefix),
        defaults,
        toHub,
        fromHub,
      }),
    },
  },
];
