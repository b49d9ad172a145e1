/** Random graphs of owners, random deletions: when the collector has nothing left to do, exactly what the rules keep is there. */

import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers } from '../testing.ts';
import { garbageCollector } from './controller.ts';

const { configMaps, secrets, definitions, apiServices } = fakeKinds;
const globals: FakeKind = { group: 'example.com', version: 'v1', name: 'globals', kind: 'Global', namespaced: false };
const kinds = [configMaps, secrets, globals] as const;

/** Owners are given by place; those beyond the last object never were. */
const thing = fc.record({
  kind: fc.constantFrom(...kinds),
  namespace: fc.constantFrom('a', 'a', 'a', 'b'),
  owners: fc.uniqueArray(fc.record({ place: fc.nat(13), block: fc.boolean() }), { maxLength: 3, selector: (owner) => owner.place }),
});
const deletion = fc.record({ place: fc.nat(11), policy: fc.constantFrom('Background', 'Foreground', 'Orphan', undefined) });
const scenario = fc.record({
  things: fc.array(thing, { minLength: 2, maxLength: 12 }),
  deletions: fc.array(deletion, { maxLength: 6 }),
  /** Where in the history the collector is started, and started anew. */
  restartAfter: fc.nat(6),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;
type Thing = Scenario['things'][number];

const nameOf = (place: number): string => `o${place}`;
const namespaceOf = ({ kind, namespace }: Thing): string => (kind.namespaced ? namespace : '');

/** The rules, played through without a server. */
class Model {
  private readonly things: readonly Thing[];
  readonly alive = new Map<number, number[]>();

  constructor(things: readonly Thing[]) {
    this.things = things;
    for (const [place, { owners }] of things.entries())
      this.alive.set(
        place,
        owners.map((owner) => owner.place),
      );
    this.settle();
  }
  delete(place: number, policy: string | undefined): void {
    if (!this.alive.delete(place)) return;
    if (policy === 'Orphan')
      for (const [other, owners] of this.alive)
        this.alive.set(
          other,
          owners.filter((owner) => owner !== place),
        );
    this.settle();
  }
  private settle(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const [place, owners] of this.alive) {
        const left = owners.filter((owner) => this.counts(owner, place));
        if (left.length === owners.length) continue;
        // References to owners that do not count are taken away while another counts.
        if (left.length > 0) this.alive.set(place, left);
        else this.alive.delete(place);
        changed = true;
      }
    }
  }
  /** An owner counts where it is alive, and of the cluster or in the same namespace. */
  private counts(owner: number, dependent: number): boolean {
    // Nobody can tell about an object of the cluster that names an owner of a namespace.
    if (!kindAt(this.things, dependent).namespaced && kindAt(this.things, owner).namespaced) return true;
    const found = this.alive.has(owner) ? this.things[owner] : undefined;
    return found !== undefined && (!found.kind.namespaced || found.namespace === namespaceOf(this.things[dependent] as Thing));
  }
}

/** Owners that never were are said to be of this kind. */
const kindAt = (things: readonly Thing[], place: number): FakeKind => things[place]?.kind ?? configMaps;

function referencesOf(things: readonly Thing[], one: Thing, uids: ReadonlyMap<number, string>): Loose[] {
  return one.owners.map(({ place, block }) => {
    const kind = kindAt(things, place);
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
    return { apiVersion, kind: kind.kind, name: nameOf(place), uid: uids.get(place) ?? `never-${place}`, blockOwnerDeletion: block };
  });
}

async function play({ things, deletions, restartAfter }: Scenario): Promise<void> {
  const api = new FakeApi([...kinds, definitions, apiServices]);
  const uids = new Map(things.map((_, place) => [place, `uid-${place}`]));
  for (const [place, one] of things.entries()) {
    const metadata = { name: nameOf(place), uid: uids.get(place), ...(one.kind.namespaced && { namespace: one.namespace }) };
    const ownerReferences = referencesOf(things, one, uids);
    api.put(one.kind, { metadata: { ...metadata, ...(ownerReferences.length > 0 && { ownerReferences }) } });
  }
  const model = new Model(things);
  const alive = (): string[] =>
    kinds
      .flatMap((kind) => api.all(kind).map((object) => `${kind.name}/${object.metadata.namespace ?? ''}/${object.metadata.name}`))
      .sort();
  const wanted = (): string[] =>
    [...model.alive.keys()].map((place) => `${kindAt(things, place).name}/${namespaceOf(things[place] as Thing)}/${nameOf(place)}`).sort();

  let run = runControllers(api, [garbageCollector({ settleMs: 0 })]);
  await run.pass(5000);
  expect(alive()).toEqual(wanted());
  for (const [step, { place, policy }] of deletions.entries()) {
    const one = things[place];
    if (one === undefined) continue;
    if (step === restartAfter) await run.stop();
    await api.remove(one.kind, namespaceOf(one), nameOf(place), policy);
    if (step === restartAfter) run = runControllers(api, [garbageCollector({ settleMs: 0 })]);
    model.delete(place, policy);
    await run.pass(5000);
    expect(alive()).toEqual(wanted());
  }
  await run.stop();
}

test('exactly what the rules keep remains, whichever policies objects are deleted by', async () => {
  await fc.assert(fc.asyncProperty(scenario, play), { numRuns: rounds(300) });
}, 120_000);
