/** What holds for random objects of every kind, whichever feature gates are on. */
import { describe, expect, test } from 'vitest';
import { GatedFields, gateOf, hasGates } from '../../packages/kinds/src/gated-fields.ts';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import type { ApiObject, Kind, KindVersion } from '../../packages/kinds/src/kind.ts';
import { kindIn } from '../../packages/kinds/src/kind-in-release.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { decode } from '../../packages/schema/src/json/index.ts';
import { type MessageType, resolve, type Type } from '../../packages/schema/src/types.ts';
import { arbitraryOf } from '../support/arbitrary.ts';

const RUNS = rounds(40);
const schemaOf = (kind: Kind): MessageType => (kind.versions[kind.hub] as KindVersion).schema;
const gatedKinds = builtinKinds(kubernetes).filter((kind) => hasGates(schemaOf(kind)) || kind.gated !== undefined);
const kinds = [
  ...gatedKinds.map((kind) => kindIn('1.24', kind)),
  ...gatedKinds.filter(({ kind }) => ['Node', 'Pod'].includes(kind)).map((kind) => kindIn('1.36', kind)),
];

/** Paths of gated fields whose feature a value uses, without those in objects inside it. */
function usesIn(type: Type, value: unknown, path: string, under: string): string[] {
  const resolved = resolve(type);
  if (resolved.node === 'list') return (value as unknown[]).flatMap((item, i) => usesIn(resolved.item, item, `${path}[${i}]`, under));
  if (resolved.node !== 'message' || (resolved.object && path !== '')) return [];
  return resolved.ordered.flatMap((field) => {
    const inner = (value as Record<string, unknown>)[field.name];
    if (inner === undefined) return [];
    const gate = gateOf(field);
    const here = `${path}.${field.name}`;
    const used = gate !== undefined && inner !== gate.off && !gate.notIn?.includes(under);
    return [...(used ? [`${here} ${gate.name}`] : []), ...usesIn(field.type, inner, here, field.name)];
  });
}
const gatedOf = (kind: Kind, feature: (gate: string) => boolean): GatedFields =>
  new GatedFields(schemaOf(kind), kind.gated, kubernetes, feature);

test('kinds with gates are found', () => {
  expect(kinds.length).toBeGreaterThan(15);
});

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_name, kind) => {
  const schema = schemaOf(kind);
  const objects = arbitraryOf(schema).map((json) => {
    const object = decode(schema, json) as ApiObject;
    object.metadata ??= {};
    return object;
  });

  test('a new object uses no feature that is off, and keeps those that are on', () => {
    fc.assert(
      fc.property(objects, fc.integer(), (object, choice) => {
        const feature = (gate: string): boolean => ((choice >> (gate.length % 31)) & 1) === 1;
        const before = usesIn(schema, object, '', '');
        gatedOf(kind, feature).clear(object, undefined);
        const left = usesIn(schema, object, '', '');
        const isOn = (use: string): boolean => feature(use.split(' ')[1] as string);
        expect(left.filter((use) => !isOn(use))).toEqual([]);
        // What is on stays, unless it stood in what was cleared.
        const goneWith = (use: string): boolean => before.some((other) => !isOn(other) && use.startsWith(`${other.split(' ')[0]}`));
        expect(left).toEqual(before.filter((use) => isOn(use) && !goneWith(use)));
        const again = structuredClone(object);
        gatedOf(kind, feature).clear(again, undefined);
        expect(again).toEqual(object);
      }),
      { numRuns: RUNS },
    );
  });

  test('an object that is written again as it is stored keeps everything', () => {
    fc.assert(
      fc.property(objects, (object) => {
        const written = structuredClone(object);
        gatedOf(kind, () => false).clear(written, object);
        expect(written).toEqual(object);
      }),
      { numRuns: RUNS },
    );
  });
});
