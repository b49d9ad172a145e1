/** Properties that hold for any body of any kind, valid or not. Every kind's tests call this with a valid body. */

import { isDeepStrictEqual } from 'node:util';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { copied } from '@plat-dev/lib/testing/copied.testing';
import { expectEqual } from '@plat-dev/lib/testing/expect-equal.testing';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { isNormal } from '@plat-dev/schema/json/normal-form';
import { decodeProtobuf, encodeProtobuf } from '@plat-dev/schema/protobuf';
import { expect, test } from 'vitest';
import type { Kind, KindVersion } from '../kind.ts';
import { fromHubNow, serve, toHubNow as toStored } from '../served-kind.ts';
import { create, defaulted, type Loose, shown, testEnv, update } from './kinds.testing.ts';
import { decodes, mutated } from './mutations.testing.ts';

export type GoodBody = readonly [name: string, kind: Kind, body: Loose];

export function holdLaws(bodies: readonly GoodBody[]): void {
  test.each(bodies)('a good %s has no causes, and stays good when nothing changes', (_name, kind, body) => {
    const { object, errors } = create(kind, body);
    expect(errors).toEqual([]);
    expect(update(kind, object, () => {}).errors).toEqual([]);
    for (const [name, sub] of Object.entries(kind.subresources))
      if (sub.type === 'object') expect(update(kind, object, () => {}, name).errors).toEqual([]);
  });

  test.each(bodies)('defaults of a %s change nothing the second time, in any version', (_name, kind, body) => {
    fc.assert(
      fc.property(mutated(body), (changed) => defaultsSettle(kind, changed)),
      { numRuns: rounds(200) },
    );
  });

  test.each(bodies)('the rules of a %s stand whatever they are given', (_name, kind, body) => {
    const good = create(kind, body).object;
    const subresources = ['', ...Object.keys(kind.subresources).filter((name) => kind.subresources[name]?.type === 'object')];
    fc.assert(
      fc.property(mutated(body), mutated(body), fc.constantFrom(...subresources), (changed, before, subresource) => {
        const old = decodes(() => create(kind, before))?.object ?? good;
        rulesStand(kind, changed, old, subresource);
      }),
      { numRuns: rounds(500) },
    );
  });

  test.each(bodies)('what is said of a %s to be in the normal form is what reading its text gives', (_name, kind, body) => {
    const { schema } = kind.versions[kind.hub] as KindVersion;
    const read = (object: Loose): Loose => decode(schema, JSON.parse(encode(schema, object)));
    const good = read(create(kind, body).object);
    expect(isNormal(schema, good)).toBe(true);
    fc.assert(
      fc.property(fc.oneof(mutated(body), mutated(good)), (changed) => {
        const decoded = decodes(() => decode(schema, changed)) ?? good;
        for (const object of [changed, decoded, read(decoded)]) {
          if (!isNormal(schema, object)) continue;
          const again = read(object);
          if (!isDeepStrictEqual(again, object)) expect(again).toStrictEqual(object);
        }
      }),
      { numRuns: rounds(300) },
    );
  });

  test.each(bodies)('a %s survives every form and version', (_name, kind, body) => {
    for (const version of Object.keys(kind.versions)) {
      const { object } = create(kind, body);
      normalize(kind, object);
      expectEqual(plain(kind, throughVersion(kind, version, object, 'both')), plain(kind, object));
    }
  });

  test.each(bodies)('so does one with a few things wrong: conversions lose nothing of a %s', (_name, kind, body) => {
    fc.assert(
      fc.property(mutated(body), (changed) => {
        const object = decodes(() => defaulted(kind, changed));
        if (object === undefined) return;
        normalize(kind, object);
        for (const version of Object.keys(kind.versions))
          expectEqual(plain(kind, throughVersion(kind, version, object, 'text')), plain(kind, object));
      }),
      { numRuns: rounds(100) },
    );
  });
}

function defaultsSettle(kind: Kind, changed: Loose): void {
  const once = decodes(() => defaulted(kind, changed));
  if (once === undefined) return;
  const twice = copied(once);
  kind.versions[kind.hub]?.defaults?.(twice as never, testEnv);
  expectEqual(twice, once);
  expectEqual(shown(kind, defaulted(kind, shown(kind, once))), shown(kind, once));
  for (const served of serve(kind, kubernetes)) {
    const there = fromHubNow(served, copied(once)) as Loose;
    served.definition.defaults?.(there as never, testEnv);
    const again = copied(there);
    served.definition.defaults?.(again as never, testEnv);
    expectEqual(again, there);
  }
}

/** Nothing is thrown, and every error names its field; rows and selectable fields can be read from the result. */
function rulesStand(kind: Kind, changed: Loose, old: Loose, subresource: string): void {
  const made = decodes(() => create(kind, changed));
  if (made === undefined) return;
  const updated = decodes(() =>
    update(kind, old, (object) => Object.assign(object, copied(changed), { metadata: object.metadata }), subresource),
  );
  expect([...made.errors, ...(updated?.errors ?? [])].every((text) => text.includes(' | '))).toBe(true);
  const cells = kind.cells?.(made.object as never, testEnv);
  expect(cells?.length).toBe(cells === undefined ? undefined : kind.columns?.length);
  for (const read of Object.values(kind.fields ?? {})) expect(typeof read(made.object as never)).toBe('string');
  atOnceIfAny(kind.strategy?.canonicalize?.(made.object as never));
}

/** The normalization of a kind before an object is stored. */
export function normalize({ strategy, subresources }: Kind, object: Loose): void {
  atOnceIfAny(strategy?.canonicalize?.(object as never));
  const status = subresources?.status;
  if (status?.type === 'object') atOnceIfAny(status.strategy.canonicalize?.(object as never));
}
function atOnceIfAny(work: void | Work<void>): void {
  if (work !== undefined) atOnce(work);
}

/** An object of the hub through a version and back, as text or in both forms. */
function throughVersion(kind: Kind, version: string, object: Loose, form: 'text' | 'both'): Loose {
  const served = serve(kind, kubernetes).find((one) => one.version === version) as ReturnType<typeof serve>[number];
  const { schema } = kind.versions[version] as KindVersion;
  const there = fromHubNow(served, copied(object));
  const read = decode(schema, JSON.parse(encode(schema, there as never))) as Loose;
  const back = form === 'text' ? read : (decodeProtobuf(schema, encodeProtobuf(schema, read as never)) as Loose);
  if (form === 'both' && namesEmbedded.has(kind.kind)) served.definition.defaults?.(back as never, testEnv);
  return toStored(served, { ...back, kind: there.kind, apiVersion: there.apiVersion });
}
/** Kinds with objects inside whose kind and version have no place in the binary form; a server fills them in on arrival. */
const namesEmbedded: ReadonlySet<string> = new Set(['StatefulSet']);
const plain = (kind: Kind, object: Loose): Loose => shown(kind, { ...object, kind: undefined, apiVersion: undefined });
