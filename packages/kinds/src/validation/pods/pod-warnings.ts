/** Warnings about values of pods and templates that are deprecated, repeated or probably unintended. */

import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import type { ApiRelease } from '@plat-dev/lib/version';
import { Path } from '@plat-dev/meta/field';
import type { Infer } from '@plat-dev/schema/types';
import type { Container, ContainerPort } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { NodeSelectorTerm } from '../../core/schema/pods/scheduling.ts';
import type { Volume } from '../../core/schema/volumes/volumes.ts';
import type { KindEnv, ObjectMeta } from '../../kind.ts';
import { amount } from '../resources.ts';
import { eachContainer } from './each-container.ts';
import { type PodNames, podNames } from './pod-names.ts';

type Meta = Infer<typeof ObjectMeta>;
const root = Path.of('');

/** More texts than an answer carries. */
const MAX_TEXTS = 100;

class Warnings {
  readonly texts: string[] = [];

  /** A large template may repeat thousands of values: the text of what nobody would read is not made. */
  add(text: () => string): void {
    if (this.texts.length < MAX_TEXTS) this.texts.push(text());
  }
}

/** `at` is the path of the template; that of a pod is empty. */
export function podWarnings(meta: Meta, spec: PodSpec, env: KindEnv, at: Path = root): string[] {
  const warnings = new Warnings();
  const names = podNames(env.identity);
  const specAt = at.child('spec');
  warnNodeLabels(spec, names, specAt, warnings);
  if (env.since('1.28')) warnNullSelectors(spec, specAt, warnings);
  if (meta.annotations !== undefined) warnAnnotations(meta.annotations, names, at.child('metadata').child('annotations'), warnings);
  spec.volumes?.forEach((volume, i) => {
    warnVolume(volume, specAt.child('volumes').index(i), warnings, env);
  });
  if (env.since('1.32')) warnEmptySources(spec.volumes, warnings);
  warnRepeated(spec.hostAliases, 'ip', specAt.child('hostAliases'), warnings);
  warnRepeated(spec.imagePullSecrets, 'name', specAt.child('imagePullSecrets'), warnings);
  spec.imagePullSecrets?.forEach(({ name }, i) => {
    if (name === undefined || name === '')
      warnings.add(() => `${specAt.child('imagePullSecrets').index(i).child('name')}: invalid empty name ""`);
  });
  warnFractions(spec.overhead, specAt.child('overhead'), warnings);
  warnSeccomp(spec, meta, names.seccompPod, at, warnings, env);
  eachContainer(spec, specAt, (container, here) => {
    if (meta.annotations !== undefined) warnSeccomp(container, meta, names.seccompContainer + container.name, at, warnings, env);
    warnContainer(container, here, warnings, env);
  });
  if (env.since('1.28')) warnPorts(spec, specAt, warnings);
  if (env.since('1.27') && (spec.terminationGracePeriodSeconds ?? 0) < 0)
    warnings.add(
      () => `${specAt.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  return warnings.texts;
}

function warnNodeLabels(spec: PodSpec, { oldNodeLabels }: PodNames, at: Path, warnings: Warnings): void {
  for (const key in spec.nodeSelector) {
    const text = oldNodeLabels.get(key);
    if (text !== undefined) warnings.add(() => `${at.child('nodeSelector').key(key)}: ${text}`);
  }
  const warnKey = (key: string, where: Path) => {
    const text = oldNodeLabels.get(key);
    if (text !== undefined) warnings.add(() => `${where}: ${key} is ${text}`);
  };
  const warnTerm = (term: NodeSelectorTerm, where: Path) => {
    term.matchExpressions?.forEach(({ key }, i) => {
      warnKey(key, where.child('matchExpressions').index(i).child('key'));
    });
  };
  const nodes = spec.affinity?.nodeAffinity;
  const nodesAt = at.child('affinity').child('nodeAffinity');
  nodes?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms?.forEach((term, i) => {
    warnTerm(term, nodesAt.child('requiredDuringSchedulingIgnoredDuringExecution').child('nodeSelectorTerms').index(i));
  });
  nodes?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ preference }, i) => {
    warnTerm(preference, nodesAt.child('preferredDuringSchedulingIgnoredDuringExecution').index(i).child('preference'));
  });
  spec.topologySpreadConstraints?.forEach(({ topologyKey }, i) => {
    warnKey(topologyKey, at.child('topologySpreadConstraints').index(i).child('topologyKey'));
  });
}

function warnAnnotations(annotations: Readonly<Record<string, string>>, names: PodNames, at: Path, warnings: Warnings): void {
  const warn = (key: string, text: string) => {
    if (own(annotations, key) !== undefined) warnings.add(() => `${at.key(key)}: ${text}`);
  };
  warn(names.criticalPod, 'non-functional in v1.16+; use the "priorityClassName" field instead');
  warn(names.sysctls, 'non-functional in v1.11+; use the "sysctls" field instead');
  warn(names.unsafeSysctls, 'non-functional in v1.11+; use the "sysctls" field instead');
}

/** Volume sources that are removed or deprecated. */
const oldSources: readonly (readonly [keyof Volume, string, string, ApiRelease?])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+', '1.25'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+', '1.28'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+', '1.28'],
];
function warnVolume(volume: Volume, at: Path, warnings: Warnings, env: KindEnv): void {
  for (const [field, fieldName, text, since] of oldSources)
    if (volume[field] !== undefined && (since === undefined || env.since(since))) warnings.add(() => `${at.child(fieldName)}: ${text}`);
  const isDisabled = env.since('1.33') && !env.feature('GitRepoVolumeDriver');
  if (volume.gitRepo !== undefined)
    warnings.add(() => `${at.child('gitRepo')}: deprecated in v1.11${isDisabled ? ', and disabled by default in v1.33+' : ''}`);
}

function warnEmptySources(volumes: readonly Volume[] | undefined, warnings: Warnings): void {
  for (const { name, projected } of volumes ?? [])
    for (const source of projected?.sources ?? [])
      if (Object.values(source).every((value) => value === undefined))
        warnings.add(() => `volume ${jsonText(name)} (Projected) has no sources provided`);
}

/** A selector that is not given selects no pod, other than an empty one. */
function warnNullSelectors({ topologySpreadConstraints, affinity }: PodSpec, at: Path, warnings: Warnings): void {
  const warn = (selector: unknown, holderAt: Path): void => {
    if (selector === undefined) warnings.add(() => `${holderAt.child('labelSelector')}: a null labelSelector results in matching no pod`);
  };
  topologySpreadConstraints?.forEach(({ labelSelector }, i) => {
    warn(labelSelector, at.child('topologySpreadConstraints').index(i));
  });
  for (const field of ['podAffinity', 'podAntiAffinity'] as const) {
    const here = at.child('affinity').child(field);
    affinity?.[field]?.requiredDuringSchedulingIgnoredDuringExecution?.forEach(({ labelSelector }, i) => {
      warn(labelSelector, here.child('requiredDuringSchedulingIgnoredDuringExecution').index(i));
    });
    affinity?.[field]?.preferredDuringSchedulingIgnoredDuringExecution?.forEach(({ podAffinityTerm }, i) => {
      warn(podAffinityTerm.labelSelector, here.child('preferredDuringSchedulingIgnoredDuringExecution').index(i).child('podAffinityTerm'));
    });
  }
}

interface Port extends ContainerPort {
  readonly at: Path;
}
/** Ports of all containers that are the same, or may be. */
function warnPorts(spec: PodSpec, at: Path, warnings: Warnings): void {
  const byNumber = new Map<string, Port[]>();
  eachContainer(spec, at, ({ ports }, containerAt) => {
    ports?.forEach((port, i) => {
      const here = containerAt.child('ports').index(i);
      const { name = '', hostPort = 0, containerPort, protocol = '', hostIP = '' } = port;
      if (hostIP !== '' && hostPort === 0)
        warnings.add(
          () =>
            `${here}: hostIP set without hostPort: {Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`,
        );
      const key = `${containerPort}/${protocol}`;
      const others = byNumber.get(key) ?? [];
      byNumber.set(key, others);
      for (const other of others.slice(0, MAX_TEXTS)) {
        const what = portConflict(hostPort, hostIP, other);
        if (what !== undefined) warnings.add(() => `${here}: ${what} port definition with ${other.at}`);
      }
      others.push({ ...port, at: here });
    });
  });
}
function portConflict(hostPort: number, hostIP: string, { hostPort: otherPort = 0, hostIP: otherIP = '' }: Port): string | undefined {
  if (hostIP === otherIP && hostPort === otherPort) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  return hostPort === otherPort && (hostIP === '') !== (otherIP === '') ? 'dangerously ambiguous' : undefined;
}

function warnRepeated<K extends string>(
  list: readonly { readonly [key in K]?: string }[] | undefined,
  field: K,
  at: Path,
  warnings: Warnings,
): void {
  if (list === undefined || list.length < 2) return;
  const visitedValues = new Set<string>();
  list.forEach((item, i) => {
    const value = item[field] ?? '';
    if (visitedValues.has(value)) warnings.add(() => `${at.index(i).child(field)}: duplicate ${field} ${jsonText(value)}`);
    visitedValues.add(value);
  });
}

function warnSeccomp(
  holder: { securityContext?: { seccompProfile?: unknown } },
  meta: Meta,
  key: string,
  at: Path,
  warnings: Warnings,
  env: KindEnv,
): void {
  if (own(meta.annotations, key) === undefined || holder.securityContext?.seccompProfile !== undefined) return;
  const what = env.since('1.27') ? 'non-functional in v1.27+' : 'deprecated since v1.19, non-functional in v1.25+';
  warnings.add(() => `${at.child('metadata').child('annotations').key(key)}: ${what}; use the "seccompProfile" field instead`);
}

function warnContainer(container: Container, at: Path, warnings: Warnings, env: KindEnv): void {
  const { limits, requests } = container.resources;
  for (const name of ['memory', 'ephemeral-storage']) {
    warnFraction(limits, name, at.child('resources').child('limits'), warnings);
    warnFraction(requests, name, at.child('resources').child('requests'), warnings);
  }
  if (env.since('1.28')) warnHiddenVariables(container.env, at.child('env'), warnings);
  else warnRepeated(container.env, 'name', at.child('env'), warnings);
}

/** A variable may be given again to add to what it was before: `PATH` as `$(PATH):/bin`. */
function warnHiddenVariables(variables: Container['env'], at: Path, warnings: Warnings): void {
  const visitedNames = new Set<string>();
  variables?.forEach(({ name, value = '', valueFrom }, i) => {
    const reference = `$(${name})`;
    const hides = valueFrom !== undefined || value === reference || !value.includes(reference);
    if (visitedNames.has(name) && hides)
      warnings.add(() => `${at.index(i)}: hides previous definition of ${jsonText(name)}, which may be dropped when using apply`);
    visitedNames.add(name);
  });
}

type Amounts = Readonly<Record<string, string>> | undefined;
function warnFractions(amounts: Amounts, at: Path, warnings: Warnings): void {
  warnFraction(amounts, 'memory', at, warnings);
  warnFraction(amounts, 'ephemeral-storage', at, warnings);
}
/** Texts that may be a fraction of a unit; all others need not be parsed. */
const fraction = /[mun.]|e-/;
/** Fractions of a byte. */
function warnFraction(amounts: Amounts, name: string, at: Path, warnings: Warnings): void {
  const text = own(amounts, name);
  if (text !== undefined && fraction.test(text) && amount(text).millis() % 1000n !== 0n)
    warnings.add(() => `${at.key(name)}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`);
}
