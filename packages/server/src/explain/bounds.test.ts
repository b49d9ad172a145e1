/** How much work a question about an object takes, whatever the object holds. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Slices } from '@plat-dev/lib/slices';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test, vi } from 'vitest';
import { alwaysAllow } from '../auth/authz/simple.ts';
import type { Resource } from '../registry/catalog.ts';
import { CallersView, MOST_BYTES, type Target, type ViewSources } from './callers-view.ts';
import { type Cause, MOST_CAUSES, sentence } from './cause.ts';
import { conditionCauses, unmetConditions } from './conditions.ts';
import { explainDeletion } from './deletion.ts';
import { evictionCauses } from './deletion-pods.ts';
import { missingReferences } from './pod-references.ts';
import { ingressCauses, serviceCauses } from './readiness-network.ts';
import type { Readiness } from './readiness-question.ts';
import type { Scheduling } from './scheduling.ts';

type Objects = Readonly<Record<string, readonly object[]>>;

/** A view of objects of the namespace `team`, whose slices are due after each step. */
function viewOf(objectsByPlural: Objects): { view: CallersView; pauses: () => number; resource: (plural: string) => Resource } {
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses++;
  };
  const resources = new Map<string, Resource>();
  const resource = (plural: string): Resource => {
    const existing = resources.get(plural);
    if (existing !== undefined) return existing;
    const items = new SortedMap<{ bytes: Buffer }>();
    for (const [i, object] of (new Map(Object.entries(objectsByPlural)).get(plural) ?? []).entries()) {
      const name = `o${i}`;
      items.set(`team/${name}`, { bytes: Buffer.from(JSON.stringify({ metadata: { name, namespace: 'team' }, ...object })) });
    }
    const kind = { group: '', plural, kind: plural, namespaced: true };
    const made = { group: '', version: 'v1', kind, collection: { items, pending: undefined } } as unknown as Resource;
    resources.set(plural, made);
    return made;
  };
  const catalog = { builtin: (_: string, plural: string) => resource(plural), all: () => [] };
  const sources = { identity: kubernetes, authorizers: [alwaysAllow], now: () => 0, catalog } as unknown as ViewSources;
  const slices = { due: true, pause } as unknown as Slices;
  return { view: new CallersView(sources, { name: 'alice', groups: [] }, slices), pauses: () => pauses, resource };
}
const targetOf = (plural: string, object: { readonly metadata?: object; readonly [field: string]: unknown }): Target => ({
  resource: viewOf({}).resource(plural),
  object: { ...object, metadata: { name: 'a', namespace: 'team', ...object.metadata } } as unknown as ApiObject,
});
const readinessOf = (view: CallersView, of: Readiness['of'] = async () => []): Readiness => ({
  view,
  scheduling: { isOn: false } as Scheduling,
  of,
});
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

test('a question parses a bounded amount of text', async () => {
  const large = many(40, () => ({ data: { a: 'x'.repeat(MOST_BYTES / 32) } }));
  const { view, resource } = viewOf({ configmaps: large });
  const { objects, isWhole } = await view.list(resource('configmaps'), 'team');
  expect([objects.length < 32, isWhole]).toEqual([true, false]);
  expect([...view.incomplete]).toEqual([`only ${MOST_BYTES / 2 ** 20} MiB of objects are looked at for one question`]);
  expect(await view.get(resource('configmaps'), 'team', 'o39')).toEqual({ isKnown: false });
});

test('an object that is asked for many times is parsed once, and others have their turn between', async () => {
  const { view, pauses, resource } = viewOf({ configmaps: [{}] });
  const first = await view.get(resource('configmaps'), 'team', 'o0');
  for (let i = 0; i < 10; i++) expect(await view.get(resource('configmaps'), 'team', 'o0')).toBe(first);
  expect(pauses()).toBeGreaterThan(10);
});

test('keys of one secret are gathered in as many steps as there are variables', async () => {
  const env = many(3_000, (i) => ({ valueFrom: { secretKeyRef: { name: 'o0', key: `k${i}` } } }));
  const pod = targetOf('pods', { spec: { containers: [{ env }] } });
  const { view } = viewOf({ secrets: [{ data: {} }] });
  const added = vi.spyOn(Set.prototype, 'add');
  const causes = await missingReferences(view, pod);
  const steps = added.mock.calls.length;
  added.mockRestore();
  expect(steps).toBeLessThan(10_000);
  expect(causes).toEqual([expect.objectContaining({ reason: 'SecretKeyMissing' })]);
  expect(causes[0]?.message).toMatch(/^The secret o0 has no key k0, .*k9, and 2990 others\.$/);
});

