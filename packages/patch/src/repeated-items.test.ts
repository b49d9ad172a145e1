import { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { History } from './history.testing.ts';
import type { Values } from './shape.ts';

const rules = { timesOfChanges: true, comparesWhole: true };
const podWith = (...env: readonly (readonly [name: string, value: string])[]): Values => ({
  spec: { containers: [{ name: 'main', image: 'i', env: env.map(([name, value]) => ({ name, value })) }] },
});
/** What each manager owns of the environment. */
function ownersOf(history: History): Record<string, unknown> {
  const envOf = (set: unknown) =>
    (set as { 'f:spec': { 'f:containers': Record<string, { 'f:env'?: object }> } })['f:spec']['f:containers']['k:{"name":"main"}']?.[
      'f:env'
    ];
  return Object.fromEntries(Object.entries(history.owners).map(([manager, set]) => [manager, envOf(set)]));
}
const item = { '.': {}, 'f:name': {}, 'f:value': {} };
const envIn = (history: History): string[] => {
  const { containers } = history.content.spec as { containers: { env: { name: string; value: string }[] }[] };
  return (containers[0]?.env ?? []).map(({ name, value }) => name + value);
};

test('items of one key are owned as one, and by whoever changes any of them', () => {
  const history = new History(Pod, { rules }).write('alpha', podWith(['A', '1'], ['A', '2'], ['B', '1']));
  expect(ownersOf(history)).toEqual({ alpha: { '.': {}, 'k:{"name":"A"}': {}, 'k:{"name":"B"}': item } });
  history.write('beta', podWith(['A', '1'], ['A', '3'], ['B', '1']));
  expect(ownersOf(history)).toEqual({ alpha: { '.': {}, 'k:{"name":"B"}': item }, beta: { 'k:{"name":"A"}': {} } });
  history.write('gamma', podWith(['A', '3'], ['B', '1']));
  expect(ownersOf(history)).toEqual({ alpha: { '.': {}, 'k:{"name":"B"}': item }, gamma: { 'k:{"name":"A"}': item } });
  history.write('delta', podWith(['A', '3'], ['A', '3'], ['B', '1']));
  expect(ownersOf(history)).toEqual({ alpha: { '.': {}, 'k:{"name":"B"}': item }, delta: { 'k:{"name":"A"}': {} } });
});

test('an apply leaves repeated items that it does not name, and replaces those that it does', () => {
  const history = new History(Pod, { rules }).write('alpha', podWith(['A', '1'], ['A', '2'], ['B', '1'], ['B', '2']));
  history.apply('beta', podWith(['C', '1']));
  expect(envIn(history)).toEqual(['A1', 'A2', 'B1', 'B2', 'C1']);
  history.apply('beta', podWith(['B', '3'], ['C', '1']), { force: true });
  expect(envIn(history)).toEqual(['A1', 'A2', 'B3', 'C1']);
  expect(() => history.apply('beta', podWith(['D', '1'], ['D', '2']))).toThrow('duplicate entries for key [name="D"]');
});

test('earlier releases do not know the owners of such lists, and apply to no such object', () => {
  const history = new History(Pod).write('alpha', podWith(['A', '1'])).write('beta', podWith(['A', '1'], ['A', '2']));
  expect(Object.keys(history.owners)).toEqual(['alpha']);
  expect(() => history.apply('gamma', podWith(['B', '1']))).toThrow(ApiError);
});
