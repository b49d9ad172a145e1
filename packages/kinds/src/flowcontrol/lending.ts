/**
 * Shares of priority levels have another name since version 1beta3:
 *
 *   v1  nominalConcurrencyShares: 30, lendablePercent: 50     v1beta2  assuredConcurrencyShares: 30, lendablePercent: 50
 *
 * This server keeps what a level lends and borrows, but does not lend seats.
 */
import type { PriorityLevelConfiguration } from './schema/v1beta2.ts';
import type * as v1beta3 from './schema/v1beta3.ts';

const DEFAULT_SHARES = 30;

export function levelToHub({ spec, ...level }: v1beta3.PriorityLevelConfiguration): PriorityLevelConfiguration {
  if (spec?.limited === undefined) return { ...level, spec } as PriorityLevelConfiguration;
  const { nominalConcurrencyShares, ...limited } = spec.limited;
  return {
    ...level,
    spec: { ...spec, limited: { assuredConcurrencyShares: nominalConcurrencyShares ?? DEFAULT_SHARES, ...limited } },
  };
}

export function levelFromHub({ spec, ...level }: PriorityLevelConfiguration): v1beta3.PriorityLevelConfiguration {
  if (spec.limited === undefined) return { ...level, spec } as v1beta3.PriorityLevelConfiguration;
  const { assuredConcurrencyShares, ...limited } = spec.limited;
  return { ...level, spec: { ...spec, limited: { nominalConcurrencyShares: assuredConcurrencyShares, ...limited } } };
}
