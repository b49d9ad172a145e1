import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { always, int32, list, map, message, object, opt, string, time } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { History, type Stored } from './history.testing.ts';
import type { ManagedFields } from './managers.ts';
import type { Values } from './shape.ts';

test('a creator owns what it gave, but not what identifies the object', () => {
  const history = new History(ConfigMap).write('maker', { data: { a: '1' }, metadata: { labels: { l: '1' }, generation: 3, uid: 'u' } });
  expect(history.entries).toEqual([
    {
      manager: 'maker',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { '.': {}, 'f:a': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    },
  ]);
});

test('updates by many hands divide the fields', () => {
  const history = new History(ConfigMap)
    .write('a1', { data: { x: '1', y: '1' }, metadata: { labels: { l: '1' } } })
    .write('a2', { data: { x: '1', y: '2', z: '2' }, metadata: { labels: { l: '1' } } });
  expect(history.owners).toEqual({
    a1: { 'f:data': { '.': {}, 'f:x': {} }, 'f:metadata': { 'f:labels': { '.': {}, 'f:l': {} } } },
    a2: { 'f:data': { 'f:y': {}, 'f:z': {} } },
  });
  history.write('a4', { data: { x: '4' } });
  expect(history.owners).toEqual({ a1: { 'f:data': {} }, a4: { 'f:data': { 'f:x': {} } } });
});

test('a write that changes nothing gives back the very list', () => {
  const history = new History(ConfigMap).write('maker', { data: { a: '1' } });
  const before = history.entries;
  history.write('other', { data: { a: '1' } });
  expect(history.entries).toBe(before);
});

test('the time of an entry moves with its set, not with values nor with what others do', () => {
  const history = new History(ConfigMap).write('maker', { data: { a: '1', b: '1' } }).write('other', { data: { a: '1', b: '2' } });
  const times = (): unknown => history.entries.map((entry) => [entry.manager, entry.time]);
  expect(times()).toEqual([
    ['maker', '2024-01-01T00:00:00Z'],
    ['other', '2024-01-01T00:00:01Z'],
  ]);
  const before = history.entries;
  history.write('maker', { data: { a: '2', b: '2' } });
  expect(history.entries).toEqual(before);
  history.write('maker', { data: { a: '2', b: '2', c: '2' } });
  expect(times()).toEqual([
    ['other', '2024-01-01T00:00:01Z'],
    ['maker', '2024-01-01T00:00:03Z'],
  ]);
});

test('one empty entry resets, an empty list does not', () => {
  const reset = new History(ConfigMap).write('maker', { data: { a: '1' } });
  reset.write('other', { data: { a: '1' }, metadata: { managedFields: [] } });
  expect(Object.keys(reset.owners)).toEqual(['maker']);
  reset.write('other', { data: { a: '1' }, metadata: { managedFields: [{}] } });
  expect(reset.entries).toEqual([]);
  // An object that nobody owns stays so under plain writes.
  reset.write('other', { data: { a: '2' } });
  expect(reset.entries).toEqual([]);
  // With other changes in the same request, the reset comes first.
  reset.write('other', { data: { a: '2', n: '1' }, metadata: { managedFields: [{}] } });
  expect(reset.owners).toEqual({ other: { 'f:data': { 'f:n': {} } } });
});

const forged = (more: object): object => ({
  manager: 'forged',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2020-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:a': {} } },
  ...more,
});

test('a client may edit the list, but cannot break it', () => {
  const history = new History(ConfigMap).write('maker', { data: { a: '1' }, metadata: { managedFields: [forged({})] } });
  expect(Object.keys(history.owners)).toEqual(['maker']);
  history.write('maker', { data: { a: '1' }, metadata: { managedFields: [forged({})] } });
  expect(history.owners).toEqual({ forged: { 'f:data': { 'f:a': {} } } });
  for (const bad of [{ operation: 'Delete' }, { fieldsType: 'FieldsV2' }, { apiVersion: '' }, { fieldsV1: { 'k:x': {} } }]) {
    history.write('maker', { data: { a: '1' }, metadata: { managedFields: [forged(bad)] } });
    expect(history.owners).toEqual({ forged: { 'f:data': { 'f:a': {} } } });
  }
  // Not through a subresource, and not under a version that does not exist.
  history.write('maker', { data: { a: '1' }, metadata: { managedFields: [forged({ manager: 'm2' })] } }, { subresource: 'status' });
  expect(Object.keys(history.owners)).toEqual(['forged']);
  history.write('maker', { data: { a: '1' }, metadata: { managedFields: [forged({ apiVersion: 'v7' })] } });
  expect(history.entries).toEqual([]);
});

test('more than ten updating managers fold the oldest into one', () => {
  const history = new History(ConfigMap);
  const data: Record<string, string> = {};
  for (let i = 0; i < 12; i++) {
    data[`k${i}`] = '1';
    history.write(`m${i}`, { data });
  }
  expect(history.entries.map((entry) => entry.manager)).toEqual([
    'ancient-changes',
    'm3',
    'm4',
    'm5',
    'm6',
    'm7',
    'm8',
    'm9',
    'm10',
    'm11',
  ]);
  expect(history.owners['ancient-changes']).toEqual({ 'f:data': { '.': {}, 'f:k0': {}, 'f:k1': {}, 'f:k2': {} } });
});

test('a subresource has entries of its own, and reset fields are not owned', () => {
  const Thing = object('test.Thing', {
    metadata: always(1, ObjectMeta),
    spec: always(2, message('test.Spec', { size: opt(1, int32) })),
    status: always(3, message('test.Status', { seen: opt(1, int32) })),
  });
  const history = new History(Thing)
    .write('m', { spec: { size: 1 }, status: { seen: 1 } }, { resetFields: [['status']] })
    .write('m', { spec: { size: 2 }, status: { seen: 2 } }, { subresource: 'status', resetFields: [['spec']] });
  expect(history.entries.map(({ manager, subresource, fieldsV1 }) => ({ manager, subresource, fieldsV1 }))).toEqual([
    { manager: 'm', subresource: undefined, fieldsV1: { 'f:spec': { 'f:size': {} } } },
    { manager: 'm', subresource: 'status', fieldsV1: { 'f:status': { 'f:seen': {} } } },
  ]);
});

test('items of lists differ by their keys; what JSON always writes is there even when empty', () => {
  const Condition = message('test.Condition', { type: always(1, string), status: opt(2, string), when: always(3, time) });
  const Thing = object('test.Thing', {
    metadata: always(1, ObjectMeta),
    conditions: always(2, list(Condition, 'map', ['type'])),
    names: opt(3, list(string, 'set')),
    whole: opt(4, map(string, { atomic: true })),
  });
  const history = new History(Thing).write('a', {
    conditions: [{ type: 'B', status: '1' }, { type: 'A' }],
    names: ['x', 'y'],
    whole: { q: '1' },
  });
  expect(JSON.stringify(history.owners.a)).toBe(
    JSON.stringify({
      'f:conditions': {
        'k:{"type":"A"}': { '.': {}, 'f:type': {}, 'f:when': {} },
        'k:{"type":"B"}': { '.': {}, 'f:status': {}, 'f:type': {}, 'f:when': {} },
      },
      'f:names': { '.': {}, 'v:"x"': {}, 'v:"y"': {} },
      'f:whole': {},
    }),
  );
  history.write('b', { conditions: [{ type: 'A' }, { type: 'B', status: '2' }], names: ['z', 'y'], whole: { q: '1' } });
  expect(history.owners).toEqual({
    a: {
      'f:conditions': {
        'k:{"type":"A"}': { '.': {}, 'f:type': {}, 'f:when': {} },
        'k:{"type":"B"}': { '.': {}, 'f:type': {}, 'f:when': {} },
      },
      'f:names': { '.': {}, 'v:"y"': {} },
      'f:whole': {},
    },
    b: { 'f:conditions': { 'k:{"type":"B"}': { 'f:status': {} } }, 'f:names': { 'v:"z"': {} } },
  });
});

test('a pod is owned as the stock server shows it', () => {
  const history = new History(Pod).write('parity', {
    metadata: { generateName: 'made-' },
    spec: {
      containers: [{ name: 'c', image: 'reg.example/c', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
    },
  });
  expect(history.owners.parity).toEqual({
    'f:metadata': { 'f:generateName': {} },
    'f:spec': {
      'f:containers': {
        'k:{"name":"c"}': {
          '.': {},
          'f:image': {},
          'f:name': {},
          'f:ports': { '.': {}, 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} } },
          'f:resources': {},
        },
      },
      'f:dnsPolicy': {},
      'f:securityContext': {},
    },
  });
});

test('items with equal keys leave ownership as it was', () => {
  const env = (...names: string[]): Values => ({ spec: { containers: [{ name: 'c', env: names.map((name) => ({ name })) }] } });
  const history = new History(Pod).write('a', env('A', 'A'));
  expect(history.entries).toEqual([]);
});

test.each([
  ['short', 3, false],
  ['long', 1_500, false],
  ['long', 1_500, true],
])('a %s list of %d items in which a key is repeated leaves ownership as it was, whatever changes (large: %s)', (_, length, large) => {
  const names = Array.from({ length }, (_, i) => `E${i}`);
  const repeats = [...names.slice(0, -1), 'E0'];
  const pod = (list: readonly string[], values: Record<number, string> = {}, labels: Values = {}): Values => ({
    metadata: { labels },
    spec: { containers: [{ name: 'c', env: list.map((name, i) => ({ name, value: values[i] ?? 'v' })) }] },
  });
  const history = new History(Pod).write('creator', pod(names), { large });
  const { owners } = history;
  const last = length - 1;
  for (const [writer, object] of Object.entries({
    repeating: pod(repeats),
    'both-repeats': pod(repeats, { 0: 'x', [last]: 'y' }),
    'one-repeat': pod(repeats, { 0: 'z', [last]: 'y' }),
    'other-item': pod(repeats, { 0: 'z', 1: 'x', [last]: 'y' }),
    'other-field': pod(repeats, { 0: 'z', 1: 'x', [last]: 'y' }, { l: '1' }),
    removing: pod(names),
  })) {
    history.write(writer, object, { large });
    expect([writer, history.owners]).toEqual([writer, owners]);
  }
  history.write('distinct', pod(names, { 1: 'x' }), { large });
  expect(Object.keys(history.owners)).toEqual(['creator', 'distinct']);
});

test('map keys named like built-in properties are plain keys', () => {
  const history = new History(ConfigMap)
    .write('a', { data: { x: '1' } })
    .write('b', { data: JSON.parse('{"x":"1","__proto__":"2","constructor":"3","toString":"4"}') });
  expect(history.owners.b).toEqual({ 'f:data': { 'f:__proto__': {}, 'f:constructor': {}, 'f:toString': {} } });
  history.write('c', { data: { x: '1' } });
  expect(Object.keys(history.owners)).toEqual(['a']);
});

test('entries of another version are followed through conversion', () => {
  const Old = object('test.Old', { metadata: always(1, ObjectMeta), size: opt(2, int32) });
  const New = object('test.New', { metadata: always(1, ObjectMeta), scale: opt(2, int32), note: opt(3, string) });
  const convert = ({ size, ...rest }: Values, apiVersion: string) =>
    apiVersion === 'v2' ? { type: New, object: { ...rest, scale: size } } : undefined;
  const history = new History(Old).write('old', { size: 1 });
  const live = history.live as Stored;
  const entries = [forged({ manager: 'new', apiVersion: 'v2', fieldsV1: { 'f:scale': {}, 'f:note': {} } })];
  history.live = { ...live, metadata: { ...live.metadata, managedFields: entries as ManagedFields } };
  history.write('old', { size: 2 }, { convert });
  expect(history.owners).toEqual({ new: { 'f:note': {} }, old: { 'f:size': {} } });
});

test('what has become atomic is owned whole by whoever owned a part', () => {
  const Before = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string)), n: opt(3, string) });
  const After = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string, { atomic: true })), n: opt(3, string) });
  const history = new History(Before).write('a', { m: { x: '1' } });
  history.write('b', { m: { x: '1' }, n: '1' }, { type: After });
  expect(history.owners).toEqual({ a: { 'f:m': {} }, b: { 'f:n': {} } });
});

test('an object without a schema may have many fields; they stand in order', () => {
  const Free = object('test.Free', { metadata: always(1, ObjectMeta), spec: opt(2, message('', {}, { unknown: 'keep' })) });
  const names = Array.from({ length: 200 }, (_, i) => `n${(i * 7919) % 1000}`);
  const history = new History(Free).write('a', { spec: Object.fromEntries(names.map((name) => [name, { in: 1 }])) });
  const elements = Object.keys((history.owners.a as Record<string, object>)['f:spec'] as object);
  expect(elements).toEqual(['.', ...[...new Set(names)].sort().map((name) => `f:${name}`)]);
});

test('in later releases the time of an entry moves with every change of its manager', () => {
  const rules = { timesOfChanges: true, comparesWhole: true };
  const history = new History(ConfigMap, { rules }).write('maker', { data: { a: '1' } }).write('maker', { data: { a: '2' } });
  expect(history.entries.map(({ time }) => time)).toEqual(['2024-01-01T00:00:01Z']);
});
