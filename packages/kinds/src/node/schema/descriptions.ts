import type { Descriptions } from '../../description-texts.ts';

export const node: Descriptions = {
  'node.RuntimeClass': {
    $: 'A container runtime configuration that pods choose by name.',
    handler: 'Name of the configuration in the container runtime of the nodes, a DNS label. Cannot be changed.',
    overhead: 'Resources that a pod of this class takes besides those of its containers. Admission adds them to the pod.',
    scheduling: 'Which nodes support the class. Without it all nodes are assumed to.',
  },
  'node.Overhead': {
    $: 'Resources that running a pod takes by itself.',
    podFixed: 'Fixed amount of each resource for one pod.',
  },
  'node.Scheduling': {
    $: 'Which nodes support a runtime class.',
    nodeSelector:
      'Labels of the nodes that support it. They are merged into the node selector of the pod; a contradiction refuses the pod.',
    tolerations: 'Tolerations that are added to the pods of the class, without repeats.',
  },
};
