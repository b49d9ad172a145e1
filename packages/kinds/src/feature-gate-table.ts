/** The feature gates of 1.24. What later releases changed is in `feature-gate-history.ts`, what gates do in docs/feature-gates.md. */

export type GateStage = 'alpha' | 'beta' | 'GA' | 'deprecated';
/** The component that has the feature: this server and its controllers, another component of a cluster, or the build of a stock server. */
export type GateConcern = 'server' | 'controllers' | 'scheduler' | 'node' | 'implementation';

export interface Gate {
  readonly stage: GateStage;
  /** Release in which the stage began. */
  readonly since: string;
  readonly default: boolean;
  readonly concerns: GateConcern;
  /** It cannot be switched off, not even on a stock server. */
  readonly locked: boolean;
  /** Gates that have to be on, too. */
  readonly needs?: readonly string[];
}
type Traits = Partial<Omit<Gate, 'stage' | 'since'>>;

const gate = (stage: GateStage, since: string, initial: boolean, traits: Traits): Gate => ({
  stage,
  since,
  default: initial,
  concerns: 'server',
  locked: stage === 'GA',
  ...traits,
});
const alpha = (since: string, traits: Traits = {}): Gate => gate('alpha', since, false, traits);
const beta = (since: string, traits: Traits = {}): Gate => gate('beta', since, true, traits);
const ga = (since: string, traits: Traits = {}): Gate => gate('GA', since, true, traits);
const deprecated = (since: string, traits: Traits = {}): Gate => gate('deprecated', since, false, traits);

const off: Traits = { default: false };
const node: Traits = { concerns: 'node' };
const controllers: Traits = { concerns: 'controllers' };
const scheduler: Traits = { concerns: 'scheduler' };
const implementation: Traits = { concerns: 'implementation' };

