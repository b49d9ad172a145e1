/** Feature gates of pods and templates that guard no field: annotations, and values that validation checks. */
import { own } from '@plat-dev/lib/own';
import type { ApiRelease } from '@plat-dev/lib/version';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { validateLabelSelector } from '@plat-dev/meta/labels';
import { environmentVariableName } from '@plat-dev/meta/names';
import type { GateRule } from '../../kind.ts';
import type { ObjectMeta } from '../../meta.ts';
import { restartsAll } from '../../validation/pods/container-restarts.ts';
import { isHugePagesField } from '../../validation/pods/env.ts';
import { selectedKeys } from '../../validation/pods/label-keys.ts';
import { isDeletionCost } from '../../validation/pods/pod-annotations.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import { usesHostProcess } from '../../validation/pods/pod-os.ts';
import { sharedNamespace, sysctlsOfHost } from '../../validation/pods/pod-security-context.ts';
import { isExpandedSearch } from '../../validation/pods/pod-spec.ts';
import { restartingInitContainers } from '../../validation/pods/restart-rules.ts';
import { invalidSpreadSelectors } from '../../validation/pods/scheduling.ts';
import { devicesInUserNamespace } from '../../validation/pods/user-namespaces.ts';
import type { Container, EphemeralContainer } from '../schema/pods/containers.ts';
import type { PodSpec } from '../schema/pods/pod.ts';
import type { TopologySpreadConstraint } from '../schema/pods/scheduling.ts';
import type { DownwardAPIVolumeFile } from '../schema/volumes/volumes.ts';
import { isSidecar } from './pod-amounts.ts';

interface PodLike {
  readonly metadata: ObjectMeta;
  readonly spec: PodSpec;
}

/** The rules for a kind that is a pod or holds the template of one. */
export function podGates<T>(podOf: (object: T) => PodLike | undefined): readonly GateRule<T>[] {
  const uses =
    (test: (pod: PodLike, identity: Identity, next: PodLike | undefined) => boolean): GateRule<T>['uses'] =>
    (object, identity, next) => {
      const pod = podOf(object);
      return pod !== undefined && test(pod, identity, next === undefined ? undefined : podOf(next));
    };
  return [
    {
      gate: 'AppArmor',
      uses: uses(({ metadata }, identity) => appArmorKeys(metadata, identity).length > 0),
      clear: (object, identity) => {
        const metadata = podOf(object)?.metadata;
        if (metadata !== undefined) for (const key of appArmorKeys(metadata, identity)) delete metadata.annotations?.[key];
      },
    },
    { gate: 'DownwardAPIHugePages', uses: uses(({ spec }) => showsHugePages(spec)) },
    { gate: 'WindowsHostProcessContainers', uses: uses(({ spec }) => usesHostProcess(spec)) },
    // A long list of search paths may stay, but not change.
    {
      gate: 'ExpandedDNSConfig',
      uses: uses(({ spec }, _identity, next) => {
        const searches = spec.dnsConfig?.searches;
        return searches !== undefined && isExpandedSearch(searches) && sameTexts(searches, next?.spec.dnsConfig?.searches);
      }),
    },
    {
      gate: 'ContainerRestartRules',
      since: '1.34',
      uses: uses(({ spec }) => usesRestartRules(spec)),
      clear: (object) => {
        const spec = podOf(object)?.spec;
        if (spec !== undefined) dropRestartRules(spec);
      },
    },
    { gate: 'ContainerRestartRules', since: '1.34', uses: uses(({ spec }) => usesRestartRules(spec)) },
    { gate: 'RestartAllContainersOnContainerExits', since: '1.35', uses: uses(({ spec }) => restartsAll(spec)) },
    {
      gate: 'InPlacePodVerticalScaling',
      since: '1.32',
      uses: uses(
        ({ spec }) => spec.initContainers?.some((container) => isSidecar(container) && container.resizePolicy !== undefined) ?? false,
      ),
    },
    { gate: 'PodLifecycleSleepActionAllowZero', since: '1.32', uses: uses(({ spec }) => usesNoSleep(spec)) },
    { gate: 'RelaxedDNSSearchValidation', since: '1.32', uses: uses(({ spec }) => usesRelaxedSearch(spec)) },
    {
      gate: 'RelaxedEnvironmentVariableValidation',
      since: '1.30',
      uses: uses(({ spec }, _identity, next) => {
        const names = relaxedNames(spec);
        return names.size > 0 && (next === undefined || [...relaxedNames(next.spec)].every((name) => names.has(name)));
      }),
    },
    { gate: 'SELinuxMount', since: '1.32', uses: uses(({ spec }) => spec.securityContext?.seLinuxChangePolicy !== undefined) },
    {
      gate: 'TaintTolerationComparisonOperators',
      since: '1.35',
      uses: uses(({ spec }) => spec.tolerations?.some(({ operator }) => operator === 'Gt' || operator === 'Lt') ?? false),
    },
    {
      gate: 'UserNamespacesHostNetworkSupport',
      since: '1.35',
      uses: uses(({ spec }) => spec.hostUsers === false && spec.hostNetwork === true),
    },
    {
      gate: 'MatchLabelKeysInPodTopologySpreadSelectorMerge',
      since: '1.34',
      uses: uses(({ spec }) => spec.topologySpreadConstraints?.some(hasMergedKeys) ?? false),
    },
    ...storedFaults.map(({ name, since, has }) => ({ gate: name, since, uses: uses(({ spec }) => has(spec)) })),
    {
      gate: 'ImageVolume',
      since: '1.31',
      until: '1.35',
      uses: uses(({ spec }) => spec.volumes?.some(({ image }) => image !== undefined) ?? false),
      clear: (object) => {
        const spec = podOf(object)?.spec;
        if (spec !== undefined) dropImageVolumes(spec);
      },
    },
    // An invalid cost that was stored while the gate was off may stay.
    {
      gate: 'PodDeletionCost',
      validatedAs: false,
      uses: uses(({ metadata }, identity) => {
        const cost = own(metadata.annotations, podNames(identity).deletionCost);
        return cost !== undefined && !isDeletionCost(cost);
      }),
    },
  ];
}

