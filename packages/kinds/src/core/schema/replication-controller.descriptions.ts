import type { Descriptions } from '../../description-texts.ts';

export const replicationController: Descriptions = {
  'core.ReplicationController': {
    $: 'Keeps a number of identical pods running. Deployments have taken its place.',
    spec: 'Desired number of pods, how they are found, and how new ones are made.',
    status: 'Observed number of pods; it may lag behind.',
  },
  'core.ReplicationControllerSpec': {
    $: 'The pods that a replication controller keeps.',
    replicas: 'Number of pods to keep. Defaults to 1; 0 is allowed.',
    minReadySeconds: 'Seconds that a new pod must be ready, without a crash, before it counts as available. Defaults to 0.',
    selector: 'Labels of the pods that count. Defaults to the labels of the template, which it must match.',
    template: 'What new pods are created from. Their restartPolicy must be Always.',
  },
  'core.ReplicationControllerStatus': {
    $: 'The observed state of a replication controller.',
    replicas: 'Number of pods that were last observed.',
    fullyLabeledReplicas: 'Number of pods that have all labels of the template.',
    readyReplicas: 'Number of pods that are ready.',
    availableReplicas: 'Number of pods that have been ready for at least minReadySeconds.',
    observedGeneration: 'Value of metadata.generation that the controller last acted on.',
    conditions: 'Observed conditions, such as ReplicaFailure.',
  },
  'core.ReplicationControllerCondition': {
    $: 'One observed aspect of the state of a replication controller.',
    type: 'ReplicaFailure: pods could not be created or deleted.',
  },
};
