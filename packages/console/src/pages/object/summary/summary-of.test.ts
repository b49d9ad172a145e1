import { expect, test } from 'vitest';
import type { Kind } from '../../../api/kinds.ts';
import { rootSchema } from '../openapi/schema.ts';
import { summaryOf } from './summary-of.ts';

const kindNamed = (group: string, kind: string): Kind => ({
  group,
  version: 'v1',
  resource: `${kind.toLowerCase()}s`,
  kind,
  isNamespaced: true,
  shortNames: [],
  verbs: [],
  subresources: [],
});

test('a pod that cannot start says why', () => {
  const { facts, tables } = summaryOf(
    kindNamed('', 'Pod'),
    {
      spec: { nodeName: 'node-1', containers: [{ name: 'web', image: 'web:1' }] },
      status: { phase: 'Pending', containerStatuses: [{ name: 'web', ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } }] },
    },
    undefined,
  );
  expect(facts[0]).toEqual({ label: 'Status', value: { type: 'state', text: 'ImagePullBackOff', tone: undefined } });
  expect(facts.find(({ label }) => label === 'Node')?.value).toMatchObject({ type: 'link', name: 'node-1' });
  expect(tables[1]?.rows[0]?.[2]).toEqual({ type: 'state', text: 'ImagePullBackOff', tone: 'bad' });
});

test('a deployment says how many of its replicas are ready', () => {
  const { facts } = summaryOf(kindNamed('apps', 'Deployment'), { spec: { replicas: 3 }, status: { readyReplicas: 1 } }, undefined);
  expect(facts[0]?.value).toEqual({ type: 'state', text: '1 of 3 ready', tone: 'busy' });
});

test('values of a secret are hidden', () => {
  const { tables } = summaryOf(kindNamed('', 'Secret'), { data: { password: 'aHVudGVyMg==' } }, undefined);
  expect(tables[0]?.rows).toEqual([
    [
      { type: 'code', text: 'password' },
      { type: 'text', text: '7 bytes' },
      { type: 'hidden', base64: 'aHVudGVyMg==' },
    ],
  ]);
});

test('a custom kind shows its fields in the order and with the words of its schema', () => {
  const database = kindNamed('example.com', 'Database');
  const schema = rootSchema(
    {
      components: {
        schemas: {
          Database: {
            'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Database' }],
            properties: { spec: { properties: { size: { description: 'How large it is.' }, engine: {} } } },
          },
        },
      },
    },
    database,
  );
  const { facts } = summaryOf(
    database,
    { kind: 'Database', metadata: { name: 'a' }, spec: { engine: 'x', size: 3, constructor: 'own' }, status: { conditions: [{}] } },
    schema,
  );
  expect(facts.map(({ label, hint }) => [label, hint])).toEqual([
    ['spec.size', 'How large it is.'],
    ['spec.engine', ''],
    ['spec.constructor', undefined],
  ]);
});

test.each(['Pod', 'Service', 'ConfigMap', 'Secret', 'PersistentVolumeClaim', 'Node', 'Namespace'])('an empty %s breaks nothing', (kind) => {
  expect(() => summaryOf(kindNamed('', kind), {}, undefined)).not.toThrow();
  expect(() => summaryOf(kindNamed('', kind), { spec: null, status: 'x', data: [] }, undefined)).not.toThrow();
});
