/**
 * What the containers of a pod need together, of each resource. Containers run side by side, beside the sidecars; init containers run one
 * after another, each beside the sidecars that were started before it:
 *
 *   init a: 3   sidecar s: 1   init b: 2   containers c: 1, d: 1     →     max(3, 2 + 1, 1 + 1 + 1) = 3
 */
import type { Quantity } from '@plat-dev/meta/quantity';
import { amount, isHugePages } from '../../validation/resources.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { PodSpec } from '../schema/pods/pod.ts';

export type Amounts = Map<string, Quantity>;

/** A sidecar: an init container that keeps running beside the containers. */
export const isSidecar = ({ restartPolicy }: { readonly restartPolicy?: string | undefined }): boolean => restartPolicy === 'Always';

/** `amountsOf` says what a container needs, if that is not what its fields say. */
export function containerAmounts(
  { containers = [], initContainers = [] }: Pick<PodSpec, 'containers' | 'initContainers'>,
  which: 'requests' | 'limits',
  amountsOf: (container: Container) => Readonly<Record<string, string>> | undefined = ({ resources }) => resources?.[which],
): Amounts {
  const sums: Amounts = new Map();
  for (const container of containers) eachAmount(amountsOf(container), (name, quantity) => addAmount(sums, name, quantity));
  const ofSidecars: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of initContainers) {
    const stays = isSidecar(container);
    eachAmount(amountsOf(container), (name, quantity) => {
      if (stays) {
        addAmount(sums, name, quantity);
        addAmount(ofSidecars, name, quantity);
      }
      const besides = ofSidecars.get(name);
      raise(starting, name, stays ? (besides ?? quantity) : (besides?.add(quantity) ?? quantity));
    });
  }
  for (const [name, quantity] of starting) raise(sums, name, quantity);
  return sums;
}

/** The amounts of a pod, where those that it states for itself count rather than the sums of its containers, and its overhead is added. */
export function podAmounts(spec: PodSpec, which: 'requests' | 'limits'): Amounts {
  const sums = containerAmounts(spec, which);
  const stated = spec.resources?.[which];
  for (const name in stated) if (isPodResource(name)) sums.set(name, amount(stated[name] as string));
  for (const [name, text] of Object.entries(spec.overhead ?? {}))
    if (which === 'requests' || sums.has(name)) addAmount(sums, name, amount(text));
  return sums;
}

/** Whether a pod may state an amount of a resource for all its containers together. */
export const isPodResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

export function addAmount(sums: Amounts, name: string, quantity: Quantity): void {
  const sum = sums.get(name);
  sums.set(name, sum === undefined ? quantity : sum.add(quantity));
}
function eachAmount(amounts: Readonly<Record<string, string>> | undefined, take: (name: string, quantity: Quantity) => void): void {
  for (const name in amounts) take(name, amount(amounts[name] as string));
}
function raise(sums: Amounts, name: string, quantity: Quantity): void {
  const sum = sums.get(name);
  if (sum === undefined || sum.compare(quantity) < 0) sums.set(name, quantity);
}
