/** One rule of the standards, since which release it holds, and what it replaces. */

import type { Pod } from '../../kinds/core/schema/pod.ts';
import type { Identity } from '../../meta/identity.ts';
import { type AnyContainer, eachContainer } from '../pods.ts';
import type { Violation } from './words.ts';

/** What of a pod or a pod template the rules look at. */
export interface Examined {
  readonly spec: Pod['spec'];
  readonly annotations: Readonly<Record<string, string>>;
  readonly containers: readonly AnyContainer[];
  readonly identity: Identity;
}

export function examined({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>, identity: Identity): Examined {
  const containers: AnyContainer[] = [];
  eachContainer(spec, (container) => containers.push(container));
  return { spec, annotations: metadata?.annotations ?? {}, containers, identity };
}

export interface Check {
  /** Checks run in the order of their ids. */
  readonly id: string;
  /** Rules by the minor release since which they hold, oldest first. */
  readonly since: readonly (readonly [release: number, rule: (pod: Examined) => Violation | undefined])[];
  /** Ids of baseline checks that are pointless beside this one. */
  readonly replaces?: readonly string[];
}
