import { Deployment } from '@plat-dev/kinds/apps/schema/deployment';
import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { Service } from '@plat-dev/kinds/core/schema/service';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { jsonText } from '@plat-dev/lib/json-text';
import { ApiError } from '@plat-dev/meta/errors';
import { always, int32, list, map, message, object, opt, string } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { History } from './history.testing.ts';
import type { Values } from './shape.ts';

function refusal(act: () => unknown): ApiError {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('was not refused');
}
const data = (values: Record<string, string>, metadata: Values = {}): Values => ({ data: values, metadata });

test('apply creates and owns what it names, without the maps around it', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1' }, { labels: { l: 'm' } }));
  expect(history.entries).toEqual([
    {
      manager: 'alpha',
      operation: 'Apply',
      apiVersion: 'v1',
      time: '2024-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:l': {} } } },
    },
  ]);
});

test('a repeat changes nothing, not even the time', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1' }));
  const { live } = history;
  const before = history.entries;
  history.apply('alpha', data({ a: '1' }));
  expect(history.live).toEqual(live);
  expect(history.entries).toBe(before);
});

test('the time of an applier moves with the object or its set', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1' })).apply('alpha', data({ a: '2' }));
  expect(history.entries[0]?.time).toBe('2024-01-01T00:00:01Z');
  history.apply('beta', data({ a: '2' })).apply('alpha', data({ a: '2' }));
  expect(history.entries.map((entry) => entry.time)).toEqual(['2024-01-01T00:00:01Z', '2024-01-01T00:00:02Z']);
});

test('a value may be shared; then neither may change it alone', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1', b: '1' })).apply('beta', data({ a: '1' }));
  expect(history.owners).toEqual({ alpha: { 'f:data': { 'f:a': {}, 'f:b': {} } }, beta: { 'f:data': { 'f:a': {} } } });
  const error = refusal(() => history.apply('alpha', data({ a: '2', b: '1' })));
  expect([error.code, error.reason, error.message]).toEqual([
    409,
    'Conflict',
    'Apply failed with 1 conflict: conflict with "beta": .data.a',
  ]);
  expect(error.details).toEqual({ causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "beta"', field: '.data.a' }] });
  // Dropping it leaves it to the other, and the one who dropped it comes later in the list.
  history.apply('alpha', data({ b: '1' }));
  expect(history.content).toEqual({ data: { a: '1', b: '1' } });
  expect(history.entries.map((entry) => entry.manager)).toEqual(['beta', 'alpha']);
  history.apply('beta', {});
  expect(history.content).toEqual({ data: { b: '1' } });
  expect(Object.keys(history.owners)).toEqual(['alpha']);
});

test('force takes the field, and leaves the other without it', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1' })).apply('beta', data({ a: '2' }), { force: true });
  expect(history.content).toEqual({ data: { a: '2' } });
  expect(history.owners).toEqual({ beta: { 'f:data': { 'f:a': {} } } });
});

test('a dropped field goes unless an updater took it', () => {
  const history = new History(ConfigMap)
    .apply('alpha', data({ a: '1', b: '1', c: '1' }, { labels: { x: '1' } }))
    .write('beta', data({ a: '1', b: '2', c: '1' }, { labels: { x: '1' } }))
    .apply('alpha', data({ a: '1' }));
  expect(history.content).toEqual({ data: { a: '1', b: '2' } });
  expect(history.live?.metadata).toMatchObject({ name: 'box' });
  expect(history.live?.metadata.labels).toBeUndefined();
  history.apply('alpha', {});
  expect(history.owners).toEqual({ beta: { 'f:data': { 'f:b': {} } } });
});

