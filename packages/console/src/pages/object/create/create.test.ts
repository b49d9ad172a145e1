import { expect, test } from 'vitest';
import type { Api, RequestOptions } from '../../../api/api.ts';
import type { Kind } from '../../../api/kinds.ts';
import { createObject } from './create-object.ts';
import { templateOf } from './templates.ts';

const settings: Kind = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  isNamespaced: true,
  shortNames: [],
  verbs: ['create'],
  subresources: [],
};

test('a template names the version, the kind and the namespace', () => {
  expect(templateOf(settings, 'shop')).toBe(
    'apiVersion: v1\ndata:\n  key: value\nkind: ConfigMap\nmetadata:\n  name: example\n  namespace: shop\n',
  );
  const boats = { ...settings, group: 'example.org', resource: 'boats', kind: 'Boat', isNamespaced: false };
  expect(templateOf(boats, 'shop')).toBe('apiVersion: example.org/v1\nkind: Boat\nmetadata:\n  name: example\n');
});

test('an object is created in the namespace that its text names, and first in a dry run', async () => {
  const requests: [string, RequestOptions][] = [];
  const text = async (path: string, options: RequestOptions = {}) => {
    requests.push([path, options]);
    return 'metadata:\n  name: one\n  managedFields: []\n';
  };
  const api = { text } as Partial<Api> as Api;
  const preview = await createObject(api, settings, 'shop', 'metadata: {name: one, namespace: other}', true);
  expect(preview).toEqual({ name: 'one', namespace: 'other', text: 'metadata:\n  name: one\n' });
  await createObject(api, settings, 'shop', 'metadata: {name: one}', false);
  expect(requests.map(([path, { query }]) => [path, query?.dryRun])).toEqual([
    ['/api/v1/namespaces/other/configmaps', 'All'],
    ['/api/v1/namespaces/shop/configmaps', undefined],
  ]);
});
