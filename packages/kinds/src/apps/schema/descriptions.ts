import type { Descriptions } from '../../description-texts.ts';

const minReadySeconds = 'Seconds that a new pod must be ready, without a crash, before it counts as available. Defaults to 0.';
const revisionHistoryLimit = (what: string) => `Number of old ${what} to keep for a rollback. Defaults to 10.`;
const observedGeneration = 'Value of metadata.generation that the controller last acted on.';
const collisionCount = 'How often the hash of a new template collided with an existing name; the controller uses it to find another.';

export const apps: Descriptions = {
  'apps.Deployment': {
    $: 'Keeps a number of identical pods running, and moves them from one template to the next step by step.',
    spec: 'Desired pods and how they are updated.',
    status: 'Observed progress of the deployment.',
  },
  'apps.DeploymentSpec': {
    $: 'The desired behavior of a deployment.',
    replicas: 'Number of pods to keep. Defaults to 1; 0 is allowed.',
    selector: 'Labels of the pods that belong to the deployment. It must match the template and cannot be changed.',
    template: 'What new pods are created from. A change of it starts a rollout.',
    strategy: 'How old pods are replaced by new ones.',
    minReadySeconds,
    revisionHistoryLimit: revisionHistoryLimit('replica sets'),
    paused: 'Do not roll out changes of the template until it is false again.',
    progressDeadlineSeconds:
      'Seconds without progress after which the condition Progressing becomes False. Defaults to 600; the rollout itself goes on.',
  },
  'apps.DeploymentStrategy': {
    $: 'How old pods of a deployment are replaced.',
    type: 'RollingUpdate replaces pods step by step, Recreate deletes all of them first. Defaults to RollingUpdate.',
    rollingUpdate: 'Bounds of a rolling update. Only allowed with the type RollingUpdate.',
  },
  'apps.RollingUpdateDeployment': {
    $: 'Bounds of a rolling update of a deployment.',
    maxUnavailable:
      'Most pods that may be unavailable during the update, as a number or a percentage rounded down. Must not be 0 if maxSurge is 0. Defaults to 25%.',
    maxSurge:
      'Most pods that may exist beyond the desired number, as a number or a percentage rounded up. Must not be 0 if maxUnavailable is 0. Defaults to 25%.',
  },
  'apps.DeploymentStatus': {
    $: 'The observed state of a deployment.',
    observedGeneration,
    replicas: 'Number of pods of the deployment that are not being deleted.',
    updatedReplicas: 'Number of pods that were created from the present template.',
    readyReplicas: 'Number of pods that are ready.',
    availableReplicas: 'Number of pods that have been ready for at least minReadySeconds.',
    unavailableReplicas: 'Number of pods that are missing or not yet available.',
    conditions: 'Observed conditions: Available, Progressing and ReplicaFailure.',
    collisionCount,
    terminatingReplicas: 'Number of pods of the deployment that are being deleted and have not ended yet.',
  },
  'apps.DeploymentCondition': {
    $: 'One observed aspect of the state of a deployment.',
    type: 'Available, Progressing, or ReplicaFailure if pods could not be created or deleted.',
  },
  'apps.ReplicaSet': {
    $: 'Keeps a number of identical pods running. Deployments create them; they are seldom written by hand.',
    spec: 'Desired number of pods, how they are found, and how new ones are made.',
    status: 'Observed number of pods; it may lag behind.',
  },
  'apps.ReplicaSetSpec': {
    $: 'The pods that a replica set keeps.',
    replicas: 'Number of pods to keep. Defaults to 1; 0 is allowed.',
    minReadySeconds,
    selector: 'Labels of the pods that belong to the set. It must match the template and cannot be changed.',
    template: 'What new pods are created from. Existing pods are not touched when it changes.',
  },
  'apps.ReplicaSetStatus': {
    $: 'The observed state of a replica set.',
    replicas: 'Number of pods that were last observed.',
    fullyLabeledReplicas: 'Number of pods that have all labels of the template.',
    readyReplicas: 'Number of pods that are ready.',
    availableReplicas: 'Number of pods that have been ready for at least minReadySeconds.',
    observedGeneration,
    conditions: 'Observed conditions, such as ReplicaFailure.',
    terminatingReplicas: 'Number of pods that are being deleted and have not ended yet.',
  },
  'apps.ReplicaSetCondition': {
    $: 'One observed aspect of the state of a replica set.',
    type: 'ReplicaFailure: pods could not be created or deleted.',
  },
  'apps.StatefulSet': {
    $: 'Keeps pods with stable names and storage of their own: web-0, web-1 and so on, each with the same claim after a restart.',
    spec: 'Desired pods, their claims, and how they are updated.',
    status: 'Observed state of the pods.',
  },
  'apps.StatefulSetSpec': {
    $: 'The desired behavior of a stateful set. Only replicas, template, updateStrategy, minReadySeconds and the retention of claims can be changed.',
    replicas: 'Number of pods to keep. Defaults to 1; 0 is allowed.',
    selector: 'Labels of the pods that belong to the set. It must match the template and cannot be changed.',
    template: 'What the pods are created from, apart from their names and claims.',
    volumeClaimTemplates: 'Claims that every pod gets for its own. One with the name of a volume of the template takes its place.',
    serviceName: 'Headless service that gives the pods their DNS names. It must exist before the set.',
    podManagementPolicy:
      'OrderedReady starts and stops pods one after the other, Parallel all at once. Defaults to OrderedReady; cannot be changed.',
    updateStrategy: 'How pods are moved to a new template.',
    revisionHistoryLimit: revisionHistoryLimit('controller revisions'),
    minReadySeconds,
    persistentVolumeClaimRetentionPolicy: 'What happens to the claims of the set. An alpha feature; by default claims are kept.',
    ordinals: 'How the pods are numbered: from 0 to replicas - 1, unless it says otherwise.',
  },
  'apps.StatefulSetUpdateStrategy': {
    $: 'How pods of a stateful set are moved to a new template.',
    type: 'RollingUpdate replaces pods from the highest number down; OnDelete replaces a pod when it is deleted by hand. Defaults to RollingUpdate.',
    rollingUpdate: 'Settings of the rolling update. Only allowed with the type RollingUpdate.',
  },
  'apps.StatefulSetOrdinals': {
    $: 'How the pods of a stateful set are numbered.',
    start: 'The number of the first pod. Defaults to 0.',
  },
  'apps.RollingUpdateStatefulSetStrategy': {
    $: 'Settings of a rolling update of a stateful set.',
    partition: 'Pods with a lower number keep the old template, for a staged update. Defaults to 0: all are updated.',
    maxUnavailable:
      'Most pods that may be unavailable during the update, as a number or a percentage rounded up. An alpha feature; defaults to 1.',
  },
  'apps.StatefulSetPersistentVolumeClaimRetentionPolicy': {
    $: 'What happens to the claims of a stateful set: Retain or Delete.',
    whenDeleted: 'Retain keeps the claims when the set is deleted, Delete deletes them with it. Defaults to Retain.',
    whenScaled: 'Retain keeps the claims of pods that are scaled away, Delete deletes them with those pods. Defaults to Retain.',
  },
  'apps.StatefulSetStatus': {
    $: 'The observed state of a stateful set.',
    observedGeneration,
    replicas: 'Number of pods that the controller has created.',
    readyReplicas: 'Number of pods that are ready.',
    currentReplicas: 'Number of pods of currentRevision.',
    updatedReplicas: 'Number of pods of updateRevision.',
    currentRevision: 'Revision of the pods that are not yet updated.',
    updateRevision: 'Revision that the pods are being updated to.',
    collisionCount,
    conditions: 'Observed conditions, at most one of each type.',
    availableReplicas: 'Number of pods that have been ready for at least minReadySeconds.',
  },
  'apps.StatefulSetCondition': { $: 'One observed aspect of the state of a stateful set.' },
  'apps.DaemonSet': {
    $: 'Runs one pod on every node, or on every node that its template selects.',
    spec: 'Desired pods and how they are updated.',
    status: 'On how many nodes a pod should run and does.',
  },
  'apps.DaemonSetSpec': {
    $: 'The desired behavior of a daemon set.',
    selector: 'Labels of the pods that belong to the set. It must match the template and cannot be changed.',
    template: 'What the pods are created from. Its node selector and affinity choose the nodes.',
    updateStrategy: 'How pods are moved to a new template.',
    minReadySeconds,
    revisionHistoryLimit: revisionHistoryLimit('controller revisions'),
  },
  'apps.DaemonSetUpdateStrategy': {
    $: 'How pods of a daemon set are moved to a new template.',
    type: 'RollingUpdate replaces pods step by step; OnDelete replaces a pod when it is deleted by hand. Defaults to RollingUpdate.',
    rollingUpdate: 'Bounds of the rolling update. Only allowed with the type RollingUpdate.',
  },
  'apps.RollingUpdateDaemonSet': {
    $: 'Bounds of a rolling update of a daemon set.',
    maxUnavailable:
      'Most nodes whose pod may be unavailable during the update, as a number or a percentage rounded up. Must not be 0 if maxSurge is 0. Defaults to 1.',
    maxSurge:
      'Most nodes that may run the old and the new pod at once, as a number or a percentage rounded up. Must not be 0 if maxUnavailable is 0. Defaults to 0.',
  },
  'apps.DaemonSetStatus': {
    $: 'The observed state of a daemon set.',
    currentNumberScheduled: 'Number of nodes that run a pod of the set and should.',
    numberMisscheduled: 'Number of nodes that run a pod of the set but should not.',
    desiredNumberScheduled: 'Number of nodes that should run a pod of the set.',
    numberReady: 'Number of nodes that should run a pod of the set and have a ready one.',
    observedGeneration,
    updatedNumberScheduled: 'Number of nodes that run a pod of the present template.',
    numberAvailable: 'Number of nodes whose pod has been ready for at least minReadySeconds.',
    numberUnavailable: 'Number of nodes that should run a pod of the set and have none that is available.',
    collisionCount,
    conditions: 'Observed conditions, at most one of each type.',
  },
  'apps.DaemonSetCondition': { $: 'One observed aspect of the state of a daemon set.' },
  'apps.ControllerRevision': {
    $: 'A snapshot of the template of a stateful set or daemon set, kept by its controller for updates and rollbacks.',
    data: 'Serialized state of the revision. Cannot be changed.',
    revision: 'Number of the revision; the greatest is the latest.',
  },
};
