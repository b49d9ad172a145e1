/**
 * Feature gates of v1.24 as far as they concern an API server, and the rules of their life:
 *
 *   alpha   off unless switched on             beta   on (or as the table says) unless switched
 *   GA      on for good: the gate does nothing any more, switching it off fails, switching it on warns
 *
 * A gate that this server cannot switch (its feature is always on or always off here) refuses the other value: nothing is
 * accepted silently.
 */
import { readBoolean } from '../lib/flags.ts';
import { didYouMean } from '../lib/suggest.ts';

export type GateStage = 'alpha' | 'beta' | 'GA';
interface Gate {
  readonly stage: GateStage;
  /** Release in which the stage began. */
  readonly since: string;
  readonly default: boolean;
  /** Whether this server heeds the gate. */
  readonly heeded: boolean;
}
const alpha = (since: string, heeded: 'heeded' | '' = ''): Gate => ({ stage: 'alpha', since, default: false, heeded: heeded !== '' });
const beta = (since: string, initial = true, heeded: 'heeded' | '' = ''): Gate => ({
  stage: 'beta',
  since,
  default: initial,
  heeded: heeded !== '',
});
const ga = (since: string): Gate => ({ stage: 'GA', since, default: true, heeded: true });

export const gates = {
  // The API machinery.
  APIListChunking: beta('1.9'),
  APIPriorityAndFairness: beta('1.20', true, 'heeded'),
  APIResponseCompression: beta('1.16'),
  APIServerIdentity: alpha('1.20'),
  APIServerTracing: alpha('1.22'),
  AdvancedAuditing: ga('1.12'),
  CustomResourceValidationExpressions: alpha('1.23'),
  DryRun: ga('1.19'),
  EfficientWatchResumption: ga('1.24'),
  OpenAPIEnums: beta('1.24'),
  OpenAPIV3: beta('1.24'),
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
  CronJobControllerV2: ga('1.22'),
  CronJobTimeZone: alpha('1.24'),
  DaemonSetUpdateSurge: beta('1.22'),
  DefaultPodTopologySpread: ga('1.24'),
  DownwardAPIHugePages: beta('1.21'),
  EphemeralContainers: beta('1.23'),
  GRPCContainerProbe: beta('1.24'),
  HPAContainerMetrics: alpha('1.20'),
  HPAScaleToZero: alpha('1.16'),
  HugePageStorageMediumSize: ga('1.22'),
  IdentifyPodOS: beta('1.24'),
  ImmutableEphemeralVolumes: ga('1.21'),
  IndexedJob: ga('1.24'),
  JobMutableNodeSchedulingDirectives: beta('1.23'),
  JobReadyPods: beta('1.24'),
  JobTrackingWithFinalizers: beta('1.23', false),
  MaxUnavailableStatefulSet: alpha('1.24'),
  MinDomainsInPodTopologySpread: alpha('1.24'),
  NonPreemptingPriority: ga('1.24'),
  PodAffinityNamespaceSelector: ga('1.24'),
  PodDeletionCost: beta('1.22'),
  PodOverhead: ga('1.24'),
  ProbeTerminationGracePeriod: beta('1.22', false),
  ProcMountType: alpha('1.12'),
  SetHostnameAsFQDN: ga('1.22'),
  StatefulSetAutoDeletePVC: alpha('1.23'),
  StatefulSetMinReadySeconds: beta('1.23'),
  SuspendJob: ga('1.24'),
  TTLAfterFinished: ga('1.23'),
  WindowsHostProcessContainers: beta('1.23'),
  // Networking.
  IPv6DualStack: ga('1.23'),
  MixedProtocolLBService: beta('1.24'),
  NetworkPolicyEndPort: beta('1.22'),
  NetworkPolicyStatus: alpha('1.24'),
  ServiceIPStaticSubrange: alpha('1.24'),
  ServiceInternalTrafficPolicy: beta('1.22'),
  ServiceLBNodePortControl: ga('1.24'),
  ServiceLoadBalancerClass: ga('1.24'),
  TopologyAwareHints: beta('1.23'),
  // Storage.
  AnyVolumeDataSource: beta('1.24'),
  CSIInlineVolume: beta('1.16'),
  CSIStorageCapacity: ga('1.24'),
  CSIVolumeFSGroupPolicy: ga('1.23'),
  ConfigurableFSGroupPolicy: ga('1.23'),
  DelegateFSGroupToCSIDriver: beta('1.23'),
  ExpandCSIVolumes: ga('1.24'),
  ExpandInUsePersistentVolumes: ga('1.24'),
  ExpandPersistentVolumes: ga('1.24'),
  GenericEphemeralVolume: ga('1.23'),
  HonorPVReclaimPolicy: alpha('1.23'),
  LocalStorageCapacityIsolation: beta('1.10'),
  ReadWriteOncePod: alpha('1.22'),
  RecoverVolumeExpansionFailure: alpha('1.23'),
} as const satisfies Record<string, Gate>;

