/**
 * Histories of updates and applies by a few managers, held against a small independent reading of the rules: an object is
 * a flat table from path to value, and an owner a set of paths.
 */

import { ObjectMeta } from '@plat-dev/kinds/meta';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { ApiError } from '@plat-dev/meta/errors';
import { always, list, map, message, object, opt, string } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type FieldSet, paths } from './fieldset.ts';
import { History } from './history.testing.ts';

const Item = message('test.Item', { name: opt(1, string), value: opt(2, string), extra: opt(3, string) });
const Thing = object('test.Thing', {
  metadata: always(1, ObjectMeta),
  note: opt(2, string),
  data: opt(3, map(string)),
  items: opt(4, list(Item, 'map', ['name'])),
  tags: opt(5, list(string, 'set')),
});
interface Body {
  note?: string;
  data?: Record<string, string>;
  items?: { name: string; value?: string; extra?: string }[];
  tags?: string[];
}

// ---- the oracle --------------------------------------------------------------------------------------------------

type Table = Map<string, string>;
/** The value of a path that only holds others. */
const HOLDS = '(holds others)';

function flatten(body: Body): Table {
  const table: Table = new Map();
  if (body.note !== undefined) table.set('.note', body.note);
  if (body.data !== undefined) {
    table.set('.data', HOLDS);
    for (const [key, value] of Object.entries(body.data)) table.set(`.data.${key}`, value);
  }
  if (body.items !== undefined) {
    table.set('.items', HOLDS);
    for (const item of body.items) {
      table.set(`.items[name="${item.name}"]`, HOLDS);
      for (const [key, value] of Object.entries(item)) table.set(`.items[name="${item.name}"].${key}`, value);
    }
  }
  if (body.tags !== undefined) {
    table.set('.tags', HOLDS);
    for (const tag of body.tags) table.set(`.tags[="${tag}"]`, tag);
  }
  return table;
}
const collections = ['.data', '.items', '.tags'];
const isBelow = (path: string, above: string): boolean => path.startsWith(`${above}.`) || path.startsWith(`${above}[`);

class Conflict extends Error {}

class Oracle {
  table: Table = new Map();
  readonly owners = new Map<string, Set<string>>();

  /** Paths that are new or have another value. */
  private changed(after: Table): Set<string> {
    return new Set([...after].filter(([path, value]) => this.table.get(path) !== value).map(([path]) => path));
  }
  /** Takes paths from everybody but one. */
  private take(taken: Iterable<string>, except = ''): void {
    for (const path of taken) for (const [owner, set] of this.owners) if (owner !== except) set.delete(path);
  }
  update(manager: string, body: Body): void {
    const after = flatten(body);
    const changed = this.changed(after);
    this.take(changed);
    this.take([...this.table.keys()].filter((path) => !after.has(path)));
    const owner = `${manager} Update`;
    this.owners.set(owner, new Set([...(this.owners.get(owner) ?? []), ...changed]));
    this.table = after;
  }
  apply(manager: string, body: Body, force: boolean): void {
    const owner = `${manager} Apply`;
    const wanted = flatten(body);
    const named = new Set([...wanted.keys()].filter((path) => !collections.includes(path)));
    const after = new Map([...this.table, ...wanted]);
    this.drop(after, owner, named);
    const changed = this.changed(after);
    const others = [...this.owners].filter(([name]) => name !== owner);
    if (!force && others.some(([, set]) => [...changed].some((path) => set.has(path)))) throw new Conflict();
    this.take(changed, owner);
    this.take(
      [...this.table.keys()].filter((path) => !after.has(path)),
      owner,
    );
    this.owners.set(owner, named);
    // A collection that lost its last entry is not shown any more, but still owned by whoever made it.
    for (const path of collections) if (![...after.keys()].some((other) => isBelow(other, path))) after.delete(path);
    this.table = after;
  }
  /** Removes what the applier named before, does not name now, and nobody else owns. */
  private drop(after: Table, owner: string, named: Set<string>): void {
    const last = this.owners.get(owner) ?? new Set();
    const held = new Set(named);
    for (const [name, set] of this.owners) if (name !== owner) for (const path of set) held.add(path);
    const remove = (gone: string): void => {
      for (const path of [...after.keys()]) if (path === gone || isBelow(path, gone)) after.delete(path);
    };
    for (const path of last) if (!held.has(path)) remove(path);
    for (const path of collections) {
      const wasNamed = [...last].some((other) => isBelow(other, path));
      const isHeld = held.has(path) || [...held].some((other) => isBelow(other, path));
      if (wasNamed && !isHeld) remove(path);
    }
  }
  get ownership(): Record<string, string[]> {
    return Object.fromEntries([...this.owners].filter(([, set]) => set.size > 0).map(([owner, set]) => [owner, [...set].sort()]));
  }
}

// ---- histories ---------------------------------------------------------------------------------------------------

const value = fc.constantFrom('1', '2');
const body: fc.Arbitrary<Body> = fc.record(
  {
    note: value,
    data: fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { minKeys: 1 }),
    items: fc.uniqueArray(fc.record({ name: fc.constantFrom('x', 'y', 'z'), value, extra: value }, { requiredKeys: ['name'] }), {
      minLength: 1,
      selector: (item) => item.name,
    }),
    tags: fc.uniqueArray(fc.constantFrom('t', 'u', 'v'), { minLength: 1 }),
  },
  { requiredKeys: [] },
);
const step = fc.record({ manager: fc.constantFrom('alice', 'bob', 'carol'), how: fc.constantFrom('update', 'apply', 'force'), body });

function ownership(history: History): Record<string, string[]> {
  return Object.fromEntries(
    history.entries.map((entry) => [`${entry.manager} ${entry.operation}`, paths(entry.fieldsV1 as unknown as FieldSet).sort()]),
  );
}

test('histories of several managers agree with the oracle', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 10 }), (steps) => {
      const history = new History(Thing);
      const oracle = new Oracle();
      for (const { manager, how, body: sent } of steps) {
        // A first write that says nothing leaves an object that nobody follows, which is another story.
        if (history.entries.length === 0 && Object.keys(sent).length === 0) continue;
        if (history.entries.length === 0) history.live = undefined;
        let refused = false;
        try {
          if (how === 'update') history.write(manager, { ...sent });
          else history.apply(manager, { ...sent }, { force: how === 'force' });
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 409) throw error;
          refused = true;
        }
        let conflicted = false;
        try {
          if (how === 'update') oracle.update(manager, sent);
          else oracle.apply(manager, sent, how === 'force');
        } catch (error) {
          if (!(error instanceof Conflict)) throw error;
          conflicted = true;
        }
        expect(refused).toBe(conflicted);
        expect(new Map([...flatten(history.content as Body)].sort())).toEqual(new Map([...oracle.table].sort()));
        expect(ownership(history)).toEqual(oracle.ownership);
        if (history.entries.length === 0) return;
      }
    }),
    { numRuns: rounds(300) },
  );
});
