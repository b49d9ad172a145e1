/**
 * Priority levels of version 1beta3 have percentages for lending and borrowing seats. The hub keeps them in annotations; this server
 * does not lend seats.
 *
 *   v1beta3  nominalConcurrencyShares: 30, lendablePercent: 50     v1beta2  assuredConcurrencyShares: 30, annotation …: "50"
 */

import { own, without } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, type Identity, type QualifiedName } from '@plat-dev/meta/identity';
import { compact } from '../compact.ts';
import type { KindEnv } from '../kind.ts';
import type { ObjectMeta } from '../meta.ts';
import type * as v1beta2 from './schema/v1beta2.ts';
import type * as v1beta3 from './schema/v1beta3.ts';

const lendable = (identity: Identity): QualifiedName => domainName(identity, 'lendable-percent', 'flowcontrol');
const borrowing = (identity: Identity): QualifiedName => domainName(identity, 'borrowing-limit-percent', 'flowcontrol');

/** The number in an annotation; undefined for text that does not round-trip. */
function numberIn({ annotations }: ObjectMeta, name: string): number | undefined {
  const text = own(annotations, name);
  const value = Number(text);
  return text !== undefined && String(value) === text && (value | 0) === value ? value : undefined;
}
function write(metadata: ObjectMeta, name: string, value: number | undefined): void {
  if (value !== undefined) metadata.annotations = { ...metadata.annotations, [name]: String(value) };
}
function drop(metadata: ObjectMeta, name: string): void {
  const others = without(metadata.annotations ?? {}, name);
  if (Object.keys(others).length === 0) delete metadata.annotations;
  else metadata.annotations = others;
}

export function levelToHub(level: v1beta3.PriorityLevelConfiguration, identity: Identity): v1beta2.PriorityLevelConfiguration {
  if (level.spec?.limited === undefined) return level as v1beta2.PriorityLevelConfiguration;
  const { limited, ...spec } = level.spec;
  const { nominalConcurrencyShares, limitResponse, lendablePercent = 0, borrowingLimitPercent } = limited;
  level.metadata ??= {};
  if (lendablePercent !== 0) write(level.metadata, lendable(identity), lendablePercent);
  write(level.metadata, borrowing(identity), borrowingLimitPercent);
  return { ...level, spec: { ...spec, limited: compact({ assuredConcurrencyShares: nominalConcurrencyShares, limitResponse }) } };
}

export function levelFromHub(level: v1beta2.PriorityLevelConfiguration, identity: Identity): v1beta3.PriorityLevelConfiguration {
  const { limited, ...spec } = level.spec;
  if (limited === undefined) return { ...level, spec };
  const { assuredConcurrencyShares, limitResponse } = limited;
  const lendablePercent = numberIn(level.metadata, lendable(identity)) || undefined;
  const borrowingLimitPercent = numberIn(level.metadata, borrowing(identity));
  if (lendablePercent !== undefined) drop(level.metadata, lendable(identity));
  if (borrowingLimitPercent !== undefined) drop(level.metadata, borrowing(identity));
  return {
    ...level,
    spec: {
      ...spec,
      limited: {
        nominalConcurrencyShares: assuredConcurrencyShares,
        limitResponse,
        lendablePercent: lendablePercent ?? 0,
        ...(borrowingLimitPercent !== undefined && { borrowingLimitPercent }),
      },
    },
  };
}

const limitedAt = Path.of('spec', 'limited');

export function validateLending({ metadata }: v1beta2.PriorityLevelConfiguration, errors: FieldErrors, { identity }: KindEnv): void {
  const lends = numberIn(metadata, lendable(identity)) ?? 0;
  const borrows = numberIn(metadata, borrowing(identity)) ?? 0;
  if (lends < 0 || lends > 100) errors.invalid(limitedAt.child('lendablePercent'), lends, 'must be between 0 and 100, inclusive');
  if (borrows < 0) errors.invalid(limitedAt.child('borrowingLimitPercent'), borrows, 'if specified, must be a non-negative integer');
}
