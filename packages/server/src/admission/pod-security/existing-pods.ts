/** Warnings about existing pods that violate a stricter level of their namespace. */

import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { ApiRelease } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import { examined } from './checks.ts';
import type { PodSecurityConfiguration } from './configuration.ts';
import { reasonsText, violations } from './evaluate.ts';
import { type LevelVersion, policyText } from './policy.ts';

/** Maximum pods that are checked for one request. */
const MAX_PODS = 3000;

export function warningsForExisting(
  pods: LiveView<Pod>,
  namespace: string,
  newLevel: LevelVersion,
  { runtimeClasses }: PodSecurityConfiguration,
  identity: Identity,
  release: ApiRelease,
): string[] {
  const podsByText = new Map<string, { first: string; count: number }>();
  const existingPods = pods.list(namespace, MAX_PODS);
  for (const pod of existingPods) {
    if (runtimeClasses.has(pod.spec.runtimeClassName ?? '')) continue;
    const wrong = violations(newLevel, examined(pod, identity, release));
    if (wrong.length === 0) continue;
    const text = reasonsText(wrong);
    const existing = podsByText.get(text);
    if (existing === undefined) podsByText.set(text, { first: pod.metadata.name ?? '', count: 1 });
    else existing.count++;
  }
  const warnings: string[] = [];
  if (existingPods.length === MAX_PODS)
    warnings.push(`new PodSecurity enforce level only checked against the first ${MAX_PODS} existing pods`);
  if (podsByText.size === 0) return warnings;
  warnings.push(
    `existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${JSON.stringify(policyText(newLevel))}`,
  );
  const lines = [...podsByText].map(([text, { first, count }]) => `${first}${others(count - 1)}: ${text}`);
  return [...warnings, ...lines.sort()];
}

const others = (count: number): string => (count === 0 ? '' : count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`);
