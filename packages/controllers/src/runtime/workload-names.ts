/** Names of the controllers of workloads, known also where these are not loaded. A test holds them against the controllers. */
export const workloadControllerNames: readonly string[] = [
  'attachdetach',
  'cronjob',
  'daemonset',
  'deployment',
  'ephemeral-volume',
  'horizontalpodautoscaling',
  'job',
  'nodelifecycle',
  'persistentvolume-binder',
  'podgc',
  'replicaset',
  'replicationcontroller',
  'statefulset',
];
