import { AssertionError } from 'node:assert';
import { expect, test } from 'vitest';
import { explainFailure, type SeenChange } from './explain-failure.ts';

const change = (name: string) => ({ verb: 'update', resource: 'lamps', namespace: 'default', name, user: 'alice', code: 200 });
const server = (requests = [{ ...change('a'), verb: 'get' }, change('a')]) => ({ requests, history: (): SeenChange[] => [] });

test('an error is extended in its message and its stack by what happened', async () => {
  const error = new RangeError('2 is not $& 3');
  expect(await explainFailure(error, server())).toBe(error);
  expect(error.message).toBe('2 is not $& 3\n\nThe last writes on the server:\n  update lamps default/a by alice → 200\n');
  expect(error.stack?.startsWith(`RangeError: ${error.message}\n    at `)).toBe(true);
});

test('only the last writes are printed', async () => {
  const error = new Error('');
  await explainFailure(error, server(Array.from({ length: 30 }, (_, index) => change(`l${index}`))));
  expect(error.message.match(/default\/l\d+/g)).toEqual(Array.from({ length: 10 }, (_, index) => `default/l${index + 20}`));
});

test('what is no error, and an error of a server where nothing happened, stay as they are', async () => {
  expect(await explainFailure('text', server())).toBe('text');
  expect(await explainFailure(undefined, server())).toBeUndefined();
  const error = new AssertionError({ message: 'a', actual: { kind: 'Lamp', metadata: { name: 'a' } } });
  await explainFailure(error, server([]));
  expect(error.message).toBe('a');
  expect(await explainFailure(Object.freeze(new Error('frozen')), server())).toMatchObject({ message: 'frozen' });
});

test('an assertion about an object prints its history: the last changes, who made them, and when', async () => {
  const object = { kind: 'Lamp', metadata: { namespace: 'default', name: 'a' } };
  const time = new Date('2026-01-01T00:00:00Z');
  const changes: SeenChange[] = [
    { type: 'created', time, resourceVersion: '1', user: 'alice', verb: 'create', subresource: '', fields: ['spec'] },
    { type: 'changed', time, resourceVersion: '2', user: 'bob', verb: 'patch', subresource: 'status', fields: ['status.on', 'status.off'] },
    { type: 'deleted', time, resourceVersion: '3', user: undefined, verb: undefined, subresource: undefined, fields: [] },
  ];
  const history = (asked: object) => (asked === object ? changes : []);
  const printed = (extra: object) => explainFailure(Object.assign(new Error('a'), extra), { ...server(), history });
  const expected = {
    message: [
      'a\n',
      'History of Lamp default/a:',
      '  2026-01-01T00:00:00.000Z created by alice (create), resourceVersion 1',
      '  2026-01-01T00:00:00.000Z changed by bob (patch status), resourceVersion 2: status.on, status.off',
      '  2026-01-01T00:00:00.000Z deleted by the server, resourceVersion 3\n',
    ].join('\n'),
  };
  // vitest and node:test keep the object at one place, Jest at another.
  expect(await printed({ actual: object })).toMatchObject(expected);
  expect(await printed({ matcherResult: { actual: object } })).toMatchObject(expected);
  expect(await printed({ actual: { ...object } })).toMatchObject({ message: expect.stringContaining('The last writes on the server:') });
});
