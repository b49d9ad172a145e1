/** Custom resource definitions. Messages that hold a schema are made once per prefix of schema extensions. */
import {
  always,
  bool,
  bytes,
  type Infer,
  int32,
  int64,
  list,
  message,
  object,
  opt,
  ptr,
  raw,
  req,
  string,
  time,
} from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { Status } from '../../meta-kinds.ts';
import { jsonSchemaProps } from './json-schema.ts';

const ServiceReference = message('apiextensions.v1.ServiceReference', {
  namespace: req(1, string),
  name: req(2, string),
  path: ptr(3, string),
  port: ptr(4, int32, { default: 443 }),
});

export const WebhookClientConfig = message('apiextensions.v1.WebhookClientConfig', {
  url: ptr(3, string),
  service: ptr(1, ServiceReference),
  caBundle: opt(2, bytes),
});
export type WebhookClientConfig = Infer<typeof WebhookClientConfig>;

const WebhookConversion = message('apiextensions.v1.WebhookConversion', {
  clientConfig: ptr(2, WebhookClientConfig),
  conversionReviewVersions: req(3, list(string)),
});

export const CustomResourceConversion = message('apiextensions.v1.CustomResourceConversion', {
  strategy: req(1, string),
  webhook: ptr(2, WebhookConversion),
});
export type CustomResourceConversion = Infer<typeof CustomResourceConversion>;

export const CustomResourceDefinitionNames = message('apiextensions.v1.CustomResourceDefinitionNames', {
  plural: req(1, string),
  singular: opt(2, string),
  shortNames: opt(3, list(string)),
  kind: req(4, string),
  listKind: opt(5, string),
  categories: opt(6, list(string)),
});
export type CustomResourceDefinitionNames = Infer<typeof CustomResourceDefinitionNames>;

export const CustomResourceColumnDefinition = message('apiextensions.v1.CustomResourceColumnDefinition', {
  name: req(1, string),
  type: req(2, string),
  format: opt(3, string),
  description: opt(4, string),
  priority: opt(5, int32),
  jsonPath: req(6, string),
});
export type CustomResourceColumnDefinition = Infer<typeof CustomResourceColumnDefinition>;

const SelectableField = message('apiextensions.v1.SelectableField', { jsonPath: req(1, string) });
export type SelectableField = Infer<typeof SelectableField>;

export const CustomResourceSubresourceScale = message('apiextensions.v1.CustomResourceSubresourceScale', {
  specReplicasPath: req(1, string),
  statusReplicasPath: req(2, string),
  labelSelectorPath: ptr(3, string),
});
export type CustomResourceSubresourceScale = Infer<typeof CustomResourceSubresourceScale>;

const CustomResourceSubresourceStatus = message('apiextensions.v1.CustomResourceSubresourceStatus', {});

export const CustomResourceSubresources = message('apiextensions.v1.CustomResourceSubresources', {
  status: ptr(1, CustomResourceSubresourceStatus),
  scale: ptr(2, CustomResourceSubresourceScale),
});
export type CustomResourceSubresources = Infer<typeof CustomResourceSubresources>;

export const CustomResourceDefinitionCondition = message('apiextensions.v1.CustomResourceDefinitionCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
  observedGeneration: opt(6, int64, { since: '1.35' }),
});
export type CustomResourceDefinitionCondition = Infer<typeof CustomResourceDefinitionCondition>;

export const CustomResourceDefinitionStatus = message('apiextensions.v1.CustomResourceDefinitionStatus', {
  // Lists that are empty stay so: definitions are never stored in the binary form, which has none.
  conditions: always(1, list(CustomResourceDefinitionCondition, 'map', ['type']), { nullable: true }),
  acceptedNames: always(2, CustomResourceDefinitionNames),
  storedVersions: always(3, list(string), { nullable: true }),
  observedGeneration: opt(4, int64, { since: '1.35' }),
});
export type CustomResourceDefinitionStatus = Infer<typeof CustomResourceDefinitionStatus>;

function make(prefix: string) {
  const validation = message('apiextensions.v1.CustomResourceValidation', { openAPIV3Schema: ptr(1, jsonSchemaProps(prefix)) });
  const version = message('apiextensions.v1.CustomResourceDefinitionVersion', {
    name: req(1, string),
    served: req(2, bool),
    storage: req(3, bool),
    deprecated: opt(7, bool),
    deprecationWarning: ptr(8, string),
    schema: ptr(4, validation),
    subresources: ptr(5, CustomResourceSubresources),
    additionalPrinterColumns: opt(6, list(CustomResourceColumnDefinition)),
    selectableFields: opt(9, list(SelectableField), { since: '1.30' }),
  });
  const spec = message('apiextensions.v1.CustomResourceDefinitionSpec', {
    group: req(1, string),
    names: req(3, CustomResourceDefinitionNames),
    scope: req(4, string),
    versions: req(7, list(version)),
    conversion: ptr(9, CustomResourceConversion),
    preserveUnknownFields: opt(10, bool),
  });
  return object('apiextensions.v1.CustomResourceDefinition', {
    metadata: always(1, ObjectMeta),
    spec: req(2, spec),
    status: always(3, CustomResourceDefinitionStatus),
  });
}

const schemasByPrefix = new Map<string, ReturnType<typeof make>>();

/** The schema of a custom resource definition whose schema extensions begin with `prefix`. */
export function customResourceDefinition(prefix: string): ReturnType<typeof make> {
  const schema = schemasByPrefix.get(prefix) ?? make(prefix);
  schemasByPrefix.set(prefix, schema);
  return schema;
}
export type CustomResourceDefinition = Infer<ReturnType<typeof make>>;
export type CustomResourceDefinitionSpec = CustomResourceDefinition['spec'];
export type CustomResourceDefinitionVersion = NonNullable<CustomResourceDefinitionSpec['versions']>[number];

const ConversionRequest = message('apiextensions.v1.ConversionRequest', {
  uid: always(1, string),
  desiredAPIVersion: always(2, string),
  objects: always(3, list(raw)),
});

const ConversionResponse = message('apiextensions.v1.ConversionResponse', {
  uid: always(1, string),
  convertedObjects: always(2, list(raw)),
  result: always(3, Status),
});

export const ConversionReview = object('apiextensions.v1.ConversionReview', {
  request: ptr(1, ConversionRequest),
  response: ptr(2, ConversionResponse),
});
export type ConversionReview = Infer<typeof ConversionReview>;