test('a conflict with several names them all, in order', () => {
  const history = new History(ConfigMap)
    .apply('beta', data({ c: '1' }))
    .apply('alpha', data({ a: '1', b: '1' }))
    .write('writer', data({ a: '1', b: '1', c: '1', d: '1' }));
  const error = refusal(() => history.apply('gamma', data({ a: '2', b: '2', c: '2', d: '2' })));
  expect(error.message).toBe(
    'Apply failed with 4 conflicts: conflicts with "alpha":\n- .data.a\n- .data.b\nconflicts with "beta":\n- .data.c\nconflicts with "writer" using v1:\n- .data.d',
  );
  expect(error.details?.causes).toHaveLength(4);
});

test('an object that nobody followed is owned by whoever wrote it before', () => {
  const history = new History(ConfigMap).write('maker', data({ a: '1' }));
  history.write('other', { data: { a: '1' }, metadata: { managedFields: [{}] } });
  expect(history.entries).toEqual([]);
  expect(refusal(() => history.apply('alpha', data({ a: '2' }))).message).toBe(
    'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
  );
  history.apply('alpha', data({ a: '2' }), { force: true });
  expect(history.owners).toEqual({ alpha: { 'f:data': { 'f:a': {} } }, 'before-first-apply': { 'f:data': {} } });
});

test('one name that applies and updates has two entries, which may conflict', () => {
  const history = new History(ConfigMap).apply('alpha', data({ a: '1' })).write('alpha', data({ a: '2', b: '1' }));
  expect(history.entries.map((entry) => entry.operation)).toEqual(['Update']);
  expect(refusal(() => history.apply('alpha', data({ a: '3' }))).message).toContain('conflict with "alpha" using v1: .data.a');
});

test('the body must be of the version and kind, and say nothing of managers', () => {
  const history = new History(ConfigMap);
  const wrong = (body: Values): [number, string] => {
    const error = refusal(() => history.apply('alpha', body));
    return [error.code, error.message];
  };
  expect(wrong({ apiVersion: 'v9' })).toEqual([
    400,
    'Incorrect version specified in apply patch. Specified patch version: v9, expected: v1',
  ]);
  expect(wrong({ apiVersion: undefined })[1]).toContain('Specified patch version: , expected');
  expect(wrong({ kind: '' })).toEqual([
    400,
    'failed to create typed patch object (/box; /v1, Kind=): no corresponding type for /v1, Kind=',
  ]);
  expect(wrong({ metadata: { managedFields: [] } })).toEqual([400, 'metadata.managedFields must be nil']);
  expect(wrong({ metadata: { managedFields: [{}] } })[0]).toBe(400);
  expect(wrong({ mystery: 1 })[1]).toBe(
    'failed to create typed patch object (/box; /v1, Kind=ConfigMap): .mystery: field not declared in schema',
  );
  expect(wrong({ metadata: { mystery: 1 } })[1]).toContain('.metadata.mystery: field not declared in schema');
  expect(wrong({ data: { number: 7 } })[1]).toContain('.data.number: expected string, got number');
  expect(wrong({ data: 'x', binaryData: [] })[1]).toContain(
    'errors:\n  .data: expected map, got string\n  .binaryData: expected map, got list',
  );
  expect(wrong({ metadata: { finalizers: ['a/b', 'a/b'] } })[1]).toContain('.metadata.finalizers: duplicate entries for key [="a/b"]');
});

const pod = (spec: Values): Values => ({ spec: { template: { spec } } });
const main = { name: 'main', image: 'main:1' };

test('values that only decoding can tell to be wrong', () => {
  const error = refusal(() => new History(Deployment).apply('alpha', { spec: { replicas: 1.5 } }));
  expect([error.code, error.message]).toEqual([
    400,
    expect.stringContaining(
      'failed to convert new object (/box; /v1, Kind=Deployment) to proper version: unable to convert unstructured object',
    ),
  ]);
});

