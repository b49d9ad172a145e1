import type { CustomResourceColumnDefinition } from '@plat-dev/kinds/apiextensions/schema/v1';
import type { ApiObject, Cell } from '@plat-dev/kinds/kind';
import { testEnv } from '@plat-dev/kinds/validation/kinds.testing';
import { describe, expect, test } from 'vitest';
import { CELL_CHARACTERS, customColumns } from './columns.ts';

const column = (type: string, jsonPath: string, more: Partial<CustomResourceColumnDefinition> = {}): CustomResourceColumnDefinition => ({
  name: 'X',
  type,
  jsonPath,
  ...more,
});
const lamp = (spec: object = {}): ApiObject =>
  ({ metadata: { name: 'desk', creationTimestamp: '2024-01-02T03:00:00Z' }, spec }) as ApiObject;

test('without columns the name and the age are shown', () => {
  for (const none of [undefined, []]) {
    const { columns, cells } = customColumns(none);
    expect(columns.map(({ name, type, format = '' }) => [name, type, format])).toEqual([
      ['Name', 'string', 'name'],
      ['Age', 'date', ''],
    ]);
    expect(cells(lamp(), testEnv)).toEqual(['desk', '4m5s']);
  }
});

test('a column keeps what its definition says, and tells its path where that has no words', () => {
  const { columns } = customColumns([
    column('integer', '.spec.a', { name: 'A', format: 'int32', priority: 1, description: 'how many' }),
    column('string', '.spec.b', { name: 'B', description: '' }),
  ]);
  expect(columns[1]).toEqual({ name: 'A', type: 'integer', format: 'int32', priority: 1, description: 'how many' });
  expect(columns[2]?.description).toContain('.spec.b');
  expect(columns[2]?.priority).toBeUndefined();
});

test('a path that cannot be read ends the columns', () => {
  const { columns, cells } = customColumns([column('string', '.spec.a'), column('string', '.spec.b['), column('string', '.spec.c')]);
  expect(columns).toHaveLength(2);
  expect(cells(lamp({ a: 'x', c: 'y' }), testEnv)).toEqual(['desk', 'x']);
});

describe('cells', () => {
  test.each<[string, unknown, Cell]>([
    ['string', 'hi', 'hi'],
    ['string', 7, '7'],
    ['string', 2.5, '2.5'],
    ['string', 0.00001, '1e-05'],
    ['string', 1e21, '1e+21'],
    ['string', true, 'true'],
    ['string', { b: [1, null], a: '<x>' }, '{"a":"\\u003cx\\u003e","b":[1,null]}'],
    ['string', null, '<no value>'],
    ['string', undefined, null],
    ['integer', 7, 7],
    ['integer', 7.9, 7],
    ['integer', 'x', null],
    ['integer', null, null],
    ['number', 2.5, 2.5],
    ['number', '2.5', null],
    ['boolean', false, false],
    ['boolean', 'yes', null],
    ['date', '2001-02-03T04:05:06Z', '22y'],
    ['date', '2024-01-02T04:04:05+01:00', '0s'],
    ['date', 'never', '<invalid>'],
    ['date', '', '<unknown>'],
    ['date', 5, null],
  ])('%s of %j is %j', (type, value, shown) => {
    // Nothing at all is a field that is not there.
    const spec = value === undefined ? {} : { v: value };
    expect(customColumns([column(type, '.spec.v')]).cells(lamp(spec), testEnv)[1]).toEqual(shown);
  });

  test('of several values the first is shown', () => {
    const { cells } = customColumns([column('string', '.spec.list[*].n'), column('string', '.spec.list[?(@.n=="b")].v')]);
    expect(cells(lamp({ list: [{ n: 'a' }, { n: 'b', v: 'vb' }] }), testEnv)).toEqual(['desk', 'a', 'vb']);
    expect(cells(lamp({ list: [] }), testEnv)).toEqual(['desk', null, null]);
  });
});

describe('what one row may cost', () => {
  const texts = (row: readonly Cell[]): string[] => row.map((cell) => String(cell));

  test('long texts and objects are cut in their cells', () => {
    const { cells } = customColumns([column('string', '.spec.text'), column('string', '.spec'), column('string', '.spec.list')]);
    const [, text = '', object = '', list = ''] = texts(
      cells(lamp({ text: '<'.repeat(1_000_000), list: Array(20_000).fill('<&>') }), testEnv),
    );
    expect(text).toBe(`${'<'.repeat(CELL_CHARACTERS)}... (${1_000_000 - CELL_CHARACTERS} more characters)`);
    expect(object.startsWith('{"list":["\\u003c\\u0026\\u003e","')).toBe(true);
    for (const one of [object, list]) {
      expect(one).toHaveLength(CELL_CHARACTERS + 3);
      expect(one.endsWith('...')).toBe(true);
    }
  });

  test('when many columns look at long lists and wide objects the last ones stay empty', () => {
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
    for (const path of ['.spec.list[*].missing', '.spec.list[*].a', '.spec..nothing', '.spec.wide', '.spec.text']) {
      const { cells } = customColumns([
        column('string', '.spec.first'),
        ...Array(99).fill(column('string', path)),
        column('string', '.spec.first'),
      ]);
      const row = cells(lamp({ first: 'x', list: Array(20_000).fill({ a: 1 }), wide, text: '<'.repeat(50_000) }), testEnv);
      expect(row).toHaveLength(102);
      expect(row[1]).toBe('x');
      expect(row.at(-1)).toBeNull();
    }
  });
});
