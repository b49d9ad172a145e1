/** Claims to persistent volumes. */
import { always, type Infer, list, map, message, object, opt, ptr, quantity, req, string, time } from '@plat-dev/schema/types';
import { LabelSelector, ObjectMeta } from '../../../meta.ts';
import { itemValues, pointerValues } from '../../../published-values.ts';
import { TypedLocalObjectReference, TypedObjectReference } from '../references.ts';
import { ResourceRequirements, VolumeResourceRequirements } from '../resources.ts';

export const accessModes = itemValues('ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod');
export const volumeModes = pointerValues('Block', 'Filesystem');

export const PersistentVolumeClaimSpec = message('core.v1.PersistentVolumeClaimSpec', {
  accessModes: opt(1, list(string), accessModes),
  selector: ptr(4, LabelSelector),
  resources: always(2, VolumeResourceRequirements, {
    from: { '1.15': { type: ResourceRequirements }, '1.29': { type: VolumeResourceRequirements } },
  }),
  volumeName: opt(3, string),
  storageClassName: ptr(5, string),
  volumeMode: ptr(6, string, { default: 'Filesystem', ...volumeModes }),
  dataSource: ptr(7, TypedLocalObjectReference),
  dataSourceRef: ptr(8, TypedObjectReference, {
    gate: 'AnyVolumeDataSource',
    from: { '1.15': { type: TypedLocalObjectReference }, '1.26': { type: TypedObjectReference } },
  }),
  volumeAttributesClassName: ptr(9, string, { since: '1.29', gate: 'VolumeAttributesClass' }),
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

const ModifyVolumeStatus = message('core.v1.ModifyVolumeStatus', {
  targetVolumeAttributesClassName: opt(1, string),
  status: req(2, string, { enum: ['InProgress', 'Infeasible', 'Pending'] }),
});

const recovery = { name: 'RecoverVolumeExpansionFailure', alone: true } as const;
const resizeStates = (end: string) => [
  'ControllerResizeInProgress',
  `ControllerResize${end}`,
  'NodeResizeInProgress',
  `NodeResize${end}`,
  'NodeResizePending',
];

const PersistentVolumeClaimStatus = message('core.v1.PersistentVolumeClaimStatus', {
  phase: opt(1, string, { default: 'Pending', enum: ['Bound', 'Lost', 'Pending'] }),
  accessModes: opt(2, list(string), accessModes),
  capacity: opt(3, map(quantity)),
  conditions: opt(4, list(PersistentVolumeClaimCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  allocatedResources: opt(5, map(quantity), { gate: recovery }),
  resizeStatus: ptr(6, string, {
    until: '1.27',
    gate: recovery,
    ...pointerValues(
      '',
      'ControllerExpansionFailed',
      'ControllerExpansionInProgress',
      'NodeExpansionFailed',
      'NodeExpansionInProgress',
      'NodeExpansionPending',
    ),
  }),
  allocatedResourceStatuses: opt(7, map(string), {
    since: '1.28',
    gate: recovery,
    from: { '1.30': { enum: resizeStates('Failed') }, '1.31': { enum: resizeStates('Infeasible') } },
  }),
  currentVolumeAttributesClassName: ptr(8, string, { since: '1.29', gate: 'VolumeAttributesClass' }),
  modifyVolumeStatus: ptr(9, ModifyVolumeStatus, { since: '1.29', gate: 'VolumeAttributesClass' }),
});

export const PersistentVolumeClaim = object('core.v1.PersistentVolumeClaim', {
  metadata: always(1, ObjectMeta),
  spec: always(2, PersistentVolumeClaimSpec),
  status: always(3, PersistentVolumeClaimStatus),
});
export type PersistentVolumeClaim = Infer<typeof PersistentVolumeClaim>;
