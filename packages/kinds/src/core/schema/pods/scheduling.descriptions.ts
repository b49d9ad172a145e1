import type { Descriptions } from '../../../description-texts.ts';

const weight = 'Points that count for a node that matches, from 1 to 100. The node with the most points in all is preferred.';
const operator = 'How the key is compared with values: In, NotIn, Exists, DoesNotExist, Gt or Lt.';

export const scheduling: Descriptions = {
  'core.Affinity': {
    $: 'Rules that draw a pod to nodes and pods, or keep it away from them.',
    nodeAffinity: 'Which nodes the pod requires or prefers.',
    podAffinity: 'Which pods the pod requires or prefers in the same domain, such as a node or zone.',
    podAntiAffinity: 'Which pods the pod avoids in the same domain.',
  },
  'core.NodeAffinity': {
    $: 'Which nodes a pod requires or prefers.',
    requiredDuringSchedulingIgnoredDuringExecution:
      'Nodes that the pod can be scheduled on. A pod stays when the labels of its node change later.',
    preferredDuringSchedulingIgnoredDuringExecution:
      'Nodes that are preferred, each term with a weight. The pod is scheduled even if none matches.',
  },
  'core.PodAffinity': {
    $: 'Which pods must or should run in the same domain as this one.',
    requiredDuringSchedulingIgnoredDuringExecution:
      'Terms that must all be met when the pod is scheduled: the domain already runs a matching pod.',
    preferredDuringSchedulingIgnoredDuringExecution:
      'Terms that should be met, each with a weight: domains that run matching pods are preferred.',
  },
  'core.PodAntiAffinity': {
    $: 'Which pods must or should not run in the same domain as this one.',
    requiredDuringSchedulingIgnoredDuringExecution:
      'Terms that must all be met when the pod is scheduled: the domain runs no matching pod.',
    preferredDuringSchedulingIgnoredDuringExecution:
      'Terms that should be met, each with a weight: domains that run matching pods are avoided.',
  },
  'core.PodAffinityTerm': {
    $: 'A set of pods, and the label of nodes that defines one domain.',
    labelSelector: 'Selects the pods by their labels.',
    namespaces: 'Names of namespaces whose pods count, in addition to those of namespaceSelector. Without both, the namespace of this pod.',
    topologyKey: 'Label of nodes: nodes with the same value form one domain. Must not be empty.',
    namespaceSelector: 'Selects, by their labels, namespaces whose pods count. An empty selector means all namespaces.',
    matchLabelKeys:
      'Labels of this pod whose values the other pods must have too, besides labelSelector. They become part of it at creation.',
    mismatchLabelKeys: 'Labels of this pod whose values the other pods must not have. They become part of labelSelector at creation.',
  },
  'core.WeightedPodAffinityTerm': {
    $: 'A term about pods, with a weight.',
    weight: 'Points that count for a node whose domain meets the term, from 1 to 100.',
    podAffinityTerm: 'Which pods in which domain are meant.',
  },
  'core.PreferredSchedulingTerm': {
    $: 'A term about nodes, with a weight. An empty term matches every node.',
    weight,
    preference: 'Which nodes the weight applies to.',
  },
  'core.NodeSelector': {
    $: 'Selects nodes: a node matches if it meets at least one of the terms.',
    nodeSelectorTerms: 'Alternatives, of which one must be met. Required.',
  },
  'core.NodeSelectorTerm': {
    $: 'Requirements on a node that must all be met. An empty term matches no node.',
    matchExpressions: 'Requirements on the labels of the node.',
    matchFields: 'Requirements on fields of the node; only metadata.name is supported.',
  },
  'core.NodeSelectorRequirement': {
    $: 'One requirement on a label or field of a node.',
    key: 'Label or field that is compared.',
    operator,
    values: 'At least one value for In and NotIn, exactly one integer for Gt and Lt, none for Exists and DoesNotExist.',
  },
  'core.Taint': {
    $: 'A mark on a node that keeps away pods without a matching toleration.',
    key: 'Key of the taint, in the form of a label key.',
    value: 'Text that tolerations compare; may be empty.',
    effect: 'NoSchedule keeps new pods away, PreferNoSchedule tries to, NoExecute also evicts pods that already run.',
    timeAdded: 'When the taint was added. Only written for NoExecute.',
  },
  'core.Toleration': {
    $: 'Lets a pod run on nodes with matching taints.',
    key: 'Key of the taints that are tolerated. Empty, with the operator Exists, means all of them.',
    operator: 'Equal compares the value, Exists tolerates every value; Lt and Gt compare numbers. Defaults to Equal.',
    value: 'Text that the taint must have with the operator Equal. Must be empty with Exists.',
    effect: 'Effect that is tolerated: NoSchedule, PreferNoSchedule or NoExecute. Empty means every effect.',
    tolerationSeconds:
      'Seconds that a pod stays after a NoExecute taint was added; 0 or less evicts at once. Without it the pod stays forever.',
  },
  'core.TopologySpreadConstraint': {
    $: 'How matching pods are spread over the domains of the cluster.',
    maxSkew:
      'Largest allowed difference between the number of matching pods in a domain and that of the least filled one. Must be positive.',
    topologyKey: 'Label of nodes: nodes with the same value form one domain.',
    whenUnsatisfiable: 'What happens to a pod that would break the constraint: DoNotSchedule, or ScheduleAnyway with the least skew.',
    labelSelector: 'Selects the pods that are counted, in the namespace of this pod.',
    minDomains:
      'Number of domains below which the least filled one counts as empty. Must be positive, and only with DoNotSchedule. Defaults to 1.',
    nodeAffinityPolicy: 'Honor counts only nodes that the node affinity of the pod allows, Ignore all of them. Defaults to Honor.',
    nodeTaintsPolicy: 'Honor counts only nodes without taints and those that the pod tolerates, Ignore all of them. Defaults to Ignore.',
    matchLabelKeys:
      'Labels whose values in this pod select the pods that are counted, together with labelSelector. A key that the pod does not have is ignored.',
  },
  'core.TopologySelectorTerm': {
    $: 'A part of the cluster, by labels of its nodes; all requirements must be met.',
    matchLabelExpressions: 'Requirements on the labels of nodes.',
  },
  'core.TopologySelectorLabelRequirement': {
    $: 'A label and the values that it may have.',
    key: 'Label of nodes that is compared.',
    values: 'Allowed values of the label, of which there must be at least one.',
  },
  'core.Binding': {
    $: 'Assigns a pod to a node. Schedulers create it through the binding subresource of the pod.',
    target: 'Node that the pod, which has the name of the binding, is assigned to.',
  },
};