test('managers hold different items of a list; an item goes with the last that named it', () => {
  const history = new History(Deployment)
    .apply('alpha', pod({ containers: [main] }))
    .apply('beta', pod({ containers: [{ name: 'aide', image: 'aide:1' }] }))
    .apply(
      'beta',
      pod({
        containers: [
          { name: 'aide', image: 'aide:1', workingDir: '/w' },
          { name: 'main', workingDir: '/m' },
        ],
      }),
    );
  const containers = (): unknown => (history.content.spec as { template: { spec: Values } }).template.spec.containers;
  expect(containers()).toMatchObject([
    { name: 'aide', workingDir: '/w' },
    { name: 'main', image: 'main:1', workingDir: '/m' },
  ]);
  history.apply('beta', pod({ containers: [{ name: 'main', workingDir: '/m' }] }));
  expect(containers()).toMatchObject([{ name: 'main', image: 'main:1', workingDir: '/m' }]);
  expect(history.owners.beta).toEqual({
    'f:spec': { 'f:template': { 'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:name': {}, 'f:workingDir': {} } } } } },
  });
  history.apply('beta', pod({}));
  expect(containers()).toMatchObject([main]);
  expect(containers()).not.toMatchObject([{ workingDir: '/m' }]);
  expect(history.owners.beta).toEqual({ 'f:spec': { 'f:template': { 'f:spec': {} } } });
});

test('an item goes although an updater owns a field in it', () => {
  const aide = (image: string): Values => ({ name: 'aide', image });
  const history = new History(Deployment)
    .apply('alpha', pod({ containers: [main, aide('1')] }))
    .write('beta', pod({ containers: [main, aide('9')] }))
    .apply('alpha', pod({ containers: [main] }));
  expect(Object.keys(history.owners)).toEqual(['alpha']);
  expect(JSON.stringify(history.content)).not.toContain('aide');
});

test('the order of a merged list: the applier arranges what it names, and alone it changes nothing', () => {
  const named = (...names: string[]): Values => pod({ containers: names.map((name) => ({ name, image: 'i' })) });
  const names = (history: History): string[] =>
    (history.content.spec as { template: { spec: { containers: { name: string }[] } } }).template.spec.containers.map(({ name }) => name);
  const history = new History(Deployment).apply('alpha', named('c', 'a', 'b')).apply('alpha', named('a', 'b', 'c'));
  expect(names(history)).toEqual(['c', 'a', 'b']);
  history.apply('beta', pod({ containers: [{ name: 'z', image: 'i' }, { name: 'a' }] }));
  expect(names(history)).toEqual(['c', 'z', 'a', 'b']);
});

test('keys of list items are defaulted, so that the same port is the same', () => {
  const history = new History(Service).apply('alpha', { spec: { ports: [{ port: 80, targetPort: 'a' }] } });
  expect(history.owners.alpha).toEqual({
    'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:targetPort': {} } } },
  });
  expect(refusal(() => history.apply('beta', { spec: { ports: [{ port: 80, protocol: 'TCP', targetPort: 'z' }] } })).message).toContain(
    '.spec.ports[port=80,protocol="TCP"].targetPort',
  );
  expect(refusal(() => history.apply('beta', { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } })).message).toContain(
    '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
  );
});

test('lists, maps and messages that are atomic have one owner', () => {
  const history = new History(Deployment).apply('alpha', { spec: { selector: { matchLabels: { app: 'web' } } } });
  expect(history.owners.alpha).toEqual({ 'f:spec': { 'f:selector': {} } });
  expect(refusal(() => history.apply('beta', { spec: { selector: { matchLabels: { extra: 'x' } } } })).message).toContain(
    ': .spec.selector',
  );
  history.apply('beta', { spec: { selector: { matchLabels: { app: 'web' } } } });
  expect(history.owners.beta).toEqual({ 'f:spec': { 'f:selector': {} } });
});

test('a null is owned and sets nothing', () => {
  const history = new History(Deployment).apply('alpha', { spec: { replicas: null, minReadySeconds: 3 } });
  expect(history.owners.alpha).toEqual({ 'f:spec': { 'f:minReadySeconds': {}, 'f:replicas': {} } });
  expect(history.content.spec).not.toHaveProperty('replicas');
});