export type GateName = keyof typeof gates;
const table: Readonly<Record<string, Gate>> = gates;

export class FeatureGates {
  readonly warnings: readonly string[];
  private readonly on: ReadonlySet<string>;

  constructor(on: ReadonlySet<string>, warnings: readonly string[] = []) {
    this.on = on;
    this.warnings = warnings;
  }
  /** Also true for gates that grew up: what they guarded is simply there. */
  enabled(name: GateName): boolean {
    return this.on.has(name);
  }
  /** The same for a name that is only text. */
  isOn(name: string): boolean {
    return this.on.has(name);
  }
  /** Names of all gates that are on, for metrics and start-up logs. */
  list(): string[] {
    return [...this.on].sort();
  }
}

const groups: Readonly<Record<string, GateStage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

/** Reads `--feature-gates=A=true,B=false`. Throws an Error that says what is wrong. */
export function readFeatureGates(settings: ReadonlyMap<string, string>): FeatureGates {
  const warnings: string[] = [];
  const on = new Set(Object.keys(table).filter((name) => table[name]?.default));
  const set = (name: string, value: boolean): void => {
    if (value) on.add(name);
    else on.delete(name);
  };
  for (const [name, text] of settings) {
    const stage = Object.hasOwn(groups, name) ? groups[name] : undefined;
    if (stage === undefined) continue;
    const value = readBoolean(text);
    for (const [gate, { stage: of, heeded }] of Object.entries(table)) if (of === stage && heeded) set(gate, value);
  }
  for (const [name, text] of settings) {
    if (Object.hasOwn(groups, name)) continue;
    const gate = Object.hasOwn(table, name) ? (table[name] as Gate) : undefined;
    if (gate === undefined) throw new Error(`unknown feature gate ${name}${didYouMean(name, Object.keys(table))}`);
    const value = readBoolean(text);
    checkSwitch(name, gate, value, warnings);
    set(name, value);
  }
  return new FeatureGates(on, warnings);
}

function checkSwitch(name: string, gate: Gate, value: boolean, warnings: string[]): void {
  if (gate.stage === 'GA') {
    if (!value) throw new Error(`cannot set feature gate ${name} to false, feature is locked to true: it is GA since ${gate.since}`);
    warnings.push(`the feature gate ${name} does nothing any more: it is GA since ${gate.since} and will be removed`);
  } else if (!gate.heeded && value !== gate.default) {
    throw new Error(`the feature gate ${name} is known, but this release cannot switch it to ${value}: leave it out`);
  }
}

export const defaultFeatures = readFeatureGates(new Map());

/** One line a gate, for `--help`. */
export function featureHelp(): string {
  return Object.entries(table)
    .filter(([, gate]) => gate.stage !== 'GA' && gate.heeded)
    .map(([name, gate]) => `${name}=true|false (${gate.stage.toUpperCase()} since ${gate.since}, default ${gate.default})`)
    .join('; ');
}
