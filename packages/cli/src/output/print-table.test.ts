import { describe, expect, test } from 'vitest';
import { TablePrinter } from './print-table.ts';

const columns = [
  { name: 'Name', type: 'string', format: 'name' },
  { name: 'Up', type: 'string' },
  { name: 'Note', type: 'string' },
  { name: 'Node', type: 'string', priority: 1 },
];
const row = (name: string, up: unknown, note: unknown = '') => ({
  cells: [name, up, note, 'n1'],
  object: { metadata: { namespace: 'x', labels: { b: '2', a: '1' } } },
});

describe('columns as kubectl has them', () => {
  test('at least six wide with three spaces between; the last cell ends the line, empty or not', () => {
    const printer = new TablePrinter({ headers: true });
    expect(printer.print(columns, [row('a', 1, 'x'), row('longer', true)])).toBe(
      'NAME     UP     NOTE\na        1      x\nlonger   true   \n',
    );
  });
  test('what is not there is empty, lists and objects are as Go prints them, of a text the first line', () => {
    const printer = new TablePrinter({ headers: false });
    expect(printer.print(columns, [row('a', null, [1, 'b']), row('b', { k: 1 }, 'one\ntwo')])).toBe(
      'a                [1 b]\nb     map[k:1]   one...\n',
    );
  });
  test('widths are remembered and grow', () => {
    const printer = new TablePrinter({ headers: true });
    expect(printer.print(columns, [row('a', 1)])).toBe('NAME   UP    NOTE\na      1     \n');
    expect(printer.print(undefined, [row('much-longer', 1, 'x')])).toBe('much-longer   1     x\n');
    expect(printer.print(undefined, [row('b', 1, 'y')])).toBe('b             1     y\n');
  });
  test('no headers without rows, unless they are custom', () => {
    expect(new TablePrinter({ headers: true }).print(columns, [])).toBe('');
    expect(new TablePrinter({ headers: true, verbatim: true }).print([{ name: 'Name' }], [])).toBe('Name\n');
  });
  test('namespaces, labels, columns of labels, prefixes, wide', () => {
    const printer = new TablePrinter({
      headers: true,
      namespaces: true,
      labels: true,
      labelColumns: ['example.com/a', 'a'],
      prefix: 'pod/',
      wide: true,
    });
    expect(printer.print(columns, [row('a', 'y', 'z')])).toBe(
      'NAMESPACE   NAME    UP    NOTE   NODE   A     A     LABELS\nx           pod/a   y     z      n1           1     a=1,b=2\n',
    );
  });
  test('characters count, not bytes or code units; control characters are shown', () => {
    const printer = new TablePrinter({ headers: false });
    expect(printer.print(columns, [row('😀é', 1, 'a\u001b[31m'), row('abcd', 1)])).toBe('😀é     1     a\\u001b[31m\nabcd   1     \n');
  });
});

test('states are coloured, and colours take no room', () => {
  const paint = (text: string, colour: string | undefined): string => (colour === undefined ? text : `<${colour}>${text}`);
  const printer = new TablePrinter({ headers: true, paint });
  expect(printer.print([{ name: 'Status' }, { name: 'Age' }], [{ cells: ['Running', '5d'] }, { cells: ['Error', '5d'] }])).toBe(
    '<bold>STATUS    <bold>AGE\n<green>Running   5d\n<red>Error     5d\n',
  );
});
