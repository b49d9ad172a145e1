/** Feature gates of pods and templates that guard no field: annotations, and values that validation checks. */
import { own } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { GateRule } from '../../kind.ts';
import type { ObjectMeta } from '../../meta.ts';
import { isHugePagesField } from '../../validation/pods/env.ts';
import { isDeletionCost } from '../../validation/pods/pod-annotations.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import { usesHostProcess } from '../../validation/pods/pod-os.ts';
import { isExpandedSearch } from '../../validation/pods/pod-spec.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { PodSpec } from '../schema/pods/pod.ts';
import type { DownwardAPIVolumeFile } from '../schema/volumes/volumes.ts';

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
