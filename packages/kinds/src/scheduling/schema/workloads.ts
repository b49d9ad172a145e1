/** Workloads and groups of pods that are scheduled together. */
import { always, type Infer, int32, list, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';

const byName = { patch: 'merge,retainKeys', mergeKey: 'name' } as const;

const TypedLocalObjectReference = message('scheduling.v1alpha2.TypedLocalObjectReference', {
  apiGroup: opt(1, string),
  kind: req(2, string),
  name: req(3, string),
});

const BasicSchedulingPolicy = message('scheduling.v1alpha2.BasicSchedulingPolicy', {});

const GangSchedulingPolicy = message('scheduling.v1alpha2.GangSchedulingPolicy', {
  minCount: req(1, int32),
});

const PodGroupSchedulingPolicy = message('scheduling.v1alpha2.PodGroupSchedulingPolicy', {
  basic: ptr(1, BasicSchedulingPolicy),
  gang: ptr(2, GangSchedulingPolicy),
});
export type PodGroupSchedulingPolicy = Infer<typeof PodGroupSchedulingPolicy>;

const TopologyConstraint = message('scheduling.v1alpha2.TopologyConstraint', {
  key: req(1, string),
});

const PodGroupSchedulingConstraints = message('scheduling.v1alpha2.PodGroupSchedulingConstraints', {
  topology: opt(1, list(TopologyConstraint)),
});
export type PodGroupSchedulingConstraints = Infer<typeof PodGroupSchedulingConstraints>;

const PodGroupResourceClaim = message('scheduling.v1alpha2.PodGroupResourceClaim', {
  name: req(1, string),
  resourceClaimName: ptr(2, string),
  resourceClaimTemplateName: ptr(3, string),
});
export type PodGroupResourceClaim = Infer<typeof PodGroupResourceClaim>;

const PodGroupTemplate = message('scheduling.v1alpha2.PodGroupTemplate', {
  name: req(1, string),
  schedulingPolicy: req(2, PodGroupSchedulingPolicy),
  schedulingConstraints: always(3, PodGroupSchedulingConstraints, { nullable: true, gate: 'TopologyAwareWorkloadScheduling' }),
  resourceClaims: opt(4, list(PodGroupResourceClaim, 'map', ['name']), { ...byName, gate: 'DRAWorkloadResourceClaims' }),
  disruptionMode: ptr(5, string, { enum: ['Pod', 'PodGroup'], gate: 'WorkloadAwarePreemption' }),
  priorityClassName: opt(6, string, { gate: 'WorkloadAwarePreemption' }),
  priority: ptr(7, int32, { gate: 'WorkloadAwarePreemption' }),
});
export type PodGroupTemplate = Infer<typeof PodGroupTemplate>;

const WorkloadSpec = message('scheduling.v1alpha2.WorkloadSpec', {
  controllerRef: ptr(1, TypedLocalObjectReference),
  podGroupTemplates: req(2, list(PodGroupTemplate, 'map', ['name'])),
});

export const Workload = object('scheduling.v1alpha2.Workload', {
  metadata: always(1, ObjectMeta),
  spec: req(2, WorkloadSpec),
});
export type Workload = Infer<typeof Workload>;

const WorkloadPodGroupTemplateReference = message('scheduling.v1alpha2.WorkloadPodGroupTemplateReference', {
  workloadName: req(1, string),
  podGroupTemplateName: req(2, string),
});

const PodGroupTemplateReference = message('scheduling.v1alpha2.PodGroupTemplateReference', {
  workload: always(1, WorkloadPodGroupTemplateReference, { nullable: true }),
});

const PodGroupSpec = message('scheduling.v1alpha2.PodGroupSpec', {
  podGroupTemplateRef: always(1, PodGroupTemplateReference, { nullable: true }),
  schedulingPolicy: req(2, PodGroupSchedulingPolicy),
  schedulingConstraints: ptr(3, PodGroupSchedulingConstraints, { gate: 'TopologyAwareWorkloadScheduling' }),
  resourceClaims: opt(4, list(PodGroupResourceClaim, 'map', ['name']), { ...byName, gate: 'DRAWorkloadResourceClaims' }),
  disruptionMode: ptr(5, string, { default: 'Pod', enum: ['Pod', 'PodGroup'], gate: 'WorkloadAwarePreemption' }),
  priorityClassName: opt(6, string, { gate: 'WorkloadAwarePreemption' }),
  priority: ptr(7, int32, { gate: 'WorkloadAwarePreemption' }),
});
export type PodGroupSpec = Infer<typeof PodGroupSpec>;

const PodGroupResourceClaimStatus = message('scheduling.v1alpha2.PodGroupResourceClaimStatus', {
  name: req(1, string),
  resourceClaimName: ptr(2, string),
});

const PodGroupStatus = message('scheduling.v1alpha2.PodGroupStatus', {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
  resourceClaimStatuses: opt(2, list(PodGroupResourceClaimStatus, 'map', ['name']), { ...byName, gate: 'DRAWorkloadResourceClaims' }),
});

export const PodGroup = object('scheduling.v1alpha2.PodGroup', {
  metadata: always(1, ObjectMeta),
  spec: req(2, PodGroupSpec),
  status: always(3, PodGroupStatus),
});
export type PodGroup = Infer<typeof PodGroup>;
