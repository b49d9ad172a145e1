/**
 * Random objects of every version of every kind survive every other version of it, whether a server serves them by default or not:
 * what a client of one version wrote and a client of another read and sent back is what the first one reads.
 */
import { expect, test } from 'vitest';
import { allServed, fromHub, read, shown, toHub } from '../../packages/kinds/src/older.testing.ts';
import type { ServedKind } from '../../packages/kinds/src/served-kind.ts';
import type { Loose } from '../../packages/kinds/src/validation/kinds.testing.ts';
import { normalize } from '../../packages/kinds/src/validation/laws.testing.ts';
import { expectEqual } from '../../packages/lib/src/testing/expect-equal.testing.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { decode } from '../../packages/schema/src/json/index.ts';
import { arbitraryOf } from '../support/arbitrary.ts';

const nameOf = ({ kind, apiVersion }: ServedKind): string => `${apiVersion} ${kind.kind}`;
/** Versions of one kind are those of one store: Deployment of extensions and of apps, events of both groups. */
const storeOf = ({ kind }: ServedKind): string => {
  const { group, plural } = kind.sharesStoreOf ?? kind;
  return `${group}/${plural}`;
};
/**
 * Levels lend seats since release 1.26, in every version that it serves. The schemas here are those of 1.24, of which only the versions
 * that came later have the fields: no server has both.
 */
const lendsAlone = (one: ServedKind, other: ServedKind): boolean =>
  one.kind.kind === 'PriorityLevelConfiguration' && /^v1(beta3)?$/.test(one.version) && !/^v1(beta3)?$/.test(other.version);
const pairs: [string, string, ServedKind, ServedKind][] = allServed.flatMap((one) =>
  allServed
    .filter((other) => other !== one && storeOf(other) === storeOf(one) && !lendsAlone(one, other))
    .map((other): [string, string, ServedKind, ServedKind] => [nameOf(one), nameOf(other), one, other]),
);

/** What the store has of it after a client of the version sent what it was shown. */
function sentBack(served: ServedKind, hub: Loose): Loose {
  const stored = toHub(served, decode(served.schema, shown(served, fromHub(served, hub))) as Loose);
  normalize(served.kind, stored);
  return stored;
}
/** What a version has two places for is refused by the conversion itself. */
function stored(served: ServedKind, value: Loose): Loose | undefined {
  try {
    const hub = toHub(served, read(served, value));
    normalize(served.kind, hub);
    return hub;
  } catch (error) {
    if ((error as { reason?: string }).reason === 'Invalid') return undefined;
    throw error;
  }
}
/** A backend that is a service has its name, and a port that has a name or a number: no other ingress can be stored. */
function withWholeServices({ kind }: ServedKind, value: Loose): Loose {
  if (kind.kind !== 'Ingress') return value;
  const whole = ({ name, port }: Loose): Loose => ({
    name: name || 'web',
    port: port?.name ? { name: port.name } : { number: port?.number || 80 },
  });
  return JSON.parse(JSON.stringify(value, (key, part) => (key === 'service' ? whole(part) : part)));
}
const withoutType = (object: Loose): Loose => ({ ...object, kind: undefined, apiVersion: undefined });

test('all kinds with more than one version are among them', () => {
  const kinds = new Set(pairs.map(([, , one]) => storeOf(one)));
  expect([...kinds]).toEqual(
    expect.arrayContaining(['/events', 'autoscaling/horizontalpodautoscalers', 'batch/cronjobs', 'discovery/endpointslices']),
  );
  expect(pairs.length).toBeGreaterThan(100);
});

test.each(pairs)('%s through %s', (_one, _other, one, other) => {
  fc.assert(
    fc.property(arbitraryOf(one.schema), (value) => {
      const hub = stored(one, withWholeServices(one, value));
      if (hub === undefined) return;
      const before = withoutType(shown(one, fromHub(one, hub)));
      const after = withoutType(shown(one, fromHub(one, sentBack(other, hub))));
      expectEqual(after, before);
    }),
    { numRuns: rounds(40) },
  );
});
