/**
 * Custom resource definitions of version 1beta1. Schema, subresources and columns may be in the spec, for all versions,
 * or in each version. Schemas are those of version 1.
 */
import { always, bool, type Infer, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';
import { jsonSchemaProps } from './json-schema.ts';
import * as v1 from './v1.ts';

const beta = 'apiextensions.v1beta1';

export const CustomResourceColumnDefinition = message(`${beta}.CustomResourceColumnDefinition`, {
  name: req(1, string),
  type: req(2, string),
  format: opt(3, string),
  description: opt(4, string),
  priority: opt(5, int32),
  JSONPath: req(6, string),
});
export type CustomResourceColumnDefinition = Infer<typeof CustomResourceColumnDefinition>;

const CustomResourceConversion = message(`${beta}.CustomResourceConversion`, {
  strategy: req(1, string),
  webhookClientConfig: ptr(2, inVersion(v1.WebhookClientConfig, beta)),
  conversionReviewVersions: opt(3, list(string)),
});

/** The schema of a custom resource definition whose schema extensions begin with `prefix`. */
export function customResourceDefinitionBeta(prefix: string) {
  const validation = message(`${beta}.CustomResourceValidation`, { openAPIV3Schema: ptr(1, jsonSchemaProps(prefix)) });
  const subresources = inVersion(v1.CustomResourceSubresources, beta);
  const names = inVersion(v1.CustomResourceDefinitionNames, beta);
  const version = message(`${beta}.CustomResourceDefinitionVersion`, {
    name: req(1, string),
    served: req(2, bool),
    storage: req(3, bool),
    deprecated: opt(7, bool),
    deprecationWarning: ptr(8, string),
    schema: ptr(4, validation),
    subresources: ptr(5, subresources),
    additionalPrinterColumns: opt(6, list(CustomResourceColumnDefinition)),
  });
  const spec = message(`${beta}.CustomResourceDefinitionSpec`, {
    group: req(1, string),
    version: opt(2, string),
    names: req(3, names),
    scope: req(4, string, { default: 'Namespaced' }),
    validation: ptr(5, validation),
    subresources: ptr(6, subresources),
    versions: opt(7, list(version)),
    additionalPrinterColumns: opt(8, list(CustomResourceColumnDefinition)),
    conversion: ptr(9, CustomResourceConversion),
    preserveUnknownFields: ptr(10, bool),
  });
  return object(`${beta}.CustomResourceDefinition`, {
    metadata: always(1, ObjectMeta),
    spec: req(2, spec),
    status: always(3, inVersion(v1.CustomResourceDefinitionStatus, beta)),
  });
}

export type CustomResourceDefinitionBeta = Infer<ReturnType<typeof customResourceDefinitionBeta>>;
