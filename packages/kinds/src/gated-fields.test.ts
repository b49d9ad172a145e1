/** The mechanism, and that every gate that a schema or a kind names is one that this server has. */

import { apiRelease, apiReleases, isAtLeast } from '@plat-dev/lib/version';
import { kubernetes } from '@plat-dev/meta/identity';
import { int32, list, type MessageType, message, object, opt, ptr, resolve, string, type Type } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { gates } from './feature-gates.ts';
import { gateTableOf } from './feature-gates-in-release.ts';
import { GatedFields, gateOf, hasGates } from './gated-fields.ts';
import { builtinKinds } from './index.ts';
import type { ApiObject, GateRule, KindEnv } from './kind.ts';
import { kindIn } from './kind-in-release.ts';

const Part = message('test.v1.Part', {
  grace: ptr(1, int32, { gate: { name: 'Grace', notIn: ['early'] } }),
  mode: ptr(2, string, { gate: { name: 'Mode', off: 'Default' } }),
});
const Embedded = object('test.v1.Embedded', { grace: ptr(1, int32, { gate: 'Grace' }) });
const Thing = object('test.v1.Thing', {
  parts: opt(1, list(Part)),
  early: ptr(2, Part),
  late: ptr(3, Part),
  size: ptr(4, int32, { gate: { name: 'Size', alone: true } }),
  weight: ptr(5, int32, { gate: { name: 'Size', alone: true } }),
  age: opt(6, int32, { gate: { name: 'Age', createOnly: true } }),
  templates: opt(7, list(Embedded)),
});
type Loose = Record<string, unknown>;

const gatedWith = (on: readonly string[], rules: readonly GateRule<ApiObject>[] = []): GatedFields =>
  new GatedFields(Thing, rules as unknown as readonly GateRule[], kubernetes, (gate) => on.includes(gate));
function written(now: Loose, old?: Loose, on: readonly string[] = []): Loose {
  const result = structuredClone(now);
  gatedWith(on).clear(result as unknown as ApiObject, old as unknown as ApiObject | undefined);
  return result;
}

describe('fields', () => {
  test('a field of a gate that is off is cleared, wherever it stands; others stay', () => {
    const now = { parts: [{ grace: 1 }, {}], late: { grace: 2, other: 1 } };
    expect(written(now)).toEqual({ parts: [{}, {}], late: { other: 1 } });
    expect(written(now, {})).toEqual({ parts: [{}, {}], late: { other: 1 } });
    expect(written(now, undefined, ['Grace'])).toEqual(now);
  });
  test('where the stored object uses the feature anywhere, all of it is kept', () => {
    expect(written({ parts: [{ grace: 1 }] }, { late: { grace: 5 } })).toEqual({ parts: [{ grace: 1 }] });
    expect(written({ parts: [{ grace: 1 }] }, { late: { mode: 'Odd' } })).toEqual({ parts: [{}] });
  });
  test('a value that stands for the feature being off takes the place of another, and is no use of it', () => {
    expect(written({ late: { mode: 'Odd' } })).toEqual({ late: { mode: 'Default' } });
    expect(written({ late: { mode: 'Odd' } }, { late: { mode: 'Default' } })).toEqual({ late: { mode: 'Default' } });
    expect(written({ late: { mode: 'Odd' } }, { parts: [{ mode: 'Odd' }] })).toEqual({ late: { mode: 'Odd' } });
    expect(written({ late: {} })).toEqual({ late: {} });
  });
  test('a message under a name that the gate leaves out is left to validation', () => {
    expect(written({ early: { grace: 1, mode: 'Odd' } })).toEqual({ early: { grace: 1, mode: 'Default' } });
    expect(written({ late: { grace: 1 } }, { early: { grace: 1 } })).toEqual({ late: {} });
  });
  test('a field that stands alone is kept for its own sake only', () => {
    expect(written({ size: 1, weight: 1 }, { weight: 1 })).toEqual({ weight: 1 });
  });
  test('a field of creates is cleared from new objects only', () => {
    expect(written({ age: 1 })).toEqual({});
    expect(written({ age: 1 }, {})).toEqual({ age: 1 });
  });
  test('objects inside objects are left alone', () => {
    expect(written({ templates: [{ grace: 1 }] })).toEqual({ templates: [{ grace: 1 }] });
  });
  test('a stored object is not changed', () => {
    const old = Object.freeze({ late: Object.freeze({ mode: 'Default' }), size: 1 });
    expect(written({ late: { mode: 'Odd' }, weight: 1 }, old)).toEqual({ late: { mode: 'Default' } });
  });
  test('a message with nothing else goes with its field, and those around it that are left empty', () => {
    const Action = message('test.v1.Action', { sleep: ptr(1, int32, { gate: { name: 'Sleep', withMessage: true } }), run: opt(2, string) });
    const Hooks = message('test.v1.Hooks', { before: ptr(1, Action), after: ptr(2, Action) });
    const Hooked = object('test.v1.Hooked', { parts: opt(1, list(message('test.v1.Holder', { hooks: ptr(1, Hooks) }))) });
    const cleared = (hooks: object) => {
      const value = { metadata: {}, parts: [{ hooks }] };
      new GatedFields(Hooked, undefined, kubernetes, () => false).clear(value as unknown as ApiObject, undefined);
      return value.parts[0];
    };
    expect(cleared({ before: { sleep: 1 } })).toEqual({});
    expect(cleared({ before: { sleep: 1 }, after: { run: 'a' } })).toEqual({ hooks: { after: { run: 'a' } } });
    expect(cleared({ before: { sleep: 1, run: 'a' } })).toEqual({ hooks: { before: { run: 'a' } } });
    // What a client left empty stays.
    expect(cleared({ before: {} })).toEqual({ hooks: { before: {} } });
  });
});

