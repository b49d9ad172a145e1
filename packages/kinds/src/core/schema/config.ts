/** Config maps, secrets and service accounts. */
import { always, bool, bytes, type Infer, list, map, object, opt, ptr, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { LocalObjectReference, ObjectReference } from './references.ts';

export const ConfigMap = object('core.v1.ConfigMap', {
  metadata: always(1, ObjectMeta),
  immutable: ptr(4, bool),
  data: opt(2, map(string)),
  binaryData: opt(3, map(bytes)),
});
export type ConfigMap = Infer<typeof ConfigMap>;

export const Secret = object('core.v1.Secret', {
  metadata: always(1, ObjectMeta),
  immutable: ptr(5, bool),
  data: opt(2, map(bytes)),
  stringData: opt(4, map(string)),
  type: opt(3, string, { default: 'Opaque' }),
});
export type Secret = Infer<typeof Secret>;

export const ServiceAccount = object('core.v1.ServiceAccount', {
  metadata: always(1, ObjectMeta),
  secrets: opt(2, list(ObjectReference, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
  imagePullSecrets: opt(3, list(LocalObjectReference)),
  automountServiceAccountToken: ptr(4, bool),
});
export type ServiceAccount = Infer<typeof ServiceAccount>;
