import { jsonText } from '@plat-dev/lib/json-text';
import { expect, test } from 'vitest';
import type { Api, RequestOptions } from '../../../api/api.ts';
import { ApiError } from '../../../api/api-error.ts';
import type { ObjectReference } from '../../../api/kinds.ts';
import type { ValueMap } from '../../../api/values.ts';
import { changesOfVersion, type ObjectVersion, readVersions, restoreVersion, versionRuns, writableText, writerOf } from './versions.ts';

const object: ObjectReference = {
  kind: {
    group: '',
    version: 'v1',
    resource: 'configmaps',
    kind: 'ConfigMap',
    isNamespaced: true,
    shortNames: [],
    verbs: [],
    subresources: [],
  },
  namespace: 'shop',
  name: 'web',
};
function answering(answer: unknown): Api & { readonly requests: [string, RequestOptions | undefined][] } {
  const requests: [string, RequestOptions | undefined][] = [];
  const text = async (path: string, options?: RequestOptions) => {
    requests.push([path, options]);
    if (answer instanceof Error) throw answer;
    return jsonText(answer);
  };
  return { requests, text, json: () => Promise.reject(new Error('not used')), fetch: () => Promise.reject(new Error('not used')) };
}
const version = (resourceVersion: string, type: ObjectVersion['type'], colour: string): ObjectVersion => ({
  resourceVersion,
  uid: 'u',
  time: '2026-01-01T00:00:00Z',
  type,
  object: { kind: 'ConfigMap', metadata: { name: 'web', uid: 'u', resourceVersion, managedFields: [] }, data: { colour } },
});
const versions = [version('3', 'updated', 'blue'), version('2', 'updated', 'red'), version('1', 'created', 'red')];

test('a server without history says so, whatever it answers', async () => {
  expect(await readVersions(answering({ kind: 'ConfigMap' }), object)).toBeUndefined();
  expect(await readVersions(answering(new ApiError({ code: 400 })), object)).toBeUndefined();
  await expect(readVersions(answering(new ApiError({ code: 403 })), object)).rejects.toThrow('You may not do this');
});

test('versions come in pages', async () => {
  const api = answering({ kind: 'ObjectHistory', metadata: { continue: 'more' }, items: versions });
  expect(await readVersions(api, object, 'token')).toEqual({ versions, next: 'more' });
  expect(api.requests[0]?.[1]?.query).toMatchObject({ history: 'full', continue: 'token' });
});

test('a version shows what it changed', () => {
  expect(changesOfVersion(versions, 0)).toEqual([{ path: ['data', 'colour'], before: 'red', after: 'blue' }]);
  expect(changesOfVersion(versions, 1)).toEqual([]);
  expect(changesOfVersion(versions, 2)).toBeUndefined();
});

test('an old version is written over the present one, which it names', async () => {
  const api = answering({});
  await restoreVersion(api, object, versions[2]!.object!, { uid: 'u', resourceVersion: '3' }, true);
  expect(api.requests).toEqual([
    [
      '/api/v1/namespaces/shop/configmaps/web',
      {
        method: 'PUT',
        body: '{"kind":"ConfigMap","data":{"colour":"red"},"metadata":{"name":"web","uid":"u","resourceVersion":"3"}}',
        contentType: 'application/json',
        query: { fieldManager: 'plat-console', dryRun: 'All' },
      },
    ],
  ]);
});

test('a deleted object is created again', async () => {
  const api = answering({});
  await restoreVersion(api, object, versions[0]!.object!, undefined, false);
  expect(api.requests[0]).toEqual([
    '/api/v1/namespaces/shop/configmaps',
    {
      method: 'POST',
      body: '{"kind":"ConfigMap","data":{"colour":"blue"},"metadata":{"name":"web"}}',
      contentType: 'application/json',
      query: { fieldManager: 'plat-console', dryRun: undefined },
    },
  ]);
});

test('numbers keep all of their digits on the way back', async () => {
  const large = 9_007_199_254_740_993n;
  const api = answering({ kind: 'ObjectHistory', items: [{ ...versions[0], object: { kind: 'Boat', metadata: { name: 'web' }, large } }] });
  const read = await readVersions(api, object);
  const stored = read?.versions[0]?.object as ValueMap;
  await restoreVersion(api, object, stored, undefined, false);
  expect(api.requests.at(-1)?.[1]?.body).toBe('{"kind":"Boat","large":9007199254740993,"metadata":{"name":"web"}}');
  expect(writableText(stored)).toContain('large: 9007199254740993\n');
});

test('changes of the status alone are together', () => {
  const more = [version('6', 'updated', 'blue'), version('5', 'updated', 'blue'), version('4', 'updated', 'blue'), ...versions];
  expect(versionRuns(more)).toEqual([[0, 1, 2], [3], [4], [5]]);
  expect(versionRuns([])).toEqual([]);
});

test('who changed something is told with the program, if that says its name', () => {
  expect(writerOf({ ...versions[0]!, user: 'alice', fieldManager: 'kubectl-edit' })).toBe('alice with kubectl-edit');
  expect(writerOf({ ...versions[0]!, user: 'alice', fieldManager: 'unknown' })).toBe('alice');
  expect(writerOf({ ...versions[0]!, fieldManager: 'kubectl' })).toBe('kubectl');
  expect(writerOf({ ...versions[0]!, user: 'system:serviceaccount:plat-system:job-controller' })).toBe('job-controller');
});