describe('rules', () => {
  const uses = (object: ApiObject): boolean => object.metadata.annotations?.a !== undefined;
  const annotated: GateRule<ApiObject> = { gate: 'Rule', uses, clear: ({ metadata }) => delete metadata.annotations?.a };
  const object = (annotations: Record<string, string>): ApiObject => ({ metadata: { annotations } });
  const cleared = (now: ApiObject, old?: ApiObject, on: readonly string[] = []) => {
    gatedWith(on, [annotated]).clear(now, old);
    return now.metadata.annotations;
  };
  test('clear what is no field', () => {
    expect(cleared(object({ a: '1', b: '2' }))).toEqual({ b: '2' });
    expect(cleared(object({ a: '1' }), object({ b: '2' }))).toEqual({});
    expect(cleared(object({ a: '1' }), object({ a: '2' }))).toEqual({ a: '1' });
    expect(cleared(object({ a: '1' }), undefined, ['Rule'])).toEqual({ a: '1' });
  });
  test('let validation of an update find what the stored object uses', () => {
    const env = { feature: (gate: string) => gate === 'Other' } as unknown as KindEnv;
    const strict: GateRule<ApiObject>[] = [
      { gate: 'Rule', uses },
      { gate: 'Other', uses, validatedAs: false },
    ];
    const found = (old: ApiObject) => {
      const { feature } = gatedWith(['Other'], strict).envFor(object({}), old, env);
      return [feature('Rule'), feature('Other'), feature('Third')];
    };
    expect(found(object({ a: '1' }))).toEqual([true, false, false]);
    expect(found(object({}))).toEqual([false, true, false]);
    expect(gatedWith(['Other'], strict).envFor(object({}), object({}), env)).toBe(env);
  });
});

describe('declarations', () => {
  const kinds = builtinKinds(kubernetes).map((kind) => kindIn(apiRelease, kind));
  /** Gates of all fields that a type leads to, through recursive types and objects in objects as well. */
  function gatesOf(type: Type, seen: Set<Type>, found: Set<string>): Set<string> {
    const resolved = resolve(type);
    if (seen.has(resolved)) return found;
    seen.add(resolved);
    if (resolved.node === 'list') gatesOf(resolved.item, seen, found);
    else if (resolved.node === 'map') gatesOf(resolved.value, seen, found);
    else if (resolved.node === 'union') for (const part of [resolved.object, resolved.other]) gatesOf(part.type, seen, found);
    else if (resolved.node === 'message')
      for (const field of resolved.ordered) {
        const gate = gateOf(field);
        if (gate !== undefined) found.add(gate.name);
        gatesOf(field.type, seen, found);
      }
    return found;
  }
  const hubOf = (kind: (typeof kinds)[number]): MessageType => (kind.versions[kind.hub] as { schema: MessageType }).schema;

  test('name gates of the table that concern this server and can be switched', () => {
    const named = new Set(
      kinds.flatMap((kind) => [...gatesOf(hubOf(kind), new Set(), new Set()), ...(kind.gated ?? []).map(({ gate }) => gate)]),
    );
    expect(named.size).toBeGreaterThan(20);
    const table: Readonly<Record<string, (typeof gates)[keyof typeof gates] | undefined>> = gates;
    for (const name of named) expect(table[name], name).toMatchObject({ concerns: 'server' });
  });
  test.each(apiReleases.filter((release) => isAtLeast(release, '1.25')))(
    'name gates of release %s, or those that it has no more',
    (release) => {
      const later = builtinKinds(kubernetes).map((kind) => kindIn(release, kind));
      const named = new Set(
        later.flatMap((kind) => [...gatesOf(hubOf(kind), new Set(), new Set()), ...(kind.gated ?? []).map(({ gate }) => gate)]),
      );
      const { gates: existing, settled } = gateTableOf(release);
      const gone = [...named].filter((name) => existing[name]?.concerns !== 'server' && !settled.includes(name));
      // A gate that went while it was off: its field stays switched off.
      expect(gone.filter((name) => name !== 'DynamicKubeletConfig')).toEqual([]);
    },
  );
  test('are found by the walk: none stands only behind a recursive type, a map or a union', () => {
    for (const kind of kinds) {
      const found = new Set<string>();
      const walked = new GatedFields(hubOf(kind), undefined, kubernetes, (gate) => {
        found.add(gate);
        return true;
      });
      walked.clear({ metadata: {} } as ApiObject, undefined);
      const all = gatesOf(hubOf(kind), new Set(), new Set());
      // Claims in the template of a stateful set are objects of their own.
      if (kind.kind === 'StatefulSet') for (const gate of ['RecoverVolumeExpansionFailure']) all.delete(gate);
      expect([...found].sort(), kind.kind).toEqual([...all].sort());
      expect(hasGates(hubOf(kind)), kind.kind).toBe(all.size > 0);
    }
  });
});
