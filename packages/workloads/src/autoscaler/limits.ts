/** How fast and how far an autoscaler goes: stabilization windows, policies, minimum and maximum. */

import type { HPAScalingRules } from '@plat-dev/kinds/autoscaling/schema/v2';
import type { Part } from '@plat-dev/kinds/wire';
import type { Autoscaler } from './autoscaler.ts';

type Rules = Part<HPAScalingRules>;

interface Dated {
  readonly at: number;
}
interface Recommendation extends Dated {
  readonly replicas: number;
}
interface ScaleEvent extends Dated {
  readonly change: number;
}

/** Window in which the highest recommendation counts before pods are removed, unless the behavior says another. */
const DOWN_WINDOW_SECONDS = 300;
/** Longest window and period that the API allows, in milliseconds. */
const LONGEST_WINDOW_MS = 3_600_000;
const LONGEST_PERIOD_MS = 1_800_000;
/** Entries that are kept of each: an hour at four a minute, and some more. */
const MAX_ENTRIES = 400;

/** What an autoscaler has recommended and done lately. It is lost when the process ends, as in a stock controller. */
export class History {
  private recommendations: Recommendation[] = [];
  private ups: ScaleEvent[] = [];
  private downs: ScaleEvent[] = [];

  /** The replicas at the beginning count as a recommendation, so that a new autoscaler does not scale down at once. */
  begin(replicas: number, at: number): void {
    if (this.recommendations.length === 0) this.recommend(replicas, at);
  }
  recommend(replicas: number, at: number): void {
    this.recommendations = recent([...this.recommendations, { replicas, at }], at - LONGEST_WINDOW_MS);
  }
  scaled(from: number, to: number, at: number): void {
    const event = { at, change: Math.abs(to - from) };
    if (to > from) this.ups = recent([...this.ups, event], at - LONGEST_PERIOD_MS);
    else this.downs = recent([...this.downs, event], at - LONGEST_PERIOD_MS);
  }
  lowest(windowSeconds: number, now: number, least: number): number {
    return this.within(windowSeconds, now).reduce((low, { replicas }) => Math.min(low, replicas), least);
  }
  highest(windowSeconds: number, now: number, most: number): number {
    return this.within(windowSeconds, now).reduce((high, { replicas }) => Math.max(high, replicas), most);
  }
  /** Replicas at the beginning of a period that ends now. */
  atStartOf(periodSeconds: number, current: number, now: number): number {
    const sum = (events: readonly ScaleEvent[]): number =>
      events.reduce((total, { at, change }) => (at > now - periodSeconds * 1000 ? total + change : total), 0);
    return current - sum(this.ups) + sum(this.downs);
  }
  private within(windowSeconds: number, now: number): Recommendation[] {
    return this.recommendations.filter(({ at }) => at > now - windowSeconds * 1000);
  }
}
const recent = <T extends Dated>(entries: readonly T[], since: number): T[] => entries.filter(({ at }) => at > since).slice(-MAX_ENTRIES);

export interface Limited {
  readonly replicas: number;
  /** The recommendation after stabilization, and how it is explained. */
  readonly able: { readonly reason: string; readonly message: string };
  /** Whether a limit was met. */
  readonly isLimited: boolean;
  readonly limit: { readonly reason: string; readonly message: string };
}

interface Limit {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}
const fastUp = { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' };
const fastDown = { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' };
const tooMany = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' };
const tooFew = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' };
const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' };
const upStabilized = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const downStabilized = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const readyForNew = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };

export const minimumOf = ({ spec }: Autoscaler): number => spec?.minReplicas ?? 1;
export const maximumOf = ({ spec }: Autoscaler): number => spec?.maxReplicas ?? 1;

/** The replicas that an autoscaler sets when its metrics propose some. The proposal goes into the history. */
export function limit(autoscaler: Autoscaler, history: History, current: number, proposed: number, now: number): Limited {
  const behavior = autoscaler.spec?.behavior;
  const up = behavior?.scaleUp;
  const down = behavior?.scaleDown;
  const downWindow = down?.stabilizationWindowSeconds ?? DOWN_WINDOW_SECONDS;
  let stable: number;
  if (behavior == null) stable = history.highest(DOWN_WINDOW_SECONDS, now, proposed);
  else {
    const low = history.lowest(up?.stabilizationWindowSeconds ?? 0, now, proposed);
    const high = history.highest(downWindow, now, proposed);
    stable = Math.min(Math.max(current, low), high);
  }
  history.recommend(proposed, now);
  const stabilized = behavior != null && proposed >= current ? upStabilized : downStabilized;
  const limited = behavior == null ? byDefault(autoscaler, current, stable) : byRules(autoscaler, history, current, stable, now);
  const { replicas, ...explained } = limited;
  return { replicas, able: stable === proposed ? readyForNew : stabilized, isLimited: replicas !== stable, limit: explained };
}

/** Without a behavior: twice as many at a time, or four. */
function byDefault(autoscaler: Autoscaler, current: number, stable: number): Limit {
  const fastest = Math.max(2 * current, 4);
  const most = maximumOf(autoscaler) > fastest ? { replicas: fastest, ...fastUp } : { replicas: maximumOf(autoscaler), ...tooMany };
  if (stable < minimumOf(autoscaler)) return { replicas: minimumOf(autoscaler), ...tooFew };
  return stable > most.replicas ? most : { replicas: stable, ...withinRange };
}

function byRules(autoscaler: Autoscaler, history: History, current: number, stable: number, now: number): Limit {
  const { scaleUp, scaleDown } = autoscaler.spec?.behavior ?? {};
  if (stable > current) {
    const fastest = Math.max(ruleLimit(scaleUp ?? undefined, history, current, now, 'up'), current);
    const most = maximumOf(autoscaler) > fastest ? { replicas: fastest, ...fastUp } : { replicas: maximumOf(autoscaler), ...tooMany };
    if (stable > most.replicas) return most;
  } else if (stable < current) {
    const fastest = Math.min(ruleLimit(scaleDown ?? undefined, history, current, now, 'down'), current);
    const least = minimumOf(autoscaler) < fastest ? { replicas: fastest, ...fastDown } : { replicas: minimumOf(autoscaler), ...tooFew };
    if (stable < least.replicas) return least;
  }
  return { replicas: stable, ...withinRange };
}

/** Defaults of the API, for rules that lack policies. */
const defaultPolicies = {
  up: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
  down: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
} as const;

/** How far the policies let the replicas go. Of several, the one that allows most counts, or least where the rules say so. */
function ruleLimit(rules: Rules | undefined, history: History, current: number, now: number, direction: 'up' | 'down'): number {
  const select = rules?.selectPolicy ?? 'Max';
  if (select === 'Disabled') return current;
  const sign = direction === 'up' ? 1 : -1;
  const limits = (rules?.policies ?? defaultPolicies[direction]).map(({ type, value, periodSeconds }) => {
    const start = history.atStartOf(periodSeconds, current, now);
    if (type === 'Pods') return start + sign * value;
    const share = start * (1 + (sign * value) / 100);
    // Rounded up, so that a small share of few replicas is at least one.
    return direction === 'up' ? Math.ceil(share) : Math.trunc(share);
  });
  const furthest = (select === 'Min') !== (direction === 'up');
  return furthest ? Math.max(...limits) : Math.min(...limits);
}
