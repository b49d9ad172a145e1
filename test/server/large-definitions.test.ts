/** Definitions that are compiled and validated in slices serve what small ones do. */
import { expect, test } from 'vitest';
import { define, definitionOf, definitionsPath } from '../support/custom.ts';
import { type Loose, startTestServer } from '../support/server.ts';

test('a kind of thousands of fields prunes, defaults, validates and merges from its first object on', async () => {
  const server = await startTestServer();
  try {
    const group = 'large.example.com';
    const fields: Loose = { size: { type: 'integer', maximum: 5, default: 3 } };
    for (let i = 0; i < 3000; i++) fields[`field${i}`] = { type: 'string', description: 'one of very many fields' };
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: fields } } };
    await define(server, definitionOf(server, group, 'Part', [{ schema }]));
    const definitions = definitionsPath(server);
    const defined = await server.admin.ok('GET', `${definitions}/parts.${group}`);
    expect(defined.status.conditions.map(({ type, status }: Loose) => [type, status])).toEqual([
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ]);
    expect(Object.keys(defined.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties)).toHaveLength(3001);
    const path = `/apis/${group}/v1/namespaces/${await server.namespace()}/parts`;
    const part = (name: string, spec: Loose): Loose => ({ apiVersion: `${group}/v1`, kind: 'Part', metadata: { name }, spec });
    const made = await server.admin.ok('POST', path, part('a', { field7: 'x', unknown: 'y' }));
    expect(made.spec).toEqual({ field7: 'x', size: 3 });
    expect(made.metadata.managedFields[0].fieldsV1['f:spec']).toEqual({ '.': {}, 'f:field7': {}, 'f:size': {} });
    const refused = await server.admin.post(path, part('b', { size: 6, field8: 1 }));
    expect(refused.json.details.causes.map(({ field }: Loose) => field).sort()).toEqual(['spec.field8', 'spec.size']);
    const applied = await server.admin.patch(`${path}/a?fieldManager=ann`, part('a', { field9: 'z' }), 'apply-patch');
    expect(applied.json.spec).toEqual({ field7: 'x', field9: 'z', size: 3 });
  } finally {
    await server.close();
  }
  expect(server.errors).toEqual([]);
});
