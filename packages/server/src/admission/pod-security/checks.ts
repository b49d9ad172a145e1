/** One check of the standards, the release that introduced it, and the checks that it replaces. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import { type AnyContainer, eachContainer } from '../pods.ts';
import type { Violation } from './words.ts';

/** The parts of a pod or a pod template that checks use. */
export interface Examined {
  readonly spec: Pod['spec'];
  readonly annotations: Readonly<Record<string, string>>;
  readonly containers: readonly AnyContainer[];
  readonly identity: Identity;
  /** Minor release of the server's API. */
  readonly release: number;
}

export function examined({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>, identity: Identity, release: ApiRelease): Examined {
  const containers: AnyContainer[] = [];
  eachContainer(spec, (container) => containers.push(container));
  return { spec, annotations: metadata?.annotations ?? {}, containers, identity, release: Number(release.slice('1.'.length)) };
}

export type Rule = (pod: Examined) => Violation | undefined;

export interface Check {
  /** Checks run in the order of their ids. */
  readonly id: string;
  /** Versions of the check by the minor release that introduced them, oldest first. */
  readonly since: readonly (readonly [release: number, rule: Rule])[];
  /** Ids of baseline checks that this one makes redundant. */
  readonly replaces?: readonly string[];
}
