import { schemaOf } from '@plat-dev/kinds/schemas';
import { kubernetes } from '@plat-dev/meta/identity';
import { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import type { MessageType } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type BodyOwner, decodeBody } from './body.ts';
import type { Expected } from './expected-body.ts';

/** Bodies of tests are small. */
const owner: BodyOwner = { slices: () => undefined, expanded: () => {} };

const configMap: Expected = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  schema: schemaOf('', 'v1', 'ConfigMap', kubernetes) as MessageType,
  identity: kubernetes,
};

test('repeated objects of a body are merged for built-in kinds; of custom kinds the last one counts', async () => {
  const body = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"1","b":"1"},"data":{"b":"2"}}');
  for (const faults of [undefined, new FieldFaults()]) {
    expect(await decodeBody(owner, body, 'json', configMap, { faults })).toMatchObject({ data: { a: '1', b: '2' } });
    expect((await decodeBody(owner, body, 'json', { ...configMap, custom: true }, { faults })) as object).toHaveProperty('data', {
      b: '2',
    });
  }
});
