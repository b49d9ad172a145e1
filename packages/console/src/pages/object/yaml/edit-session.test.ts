import { stringifyYaml } from '@plat-dev/schema/yaml';
import { expect, test, vi } from 'vitest';
import type { Api, RequestOptions } from '../../../api/api.ts';
import type { Kind, ObjectReference } from '../../../api/kinds.ts';
import { EditSession, serverText } from './edit-session.ts';

const kind: Kind = {
  group: '',
  version: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  isNamespaced: true,
  shortNames: [],
  verbs: ['update'],
  subresources: [],
};
const object: ObjectReference = { kind, namespace: 'default', name: 'a' };
const textOf = (version: number, data: string): string =>
  `apiVersion: v1\ndata:\n${data}kind: ConfigMap\nmetadata:\n  managedFields:\n  - manager: x\n  name: a\n  resourceVersion: "${version}"\n`;
const base = serverText(textOf(1, '  colour: red\n  size: "1"\n'));

function recordingApi(answer: string): Api & { readonly requests: [string, RequestOptions | undefined][] } {
  const requests: [string, RequestOptions | undefined][] = [];
  const text = async (path: string, options?: RequestOptions): Promise<string> => {
    requests.push([path, options]);
    return answer;
  };
  return { requests, text, fetch: () => Promise.reject(new Error('not used')), json: () => Promise.reject(new Error('not used')) };
}
const session = (api = recordingApi('')): EditSession => new EditSession(api, object, base);

test('what only tools read is left out of the text', () => {
  expect(base.text).not.toContain('managedFields');
  expect(base.resourceVersion).toBe('1');
});

test('numbers keep all of their digits', () => {
  expect(serverText('spec:\n  large: 9007199254740993\n').text).toContain('9007199254740993');
});

test('numbers of an object of any size keep all of their digits when changes of two people are merged, also where there is no Buffer', () => {
  const filler = 'x'.repeat(40_000);
  const written = (colour: string, size: string): string =>
    `colour: ${colour}\nfiller: ${filler}\nlarge: 9007199254740993\nlines: |\n  a\n  b\nmetadata:\n  resourceVersion: "1"\nsize: ${size}\n`;
  vi.stubGlobal('Buffer', undefined);
  try {
    const edit = new EditSession(recordingApi(''), object, serverText(written('red', 'small')));
    edit.text.value = written('blue', 'small');
    const { text, conflicts } = edit.merge(serverText(written('red', 'large')));
    expect(conflicts).toEqual([]);
    expect(text).toBe(written('blue', 'large'));
    expect(stringifyYaml({ filler, large: 9_007_199_254_740_993n })).toBe(`filler: ${filler}\nlarge: 9007199254740993\n`);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('a preview is a dry run, and checks fields strictly', async () => {
  const api = recordingApi(textOf(1, '  colour: blue\n'));
  const edit = session(api);
  edit.text.value = base.text.replace('red', 'blue');
  const preview = await edit.preview();
  expect(preview.value).toMatchObject({ data: { colour: 'blue' } });
  expect(edit.isDirty.value).toBe(true);
  expect(api.requests[0]?.[1]).toMatchObject({ method: 'PUT', query: { dryRun: 'All', fieldValidation: 'Strict' } });
});

test('after a save the edit goes on from what the server stored', async () => {
  const edit = session(recordingApi(textOf(2, '  colour: blue\n')));
  edit.text.value = base.text.replace('red', 'blue');
  await edit.save();
  expect(edit.isDirty.value).toBe(false);
  expect(edit.base.value.resourceVersion).toBe('2');
});

test('a merge has the changes of both, and the newest version', () => {
  const edit = session();
  edit.text.value = base.text.replace('red', 'blue');
  const theirs = serverText(textOf(5, '  colour: red\n  size: "2"\n  third: "3"\n'));
  const { text, conflicts } = edit.merge(theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(theirs.text.replace('red', 'blue'));
  edit.rebase(theirs, text);
  expect(edit.isDirty.value).toBe(true);
  expect(text).toContain('resourceVersion: "5"');
});

test('a field that both changed is decided', () => {
  const edit = session();
  edit.text.value = base.text.replace('red', 'blue');
  const theirs = serverText(textOf(5, '  colour: green\n  size: "1"\n'));
  expect(edit.merge(theirs).conflicts).toMatchObject([{ path: ['data', 'colour'], base: 'red', mine: 'blue', theirs: 'green' }]);
  expect(edit.merge(theirs).text).toContain('colour: blue');
  expect(edit.merge(theirs, () => 'theirs').text).toBe(theirs.text);
});

test('a text that takes over is mine but for the version', () => {
  const edit = session();
  edit.text.value = base.text.replace('red', 'blue');
  const text = edit.overwriting(serverText(textOf(5, '  colour: green\n')));
  expect(text).toBe(base.text.replace('red', 'blue').replace('resourceVersion: "1"', 'resourceVersion: "5"'));
});
