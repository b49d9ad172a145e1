import type { ApiObject } from '@plat-dev/kinds/kind';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { badRequest } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { type FlowObject, keepFlowObjects } from './flow-objects.ts';

const GROUP = 'flowcontrol.apiserver';
const KEPT = 'kept';
const level = (name: string, shares: number, kept?: string, generation = 1): FlowObject => ({
  metadata: { name, generation, ...(kept !== undefined && { annotations: { [KEPT]: kept } }) },
  spec: { shares },
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

function world(...present: FlowObject[]) {
  const store = new FakeStore();
  for (const object of present) store.put(GROUP, 'prioritylevelconfigurations', object);
  const faults: unknown[] = [];
  const view = store.view(GROUP, 'prioritylevelconfigurations');
  const end = keepFlowObjects({
    live: store.live,
    annotation: KEPT,
    wantedObjects: { flowschemas: [], prioritylevelconfigurations: [level('catch-all', 5, 'true'), level('suggested', 30, 'true')] },
    create: async (plural, object) => store.put(GROUP, plural, object),
    change: async (plural, name, change) => {
      const object = structuredClone(view.get('', name)) as ApiObject;
      if ((object as FlowObject & { stubborn?: boolean }).stubborn) throw badRequest('no');
      change(object);
      store.put(GROUP, plural, object);
    },
    remove: async (plural, name) => store.remove(GROUP, plural, '', name),
    report: (error) => faults.push(error),
  });
  const shown = () =>
    view
      .list()
      .map(
        ({ metadata, ...rest }) =>
          `${metadata.name} ${(rest as FlowObject & { spec: { shares: number } }).spec.shares} ${metadata.annotations?.[KEPT]}`,
      );
  return { store, shown, end, faults };
}

test.each([
  ['a missing one is made', [], ['catch-all 5 true', 'suggested 30 true']],
  ['one that the server keeps is put right', [level('suggested', 1, 'true', 7)], ['catch-all 5 true', 'suggested 30 true']],
  ["one that is its owner's stays", [level('suggested', 1, 'false', 7)], ['catch-all 5 true', 'suggested 1 false']],
  ['one that nobody has changed is kept', [level('suggested', 1)], ['catch-all 5 true', 'suggested 30 true']],
  ["one that somebody has changed becomes its owner's", [level('suggested', 1, undefined, 2)], ['catch-all 5 true', 'suggested 1 false']],
  ['a mandatory one is put right whatever it says', [level('catch-all', 99, 'false', 7)], ['catch-all 5 true', 'suggested 30 true']],
  ['one of an older release goes', [level('old', 3, 'true')], ['catch-all 5 true', 'suggested 30 true']],
  ['one of somebody else stays', [level('mine', 3)], ['catch-all 5 true', 'mine 3 undefined', 'suggested 30 true']],
])('%s', async (_name, present, wanted) => {
  const { shown, faults } = world(...present);
  await settled();
  expect([shown(), faults]).toEqual([wanted, []]);
});

test('changes are answered as they happen, until it ends', async () => {
  const { store, shown, end } = world();
  await settled();
  store.remove(GROUP, 'prioritylevelconfigurations', '', 'catch-all');
  await settled();
  expect(shown()).toEqual(['catch-all 5 true', 'suggested 30 true']);
  end();
  store.remove(GROUP, 'prioritylevelconfigurations', '', 'suggested');
  await settled();
  expect(shown()).toEqual(['catch-all 5 true']);
});

test('one that cannot be put right is reported, and the others are', async () => {
  const { shown, faults } = world({ ...level('catch-all', 1, 'true'), stubborn: true } as FlowObject);
  await settled();
  expect([shown(), faults.length > 0]).toEqual([['catch-all 1 true', 'suggested 30 true'], true]);
});
