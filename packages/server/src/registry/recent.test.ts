import { builtinKinds } from '@plat-dev/kinds';
import type { ApiObject, Kind } from '@plat-dev/kinds/kind';
import { type ServedKind, serve } from '@plat-dev/kinds/served-kind';
import { kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { type Item, itemFromStored, storedValue } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import { RecentObjects } from './recent.ts';

const kind = builtinKinds(kubernetes).find((one) => one.kind === 'ConfigMap') as Kind;
const resource = serve(kind, kubernetes)[0] as ServedKind;
const { schema } = resource.hub;

function configMap(name: string, data: Record<string, string>): ApiObject {
  const fieldsV1 = { 'f:data': { '.': {}, 'f:a': {} } };
  const managedFields = [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 }];
  const metadata = { name, uid: `uid-of-${name}`, labels: { app: 'x' }, managedFields };
  return decode(schema, { kind: 'ConfigMap', apiVersion: 'v1', metadata, data }) as ApiObject;
}
function itemOf(object: ApiObject, revision: number): Item {
  const { name, uid, labels } = object.metadata as { name: string; uid: string; labels: Record<string, string> };
  return itemFromStored(name, storedValue(encode(schema, object), uid), revision, 1, { labels, fields: undefined });
}
const parsed = (item: Item): unknown => decode(schema, JSON.parse(item.bytes.toString()));

test('the object is what parsing the item gives, and nobody may change it', () => {
  const recent = new RecentObjects();
  const object = configMap('a', { a: '1' });
  const before = itemOf(object, 7);
  const item = itemOf(object, 8);
  recent.keep(resource, item, object, before);
  const shared = recent.sharedObject(resource, item) as ApiObject & { data: Record<string, string> };
  expect(shared).toStrictEqual(parsed(item));
  expect(() => {
    shared.data.a = '2';
  }).toThrow(TypeError);
});

test('the state that was replaced is forgotten', () => {
  const recent = new RecentObjects();
  const first = itemOf(configMap('a', { a: '1' }), 1);
  const second = itemOf(configMap('a', { a: '1' }), 2);
  const third = itemOf(configMap('a', { a: '1' }), 3);
  recent.keep(resource, second, configMap('a', { a: '1' }), first);
  recent.keep(resource, third, configMap('a', { a: '1' }), second);
  expect(recent.sharedObject(resource, second)).toBeUndefined();
  expect(recent.sharedObject(resource, third)).toBeDefined();
});

test('an object that its text reads otherwise is parsed', () => {
  const recent = new RecentObjects();
  const odd = { ...configMap('a', {}), data: {} };
  const item = itemOf(odd, 2);
  recent.keep(resource, item, odd, itemOf(odd, 1));
  expect(recent.sharedObject(resource, item)).toBeUndefined();
});

test('a kind that has another schema by now reads the text anew', () => {
  const recent = new RecentObjects();
  const object = configMap('a', { a: '1' });
  const item = itemOf(object, 2);
  recent.keep(resource, item, object, itemOf(object, 1));
  const changed: ServedKind = { ...resource, hub: { ...resource.hub, schema: { ...schema } } };
  expect(recent.sharedObject(changed, item)).toBeUndefined();
});

test('what was written longest ago makes room, and what is large is not kept', () => {
  const recent = new RecentObjects();
  const items = Array.from({ length: 1030 }, (_, i) => {
    const object = configMap(`c${i}`, { a: '1' });
    const item = itemOf(object, i + 2);
    recent.keep(resource, item, object, itemOf(object, 1));
    return item;
  });
  expect(items.filter((item) => recent.sharedObject(resource, item) !== undefined)).toEqual(items.slice(-1024));
  const large = configMap('large', { a: 'x'.repeat(300_000) });
  const item = itemOf(large, 2000);
  recent.keep(resource, item, large, itemOf(large, 1999));
  expect(recent.sharedObject(resource, item)).toBeUndefined();
  for (let i = 0; i < 45; i++) {
    const object = configMap(`l${i}`, { a: 'x'.repeat(200_000) });
    recent.keep(resource, itemOf(object, 3000 + i), object, itemOf(object, 1));
  }
  expect(recent.sharedObject(resource, items.at(-1) as Item)).toBeUndefined();
});

test('what is shown is what the text says, without managedFields', () => {
  const recent = new RecentObjects();
  const object = configMap('a', { a: '1' });
  const item = itemOf(object, 8);
  recent.keep(resource, item, object, undefined);
  const { metadata, ...rest } = JSON.parse(item.bytes.toString());
  delete metadata.managedFields;
  expect(recent.responseForm(resource, item)).toStrictEqual({ ...rest, metadata });
  expect(recent.responseForm(resource, item)).toBe(recent.responseForm(resource, item));
});

test('new objects are kept while their collection is followed', () => {
  const recent = new RecentObjects();
  const keep = (prefix: string): boolean => {
    const object = configMap('a', { a: '1' });
    const item = itemOf(object, 8);
    recent.keepCreated(resource, prefix, item, object);
    return recent.sharedObject(resource, item) !== undefined;
  };
  expect(keep('/configmaps/')).toBe(false);
  const ends = [recent.follow('/configmaps/'), recent.follow('/configmaps/')];
  expect([keep('/configmaps/'), keep('/secrets/')]).toEqual([true, false]);
  ends[0]?.();
  ends[0]?.();
  expect(keep('/configmaps/')).toBe(true);
  ends[1]?.();
  expect(keep('/configmaps/')).toBe(false);
});
