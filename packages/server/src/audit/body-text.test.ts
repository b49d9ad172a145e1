import { encode } from '@plat-dev/schema/json';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { expect, test } from 'vitest';
import { testServices } from '../endpoints/testing.ts';
import type { Resource } from '../registry/catalog.ts';
import { binary } from '../response/represent.ts';
import { objectText } from './body-text.ts';

const configMap = (length: number) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a' },
  data: Object.fromEntries(Array.from({ length }, (_, i) => [`k${10_000 + i}`, 'v'])),
});

test('bodies in every encoding become the same JSON; large ones are decoded in slices', async () => {
  const { catalog } = await testServices();
  const { schema } = catalog.find('', 'v1', 'configmaps') as Resource;
  for (const length of [1, 5_000]) {
    const object = configMap(length);
    const text = encode(schema, object as never);
    const fromBinary = objectText('protobuf', binary(schema, object), catalog);
    expect(fromBinary instanceof Promise).toBe(length > 1);
    expect(await fromBinary).toBe(text);
    expect(await objectText('json', Buffer.from(`${text}\n`), catalog)).toBe(text);
    const fromYaml = await objectText('yaml', Buffer.from(stringifyYaml(JSON.parse(text))), catalog);
    expect(JSON.parse(fromYaml as string)).toEqual(JSON.parse(text));
  }
});
