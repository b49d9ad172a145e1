import { expect, test } from 'vitest';
import type { Api } from './api.ts';
import { ApiError } from './api-error.ts';
import { Discovery } from './discovery.ts';

const resource = (name: string, kind: string, more: object = {}) => ({ name, kind, namespaced: true, verbs: ['list', 'watch'], ...more });
const group = (name: string, versions: string[], preferred = versions[0]) => ({
  name,
  versions: versions.map((version) => ({ version })),
  preferredVersion: { version: preferred },
});

function discoveryOf(answers: Readonly<Record<string, object>>): Discovery {
  const json = async (path: string) => {
    const answer = new Map(Object.entries(answers)).get(path);
    if (answer === undefined) throw new ApiError({}, 503);
    return answer;
  };
  return new Discovery({ json } as Api);
}

test('kinds are those of the preferred versions, and all others can be found', async () => {
  const discovery = discoveryOf({
    '/api': { versions: ['v1'] },
    '/apis': { groups: [group('apps', ['v1', 'v2'], 'v2'), group('down.example.com', ['v1'])] },
    '/api/v1': {
      resources: [
        resource('pods', 'Pod', { shortNames: ['po'] }),
        resource('pods/log', 'Pod', { verbs: ['get'] }),
        resource('bindings', 'Binding', { verbs: ['create'] }),
      ],
    },
    '/apis/apps/v1': { resources: [resource('deployments', 'Deployment'), resource('oldthings', 'OldThing')] },
    '/apis/apps/v2': { resources: [resource('deployments', 'Deployment')] },
  });
  await discovery.load();
  expect(discovery.kinds.value.map(({ group: name, version, resource: plural }) => `${name}/${version}/${plural}`)).toEqual([
    '/v1/pods',
    'apps/v2/deployments',
    'apps/v1/oldthings',
  ]);
  expect(discovery.kinds.value[0]).toMatchObject({ kind: 'Pod', shortNames: ['po'], subresources: ['log'] });
  expect(discovery.state.value).toEqual({ phase: 'ready', missing: ['down.example.com/v1'] });
  expect(discovery.find({ group: 'apps', version: 'v1', resource: 'deployments' })?.version).toBe('v1');
  expect(discovery.findKind('apps/v1', 'Deployment')?.version).toBe('v1');
  expect(discovery.findKind('apps/v0', 'Deployment')?.version).toBe('v2');
  expect(discovery.findKind('v1', 'Gone')).toBeUndefined();
});

test('a server that does not answer at all is an error', async () => {
  const discovery = discoveryOf({});
  await discovery.load();
  expect(discovery.state.value).toMatchObject({ phase: 'failed', error: { code: 503 } });
});

test('kinds that are read again and have not changed are the same values', async () => {
  const answers = new Map<string, object>([
    ['/api', { versions: ['v1'] }],
    ['/apis', { groups: [] }],
    ['/api/v1', { resources: [resource('pods', 'Pod'), resource('secrets', 'Secret')] }],
  ]);
  const discovery = new Discovery({ json: async (path: string) => structuredClone(answers.get(path)) } as Api);
  await discovery.load();
  const kinds = discovery.kinds.value;
  await discovery.load();
  expect(discovery.kinds.value).toBe(kinds);
  answers.set('/api/v1', { resources: [resource('pods', 'Pod'), resource('secrets', 'Secret', { verbs: ['list'] })] });
  await discovery.load();
  expect(discovery.kinds.value.map((kind) => kinds.includes(kind))).toEqual([true, false]);
});

test('a server that lists its kinds wrongly costs no others', async () => {
  const wrong = [
    { name: 'widgets', kind: 'Widget', namespaced: true },
    { name: 'gadgets', kind: 'Gadget', verbs: null },
    { name: 7, kind: {}, verbs: [] },
    resource('things', 'Thing', { shortNames: null }),
  ];
  const discovery = discoveryOf({
    '/api': { versions: ['v1'] },
    '/apis': { groups: [group('wrong.example.com', ['v1', 'v2', 'v3'])] },
    '/api/v1': { resources: [resource('pods', 'Pod')] },
    '/apis/wrong.example.com/v1': { resources: wrong },
    '/apis/wrong.example.com/v2': { resources: null },
    '/apis/wrong.example.com/v3': { resources: 'none' },
  });
  await discovery.load();
  expect(discovery.kinds.value.map(({ resource: plural, shortNames }) => [plural, shortNames])).toEqual([
    ['pods', []],
    ['things', []],
  ]);
  expect(discovery.state.value).toEqual({ phase: 'ready', missing: ['wrong.example.com/v3'] });
});
