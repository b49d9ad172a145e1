/**
 * Feature gates after 1.24, from the stock servers of each release: what became different, and gates that came later.
 *
 *   NAME CONCERN MINOR:STAGE… needs:OTHER,…
 *
 * STAGE is `A` (alpha), `B` (beta), `GA` or `D` (deprecated), with `+` (on) or `-` (off), and `L` (locked); a lone `-`: the gate went.
 * CONCERN is `-` for a gate that 1.24 has, too (`feature-gates.ts`). `needs`: gates that have to be on as well, which releases check since
 * 1.35.
 */
export const gateHistory = `
APIListChunking - 29:GAL 33:-
APIPriorityAndFairness - 29:GAL 31:-
APISelfSubjectReview server 26:A- 27:B+ 28:GAL 30:-
APIServerIdentity - 26:B+
APIServerTracing - 27:B+ 34:GAL
APIServingWithRoutine server 30:A-
AdmissionWebhookMatchConditions server 27:A- 28:B+ 30:GAL 33:-
AdvancedAuditing - 27:GAL 28:-
AggregatedDiscoveryEndpoint server 26:A- 27:B+ 30:GAL 33:-
AggregatedDiscoveryRemoveBetaType server 33:D+ 35:D+L
AllowDNSOnlyNodeCSR node 31:D-
AllowInsecureKubeletCertificateSigningRequests server 31:D-
AllowOverwriteTerminationGracePeriodSeconds node 32:D- 35:D-L
AllowParsingUserUIDFromCertAuth server 33:B+
AllowServiceExternalIPs node 36:GA
AllowServiceLBStatusOnNonLB server 29:D- 32:D-L 35:-
AllowUnsafeMalformedObjectDeletion server 32:A-
AnonymousAuthConfigurableEndpoints server 31:A- 32:B+ 34:GAL
AnyVolumeDataSource - 33:GAL
AppArmor - 31:GAL 33:-
AppArmorFields server 30:B+ 31:GAL 33:-
AtomicFIFO implementation 36:B+
AuthorizeNodeWithSelectors server 31:A- 32:B+ 34:GAL needs:AuthorizeWithSelectors
AuthorizePodWebsocketUpgradeCreatePermission server 35:B+
AuthorizeWithSelectors server 31:A- 32:B+ 34:GAL
BoundServiceAccountTokenVolume - 25:-
BtreeWatchCache server 32:B+ 33:GAL
CBORServingAndStorage server 32:A-
CPUManager - 26:GAL 33:-
CPUManagerPolicyOptions - 33:GAL
CRDObservedGenerationTracking server 35:B- 36:B+
CRDValidationRatcheting server 28:A- 30:B+ 33:GAL
CRIListStreaming node 36:A-
CSIInlineVolume - 25:GAL 27:-
CSIMigration - 25:GAL 27:-
CSIMigrationAWS - 25:GAL 27:-
CSIMigrationAzureDisk - 25:GAL 27:-
CSIMigrationAzureFile - 26:GA 27:GAL 30:-
CSIMigrationGCE - 25:GAL 28:-
CSIMigrationOpenStack - 26:-
CSIMigrationPortworx - 25:B- 31:B+ 33:GAL 36:-
CSIMigrationRBD - 28:D- 31:-
CSIMigrationvSphere - 25:B+ 26:GA 27:GAL 29:-
CSINodeExpandSecret server 25:A- 27:B+ 29:GAL 31:-
CSIServiceAccountToken - 25:-
CSIServiceAccountTokenSecrets server 35:B+ 36:GAL
CSIStorageCapacity - 28:-
CSIVolumeFSGroupPolicy - 25:-
CSRDuration - 26:-
ChangeContainerStatusOnKubeletRestart node 35:D-
ClearingNominatedNodeNameAfterBinding server 34:A- 35:B+
ClientsAllowCARotation implementation 36:B+
ClientsAllowCBOR implementation 32:A-
ClientsAllowTLSCacheGC implementation 36:B+
ClientsPreferCBOR implementation 32:A-
CloudControllerManagerWatchBasedRoutesReconciliation controllers 35:A-
CloudControllerManagerWebhook controllers 27:A-
CloudDualStackNodeIPs controllers 27:A- 29:B+ 30:GAL 32:-
ClusterTrustBundle server 27:A- 33:B-
ClusterTrustBundleProjection server 29:A- 33:B- needs:ClusterTrustBundle
ComponentFlagz implementation 32:A- 36:B+
ComponentSLIs server 26:A- 27:B+ 32:GAL 35:-
ComponentStatusz implementation 32:A- 36:B+
ConcurrentWatchObjectDecode server 31:B-
ConfigurableFSGroupPolicy - 25:-
ConsistentHTTPGetHandlers node 26:GA 30:GAL 31:-
ConsistentListFromCache server 28:A- 31:B+ 34:GAL
ConstrainedImpersonation server 35:A- 36:B+
ContainerCheckpoint node 25:A- 30:B+
ContainerRestartRules server 34:A- 35:B+
ContainerStopSignals server 33:A-
ContextualLogging - 30:B+
ControllerManagerLeaderMigration - 27:-
ControllerManagerReleaseLeaderElectionLockOnExit controllers 36:A-
CoordinatedLeaderElection server 31:A- 33:B-
CronJobControllerV2 - 25:-
CronJobTimeZone - 25:B+ 27:GAL 29:-
CronJobsScheduledAnnotation controllers 28:B+ 32:GAL 35:-
CrossNamespaceVolumeDataSource server 26:A-
CustomCPUCFSQuotaPeriod - 36:GA
CustomResourceFieldSelectors server 30:A- 31:B+ 32:GAL
CustomResourceValidationExpressions - 25:B+ 29:GAL 31:-
DRAAdminAccess server 32:A- 34:B+ 36:GAL needs:DynamicResourceAllocation
DRAConsumableCapacity server 34:A- 36:B+ needs:DynamicResourceAllocation
DRAControlPlaneController server 31:A- 32:-
DRADeviceBindingConditions server 34:A- 36:B+ needs:DynamicResourceAllocation,DRAResourceClaimDeviceStatus
DRADeviceTaintRules server 35:A- 36:B- needs:DRADeviceTaints
DRADeviceTaints server 33:A- 36:B+ needs:DynamicResourceAllocation
DRAExtendedResource server 34:A- 36:B+ needs:DynamicResourceAllocation
DRAListTypeAttributes server 36:A- needs:DynamicResourceAllocation
DRANodeAllocatableResources server 36:A- needs:DynamicResourceAllocation
DRAPartitionableDevices server 33:A- 36:B+ needs:DynamicResourceAllocation
DRAPrioritizedList server 33:A- 34:B+ 36:GA needs:DynamicResourceAllocation
DRAResourceClaimDeviceStatus server 32:A- 33:B+
DRAResourceClaimGranularStatusAuthorization server 36:B+ needs:DynamicResourceAllocation,DRAResourceClaimDeviceStatus
DRAResourcePoolStatus server 36:A- needs:DynamicResourceAllocation
DRASchedulerFilterTimeout scheduler 34:B+ needs:DynamicResourceAllocation
DRAWorkloadResourceClaims server 36:A- needs:DynamicResourceAllocation,GenericWorkload
DaemonSetUpdateSurge - 25:GAL 27:-
DeclarativeValidation server 33:B+ 36:GAL
DeclarativeValidationBeta server 36:B+ needs:DeclarativeValidation
DeclarativeValidationTakeover server 33:B- 36:D- needs:DeclarativeValidation
DefaultHostNetworkHostPortsInPodTemplates server 28:D- 31:-
DefaultPodTopologySpread - 26:-
DelegateFSGroupToCSIDriver - 26:GAL 28:-
DeploymentReplicaSetTerminatingReplicas server 33:A- 35:B+
DetectCacheInconsistency server 34:B+
DevicePluginCDIDevices node 28:A- 29:B+ 31:GAL 34:-
DevicePlugins - 26:GAL 28:-
DisableAcceleratorUsageMetrics - 25:GAL 28:-
DisableAllocatorDualWrite server 31:A- 33:B- 34:GA 35:GAL needs:MultiCIDRServiceAllocator
DisableCPUQuotaWithExclusiveCPUs node 33:B+ 36:D+
DisableCloudProviders - 29:B+ 31:GAL 33:-
DisableKubeletCloudCredentialProviders - 29:B+ 31:GAL 33:-
DisableNodeKubeProxyVersion node 29:A- 31:D- 33:D+ 36:D+L
DownwardAPIHugePages - 27:GAL 29:-
DryRun - 26:GAL 28:-
DynamicKubeletConfig - 26:-
DynamicResourceAllocation server 26:A- 32:B- 34:GA 35:GAL
EfficientWatchResumption - 33:-
ElasticIndexedJob server 27:B+ 31:GAL 34:-
EndpointSlice - 25:-
EndpointSliceNodeName - 25:-
EndpointSliceProxying - 25:-
EndpointSliceTerminatingCondition - 26:GAL 28:-
EnvFiles server 34:A- 35:B+
EphemeralContainers - 25:GAL 27:-
EventedPLEG node 26:A-
ExecProbeTimeout - 35:GAL
ExpandCSIVolumes - 27:-
ExpandInUsePersistentVolumes - 27:-
ExpandPersistentVolumes - 27:-
ExpandedDNSConfig - 26:B+ 28:GAL 30:-
ExperimentalHostUserNamespaceDefaulting - 28:D-L 30:-
ExtendWebSocketsToKubelet server 36:B+ needs:NodeDeclaredFeatures
ExternalServiceAccountTokenSigner server 32:A- 34:B+ 36:GAL
GRPCContainerProbe - 27:GAL 29:-
GangScheduling scheduler 35:A- needs:GenericWorkload
GenericEphemeralVolume - 25:-
GenericWorkload server 35:A-
GitRepoVolumeDriver server 33:D- 36:D-L
HPAConfigurableTolerance server 33:A- 35:B+
HPAContainerMetrics - 27:B+ 30:GAL 32:-
HonorPVReclaimPolicy - 31:B+ 33:GAL 36:-
HostnameOverride server 34:A- 35:B+
HugePageStorageMediumSize - 25:-
IPTablesOwnershipCleanup node 25:A- 27:B+ 28:GAL 30:-
IPv6DualStack - 27:-
IdentifyPodOS - 25:GAL 27:-
ImageMaximumGCAge node 29:A- 30:B+ 35:GAL
ImageVolume server 31:A- 33:B- 35:B+ 36:GAL
ImageVolumeWithDigest server 36:A- needs:ImageVolume
ImmutableEphemeralVolumes - 25:-
InOrderInformers implementation 33:B+ 36:GAL
InOrderInformersBatchProcess implementation 35:B+
InPlacePodLevelResourcesVerticalScaling server 35:A- 36:B+ needs:InPlacePodVerticalScaling,PodLevelResources,NodeDeclaredFeatures
InPlacePodVerticalScaling server 27:A- 33:B+ 35:GAL
InPlacePodVerticalScalingAllocatedStatus server 32:A- 33:D- 36:- needs:InPlacePodVerticalScaling
InPlacePodVerticalScalingExclusiveCPUs node 32:A- needs:InPlacePodVerticalScaling
InPlacePodVerticalScalingExclusiveMemory node 34:A- needs:InPlacePodVerticalScaling
InPlacePodVerticalScalingInitContainers server 36:B+ needs:InPlacePodVerticalScaling,NodeDeclaredFeatures
InTreePluginAWSUnregister - 31:-
InTreePluginAzureDiskUnregister - 31:-
InTreePluginAzureFileUnregister - 31:-
InTreePluginGCEUnregister - 31:-
InTreePluginOpenStackUnregister - 31:-
InTreePluginPortworxUnregister - 36:-
InTreePluginRBDUnregister - 28:D- 31:-
InTreePluginvSphereUnregister - 31:-
IndexedJob - 26:-
InformerResourceVersion implementation 30:A- 35:GA
IngressClassNamespacedParams - 25:-
JobBackoffLimitPerIndex server 28:A- 29:B+ 33:GAL
JobManagedBy server 30:A- 32:B+ 35:GAL
JobMutableNodeSchedulingDirectives - 27:GAL 29:-
JobPodFailurePolicy server 25:A- 26:B+ 31:GAL 33:-
JobPodReplacementPolicy server 28:A- 29:B+ 34:GAL
JobReadyPods - 29:GAL 31:-
JobSuccessPolicy server 30:A- 31:B+ 33:GAL
JobTrackingWithFinalizers - 25:B+ 26:GAL 29:-
KMSv1 server 28:D+ 29:D-
KMSv2 server 25:A- 27:B+ 29:GAL 32:-
KMSv2KDF server 28:B- 29:GAL 32:-
KubeProxyDrainingTerminatingNodes node 28:A- 30:B+ 31:GAL 33:-
KubeletCgroupDriverFromCRI node 28:A- 31:B+ 34:GAL
KubeletCrashLoopBackOffMax node 32:A- 35:B+
KubeletCredentialProviders - 26:GAL 28:-
KubeletEnsureSecretPulledImages node 33:A- 35:B+
KubeletFineGrainedAuthz server 32:A- 33:B+ 36:GAL
KubeletPSI node 33:A- 34:B+ 36:GAL
KubeletPodResources - 28:GAL 30:-
KubeletPodResourcesDynamicResources node 27:A- 34:B+ 36:GAL
KubeletPodResourcesGet node 27:A- 34:B+ 36:GAL
KubeletPodResourcesGetAllocatable - 28:GAL 30:-
KubeletPodResourcesListUseActivePods node 34:D+
KubeletRegistrationGetOnExistsOnly node 32:D-
KubeletSeparateDiskGC node 29:A- 31:B+
KubeletServiceAccountTokenForCredentialProviders server 33:A- 34:B+
KubeletTracing node 25:A- 27:B+ 34:GAL
LegacyServiceAccountTokenCleanUp server 28:A- 29:B+ 30:GAL 32:-
LegacyServiceAccountTokenNoAutoGeneration - 26:GA 27:GAL 29:-
LegacyServiceAccountTokenTracking server 26:A- 27:B+ 28:GAL 30:-
LegacySidecarContainers node 33:D- 34:-
ListFromCacheSnapshot server 33:A- 34:B+
LoadBalancerIPMode server 29:A- 30:B+ 32:GAL 35:-
LocalStorageCapacityIsolation - 25:GAL 27:-
LocalStorageCapacityIsolationFSQuotaMonitoring - 31:B-
LogarithmicScaleDown - 31:GAL
LoggingAlphaOptions implementation 25:A-
LoggingBetaOptions implementation 25:B+
ManifestBasedAdmissionControlConfig server 36:A-
MatchLabelKeysInPodAffinity server 29:A- 31:B+ 33:GAL
MatchLabelKeysInPodTopologySpread server 25:A- 27:B+
MatchLabelKeysInPodTopologySpreadSelectorMerge server 34:B+ needs:MatchLabelKeysInPodTopologySpread
MaxUnavailableStatefulSet - 35:B-
MemoryManager - 32:GAL 36:-
MinDomainsInPodTopologySpread - 25:B- 27:B+ 30:GAL 32:-
MinimizeIPTablesRestore node 26:A- 27:B+ 28:GAL 30:-
MixedProtocolLBService - 26:GAL 28:-
MultiCIDRRangeAllocator controllers 25:A- 29:-
MultiCIDRServiceAllocator server 27:A- 31:B- 33:GA 34:GAL
MutableCSINodeAllocatableCount server 33:A- 34:B- 35:B+ 36:GAL
MutablePVNodeAffinity server 35:A-
MutablePodResourcesForSuspendedJobs server 35:A- 36:B+
MutableSchedulingDirectivesForSuspendedJobs server 35:A- 36:B+
MutatingAdmissionPolicy server 30:A- 34:B- 36:GA
NFTablesProxyMode node 29:A- 31:B+ 33:GAL
NativeHistograms implementation 36:A-
NetworkPolicyEndPort - 25:GAL 27:-
NetworkPolicyStatus - 28:-
NewVolumeManagerReconstruction node 27:B- 28:B+ 30:GAL 32:-
NodeDeclaredFeatures server 35:A- 36:B+
NodeInclusionPolicyInPodTopologySpread server 25:A- 26:B+ 33:GAL
NodeLogQuery node 27:A- 30:B- 36:GAL
NodeOutOfServiceVolumeDetach - 26:B+ 28:GAL 32:-
NodeSwap - 28:B- 30:B+ 34:GAL
NominatedNodeNameForExpectation scheduler 34:A- 35:B+
NonPreemptingPriority - 26:-
OpenAPIV3 - 27:GAL 29:-
OpportunisticBatching scheduler 35:B+
OrderedNamespaceDeletion controllers 30:B- 33:B+ 34:GAL
PDBUnhealthyPodEvictionPolicy server 26:A- 27:B+ 31:GAL 33:-
PLEGOnDemandRelist node 36:B+
PersistentVolumeClaimUnusedSinceTime controllers 36:A-
PersistentVolumeLastPhaseTransitionTime server 28:A- 29:B+ 31:GAL 33:-
PodAffinityNamespaceSelector - 26:-
PodCertificateRequest server 34:A- 35:B- needs:AuthorizeNodeWithSelectors
PodDisruptionBudget - 25:-
PodDisruptionConditions server 25:A- 26:B+ 31:GAL 34:-
PodHasNetworkCondition node 25:A- 28:-
PodHostIPs server 28:A- 29:B+ 30:GAL 32:-
PodIndexLabel controllers 28:B+ 32:GAL 35:-
PodLevelResourceManagers node 36:A- needs:PodLevelResources
PodLevelResources server 32:A- 34:B+
PodLifecycleSleepAction server 29:A- 30:B+ 34:GAL
PodLifecycleSleepActionAllowZero server 32:A- 33:B+ 34:GAL needs:PodLifecycleSleepAction
PodLogsQuerySplitStreams server 32:A-
PodObservedGenerationTracking server 33:A- 34:B+ 35:GAL
PodOverhead - 26:-
PodReadyToStartContainersCondition node 28:A- 29:B+
PodSchedulingReadiness server 26:A- 27:B+ 30:GAL
PodSecurity - 25:GAL 28:-
PodTopologyLabelsAdmission server 33:A- 35:B+
PodsAPI node 36:A-
PortForwardWebsockets server 30:A- 31:B+
PreferNominatedNode - 26:-
PreferSameTrafficDistribution server 33:A- 34:B+ 35:GAL
PreventStaticPodAPIReferences node 34:B+
ProbeHostPodSecurityStandards server 34:GAL 35:-
ProbeTerminationGracePeriod - 25:B+ 28:GAL 29:-
ProcMountType - 31:B- 33:B+ 36:GAL needs:UserNamespacesSupport
ProxyTerminatingEndpoints - 26:B+ 28:GAL 30:-
ReadWriteOncePod - 27:B+ 29:GAL 31:-
RecoverVolumeExpansionFailure - 32:B+ 34:GAL
RecursiveReadOnlyMounts server 30:A- 31:B+ 33:GAL
ReduceDefaultCrashLoopBackOffDecay node 33:A-
RelaxedDNSSearchValidation server 32:A- 33:B+ 34:GAL
RelaxedEnvironmentVariableValidation server 30:A- 32:B+ 34:GAL
RelaxedServiceNameValidation server 34:A- 36:B+
ReloadKubeletClientCAFile node 36:B+
ReloadKubeletServerCertificateFile node 31:B+
RemainingItemCount - 29:GAL 33:-
RemoteRequestHeaderUID server 32:A- 33:B+
RemoveSelfLink - 30:-
ResilientWatchCacheInitialization server 31:B+ 34:GAL
ResourceHealthStatus server 31:A- 36:B+ needs:DynamicResourceAllocation
ResourceHealthStatusMessage server 36:B+ needs:ResourceHealthStatus
RestartAllContainersOnContainerExits server 35:A- 36:B+ needs:ContainerRestartRules,NodeDeclaredFeatures
RetroactiveDefaultStorageClass server 25:A- 26:B+ 28:GAL 29:-
RetryGenerateName server 30:A- 31:B+ 32:GAL
RootCAConfigMap - 25:-
RuntimeClassInImageCriApi node 29:A-
SELinuxChangePolicy server 32:A- 33:B+ 36:GAL
SELinuxMount server 30:A- 33:B-
SELinuxMountReadWriteOncePod server 25:A- 27:B- 28:B+ 36:GAL
SchedulerAsyncAPICalls scheduler 34:B-
SchedulerAsyncPreemption scheduler 32:A- 33:B+
SchedulerPopFromBackoffQ scheduler 33:B+
SchedulerQueueingHints scheduler 28:B- 32:B+ 34:GAL
SeccompDefault - 25:B+ 27:GAL 29:-
SecurityContextDeny server 27:A- 30:-
SelectorIndex - 25:-
SeparateCacheWatchRPC server 28:B+ 33:D- 36:D-L
SeparateTaintEvictionController controllers 29:B+ 34:GAL
ServerSideApply - 26:GAL 32:-
ServerSideFieldValidation - 25:B+ 27:GAL 32:-
ServiceAccountIssuerDiscovery - 25:-
ServiceAccountNodeAudienceRestriction server 32:B- 33:B+
ServiceAccountTokenJTI server 29:A- 30:B+ 32:GAL
ServiceAccountTokenNodeBinding server 29:A- 31:B+ 33:GAL needs:ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenNodeBindingValidation server 29:A- 30:B+ 32:GAL
ServiceAccountTokenPodNodeInfo server 29:A- 30:B+ 32:GAL
ServiceCIDRStatusFieldWiping server 36:D+
ServiceIPStaticSubrange - 25:B+ 26:GAL 28:-
ServiceInternalTrafficPolicy - 26:GAL 28:-
ServiceLBNodePortControl - 26:-
ServiceLoadBalancerClass - 26:-
ServiceNodePortStaticSubrange server 27:A- 28:B+ 29:GAL 31:-
ServiceTrafficDistribution server 30:A- 31:B+ 33:GAL 36:-
SetHostnameAsFQDN - 25:-
ShardedListAndWatch server 36:A-
SidecarContainers server 28:A- 29:B+ 33:GAL
SizeBasedListCostEstimate server 34:B+
SizeMemoryBackedVolumes - 32:GAL 35:-
SkipReadOnlyValidationGCE server 28:A- 29:D+ 31:-
StableLoadBalancerNodeSet controllers 27:B+ 30:GAL 32:-
StaleControllerConsistencyDaemonSet controllers 36:B+ needs:AtomicFIFO
StaleControllerConsistencyJob controllers 36:B+ needs:AtomicFIFO
StaleControllerConsistencyReplicaSet controllers 36:B+ needs:AtomicFIFO
StaleControllerConsistencyStatefulSet controllers 36:B+ needs:AtomicFIFO
StatefulSetAutoDeletePVC - 27:B+ 32:GAL 35:-
StatefulSetMinReadySeconds - 25:GAL 27:-
StatefulSetSemanticRevisionComparison controllers 34:B+
StatefulSetStartOrdinal server 26:A- 27:B+ 31:GAL 34:-
StorageCapacityScoring scheduler 33:A-
StorageNamespaceIndex server 30:B+ 33:D+
StorageObjectInUseProtection - 25:-
StorageVersionMigrator server 30:A- 35:B-
StreamingCollectionEncodingToJSON server 33:B+ 34:GAL
StreamingCollectionEncodingToProtobuf server 33:B+ 34:GAL
StrictCostEnforcementForVAP server 30:B- 32:GAL 35:-
StrictCostEnforcementForWebhooks server 30:B- 32:GAL 35:-
StrictIPCIDRValidation server 33:A- 36:B+
StructuredAuthenticationConfiguration server 29:A- 30:B+ 34:GAL
StructuredAuthenticationConfigurationEgressSelector server 34:B+ needs:StructuredAuthenticationConfiguration
StructuredAuthenticationConfigurationJWKSMetrics server 35:B+ needs:StructuredAuthenticationConfiguration
StructuredAuthorizationConfiguration server 29:A- 30:B+ 32:GAL 36:-
SupplementalGroupsPolicy server 31:A- 33:B+ 35:GAL
SuspendJob - 26:-
SystemdWatchdog node 32:B+ 35:GAL
TTLAfterFinished - 25:-
TaintTolerationComparisonOperators server 35:A-
TokenRequestServiceAccountUIDValidation server 34:B+
TopologyAwareHints - 33:GAL 36:-
TopologyAwareWorkloadScheduling server 36:A- needs:GenericWorkload
TopologyManager - 27:GAL 29:-
TopologyManagerPolicyAlphaOptions node 26:A-
TopologyManagerPolicyBetaOptions node 26:B- 28:B+
TopologyManagerPolicyOptions node 26:A- 28:B+ 32:GA 36:GAL
TranslateStreamCloseWebsocketRequests server 29:A- 30:B+
UnauthenticatedHTTP2DOSMitigation server 25:B- 29:B+
UnknownVersionInteroperabilityProxy server 28:A- 36:B+ needs:APIServerIdentity
UnlockWhileProcessingFIFO implementation 36:B+
UserNamespacesHostNetworkSupport server 35:A- needs:UserNamespacesSupport,NodeDeclaredFeatures
UserNamespacesPodSecurityStandards server 29:A- 35:-
UserNamespacesStatelessPodsSupport server 25:A- 28:-
UserNamespacesSupport server 28:A- 30:B- 33:B+ 36:GAL
ValidatingAdmissionPolicy server 26:A- 28:B- 30:GAL 32:-
VolumeAttributesClass server 29:A- 31:B- 34:GA 36:GAL
VolumeCapacityPriority - 33:-
VolumeLimitScaling server 35:A-
VolumeSubpath - 25:-
WarningHeaders - 25:-
WatchBookmark - 33:-
WatchCacheInitializationPostStartHook server 31:B- 36:B+
WatchFromStorageWithoutResourceVersion server 27:B- 33:D-L 36:-
WatchList server 27:A- 32:B+ 33:B- 34:B+
WatchListClient implementation 30:B- 35:B+
WinDSR - 33:B+ 34:GAL
WinOverlay - 34:GAL
WindowsCPUAndMemoryAffinity node 32:A- needs:MemoryManager
WindowsEndpointSliceProxying - 25:-
WindowsGracefulNodeShutdown node 32:A- 34:B+ needs:GracefulNodeShutdown
WindowsHostNetwork node 26:A+ 33:D-
WindowsHostProcessContainers - 26:GAL 28:-
WorkloadAwarePreemption server 36:A- needs:GangScheduling
WorkloadWithJob server 36:A- needs:GenericWorkload
ZeroLimitedNominalConcurrencyShares server 29:B- 30:GAL 32:-
`;
