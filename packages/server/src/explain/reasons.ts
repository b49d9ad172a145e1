/** Reasons of causes, each one word for programs. Every reason has a constructed case in the tests. */

const deletionReasons = [
  'APIUnavailable',
  'BudgetRefusesEviction',
  'ClaimInUse',
  'ContentRemains',
  'DependentBlocks',
  'Finalizer',
  'FinalizerOnContent',
  'GracePeriodRunning',
  'NamespaceFinalizer',
  'NotDeleting',
  'NothingFound',
  'VolumeBound',
  'WaitsForController',
  'WebhookMayRefuse',
  'WebhookUnreachable',
] as const;

const placementReasons = [
  'InsufficientResources',
  'NoNodes',
  'NoScheduler',
  'NodeSelector',
  'NodeUnschedulable',
  'NodesRefuse',
  'OtherScheduler',
  'PodAffinity',
  'PortsTaken',
  'Preempting',
  'SchedulingGated',
  'TopologySpread',
  'Unschedulable',
  'UntoleratedTaint',
  'Volumes',
  'WaitsForScheduler',
] as const;

const claimReasons = [
  'ClaimDeleting',
  'ClaimMissing',
  'NoVolumeFits',
  'ProvisioningFailed',
  'StorageClassMissing',
  'VolumeLost',
  'VolumeMissing',
  'VolumeTaken',
  'WaitsForBinder',
  'WaitsForConsumer',
  'WaitsForProvisioner',
] as const;

const podReasons = [
  'Completed',
  'ConfigMapKeyMissing',
  'ConfigMapMissing',
  'ContainerNotReady',
  'ContainerNotStarted',
  'Crash',
  'ImagePull',
  'InitContainerRuns',
  'NotPending',
  'NotReady',
  'NotStarted',
  'OutOfMemory',
  'ReadinessGate',
  'ReadinessProbe',
  'SecretKeyMissing',
  'SecretMissing',
  'StartupProbe',
  'VolumeNotMounted',
] as const;

const workloadReasons = [
  'BudgetUsed',
  'JobRuns',
  'LimitRange',
  'NoNodesMatch',
  'NotObserved',
  'OnDelete',
  'Paused',
  'PodRefused',
  'PodSecurity',
  'PodsMissing',
  'ProgressDeadlineExceeded',
  'QuotaExceeded',
  'RolloutInProgress',
  'ServiceAccountMissing',
  'Suspended',
  'WaitsForAvailability',
  'WebhookRefuses',
] as const;

const otherReasons = [
  'Condition',
  'Deleting',
  'Failed',
  'IngressClassMissing',
  'LoadBalancerPending',
  'NamesConflict',
  'NodeGone',
  'NodeNotReady',
  'NodeSilent',
  'NotEstablished',
  'PortMissing',
  'SelectorMatchesNothing',
  'ServiceMissing',
  'ServicePortMissing',
] as const;

export const reasons = [
  ...deletionReasons,
  ...placementReasons,
  ...claimReasons,
  ...podReasons,
  ...workloadReasons,
  ...otherReasons,
] as const;

export type Reason = (typeof reasons)[number];

/** A word of another program, such as Evicted, is the reason as it is. */
export const reportedReason = (word: string): Reason => word as Reason;
