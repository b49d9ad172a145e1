/** Fields whose feature is off are dropped from what is written, unless the stored object uses them already. */
import type { KindEnv } from '../kind.ts';
import type { Container } from './schema/containers.ts';
import type { PodSpec } from './schema/pod.ts';

export function dropDisabledFields(spec: PodSpec, old: PodSpec | undefined, env: KindEnv): void {
  if (!env.feature('MinDomainsInPodTopologySpread') && !usesMinDomains(old))
    for (const constraint of spec.topologySpreadConstraints ?? []) delete constraint.minDomains;
  const grace = !env.feature('ProbeTerminationGracePeriod') && !someContainer(old, usesProbeGrace);
  const mount = !env.feature('ProcMountType') && !someContainer(old, usesProcMount);
  if (!grace && !mount) return;
  for (const list of [spec.containers, spec.initContainers, spec.ephemeralContainers]) {
    for (const container of list ?? []) {
      if (grace) {
        delete container.livenessProbe?.terminationGracePeriodSeconds;
        delete container.startupProbe?.terminationGracePeriodSeconds;
      }
      // The field was once filled in by the server: it is made harmless rather than dropped.
      if (mount && container.securityContext?.procMount !== undefined) container.securityContext.procMount = 'Default';
    }
  }
}

const usesMinDomains = (spec: PodSpec | undefined): boolean =>
  spec?.topologySpreadConstraints?.some((constraint) => constraint.minDomains !== undefined) ?? false;
const usesProbeGrace = ({ livenessProbe, startupProbe }: Container): boolean =>
  livenessProbe?.terminationGracePeriodSeconds !== undefined || startupProbe?.terminationGracePeriodSeconds !== undefined;
const usesProcMount = ({ securityContext }: Container): boolean =>
  securityContext?.procMount !== undefined && securityContext.procMount !== 'Default';

function someContainer(spec: PodSpec | undefined, test: (container: Container) => boolean): boolean {
  if (spec === undefined) return false;
  return (
    (spec.containers?.some(test) ?? false) || (spec.initContainers?.some(test) ?? false) || (spec.ephemeralContainers?.some(test) ?? false)
  );
}