test('the selector of a service is compiled once, whatever the number of pods', async () => {
  let compilations = 0;
  const selector = new Proxy({ app: 'x' } as Record<string, string>, {
    ownKeys(labels) {
      compilations++;
      return Reflect.ownKeys(labels);
    },
  });
  const { view } = viewOf({ pods: many(100, () => ({ metadata: { labels: { app: 'y' } } })) });
  const causes = await serviceCauses(readinessOf(view), targetOf('services', { spec: { selector } }));
  expect(causes).toEqual([expect.objectContaining({ reason: 'SelectorMatchesNothing' })]);
  expect(compilations).toBeLessThan(10);
});

test('a service with many ports is looked at once for an ingress, if it is ready', async () => {
  const ports = many(50, (i) => ({ port: i }));
  const { view } = viewOf({ services: [{ spec: { ports } }] });
  const paths = ports.map(({ port: number }) => ({ backend: { service: { name: 'o0', port: { number } } } }));
  let questions = 0;
  const of = async (): Promise<Cause[]> => {
    questions++;
    return [];
  };
  expect(await ingressCauses(readinessOf(view, of), targetOf('ingresses', { spec: { rules: [{ http: { paths } }] } }))).toEqual([]);
  expect(questions).toBe(1);
});

test('of many finalizers no more are looked at than the answer names', async () => {
  let searches = 0;
  const finalizers = many(5_000, (i) => `x${i}.example.com/f`);
  Object.assign(finalizers, {
    lastIndexOf(value: string) {
      searches++;
      return Array.prototype.lastIndexOf.call(this, value);
    },
  });
  const { view } = viewOf({});
  const { causes } = await explainDeletion(view, targetOf('configmaps', { metadata: { deletionTimestamp: 'now', finalizers } }));
  expect([causes.length, searches]).toEqual([MOST_CAUSES + 1, MOST_CAUSES + 1]);
});

test('others have their turn after each budget that may refuse to evict a pod', async () => {
  const budget = { spec: { selector: { matchLabels: { app: 'x' } } }, status: { disruptionsAllowed: 0 } };
  const { view, pauses } = viewOf({ poddisruptionbudgets: many(20, () => budget) });
  const causes = await evictionCauses(view, targetOf('pods', { metadata: { labels: { app: 'x' } } }));
  expect(causes.length).toBe(20);
  expect(pauses()).toBeGreaterThanOrEqual(40);
});

test('conditions of custom objects may be anything', async () => {
  const odd = [null, 1, 'x', [], {}, { type: {} }, { type: null, status: null }, { type: 'Ready', message: 5 }];
  for (const status of [{ conditions: odd }, { conditions: { a: 1 } }, { conditions: null }, 'text', null, []])
    expect(await conditionCauses(readinessOf(viewOf({}).view), targetOf('gadgets', { status }))).toEqual([]);
  const unmet = { type: 'Ready', status: null, reason: null, message: null };
  expect(unmetConditions(targetOf('gadgets', { status: { conditions: [unmet] } }))).toMatchObject([{ message: 'Its condition Ready is.' }]);
});

test('of many conditions no more become causes than tell that there are others, and long messages are cut', () => {
  const condition = { type: 'Ready', status: 'False', message: 'x'.repeat(10_000) };
  const causes = unmetConditions(targetOf('gadgets', { status: { conditions: many(5_000, () => condition) } }));
  expect(causes.length).toBe(MOST_CAUSES + 1);
  expect(causes[0]?.message.length).toBeLessThan(4_200);
});

// With a pattern that looks from each blank to the end of all blanks this does not end.
test('the end of a sentence is looked for from its end', () => {
  expect(sentence(`a${' '.repeat(2_000_000)}b .: `)).toBe(`a${' '.repeat(2_000_000)}b.`);
  expect([sentence('x'), sentence('x.'), sentence(' . ')]).toEqual(['x.', 'x.', '.']);
});
