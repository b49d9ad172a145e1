/** Annotations and labels of pods that have a meaning, with the names of the identity. */
import { domainName, type Identity } from '@plat-dev/meta/identity';

export interface PodNames {
  /** Marks a mirror pod. */
  readonly mirror: string;
  readonly deletionCost: string;
  /** Tolerations as JSON, as they were before they had a field. */
  readonly tolerations: string;
  readonly seccompPod: string;
  /** Prefix of the name of a container. */
  readonly seccompContainer: string;
  readonly appArmorContainer: string;
  readonly criticalPod: string;
  readonly sysctls: string;
  readonly unsafeSysctls: string;
  /** Once held init containers and their states; dropped. */
  readonly oldInit: readonly string[];
  /** Labels of nodes that were renamed, with the warning. */
  readonly oldNodeLabels: ReadonlyMap<string, string>;
}

const namesByIdentity = new WeakMap<Identity, PodNames>();

export function podNames(identity: Identity): PodNames {
  let names = namesByIdentity.get(identity);
  if (names === undefined) {
    names = makeNames((name, prefix) => domainName(identity, name, prefix));
    namesByIdentity.set(identity, names);
  }
  return names;
}

/** Older names of labels of nodes → the names that they have now. */
export const newNodeLabels = (identity: Identity): ReadonlyMap<string, string> => {
  const pairs = [
    ['region', 'topology'],
    ['zone', 'topology'],
  ] as const;
  const renamed = pairs.map(
    ([name, prefix]) => [domainName(identity, name, 'failure-domain.beta'), domainName(identity, name, prefix)] as const,
  );
  const kept = (['arch', 'os'] as const).map((name) => [domainName(identity, name, 'beta'), domainName(identity, name)] as const);
  const type = [domainName(identity, 'instance-type', 'beta'), domainName(identity, 'instance-type', 'node')] as const;
  return new Map([...renamed, ...kept, type]);
};

function makeNames(name: (name: string, prefix?: string) => string): PodNames {
  const since = (release: string, instead: string): string => `deprecated since v${release}; use "${instead}" instead`;
  return {
    mirror: name('config.mirror'),
    deletionCost: name('pod-deletion-cost', 'controller'),
    tolerations: name('tolerations', 'scheduler.alpha'),
    seccompPod: name('pod', 'seccomp.security.alpha'),
    seccompContainer: name('', 'container.seccomp.security.alpha'),
    appArmorContainer: name('', 'container.apparmor.security.beta'),
    criticalPod: name('critical-pod', 'scheduler.alpha'),
    sysctls: name('sysctls', 'security.alpha'),
    unsafeSysctls: name('unsafe-sysctls', 'security.alpha'),
    oldInit: ['pod.beta', 'pod.alpha'].flatMap((prefix) => [name('init-containers', prefix), name('init-container-statuses', prefix)]),
    oldNodeLabels: new Map([
      [name('arch', 'beta'), since('1.14', name('arch'))],
      [name('os', 'beta'), since('1.14', name('os'))],
      [name('region', 'failure-domain.beta'), since('1.17', name('region', 'topology'))],
      [name('zone', 'failure-domain.beta'), since('1.17', name('zone', 'topology'))],
      [name('instance-type', 'beta'), since('1.17', name('instance-type', 'node'))],
    ]),
  };
}