export const gates = {
  // The API machinery.
  APIListChunking: beta('1.9'),
  APIPriorityAndFairness: beta('1.20'),
  APIResponseCompression: beta('1.16'),
  APIServerIdentity: alpha('1.20'),
  APIServerTracing: alpha('1.22'),
  AdvancedAuditing: ga('1.12'),
  ContextualLogging: alpha('1.24', implementation),
  CustomResourceValidationExpressions: alpha('1.23'),
  DryRun: ga('1.19'),
  EfficientWatchResumption: ga('1.24'),
  OpenAPIEnums: beta('1.24'),
  OpenAPIV3: beta('1.24'),
  RemainingItemCount: beta('1.16'),
  RemoveSelfLink: ga('1.24'),
  SelectorIndex: ga('1.20'),
  ServerSideApply: ga('1.22'),
  ServerSideFieldValidation: alpha('1.23'),
  StorageVersionAPI: alpha('1.20'),
  StorageVersionHash: beta('1.15'),
  WarningHeaders: ga('1.22'),
  WatchBookmark: ga('1.17'),
  // Who may do what, and admission.
  BoundServiceAccountTokenVolume: ga('1.22'),
  CSRDuration: ga('1.24'),
  LegacyServiceAccountTokenNoAutoGeneration: beta('1.24'),
  PodSecurity: beta('1.23'),
  RootCAConfigMap: ga('1.21'),
  ServiceAccountIssuerDiscovery: ga('1.21'),
  // Workloads.
  AppArmor: beta('1.4'),
  ControllerManagerLeaderMigration: ga('1.24'),
  CronJobControllerV2: ga('1.22'),
  CronJobTimeZone: alpha('1.24'),
  DaemonSetUpdateSurge: beta('1.22'),
  DefaultPodTopologySpread: ga('1.24'),
  DisableCloudProviders: alpha('1.22', controllers),
  DownwardAPIHugePages: beta('1.21'),
  EphemeralContainers: beta('1.23'),
  ExpandedDNSConfig: alpha('1.22'),
  GRPCContainerProbe: beta('1.24'),
  HPAContainerMetrics: alpha('1.20'),
  HPAScaleToZero: alpha('1.16'),
  HugePageStorageMediumSize: ga('1.22'),
  IdentifyPodOS: beta('1.24'),
  ImmutableEphemeralVolumes: ga('1.21'),
  IndexedJob: ga('1.24'),
  JobMutableNodeSchedulingDirectives: beta('1.23'),
  JobReadyPods: beta('1.24'),
  JobTrackingWithFinalizers: beta('1.23', off),
  LogarithmicScaleDown: beta('1.22'),
  MaxUnavailableStatefulSet: alpha('1.24'),
  MinDomainsInPodTopologySpread: alpha('1.24'),
  NodeOutOfServiceVolumeDetach: alpha('1.24', controllers),
  NonPreemptingPriority: ga('1.24'),
  PodAffinityNamespaceSelector: ga('1.24'),
  PodDeletionCost: beta('1.22'),
  PodDisruptionBudget: ga('1.21'),
  PodOverhead: ga('1.24'),
  PreferNominatedNode: ga('1.24', scheduler),
  ProbeTerminationGracePeriod: beta('1.22', off),
  ProcMountType: alpha('1.12'),
  SetHostnameAsFQDN: ga('1.22'),
  StatefulSetAutoDeletePVC: alpha('1.23'),
  StatefulSetMinReadySeconds: beta('1.23'),
  SuspendJob: ga('1.24'),
  TTLAfterFinished: ga('1.23'),
  WindowsHostProcessContainers: beta('1.23'),
  // Networking.
  EndpointSlice: ga('1.21'),
  EndpointSliceNodeName: ga('1.21'),
  EndpointSliceProxying: ga('1.22', node),
  EndpointSliceTerminatingCondition: beta('1.22'),
  IPv6DualStack: ga('1.23'),
  IngressClassNamespacedParams: ga('1.23'),
  MixedProtocolLBService: beta('1.24'),
  NetworkPolicyEndPort: beta('1.22'),
  NetworkPolicyStatus: alpha('1.24'),
  ProxyTerminatingEndpoints: alpha('1.22', node),
  ServiceIPStaticSubrange: alpha('1.24'),
  ServiceInternalTrafficPolicy: beta('1.22'),
  ServiceLBNodePortControl: ga('1.24'),
  ServiceLoadBalancerClass: ga('1.24'),
  TopologyAwareHints: beta('1.23'),
  WinDSR: alpha('1.14', node),
  WinOverlay: beta('1.20', node),
  WindowsEndpointSliceProxying: ga('1.22', node),
  // Storage.
  AnyVolumeDataSource: beta('1.24'),
  CSIInlineVolume: beta('1.16'),
  CSIMigration: beta('1.17'),
  CSIMigrationAWS: beta('1.17', controllers),
  CSIMigrationAzureDisk: ga('1.24', { ...controllers, locked: false }),
  CSIMigrationAzureFile: beta('1.21', controllers),
  CSIMigrationGCE: beta('1.17', controllers),
  CSIMigrationOpenStack: ga('1.24', controllers),
  CSIMigrationPortworx: alpha('1.23', controllers),
  CSIMigrationRBD: alpha('1.23', controllers),
  CSIMigrationvSphere: beta('1.19', { ...controllers, ...off }),
  CSIServiceAccountToken: ga('1.22'),
  CSIStorageCapacity: ga('1.24'),
  CSIVolumeFSGroupPolicy: ga('1.23'),
  ConfigurableFSGroupPolicy: ga('1.23'),
  ExpandCSIVolumes: ga('1.24'),
  ExpandInUsePersistentVolumes: ga('1.24'),
  ExpandPersistentVolumes: ga('1.24'),
  GenericEphemeralVolume: ga('1.23'),
  HonorPVReclaimPolicy: alpha('1.23', controllers),
  InTreePluginAWSUnregister: alpha('1.21', controllers),
  InTreePluginAzureDiskUnregister: alpha('1.21', controllers),
  InTreePluginAzureFileUnregister: alpha('1.21', controllers),
  InTreePluginGCEUnregister: alpha('1.21', controllers),
  InTreePluginOpenStackUnregister: alpha('1.21', controllers),
  InTreePluginPortworxUnregister: alpha('1.23', controllers),
  InTreePluginRBDUnregister: alpha('1.23', controllers),
  InTreePluginvSphereUnregister: alpha('1.21', controllers),
  LocalStorageCapacityIsolation: beta('1.10'),
  ReadWriteOncePod: alpha('1.22'),
  RecoverVolumeExpansionFailure: alpha('1.23'),
  StorageObjectInUseProtection: ga('1.11'),
  VolumeCapacityPriority: alpha('1.21', scheduler),
  VolumeSubpath: ga('1.10'),
  // Node agents.
  CPUManager: beta('1.10', node),
  CPUManagerPolicyAlphaOptions: alpha('1.23', node),
  CPUManagerPolicyBetaOptions: beta('1.23', node),
  CPUManagerPolicyOptions: beta('1.23', node),
  CSIVolumeHealth: alpha('1.21', node),
  CustomCPUCFSQuotaPeriod: alpha('1.12', node),
  DelegateFSGroupToCSIDriver: beta('1.23', node),
  DevicePlugins: beta('1.10', node),
  DisableAcceleratorUsageMetrics: beta('1.20', node),
  DisableKubeletCloudCredentialProviders: alpha('1.23', node),
  DynamicKubeletConfig: deprecated('1.22'),
  ExecProbeTimeout: ga('1.20', { ...node, locked: false }),
  ExperimentalHostUserNamespaceDefaulting: beta('1.5', { ...node, ...off }),
  GracefulNodeShutdown: beta('1.21', node),
  GracefulNodeShutdownBasedOnPodPriority: beta('1.24', node),
  KubeletCredentialProviders: beta('1.24', node),
  KubeletInUserNamespace: alpha('1.22', node),
  KubeletPodResources: beta('1.15', node),
  KubeletPodResourcesGetAllocatable: beta('1.23', node),
  LocalStorageCapacityIsolationFSQuotaMonitoring: alpha('1.15', node),
  MemoryManager: beta('1.22', node),
  MemoryQoS: alpha('1.22', node),
  NodeSwap: alpha('1.22', node),
  PodAndContainerStatsFromCRI: alpha('1.23', node),
  QOSReserved: alpha('1.11', node),
  RotateKubeletServerCertificate: beta('1.12', node),
  SeccompDefault: alpha('1.22', node),
  SizeMemoryBackedVolumes: beta('1.22', node),
  TopologyManager: beta('1.18', node),
} as const satisfies Record<string, Gate>;

export type GateName = keyof typeof gates;
