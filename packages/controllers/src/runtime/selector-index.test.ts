import type { Change, ChangeListener } from '@plat-dev/client/informer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { isTurnUsed, SLICE_MILLIS } from '@plat-dev/lib/slices';
import { heldWorkTime } from '@plat-dev/lib/slices.testing';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import { fromLabelSelector, type LabelSelectorObject, type Labels } from '@plat-dev/meta/labels';
import { expect, test } from 'vitest';
import { SelectorIndex, selectedBy } from './selector-index.ts';

interface Selector extends ApiObject {
  readonly selector: LabelSelectorObject | undefined;
}
const objectOf = (name: string, selector: LabelSelectorObject | undefined, namespace = 'a'): Selector =>
  ({ metadata: { name, namespace }, selector }) as Selector;

/** An informer whose objects a test puts and removes. */
class Objects {
  private readonly known = new Map<string, Selector>();
  private readonly listeners: ChangeListener<Selector>[] = [];
  onChange(listener: ChangeListener<Selector>): () => void {
    this.listeners.push(listener);
    return () => {};
  }
  list(namespace?: string): Selector[] {
    return [...this.known.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }
  put(...objects: Selector[]): void {
    for (const object of objects) {
      const old = this.known.get(object.metadata.name ?? '');
      this.known.set(object.metadata.name ?? '', object);
      this.notify({ type: old === undefined ? 'added' : 'modified', object, old });
    }
  }
  remove(name: string): void {
    const old = this.known.get(name) as Selector;
    this.known.delete(name);
    this.notify({ type: 'deleted', object: old, old });
  }
  private notify(change: Change<Selector>): void {
    for (const listener of this.listeners) listener(change);
  }
}
function selectingOf() {
  const objects = new Objects();
  const selecting = new SelectorIndex<Selector>(objects, ({ selector }) => selector);
  const found = (labels: Labels | undefined, namespace = 'a'): string[] => {
    const names: string[] = [];
    selecting.forLabels(namespace, labels, ({ metadata }) => names.push(metadata.name ?? ''));
    return names.sort();
  };
  return { objects, selecting, found };
}
const workTime = heldWorkTime();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('objects are found by the labels that they select', () => {
  const { objects, found } = selectingOf();
  objects.put(
    objectOf('web', { matchLabels: { app: 'web' } }),
    objectOf('tiers', { matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] }),
    objectOf('tier', { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }),
    objectOf('quiet', { matchExpressions: [{ key: 'debug', operator: 'DoesNotExist' }] }),
    objectOf('all', {}),
    objectOf('none', undefined),
    objectOf('elsewhere', {}, 'b'),
  );
  expect(found({ app: 'web', debug: 'x' })).toEqual(['all', 'web']);
  expect(found({ tier: 'b', debug: '' })).toEqual(['all', 'tier', 'tiers']);
  expect(found(undefined)).toEqual(['all', 'quiet']);
  expect(found({}, 'b')).toEqual(['elsewhere']);
  objects.put(objectOf('web', { matchLabels: { app: 'other' } }));
  objects.remove('all');
  expect(found({ app: 'web', debug: 'x' })).toEqual([]);
  expect(found({ app: 'other', debug: 'x' })).toEqual(['web']);
});

test('a selector is compiled once for each version of its object', () => {
  const { objects, selecting } = selectingOf();
  const first = objectOf('web', { matchLabels: { app: 'web' } });
  objects.put(first);
  const selector = selecting.selectorOf(first);
  expect(selecting.selectorOf(first)).toBe(selector);
  const next = objectOf('web', { matchLabels: { app: 'web' } });
  objects.put(next);
  expect(selecting.selectorOf(next)).not.toBe(selector);
  expect(selecting.selectorOf(objectOf('odd', { matchExpressions: [{ key: 'a', operator: 'Near' }] }))).toBeUndefined();
});

test('when a turn is used, all objects of the namespace are found, now and after the turn', async () => {
  const { objects, selecting } = selectingOf();
  objects.put(objectOf('web', { matchLabels: { app: 'web' } }), objectOf('other', { matchLabels: { app: 'other' } }));
  objects.put(objectOf('none', undefined));
  const names: string[] = [];
  const look = ({ metadata }: Selector): void => void names.push(metadata.name ?? '');
  await turn();
  expect(isTurnUsed()).toBe(false);
  workTime.pass(SLICE_MILLIS);
  selecting.forLabels('a', { app: 'web' }, look);
  expect(names).toEqual(['web', 'other']);
  // More changes of the turn add nothing: all are looked at after it.
  selecting.forLabels('a', { app: 'web' }, look);
  expect(names).toEqual(['web', 'other']);
  await turn();
  expect(names).toEqual(['web', 'other', 'web', 'other']);
  selecting.forLabels('a', { app: 'web' }, look);
  expect(names).toEqual(['web', 'other', 'web', 'other', 'web']);
});

const keys = fc.constantFrom('a', 'b', 'constructor', ...Array.from({ length: 80 }, (_, i) => `k${i}`));
const values = fc.constantFrom('', 'x', 'y', 'z');
const selector: fc.Arbitrary<LabelSelectorObject> = fc.record({
  matchLabels: fc.dictionary(keys, values, { maxKeys: 2 }),
  matchExpressions: fc.array(
    fc.record({
      key: keys,
      operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
      values: fc.array(values, { maxLength: 20 }),
    }),
    { maxLength: 3 },
  ),
});
test('what is found is what each selector selects, with few keys and with many', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(selector, { maxLength: 120 }),
      fc.array(fc.dictionary(keys, values, { maxKeys: 100 }), { maxLength: 10 }),
      async (selectors, all) => {
        await turn();
        const { objects, found } = selectingOf();
        objects.put(...selectors.map((one, i) => objectOf(`o${i}`, one)));
        for (let i = 0; i < selectors.length; i += 3) objects.remove(`o${i}`);
        for (const labels of all) {
          const expected = selectors.flatMap((one, i) => (i % 3 !== 0 && fromLabelSelector(one).matches(labels) ? [`o${i}`] : []));
          expect(found(labels)).toEqual(expected.sort());
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('objects are selected from many, and the loop has its turns meanwhile', async () => {
  const selector = fromLabelSelector({ matchLabels: { app: 'web' } });
  const { matches } = selector;
  // Each takes a slice.
  selector.matches = (labels) => {
    workTime.pass(SLICE_MILLIS);
    return matches.call(selector, labels);
  };
  const pods = Array.from(
    { length: 10 },
    (_, i) => ({ metadata: { name: `p${i}`, labels: { app: i % 2 === 0 ? 'web' : 'db' } } }) as ApiObject,
  );
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns++;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const selected = await selectedBy(selector, pods);
  done = true;
  expect(selected.map(({ metadata }) => metadata.name)).toEqual(['p0', 'p2', 'p4', 'p6', 'p8']);
  expect(turns).toBeGreaterThanOrEqual(9);
});