/** What later releases refuse in new pods, and leave in stored ones. Rules ask for it as for a feature, which no server has on. */
const storedFaults: readonly { readonly name: string; readonly since: ApiRelease; has(spec: PodSpec): boolean }[] = [
  { name: invalidSpreadSelectors, since: '1.27', has: (spec) => spec.topologySpreadConstraints?.some(hasInvalidSelector) ?? false },
  {
    name: sysctlsOfHost,
    since: '1.29',
    has: (spec) => spec.securityContext?.sysctls?.some(({ name }) => sharedNamespace(name, spec) !== undefined) ?? false,
  },
  {
    name: devicesInUserNamespace,
    since: '1.34',
    has: (spec) => spec.hostUsers === false && allContainers(spec).some(({ volumeDevices = [] }) => volumeDevices.length > 0),
  },
  {
    name: restartingInitContainers,
    since: '1.36',
    has: ({ initContainers = [] }) =>
      initContainers.some(
        (container) => !isSidecar(container) && container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer'),
      ),
  },
];

function hasInvalidSelector({ labelSelector }: TopologySpreadConstraint): boolean {
  const errors = new FieldErrors();
  validateLabelSelector(labelSelector, Path.of('labelSelector'), errors);
  return !errors.empty;
}
/** Keys that are in the selector have been merged into it. */
function hasMergedKeys({ labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint): boolean {
  const keys = selectedKeys(labelSelector);
  return matchLabelKeys.some((key) => keys.has(key));
}

const usesRelaxedSearch = ({ dnsConfig }: PodSpec): boolean =>
  dnsConfig?.searches?.some((domain) => domain === '.' || domain.includes('_')) ?? false;

const usesNoSleep = (spec: PodSpec): boolean =>
  allContainers(spec).some(({ lifecycle }) => lifecycle?.preStop?.sleep?.seconds === 0 || lifecycle?.postStart?.sleep?.seconds === 0);

/** Names of variables that only the relaxed rule allows. */
function relaxedNames(spec: PodSpec): Set<string> {
  const names = new Set<string>();
  for (const { env = [], envFrom = [] } of allContainers(spec)) {
    for (const { name } of env) if (environmentVariableName(name).length > 0) names.add(name);
    for (const { prefix = '' } of envFrom) if (prefix !== '' && environmentVariableName(prefix).length > 0) names.add(prefix);
  }
  return names;
}

const allContainers = ({ containers = [], initContainers = [], ephemeralContainers = [] }: PodSpec): (Container | EphemeralContainer)[] => [
  ...containers,
  ...initContainers,
  ...ephemeralContainers,
];

/** The rules of workloads. */
export const templateGates = podGates<{ spec: { template?: PodLike } }>(({ spec }) => spec.template);

function appArmorKeys({ annotations = {} }: ObjectMeta, identity: Identity): string[] {
  const { appArmorContainer } = podNames(identity);
  return Object.keys(annotations).filter((key) => key.startsWith(appArmorContainer));
}

/** Whether the downward API of the pod refers to huge pages. */
function showsHugePages({ containers = [], initContainers = [], ephemeralContainers = [], volumes = [] }: PodSpec): boolean {
  const inFiles = (files: readonly DownwardAPIVolumeFile[] | undefined): boolean =>
    files?.some(({ resourceFieldRef }) => resourceFieldRef !== undefined && isHugePagesField(resourceFieldRef.resource)) ?? false;
  const inVariables = ({ env }: Pick<Container, 'env'>): boolean =>
    env?.some(({ valueFrom }) => valueFrom?.resourceFieldRef !== undefined && isHugePagesField(valueFrom.resourceFieldRef.resource)) ??
    false;
  return (
    containers.some(inVariables) ||
    initContainers.some(inVariables) ||
    ephemeralContainers.some(inVariables) ||
    volumes.some(
      ({ downwardAPI, projected }) =>
        inFiles(downwardAPI?.items) || projected?.sources?.some((source) => inFiles(source.downwardAPI?.items)),
    )
  );
}

/** An init container that keeps running has the restart policy Always, which needs no rules. */
const isPlainInit = ({ restartPolicy }: Container): boolean => restartPolicy === undefined || restartPolicy === 'Always';

function usesRestartRules({ containers = [], initContainers = [], ephemeralContainers = [] }: PodSpec): boolean {
  return (
    initContainers.some((container) => !isPlainInit(container) || container.restartPolicyRules !== undefined) ||
    [containers, ephemeralContainers].some((list) =>
      list.some(({ restartPolicy, restartPolicyRules }) => restartPolicy !== undefined || restartPolicyRules !== undefined),
    )
  );
}

function dropRestartRules({ containers = [], initContainers = [], ephemeralContainers = [] }: PodSpec): void {
  for (const container of initContainers) {
    if (!isPlainInit(container)) delete container.restartPolicy;
    delete container.restartPolicyRules;
  }
  for (const container of [...containers, ...ephemeralContainers]) {
    delete container.restartPolicy;
    delete container.restartPolicyRules;
  }
}

/** The volumes of images go, and their mounts with them. */
function dropImageVolumes(spec: PodSpec): void {
  const { volumes = [], containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const dropped = new Set(volumes.flatMap(({ image, name }) => (image === undefined ? [] : [name])));
  spec.volumes = volumes.filter(({ name }) => !dropped.has(name));
  if (spec.volumes.length === 0) delete spec.volumes;
  for (const container of [...containers, ...initContainers, ...ephemeralContainers]) {
    if (container.volumeMounts === undefined) continue;
    container.volumeMounts = container.volumeMounts.filter(({ name }) => !dropped.has(name));
    if (container.volumeMounts.length === 0) delete container.volumeMounts;
  }
}

const sameTexts = (a: readonly string[], b: readonly string[] | undefined): boolean =>
  b !== undefined && a.length === b.length && a.every((text, i) => text === b[i]);
