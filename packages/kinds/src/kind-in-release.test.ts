import { object, opt, string } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type ApiObject, kind, type Subresource } from './kind.ts';
import { kindIn } from './kind-in-release.ts';
import { ObjectMeta } from './meta.ts';

const Widget = object('t.v1.Widget', { metadata: opt(1, ObjectMeta), size: opt(2, string), colour: opt(3, string, { since: '1.30' }) });
const status: Subresource<ApiObject> = { type: 'object', verbs: ['get'], strategy: {} };
const WidgetKind = kind<ApiObject>({
  group: 't',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  hub: 'v1',
  versions: { v1: { schema: Widget } },
  subresources: { status, resize: { ...status, since: '1.33' }, bind: { ...status, until: '1.32' } },
  columns: [
    { name: 'Name', type: 'string' },
    { name: 'Colour', type: 'string', since: '1.30' },
    { name: 'Size', type: 'string' },
  ],
  cells: () => ['a', 'red', 'large'],
  from: { '1.28': { short: ['w'] }, '1.34': { short: ['w', 'wd'] } },
});

test.each([
  ['1.24', ['kind', 'apiVersion', 'metadata', 'size'], ['status', 'bind'], ['a', 'large'], []],
  ['1.30', ['kind', 'apiVersion', 'metadata', 'size', 'colour'], ['status', 'bind'], ['a', 'red', 'large'], ['w']],
  ['1.36', ['kind', 'apiVersion', 'metadata', 'size', 'colour'], ['status', 'resize'], ['a', 'red', 'large'], ['w', 'wd']],
] as const)('a kind in %s', (release, fields, subresources, cells, short) => {
  const widget = kindIn(release, WidgetKind);
  expect(widget.versions.v1?.schema.ordered.map(({ name }) => name)).toEqual(fields);
  expect(Object.keys(widget.subresources)).toEqual(subresources);
  expect(widget.columns).toHaveLength(cells.length);
  expect(widget.cells?.({} as never, {} as never)).toEqual(cells);
  expect(widget.short).toEqual(short);
  expect(kindIn(release, WidgetKind)).toBe(widget);
});

test('a kind in which nothing differs is the one that was declared', () => {
  const Plain = kind<ApiObject>({
    group: 't',
    kind: 'Plain',
    plural: 'plains',
    scope: 'Cluster',
    hub: 'v1',
    versions: { v1: { schema: object('t.v1.Plain', { size: opt(1, string) }) } },
  });
  expect(kindIn('1.36', Plain)).toBe(Plain);
});
