import type { Descriptions } from '../../description-texts.ts';

export const references: Descriptions = {
  'core.ObjectReference': {
    $: 'A reference to an object of any kind, or to a part of it.',
    kind: 'Kind of the object referred to.',
    namespace: 'Namespace of the object referred to; empty if it is not namespaced.',
    name: 'Name of the object referred to.',
    uid: 'UID of the object referred to, to distinguish it from others of that name.',
    apiVersion: 'Group and version of the object referred to.',
    resourceVersion: 'Version of the object that the reference was made to, if any.',
    fieldPath: 'Part of the object that is meant, such as spec.containers{web}.',
  },
  'core.LocalObjectReference': {
    $: 'A reference to an object of a known kind in the same namespace.',
    name: 'Name of the object referred to.',
  },
  'core.SecretReference': {
    $: 'A reference to a Secret in any namespace.',
    name: 'Name of the Secret, unique within its namespace.',
    namespace: 'Namespace that the Secret is in.',
  },
  'core.TypedLocalObjectReference': {
    $: 'A reference to an object of any kind in the same namespace.',
    apiGroup: 'API group of the object; may be left out for the core group only.',
    kind: 'Kind of the object referred to.',
    name: 'Name of the object referred to.',
  },
  'core.TypedObjectReference': {
    $: 'A reference to an object of any kind, possibly in another namespace.',
    apiGroup: 'API group of the object; may be left out for the core group only.',
    kind: 'Kind of the object that is meant.',
    name: 'Name of the object that is meant.',
    namespace: 'Namespace of the object, which must allow it by a ReferenceGrant. Without it that of the referring object.',
  },
  'core.ConfigMapKeySelector': {
    $: 'Selects an entry of a ConfigMap.',
    name: 'Name of the ConfigMap, in the same namespace.',
    key: 'Key of the entry to select.',
    optional: 'Whether the ConfigMap or the key may be missing. Defaults to false.',
  },
  'core.SecretKeySelector': {
    $: 'Selects an entry of a Secret.',
    name: 'Name of the Secret, in the same namespace.',
    key: 'Key of the entry to select. It must be valid for a Secret.',
    optional: 'Whether the Secret or the key may be missing. Defaults to false.',
  },
  'core.ObjectFieldSelector': {
    $: 'Selects a field of the pod.',
    apiVersion: 'Version in which fieldPath is written. Defaults to v1.',
    fieldPath: 'Path of the field to select, such as metadata.name or status.podIP.',
  },
  'core.ResourceFieldSelector': {
    $: 'Selects a request or limit of a container.',
    containerName: 'Container that is meant. Required for volumes; defaults to the container itself for environment variables.',
    resource: 'Value to select, such as limits.cpu or requests.memory.',
    divisor: 'Unit in which the value is given: the amount is divided by it and rounded up. Defaults to 1.',
  },
  'core.KeyToPath': {
    $: 'Projects an entry into a file.',
    key: 'Key of the entry to project.',
    path: 'File that the entry becomes, relative to the mount point. It must not be absolute nor contain "..".',
    mode: 'Permission bits of the file, in octal from 0000 to 0777; JSON takes them in decimal. Defaults to the mode of the volume.',
  },
};
