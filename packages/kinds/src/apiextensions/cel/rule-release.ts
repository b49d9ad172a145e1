/** What rules of a release may use and how much they may take, and how their errors read. */
import { CostBudget, type Environments } from '@plat-dev/cel';
import { isAtLeast } from '@plat-dev/lib/version';
import { environmentsFor } from '../../expressions/environments.ts';

export interface RuleRelease {
  readonly release: string;
  readonly environments: Environments;
  /** Limits of one expression for one value, which blocks the event loop. */
  readonly call: Limits;
  /** Limits of all rules for one object, which yield to others now and then. */
  readonly object: Limits;
  /** Errors of rules name the value, if it is no object or list, instead of its type. */
  readonly showsValues: boolean;
}
interface Limits {
  readonly work: number;
  /** As a stock server counts. */
  readonly cost: number;
}
export const budgetOf = ({ work, cost }: Limits): CostBudget => new CostBudget(work, cost);

/** In 1.24, where rules are an extension of ours, the limit is work alone: less than 50 ms for an expression and 100 ms for an object. */
const early = {
  call: { work: 500_000, cost: Number.POSITIVE_INFINITY },
  object: { work: 1_000_000, cost: Number.POSITIVE_INFINITY },
};
/** The limits of a stock server, and as much work as these take in most expressions. */
const stock = {
  call: { work: 1_000_000, cost: 1_000_000 },
  object: { work: 10_000_000, cost: 10_000_000 },
};
/** Made when they are first asked for. */
const releases = new Map<string, RuleRelease>();

export function ruleReleaseOf(release: string): RuleRelease {
  let rules = releases.get(release);
  if (rules === undefined) {
    const environments = environmentsFor(release, 'rule');
    rules = {
      release,
      environments,
      ...(environments.stored.isStock ? stock : early),
      showsValues: isAtLeast(release, '1.35'),
    };
    releases.set(release, rules);
  }
  return rules;
}
