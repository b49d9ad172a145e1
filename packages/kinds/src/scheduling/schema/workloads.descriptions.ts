import type { Descriptions } from '../../description-texts.ts';

const group = {
  schedulingPolicy: 'Whether the pods are scheduled together.',
  schedulingConstraints: 'Where the pods may be, with regard to each other.',
  resourceClaims: 'Claims that the pods share. At most 4.',
  disruptionMode: 'Pod: pods may be evicted one by one. PodGroup: only all of them.',
  priorityClassName: 'The priority class of the group.',
  priority: 'The priority of the group. The server fills it in from the class.',
};

export const workloads: Descriptions = {
  'scheduling.Workload': { $: 'What the groups of pods of one application have in common.', spec: 'The groups of pods.' },
  'scheduling.WorkloadSpec': {
    $: 'The groups of pods of a workload.',
    controllerRef: 'The object that makes the pods, for people and tools to read.',
    podGroupTemplates: 'Templates of the groups. From 1 to 8.',
  },
  'scheduling.TypedLocalObjectReference': {
    $: 'Another object of the same namespace.',
    apiGroup: 'The API group of the object; empty for the core group.',
    kind: 'The kind of the object.',
    name: 'The name of the object.',
  },
  'scheduling.PodGroupTemplate': { $: 'A template of groups of pods.', name: 'The name of the template in the workload.', ...group },
  'scheduling.PodGroup': {
    $: 'A group of pods that are scheduled by one policy.',
    spec: 'The policy of the group.',
    status: 'Whether the pods are scheduled.',
  },
  'scheduling.PodGroupSpec': {
    $: 'The policy of a group of pods.',
    podGroupTemplateRef: 'The template that the group was made of.',
    ...group,
  },
  'scheduling.PodGroupStatus': {
    $: 'The observed state of a group of pods.',
    conditions: 'PodGroupScheduled and DisruptionTarget.',
    resourceClaimStatuses: 'The claims that were made for the group.',
  },
  'scheduling.PodGroupSchedulingPolicy': {
    $: 'How pods of a group are scheduled; one policy is given.',
    basic: 'One by one.',
    gang: 'All or none.',
  },
  'scheduling.BasicSchedulingPolicy': { $: 'Pods are scheduled one by one.' },
  'scheduling.GangSchedulingPolicy': {
    $: 'Pods are scheduled together.',
    minCount: 'How many pods must find a place before any of them starts. Must be positive.',
  },
  'scheduling.PodGroupSchedulingConstraints': {
    $: 'Where pods of a group may be, with regard to each other.',
    topology: 'Topologies that must be the same for all pods. At most one.',
  },
  'scheduling.TopologyConstraint': { $: 'A topology that must be the same for all pods.', key: 'The label of nodes that names it.' },
  'scheduling.PodGroupResourceClaim': {
    $: 'A claim that the pods of a group share. Either a claim or a template is named.',
    name: 'The name of the claim within the group.',
    resourceClaimName: 'A claim of the namespace.',
    resourceClaimTemplateName: 'A template that a claim for the group is made of.',
  },
  'scheduling.PodGroupResourceClaimStatus': {
    $: 'A claim that was made for a group.',
    name: 'The name of the claim within the group.',
    resourceClaimName: 'The claim that was made.',
  },
  'scheduling.PodGroupTemplateReference': { $: 'The template of a group.', workload: 'The template stands in a workload.' },
  'scheduling.WorkloadPodGroupTemplateReference': {
    $: 'A template of a workload.',
    workloadName: 'The name of the workload in the namespace of the group.',
    podGroupTemplateName: 'The name of the template in the workload.',
  },
};