test('reset fields are neither taken nor owned, and a subresource is a manager of its own', () => {
  const Thing = object('test.Thing', {
    metadata: always(1, ObjectMeta),
    spec: opt(2, message('test.Spec', { size: opt(1, int32) })),
    status: opt(3, message('test.Status', { seen: opt(1, int32), more: opt(2, int32) })),
  });
  const history = new History(Thing)
    .apply('alpha', { spec: { size: 1 }, status: { seen: 3 } }, { resetFields: [['status']] })
    .apply('alpha', { status: { seen: 1 } }, { subresource: 'status', resetFields: [['spec']] });
  expect(history.entries.map(({ subresource, fieldsV1 }) => ({ subresource, fieldsV1 }))).toEqual([
    { subresource: undefined, fieldsV1: { 'f:spec': { 'f:size': {} } } },
    { subresource: 'status', fieldsV1: { 'f:status': { 'f:seen': {} } } },
  ]);
  expect(refusal(() => history.apply('beta', { status: { seen: 2 } }, { subresource: 'status' })).message).toBe(
    'Apply failed with 1 conflict: conflict with "alpha" with subresource "status": .status.seen',
  );
});

test('values without a schema: keys act as fields, lists are whole', () => {
  const Gear = object('test.Gear', { metadata: always(1, ObjectMeta), spec: opt(2, message('', {}, { unknown: 'keep' })) });
  const history = new History(Gear).apply('alpha', { spec: { list: [{ name: 'a' }], map: { x: '1' }, deep: { er: { still: 1 } } } });
  expect(history.owners.alpha).toEqual({
    'f:spec': { 'f:deep': { '.': {}, 'f:er': { '.': {}, 'f:still': {} } }, 'f:list': {}, 'f:map': { '.': {}, 'f:x': {} } },
  });
  expect(refusal(() => history.apply('beta', { spec: { list: [{ name: 'b' }] } })).message).toContain('.spec.list');
  history.apply('beta', { spec: { map: { y: '1' }, deep: { other: true } } }).apply('alpha', { spec: { map: { x: '2' } } });
  expect(history.content).toEqual({ spec: { deep: { other: true }, map: { x: '2', y: '1' } } });
  history.apply('alpha', {});
  expect(history.content).toEqual({ spec: { deep: { other: true }, map: { y: '1' } } });
});

// ---- several versions --------------------------------------------------------------------------------------------

const Old = object('test.Thing', { metadata: always(1, ObjectMeta), size: opt(2, int32), note: opt(3, string) });
const New = object('test.Thing', {
  metadata: always(1, ObjectMeta),
  box: opt(2, message('test.Box', { size: opt(1, int32) })),
  note: opt(3, string),
});
const toNew = ({ size, ...rest }: Values): Values => ({ ...rest, ...(size !== undefined && { box: { size } }) });
const toOld = ({ box, ...rest }: Values): Values => ({ ...rest, ...(box !== undefined && { size: (box as { size?: number }).size }) });
const old = {
  type: Old,
  apiVersion: 'v1',
  convert: (object: Values, version: string) => (version === 'v2' ? { type: New, object: toNew(object) } : undefined),
  convertBack: (object: Values) => toOld(object),
};
const newer = {
  type: New,
  apiVersion: 'v2',
  convert: (object: Values, version: string) => (version === 'v1' ? { type: Old, object: toOld(object) } : undefined),
  convertBack: (object: Values) => toNew(object),
};

/** The same stored object, seen through the other version. */
function inNew(history: History): History {
  const next = new History(New, newer);
  const live = history.live as NonNullable<History['live']>;
  next.live = toNew(live) as NonNullable<History['live']>;
  next.now = history.now;
  return next;
}

test('one manager applies in two versions: what it dropped goes, its entry is one', () => {
  const history = inNew(new History(Old, old).apply('one', { size: 1, note: 'n' }));
  history.apply('one', { apiVersion: 'v2', note: 'n' });
  expect(history.content).toEqual({ note: 'n' });
  expect(history.entries).toMatchObject([{ manager: 'one', apiVersion: 'v2', fieldsV1: { 'f:note': {} } }]);
});

