/** Claims to persistent volumes. */
import { always, type Infer, list, map, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../../meta.ts';
import { TypedLocalObjectReference } from '../references.ts';
import { ResourceRequirements } from '../resources.ts';

export const PersistentVolumeClaimSpec = message('core.v1.PersistentVolumeClaimSpec', {
  accessModes: opt(1, list(string)),
  selector: ptr(4, LabelSelector),
  resources: always(2, ResourceRequirements),
  volumeName: opt(3, string),
  storageClassName: ptr(5, string),
  volumeMode: ptr(6, string, { default: 'Filesystem' }),
  dataSource: ptr(7, TypedLocalObjectReference),
  dataSourceRef: ptr(8, TypedLocalObjectReference, { gate: 'AnyVolumeDataSource' }),
});
export type PersistentVolumeClaimSpec = Infer<typeof PersistentVolumeClaimSpec>;

const PersistentVolumeClaimCondition = message('core.v1.PersistentVolumeClaimCondition', {
  type: req(1, string),
  status: req(2, string),
  lastProbeTime: always(3, time),
  lastTransitionTime: always(4, time),
  reason: opt(5, string),
  message: opt(6, string),
});

const PersistentVolumeClaimStatus = message('core.v1.PersistentVolumeClaimStatus', {
  phase: opt(1, string, { default: 'Pending', enum: ['Bound', 'Lost', 'Pending'] }),
  accessModes: opt(2, list(string)),
  capacity: opt(3, map(quantity)),
  conditions: opt(4, list(PersistentVolumeClaimCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  allocatedResources: opt(5, map(quantity), { gate: { name: 'RecoverVolumeExpansionFailure', alone: true } }),
  resizeStatus: ptr(6, string, { gate: { name: 'RecoverVolumeExpansionFailure', alone: true } }),
});

export const PersistentVolumeClaim = object('core.v1.PersistentVolumeClaim', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PersistentVolumeClaimSpec),
  status: always(3, PersistentVolumeClaimStatus),
});
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
