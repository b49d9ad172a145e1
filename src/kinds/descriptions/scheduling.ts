import type { Descriptions } from '../descriptions.ts';

const preferences = {
  requiredDuringSchedulingIgnoredDuringExecution: 'What must hold when the pod is placed; later changes do not move it.',
  preferredDuringSchedulingIgnoredDuringExecution: 'What should hold when the pod is placed, each with a weight.',
};

/** What says where a pod may run, and how important it is. */
export const scheduling: Descriptions = {
  'core.Affinity': {
    $: 'Near or far from what a pod is to be placed.',
    nodeAffinity: 'Which nodes are wanted.',
    podAffinity: 'Which pods are to be near.',
    podAntiAffinity: 'Which pods are to be far.',
  },
  'core.NodeAffinity': { $: 'Which nodes are wanted.', ...preferences },
  'core.PodAffinity': { $: 'Which pods are to be near.', ...preferences },
  'core.PodAntiAffinity': { $: 'Which pods are to be far.', ...preferences },
  'core.PodAffinityTerm': {
    $: 'Pods, and what counts as one place.',
    labelSelector: 'The labels of the pods.',
    namespaces: 'The namespaces of the pods; that of this pod when none are given.',
    topologyKey: 'The label of nodes whose value makes one place, such as a zone.',
    namespaceSelector: 'The labels of the namespaces of the pods.',
  },
  'core.WeightedPodAffinityTerm': {
    $: 'Pods to be near or far, with a weight.',
    weight: 'How much it counts, from 1 to 100.',
    podAffinityTerm: 'Which pods, and what counts as one place.',
  },
  'core.PreferredSchedulingTerm': {
    $: 'Nodes to be preferred, with a weight.',
    weight: 'How much it counts, from 1 to 100.',
    preference: 'Which nodes.',
  },
  'core.NodeSelector': { $: 'Chooses nodes; one of the terms must hold.', nodeSelectorTerms: 'The terms.' },
  'core.NodeSelectorTerm': {
    $: 'Requirements on a node that must all hold.',
    matchExpressions: 'Requirements on its labels.',
    matchFields: 'Requirements on its fields.',
  },
  'core.NodeSelectorRequirement': {
    $: 'One requirement on a node.',
    key: 'The label or field.',
    operator: 'How it is compared: In, NotIn, Exists, DoesNotExist, Gt or Lt.',
  },
  'core.Taint': {
    $: 'A mark on a node that keeps pods away which do not tolerate it.',
    key: 'The name of the mark.',
    value: 'The value of the mark.',
    effect: 'What it does: NoSchedule, PreferNoSchedule or NoExecute.',
    timeAdded: 'When the mark was put there.',
  },
  'core.Toleration': {
    $: 'A mark that a pod puts up with.',
    key: 'The name of the mark; empty means every mark.',
    operator: 'Equal compares the value, Exists does not.',
    value: 'The value of the mark.',
    effect: 'The effect that is tolerated; empty means every effect.',
    tolerationSeconds: 'How many seconds NoExecute is put up with.',
  },
  'core.TopologySpreadConstraint': {
    $: 'How pods are spread over zones and the like.',
    maxSkew: 'By how much the number of pods in two places may differ.',
    topologyKey: 'The label of nodes whose value makes one place.',
    whenUnsatisfiable: 'What happens when it cannot be kept: DoNotSchedule or ScheduleAnyway.',
    labelSelector: 'The labels of the pods that are counted.',
    minDomains: 'How many places there must be at least.',
  },
  'core.TopologySelectorTerm': { $: 'Places where a volume may be made.', matchLabelExpressions: 'Requirements on the labels of nodes.' },
  'core.TopologySelectorLabelRequirement': { $: 'A label of nodes and the values it may have.', key: 'The label.' },
  'core.Binding': { $: 'Places a pod on a node.', target: 'The node.' },
  'scheduling.PriorityClass': {
    $: 'A name for a priority of pods.',
    value: 'The priority; the greater number goes first.',
    globalDefault: 'Whether pods that name no class get this one.',
    preemptionPolicy: 'Whether pods of the class may push others aside.',
  },
  'node.RuntimeClass': {
    $: 'A way of running containers.',
    handler: 'The name by which the container runtime knows it.',
    overhead: 'What a pod of the class needs besides its containers.',
    scheduling: 'Which nodes can run pods of the class.',
  },
  'node.Overhead': { $: 'What a pod needs besides its containers.', podFixed: 'How much of each resource.' },
  'node.Scheduling': {
    $: 'Which nodes can run pods of a runtime class.',
    nodeSelector: 'Labels that the nodes have.',
    tolerations: 'Tolerations that the pods get.',
  },
};