test('what another owns in another version stays, and conflicts in its version', () => {
  const first = new History(Old, old).apply('one', { size: 1 }).apply('two', { size: 1, note: 'n' });
  const history = inNew(first);
  history.apply('two', { apiVersion: 'v2', note: 'n' });
  expect(history.content).toEqual({ box: { size: 1 }, note: 'n' });
  expect(refusal(() => history.apply('two', { apiVersion: 'v2', box: { size: 2 } })).message).toBe(
    'Apply failed with 1 conflict: conflict with "one": .size',
  );
  history.apply('two', { apiVersion: 'v2', box: { size: 2 } }, { force: true });
  expect(history.owners).toEqual({ two: { 'f:box': { 'f:size': {} } } });
});

test('entries of a version that is gone are dropped', () => {
  const history = inNew(new History(Old, old).apply('one', { size: 1 }));
  history.apply('two', { apiVersion: 'v2', box: { size: 2 } }, { convert: () => undefined });
  expect(Object.keys(history.owners)).toEqual(['two']);
});

// ---- schemas that change -----------------------------------------------------------------------------------------

test('granular to atomic: the owner of a part owns the whole; later changes conflict', () => {
  const Granular = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string)), l: opt(3, list(string, 'set')) });
  const Atomic = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string, { atomic: true })), l: opt(3, list(string)) });
  const history = new History(Granular).apply('alpha', { m: { x: '1' }, l: ['a'] });
  expect(refusal(() => history.apply('beta', { m: { y: '1' } }, { type: Atomic })).message).toContain('conflict with "alpha": .m');
  expect(refusal(() => history.apply('beta', { l: ['b'] }, { type: Atomic })).message).toContain('conflict with "alpha": .l');
  history.apply('alpha', { m: { y: '1' } }, { type: Atomic });
  expect(history.content).toEqual({ m: { y: '1' } });
});

test('atomic to granular: ownership of the parts is unknown, so that changes do not conflict', () => {
  const Atomic = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string, { atomic: true })) });
  const Granular = object('test.T', { metadata: always(1, ObjectMeta), m: opt(2, map(string)) });
  const history = new History(Atomic).apply('alpha', { m: { x: '1' } });
  history.apply('beta', { m: { x: '2' } }, { type: Granular });
  expect(history.content).toEqual({ m: { x: '2' } });
});

// ---- moving from apply on the client's side ----------------------------------------------------------------------

const annotation = 'example.test/last-applied';
const clientApply = { managers: ['other-client', 'client'], annotation };
const text = (values: object): string => `${jsonText({ apiVersion: 'v1', data: values, kind: 'ConfigMap', metadata: { name: 'box' } })}\n`;

test('the client takes over what it applied before, and its annotation is kept current', () => {
  const history = new History(ConfigMap, { clientApply }).write(
    'client-side',
    data({ a: '1', b: '1' }, { annotations: { [annotation]: text({ a: '1', b: '1' }) } }),
  );
  expect(refusal(() => history.apply('someone', data({ a: '2' }))).code).toBe(409);
  history.apply('client', data({ a: '2' }));
  expect(history.content).toEqual({ data: { a: '2', b: '1' } });
  expect(history.live?.metadata.annotations).toEqual({ [annotation]: text({ a: '2' }) });
  expect(history.owners.client).toEqual({ 'f:data': { 'f:a': {} } });
});

test('what others changed since is still a conflict, and so is everything without the annotation', () => {
  const history = new History(ConfigMap, { clientApply })
    .write('client-side', data({ a: '1', b: '1' }, { annotations: { [annotation]: text({ a: '1', b: '1' }) } }))
    .write('other', data({ a: '7', b: '1' }, { annotations: { [annotation]: text({ a: '1', b: '1' }) } }));
  expect(refusal(() => history.apply('client', data({ a: '2', b: '2' }))).message).toBe(
    'Apply failed with 1 conflict: conflict with "other" using v1: .data.a',
  );
  const bare = new History(ConfigMap, { clientApply }).write('client-side', data({ a: '1' }));
  expect(refusal(() => bare.apply('client', data({ a: '2' }))).code).toBe(409);
  bare.apply('client', data({ a: '2' }), { force: true });
  expect(bare.live?.metadata.annotations).toBeUndefined();
});

