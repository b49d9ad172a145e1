import { FakeClock } from '@plat-dev/lib/clock';
import { expect, test } from 'vitest';
import type { Api } from '../api/api.ts';
import { Discovery } from '../api/discovery.ts';
import type { WatchConnection, WatchEvent, WatchRequest } from '../api/watch-connection.ts';
import { followKinds } from './follow-kinds.ts';

const resource = (name: string, kind: string) => ({ name, kind, namespaced: false, verbs: ['list', 'watch'] });
const group = (name: string) => ({ name, versions: [{ version: 'v1' }] });

async function following() {
  const clock = new FakeClock();
  const groups = new Map([
    ['apiextensions.example.com', [resource('customresourcedefinitions', 'CustomResourceDefinition')]],
    ['apiregistration.example.com', [resource('apiservices', 'APIService')]],
    ['other.example.com', [resource('apiservices', 'APIService')]],
  ]);
  const json = async (path: string) => {
    if (path === '/api') return { versions: [] };
    if (path === '/apis') return { groups: [...groups.keys()].map(group) };
    const [, , name = '', , collection] = path.split('/');
    return collection === undefined ? { resources: groups.get(name) } : { metadata: { resourceVersion: '1' } };
  };
  const api = { json } as Api;
  const open: WatchRequest[] = [];
  const watches = { open: (request: WatchRequest) => open.push(request) && (() => undefined) } as unknown as WatchConnection;
  const discovery = new Discovery(api);
  await discovery.load();
  const stop = followKinds({ api, watches, clock, discovery });
  await clock.advance(0);
  const change = (path: string, type: WatchEvent['type']) => open.find((one) => one.path.endsWith(path))?.onEvents([{ type, object: {} }]);
  const names = () => discovery.kinds.value.map(({ kind }) => kind);
  return { clock, groups, open, change, names, stop };
}

test('definitions of custom kinds and registrations of aggregated ones are watched', async () => {
  const { open } = await following();
  expect(open.map(({ path }) => path)).toEqual([
    '/apis/apiextensions.example.com/v1/customresourcedefinitions',
    '/apis/apiregistration.example.com/v1/apiservices',
  ]);
});

test.each(['customresourcedefinitions', 'apiservices'])('a change of %s brings new kinds', async (path) => {
  const { clock, groups, change, names } = await following();
  groups.set('new.example.com', [resource('gauges', 'Gauge')]);
  change(path, 'BOOKMARK');
  await clock.advance(2000);
  expect(names()).not.toContain('Gauge');
  change(path, 'MODIFIED');
  await clock.advance(2000);
  expect(names()).toContain('Gauge');
});

test('nothing is read after the session has ended', async () => {
  const { clock, groups, change, names, stop } = await following();
  groups.set('new.example.com', [resource('gauges', 'Gauge')]);
  change('apiservices', 'ADDED');
  stop();
  await clock.advance(2000);
  expect(names()).not.toContain('Gauge');
});
