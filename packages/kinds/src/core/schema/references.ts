/** References from one object to another, or to a part of it. */
import { always, bool, type Infer, inline, int32, message, opt, ptr, quantity, req, string } from '@plat-dev/schema/types';

export const LocalObjectReference = message(
  'core.v1.LocalObjectReference',
  {
    name: opt(1, string, { from: { '1.30': { default: '' } } }),
  },
  { atomic: true },
);
export type LocalObjectReference = Infer<typeof LocalObjectReference>;

export const ObjectReference = message(
  'core.v1.ObjectReference',
  {
    kind: opt(1, string),
    namespace: opt(2, string),
    name: opt(3, string),
    uid: opt(4, string),
    apiVersion: opt(5, string),
    resourceVersion: opt(6, string),
    fieldPath: opt(7, string),
  },
  { atomic: true },
);
export type ObjectReference = Infer<typeof ObjectReference>;

export const SecretReference = message(
  'core.v1.SecretReference',
  {
    name: opt(1, string),
    namespace: opt(2, string),
  },
  { atomic: true },
);
export type SecretReference = Infer<typeof SecretReference>;

export const TypedLocalObjectReference = message(
  'core.v1.TypedLocalObjectReference',
  {
    apiGroup: always(1, string, { nullable: true }),
    kind: req(2, string),
    name: req(3, string),
  },
  { atomic: true },
);
export type TypedLocalObjectReference = Infer<typeof TypedLocalObjectReference>;

export const TypedObjectReference = message('core.v1.TypedObjectReference', {
  apiGroup: always(1, string, { nullable: true }),
  kind: req(2, string),
  name: req(3, string),
  namespace: ptr(4, string, { gate: 'CrossNamespaceVolumeDataSource' }),
});
export type TypedObjectReference = Infer<typeof TypedObjectReference>;

export const ObjectFieldSelector = message(
  'core.v1.ObjectFieldSelector',
  {
    apiVersion: opt(1, string),
    fieldPath: req(2, string),
  },
  { atomic: true },
);
export type ObjectFieldSelector = Infer<typeof ObjectFieldSelector>;

export const ResourceFieldSelector = message(
  'core.v1.ResourceFieldSelector',
  {
    containerName: opt(1, string),
    resource: req(2, string),
    divisor: always(3, quantity),
  },
  { atomic: true },
);
export type ResourceFieldSelector = Infer<typeof ResourceFieldSelector>;

export const ConfigMapKeySelector = message(
  'core.v1.ConfigMapKeySelector',
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: req(2, string),
    optional: ptr(3, bool),
  },
  { atomic: true },
);
export type ConfigMapKeySelector = Infer<typeof ConfigMapKeySelector>;

export const SecretKeySelector = message(
  'core.v1.SecretKeySelector',
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: req(2, string),
    optional: ptr(3, bool),
  },
  { atomic: true },
);
export type SecretKeySelector = Infer<typeof SecretKeySelector>;

/** A variable in a file of a volume. */
export const FileKeySelector = message(
  'core.v1.FileKeySelector',
  {
    volumeName: req(1, string),
    path: req(2, string),
    key: req(3, string),
    optional: ptr(4, bool),
  },
  { atomic: true },
);
export type FileKeySelector = Infer<typeof FileKeySelector>;

export const KeyToPath = message('core.v1.KeyToPath', {
  key: req(1, string),
  path: req(2, string),
  mode: ptr(3, int32),
});
export type KeyToPath = Infer<typeof KeyToPath>;