test('inputs are never changed', () => {
  const freeze = <T>(value: T): T => {
    if (typeof value === 'object' && value !== null) for (const item of Object.values(Object.freeze(value))) freeze(item);
    return value;
  };
  const history = new History(Deployment).apply('alpha', pod({ containers: [main, { name: 'x', image: 'i' }] }));
  freeze(history.live);
  history.apply('beta', freeze(pod({ containers: [{ name: 'x', image: 'i', args: ['a'] }] })));
  freeze(history.live);
  history.apply('alpha', freeze(pod({ containers: [main] })), { force: true });
  freeze(history.live);
  history.write('gamma', freeze(pod({ containers: [{ ...main, image: '2' }] })));
  expect(Object.keys(history.owners)).toEqual(['alpha', 'gamma']);
});

test('in later releases an applier has a time only if it changed the object', () => {
  const rules = { timesOfChanges: true, comparesWhole: true };
  const history = new History(ConfigMap, { rules }).apply('alpha', data({ a: '1' })).apply('beta', data({ a: '1' }));
  const times = () => Object.fromEntries(history.entries.map(({ manager, time }) => [manager, time]));
  expect(times()).toEqual({ alpha: '2024-01-01T00:00:00Z', beta: undefined });
  history.apply('beta', data({ a: '1', b: '1' }));
  expect(times()).toEqual({ alpha: '2024-01-01T00:00:00Z', beta: '2024-01-01T00:00:02Z' });
  // A field without an owner counts, too.
  history.apply('gamma', data({ b: '1' }, { generation: 7 }));
  expect(times()).toMatchObject({ gamma: '2024-01-01T00:00:03Z' });
});

test('an apply that only moves items is a change in later releases', () => {
  const podOf = (...names: string[]) => ({ spec: { containers: names.map((name) => ({ name, image: 'i' })) } });
  const order = (history: History) =>
    (history.content.spec as { containers: { name: string }[] }).containers.map(({ name }) => name).join('');
  for (const [rules, moved] of [
    [undefined, 'cab'],
    [{ timesOfChanges: true, comparesWhole: true }, 'abc'],
  ] as const) {
    const history = new History(Pod, rules && { rules }).apply('alpha', podOf('c', 'a', 'b')).apply('alpha', podOf('a', 'b', 'c'));
    expect([order(history), history.entries[0]?.time]).toEqual([moved, rules ? '2024-01-01T00:00:01Z' : '2024-01-01T00:00:00Z']);
  }
});

test('items may lack keys where the schema says so, but not all of them', () => {
  const item = message('test.Item', { a: opt(1, string), b: opt(2, string), v: opt(3, string) });
  const type = (optionalKeys: boolean) =>
    object('test.Holder', { metadata: always(1, ObjectMeta), items: opt(2, { ...list(item, 'map', ['a', 'b']), optionalKeys }) });
  const history = new History(type(true)).apply('alpha', { items: [{ a: 'x', v: '1' }, { b: 'x' }, { a: 'x', b: 'x' }] });
  const owned = history.owners.alpha as { 'f:items': object };
  expect(Object.keys(owned['f:items']).sort()).toEqual(['k:{"a":"x","b":"x"}', 'k:{"a":"x"}', 'k:{"b":"x"}']);
  history.apply('alpha', { items: [{ a: 'x', v: '2' }] });
  expect(history.content.items).toEqual([{ a: 'x', v: '2' }]);
  expect(refusal(() => history.apply('alpha', { items: [{ v: '1' }] })).message).toContain('omits all key fields');
  expect(refusal(() => new History(type(false)).apply('alpha', { items: [{ a: 'x' }] })).message).toContain('omits key field "b"');
});
