/** Versions in which objects of a custom kind may be stored: what passes through status, and what then holds the definition. */
import { expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { type Loose, unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';
import { answers } from './table.ts';

onStores(['memory', 'lmdb'], { identity: 'kubernetes' }, (server) => {
  const version = (name: string, storage: boolean): Loose => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object' } },
  });
  async function defined(): Promise<string> {
    const group = `${unique('g')}.example.com`;
    const definition = definitionOf(server(), group, 'Thing', [{ schema: { type: 'object' } }]) as Loose;
    definition.spec.versions = [version('v1', true), version('v2', false)];
    await define(server(), definition);
    return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition.metadata.name}`;
  }
  const stored = (...storedVersions: string[]): Loose => ({ status: { storedVersions } });
  const label = (value: string): Loose => ({ metadata: { labels: { a: value } } });

  test('a status says what it likes, and is checked with the next change of the definition', async () => {
    const one = await defined();
    await answers(server().admin, [
      ['PATCH', `${one}/status`, stored('v1', 'v9', 'v8', 'v9'), 200, stored('v1', 'v9', 'v8', 'v9')],
      ['PATCH', one, label('x'), 422, ['status.storedVersions[2] Invalid', 'status.storedVersions[3] Invalid']],
      ['PATCH', `${one}/status`, stored('v2'), 200, stored('v2')],
      // The version that objects are stored in is added by every change.
      ['PATCH', one, label('x'), 200, stored('v2', 'v1')],
    ]);
  });

  test('none at all stays an empty list, and none said is null', async () => {
    const one = await defined();
    const shown = async (): Promise<Loose> => (await server().admin.get(one)).json.status.storedVersions;
    await answers(server().admin, [['PATCH', `${one}/status`, stored(), 200, stored()]]);
    expect(await shown()).toEqual([]);
    await answers(server().admin, [['PATCH', `${one}/status`, { status: { storedVersions: null } }, 200]]);
    expect(await shown()).toBeNull();
    await answers(server().admin, [['PATCH', one, label('x'), 200, stored('v1')]]);
  });

  test('a version goes once nothing is stored in it', async () => {
    const one = await defined();
    await answers(server().admin, [
      ['PATCH', one, { spec: { versions: [version('v1', false), version('v2', true)] } }, 200, stored('v1', 'v2')],
      ['PATCH', one, { spec: { versions: [version('v2', true)] } }, 422, ['status.storedVersions[0] Invalid']],
      ['PATCH', one, stored('v2'), 200, stored('v1', 'v2')],
      ['PATCH', `${one}/status`, stored('v2'), 200],
      ['PATCH', one, { spec: { versions: [version('v2', true)] } }, 200, stored('v2')],
    ]);
  });

  test('a status changes labels without owning them, and no spec', async () => {
    const one = await defined();
    const before = (await server().admin.get(one)).json;
    const { metadata, spec, status } = await answers(server().admin, [
      [
        'PATCH',
        `${one}/status?fieldManager=me`,
        { ...label('y'), spec: { scope: 'Cluster' }, ...stored('v1', 'v2') },
        200,
        stored('v1', 'v2'),
      ],
    ]);
    expect(metadata.labels).toEqual({ a: 'y' });
    expect(spec).toEqual(before.spec);
    expect(status.conditions).toEqual(before.status.conditions);
    const mine = metadata.managedFields.find(({ manager }: Loose) => manager === 'me');
    expect([mine.subresource, mine.fieldsV1]).toEqual(['status', { 'f:status': { 'f:storedVersions': {} } }]);
  });
});
