/** If a quota limits cpu or memory, every container must specify it. */
import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { own } from '@plat-dev/lib/own';

/** Name in the quota → field of a container. */
const demanded: Readonly<Record<string, readonly ['requests' | 'limits', string]>> = {
  cpu: ['requests', 'cpu'],
  memory: ['requests', 'memory'],
  'requests.cpu': ['requests', 'cpu'],
  'requests.memory': ['requests', 'memory'],
  'limits.cpu': ['limits', 'cpu'],
  'limits.memory': ['limits', 'memory'],
};

/** `must specify limits.cpu for: a,b; memory for: a`, or undefined if everything is specified. */
export function containersWithoutLimits({ spec }: Pod, names: readonly string[]): string | undefined {
  const unstatedNames = new Map<string, Set<string>>();
  const check = ({ name, resources }: Container): void => {
    for (const one of names) {
      const place = own(demanded, one) as (typeof demanded)[string] | undefined;
      if (place === undefined || own(resources[place[0]], place[1]) !== undefined) continue;
      unstatedNames.set(one, (unstatedNames.get(one) ?? new Set()).add(name));
    }
  };
  spec.containers?.forEach(check);
  spec.initContainers?.forEach(check);
  if (unstatedNames.size === 0) return undefined;
  const parts = [...unstatedNames.keys()].sort().map((name) => `${name} for: ${[...(unstatedNames.get(name) ?? [])].sort().join(',')}`);
  return `must specify ${parts.join('; ')}`;
}
