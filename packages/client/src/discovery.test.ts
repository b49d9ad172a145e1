import { expect, test } from 'vitest';
import { Discovery, type DiscoveryStore } from './discovery.ts';
import { TransportError } from './http.ts';

const resource = (name: string, kind: string) => ({ name, kind, namespaced: true, verbs: ['list', 'get'] });
const documents = () => ({
  '/api/v1': { resources: [resource('pods', 'Pod')] },
  '/apis': {
    groups: [
      { name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      { name: 'multi.example.com', versions: [{ version: 'v2' }, { version: 'v1' }], preferredVersion: { version: 'v2' } },
    ],
  },
  '/apis/apps/v1': { resources: [resource('deployments', 'Deployment')] },
  '/apis/multi.example.com/v2': { resources: [resource('as', 'A')] },
  '/apis/multi.example.com/v1': { resources: [resource('as', 'A'), resource('bs', 'B')] },
});
type Documents = Record<string, unknown>;

/** A server with these documents, and the requests that it got. */
function serving(from: Documents) {
  const asked: string[] = [];
  const transport = {
    async json<T>({ path }: { path: string }): Promise<T> {
      asked.push(path);
      if (!(path in from)) throw new TransportError('no answer', 'ECONNREFUSED', undefined);
      return from[path] as T;
    },
  };
  return { transport, asked };
}
function store(): DiscoveryStore & { readonly entries: Map<string, unknown> } {
  const entries = new Map<string, unknown>();
  return {
    entries,
    get: (path) => entries.get(path),
    set: (path, value) => void entries.set(path, value),
    clear: () => entries.clear(),
  };
}

test.each([
  ['bs', 'v1'],
  ['bs.multi.example.com', 'v1'],
  ['b.multi.example.com', 'v1'],
  ['bs.v1.multi.example.com', 'v1'],
  ['as.multi.example.com', 'v2'],
  ['as.v1.multi.example.com', 'v1'],
  ['as.multi', 'v2'],
  ['deploy.apps', undefined],
  ['deployments.ap', 'v1'],
])('%s is found in the version %s: all that are served are searched, the preferred one first', async (word, version) => {
  const { transport } = serving(documents());
  const found = new Discovery(transport).find(word);
  if (version === undefined) await expect(found).rejects.toThrow(`the server doesn't have a resource type "${word}"`);
  else expect((await found).version).toBe(version);
});

test('the longest beginning of a path that is a type counts', async () => {
  const discovery = new Discovery(serving(documents()).transport);
  expect(await discovery.findPrefix(['deployment', 'apps', 'spec'])).toMatchObject({ resource: { name: 'deployments' }, count: 2 });
  expect(await discovery.findPrefix(['pod', 'spec', 'containers'])).toMatchObject({ resource: { name: 'pods' }, count: 1 });
  await expect(discovery.findPrefix(['nothing'])).rejects.toThrow('resource type "nothing"');
});

test('stored documents are used instead of requests', async () => {
  const kept = store();
  const first = serving(documents());
  await new Discovery(first.transport, kept).find('deployments');
  expect(first.asked.length).toBeGreaterThan(2);
  const second = serving({});
  expect((await new Discovery(second.transport, kept).find('deployments')).group).toBe('apps');
  expect(second.asked).toEqual([]);
});

test('what a stored document does not have is looked up at the server', async () => {
  const kept = store();
  await new Discovery(serving(documents()).transport, kept).find('deployments');
  const later = documents();
  (later['/apis/apps/v1'].resources as unknown[]).push(resource('beds', 'Bed'));
  expect((await new Discovery(serving(later).transport, kept).find('beds')).kind).toBe('Bed');
  expect((await new Discovery(serving(later).transport, kept).forKind('apps/v1', 'Bed')).name).toBe('beds');
  expect(JSON.stringify(kept.entries.get('/apis/apps/v1'))).toContain('beds');
});

test('a type that nobody has is asked for once more, and not again without a server', async () => {
  const kept = store();
  await new Discovery(serving(documents()).transport, kept).find('deployments');
  const again = serving(documents());
  await expect(new Discovery(again.transport, kept).find('nothing')).rejects.toThrow('"nothing"');
  expect(again.asked.filter((path) => path === '/apis')).toHaveLength(1);
  const gone = serving({});
  await expect(new Discovery(gone.transport, store()).find('pods')).rejects.toThrow('no answer');
  expect(gone.asked).toEqual(['/api/v1']);
});

test('stored values of another form are ignored', async () => {
  for (const wrong of [{}, [1], [{ name: 'pods' }], 'x', null]) {
    const kept = store();
    kept.set('/api/v1', wrong);
    kept.set('/apis', wrong);
    expect((await new Discovery(serving(documents()).transport, kept).find('deployments')).name).toBe('deployments');
  }
});
